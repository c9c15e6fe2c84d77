// Small helpers around the DOM. User text only ever becomes text nodes.

const SVG = "http://www.w3.org/2000/svg";

// An element "tag.class.class" with what follows, in any order: attributes as { name: value }, where a function under
// `onclick` and its like listens, children, text, and lists of these.
export function html(kind, ...content) {
  return fill(document.createElement(kind.split(".", 1)[0]), kind, content);
}

export function svg(kind, ...content) {
  return fill(document.createElementNS(SVG, kind.split(".", 1)[0]), kind, content);
}

export function button(text, onclick, attributes = {}) {
  return html("button", { type: "button", onclick, ...attributes }, text);
}

// Sets an attribute only when it changes, so that a redraw touches what moved and nothing else.
export function set(element, name, value) {
  const text = String(value);
  if (element.getAttribute(name) !== text) element.setAttribute(name, text);
}

export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function setProperty(element, name, value) {
  const text = String(value);
  if (element.style.getPropertyValue(name) !== text) element.style.setProperty(name, text);
}

// Takes the attribute away when `value` is null or false.
export function mark(element, name, value = true) {
  if (value === null || value === false) element.removeAttribute(name);
  else set(element, name, value);
}

// The same for several attributes data-NAME at once; names as in `dataset`.
export function flag(element, values) {
  for (const [name, value] of Object.entries(values)) mark(element, dataName(name), value ?? false);
}

export function hide(element, hidden = true) {
  mark(element, "hidden", hidden);
}

// In its place in the document, or out of it: what is covered is not there at all.
export function present(element, there) {
  if (there) places.get(element)?.replaceWith(element);
  else if (element.parentNode) {
    if (!places.has(element)) places.set(element, document.createComment(""));
    element.replaceWith(places.get(element));
  }
}

const places = new WeakMap();

// What a cell is and does, for those who hear or point at it.
export function describe(element, text) {
  set(element, "aria-label", text);
  set(element, "title", text);
}

// As many children as asked for; returns them.
export function fit(parent, count, make) {
  while (parent.childElementCount > count) parent.lastChild.remove();
  while (parent.childElementCount < count) parent.append(make());
  return [...parent.children];
}

// Whether `values` differ from those of the last call for this element: a redraw skips elements that would not change.
export function changed(element, ...values) {
  const key = values.join("|");
  if (drawn.get(element) === key) return false;
  drawn.set(element, key);
  return true;
}

const drawn = new WeakMap();

function fill(element, kind, content) {
  const classes = kind.split(".").slice(1).join(" ");
  if (classes) element.setAttribute("class", classes);
  for (const each of content.flat()) {
    if (each instanceof Node || typeof each !== "object") element.append(each);
    else for (const [name, value] of Object.entries(each)) give(element, name, value);
  }
  return element;
}

function give(element, name, value) {
  if (typeof value === "function") element.addEventListener(name.slice(2), value);
  else if (name === "style")
    element.style.cssText = value; // the attribute would ask a content policy
  else element.setAttribute(name, value);
}

// Thousands of nodes ask for the same few.
function dataName(name) {
  let known = dataNames.get(name);
  if (!known) {
    known = `data-${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    dataNames.set(name, known);
  }
  return known;
}

const dataNames = new Map();
