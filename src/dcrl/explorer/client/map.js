// An archive as a map: one cell per elite, coloured by fitness or another value of the cell.
//
// With one or two descriptor dimensions the cells tile the plane; with more, every elite is a dot at its
// descriptor in two chosen dimensions, and sliders hold a target's other dimensions.

import { fillAxes } from "dcrl-explorer/axes.js";
import { colourCells, drawCells } from "dcrl-explorer/cells.js";
import { make } from "dcrl-explorer/dom.js";
import { addGestures, zoomIn, zoomOut } from "dcrl-explorer/gestures.js";
import { fillLegend, zoomButtons } from "dcrl-explorer/legend.js";
import { createPicture } from "dcrl-explorer/picture.js";
import { isTiled, nearest, neighbour, placeOf } from "dcrl-explorer/places.js";
import { createProjection } from "dcrl-explorer/projection.js";
import { tiles } from "dcrl-explorer/tiles.js";
import { createTip } from "dcrl-explorer/tip.js";
import { createViewport, MARGIN } from "dcrl-explorer/viewport.js";

/**
 * Fill `root` with a map. `pick({cell, target})` is called when a place is chosen: the cell there (or the
 * nearest dot), and the place itself in all descriptor dimensions.
 */
export function createMap(root, pick) {
  let archive = null;
  let polygons = []; // one per cell, where cells tile the map
  let projection = null;
  let shown = null; // which of archive.values the colours mean
  let chosen = null; // {cell, target}
  let aiming = false; // a place is a target, not only the cell there
  let pinned = null; // the cell that others are compared with
  let sliders = []; // one value per dimension: what a target has where the map shows nothing
  const marks = new Map(); // kind -> descriptor reached so far

  root.classList.add("dcrl-map");
  const bar = make("div", "dcrl-map-axes");
  const frame = make("div", "dcrl-map-frame");
  const legend = make("div", "dcrl-map-legend");
  root.append(bar, frame, legend);
  const picture = createPicture(frame);
  const tip = createTip(frame);
  const viewport = createViewport(picture.element);
  const zooming = zoomButtons([
    ["+", "zoom in", () => zoom(zoomIn)],
    ["−", "zoom out", () => zoom(zoomOut)],
    ["⤢", "show the whole map", whole],
  ]);

  // What is shown

  function show(given) {
    const shape = (a) => JSON.stringify([a.names, a.low, a.high, a.fitness.length]);
    const same = archive && shape(archive) === shape(given);
    archive = given;
    polygons = isTiled(archive) ? tiles(archive.centroid, archive.low, archive.high) : [];
    shown = archive.values.find(({ key }) => key === shown?.key) ?? archive.values[0];
    if (!same) {
      sliders = archive.low.map((low, i) => (low + archive.high[i]) / 2);
      [chosen, pinned] = [null, null];
      marks.clear();
      turn([0, Math.min(1, archive.names.length - 1)]);
    } else turn(projection.axes, viewport.view);
    drawLegend();
  }

  /** Show these two dimensions; a given view stays as it is. */
  function turn(axes, view = null) {
    projection = createProjection(archive, axes);
    if (!view) viewport.reset(projection.bounds());
    fillBar();
    drawCells(picture.cells, archive, polygons, projection, shown);
    render();
  }

  function drawLegend() {
    const recolour = (value) => {
      shown = value;
      colourCells(picture.cells, archive, shown);
      drawLegend();
    };
    fillLegend(legend, archive.values, shown, recolour, zooming);
  }

  function fillBar() {
    const slide = (axis, value, done) => {
      sliders[axis] = value;
      if (done && chosen?.target) choose({ cell: null, target: targetAt(chosen.target) });
    };
    fillAxes(bar, archive, projection.axes, sliders, aiming, turn, slide);
  }

  function render() {
    if (!archive) return;
    picture.place(viewport, archive, polygons, projection, [pinned, chosen?.cell ?? null]);
    renderMarks();
  }

  function renderMarks() {
    picture.mark(viewport.scales(), projection, aiming ? chosen?.target : null, marks);
  }

  // What is chosen

  const targetAt = (place) => sliders.map((value, axis) => (projection.axes.includes(axis) ? place[axis] : value));

  function placeAt(event) {
    const box = picture.element.getBoundingClientRect();
    const s = viewport.scales();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    const within = px >= MARGIN.left && px <= MARGIN.left + s.w && py >= MARGIN.top && py <= MARGIN.top + s.h;
    return { place: projection.place(sliders, s.left(px), s.up(py)), within };
  }

  /** The cell whose centroid is nearest in the descriptor's units, or the dot that is nearest on the screen. */
  function cellAt(place) {
    const s = viewport.scales();
    return nearest(archive, place, projection.x, projection.y, isTiled(archive) ? [1, 1] : [s.sx, s.sy]);
  }

  function choose(choice) {
    chosen = choice;
    marks.clear();
    render();
    pick({ cell: choice.cell, target: choice.target });
  }

  function hover(event) {
    const { place, within } = placeAt(event);
    const cell = within ? cellAt(place) : null;
    if (cell === null) tip.hide();
    else tip.show(archive, cell, event);
  }

  function step(direction) {
    const middle = archive.low.map((low, axis) => (low + archive.high[axis]) / 2);
    const start = chosen?.cell ?? cellAt(chosen?.target ?? middle);
    const { x, y } = projection;
    const next = chosen ? neighbour(archive, start, x, y, projection.spans(), direction) : start;
    if (next === null) return;
    sliders = placeOf(archive, next).slice();
    fillBar();
    choose({ cell: next, target: sliders.slice() });
  }

  function click(event) {
    const { place, within } = placeAt(event);
    if (within) choose({ cell: cellAt(place), target: place });
  }

  function zoom(factor, event = null) {
    const { place } = event ? placeAt(event) : {};
    viewport.zoom(factor, place && [projection.x(place), projection.y(place)]);
    render();
  }

  function pan(view, dx, dy) {
    viewport.pan(view, dx, dy);
    render();
  }

  function whole() {
    viewport.reset();
    render();
  }

  const act = { hover, click, zoom, whole, step, pan };
  const ready = Object.entries(act).map(([name, action]) => [name, (...given) => archive && action(...given)]);
  addGestures(picture.element, { ...Object.fromEntries(ready), leave: tip.hide, view: () => viewport.view });
  new ResizeObserver(render).observe(picture.element);
  window.addEventListener("dcrl-progress", (event) => { // how far the player's motions have got
    for (const { kind, descriptor } of event.detail) {
      if (descriptor.every(Number.isFinite)) marks.set(kind, descriptor); // some environments give none at the start
      else marks.delete(kind);
    }
    if (archive) renderMarks();
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
    /** Outline a cell that others are compared with; null for none. */
    pin(cell) {
      pinned = cell;
      render();
    },
    /** Show a choice made elsewhere, without picking it again. */
    select(choice) {
      chosen = choice;
      marks.clear();
      render();
    },
  };
}
