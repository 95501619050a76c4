// The cells of the map as SVG paths: polygons with one or two dimensions, dots with more.

import { viridis } from "dcrl-explorer/colours.js";
import { svg } from "dcrl-explorer/dom.js";
import { isFilled, isTiled } from "dcrl-explorer/places.js";

/** A cell's outline in descriptor units; nothing for one that is not on the map. */
export function cellPath(archive, polygons, projection, cell) {
  if (isTiled(archive)) {
    const corners = polygons[cell].map((corner) => `${corner.x} ${corner.y}`);
    return corners.length ? `M${corners.join("L")}Z` : ""; // a centroid outside the bounds may have no cell
  }
  if (!isFilled(archive, cell)) return "";
  const place = archive.descriptor[cell];
  return `M${projection.x(place)} ${projection.y(place)}h0`;
}

/** Draw all cells into `group`, coloured by `shown`, one of `archive.values`. */
export function drawCells(group, archive, polygons, projection, shown) {
  const tiled = isTiled(archive);
  const order = archive.fitness.map((_, cell) => cell).filter((cell) => tiled || isFilled(archive, cell));
  if (!tiled) order.sort((a, b) => archive.fitness[a] - archive.fitness[b]); // the best in front
  group.replaceChildren();
  group.classList.toggle("dots", !tiled);
  for (const cell of order) {
    const path = svg("path", { "data-cell": cell, d: cellPath(archive, polygons, projection, cell) }, group);
    if (!isFilled(archive, cell)) path.classList.add("empty");
    if (archive.recorded) path.classList.toggle("unrecorded", !archive.recorded.includes(cell));
  }
  colourCells(group, archive, shown);
}

/** A filled cell without a value is grey. */
export function colourCells(group, archive, shown) {
  const [least, greatest] = shown.range;
  for (const path of group.children) {
    const [cell, value] = [Number(path.dataset.cell), shown.values[Number(path.dataset.cell)]];
    if (!isFilled(archive, cell)) continue;
    const colour = value === null ? "var(--soft)" : viridis((value - least) / (greatest - least || 1));
    path.style[isTiled(archive) ? "fill" : "stroke"] = colour;
  }
}
