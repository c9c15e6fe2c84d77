// Features of a word, as in crfviz/taggers/features.py, the reference.

const WORD = String.raw`[\p{L}\p{N}_]`; // Python's \w
const HANDLE = new RegExp(`^@${WORD}`, "u");
const EMAIL = new RegExp(`.@${WORD}`, "u");
const NAME = String.raw`[\p{L}\p{N}_\-]+`;
const ENDINGS = `com|org|net|edu|gov|mil|info|biz|ly|html?|co\\.${WORD}${WORD}`;
const URL = new RegExp(`://|^www\\.|^${NAME}(\\.${NAME})*\\.(${ENDINGS})(?!${WORD})`, "iu");
const QUOTES = { "\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"' };

const LETTER = /\p{L}/gu;
// Decimal digits, and others that Python's `isdigit` accepts: superscripts, subscripts, circled and of a few scripts.
const ODD_DIGITS = [
  String.raw`\xb2\xb3\xb9\u1369-\u1371\u19da\u2070\u2074-\u2079\u2080-\u2089\u2460-\u2468\u2474-\u247c\u2488-\u2490`,
  String.raw`\u24ea\u24f5-\u24fd\u24ff\u2776-\u277e\u2780-\u2788\u278a-\u2792`,
  String.raw`\u{10a40}-\u{10a43}\u{10e60}-\u{10e68}\u{11052}-\u{1105a}\u{1f100}-\u{1f10a}`,
];
const DIGIT = new RegExp(String.raw`[\p{Nd}${ODD_DIGITS.join("")}]`, "u");
const NOT_LOWER = /[\p{Uppercase}\p{Lt}]/u;
const NOT_UPPER = /[\p{Lowercase}\p{Lt}]/u;
const LOWER = /\p{Lowercase}/u;
const UPPER = /\p{Uppercase}/u;
const BEYOND_ASCII = /[^\0-\x7f]/;

const MAX_CHARACTERS = 24;

export const SHAPES = ["lower", "capital", "upper", "title", "mixed", "digits", "alphanumeric", "punctuation", "other"];

// The word folded, and every digit a 0.
export function form(word) {
  return fold(word).replace(/\p{Nd}/gu, "0");
}

// The dictionary key of a word.
export function key(word) {
  return form(word).toLowerCase();
}

// The characters of a folded word; only both ends of a long one.
export function spelling(word) {
  const characters = [...fold(word)];
  if (characters.length <= MAX_CHARACTERS) return characters;
  const half = MAX_CHARACTERS / 2;
  return [...characters.slice(0, half), ...characters.slice(-half)];
}

// Index into SHAPES.
export function shape(word) {
  return SHAPES.indexOf(shapeName(fold(word)));
}

function fold(word) {
  if (word.includes("@")) {
    if (EMAIL.test(word)) return "<email>";
    if (HANDLE.test(word)) return "@user";
  }
  if (URL.test(word)) return "<url>";
  return word.replace(/[\u2018\u2019\u201c\u201d]/g, (quote) => QUOTES[quote]);
}

function shapeName(word) {
  const letters = word.match(LETTER) ?? [];
  if (DIGIT.test(word)) return letters.length ? "alphanumeric" : "digits";
  if (!letters.length) return BEYOND_ASCII.test(word) ? "other" : "punctuation";
  return caseName(letters);
}

function caseName(letters) {
  const whole = letters.join("");
  if (isLower(whole)) return "lower";
  if (isUpper(whole)) return letters.length === 1 ? "capital" : "upper";
  if (isUpper(letters[0]) && isLower(letters.slice(1).join(""))) return "title";
  return whole.toUpperCase() === whole.toLowerCase() ? "other" : "mixed";
}

function isLower(text) {
  return LOWER.test(text) && !NOT_LOWER.test(text);
}

function isUpper(text) {
  return UPPER.test(text) && !NOT_UPPER.test(text);
}
