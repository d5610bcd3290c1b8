// The arm as a stick figure in parallel projection, with the outlines of all that must stay apart.

const MOST_PLACES = 3000;

/** Draw the arm. `extra` may add nodes under and over it, and is told how points come to the screen. */
function startMotionView(extra = () => ({ under: [], over: [] })) {
  const place = document.getElementById("motion-view");
  if (!place || !data.skeleton) return null;
  const { links, pairs } = data.skeleton;
  const frames = unpacked(data.skeleton.frames);
  const times = unpacked(data.skeleton.time);
  const outlines = data.skeleton.outlines.map((outline) => ({ ...outline, points: triples(unpacked(outline.points)) }));
  const layers = { link: true, tool: true, scene: true, path: true, tube: true };
  const view = { turn: VIEW.turn, tilt: VIEW.tilt, size: 1, time: 0, pair: -1, tight: false, now: null };
  const svg = drawn("svg", { role: "img", "aria-label": "The arm" });
  place.append(svg);
  const extent = data.skeleton.extent ?? extentOf(frames, links);
  const path = tipPath(frames, links);
  const tip = links.findIndex((link) => link.tip);

  const draw = () => {
    view.width = Math.max(place.clientWidth, 200);
    view.height = Math.min(Math.max(0.5 * view.width, 300), 0.6 * innerHeight, 480);
    svg.setAttribute("viewBox", `0 0 ${view.width} ${view.height}`);
    const near = view.pair < 0 ? [] : pairs[view.pair];
    const frameOf = view.now ? (link) => view.now.slice(12 * link, 12 * link + 12) : framesAt(times, frames, links.length, view.time);
    svg.replaceChildren(...skeletonPicture(links, outlines, frameOf, path, layers, view, extent, near, extra));
  };
  const reset = makeTurnable(place, view, draw);
  switchLayers(document.getElementById("view-controls"), layers, draw, reset);
  new ResizeObserver(draw).observe(place);
  draw();
  return {
    place,
    show(time, pair, tight) {
      Object.assign(view, { time, pair, tight });
      draw();
    },
    /** Show the arm where it is now, and add to the path of its tool. */
    follow(now) {
      if (view.now === null) path.length = 0;
      view.now = now;
      path.push(moved(now.slice(12 * tip, 12 * tip + 12), links[tip].tip));
      if (path.length > MOST_PLACES) path.splice(0, path.length - MOST_PLACES);
      draw();
    },
  };
}

/** Numbers three by three. */
function triples(numbers) {
  return Array.from({ length: numbers.length / 3 }, (_, k) => Array.from(numbers.subarray(3 * k, 3 * k + 3)));
}

/** Frames of all links at a time, on the straight line between the two pictures around it. */
function framesAt(times, frames, count, time) {
  const k = Math.min(Math.max(firstFrom(times, time), 1), times.length - 1);
  const share = Math.min(Math.max((time - times[k - 1]) / (times[k] - times[k - 1]), 0), 1);
  const size = 12 * count;
  const between = Array.from({ length: size }, (_, i) => (1 - share) * frames[(k - 1) * size + i] + share * frames[k * size + i]);
  return (link) => between.slice(12 * link, 12 * link + 12);
}

/** Where the tool goes, picture by picture. */
function tipPath(frames, links) {
  const link = links.findIndex(({ tip }) => tip);
  const size = 12 * links.length;
  return Array.from({ length: frames.length / size }, (_, k) =>
    moved(frames.subarray(k * size + 12 * link, k * size + 12 * link + 12), links[link].tip),
  );
}

function skeletonPicture(links, outlines, frameOf, path, layers, view, extent, near, extra) {
  const [ct, st, cp, sp] = [Math.cos(view.turn), Math.sin(view.turn), Math.cos(view.tilt), Math.sin(view.tilt)];
  const scale = (view.size * 0.48 * Math.min(view.height, view.width)) / extent.radius;
  // To the screen: right, down and towards the reader.
  const seen = (p) => {
    const [x, y, z] = p.map((value, i) => value - extent.middle[i]);
    const [right, away] = [ct * x - st * y, st * x + ct * y];
    return [view.width / 2 + scale * right, view.height / 2 - scale * (cp * z + sp * away), sp * z - cp * away];
  };
  const parts = [];
  const add = (depth, node) => parts.push({ depth, node });
  outlines.forEach((outline, k) => {
    const close = near.includes(k);
    if (!layers[outline.kind] && !close) return;
    const frame = frameOf(outline.link);
    const corners = outline.points.map((point) => seen(moved(frame, point)));
    const edge = hull(corners.flatMap((corner) => padded(corner, outline.radius * scale)));
    const state = close ? (view.tight ? " near tight" : " near") : "";
    const node = drawn("path", { class: `outline ${outline.kind}${state}`, d: `${polyline(edge)}Z` });
    node.append(drawn("title", {}, outline.title));
    add(corners.reduce((sum, corner) => sum + corner[2], 0) / corners.length - 1e-3, node);
  });
  links.forEach((link, i) => {
    const frame = frameOf(i);
    const origin = seen(at(frame));
    const ends = link.parent < 0 ? [] : [at(frameOf(link.parent))];
    if (link.tip) ends.push(moved(frame, link.tip));
    for (const end of ends.map(seen))
      add((origin[2] + end[2]) / 2 + 1, drawn("path", { class: "bone", d: polyline([origin, end]) }));
    if (link.parent < 0) return;
    const joint = drawn("circle", { class: "joint", cx: origin[0].toFixed(1), cy: origin[1].toFixed(1), r: 4 });
    joint.append(drawn("title", {}, link.name));
    add(origin[2] + 1, joint);
  });
  parts.sort((a, b) => a.depth - b.depth);
  const trail = layers.path ? [drawn("path", { class: "trail", d: polyline(path.map(seen)) })] : [];
  const { under, over } = extra(seen, scale, view, layers);
  return [...ground(seen, extent), ...under, ...trail, ...parts.map((part) => part.node), ...over];
}
