const shown = { radius: 0, offsets: [[0, 0, 0]] };
const view = startMotionView(tubeDrawing(shown));
const gaugePlace = document.getElementById("gauges");
const gauges = gaugePlace ? startGauges(gaugePlace, data.gauges.map(({ name }) => name)) : () => {};
const groups = [];
let player = null;
const choose = data.live ? undefined : (time) => player.seek(time);
/** Figures in a place of their own, where the page has it. */
const plots = (id, figures, more = {}) => {
  const place = document.getElementById(id);
  if (!place || !figures) return null;
  groups.push(startTimePlots(place, figures, data.duration, { choose, ...more }));
  return groups.at(-1);
};

const tracking = plots("tracking-plot", data.tracking && [data.tracking]);
const bounds = plots("bounds-plots", data.bounds);
plots("clearance-plot", data.clearance && [data.clearance]);
const joints = plots("joint-plots", data.joints, {
  controls: document.getElementById("plot-controls"),
  range: document.getElementById("plot-range"),
});
document.getElementById("fit-curves")?.addEventListener("change", (event) => joints.fit(event.target.checked));

if (data.live) startLive({ view, gauges, tracking, bounds, shown });
else startReplay();

/** Let the run be played and scrubbed: all of the page shows the same instant. */
function startReplay() {
  const offsets = data.skeleton?.tube && triples(unpacked(data.skeleton.tube.offsets));
  const radii = data.skeleton?.tube && unpacked(data.skeleton.tube.radius);
  const pictures = data.skeleton && unpacked(data.skeleton.time);
  const used = data.gauges.map(({ time, share }) => share && { time: unpacked(time), share: unpacked(share) });
  const peaks = used.map((own) => own && own.share.reduce((a, b) => Math.max(a, b), 0));
  const apart = data.clearance && {
    time: unpacked(data.clearance.time),
    nearest: unpacked(data.clearance.nearest),
    distance: unpacked(data.clearance.areas[0].values),
    words: document.getElementById("nearest"),
  };
  const doing = document.getElementById("doing");
  player = startPlayer(view, (time) => {
    for (const group of groups) group.mark(time);
    gauges(used.map((own) => own && valueAt({ time: own.time, steps: false }, own.share, time)), peaks);
    const move = data.moves.findLast(({ start }) => start <= time);
    if (doing) doing.textContent = move ? `${fixed(time, 2)} s: ${move.told}` : `${fixed(time, 2)} s`;
    let [pair, tight] = [-1, false];
    if (apart) {
      const k = nearest(apart.time, time);
      pair = apart.nearest[k];
      tight = apart.distance[k] < data.clearance.areas[0].lower;
      apart.words.textContent = `${fixed(time, 2)} s: ${fixed(apart.distance[k], 1)} mm, ${data.clearance.pairs[pair]}`;
    }
    if (offsets) {
      const k = nearest(pictures, time);
      shown.radius = radii[k];
      shown.offsets = offsets.slice(Math.max(firstFrom(pictures, time - LENS.wake), 0), k + 1);
      if (!shown.offsets.length) shown.offsets = [offsets[k]];
    }
    if (view) view.show(time, pair, tight);
  });
}
// On paper nothing can be unfolded.
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((part) => (part.open = true)));
document.documentElement.dataset.ready = "yes";
