// The map's drawing: an SVG with cells, outlines of chosen cells, marks and axes, drawn in this order.

import { cellPath } from "dcrl-explorer/cells.js";
import { KIND_COLOUR } from "dcrl-explorer/colours.js";
import { svg } from "dcrl-explorer/dom.js";
import { isTiled } from "dcrl-explorer/places.js";
import { drawRuler } from "dcrl-explorer/ruler.js";
import { MARGIN } from "dcrl-explorer/viewport.js";

const DOT_PIXELS = 9;
const OUTLINES = ["dcrl-pinned", "dcrl-chosen"];

/** Put an empty drawing into `frame`; `cells` is the group for `drawCells`. */
export function createPicture(frame) {
  const element = svg("svg", { tabindex: "0", role: "application" }, frame);
  element.setAttribute("aria-label", "Map of the archive: click a cell, or move between cells with the arrow keys");
  const clip = svg("clipPath", { id: `dcrl-clip-${Math.random().toString(36).slice(2)}` }, svg("defs", {}, element));
  const clipped = svg("rect", {}, clip);
  const ground = svg("rect", { class: "dcrl-ground" }, element);
  const inside = svg("g", { "clip-path": `url(#${clip.id})` }, element);
  const cells = svg("g", { class: "dcrl-cells" }, inside);
  const over = svg("g", {}, inside);
  const outlines = OUTLINES.map((name) => ["dcrl-halo", name].map((layer) => svg("path", { class: layer }, over)));
  const marked = svg("g", {}, inside);
  const ruler = svg("g", { class: "dcrl-ruler" }, element);

  /** Place everything as the viewport says; `outlined` are the cells, or null, of the pinned and the chosen outline. */
  function place(viewport, archive, polygons, projection, outlined) {
    const s = viewport.scales();
    for (const area of [clipped, ground]) {
      for (const [name, value] of Object.entries({ x: MARGIN.left, y: MARGIN.top, width: s.w, height: s.h })) {
        area.setAttribute(name, Math.max(value, 0));
      }
    }
    for (const group of [cells, over]) {
      group.setAttribute("transform", `matrix(${s.sx} 0 0 ${-s.sy} ${s.x(0)} ${s.y(0)})`);
    }
    cells.style.setProperty("--dot", `${DOT_PIXELS * Math.min(s.w / 400, 1.3)}px`);
    outlined.forEach((cell, i) => {
      for (const outline of outlines[i]) {
        outline.setAttribute("d", cell === null ? "" : cellPath(archive, polygons, projection, cell));
        outline.classList.toggle("dot", !isTiled(archive));
      }
    });
    drawRuler(ruler, s, viewport.view, MARGIN, projection.titles());
    element.style.touchAction = viewport.zoomed ? "none" : "pan-y";
  }

  /** A cross at `target`, if there is one, and a dot per kind at the descriptor reached so far. */
  function mark(s, projection, target, reached) {
    marked.replaceChildren();
    const at = (descriptor) => [s.x(projection.x(descriptor)), s.y(projection.y(descriptor))];
    if (target) {
      const [cx, cy] = at(target);
      svg("path", { class: "dcrl-target", d: `M${cx - 9} ${cy}H${cx + 9}M${cx} ${cy - 9}V${cy + 9}` }, marked);
    }
    for (const [kind, descriptor] of reached) {
      const [cx, cy] = at(descriptor);
      svg("circle", { class: "dcrl-reached", "data-kind": kind, cx, cy, r: 6, fill: KIND_COLOUR[kind] }, marked);
    }
  }

  return { element, cells, place, mark };
}
