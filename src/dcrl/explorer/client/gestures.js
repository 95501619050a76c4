// Mouse, touch and keyboard on the map: click, drag, wheel, pinch, arrow keys.

const CLICK_PIXELS = 5; // a pointer that moved less has clicked
const ZOOM = 1.6; // of one press of a key or button
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export const zoomIn = 1 / ZOOM;
export const zoomOut = ZOOM;

/**
 * Listen to `picture`. `act` has `hover(event)`, `leave()`, `click(event)`, `zoom(factor, event)`, `whole()`,
 * `step([right, up])`, `view()` and `pan(view, dx, dy)`, which moves a view by pixels.
 */
export function addGestures(picture, act) {
  const pointers = new Map();
  let dragged = null; // {x, y, view, far}: where the pointer went down and what was visible then

  picture.addEventListener("wheel", (event) => {
    event.preventDefault();
    act.zoom(Math.exp(event.deltaY * 0.0015), event);
  }, { passive: false });

  picture.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, event);
    const alone = pointers.size === 1;
    dragged = alone ? { x: event.clientX, y: event.clientY, view: act.view(), far: false } : { ...dragged, far: true };
    picture.setPointerCapture(event.pointerId);
  });

  picture.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return act.hover(event);
    pointers.set(event.pointerId, event);
    if (pointers.size === 2) pinch(before, event);
    else if (dragged) drag(event);
  });

  function pinch(before, event) {
    const [a, b] = [...pointers.values()];
    const other = a.pointerId === event.pointerId ? b : a;
    const apart = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
    const middle = { clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2 };
    act.zoom(apart(before) / Math.max(apart(event), 1), middle);
  }

  function drag(event) {
    const [dx, dy] = [event.clientX - dragged.x, event.clientY - dragged.y];
    dragged.far ||= Math.hypot(dx, dy) > CLICK_PIXELS;
    if (dragged.far) act.pan(dragged.view, dx, dy);
  }

  function release(event) {
    pointers.delete(event.pointerId);
    const clicked = dragged && !dragged.far;
    dragged = null;
    return clicked;
  }
  picture.addEventListener("pointerup", (event) => release(event) && act.click(event));
  picture.addEventListener("pointercancel", release);
  picture.addEventListener("pointerleave", () => act.leave());

  picture.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "+" || event.key === "=") act.zoom(zoomIn);
    else if (event.key === "-") act.zoom(zoomOut);
    else if (event.key === "0") act.whole();
    else if (ARROWS[event.key]) act.step(ARROWS[event.key]);
    else return;
    event.preventDefault();
  });
}
