// Turning and enlarging a drawing in parallel projection, by pointer and by keys; switching its layers.

const VIEW = { turn: -0.9, tilt: 0.42 };

/** Let a view be turned; `draw` is called after every change. Returns what puts it back. */
function makeTurnable(place, view, draw) {
  const turn = (by, up) => {
    view.turn += by;
    view.tilt = Math.min(Math.max(view.tilt + up, -Math.PI / 2), Math.PI / 2);
    draw();
  };
  const enlarge = (factor) => {
    view.size = Math.min(Math.max(view.size * factor, 0.3), 12);
    draw();
  };
  const reset = () => {
    Object.assign(view, { turn: VIEW.turn, tilt: VIEW.tilt, size: 1 });
    draw();
  };
  const keys = {
    ArrowLeft: () => turn(-0.12, 0),
    ArrowRight: () => turn(0.12, 0),
    ArrowUp: () => turn(0, 0.12),
    ArrowDown: () => turn(0, -0.12),
    "+": () => enlarge(1.2),
    "=": () => enlarge(1.2),
    "-": () => enlarge(1 / 1.2),
    Home: reset,
  };
  place.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });
  place.addEventListener("pointerdown", (event) => place.setPointerCapture(event.pointerId));
  place.addEventListener("pointermove", (event) => {
    if (event.buttons & 1) turn(event.movementX * 0.008, event.movementY * 0.008);
  });
  return reset;
}

/** Let the controls of a drawing switch its layers and put its view back. */
function switchLayers(controls, layers, draw, reset) {
  for (const box of controls.querySelectorAll("[data-layer]"))
    box.addEventListener("change", () => {
      layers[box.dataset.layer] = box.checked;
      draw();
    });
  controls.querySelector("button").addEventListener("click", reset);
  controls.hidden = false;
}
