// One robot on its ground: the shapes of a motion as three.js objects, posed at any time, with path and contacts.

import { THREE } from "nicegui-scene";
import { KIND_COLOUR } from "dcrl-explorer/colours.js";

const THEME = {
  light: { sky: 0xf3f5f7, one: "#e3e7eb", other: "#d5dbe1", path: 0.5 },
  dark: { sky: 0x14171a, one: "#23282d", other: "#1b2024", path: 0.7 },
};
const GROUND = 400; // m, wide enough that nobody sees its end in the fog
const CONTACT = new THREE.Color(0x37b24d);

function geometry({ kind, size: [a, b, c], vertices, faces }) {
  if (kind === "sphere") return new THREE.SphereGeometry(a, 32, 20);
  if (kind === "ellipsoid") return new THREE.SphereGeometry(1, 32, 20).scale(a, b, c);
  if (kind === "capsule") return new THREE.CapsuleGeometry(a, 2 * b, 12, 24).rotateX(Math.PI / 2); // MuJoCo's axis is z
  if (kind === "cylinder") return new THREE.CylinderGeometry(a, a, 2 * b, 32).rotateX(Math.PI / 2);
  if (kind === "box") return new THREE.BoxGeometry(2 * a, 2 * b, 2 * c);
  if (!vertices) return null; // a height field: not drawn
  const mesh = new THREE.BufferGeometry();
  mesh.setAttribute("position", new THREE.Float32BufferAttribute(vertices, 3));
  mesh.setIndex(faces);
  mesh.computeVertexNormals();
  return mesh;
}

function checkers(theme) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 128;
  const pen = canvas.getContext("2d");
  for (const [x, y, colour] of [[0, 0, theme.one], [64, 64, theme.one], [64, 0, theme.other], [0, 64, theme.other]]) {
    pen.fillStyle = colour;
    pen.fillRect(x, y, 64, 64);
  }
  const texture = new THREE.CanvasTexture(canvas);
  texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
  texture.repeat.set(GROUND / 2, GROUND / 2); // squares of 1 m
  texture.anisotropy = 8;
  texture.colorSpace = THREE.SRGBColorSpace;
  return texture;
}

/** A band on the ground along the path, two triangles per frame, so that a part of it can be drawn. */
function ribbon(motion, width, colour, opacity, height) {
  const [points, indices] = [[], []];
  const frames = motion.step.length;
  for (let i = 0; i < frames; i++) {
    const [from, to] = [Math.max(i - 1, 0) * 3, Math.min(i + 1, frames - 1) * 3];
    const [dx, dy] = [motion.path[to] - motion.path[from], motion.path[to + 1] - motion.path[from + 1]];
    const length = Math.hypot(dx, dy);
    const [nx, ny] = length > 1e-9 ? [(-dy / length) * width, (dx / length) * width] : [0, width];
    const [x, y] = [motion.path[3 * i], motion.path[3 * i + 1]];
    points.push(x + nx, y + ny, height, x - nx, y - ny, height);
    if (i) indices.push(2 * i - 2, 2 * i - 1, 2 * i, 2 * i, 2 * i - 1, 2 * i + 1);
  }
  const shape = new THREE.BufferGeometry();
  shape.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
  shape.setIndex(indices);
  const material = new THREE.MeshBasicMaterial({ color: colour, transparent: true, opacity, side: THREE.DoubleSide });
  const band = new THREE.Mesh(shape, material);
  band.frustumCulled = false;
  return band;
}

