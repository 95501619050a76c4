// The frame of the map: ticks at round numbers, and what the axes are.

import { svg } from "dcrl-explorer/dom.js";

/** Round numbers, about five of them, between two. */
export function ticks(low, high) {
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) found.push(i * step + 0);
  return found;
}

/** Draw into `group` the frame of an area in pixels that shows `view`; `titles` are of x and y, y's null without one. */
export function drawRuler(group, s, view, margin, titles) {
  const write = (x, y, text, anchor, classes = "") => {
    const label = svg("text", { x, y, "text-anchor": anchor, class: classes }, group);
    label.textContent = text;
    return label;
  };
  const short = (value) => String(Number(value.toPrecision(6)));
  const bottom = margin.top + s.h;
  group.replaceChildren();
  svg("rect", { x: margin.left, y: margin.top, width: s.w, height: s.h, class: "dcrl-border" }, group);
  for (const value of ticks(...view.x)) {
    svg("line", { x1: s.x(value), x2: s.x(value), y1: bottom, y2: bottom + 5 }, group);
    write(s.x(value), bottom + 18, short(value), "middle");
  }
  write(margin.left + s.w / 2, bottom + 37, titles[0], "middle", "dcrl-title");
  if (titles[1] === null) return;
  for (const value of ticks(...view.y)) {
    svg("line", { x1: margin.left - 5, x2: margin.left, y1: s.y(value), y2: s.y(value) }, group);
    write(margin.left - 9, s.y(value) + 4, short(value), "end");
  }
  const label = write(0, 0, titles[1], "middle", "dcrl-title");
  label.setAttribute("transform", `translate(14 ${margin.top + s.h / 2}) rotate(-90)`);
}
