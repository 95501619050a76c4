// A recorded motion as the server or the file gives it: frames of poses or pictures, read at any time.

const PACKED = {
  position: Float32Array, // (frames, moving, 3)
  rotation: Float32Array, // (frames, moving, 4) wxyz
  path: Float32Array, // (frames, 3)
  earned: Float64Array, // (frames,) fitness so far
  reached: Float32Array, // (frames, D) descriptor so far
  contact: Uint8Array, // (frames, F)
};

function unpack(text, Type) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return new Type(bytes.buffer);
}

/** Decode what `explorer/wire.py` packs. `at(step)` is the frame before a step and the share of the way to the next. */
export function readMotion(given) {
  const step = unpack(given.step, Int32Array); // (frames,) the control step of each
  const motion = { ...given, step, steps: step[step.length - 1] };
  for (const [name, Type] of Object.entries(PACKED)) {
    if (given[name] !== undefined) motion[name] = unpack(given[name], Type);
  }
  motion.series = (given.series ?? []).map((one) => ({ ...one, values: unpack(one.values, Float32Array) })); // (frames, names)
  motion.at = (time) => {
    const limited = Math.min(Math.max(time, 0), motion.steps);
    let [low, high] = [0, step.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (step[middle] <= limited) low = middle;
      else high = middle;
    }
    if (high === low) return [low, 0];
    const share = (limited - step[low]) / (step[high] - step[low]);
    return share >= 1 ? [high, 0] : [low, share];
  };
  motion.row = (array, frame) => {
    const width = array.length / step.length;
    return Array.from(array.subarray(frame * width, (frame + 1) * width));
  };
  return motion;
}
