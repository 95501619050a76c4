// An archive as a map: one cell an elite, coloured by fitness. Hover, pick, zoom, pan, keyboard.
//
// With one or two descriptor dimensions the cells tile the plane; with more, every elite is a dot at its
// descriptor in two chosen dimensions, and sliders hold a target's other dimensions.

import { fillAxes } from "dcrl-explorer/axes.js";
import { GRADIENT, KIND_COLOUR, viridis } from "dcrl-explorer/colours.js";
import { make, pretty, svg } from "dcrl-explorer/dom.js";
import { isFilled, isTiled, nearest, neighbour, placeOf } from "dcrl-explorer/places.js";
import { drawRuler } from "dcrl-explorer/ruler.js";
import { tiles } from "dcrl-explorer/tiles.js";

const MARGIN = { left: 54, right: 14, top: 10, bottom: 44 };
const CLICK_PIXELS = 5; // a pointer that moved less has clicked
const DOT_PIXELS = 9;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/**
 * Fill `root` with a map. `pick({cell, target})` is called when somebody chooses a place: the cell there (or the
 * nearest dot), and the place itself in all descriptor dimensions.
 */
export function createMap(root, pick) {
  let archive = null;
  let polygons = []; // one a cell, where cells tile the map
  let axes = [0, 1];
  let view = null; // {x: [low, high], y: [low, high]} in the descriptor's units
  let chosen = null; // {cell, target}
  let aiming = false; // a place is a target, not only the cell there
  let sliders = []; // one value a dimension: what a target has where the map shows nothing
  const marks = new Map(); // kind -> descriptor reached so far
  const pointers = new Map();
  let dragged = null;

  root.classList.add("dcrl-map");
  const bar = make("div", "dcrl-map-axes");
  const frame = make("div", "dcrl-map-frame");
  const legend = make("div", "dcrl-map-legend");
  const tip = make("div", "dcrl-tip");
  const zooming = make("div", "dcrl-zoom");
  root.append(bar, frame, legend);
  const picture = svg("svg", { tabindex: "0", role: "application" }, frame);
  picture.setAttribute("aria-label", "Map of the archive: click a cell, or move between cells with the arrow keys");
  const clip = svg("clipPath", { id: `dcrl-clip-${Math.random().toString(36).slice(2)}` }, svg("defs", {}, picture));
  const clipped = svg("rect", {}, clip);
  const ground = svg("rect", { class: "dcrl-ground" }, picture);
  const inside = svg("g", { "clip-path": `url(#${clip.id})` }, picture);
  const cells = svg("g", { class: "dcrl-cells" }, inside);
  const over = svg("g", { class: "dcrl-over" }, inside);
  const outlines = ["dcrl-halo", "dcrl-chosen"].map((name) => svg("path", { class: name }, over));
  const marked = svg("g", {}, inside);
  const ruler = svg("g", { class: "dcrl-ruler" }, picture);
  for (const [sign, label, act] of [
    ["+", "zoom in", () => zoom(1 / 1.6)],
    ["−", "zoom out", () => zoom(1.6)],
    ["⤢", "show the whole map", () => whole()],
  ]) {
    const button = make("button", "", sign);
    button.type = "button";
    button.title = label;
    button.setAttribute("aria-label", label);
    button.onclick = act;
    zooming.append(button);
  }
  frame.append(tip);

  const flat = () => archive.names.length === 1;
  const tiled = () => isTiled(archive);
  const bounds = (axis) => (axis === null ? [0, 1] : [archive.low[axis], archive.high[axis]]);
  const axisOf = (i) => (flat() && i === 1 ? null : axes[i]);
  const across = (place, i) => (axisOf(i) === null ? 0.5 : place[axisOf(i)]);
  const filled = (cell) => isFilled(archive, cell);
  const [x, y] = [(place) => across(place, 0), (place) => across(place, 1)];
  const span = (i) => bounds(axisOf(i))[1] - bounds(axisOf(i))[0];
  const title = (axis) => `${archive.names[axis]} (${archive.unit})`;
  const size = () => ({ width: picture.clientWidth || 400, height: picture.clientHeight || 400 });

  function scales() {
    const { width, height } = size();
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

  // What is shown

  function show(given) {
    const kind = (a) => JSON.stringify([a.names, a.low, a.high, a.fitness.length]);
    const same = archive && kind(archive) === kind(given);
    archive = given;
    polygons = tiled() ? tiles(archive.centroid, archive.low, archive.high) : [];
    if (!same) {
      axes = [0, Math.min(1, archive.names.length - 1)];
      sliders = archive.low.map((low, i) => (low + archive.high[i]) / 2);
      chosen = null;
      marks.clear();
      view = { x: bounds(axisOf(0)), y: bounds(axisOf(1)) };
    }
    fillBar();
    fillLegend();
    drawCells();
    render();
  }

  function drawCells() {
    const [least, greatest] = archive.range;
    const order = archive.fitness.map((_, cell) => cell).filter((cell) => tiled() || filled(cell));
    if (!tiled()) order.sort((a, b) => archive.fitness[a] - archive.fitness[b]); // the best in front
    cells.replaceChildren();
    cells.classList.toggle("dots", !tiled());
    for (const cell of order) {
      const path = svg("path", { "data-cell": cell, d: shape(cell) }, cells);
      if (!filled(cell)) path.classList.add("empty");
      else {
        const colour = viridis((archive.fitness[cell] - least) / (greatest - least || 1));
        path.style[tiled() ? "fill" : "stroke"] = colour;
      }
      if (archive.recorded) path.classList.toggle("unrecorded", !archive.recorded.includes(cell));
    }
  }

  function shape(cell) {
    if (!tiled()) return `M${x(archive.descriptor[cell])} ${y(archive.descriptor[cell])}h0`;
    const corners = polygons[cell].map((corner) => `${corner.x} ${corner.y}`);
    return corners.length ? `M${corners.join("L")}Z` : ""; // a centroid outside the bounds may have no cell
  }

  function render() {
    if (!archive) return;
    const s = scales();
    for (const area of [clipped, ground]) {
      for (const [name, value] of Object.entries({ x: MARGIN.left, y: MARGIN.top, width: s.w, height: s.h })) {
        area.setAttribute(name, Math.max(value, 0));
      }
    }
    const place = `matrix(${s.sx} 0 0 ${-s.sy} ${s.x(0)} ${s.y(0)})`;
    cells.setAttribute("transform", place);
    over.setAttribute("transform", place);
    cells.style.setProperty("--dot", `${DOT_PIXELS * Math.min(s.w / 400, 1.3)}px`);
    for (const outline of outlines) {
      outline.setAttribute("d", chosen?.cell != null && (tiled() || filled(chosen.cell)) ? shape(chosen.cell) : "");
      outline.classList.toggle("dot", !tiled());
    }
    drawRuler(ruler, s, view, MARGIN, [title(axes[0]), flat() ? null : title(axes[1])]);
    renderMarks(s);
    const zoomed = view.x[1] - view.x[0] < 0.99 * span(0);
    picture.style.touchAction = zoomed ? "none" : "pan-y";
  }

  function renderMarks(s) {
    marked.replaceChildren();
    const target = chosen?.target;
    if (aiming && target) {
      const [cx, cy] = [s.x(x(target)), s.y(y(target))];
      svg("path", { class: "dcrl-target", d: `M${cx - 9} ${cy}H${cx + 9}M${cx} ${cy - 9}V${cy + 9}` }, marked);
    }
    for (const [kind, reached] of marks) {
      const [cx, cy] = [s.x(x(reached)), s.y(y(reached))];
      svg("circle", { class: "dcrl-reached", "data-kind": kind, cx, cy, r: 6, fill: KIND_COLOUR[kind] }, marked);
    }
  }

  function fillBar() {
    const turn = (turned) => {
      axes = turned;
      whole();
      fillBar();
      drawCells();
      render();
    };
    const slide = (axis, value, done) => {
      sliders[axis] = value;
      if (done && chosen?.target) choose({ cell: null, target: targetAt(chosen.target) });
    };
    fillAxes(bar, archive, axes, sliders, aiming, turn, slide);
  }

  function fillLegend() {
    const [least, greatest] = archive.range;
    const gradient = make("span", "dcrl-gradient");
    gradient.style.background = `linear-gradient(to right, ${GRADIENT})`;
    legend.replaceChildren(make("span", "", "fitness"), make("span", "dcrl-number", pretty(least)), gradient);
    legend.append(make("span", "dcrl-number", pretty(greatest)), zooming);
  }

  // Where people point

  function targetAt(place) {
    return sliders.map((value, axis) => (axes.includes(axis) ? place[axis] : value));
  }

  function placeAt(event) {
    const box = picture.getBoundingClientRect();
    const s = scales();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    const clamped = (value, [low, high]) => Math.min(Math.max(value, low), high);
    const place = sliders.slice();
    place[axes[0]] = clamped(s.left(px), bounds(axes[0]));
    if (!flat()) place[axes[1]] = clamped(s.up(py), bounds(axes[1]));
    const within = px >= MARGIN.left && px <= MARGIN.left + s.w && py >= MARGIN.top && py <= MARGIN.top + s.h;
    return { place, within };
  }

  /** The cell whose centroid is nearest in the descriptor's units, or the dot that is nearest on the screen. */
  function cellAt(place) {
    const s = scales();
    return nearest(archive, place, x, y, tiled() ? [1, 1] : [s.sx, s.sy]);
  }

  function choose(choice) {
    chosen = choice;
    marks.clear();
    render();
    pick({ cell: choice.cell, target: choice.target });
  }

  function hover(event) {
    const { place, within } = placeAt(event);
    const cell = archive && within ? cellAt(place) : null;
    tip.style.display = cell === null ? "none" : "block";
    if (cell === null) return;
    const lines = [make("b", "", `cell ${cell}${filled(cell) ? "" : ", empty"}`)];
    const at = filled(cell) ? archive.descriptor[cell] : archive.centroid[cell];
    lines.push(...at.map((value, axis) => make("span", "", `${archive.names[axis]} ${pretty(value)}`)));
    if (filled(cell)) lines.push(make("span", "", `fitness ${pretty(archive.fitness[cell])}`));
    if (archive.recorded && !archive.recorded.includes(cell)) lines.push(make("span", "", "not recorded in this file"));
    tip.replaceChildren(...lines);
    const box = frame.getBoundingClientRect();
    const [left, top] = [event.clientX - box.left, event.clientY - box.top];
    tip.style.left = `${Math.min(Math.max(left + 14, 0), box.width - tip.offsetWidth - 4)}px`;
    tip.style.top = `${top - tip.offsetHeight - 12 < 0 ? top + 18 : top - tip.offsetHeight - 12}px`;
  }

  function zoom(factor, place = null) {
    const centre = place ?? [(view.x[0] + view.x[1]) / 2, (view.y[0] + view.y[1]) / 2];
    const around = ([low, high], middle, [least, greatest]) => {
      const width = Math.min(Math.max((high - low) * factor, (greatest - least) / 200), greatest - least);
      const start = middle - ((middle - low) / (high - low)) * width;
      return inBounds([start, start + width], [least, greatest]);
    };
    view = { x: around(view.x, centre[0], bounds(axisOf(0))), y: around(view.y, centre[1], bounds(axisOf(1))) };
    render();
  }

  function inBounds([low, high], [least, greatest]) {
    const shift = Math.max(least - low, 0) + Math.min(greatest - high, 0);
    return [low + shift, high + shift];
  }

  function whole() {
    view = { x: bounds(axisOf(0)), y: bounds(axisOf(1)) };
    render();
  }

  picture.addEventListener("wheel", (event) => {
    event.preventDefault();
    const { place } = placeAt(event);
    zoom(Math.exp(event.deltaY * 0.0015), [x(place), y(place)]);
  }, { passive: false });

  picture.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, event);
    dragged = pointers.size === 1 ? { x: event.clientX, y: event.clientY, view, far: false } : { ...dragged, far: true };
    picture.setPointerCapture(event.pointerId);
  });

  picture.addEventListener("pointermove", (event) => {
    if (!archive) return;
    const before = pointers.get(event.pointerId);
    if (!before) return hover(event);
    pointers.set(event.pointerId, event);
    if (pointers.size === 2) {
      const [a, b] = [...pointers.values()];
      const other = a.pointerId === event.pointerId ? b : a;
      const apart = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
      const { place } = placeAt({ clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2 });
      zoom(apart(before) / Math.max(apart(event), 1), [x(place), y(place)]);
    } else if (dragged) {
      const [dx, dy] = [event.clientX - dragged.x, event.clientY - dragged.y];
      dragged.far ||= Math.hypot(dx, dy) > CLICK_PIXELS;
      if (!dragged.far) return;
      const s = scales();
      const moved = (range, by, axis) => inBounds(range.map((value) => value + by), bounds(axis));
      view = { x: moved(dragged.view.x, -dx / s.sx, axisOf(0)), y: moved(dragged.view.y, dy / s.sy, axisOf(1)) };
      render();
    }
  });

  picture.addEventListener("pointerup", (event) => {
    const clicked = archive && dragged && !dragged.far;
    pointers.delete(event.pointerId);
    dragged = null;
    const { place, within } = placeAt(event);
    if (clicked && within) choose({ cell: cellAt(place), target: place });
  });
  picture.addEventListener("pointercancel", (event) => {
    pointers.delete(event.pointerId);
    dragged = null;
  });
  picture.addEventListener("pointerleave", () => (tip.style.display = "none"));

  picture.addEventListener("keydown", (event) => {
    if (!archive || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "+" || event.key === "=") zoom(1 / 1.6);
    else if (event.key === "-") zoom(1.6);
    else if (event.key === "0") whole();
    else if (ARROWS[event.key]) {
      const middle = archive.low.map((low, axis) => (low + archive.high[axis]) / 2);
      const start = chosen?.cell ?? cellAt(chosen?.target ?? middle);
      const next = chosen ? neighbour(archive, start, x, y, [span(0), span(1)], ARROWS[event.key]) : start;
      if (next !== null) {
        sliders = placeOf(archive, next).slice();
        fillBar();
        choose({ cell: next, target: sliders.slice() });
      }
    } else return;
    event.preventDefault();
  });

  new ResizeObserver(() => archive && render()).observe(picture);
  window.addEventListener("dcrl-progress", (event) => { // the player tells how far its motions have got
    for (const { kind, descriptor } of event.detail) marks.set(kind, descriptor);
    if (archive) renderMarks(scales());
  });

  return {
    show,
    /** Whether places are targets: shown with a cross, their other dimensions with sliders. */
    aim(on) {
      aiming = on;
      if (!archive) return;
      fillBar();
      render();
    },
    /** Show a choice made elsewhere, without picking it again. */
    select(choice) {
      chosen = choice;
      marks.clear();
      if (archive) render();
    },
  };
}
