// The cells of a map as polygons: what is nearer to a cell's centroid than to any other, within the bounds.

/** For each centroid its cell's corners {x, y}; with one dimension, cells are strips from 0 to 1. */
export function tiles(centroids, [left, bottom = 0], [right, top = 1]) {
  const side = Math.ceil(Math.sqrt(centroids.length)); // so many squares each way, with about one centroid in each
  const [width, height] = [(right - left) / side, (top - bottom) / side];
  const within = (value) => Math.min(Math.max(Math.floor(value), 0), side - 1);
  const squares = Array.from({ length: side }, () => Array.from({ length: side }, () => []));
  const places = centroids.map(([x, y = 0.5]) => {
    const place = { x, y, column: within((x - left) / width), row: within((y - bottom) / height) };
    squares[place.row][place.column].push(place);
    return place;
  });
  const box = [{ x: left, y: bottom }, { x: right, y: bottom }, { x: right, y: top }, { x: left, y: top }];
  return places.map((place) => tile(place, squares, Math.min(width, height), box));
}

/** Cut off what belongs to others, ring by ring of squares, until all that follow are too far away to matter. */
function tile(place, squares, width, box) {
  let corners = box.map((corner) => ({ x: corner.x - place.x, y: corner.y - place.y })); // seen from the centroid
  let reach = farthest(corners);
  for (let ring = 0; ring < squares.length && (ring - 1) * width < 2 * Math.sqrt(reach); ring++) {
    for (const other of around(place, squares, ring)) {
      const dx = other.x - place.x;
      const dy = other.y - place.y;
      const apart = dx * dx + dy * dy;
      if (apart === 0 || apart >= 4 * reach) continue; // itself, or too far away
      corners = nearSide(corners, dx, dy, apart / 2);
      reach = farthest(corners);
    }
  }
  return corners.map((corner) => ({ x: corner.x + place.x, y: corner.y + place.y }));
}

/** What is in the squares that are `ring` rows or columns away. */
function around({ row, column }, squares, ring) {
  const found = [];
  for (let r = row - ring; r <= row + ring; r++) {
    const step = Math.abs(r - row) === ring ? 1 : 2 * ring;
    for (let c = column - ring; c <= column + ring; c += step) found.push(...(squares[r]?.[c] ?? []));
  }
  return found;
}

function farthest(corners) {
  let most = 0;
  for (const corner of corners) most = Math.max(most, corner.x ** 2 + corner.y ** 2);
  return most;
}

/** What a convex polygon has where x * dx + y * dy <= limit. */
function nearSide(corners, dx, dy, limit) {
  const kept = [];
  corners.forEach((corner, i) => {
    const next = corners[(i + 1) % corners.length];
    const here = corner.x * dx + corner.y * dy - limit;
    const there = next.x * dx + next.y * dy - limit;
    if (here <= 0) kept.push(corner);
    if (here > 0 === there > 0) return;
    const part = here / (here - there);
    kept.push({ x: corner.x + part * (next.x - corner.x), y: corner.y + part * (next.y - corner.y) });
  });
  return kept;
}
