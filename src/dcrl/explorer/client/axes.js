// Which two of many descriptor dimensions the map shows, and where a target is in the others.

import { make, pretty } from "dcrl-explorer/dom.js";

/**
 * Fill `bar` with two selectors if there are more than two dimensions, and with a slider for each other one if
 * `aiming`. `turn(axes)` and `slide(axis, value, done)` are called with what the user does.
 */
export function fillAxes(bar, archive, axes, values, aiming, turn, slide) {
  bar.replaceChildren();
  if (archive.names.length < 3) return;
  for (const i of [0, 1]) {
    const label = make("label", "", i ? "up " : "across ");
    const select = make("select");
    select.dataset.axis = i;
    archive.names.forEach((name, axis) => {
      const option = make("option", "", name);
      option.value = axis;
      select.append(option);
    });
    select.value = axes[i];
    select.onchange = () => {
      const wanted = Number(select.value);
      const other = axes[1 - i] === wanted ? axes[i] : axes[1 - i]; // the two change places
      turn(i ? [other, wanted] : [wanted, other]);
    };
    label.append(select);
    bar.append(label);
  }
  archive.names.forEach((name, axis) => {
    if (axes.includes(axis) || !aiming) return;
    const label = make("label", "dcrl-slider", `${name} `);
    const slider = make("input");
    const value = make("output", "", pretty(values[axis]));
    Object.assign(slider, { type: "range", min: archive.low[axis], max: archive.high[axis], step: "any" });
    slider.dataset.dimension = axis;
    slider.value = values[axis];
    slider.oninput = () => {
      value.textContent = pretty(Number(slider.value));
      slide(axis, Number(slider.value), false);
    };
    slider.onchange = () => slide(axis, Number(slider.value), true);
    label.append(slider, value);
    bar.append(label);
  });
}
