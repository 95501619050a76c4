// Colours that mean a cell's value (viridis, from the least to the greatest) and the kinds of policies.

const VIRIDIS = [
  [68, 1, 84], [72, 40, 120], [62, 73, 137], [49, 104, 142], [38, 130, 142],
  [31, 158, 137], [53, 183, 121], [110, 206, 88], [181, 222, 43], [253, 231, 37],
];

/** The colour of a share from 0 to 1. */
export function viridis(share) {
  const place = Math.min(Math.max(share, 0), 1) * (VIRIDIS.length - 1);
  const low = Math.min(Math.floor(place), VIRIDIS.length - 2);
  const mixed = VIRIDIS[low].map((one, i) => Math.round(one + (VIRIDIS[low + 1][i] - one) * (place - low)));
  return `rgb(${mixed.join(",")})`;
}

export const GRADIENT = VIRIDIS.map((colour) => `rgb(${colour.join(",")})`).join(", ");

export const KIND_COLOUR = { elite: "#e8590c", pinned: "#ae3ec9", actor: "#1c7ed6" };
