// The note beside the pointer: a cell's number, descriptor and values.

import { make, pretty, valueText } from "dcrl-explorer/dom.js";
import { isFilled } from "dcrl-explorer/places.js";

export function createTip(frame) {
  const tip = make("div", "dcrl-tip");
  frame.append(tip);
  return {
    hide() {
      tip.style.display = "none";
    },
    show(archive, cell, event) {
      tip.style.display = "block";
      tip.replaceChildren(...lines(archive, cell));
      const box = frame.getBoundingClientRect();
      const [left, top] = [event.clientX - box.left, event.clientY - box.top];
      tip.style.left = `${Math.min(Math.max(left + 14, 0), box.width - tip.offsetWidth - 4)}px`;
      tip.style.top = `${top - tip.offsetHeight - 12 < 0 ? top + 18 : top - tip.offsetHeight - 12}px`;
    },
  };
}

function lines(archive, cell) {
  const filled = isFilled(archive, cell);
  const found = [make("b", "", `cell ${cell}${filled ? "" : ", empty"}`)];
  const place = filled ? archive.descriptor[cell] : archive.centroid[cell];
  found.push(...place.map((value, axis) => make("span", "", `${archive.names[axis]} ${pretty(value)}`)));
  for (const value of filled ? archive.values : []) {
    found.push(make("span", "", `${value.label} ${valueText(value, value.values[cell])}`));
  }
  if (archive.recorded && !archive.recorded.includes(cell)) found.push(make("span", "", "not recorded in this file"));
  return found;
}
