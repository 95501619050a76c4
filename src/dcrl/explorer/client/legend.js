// The bar below the map: what its colours mean, and the zoom buttons.

import { GRADIENT } from "dcrl-explorer/colours.js";
import { make, valueText } from "dcrl-explorer/dom.js";

/** A row of buttons; `buttons` are [sign, label, action]. */
export function zoomButtons(buttons) {
  const row = make("div", "dcrl-zoom");
  for (const [sign, label, action] of buttons) {
    const button = make("button", "", sign);
    button.type = "button";
    button.title = label;
    button.setAttribute("aria-label", label);
    button.onclick = action;
    row.append(button);
  }
  return row;
}

/** Fill `legend` for `shown`, one of `values`; `recolour(value)` is called when another one is chosen. */
export function fillLegend(legend, values, shown, recolour, buttons) {
  const gradient = make("span", "dcrl-gradient");
  gradient.style.background = `linear-gradient(to right, ${GRADIENT})`;
  const [least, greatest] = shown.range.map((value) => make("span", "dcrl-number", valueText(shown, value)));
  const scale = make("span", "dcrl-scale");
  scale.append(least, gradient, greatest);
  legend.replaceChildren(chooser(values, shown, recolour), scale, buttons);
}

function chooser(values, shown, recolour) {
  if (values.length === 1) return make("span", "", shown.label);
  const select = make("select", "dcrl-colour");
  select.setAttribute("aria-label", "colour cells by");
  for (const { key, label } of values) {
    const option = make("option", "", label);
    option.value = key;
    select.append(option);
  }
  select.value = shown.key;
  select.onchange = () => recolour(values.find(({ key }) => key === select.value));
  return select;
}
