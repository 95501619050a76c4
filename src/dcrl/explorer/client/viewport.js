// The visible part of the map: scales between descriptor units and pixels, zoom and pan.

export const MARGIN = { left: 54, right: 14, top: 10, bottom: 44 };
const MOST_ZOOM = 200;

/** `reset(bounds)` sets what the whole map is: {x: [low, high], y: [low, high]} in descriptor units. */
export function createViewport(picture) {
  let whole = { x: [0, 1], y: [0, 1] };
  let view = whole;

  function scales() {
    const [width, height] = [picture.clientWidth || 400, picture.clientHeight || 400];
    const [w, h] = [width - MARGIN.left - MARGIN.right, height - MARGIN.top - MARGIN.bottom];
    const [sx, sy] = [w / (view.x[1] - view.x[0]), h / (view.y[1] - view.y[0])];
    return {
      w, h, sx, sy,
      x: (value) => MARGIN.left + (value - view.x[0]) * sx,
      y: (value) => MARGIN.top + h - (value - view.y[0]) * sy,
      left: (pixel) => view.x[0] + (pixel - MARGIN.left) / sx,
      up: (pixel) => view.y[0] + (MARGIN.top + h - pixel) / sy,
    };
  }

  function inside([low, high], [least, greatest]) {
    const shift = Math.max(least - low, 0) + Math.min(greatest - high, 0);
    return [low + shift, high + shift];
  }

  function scaled([low, high], factor, centre, [least, greatest]) {
    const width = Math.min(Math.max((high - low) * factor, (greatest - least) / MOST_ZOOM), greatest - least);
    const start = centre - ((centre - low) / (high - low)) * width;
    return inside([start, start + width], [least, greatest]);
  }

  return {
    scales,
    get view() {
      return view;
    },
    get zoomed() {
      return view.x[1] - view.x[0] < 0.99 * (whole.x[1] - whole.x[0]);
    },
    reset(bounds = whole) {
      whole = view = bounds;
    },
    /** Show `factor` times as much, around a place that stays where it is (the middle if there is none). */
    zoom(factor, [x, y] = [(view.x[0] + view.x[1]) / 2, (view.y[0] + view.y[1]) / 2]) {
      view = { x: scaled(view.x, factor, x, whole.x), y: scaled(view.y, factor, y, whole.y) };
    },
    /** Show what `from` shows, moved by pixels. */
    pan(from, dx, dy) {
      const { sx, sy } = scales();
      const moved = (range, by, bounds) => inside(range.map((value) => value + by), bounds);
      view = { x: moved(from.x, -dx / sx, whole.x), y: moved(from.y, dy / sy, whole.y) };
    },
  };
}
