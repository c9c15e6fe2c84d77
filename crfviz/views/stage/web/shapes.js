// Pieces of an SVG: elements, numbers and colours that programs outside of browsers read, too.

const NAMESPACE = "http://www.w3.org/2000/svg";
const FONT = ["font-family", "font-size", "font-weight"];

export function shape(name, attributes = {}) {
  const element = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

// A text in the letters of a style; `place` says where, by the middle of the line.
export function words(text, style, place) {
  const font = Object.fromEntries(FONT.map((name) => [name, style.getPropertyValue(name)]));
  const fill = plainColour(style.color);
  const element = shape("text", { "dominant-baseline": "central", ...place, ...font, fill });
  element.textContent = text;
  return element;
}

// Of a border or an outline.
export function strokeOf(colour, kind, width) {
  const dashes = { dashed: [3, 2], dotted: [1, 1.5] }[kind];
  const dashed = dashes ? { "stroke-dasharray": dashes.map((each) => fixed(each * width)).join(" ") } : {};
  return { stroke: plainColour(colour), "stroke-width": fixed(width), ...dashed };
}

export function fixed(value) {
  return String(Number(value.toFixed(2)));
}

export function clear(colour) {
  return colour === "transparent" || /(, |\/ )0\)$/.test(colour);
}

// What is mixed is computed as color(srgb r g b), which few programs outside of browsers know.
export function plainColour(value) {
  return value.replaceAll(/color\(srgb ([^ )]+) ([^ )]+) ([^ )]+)(?: \/ ([^)]+))?\)/g, (_, r, g, b, alpha) => {
    const parts = [r, g, b].map((part) => Math.round(255 * Number(part))).join(", ");
    return alpha === undefined ? `rgb(${parts})` : `rgba(${parts}, ${alpha})`;
  });
}
