// Small helpers around the DOM. User text only ever goes through textContent.

const SVG = "http://www.w3.org/2000/svg";

export function html(tag, attributes = {}, children = []) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, children = []) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
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
  if (value === null || value === false) {
    if (element.hasAttribute(name)) element.removeAttribute(name);
  } else {
    set(element, name, value === true ? "true" : value);
  }
}

// Whether `values` differ from those of the last call for this element: a redraw skips elements that would not change.
export function changed(element, ...values) {
  const key = values.join("|");
  if (drawn.get(element) === key) return false;
  drawn.set(element, key);
  return true;
}

const drawn = new WeakMap();

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") element.textContent = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}
