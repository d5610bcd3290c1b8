// A window of time that figures share: enlarged, moved, dragged out; and the time under the pointer.

const WINDOW_KEYS = { "+": "in", "=": "in", "-": "out", ArrowLeft: "earlier", ArrowRight: "later", Home: "whole", 0: "whole" };

/** What can be done with the window `state.from` to `state.to` of all `length()` seconds; `draw` follows every change. */
function timeWindow(state, length, draw) {
  const show = (from, to) => {
    const width = Math.min(Math.max(to - from, length() / 2000), length());
    state.from = Math.min(Math.max(from, 0), length() - width);
    state.to = state.from + width;
    draw();
  };
  const scale = (factor) => {
    const [middle, half] = [(state.from + state.to) / 2, ((state.to - state.from) * factor) / 2];
    show(middle - half, middle + half);
  };
  const shift = (share) => {
    const by = (state.to - state.from) * share;
    show(state.from + by, state.to + by);
  };
  return {
    show,
    in: () => scale(0.5),
    out: () => scale(2),
    earlier: () => shift(-0.25),
    later: () => shift(0.25),
    whole: () => show(0, length()),
  };
}

/** Let the buttons of a page change the window. */
function pressButtons(controls, actions) {
  for (const button of controls.querySelectorAll("[data-zoom]"))
    button.addEventListener("click", () => actions[button.dataset.zoom]());
  controls.hidden = false;
}

/**
 * Let a figure change the window: by keys, by dragging over it, by a double click for everything. `over` is told the
 * time under the pointer and where a time is drawn, `leave` that the pointer is gone, `choose` the time of a click.
 */
function chooseWindow(figure, state, actions, { over, leave, choose }) {
  let begun = null;
  const timeAt = (event) => {
    const { left, right } = figure.scale;
    const share = (event.clientX - figure.svg.getBoundingClientRect().left - left) / (right - left);
    return state.from + Math.min(Math.max(share, 0), 1) * (state.to - state.from);
  };
  const xOf = (t) => {
    const { left, right } = figure.scale;
    return left + ((t - state.from) / (state.to - state.from)) * (right - left);
  };
  figure.box.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in WINDOW_KEYS)) return;
    event.preventDefault();
    actions[WINDOW_KEYS[event.key]]();
  });
  figure.box.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    begun = timeAt(event);
    figure.box.setPointerCapture(event.pointerId);
  });
  figure.box.addEventListener("pointermove", (event) => {
    const t = timeAt(event);
    over(t, xOf);
    if (begun === null) return;
    const [a, b] = [xOf(begun), xOf(t)].sort((one, other) => one - other);
    figure.chosen.setAttribute("x", a);
    figure.chosen.setAttribute("width", b - a);
  });
  figure.box.addEventListener("pointerup", (event) => {
    if (begun === null) return;
    const [from, to] = [begun, timeAt(event)].sort((one, other) => one - other);
    begun = null;
    figure.chosen.setAttribute("width", 0);
    if (xOf(to) - xOf(from) > 6) actions.show(from, to);
    else if (choose) choose(to);
  });
  for (const name of ["pointerleave", "pointercancel"])
    figure.box.addEventListener(name, () => {
      begun = null;
      figure.chosen.setAttribute("width", 0);
      leave();
    });
  figure.box.addEventListener("dblclick", actions.whole);
}

/** Draw again whenever a place becomes wider or narrower. */
function drawAtEveryWidth(place, draw) {
  let width = 0;
  new ResizeObserver(() => {
    if (place.clientWidth !== width) {
      width = place.clientWidth;
      if (width) draw();
    }
  }).observe(place);
}
