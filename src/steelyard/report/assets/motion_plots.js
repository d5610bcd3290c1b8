// Curves over time against their limits: figures that share one window of time and one mark in it.

const PANEL = { head: 18, height: 74, gap: 6, axis: 22 };

/**
 * Draw figures into a place. Each has a title, a time and areas below each other, one curve in each.
 * `options.controls` holds the buttons; `options.choose` is told the time that was clicked.
 */
function startTimePlots(place, figures, length, options = {}) {
  const state = { from: 0, to: length, moment: null, fit: false };
  const parts = figures.map((figure) => filledWith(timeFigure(place, figure.title), figure));

  const actions = timeWindow(state, () => length, draw);

  function draw() {
    if (options.range) {
      const decimals = ticks(state.from, state.to, 8).decimals + 2;
      options.range.textContent = `${fixed(state.from, decimals)} … ${fixed(state.to, decimals)} s`;
    }
    for (const part of parts) {
      drawTimeFigure(part, state);
      markTime(part, state, "moment", state.moment);
      readAt(part, state.moment);
    }
  }

  for (const part of parts)
    chooseWindow(part, state, actions, {
      over: (t) => {
        markTime(part, state, "cursor", t);
        readAt(part, t);
      },
      leave: () => {
        markTime(part, state, "cursor", null);
        readAt(part, state.moment);
      },
      choose: options.choose,
    });
  if (options.controls) pressButtons(options.controls, actions);
  drawAtEveryWidth(place, draw);
  draw();
  return {
    mark(time) {
      state.moment = time;
      for (const part of parts) {
        markTime(part, state, "moment", time);
        readAt(part, time);
      }
    },
    fit(wanted) {
      state.fit = wanted;
      draw();
    },
    /** Show other figures in the same places, up to another time; who saw all of it still does. */
    renew(others, until) {
      if (state.from === 0 && state.to === length) state.to = until;
      length = until;
      parts.forEach((part, k) => filledWith(part, others[k]));
      draw();
    },
  };
}

/** The elements of one figure. */
function timeFigure(place, title) {
  const output = element("output");
  const caption = element("figcaption", {}, element("strong", {}, title), output);
  const svg = drawn("svg", { role: "img", "aria-label": `${title} over time` });
  const box = element("div", {
    class: "plot",
    tabindex: "0",
    role: "group",
    "aria-label": `${title}. Plus and minus zoom, arrow keys move, Home shows all of it.`,
  });
  box.append(svg);
  place.append(element("figure", {}, caption, box));
  return { box, svg, output, clip: `clip-${place.id}-${place.children.length}` };
}

/** A figure with its series, packed or as numbers. An area may have a band that is proven, a curve, or both. */
function filledWith(part, figure) {
  const series = (values) => (typeof values === "string" ? unpacked(values) : values);
  const areas = figure.areas.map((area) => ({
    ...area,
    values: area.values && series(area.values),
    proven: area.proven && Object.fromEntries(Object.entries(area.proven).map(([key, values]) => [key, series(values)])),
    height: area.height ?? PANEL.height,
  }));
  let bottom = -PANEL.gap;
  for (const area of areas) {
    area.top = bottom + PANEL.gap + PANEL.head;
    bottom = area.top + area.height;
  }
  return Object.assign(part, { areas, time: series(figure.time), bottom, steps: Boolean(figure.steps) });
}

