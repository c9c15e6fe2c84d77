// Texts measured in the fonts of the page, which differ between hosts.

import { charactersOf, html } from "../dom.js";
import { NAME } from "./widths.js";

/** @import { Model } from "../types.js" */

const USUAL = 16; // pixels of the page's default text
const NUMBER = "−0.0"; // widest number in a cell

// Returns a function that measures text in a font, in pixels.
/** @param {string} font */
export function widthIn(font) {
  const canvas = /** @type {CanvasRenderingContext2D} */ (html("canvas").getContext("2d"));
  canvas.font = font;
  /** @param {string} text */
  return (text) => canvas.measureText(text).width;
}

// The rise of the highest of some texts over its line, in em.
/** @param {string} family @param {string[]} texts */
function heightOver(family, texts) {
  const canvas = /** @type {CanvasRenderingContext2D} */ (html("canvas").getContext("2d"));
  canvas.font = `600 100px ${family}`;
  return Math.max(0, ...texts.map((text) => canvas.measureText(text).actualBoundingBoxAscent)) / 100;
}

// The width of the longest of some tag names in a font, in em, by the letters that are always visible.
/** @param {string} family @param {string[]} tags */
function nameWidth(family, tags) {
  const widthOf = widthIn(`600 100px ${family}`);
  return Math.max(0, ...tags.map((tag) => widthOf(charactersOf(tag).slice(0, NAME).join("")))) / 100;
}

// Widths of the words and of the longest tag, and the rise of the highest word, in em; `before` if they are of the same
// texts, and undefined until the font is loaded.
/** @param {string} family @param {Pick<Model, "words" | "tags">} model @param {Measured} before */
export function wordsIn(family, { words, tags }, before) {
  if (document.fonts.status !== "loaded") return undefined;
  const key = JSON.stringify([family, words, tags]);
  if (before.key === key) return before;
  const widthOf = widthIn(`600 100px ${family}`);
  const ems = words.map((word) => widthOf(word) / 100);
  return { key, ems, name: nameWidth(family, tags), rise: heightOver(family, words) };
}

/** @typedef {{ key: string, ems: number[], name: number, rise: number }} Measured */

/** @type {Map<string, number>} */
const digits = new Map(); // by font family

// Mean character width of a number with sign and point, in em. It is measured because hosts have different fonts.
/** @param {string} family */
export function digitWidth(family) {
  if (document.fonts.status !== "loaded") return 0;
  if (!digits.has(family)) digits.set(family, widthIn(`100px ${family}`)(NUMBER) / NUMBER.length / 100);
  return digits.get(family) ?? 0;
}

// The text size of the page around the stage, relative to the default.
export function pageScale() {
  return parseFloat(getComputedStyle(document.documentElement).fontSize) / USUAL || 1;
}
