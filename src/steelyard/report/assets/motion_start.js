const view = startMotionView();
const groups = [];
let player = null;
const choose = (time) => player.seek(time);
const { clearance } = data;
const clearancePlace = document.getElementById("clearance-plot");
const jointPlace = document.getElementById("joint-plots");
const searchPlace = document.getElementById("search-plot");

if (clearancePlace && clearance) groups.push(startTimePlots(clearancePlace, [clearance], data.duration, { choose }));
if (jointPlace) {
  const plots = startTimePlots(jointPlace, data.joints, data.duration, {
    choose,
    controls: document.getElementById("plot-controls"),
    range: document.getElementById("plot-range"),
  });
  document.getElementById("fit-curves").addEventListener("change", (event) => plots.fit(event.target.checked));
  groups.push(plots);
}
if (searchPlace && data.search) startTimePlots(searchPlace, [data.search], unpacked(data.search.time).at(-1));

const apart = clearance && {
  time: unpacked(clearance.time),
  nearest: unpacked(clearance.nearest),
  distance: unpacked(clearance.areas[0].values),
  required: clearance.areas[0].lower,
  words: document.getElementById("nearest"),
};
player = startPlayer(view, (time) => {
  for (const group of groups) group.mark(time);
  let [pair, tight] = [-1, false];
  if (apart) {
    const k = nearest(apart.time, time);
    pair = apart.nearest[k];
    tight = apart.distance[k] < apart.required;
    apart.words.textContent = `${fixed(time, 2)} s: ${fixed(apart.distance[k], 1)} mm, ${clearance.pairs[pair]}`;
  }
  if (view) view.show(time, pair, tight);
});
// On paper nothing can be unfolded.
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((part) => (part.open = true)));
document.documentElement.dataset.ready = "yes";