function drawTimeFigure(part, { from, to, fit }) {
  const width = Math.max(part.box.clientWidth, 200);
  const [left, right] = [PLOT.left, width - PLOT.right];
  part.scale = { left, right };
  const height = part.bottom + PANEL.axis;
  part.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  part.svg.setAttribute("height", height);
  const first = Math.max(firstFrom(part.time, from) - 1, 0);
  const last = Math.min(firstFrom(part.time, to), part.time.length - 1);
  const x = (t) => left + ((t - from) / (to - from)) * (right - left);
  const nodes = [];
  part.areas.forEach((area, k) => {
    const { low, high } = rangeOf(area, first, last, from, to, fit);
    const y = (v) => area.top + area.height * (1 - (v - low) / (high - low));
    const clip = `${part.clip}-${k}`;
    const clipping = drawn("clipPath", { id: clip });
    clipping.append(drawn("rect", { x: left, y: area.top, width: right - left, height: area.height }));
    const inside = drawn("g", { "clip-path": `url(#${clip})` });
    nodes.push(clipping, ...backdrop(area, y, left, right, low, high), inside);
    if (area.proven) inside.append(drawn("path", { class: "proven", d: stepped(area.proven, x, y, from, to) }));
    if (area.values) {
      const path = part.steps ? staircase(part.time, area.values, x, y) : pathThrough(part.time, area.values, first, last, x, y);
      inside.append(drawn("path", { class: "curve course", d: path }));
    }
    const label = [area.name, area.unit].filter(Boolean).join(", ");
    area.reading = drawn("text", { class: "reading", x: right, y: area.top - 5, "text-anchor": "end" });
    nodes.push(drawn("text", { class: "label", x: left, y: area.top - 5 }, label), area.reading);
  });
  const marks = ticks(from, to, width < 500 ? 4 : 8);
  for (const place of marks.places) {
    const at = x(place);
    nodes.push(drawn("path", { class: "tick", d: `M${at.toFixed(1)} ${part.bottom}v5` }));
    const end = at > right - 16;
    const text = `${fixed(place, marks.decimals)}${place === marks.places.at(-1) ? " s" : ""}`;
    nodes.push(drawn("text", { x: (end ? right : at).toFixed(1), y: height - 3, "text-anchor": end ? "end" : "middle" }, text));
  }
  part.moment = drawn("path", { class: "moment", d: "" });
  part.cursor = drawn("path", { class: "cursor", d: "" });
  part.chosen = drawn("rect", { class: "chosen", y: PANEL.head, height: part.bottom - PANEL.head, width: 0 });
  part.svg.replaceChildren(...nodes, part.chosen, part.moment, part.cursor);
}

/** What an area shows: its curve in the window with what is proven of it and, unless fitted, its limits. */
function rangeOf(area, first, last, from, to, fit) {
  let [low, high] = [Infinity, -Infinity];
  const reach = (value) => {
    low = Math.min(low, value);
    high = Math.max(high, value);
  };
  if (area.values) for (let k = first; k <= last; k += 1) reach(area.values[k]);
  if (!fit) for (const limit of [area.lower, area.upper]) if (limit !== null) reach(limit);
  if (area.proven && !(fit && area.proven.lower.length === 1))
    for (let k = 0; k < area.proven.lower.length; k += 1)
      if (area.proven.edges[k + 1] >= from && area.proven.edges[k] <= to && bounded(area.proven, k)) {
        reach(area.proven.lower[k]);
        reach(area.proven.upper[k]);
      }
  if (!(high > low)) [low, high] = [low - 1, high + 1];
  const margin = 0.06 * (high - low);
  return { low: low - margin, high: high + margin };
}

/** The band the limits leave, lines at the limits, and round numbers at the side. */
function backdrop(area, y, left, right, low, high) {
  const nodes = [];
  const clamp = (v) => Math.min(Math.max(v, low), high);
  if (area.lower !== null || area.upper !== null) {
    const [above, below] = [y(clamp(area.upper ?? high)), y(clamp(area.lower ?? low))];
    const state = area.counted ? "" : " uncounted";
    nodes.push(drawn("rect", { class: `allowed${state}`, x: left, y: above, width: right - left, height: Math.max(below - above, 0) }));
    for (const limit of [area.lower, area.upper])
      if (limit !== null && limit >= low && limit <= high)
        nodes.push(drawn("path", { class: `limit${state}`, d: `M${left} ${y(limit).toFixed(1)}H${right}` }));
  }
  const marks = ticks(low, high, Math.max(4, Math.round(area.height / 30)));
  for (const place of marks.places) {
    nodes.push(drawn("path", { class: Math.abs(place) < 1e-12 ? "zero" : "grid", d: `M${left} ${y(place).toFixed(1)}H${right}` }));
    nodes.push(drawn("text", { x: left - 8, y: y(place) + 4, "text-anchor": "end" }, fixed(place, marks.decimals)));
  }
  return nodes;
}

