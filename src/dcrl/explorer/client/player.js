// The player: one or two motions with a common clock: play, pause, scrub, speed, numbers and charts.

import { createControls } from "dcrl-explorer/controls.js";
import { make } from "dcrl-explorer/dom.js";
import { readMotion } from "dcrl-explorer/motion.js";
import { createPicturesView } from "dcrl-explorer/pictures_view.js";
import { createReadout } from "dcrl-explorer/readout.js";
import { createSceneView } from "dcrl-explorer/scene_view.js";
import { createTraces } from "dcrl-explorer/traces.js";

/** Fill `root`. `download({motion, format})` is called when a file of one of the motions is wanted; none, no buttons. */
export function createPlayer(root, download = null) {
  let motions = [];
  let updates = [];
  let time = 0; // in control steps
  let playing = false;
  let last = null;
  let asked = false;
  let task = null;

  root.classList.add("dcrl-player");
  const view = make("div", "dcrl-view");
  const canvas = make("canvas");
  const hint = make("div", "dcrl-hint");
  const labels = make("div", "dcrl-labels");
  const images = make("div", "dcrl-images");
  view.append(canvas, images, labels, hint);
  const bar = make("div", "dcrl-controls");
  const readouts = make("div", "dcrl-readouts");
  root.append(view, bar, readouts);
  const scene = createSceneView(view, canvas, () => request());
  const pictures = createPicturesView(images);
  const controls = createControls(bar, { toggle, seek, home: () => scene.reset(time), moved: request });

  const end = () => Math.max(...motions.map((motion) => motion.steps), 1);

  function show(given) {
    motions = given.map(readMotion);
    const posed = motions.filter((motion) => motion.shapes);
    const fresh = posed.length > 0 && posed[0].task !== task;
    task = posed[0]?.task ?? task;
    canvas.hidden = !posed.length;
    scene.show(posed, fresh);
    pictures.show(motions.filter((motion) => motion.pictures));
    readouts.replaceChildren();
    updates = motions.flatMap((motion, i) => {
      const column = make("div", "dcrl-of-motion");
      readouts.append(column);
      const wanted = download && ((format) => download({ motion: i, format }));
      return [createReadout(column, motion, wanted), createTraces(column, motion, seek)];
    });
    labels.replaceChildren(...motions.map((motion) => make("span", motion.kind, motion.title)));
    labels.classList.toggle("two", motions.length > 1);
    say(motions.length ? "" : "Choose a point on the map.");
    controls.fit(motions.length && end(), posed.length > 0);
    time = 0;
    last = null;
    playing = motions.length > 0;
    request();
  }

  /** Say something over the picture, such as that the episode is being simulated, or why there is no picture. */
  function say(sentence) {
    const unseen = motions.find((motion) => motion.unseen)?.unseen;
    hint.textContent = sentence || (scene.failed ?? unseen ?? "");
  }

  function request() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(draw);
  }

  function draw(now) {
    asked = false;
    if (playing && motions.length) {
      if (last !== null) time += ((now - last) / 1000 / motions[0].period) * controls.speed;
      last = now;
      if (time >= end()) [time, playing] = [end(), false];
    }
    controls.update(time, playing);
    for (const update of updates) update(time);
    const progress = motions.map((motion) => {
      const [frame] = motion.at(time);
      return { kind: motion.kind, descriptor: motion.row(motion.reached, frame) };
    });
    root.dataset.time = time.toFixed(2);
    window.dispatchEvent(new CustomEvent("dcrl-progress", { detail: progress }));
    pictures.paint(time);
    const beside = scene.paint(time, controls.following);
    for (const one of [labels, images]) one.classList.toggle("stacked", !beside);
    if (playing) request();
    else last = null;
  }

  function toggle() {
    if (!motions.length) return;
    if (!playing && time >= end()) time = 0;
    playing = !playing;
    last = null;
    request();
  }

  function seek(step) {
    playing = false;
    time = step;
    request();
  }

  const keys = (event) => {
    const typing = ["INPUT", "SELECT", "TEXTAREA", "BUTTON", "SUMMARY"].includes(event.target.tagName);
    if (event.key !== " " || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    toggle();
  };
  window.addEventListener("keydown", keys);
  const resized = new ResizeObserver(request);
  resized.observe(view);
  const recoloured = new MutationObserver(() => {
    scene.restage();
    request();
  });
  recoloured.observe(document.body, { attributeFilter: ["class"] });
  controls.fit(0, false);

  return {
    show,
    say,
    dispose() {
      window.removeEventListener("keydown", keys);
      resized.disconnect();
      recoloured.disconnect();
      playing = false;
      scene.dispose();
    },
  };
}
