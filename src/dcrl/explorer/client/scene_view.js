// One or two robots in 3-D, side by side, seen by one camera that can be moved.

import { OrbitControls, THREE } from "nicegui-scene";
import { AWAY, fieldOfView } from "dcrl-explorer/framing.js";
import { createStage } from "dcrl-explorer/stage.js";

const PIXELS = 2; // at most so many a CSS pixel

const isDark = () => document.body.classList.contains("body--dark");

/** Draw on `canvas` in `view`; `request()` asks for a `paint`. */
export function createSceneView(view, canvas, request) {
  let motions = [];
  let stages = [];
  let retired = []; // stages to be freed once their successors are drawn, so that compiled shaders live on
  let failed = null;
  let renderer = null;
  const before = new THREE.Vector3();

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
      failed = "This browser has no WebGL, so the robot cannot be drawn; the numbers below are still correct.";
    }
  }
  const camera = new THREE.PerspectiveCamera(40, 1, 0.02, 2000);
  camera.up.set(0, 0, 1);
  const orbit = new OrbitControls(camera, view);
  Object.assign(orbit, { enableDamping: false, maxPolarAngle: Math.PI * 0.495, enablePan: true });
  orbit.addEventListener("change", request);

  /** Show motions from their start; `fresh` puts the camera back, as another robot needs it. */
  function show(given, fresh) {
    motions = given;
    if (motions.length) prepare();
    restage();
    if (stages.length && fresh) reset(0);
    else if (stages.length) moveTo(stages[0].pose(0), true);
  }

  function restage() {
    retired.push(...stages);
    stages = renderer ? motions.map((motion) => createStage(motion, isDark())) : [];
  }

  function reset(time) {
    if (!stages.length) return;
    before.copy(stages[0].pose(time));
    const size = Math.max(...stages.map((stage) => stage.size));
    orbit.target.copy(before).setZ(stages[0].middle);
    const away = new THREE.Vector3(-0.55, -1, 0.42).normalize().multiplyScalar(size * AWAY);
    camera.position.copy(orbit.target).add(away);
    orbit.update();
    request();
  }

  function moveTo(place, following) {
    if (following) {
      const shift = place.clone().sub(before);
      shift.z = 0; // a robot that bounces does not shake the picture
      camera.position.add(shift);
      orbit.target.add(shift);
    }
    before.set(place.x, place.y, before.z);
  }

  /** Draw the robots at a time, in control steps; whether they are beside each other, not one above the other. */
  function paint(time, following) {
    const [width, height] = [view.clientWidth, view.clientHeight];
    const beside = width >= height;
    if (!renderer || !width || !height) return beside;
    const sized = new THREE.Vector2();
    renderer.getSize(sized);
    if (sized.x !== width || sized.y !== height) renderer.setSize(width, height, false);
    renderer.setScissorTest(true);
    renderer.clear();
    const places = stages.map((stage) => stage.pose(time).clone());
    if (places.length) moveTo(places[0], following);
    stages.forEach((stage, i) => {
      const [w, h] = stages.length === 1 ? [width, height] : beside ? [width / 2, height] : [width, height / 2];
      const [x, y] = stages.length === 1 ? [0, 0] : beside ? [i * w, 0] : [0, (1 - i) * h]; // y is from the bottom
      const shift = following ? places[i].clone().sub(places[0]).setZ(0) : new THREE.Vector3();
      Object.assign(camera, { aspect: w / h, fov: fieldOfView(w / h) });
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
    return beside;
  }

  return {
    show,
    restage,
    reset,
    paint,
    /** Why nothing can be drawn, or null. */
    get failed() {
      return failed;
    },
    dispose() {
      [...stages, ...retired].forEach((stage) => stage.dispose());
      orbit.dispose();
      renderer?.dispose();
    },
  };
}
