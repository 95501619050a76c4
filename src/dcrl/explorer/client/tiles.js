// The cells of a map as polygons: what is nearer to a cell's centroid than to any other, within the bounds.

/** For each centroid its cell's corners {x, y}; with one dimension, cells are strips from 0 to 1. */
export function tiles(centroids, low, high) {
  return low.length === 1 ? strips(centroids, low[0], high[0]) : polygons(centroids, low, high);
}

function strips(centroids, left, right) {
  const order = centroids.map((_, cell) => cell).sort((a, b) => centroids[a][0] - centroids[b][0]);
  const middle = (i) => (centroids[order[i - 1]][0] + centroids[order[i]][0]) / 2;
  const found = [];
  order.forEach((cell, i) => {
    found[cell] = rectangle(i ? middle(i) : left, 0, i + 1 < order.length ? middle(i + 1) : right, 1);
  });
  return found;
}

const rectangle = (left, bottom, right, top) => [
  { x: left, y: bottom }, { x: right, y: bottom }, { x: right, y: top }, { x: left, y: top },
];

function polygons(centroids, [left, bottom], [right, top]) {
  // squares with about one centroid in each, as far as these are spread evenly
  const along = (ours, other) => Math.min(Math.ceil(Math.sqrt((centroids.length * ours) / other)), centroids.length);
  const [columns, rows] = [along(right - left, top - bottom), along(top - bottom, right - left)];
  const [width, height] = [(right - left) / columns, (top - bottom) / rows];
  const within = (value, count) => Math.min(Math.max(Math.floor(value), 0), count - 1);
  const squares = Array.from({ length: rows }, () => Array.from({ length: columns }, () => []));
  const places = centroids.map(([x, y]) => {
    const place = { x, y, column: within((x - left) / width, columns), row: within((y - bottom) / height, rows) };
    squares[place.row][place.column].push(place);
    return place;
  });
  const grid = { squares, width: Math.min(width, height), rings: Math.max(rows, columns) };
  return places.map((place) => polygon(place, grid, rectangle(left, bottom, right, top)));
}

/** Cut off what belongs to others, ring by ring of squares, until all that follow are too far away to matter. */
function polygon(place, { squares, width, rings }, box) {
  let corners = box.map((corner) => ({ x: corner.x - place.x, y: corner.y - place.y })); // seen from the centroid
  let reach = farthest(corners);
  for (let ring = 0; ring < rings && (ring - 1) * width < 2 * Math.sqrt(reach); ring++) {
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
    for (let c = column - ring; c <= column + ring; c += step) {
      for (const place of squares[r]?.[c] ?? []) found.push(place);
    }
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
