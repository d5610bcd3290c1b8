// Time: played, scrubbed or chosen; everything on the page that shows an instant shows the same one.

function startPlayer(view, show) {
  const [play, slider, output] = ["play", "moment", "moment-time"].map((id) => document.getElementById(id));
  if (!play) return { seek: show };
  const speed = document.getElementById("speed");
  const repeat = document.getElementById("repeat");
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let time = 0;
  let running = null;
  let before = 0;

  const seek = (t) => {
    time = Math.min(Math.max(t, 0), data.duration);
    slider.value = String(time);
    slider.setAttribute("aria-valuetext", `${fixed(time, 2)} s`);
    output.textContent = `${fixed(time, 2)} of ${fixed(data.duration, 2)} s`;
    show(time);
  };
  const pause = () => {
    if (running !== null) cancelAnimationFrame(running);
    running = null;
    play.textContent = "Play";
  };
  const step = (now) => {
    // Who asked for little motion sees two still pictures a second.
    const passed = (now - before) / 1000;
    if (!still.matches || passed >= 0.5) {
      before = now;
      let next = time + passed * Number(speed.value);
      if (next >= data.duration && repeat.checked) next %= data.duration;
      seek(next);
    }
    if (time >= data.duration && !repeat.checked) pause();
    else running = requestAnimationFrame(step);
  };
  const start = () => {
    if (time >= data.duration) seek(0);
    before = performance.now();
    running = requestAnimationFrame(step);
    play.textContent = "Pause";
  };
  const toggle = () => (running === null ? start() : pause());

  play.addEventListener("click", toggle);
  slider.addEventListener("input", () => {
    pause();
    seek(Number(slider.value));
  });
  view.place.addEventListener("keydown", (event) => {
    if (event.key !== " " || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    toggle();
  });
  document.getElementById("player").hidden = false;
  seek(0);
  return {
    seek(t) {
      pause();
      seek(t);
    },
  };
}
