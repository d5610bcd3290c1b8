// A run while it goes on: the server tells what is new, and everything on the page follows.

const MOST_SAMPLES = 4000;
const REDRAWN = 200;

function startLive({ view, gauges, tracking, bounds, shown }) {
  const series = { time: [], r: [] };
  const known = { since: [], lower: [], upper: [] };
  const state = document.getElementById("live-state");
  const events = document.getElementById("live-events");
  let drawnAt = 0;

  const say = (status, mark, words) => {
    state.dataset.status = status;
    state.querySelector(".mark").textContent = mark;
    state.querySelector("strong").textContent = words;
  };
  const figure = (name, words) => {
    document.getElementById(`live-${name}`).textContent = words;
  };
  const remember = (time, r) => {
    if (time <= (series.time.at(-1) ?? -1)) return;
    series.time.push(time);
    series.r.push(r);
    // Of two samples the larger stays: a peak is never lost.
    if (series.time.length > MOST_SAMPLES) {
      const kept = series.r.flatMap((value, k) => (k % 2 ? [series.r[k - 1] > value ? k - 1 : k] : []));
      for (const name of ["time", "r"]) series[name] = kept.map((k) => series[name][k]);
    }
  };
  const learn = ({ time, lower, upper }) => {
    known.since.push(time);
    known.lower.push(lower.map((x) => x ?? -Infinity));
    known.upper.push(upper.map((x) => x ?? Infinity));
    const at = known.since.length - 1;
    const band = { edges: [time, time], lower: [known.lower[at][0]], upper: [known.upper[at][0]] };
    figure("first", `${endsAt(band, time)}\u202f${data.bounds[0].areas[0].unit}`);
  };
  const tell = ({ time, severity, sentence }) => {
    document.getElementById("live-quiet").hidden = true;
    events.prepend(
      element(
        "li",
        { "data-severity": severity },
        element("span", { class: "when" }, `${fixed(time, 2)} s`),
        element("span", { class: "state" }, severity),
        element("div", {}, sentence),
      ),
    );
  };
  const redraw = (now) => {
    drawnAt = performance.now();
    if (series.time.length > 1) {
      const [course] = data.tracking.areas;
      tracking.renew([{ ...data.tracking, time: series.time, areas: [{ ...course, values: series.r.map((r) => 1000 * r) }] }], now);
    }
    const edges = [...known.since, Math.max(now, known.since.at(-1) ?? 0)];
    bounds.renew(
      data.bounds.map((own, k) => ({
        ...own,
        time: [0, now],
        areas: own.areas.map((area) => ({
          ...area,
          values: area.truth === null ? null : [area.truth, area.truth],
          proven: { edges, lower: known.lower.map((row) => row[k]), upper: known.upper.map((row) => row[k]) },
        })),
      })),
      now,
    );
  };

  const source = new EventSource("events");
  source.addEventListener("open", () => {
    for (const list of [series.time, series.r, known.since, known.lower, known.upper]) list.length = 0;
    events.replaceChildren();
    say("running", "▶", "The robot is learning.");
  });
  source.addEventListener("error", () => say("warn", "!", "The run cannot be reached; it may have ended."));
  source.addEventListener("end", (message) => {
    source.close();
    const { words, again } = JSON.parse(message.data);
    say("not run", "–", words);
    if (again) location.reload();
  });
  source.addEventListener("message", (message) => {
    const news = JSON.parse(message.data);
    news.past.forEach(([time, r]) => remember(time, r));
    news.bounds.forEach(learn);
    news.events.forEach(tell);
    if (news.time === null) return;
    if (news.offset) {
      shown.radius = news.radius;
      shown.offsets = [...shown.offsets.slice(-12), news.offset];
    }
    if (view) view.follow(news.frames);
    gauges(news.shares, news.peaks);
    figure("time", `${fixed(news.time, 1)} s`);
    figure("tube", `${fixed(100 * news.peaks[0], 0)} %`);
    figure("torque", `${fixed(100 * Math.max(...news.peaks.slice(1)), 0)} %`);
    if (performance.now() - drawnAt > REDRAWN) redraw(Math.max(news.time, 1e-3));
  });
}
