// One or two episodes as the pictures that their environment rendered, side by side.

import { make } from "dcrl-explorer/dom.js";

/** Fill `root`; `show(motions)` takes those with pictures, `paint(time)` shows each one's picture at a time. */
export function createPicturesView(root) {
  let shown = [];
  return {
    show(motions) {
      shown = motions.map((motion) => {
        const image = make("img");
        image.alt = motion.title;
        return { motion, image, frame: null };
      });
      root.replaceChildren(...shown.map(({ image }) => image));
      root.hidden = !shown.length;
    },
    paint(time) {
      for (const one of shown) {
        const [frame] = one.motion.at(time);
        if (frame === one.frame) continue;
        one.frame = frame;
        one.image.dataset.frame = frame;
        one.image.src = `data:image/jpeg;base64,${one.motion.pictures[frame]}`;
      }
    },
  };
}
