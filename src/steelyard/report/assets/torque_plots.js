// Measured against predicted torque, one figure per joint; all share one window of time.

const PLOT = { left: 58, right: 10, top: 8, torque: 132, gap: 14, difference: 46, axis: 22 };
PLOT.height = PLOT.top + PLOT.torque + PLOT.gap + PLOT.difference + PLOT.axis;

function startTorquePlots() {
  const place = document.getElementById("plots");
  if (!place || !data.motions.length) return;
  const controls = document.getElementById("plot-controls");
  const range = document.getElementById("plot-range");
  const read = new Map();
  const state = { motion: 0, from: 0, to: 0 };

  const seriesOf = (motion, joint) => {
    const key = `${motion}/${joint}`;
    if (!read.has(key)) {
      const packed = data.motions[motion].series[joint];
      read.set(key, Object.fromEntries(Object.entries(packed).map(([name, text]) => [name, unpacked(text)])));
    }
    return read.get(key);
  };
  const length = () => data.motions[state.motion].end - data.motions[state.motion].start;

  const figures = data.joints.map((joint, j) => {
    const output = element("output");
    const error = element("small");
    const caption = element("figcaption", {}, element("span", {}, element("strong", {}, joint), " ", error), output);
    const svg = drawn("svg", { role: "img", "aria-label": `Torque of ${joint} over time` });
    const box = element("div", {
      class: "plot",
      tabindex: "0",
      role: "group",
      "aria-label": `Torque of ${joint}. Plus and minus zoom, arrow keys move, Home shows the whole motion.`,
    });
    box.append(svg);
    const figure = element("figure", {}, caption, box);
    place.append(figure);
    return { joint: j, box, svg, output, error };
  });

  const actions = timeWindow(state, length, drawAll);

  function drawAll() {
    const decimals = ticks(state.from, state.to, 8).decimals + 2;
    const start = data.motions[state.motion].start;
    range.textContent = `${fixed(start + state.from, decimals)} … ${fixed(start + state.to, decimals)} s`;
    for (const figure of figures) drawFigure(figure, seriesOf(state.motion, figure.joint), state);
  }

  for (const figure of figures)
    chooseWindow(figure, state, actions, {
      over: (t, xOf) => readTorques(figure, seriesOf(state.motion, figure.joint), data.motions[state.motion].start, t, xOf),
      leave: () => {
        figure.cursor.setAttribute("d", "");
        figure.output.textContent = data.units[figure.joint];
      },
    });
  pressButtons(controls, actions);
  for (const radio of controls.querySelectorAll("[name=motion]"))
    radio.addEventListener("change", () => {
      state.motion = Number(radio.value);
      actions.whole();
    });
  drawAtEveryWidth(place, drawAll);
  actions.whole();
}

