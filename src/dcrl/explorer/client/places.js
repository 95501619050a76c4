// Cells by where they are: the nearest to a place, the next in a direction.

/** With one or two dimensions cells tile the map; with more, elites are dots on it. */
export const isTiled = (archive) => archive.names.length <= 2;
export const isFilled = (archive, cell) => archive.fitness[cell] !== null;
export const placeOf = (archive, cell) => (isTiled(archive) ? archive.centroid[cell] : archive.descriptor[cell]);

/** Every cell that is on the map, with its offset from a place; `x` and `y` read a place's coordinates. */
function* offsets(archive, place, x, y) {
  for (let cell = 0; cell < archive.fitness.length; cell++) {
    if (!isTiled(archive) && !isFilled(archive, cell)) continue;
    const at = placeOf(archive, cell);
    yield [cell, x(at) - x(place), y(at) - y(place)];
  }
}

/** The cell of least distance, each direction counted by its own scale. */
export function nearest(archive, place, x, y, [scaleX, scaleY]) {
  let [best, least] = [null, Infinity];
  for (const [cell, dx, dy] of offsets(archive, place, x, y)) {
    const distance = (dx * scaleX) ** 2 + (dy * scaleY) ** 2;
    if (distance < least) [best, least] = [cell, distance];
  }
  return best;
}

/** The next cell in a direction, within 45 degrees of it; `span` is the width of each axis. */
export function neighbour(archive, from, x, y, [spanX, spanY], [right, up]) {
  let [best, least] = [null, Infinity];
  for (const [cell, dx, dy] of offsets(archive, placeOf(archive, from), x, y)) {
    const [a, b] = [dx / spanX, dy / spanY];
    const [along, aside] = [a * right + b * up, Math.abs(a * up) + Math.abs(b * right)];
    if (cell !== from && along > 0 && aside <= along && along + aside < least) [best, least] = [cell, along + aside];
  }
  return best;
}
