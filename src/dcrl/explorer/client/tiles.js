// The cells of a map as polygons: what is nearer to a cell's centroid than to any other, within the bounds.

/** For each centroid its cell's corners {x, y}; with one dimension, cells are strips from 0 to 1. */
export function tiles(centroids, [left, bottom = 0], [right, top = 1]) {
  const places = centroids.map(([x, y = 0.5], cell) => ({ x, y, cell })).sort((a, b) => a.x - b.x);
  const box = [{ x: left, y: bottom }, { x: right, y: bottom }, { x: right, y: top }, { x: left, y: top }];
  const polygons = [];
  places.forEach((place, rank) => (polygons[place.cell] = tile(places, rank, box)));
  return polygons;
}

/** Cut off what belongs to others, from the nearest in x outwards, until all that follow are too far away to matter. */
function tile(places, rank, box) {
  const { x, y } = places[rank];
  let corners = box.map((corner) => ({ x: corner.x - x, y: corner.y - y }));
  let reach = farthest(corners);
  for (let step = 1, matter = true; matter && step < places.length; step++) {
    matter = false;
    for (let side = -step; side <= step; side += 2 * step) {
      const other = places[rank + side];
      if (!other) continue;
      const dx = other.x - x;
      const dy = other.y - y;
      if (dx * dx >= 4 * reach) continue;
      matter = true;
      const apart = dx * dx + dy * dy;
      if (apart === 0 || apart >= 4 * reach) continue;
      if (corners.some((corner) => corner.x * dx + corner.y * dy > apart / 2)) {
        corners = nearSide(corners, dx, dy, apart / 2);
        reach = farthest(corners);
      }
    }
  }
  return corners.map((corner) => ({ x: corner.x + x, y: corner.y + y }));
}

function farthest(corners) {
  let most = 0;
  for (let i = 0; i < corners.length; i++) most = Math.max(most, corners[i].x ** 2 + corners[i].y ** 2);
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