/** First place in increasing numbers that is not below a value. */
function firstFrom(numbers, value) {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A path through samples; where many share a column of pixels, its first, smallest, largest and last. */
function pathThrough(time, values, first, last, x, y) {
  const parts = [];
  let k = first;
  while (k <= last) {
    const column = Math.floor(x(time[k]));
    let low = k;
    let high = k;
    let end = k;
    while (end + 1 <= last && Math.floor(x(time[end + 1])) === column) {
      end += 1;
      if (values[end] < values[low]) low = end;
      if (values[end] > values[high]) high = end;
    }
    for (const at of [...new Set([k, low, high, end])].sort((a, b) => a - b))
      parts.push(`${x(time[at]).toFixed(1)},${y(values[at]).toFixed(1)}`);
    k = end + 1;
  }
  return `M${parts.join("L")}`;
}

function drawFigure(figure, series, { from, to, motion }) {
  const width = Math.max(figure.box.clientWidth, 200);
  const right = width - PLOT.right;
  const { time } = series;
  const first = Math.max(firstFrom(time, from) - 1, 0);
  const last = Math.min(firstFrom(time, to), time.length - 1);
  const x = (t) => PLOT.left + ((t - from) / (to - from)) * (right - PLOT.left);
  figure.scale = { left: PLOT.left, right };
  figure.svg.setAttribute("viewBox", `0 0 ${width} ${PLOT.height}`);
  figure.svg.setAttribute("height", PLOT.height);
  const clip = `clip-${figure.joint}`;
  const clipping = drawn("clipPath", { id: clip });
  clipping.append(drawn("rect", { x: PLOT.left, y: 0, width: right - PLOT.left, height: PLOT.height }));
  const parts = [clipping];
  const unit = data.units[figure.joint];
  const lower = PLOT.top + PLOT.torque + PLOT.gap;
  const areas = [
    { names: ["measured", "predicted"], top: PLOT.top, height: PLOT.torque, count: 5 },
    { names: ["difference"], top: lower, height: PLOT.difference, around: true },
  ];
  for (const area of areas) {
    let low = Infinity;
    let high = -Infinity;
    for (const name of area.names)
      for (let k = first; k <= last; k += 1) {
        low = Math.min(low, series[name][k]);
        high = Math.max(high, series[name][k]);
      }
    if (area.around) {
      high = Math.max(Math.abs(low), Math.abs(high)) || 1;
      low = -high;
    } else if (high === low) {
      low -= 1;
      high += 1;
    }
    const margin = 0.04 * (high - low);
    const y = (v) => area.top + area.height * (1 - (v - low + margin) / (high - low + 2 * margin));
    const marks = area.around ? { places: [low, 0, high], decimals: null } : ticks(low, high, area.count);
    for (const place of marks.places) {
      parts.push(drawn("path", { class: place === 0 ? "zero" : "grid", d: `M${PLOT.left} ${y(place).toFixed(1)}H${right}` }));
      const label = marks.decimals === null ? short(place) : fixed(place, marks.decimals);
      parts.push(drawn("text", { x: PLOT.left - 8, y: y(place) + 4, "text-anchor": "end" }, label));
    }
    for (const name of area.names)
      parts.push(
        drawn("path", {
          class: `curve ${name}`,
          "clip-path": `url(#${clip})`,
          d: pathThrough(time, series[name], first, last, x, y),
        }),
      );
  }
  const start = data.motions[motion].start;
  const marks = ticks(start + from, start + to, width < 500 ? 4 : 8);
  for (const place of marks.places) {
    const at = x(place - start);
    parts.push(drawn("path", { class: "tick", d: `M${at.toFixed(1)} ${lower + PLOT.difference}v5` }));
    const label = `${fixed(place, marks.decimals)}${place === marks.places.at(-1) ? " s" : ""}`;
    const anchor = at > right - 16 ? "end" : "middle";
    const turned = anchor === "end" ? right : at;
    parts.push(drawn("text", { x: turned.toFixed(1), y: PLOT.height - 3, "text-anchor": anchor }, label));
  }
  figure.cursor = drawn("path", { class: "cursor", d: "" });
  figure.chosen = drawn("rect", { class: "chosen", y: PLOT.top, height: lower + PLOT.difference - PLOT.top, width: 0 });
  figure.svg.replaceChildren(...parts, figure.chosen, figure.cursor);
  figure.output.textContent = unit;
  figure.error.textContent = `${data.motions[motion].errors[figure.joint]} % unexplained`;
}

/** Two digits for the scale of the difference, in as short a form as there is. */
function short(value) {
  if (value === 0) return "0";
  const text = Math.abs(value) >= 0.01 ? String(Number(value.toPrecision(2))) : value.toExponential(0);
  return text.replaceAll("-", "\u2212");
}

/** Read the values nearest to a time, and mark where they are. */
function readTorques(figure, series, start, t, xOf) {
  const k = nearest(series.time, t);
  figure.cursor.setAttribute("d", `M${xOf(series.time[k]).toFixed(1)} ${PLOT.top}V${PLOT.height - PLOT.axis}`);
  figure.output.textContent =
    `${fixed(start + series.time[k], 3)} s  measured ${fixed(series.measured[k], 3)}, predicted ${fixed(series.predicted[k], 3)}, ` +
    `difference ${short(series.difference[k])} ${data.units[figure.joint]}`;
}

function nearest(time, t) {
  const k = Math.min(firstFrom(time, t), time.length - 1);
  return k > 0 && t - time[k - 1] < time[k] - t ? k - 1 : k;
}
