// List items of an address, parsed as crfviz/ui/state/link_text.py does: `DET.NOUN:1.25`, `3.NOUN:2`, `0.DET`, and many
// moves packed. An invalid text is null.

import { END, START } from "../../stage/web/model.js";

export const MAX_CHARACTERS = 15_000; // of a sentence
const LARGEST = 1e6; // absolute value of an edited weight
const MAX_NAMES = 200;
const NUMBER = /^[+-]?(\d{1,9}(\.\d{0,30})?|\.\d{1,30})(e[+-]?\d{1,3})?$/;
const POSITION = /^\d{1,5}$/;
const PACKED = /^[A-Za-z0-9_-]*$/;
const BYTES = 4; // of a packed number
const UNEDITED = -(2 ** 31); // numbers in a packed matrix with a meaning
const FORBIDDEN = UNEDITED + 1;
const MILLIONTHS = 1_000_000;

export function readMove(text) {
  const [names, number] = halves(text, ":");
  const value = readWeight(number);
  const [from, to, ...more] = names.split(".").map(tagOf);
  if (value === null || !from || !to || more.length || (from === START && to === END)) return null;
  return [[from, to], value];
}

export function readScore(text) {
  const [place, number] = halves(text, ":");
  const [read, value] = [readPlace(place), readWeight(number)];
  return read && value !== null ? [read, value] : null;
}

export function readPlace(text) {
  const [position, tag] = halves(text, ".");
  if (!POSITION.test(position) || Number(position) >= MAX_CHARACTERS || !tag || tag.includes(".")) return null;
  return [Number(position), tagOf(tag)];
}

// The number of a text, which may be infinite; NaN if it is none.
export function readNumber(text) {
  return NUMBER.test(text) ? Number(text) : NaN;
}

function readWeight(text) {
  if (text === "-inf") return -Infinity;
  const value = readNumber(text);
  return Math.abs(value) <= LARGEST ? value : null;
}

// The scores in a text of `pack` in Python; null if the text is invalid.
export function unpack(text) {
  const [written, packed] = halves(text, ":");
  const names = written.split(".").map(tagOf);
  if (names.includes("") || new Set(names).size < names.length || names.length > MAX_NAMES) return null;
  if (!PACKED.test(packed) || packed.length % BYTES === 1) return null;
  const letters = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
  const sources = [START, ...names.filter((name) => name !== START)];
  const targets = [...names.filter((name) => name !== END), END];
  if (letters.length !== BYTES * sources.length * targets.length) return null;
  const cells = new Int32Array(Uint8Array.from(letters, (letter) => letter.charCodeAt(0)).buffer);
  return Array.from(cells).flatMap((number, at) => {
    const move = [sources[Math.floor(at / targets.length)], targets[at % targets.length]];
    if (number === UNEDITED || (move[0] === START && move[1] === END)) return [];
    return [[move, number === FORBIDDEN ? -Infinity : number / MILLIONTHS]];
  });
}

// Before the first sign and behind it.
function halves(text, sign) {
  const at = text.indexOf(sign);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

// The tag of a text of `tagText`; a text that is no encoding stands for itself.
function tagOf(text) {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}
