// The words of a sentence: as chips with tags and probabilities, or as letters with boundaries to split and join.

import { languageOf } from "../direction.js";
import { all, button, charactersOf, describe, flag, html, mark, set, setProperty, setText } from "../dom.js";

/** @import { LabellerPayload } from "../types.js" */

const UNSET = "_"; // tag of an untagged word

/** @param {HTMLElement} sheet @param {LabellerPayload} data */
export function buildChips(sheet, { words, gaps }) {
  mark(sheet, "lang", languageOf(words));
  const chips = words.map((word, t) => {
    const chip = html("div.chip", { role: "option", "data-word": t, tabindex: -1 }, [
      html("span.word", { dir: "auto" }, word),
      html("span.line", html("span.tag"), html("span.number")),
      html("span.second"),
      html("span.lanes"),
    ]);
    flag(chip, { joint: gaps[t] === "" && t > 0 }); // no blank before this word in the text
    return chip;
  });
  sheet.replaceChildren(...chips);
}

// `selected`: first and last word that a key would change.
/**
 * @param {HTMLElement} sheet
 * @param {LabellerPayload} data
 * @param {number} cursor
 * @param {[number, number]} selected
 */
export function drawChips(sheet, data, cursor, [first, last]) {
  const colours = new Map(data.choices.map(({ name, colour }) => [name, colour]));
  all(sheet, ".chip").forEach((chip, t) => {
    const word = wordAt(data, t);
    const { tag, name, plain, inside, pinned, doubtful, seen } = word;
    const selected = first <= t && t <= last;
    setProperty(chip, "--tag", colours.get(name) ?? "#8c8c8c");
    flag(chip, { tag, plain, inside, pinned, doubtful, seen: Boolean(seen), selected, cursor: t === cursor });
    flag(chip, { goesOn: data.bio && goesOn(data.tags[t + 1]), changed: t in data.changed });
    set(chip, "aria-selected", selected);
    set(chip, "tabindex", t === cursor ? 0 : -1);
    const [, line, second, lanes] = chip.children;
    setText(line.children[0], plain ? "·" : inside ? "…" : name);
    const silent = data.blank || seen || (plain && !doubtful); // no probability of the model
    setText(line.children[1], pinned ? "✓" : silent ? "" : data.sure[t].toFixed(2));
    setText(second, secondText(data, word));
    const lines = lanesOf(data, t).map((text, n) => html("span", `${n + 1} ${text}`));
    lanes.replaceChildren(...lines);
    set(chip, "aria-label", description(data, word));
  });
}

// Each version's tag of a word; empty where all agree.
/** @param {LabellerPayload} data @param {number} t */
function lanesOf({ versions }, t) {
  return (versions?.lanes ?? []).map((lane) => lane[t]).filter((text) => text);
}

// The state of word t, for its label and description.
/** @param {LabellerPayload} data @param {number} t */
function wordAt(data, t) {
  const tag = data.tags[t];
  const [plain, inside] = [data.bio && tag === "O", data.bio && goesOn(tag)];
  const [pinned, doubtful] = [data.pinned.includes(t), data.doubtful.includes(t)];
  const name = plain ? "" : data.bio ? tag.replace(/^[BI]-/, "") : tag === UNSET ? "?" : tag;
  const seen = data.seen[t] ?? ""; // why another source than the model proposes the tag
  return { t, tag, name, plain, inside, pinned, doubtful, seen, rival: rivalOf(data, t, name) };
}

// First and last word of the entity around a word; the word itself outside entities.
/** @param {string[]} tags @param {number} t @returns {[number, number]} */
export function spanAt(tags, t) {
  if (tags[t] === "O") return [t, t];
  let [first, last] = [t, t];
  while (first > 0 && goesOn(tags[first])) first -= 1;
  while (goesOn(tags[last + 1])) last += 1;
  return [first, last];
}

