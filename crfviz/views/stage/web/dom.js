// Small helpers around the DOM. User text only ever becomes text nodes.

/** @import { Attributes, Content, HtmlOf, SvgOf } from "./types.js" */

const SVG = "http://www.w3.org/2000/svg";

// A selector of text fields.
export const TEXT_FIELD = "input:not([type=range], [type=checkbox], [type=radio]), textarea, [contenteditable]";

// Creates an element "tag.class.class". The other arguments, in any order: attributes as { name: value }, where a
// function under `onclick` and similar names listens, children, text, and lists of these.
/** @template {string} K @param {K} kind @param {...Content} content @returns {HtmlOf<K>} */
export function html(kind, ...content) {
  const element = document.createElement(kind.split(".", 1)[0]);
  return /** @type {HtmlOf<K>} */ (fill(element, kind, content));
}

/** @template {string} K @param {K} kind @param {...Content} content @returns {SvgOf<K>} */
export function svg(kind, ...content) {
  const element = document.createElementNS(SVG, kind.split(".", 1)[0]);
  return /** @type {SvgOf<K>} */ (fill(/** @type {SVGElement} */ (element), kind, content));
}

/** @param {Content} text @param {(event: Event) => unknown} onclick @param {Attributes} [attributes] */
export function button(text, onclick, attributes = {}) {
  return html("button", { type: "button", onclick, ...attributes }, text);
}

// Sets an attribute only when it changes, so that a redraw touches only what changed.
/** @param {Element} element @param {string} name @param {unknown} value */
export function set(element, name, value) {
  const text = String(value);
  if (element.getAttribute(name) !== text) element.setAttribute(name, text);
}

/** @param {Element} element @param {Attributes} values */
export function setAll(element, values) {
  for (const [name, value] of Object.entries(values)) set(element, name, value);
}

/** @param {Node} element @param {string} text */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** @param {Element} element @param {string} name @param {string | number} value */
export function setProperty(element, name, value) {
  const { style } = /** @type {HTMLElement} */ (element);
  const text = String(value);
  if (style.getPropertyValue(name) !== text) style.setProperty(name, text);
}

// Sets an attribute, or removes it when `value` is null or false.
/** @param {Element} element @param {string} name @param {unknown} [value] */
export function mark(element, name, value = true) {
  if (value === null || value === false) element.removeAttribute(name);
  else set(element, name, value);
}

// Does the same for several data-NAME attributes; names as in `dataset`.
/** @param {Element} element @param {Record<string, unknown>} values */
export function flag(element, values) {
  for (const [name, value] of Object.entries(values)) mark(element, dataName(name), value ?? false);
}

/** @param {Element} element @param {boolean} [hidden] */
export function hide(element, hidden = true) {
  mark(element, "hidden", hidden);
}

// Inserts an element at its place in the document, or removes it: hidden parts are not in the document.
/** @param {Element} element @param {boolean} isPresent */
export function present(element, isPresent) {
  const place = places.get(element) ?? document.createComment("");
  if (isPresent) place.replaceWith(element);
  else if (element.parentNode) {
    places.set(element, place);
    element.replaceWith(place);
  }
}

/** @type {WeakMap<Element, Comment>} */
const places = new WeakMap();

// Sets the accessible name and the tooltip.
/** @param {Element} element @param {string} text */
export function describe(element, text) {
  set(element, "aria-label", text);
  set(element, "title", text);
}

// Returns the characters of a text as a reader counts them: an accented letter, a flag or a joined emoji is one.
/** @param {string} text */
export function charactersOf(text) {
  return Array.from(new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text), ({ segment }) => segment);
}

// Adds or removes children until there are `count`; returns them.
/** @template {Element} E @param {Element} parent @param {number} count @param {() => E} make */
export function fit(parent, count, make) {
  while (parent.childElementCount > count) parent.lastChild?.remove();
  while (parent.childElementCount < count) parent.append(make());
  return /** @type {E[]} */ ([...parent.children]);
}

// Returns the children of an element.
/** @param {Element} parent */
export function childrenOf(parent) {
  return /** @type {HTMLElement[]} */ ([...parent.children]);
}

// Returns all elements in another one that a selector matches.
/** @param {ParentNode} parent @param {string} selector */
export function all(parent, selector) {
  return /** @type {HTMLElement[]} */ ([...parent.querySelectorAll(selector)]);
}

// Returns the focused element in the same shadow root.
/** @param {Element} element */
export function focusedIn(element) {
  const root = /** @type {Document | ShadowRoot} */ (element.getRootNode());
  return /** @type {HTMLElement | null} */ (root.activeElement);
}

// The target of an event; `closest` gives the nearest element around it that a selector matches.
/** @param {Event} event */
export function targetOf(event) {
  return /** @type {HTMLElement} */ (event.target);
}

/** @param {Event} event @param {string} selector @returns {HTMLElement | null} */
export function closest(event, selector) {
  return targetOf(event).closest?.(selector) ?? null;
}

// Returns whether `values` differ from those of the last call for this element, so that a redraw can skip it.
/** @param {Element} element @param {...unknown} values */
export function changed(element, ...values) {
  const key = values.join("\0");
  if (drawn.get(element) === key) return false;
  drawn.set(element, key);
  return true;
}

/** @type {WeakMap<Element, string>} */
const drawn = new WeakMap();

/** @param {HTMLElement | SVGElement} element @param {string} kind @param {Content[]} content */
function fill(element, kind, content) {
  const classes = kind.split(".").slice(1).join(" ");
  if (classes) element.setAttribute("class", classes);
  for (const each of content.flat()) {
    if (each instanceof Node || typeof each !== "object") element.append(/** @type {Node | string} */ (each));
    else for (const [name, value] of Object.entries(each)) give(element, name, value);
  }
  return element;
}

/** @param {HTMLElement | SVGElement} element @param {string} name @param {unknown} value */
function give(element, name, value) {
  if (typeof value === "function") element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
  else if (name === "style")
    element.style.cssText = String(value); // a style attribute would violate the content policy
  else element.setAttribute(name, String(value));
}

// Cached, because thousands of nodes need the same few names.
/** @param {string} name */
function dataName(name) {
  let known = dataNames.get(name);
  if (!known) {
    known = `data-${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    dataNames.set(name, known);
  }
  return known;
}

/** @type {Map<string, string>} */
const dataNames = new Map();