/** A scene of one motion. `pose(time)` moves it there and returns where the robot is; `size` and `middle` are the robot's, in m. */
export function createStage(motion, dark) {
  const theme = THEME[dark ? "dark" : "light"];
  const scene = new THREE.Scene();
  scene.background = new THREE.Color(theme.sky);
  scene.add(new THREE.HemisphereLight(0xffffff, 0x777777, dark ? 1.9 : 2.4));
  const sun = new THREE.DirectionalLight(0xffffff, dark ? 2.0 : 2.2);
  sun.castShadow = true;
  sun.shadow.mapSize.set(1024, 1024);
  scene.add(sun, sun.target);

  const [moving, feet] = [[], new Map()];
  const box = new THREE.Box3();
  motion.shapes.forEach((shape) => {
    if (shape.kind === "plane") {
      const texture = checkers(theme);
      const ground = new THREE.Mesh(
        new THREE.PlaneGeometry(GROUND, GROUND),
        new THREE.MeshLambertMaterial({ map: texture }),
      );
      ground.position.fromArray(shape.position);
      ground.quaternion.set(...shape.rotation.slice(1), shape.rotation[0]);
      ground.receiveShadow = true;
      scene.add(ground);
      return;
    }
    const form = geometry(shape);
    const [red, green, blue, alpha] = shape.rgba;
    const colour = new THREE.Color().setRGB(red, green, blue, THREE.SRGBColorSpace);
    const material = new THREE.MeshLambertMaterial({ color: colour }); // cheap enough without a GPU;
    if (alpha < 1) Object.assign(material, { transparent: true, opacity: alpha });
    const mesh = form ? new THREE.Mesh(form, material) : new THREE.Group();
    mesh.castShadow = mesh.receiveShadow = true;
    scene.add(mesh);
    if (shape.position) {
      mesh.position.fromArray(shape.position);
      mesh.quaternion.set(...shape.rotation.slice(1), shape.rotation[0]);
      return;
    }
    const at = 3 * moving.length;
    mesh.position.set(...motion.position.subarray(at, at + 3));
    if (form) box.expandByObject(mesh);
    if (shape.contact !== null) feet.set(shape.contact, mesh);
    moving.push(mesh);
  });
  const size = box.isEmpty() ? 1 : box.getSize(new THREE.Vector3()).length() / 2;
  scene.fog = new THREE.Fog(theme.sky, size * 25, size * 90);
  const width = size * 0.045;
  const behind = ribbon(motion, width, KIND_COLOUR[motion.kind], theme.path, 0.004);
  const ahead = ribbon(motion, width * 0.6, KIND_COLOUR[motion.kind], 0.2, 0.002);
  scene.add(behind, ahead);

  const [from, to, turn, next] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Quaternion(), new THREE.Quaternion()];
  const place = new THREE.Vector3();
  const between = (array, frame, width, index, share, target) => {
    const start = frame * width + index * 3;
    target.fromArray(array, start);
    return share ? target.lerp(to.fromArray(array, start + width), share) : target;
  };
  const quaternion = (target, index) =>
    target.set(...[1, 2, 3].map((i) => motion.rotation[index + i]), motion.rotation[index]);

  function pose(time) {
    const [frame, share] = motion.at(time);
    moving.forEach((mesh, index) => {
      mesh.position.copy(between(motion.position, frame, 3 * moving.length, index, share, from));
      const start = 4 * (frame * moving.length + index);
      quaternion(turn, start);
      if (share) turn.slerp(quaternion(next, start + 4 * moving.length), share);
      mesh.quaternion.copy(turn);
    });
    const touching = motion.row(motion.contact, frame);
    for (const [sensor, mesh] of feet) {
      mesh.material?.emissive.copy(CONTACT).multiplyScalar(touching[sensor] ? 0.55 : 0);
    }
    behind.geometry.setDrawRange(0, 6 * frame);
    between(motion.path, frame, 3, 0, share, place);
    sun.position.set(place.x - 2 * size, place.y - 3 * size, place.z + 7 * size);
    sun.target.position.copy(place);
    return place;
  }

  const shadow = sun.shadow.camera;
  Object.assign(shadow, { left: -4 * size, right: 4 * size, top: 4 * size, bottom: -4 * size, far: 20 * size });
  shadow.updateProjectionMatrix();

  function dispose() {
    scene.traverse((object) => {
      object.geometry?.dispose();
      object.material?.map?.dispose();
      object.material?.dispose();
    });
    sun.shadow.dispose();
  }
  return { scene, size, middle: box.isEmpty() ? 0 : (box.min.z + box.max.z) / 2, pose, dispose };
}
