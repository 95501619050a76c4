// The two descriptor dimensions that the map shows, as x and y.

/** With one dimension, y is constant and the map is a strip. */
export function createProjection(archive, axes) {
  const flat = archive.names.length === 1;
  const axisOf = (i) => (flat && i === 1 ? null : axes[i]);
  const coordinate = (place, i) => (axisOf(i) === null ? 0.5 : place[axisOf(i)]);
  const bounds = (i) => (axisOf(i) === null ? [0, 1] : [archive.low[axisOf(i)], archive.high[axisOf(i)]]);
  const title = (i) => (axisOf(i) === null ? null : `${archive.names[axisOf(i)]} (${archive.unit})`);
  const clamped = (value, [low, high]) => Math.min(Math.max(value, low), high);
  return {
    axes,
    x: (place) => coordinate(place, 0),
    y: (place) => coordinate(place, 1),
    bounds: () => ({ x: bounds(0), y: bounds(1) }),
    spans: () => [0, 1].map((i) => bounds(i)[1] - bounds(i)[0]),
    titles: () => [title(0), title(1)],
    /** The descriptor at (x, y), within the bounds; `others` holds the dimensions that the map does not show. */
    place(others, x, y) {
      const place = others.slice();
      place[axes[0]] = clamped(x, bounds(0));
      if (!flat) place[axes[1]] = clamped(y, bounds(1));
      return place;
    },
  };
}
