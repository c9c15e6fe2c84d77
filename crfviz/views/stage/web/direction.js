// The direction of a sentence, as in crfviz/text/direction.py, and the language of its script.

const LETTER = /\p{L}/u;
// The blocks of scripts from right to left.
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** @type {[value: string, name: string][]} */
export const DIRECTIONS = [
  ["auto", "automatic"],
  ["ltr", "left to right"],
  ["rtl", "right to left"],
];

// Returns whether the first letter of the words belongs to a script from right to left.
/** @param {string[]} words */
export function isRightToLeft(words) {
  for (const word of words) {
    const letter = LETTER.exec(word)?.[0];
    if (letter) return RIGHT_TO_LEFT.test(letter);
  }
  return false;
}

// The direction of the columns: the reader's choice, or that of the sentence.
/** @param {string} chosen @param {boolean} rtl */
export function runsRightToLeft(chosen, rtl) {
  return chosen === "ltr" || chosen === "rtl" ? chosen === "rtl" : rtl;
}

// Returns the language by which a browser chooses the forms of Chinese characters; null for other scripts.
/** @param {string[]} words */
export function languageOf(words) {
  const text = words.join("");
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return "ja";
  if (/\p{Script=Hangul}/u.test(text)) return "ko";
  return /\p{Script=Han}/u.test(text) ? "zh" : null;
}

/** @type {Record<string, string>} */
const TURNED = { "←": "→", "→": "←" };

// Swaps the arrow keys in a text: in a sentence from right to left, ← moves forward.
/** @param {string} text @param {boolean} rtl */
export function keysAsRead(text, rtl) {
  return rtl ? text.replaceAll(/[←→]/g, (arrow) => TURNED[arrow]) : text;
}
