// The arm in parallel projection: shapes by their outlines, ellipsoids exactly, nearer parts over farther ones.

function startArmView() {
  const place = document.getElementById("arm-view");
  if (!place || !data.arm) return;
  const { links } = data.arm;
  const frames = unpacked(data.arm.frames);
  const times = unpacked(data.arm.time);
  const layers = { shapes: true, nominal: true, estimated: true };
  const view = { turn: VIEW.turn, tilt: VIEW.tilt, size: 1, pose: 0, chosen: -1 };
  const svg = drawn("svg", { role: "img", "aria-label": "The arm" });
  place.append(svg);
  const extent = extentOf(frames, links);

  const draw = () => {
    view.width = Math.max(place.clientWidth, 200);
    view.height = Math.min(Math.max(0.6 * view.width, 320), 0.8 * innerHeight, 600);
    svg.setAttribute("viewBox", `0 0 ${view.width} ${view.height}`);
    const offset = view.pose * links.length * 12;
    const frameOf = (link) => Array.from(frames.subarray(offset + 12 * link, offset + 12 * link + 12));
    svg.replaceChildren(...picture(links, frameOf, layers, view, extent));
  };
  const reset = makeTurnable(place, view, draw);
  switchLayers(document.getElementById("arm-controls"), layers, draw, reset);
  const slider = document.getElementById("pose");
  const moment = document.getElementById("pose-time");
  const pose = () => {
    view.pose = slider ? Number(slider.value) : 0;
    if (moment) moment.textContent = `${fixed(times[view.pose], 2)} s`;
    draw();
  };
  if (slider) slider.addEventListener("input", pose);
  for (const row of document.querySelectorAll("tr[data-link]")) {
    row.addEventListener("pointerenter", () => choose(Number(row.dataset.link)));
    row.addEventListener("pointerleave", () => choose(-1));
  }
  function choose(link) {
    view.chosen = link;
    draw();
  }
  pose();
  new ResizeObserver(draw).observe(place);
}

/** Where the arm is over all poses: a middle and a radius. */
function extentOf(frames, links) {
  const low = [0, 0, 0];
  const high = [0, 0, 0];
  const reach = (point) => {
    for (let i = 0; i < 3; i += 1) {
      low[i] = Math.min(low[i], point[i]);
      high[i] = Math.max(high[i], point[i]);
    }
  };
  for (let k = 0; k < frames.length; k += 12) {
    const frame = frames.subarray(k, k + 12);
    const link = links[(k / 12) % links.length];
    reach(at(frame));
    if (link.tip) reach(moved(frame, link.tip));
    for (const shape of link.shapes) reach(moved(frame, at(shape.pose)));
    for (const body of [link.nominal, link.estimated].filter(Boolean).map((M) => product(frame, M)))
      for (const sign of [-1, 1])
        reach([0, 4, 8].map((r) => body[r + 3] + sign * Math.hypot(body[r], body[r + 1], body[r + 2])));
  }
  const middle = low.map((x, i) => (x + high[i]) / 2);
  return { middle, radius: Math.hypot(...high.map((x, i) => x - low[i])) / 2 || 1 };
}

/** A point carried by a 3 × 4 matrix, row by row. */
function moved(M, [x, y, z]) {
  return [0, 4, 8].map((r) => M[r] * x + M[r + 1] * y + M[r + 2] * z + M[r + 3]);
}

/** The product of two 3 × 4 matrices whose fourth row is 0 0 0 1. */
function product(A, B) {
  const C = [];
  for (let r = 0; r < 12; r += 4)
    for (let c = 0; c < 4; c += 1)
      C.push(A[r] * B[c] + A[r + 1] * B[4 + c] + A[r + 2] * B[8 + c] + (c === 3 ? A[r + 3] : 0));
  return C;
}

function picture(links, frameOf, layers, view, extent) {
  const [ct, st, cp, sp] = [Math.cos(view.turn), Math.sin(view.turn), Math.cos(view.tilt), Math.sin(view.tilt)];
  const scale = (view.size * 0.56 * Math.min(view.height, view.width)) / extent.radius;
  // To the screen: right, down and towards the reader.
  const seen = (p) => {
    const [x, y, z] = p.map((value, i) => value - extent.middle[i]);
    const [right, away] = [ct * x - st * y, st * x + ct * y];
    const up = cp * z + sp * away;
    return [view.width / 2 + scale * right, view.height / 2 - scale * up, sp * z - cp * away];
  };
  const parts = [];
  const add = (depth, ...nodes) => parts.push({ depth, nodes });
  links.forEach((link, i) => {
    const frame = frameOf(i);
    const origin = at(frame);
    const chosen = view.chosen === i ? " chosen" : "";
    const ends = link.parent < 0 ? [] : [at(frameOf(link.parent))];
    if (link.tip) ends.push(moved(frame, link.tip));
    for (const end of ends) {
      const [a, b] = [seen(origin), seen(end)];
      add((a[2] + b[2]) / 2, drawn("path", { class: "bone", d: polyline([a, b]) }));
    }
    if (link.parent >= 0) add(seen(origin)[2], drawn("circle", { class: "joint", cx: seen(origin)[0], cy: seen(origin)[1], r: 4 }));
    if (layers.shapes)
      for (const shape of link.shapes) {
        const body = product(frame, shape.pose);
        const outline = hull(outlinePoints(shape).map((point) => padded(seen(moved(body, point.at)), point.radius * scale)).flat());
        const node = drawn("path", { class: `shape${chosen}`, d: `${polyline(outline)}Z` });
        node.append(drawn("title", {}, link.name));
        add(seen(at(body))[2] - 1e-3, node);
      }
    for (const which of ["nominal", "estimated"])
      if (layers[which] && link[which]) {
        const body = product(frame, link[which]);
        const nodes = ellipsoid(body, seen);
        const group = drawn("g", { class: `ellipsoid ${which}${chosen}` }, ...nodes);
        group.append(drawn("title", {}, `${link.name}, ${which === "nominal" ? "description" : "estimate"}`));
        add(seen(at(body))[2] + 1e-3, group);
      }
  });
  parts.sort((a, b) => a.depth - b.depth);
  return [...ground(seen, extent), ...parts.flatMap((part) => part.nodes)];
}

