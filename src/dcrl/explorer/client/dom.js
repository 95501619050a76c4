// Small makers of elements and of texts for people.

const SVG = "http://www.w3.org/2000/svg";

/** A new SVG element, put into `parent` if there is one. */
export function svg(tag, attributes = {}, parent = null) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  parent?.appendChild(element);
  return element;
}

/** A number for people: as many digits as say something. By hand: the browser's own way takes 40 ms at its first call. */
export function pretty(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1000) return value.toFixed(1).replace(/\B(?=(\d{3})+\.)/g, ",");
  if (size !== 0 && size < 1e-3) return value.toExponential(2);
  return value.toFixed(size >= 10 ? 2 : 3).replace(/(\.\d\d)0$/, "$1");
}

/** A number of one of an archive's values: counts and the like without decimals. */
export function valueText({ whole }, number) {
  return whole && number !== null ? String(number) : pretty(number);
}

/** A new element with classes and text; text is never read as HTML. */
export function make(tag, classes = "", text = "") {
  const element = document.createElement(tag);
  if (classes) element.className = classes;
  if (text) element.textContent = text;
  return element;
}
