// Joint positions, torques and the like over time: one chart per kind, with a cursor at the time that is shown.

import { make, pretty, svg } from "dcrl-explorer/dom.js";

let open = false; // stays as people left it when another motion is shown

const hue = (i, count) => `hsl(${Math.round((360 * i) / count + 210) % 360} 65% 52%)`;

/** Fill `root` with the charts of a motion's series; `seek(step)` is called with the place of a click. */
export function createTraces(root, motion, seek) {
  if (!motion.series.length) return () => {};
  const box = make("details", "dcrl-traces");
  box.open = open;
  const title = motion.series.map((series) => series.title).join(" and ");
  box.append(make("summary", "", `${title[0].toUpperCase()}${title.slice(1)} over time`));
  const cursors = motion.series.map((series) => chart(box, motion, series, seek));
  box.ontoggle = () => (open = box.open);
  root.append(box);
  return function update(time) {
    const share = Math.min(time / Math.max(motion.steps, 1), 1);
    for (const cursor of cursors) cursor(share, motion.at(time)[0]);
  };
}

function chart(box, motion, { title, unit, names, values }, seek) {
  const known = values.filter(Number.isFinite);
  let [least, greatest] = known.reduce(([low, high], v) => [Math.min(low, v), Math.max(high, v)], [Infinity, -Infinity]);
  if (!(least < greatest)) [least, greatest] = [(known[0] ?? 0) - 1, (known[0] ?? 0) + 1];
  const figure = make("figure", "dcrl-trace");
  const frame = make("div", "dcrl-trace-frame");
  const plot = svg("svg", { viewBox: `0 0 ${Math.max(motion.steps, 1)} 1`, preserveAspectRatio: "none" }, frame);
  const cursor = make("div", "dcrl-cursor");
  const caption = make("figcaption", "", `${title} (${unit})`);
  const legend = make("div", "dcrl-trace-legend");
  const lines = names.map((name, i) => {
    const points = Array.from(motion.step, (step, frame) => {
      const value = values[frame * names.length + i];
      return `${step},${1 - (value - least) / (greatest - least)}`;
    });
    const line = svg("polyline", { points: points.join(" "), stroke: hue(i, names.length), "data-name": name }, plot);
    const entry = make("button", "", name.replaceAll("_", " "));
    const value = make("span", "dcrl-number");
    entry.type = "button";
    entry.title = "show or hide";
    entry.style.setProperty("--kind", hue(i, names.length));
    entry.append(" ", value);
    entry.onclick = () => entry.classList.toggle("off", line.classList.toggle("off"));
    legend.append(entry);
    return value;
  });
  frame.append(cursor, make("span", "dcrl-most", pretty(greatest)), make("span", "dcrl-least", pretty(least)));
  const seconds = (step) => (step * motion.period).toFixed(motion.steps * motion.period < 1 ? 2 : 1);
  const axis = make("div", "dcrl-trace-axis");
  axis.append(make("span", "", "0"), make("span", "", "time (s)"), make("span", "", seconds(motion.steps)));
  figure.append(caption, frame, axis, legend);
  box.append(figure);
  frame.onpointerdown = (event) => {
    const at = frame.getBoundingClientRect();
    seek(Math.round(Math.min(Math.max((event.clientX - at.left) / at.width, 0), 1) * motion.steps));
  };
  return function move(share, frameNumber) {
    cursor.style.left = `${100 * share}%`;
    lines.forEach((value, i) => (value.textContent = pretty(values[frameNumber * names.length + i])));
  };
}