/** Whether a band has two ends on a stretch of time: before anything is known it may have none. */
function bounded({ lower, upper }, k) {
  return Number.isFinite(lower[k]) && Number.isFinite(upper[k]);
}

/** The outline of a band that is constant on stretches of time. */
function stepped(band, x, y, from, to) {
  const { edges, lower, upper } = band;
  const [above, below] = [[], []];
  for (let k = 0; k < lower.length; k += 1) {
    if (edges[k + 1] < from || edges[k] > to || !bounded(band, k)) continue;
    for (const edge of [edges[k], edges[k + 1]]) {
      above.push(`${x(edge).toFixed(1)},${y(upper[k]).toFixed(1)}`);
      below.push(`${x(edge).toFixed(1)},${y(lower[k]).toFixed(1)}`);
    }
  }
  return above.length ? `M${[...above, ...below.reverse()].join("L")}Z` : "";
}

/** A value that holds until the next one. */
function staircase(time, values, x, y) {
  let path = `M${x(time[0]).toFixed(1)},${y(values[0]).toFixed(1)}`;
  for (let k = 1; k < time.length; k += 1) path += `H${x(time[k]).toFixed(1)}V${y(values[k]).toFixed(1)}`;
  return path;
}

/** Put the line called `which` at a time, or nowhere. */
function markTime(part, { from, to }, which, time) {
  const { left, right } = part.scale;
  const seen = time !== null && time >= from && time <= to;
  const at = seen ? left + ((time - from) / (to - from)) * (right - left) : 0;
  const line = part.areas.map(({ top, height }) => `M${at.toFixed(1)} ${top}v${height}`).join("");
  part[which].setAttribute("d", seen ? line : "");
}

/** Write the values at a time beside the names of the curves; nothing where there is no time. */
function readAt(part, time) {
  part.output.textContent = time === null ? "" : `${fixed(time, 3)} s`;
  for (const area of part.areas) {
    const words = time === null ? "" : area.values && !area.between ? sized(valueAt(part, area.values, time)) : endsAt(area.proven, time);
    area.reading.textContent = /\d/.test(words) && area.unit ? `${words} ${area.unit}` : words;
  }
}

/** Both ends of a band at a time, rounded outwards to two digits of its width. */
function endsAt(band, time) {
  const k = Math.min(Math.max(band.edges.findLastIndex((edge) => edge <= time), 0), band.lower.length - 1);
  if (!bounded(band, k)) return "no bounds";
  const decimals = Math.min(Math.max(1 - Math.floor(Math.log10(band.upper[k] - band.lower[k] || 1)), 0), 12);
  const unit = 10 ** decimals;
  return `${fixed(Math.floor(band.lower[k] * unit) / unit, decimals)} … ${fixed(Math.ceil(band.upper[k] * unit) / unit, decimals)}`;
}

/** A curve between its samples: on a straight line or, in steps, as before. */
function valueAt({ time, steps }, values, t) {
  const k = Math.min(Math.max(firstFrom(time, t), 1), time.length - 1);
  const share = Math.min(Math.max((t - time[k - 1]) / (time[k] - time[k - 1]), 0), 1);
  return steps ? values[share < 1 ? k - 1 : k] : (1 - share) * values[k - 1] + share * values[k];
}

/** A number with four digits at most behind its point, as many as its size asks for. */
function sized(value) {
  const size = Math.abs(value);
  return fixed(value, size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4);
}
