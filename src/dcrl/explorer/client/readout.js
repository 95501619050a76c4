// The numbers beside a playing motion: fitness and descriptor so far, at the end, and as stored or requested; feet on the ground.

import { KIND_COLOUR } from "dcrl-explorer/colours.js";
import { make, pretty } from "dcrl-explorer/dom.js";

const FILES = [
  ["onnx", "ONNX", "the policy as an ONNX file, with its contract (.zip)"],
  ["npz", "NumPy", "the policy as a NumPy file, with its contract (.zip)"],
  ["video", "video", "a video of this episode"],
];

/** Fill `root` with a table of one motion; the function returned counts along. `download(format)` is null without files. */
export function createReadout(root, motion, download) {
  const box = make("section", "dcrl-readout");
  const heading = make("h3", "", motion.title);
  heading.style.setProperty("--kind", KIND_COLOUR[motion.kind]);
  const table = make("table");
  const head = table.createTHead().insertRow();
  for (const title of ["", "now", "at the end", motion.reference_title]) head.append(make("th", "", title));
  const body = table.createTBody();

  function row(name, key, end, reference) {
    const line = body.insertRow();
    line.append(make("th", "", name));
    return [null, end, reference].map((value, column) => {
      const cell = line.insertCell();
      cell.dataset.readout = `${motion.kind}.${key}.${["now", "end", "reference"][column]}`;
      return put(cell, value);
    });
  }
  function put(cell, value) {
    cell.textContent = pretty(value);
    if (value !== null) cell.dataset.value = value;
    return cell;
  }

  const [earned] = row("fitness", "fitness", motion.fitness, motion.reference.fitness);
  const reached = motion.names.map(
    (name, i) => row(name, `descriptor.${i}`, motion.descriptor?.[i] ?? null, motion.reference.descriptor[i])[0],
  );
  const status = make("p", "dcrl-status");
  const feet = make("p", "dcrl-feet");
  const dots = motion.feet.map((name) => {
    const dot = make("span", "", name);
    feet.append(dot);
    return dot;
  });
  box.append(heading, table, feet, status);
  if (download) box.append(files(motion, download));
  root.append(box);

  return function update(time) {
    const [frame] = motion.at(time);
    put(earned, motion.earned[frame]);
    motion.row(motion.reached, frame).forEach((value, i) => put(reached[i], Number.isNaN(value) ? null : value));
    if (dots.length) motion.row(motion.contact, frame).forEach((on, i) => dots[i].classList.toggle("on", on > 0));
    const ended = time >= motion.steps;
    const step = Math.min(Math.floor(time), motion.steps);
    status.textContent =
      `step ${step} of ${motion.steps}, ${(step * motion.period).toFixed(2)} s, start state of seed ${motion.seed}` +
      (ended ? `; ${motion.ending}` : "");
  };
}

function files(motion, download) {
  const row = make("div", "dcrl-files", "download ");
  for (const [format, text, title] of FILES) {
    if (format === "video" && motion.unseen) continue;
    const button = make("button", "", text);
    Object.assign(button, { type: "button", title, onclick: () => download(format) });
    button.dataset.format = format;
    row.append(button);
  }
  return row;
}
