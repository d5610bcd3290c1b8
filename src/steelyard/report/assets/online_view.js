// The tube around the reference of a tool: along its whole path, and through a lens at the tool itself.

/** How many times thicker than it is the tube is drawn along the path: its own few millimetres are no pixel. */
const THICKER = 10;
const LENS = { radius: 46, margin: 14, wake: 0.6, digits: 2 };

/** What `startMotionView` draws besides the arm. `shown` holds what the lens shows: offsets from the reference. */
function tubeDrawing(shown) {
  const tube = data.skeleton?.tube;
  const path = tube ? triples(unpacked(tube.path)) : [];
  const widest = tube ? unpacked(tube.radius).reduce((a, b) => Math.max(a, b), 0) : 0;
  return (seen, scale, view, layers) => {
    if (!layers.tube) return { under: [], over: [] };
    const width = (2 * THICKER * widest * scale).toFixed(1);
    const under = path.length ? [drawn("path", { class: "tube", d: polyline(path.map(seen)), "stroke-width": width })] : [];
    return { under, over: shown.radius ? [lens(shown, seen, scale, view)] : [] };
  };
}

/** The tool within its tube, seen from where the reader looks, enlarged. */
function lens({ radius, offsets }, seen, scale, view) {
  const size = Math.min(LENS.radius, 0.09 * view.width);
  const [x, y] = [view.width - size - LENS.margin, size + LENS.margin];
  const zero = seen([0, 0, 0]);
  const place = (offset) => {
    const at = seen(offset);
    return [0, 1].map((i) => [x, y][i] + ((at[i] - zero[i]) / scale / radius) * size);
  };
  const here = offsets.at(-1);
  const group = drawn("g", { class: Math.hypot(...here) > radius ? "lens left" : "lens" });
  group.append(
    drawn("title", {}, "The tool and the tube around its reference"),
    drawn("circle", { class: "edge", cx: x, cy: y, r: size }),
    drawn("path", { class: "centre", d: `M${x - 4} ${y}h8M${x} ${y - 4}v8` }),
  );
  const places = offsets.map(place);
  if (places.length > 1) group.append(drawn("path", { class: "wake", d: polyline(places) }));
  const [cx, cy] = places.at(-1).map((value) => value.toFixed(1));
  group.append(
    drawn("circle", { class: "tip", cx, cy, r: 3.5 }),
    drawn("text", { x, y: y + size + 15, "text-anchor": "middle" }, `tube ±${(1000 * radius).toPrecision(LENS.digits)} mm`),
  );
  return group;
}

/** Bars that show what share of something is used; each has a name. */
function startGauges(place, names) {
  const bars = names.map((name) => {
    const svg = drawn("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img" });
    const part = drawn("rect", { class: "part", width: 0, height: 10 });
    const peak = drawn("path", { class: "peak", d: "" });
    svg.append(drawn("rect", { class: "whole", width: 100, height: 10 }), part, peak);
    const output = element("output");
    const row = element("div", { class: "gauge" }, element("span", { title: name }, name), svg, output);
    place.append(row);
    return { name, row, svg, part, peak, output };
  });
  return (shares, peaks) =>
    bars.forEach(({ name, row, svg, part, peak, output }, k) => {
      if (shares[k] === null) {
        output.textContent = "no limit";
        return;
      }
      const words = `${fixed(100 * shares[k], 0)} %`;
      part.setAttribute("width", Math.min(100 * shares[k], 100));
      peak.setAttribute("d", `M${Math.min(100 * peaks[k], 100)} 0v10`);
      svg.setAttribute("aria-label", `${name}: ${words}`);
      output.textContent = words;
      row.classList.toggle("over", peaks[k] > 1);
    });
}