// The word above or below another one, by the number of lines `by`.
/** @param {HTMLElement} sheet @param {number} t @param {number} by */
export function wordBeside(sheet, t, by) {
  const boxes = all(sheet, ".chip").map((chip) => chip.getBoundingClientRect());
  const own = boxes[t];
  /** @param {DOMRect} box */
  const middle = ({ left, width }) => left + width / 2;
  /** @param {DOMRect} box */
  const away = (box) => [Math.abs(box.top - own.top), Math.abs(middle(box) - middle(own))];
  const lines = boxes.map((box, word) => ({ box, word, away: away(box) }));
  const ahead = lines.filter(({ box }) => (by < 0 ? box.bottom <= own.top : box.top >= own.bottom));
  return ahead.sort((a, b) => a.away[0] - b.away[0] || a.away[1] - b.away[1])[0]?.word ?? t;
}

/** @param {string | undefined} tag */
function goesOn(tag) {
  return tag?.startsWith("I-") ?? false;
}

// The likeliest choice other than the current one.
/** @param {LabellerPayload} data @param {number} t @param {string} name */
function rivalOf({ ranked, choices }, t, name) {
  const options = ranked[t]?.map(([choice, p]) => ({ name: choices[choice].name, p }));
  return options?.find((option) => option.name !== name) ?? null;
}

/** @param {LabellerPayload} data @param {ReturnType<typeof wordAt>} word */
function secondText({ changed }, { t, inside, doubtful, rival, seen }) {
  if (t in changed) return `was ${changed[t]}`;
  if (seen) return inside ? "" : seen;
  return doubtful && rival ? `or ${rival.name || "none"} ${rival.p.toFixed(2)}` : "";
}

/** @param {LabellerPayload} data @param {ReturnType<typeof wordAt>} word */
function description(data, { t, tag, pinned, doubtful, rival, seen }) {
  const { words, sure, changed, blank, versions } = data;
  const lines = lanesOf(data, t).map((text, n) => `${versions?.names[n]} says ${text}`);
  if (tag === UNSET) return [`${words[t]}: no tag yet`, ...lines].join(", ");
  const parts = [`${words[t]}: ${tag}`, ...lines];
  if (pinned) parts.push("set by you");
  else if (seen) parts.push(seen);
  else if (!blank) parts.push(`probability ${sure[t].toFixed(2)}`);
  const second = rival ? `, second choice ${rival.name || "no entity"} ${rival.p.toFixed(2)}` : "";
  if (doubtful) parts.push(`uncertain${second}`);
  if (t in changed) parts.push(`changed from ${changed[t]}`);
  return parts.join(", ");
}

// `onChange` gets the number of a boundary; `caret` is the number of the focused one.
/**
 * @param {HTMLElement} sheet
 * @param {LabellerPayload} data
 * @param {number} caret
 * @param {(boundary: number) => void} onChange
 */
export function drawBoundaries(sheet, { words }, caret, onChange) {
  let count = 0;
  /** @param {number} of @param {number} at @param {string} text */
  const boundary = (of, at, text) => {
    const own = count++;
    const made = button("", () => onChange(own), { class: at ? "cut" : "join", tabindex: own === caret ? 0 : -1 });
    flag(made, { boundary: own, of, at, caret: own === caret });
    describe(made, text);
    return made;
  };
  const pieces = words.map((word, t) => {
    const letters = cutsOf(word).flatMap(([from, to], n) => {
      const [before, after] = [word.slice(0, from), word.slice(from)];
      const cut = n ? [boundary(t, [...before].length, `Cut ${word} into ${before} and ${after}`)] : [];
      return [...cut, html("span", word.slice(from, to))];
    });
    const join = t + 1 < words.length ? [boundary(t, 0, `Join ${word} and ${words[t + 1]}`)] : [];
    return html("span.piece", html("span.letters", { dir: "auto", "data-letters": t }, letters), join);
  });
  sheet.replaceChildren(...pieces);
}

// Start and end of each visible character in UTF-16 units; Python counts code points.
/** @param {string} word */
function cutsOf(word) {
  let end = 0;
  return charactersOf(word).map((character) => {
    end += character.length;
    return [end - character.length, end];
  });
}
