// The player: one or two motions in 3-D with a common clock: play, pause, scrub, speed, orbit, follow.

import { OrbitControls, THREE } from "nicegui-scene";
import { make } from "dcrl-explorer/dom.js";
import { readMotion } from "dcrl-explorer/motion.js";
import { createReadout } from "dcrl-explorer/readout.js";
import { createStage } from "dcrl-explorer/stage.js";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
const PIXELS = 2; // at most so many a CSS pixel

const isDark = () => document.body.classList.contains("body--dark");

export function createPlayer(root) {
  let motions = [];
  let stages = [];
  let retired = []; // stages to be freed once their successors are drawn, so that compiled shaders live on
  let updates = [];
  let time = 0; // in control steps
  let playing = false;
  let last = null;
  let asked = false;
  let failed = null;
  let renderer = null;
  let before = new THREE.Vector3();

  root.classList.add("dcrl-player");
  const view = make("div", "dcrl-view");
  const canvas = make("canvas");
  const hint = make("div", "dcrl-hint");
  const labels = make("div", "dcrl-labels");
  view.append(canvas, labels, hint);
  const controls = make("div", "dcrl-controls");
  const readouts = make("div", "dcrl-readouts");
  root.append(view, controls, readouts);

  const play = make("button", "dcrl-play", "▶");
  const scrub = make("input", "dcrl-scrub");
  const speed = make("select", "dcrl-speed");
  const follow = make("label", "dcrl-follow");
  const following = make("input");
  const home = make("button", "", "⌂");
  Object.assign(play, { type: "button", title: "play or pause (space)" });
  Object.assign(home, { type: "button", title: "put the camera back" });
  Object.assign(scrub, { type: "range", min: 0, max: 1, step: 1, value: 0 });
  Object.assign(following, { type: "checkbox", checked: true });
  scrub.setAttribute("aria-label", "time in the episode");
  speed.setAttribute("aria-label", "speed");
  home.setAttribute("aria-label", home.title);
  play.setAttribute("aria-label", play.title);
  for (const value of SPEEDS) {
    const option = make("option", "", `${value}×`);
    option.value = value;
    speed.append(option);
  }
  speed.value = 1;
  follow.append(following, " follow");
  controls.append(play, scrub, speed, follow, home);

  /** Made when there is something to draw: without a GPU it takes a second. */
  function prepare() {
    if (renderer || failed) return;
    try {
      renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
      renderer.shadowMap.enabled = true;
      renderer.shadowMap.type = THREE.PCFShadowMap;
      renderer.setPixelRatio(Math.min(window.devicePixelRatio, PIXELS));
      renderer.autoClear = false;
    } catch {
      failed = "This browser has no WebGL, so the robot cannot be drawn; the numbers below are right all the same.";
    }
  }
  const camera = new THREE.PerspectiveCamera(40, 1, 0.02, 2000);
  camera.up.set(0, 0, 1);
  const orbit = new OrbitControls(camera, view);
  Object.assign(orbit, { enableDamping: false, maxPolarAngle: Math.PI * 0.495, enablePan: true });
  orbit.addEventListener("change", () => request());

  const end = () => Math.max(...motions.map((motion) => motion.steps), 1);

  function show(given) {
    const fresh = !motions.length || motions[0].task !== given[0]?.task;
    motions = given.map(readMotion);
    if (motions.length) prepare();
    restage();
    readouts.replaceChildren();
    updates = motions.map((motion) => createReadout(readouts, motion));
    labels.replaceChildren(...motions.map((motion) => make("span", motion.kind, motion.title)));
    labels.classList.toggle("two", motions.length > 1);
    hint.textContent = failed ?? (motions.length ? "" : "Choose a place on the map.");
    scrub.max = end();
    time = 0;
    last = null;
    playing = motions.length > 0;
    if (stages.length && fresh) reset();
    else if (stages.length) {
      const start = stages[0].pose(0);
      moveTo(start);
    }
    request();
  }

  function restage() {
    retired.push(...stages);
    stages = renderer ? motions.map((motion) => createStage(motion, isDark())) : [];
  }

  function reset() {
    if (!stages.length) return;
    before = stages[0].pose(time).clone();
    orbit.target.copy(before).setZ(stages[0].middle);
    const away = new THREE.Vector3(-0.55, -1, 0.42).normalize().multiplyScalar(stages[0].size * 4);
    camera.position.copy(orbit.target).add(away);
    orbit.update();
    request();
  }

  function moveTo(place) {
    if (following.checked) {
      const shift = place.clone().sub(before);
      shift.z = 0; // a robot that bounces does not shake the picture
      camera.position.add(shift);
      orbit.target.add(shift);
    }
    before.set(place.x, place.y, before.z);
  }

  function request() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(draw);
  }

  function draw(now) {
    asked = false;
    if (playing && motions.length) {
      if (last !== null) time += ((now - last) / 1000 / motions[0].period) * Number(speed.value);
      last = now;
      if (time >= end()) [time, playing] = [end(), false];
    }
    play.textContent = playing ? "❚❚" : "▶";
    scrub.value = Math.floor(time);
    const progress = motions.map((motion, i) => {
      const [frame] = motion.at(time);
      updates[i](frame, time);
      return { kind: motion.kind, descriptor: motion.row(motion.reached, frame) };
    });
    root.dataset.time = time.toFixed(2);
    window.dispatchEvent(new CustomEvent("dcrl-progress", { detail: progress }));
    if (renderer) paint();
    if (playing) request();
    else last = null;
  }

  function paint() {
    const [width, height] = [view.clientWidth, view.clientHeight];
    if (!width || !height) return;
    const sized = new THREE.Vector2();
    renderer.getSize(sized);
    if (sized.x !== width || sized.y !== height) renderer.setSize(width, height, false);
    renderer.setScissorTest(true);
    renderer.clear();
    const places = stages.map((stage) => stage.pose(time).clone());
    if (places.length) moveTo(places[0]);
    const beside = width >= height;
    stages.forEach((stage, i) => {
      const [w, h] = stages.length === 1 ? [width, height] : beside ? [width / 2, height] : [width, height / 2];
      const [x, y] = stages.length === 1 ? [0, 0] : beside ? [i * w, 0] : [0, (1 - i) * h]; // y is from the bottom
      const shift = following.checked ? places[i].clone().sub(places[0]).setZ(0) : new THREE.Vector3();
      camera.aspect = w / h;
      camera.updateProjectionMatrix();
      camera.position.add(shift);
      camera.updateMatrixWorld();
      renderer.setViewport(x, y, w, h);
      renderer.setScissor(x, y, w, h);
      renderer.render(stage.scene, camera);
      camera.position.sub(shift);
    });
    retired.forEach((stage) => stage.dispose());
    retired = [];
    labels.classList.toggle("stacked", !beside);
  }

  function toggle() {
    if (!motions.length) return;
    if (!playing && time >= end()) time = 0;
    playing = !playing;
    last = null;
    request();
  }
  play.onclick = toggle;
  home.onclick = reset;
  scrub.oninput = () => {
    playing = false;
    time = Number(scrub.value);
    request();
  };
  following.onchange = request;

  const keys = (event) => {
    const typing = ["INPUT", "SELECT", "TEXTAREA", "BUTTON"].includes(event.target.tagName);
    if (event.key !== " " || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    toggle();
  };
  window.addEventListener("keydown", keys);
  const resized = new ResizeObserver(request);
  resized.observe(view);
  const recoloured = new MutationObserver(() => {
    restage();
    request();
  });
  recoloured.observe(document.body, { attributeFilter: ["class"] });

  return {
    show,
    /** Say something over the picture, such as that the episode is being simulated. */
    say(sentence) {
      hint.textContent = sentence || (failed ?? "");
    },
    dispose() {
      window.removeEventListener("keydown", keys);
      resized.disconnect();
      recoloured.disconnect();
      playing = false;
      [...stages, ...retired].forEach((stage) => stage.dispose());
      orbit.dispose();
      renderer?.dispose();
    },
  };
}