function at(M) {
  return [M[3], M[7], M[11]];
}

function polyline(points) {
  return `M${points.map((p) => `${p[0].toFixed(1)},${p[1].toFixed(1)}`).join("L")}`;
}

/** Points whose hull, each swollen to a ball, is the shape. */
function outlinePoints({ kind, size }) {
  if (kind === "sphere") return [{ at: [0, 0, 0], radius: size[0] }];
  if (kind === "capsule") return [-1, 1].map((s) => ({ at: [0, 0, (s * size[1]) / 2], radius: size[0] }));
  const corners = [];
  if (kind === "box") {
    for (const x of [-0.5, 0.5])
      for (const y of [-0.5, 0.5])
        for (const z of [-0.5, 0.5]) corners.push({ at: [x * size[0], y * size[1], z * size[2]], radius: 0 });
    return corners;
  }
  for (let k = 0; k < 32; k += 1) {
    const angle = (Math.PI * k) / 16;
    for (const s of [-0.5, 0.5])
      corners.push({ at: [size[0] * Math.cos(angle), size[0] * Math.sin(angle), s * size[1]], radius: 0 });
  }
  return corners;
}

function padded([x, y], radius) {
  if (!radius) return [[x, y]];
  return Array.from({ length: 32 }, (_, k) => {
    const angle = (Math.PI * k) / 16;
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
  });
}

/** Convex hull by Andrew's monotone chain. */
function hull(points) {
  const sorted = points.slice().sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (list) => {
    const kept = [];
    for (const p of list) {
      while (kept.length > 1) {
        const [a, b] = kept.slice(-2);
        if ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0) break;
        kept.pop();
      }
      kept.push(p);
    }
    return kept.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

/** The outline of M's image of the unit ball, and its three principal circles, their far halves fainter. */
function ellipsoid(M, seen) {
  const centre = at(M);
  const axes = [0, 1, 2].map((c) => [M[c], M[4 + c], M[8 + c]]);
  const c = seen(centre);
  // Rows of the projection times the axes: two screen directions and the depth.
  const image = axes.map((axis) => seen(axis.map((x, i) => x + centre[i])).map((x, i) => x - c[i]));
  let [xx, xy, yy] = [0, 0, 0];
  for (const [x, y] of image) {
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  // The outline is the ellipse of the 2 × 2 matrix [xx xy; xy yy]; its square root maps the unit circle to it.
  const root = Math.sqrt(Math.max(xx * yy - xy * xy, 0));
  const trace = Math.sqrt(Math.max(xx + yy + 2 * root, 1e-12));
  const outline = circle((cos, sin) => [
    c[0] + ((xx + root) * cos + xy * sin) / trace,
    c[1] + (xy * cos + (yy + root) * sin) / trace,
  ]);
  const nodes = [drawn("path", { class: "body", d: `${polyline(outline)}Z` })];
  for (const [one, other] of [[0, 1], [1, 2], [2, 0]]) {
    const [u, v] = [image[one], image[other]];
    const near = Math.atan2(v[2], u[2]);
    for (const [start, name] of [[near + Math.PI / 2, "far"], [near - Math.PI / 2, "near"]]) {
      const arc = Array.from({ length: 25 }, (_, k) => {
        const angle = start + (Math.PI * k) / 24;
        return [0, 1].map((i) => c[i] + u[i] * Math.cos(angle) + v[i] * Math.sin(angle));
      });
      nodes.push(drawn("path", { class: name, d: polyline(arc) }));
    }
  }
  nodes.push(drawn("circle", { class: "centre", cx: c[0].toFixed(1), cy: c[1].toFixed(1), r: 2.5 }));
  return nodes;
}

function circle(point) {
  return Array.from({ length: 64 }, (_, k) => point(Math.cos((Math.PI * k) / 32), Math.sin((Math.PI * k) / 32)));
}

/** A grid on the plane z = 0 of the base, and the base's axes. */
function ground(seen, { radius }) {
  const step = ticks(0, radius, 4).places[1];
  const far = 5 * step;
  const nodes = [];
  for (let k = -5; k <= 5; k += 1) {
    nodes.push(drawn("path", { class: "grid", d: polyline([seen([k * step, -far, 0]), seen([k * step, far, 0])]) }));
    nodes.push(drawn("path", { class: "grid", d: polyline([seen([-far, k * step, 0]), seen([far, k * step, 0])]) }));
  }
  [[1, 0, 0], [0, 1, 0], [0, 0, 1]].forEach((axis, i) => {
    const end = seen(axis.map((x) => x * 1.5 * step));
    nodes.push(drawn("path", { class: "axis", d: polyline([seen([0, 0, 0]), end]) }));
    nodes.push(drawn("text", { x: end[0] + 5, y: end[1] + 4 }, "xyz"[i]));
  });
  return nodes;
}
