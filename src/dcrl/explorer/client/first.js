// The map before all else: it is drawn while the page around it is still loading, and then moves into that.

import { make } from "dcrl-explorer/dom.js";
import { createMap } from "dcrl-explorer/map.js";

const read = (id) => JSON.parse(document.getElementById(id).textContent);
const words = read("dcrl-words");
const root = make("div");
let [pick, missed] = [null, null]; // what was chosen while nobody listened

const page = make("div", "dcrl-first");
const header = make("header", "dcrl-header");
header.append(make("div", "dcrl-brand", "dcrl explore"), make("div", "dcrl-run-name", words.run));
const main = make("main", "dcrl-page");
const column = make("div", "dcrl-column");
const card = make("section", "dcrl-card");
card.append(make("div", "dcrl-heading", words.heading), make("div", "dcrl-about", words.about), root);
column.append(card);
main.append(column);
page.append(header, main);
document.body.classList.toggle("body--dark", matchMedia("(prefers-color-scheme: dark)").matches);
document.body.prepend(page);
document.getElementById("esm-fallback")?.remove(); // a note of the framework for browsers without modules
const map = createMap(root, (choice) => (pick ? pick(choice) : (missed = choice)));
try {
  map.show(read("dcrl-archive"));
} catch (error) {
  console.error(error); // the page can still show other runs
}

/** Move the map into the page that has loaded; `listener` is called with each choice, also an earlier one. */
export function takeMap(home, listener) {
  const focused = root.contains(document.activeElement) ? document.activeElement : null;
  home.append(root);
  focused?.focus({ preventScroll: true });
  page.remove();
  pick = listener;
  if (missed) pick(missed);
  missed = null;
  return map;
}
