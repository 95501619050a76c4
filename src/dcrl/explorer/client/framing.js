// How the camera takes a robot in: as wide as high, also in a picture that is narrow.

const VIEW = 40; // degrees, the least field of view
export const AWAY = 4; // times the robot's size, from the camera to the robot

/** The vertical field of view in degrees of a picture that is `aspect` times as wide as high: a narrow one shows more. */
export function fieldOfView(aspect) {
  const half = Math.tan(((VIEW / 2) * Math.PI) / 180);
  return (Math.atan(half / Math.min(aspect, 1)) * 360) / Math.PI;
}
