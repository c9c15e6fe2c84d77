// The frame around the labeller's words: position, likely tags, all tags, actions.

import { button, flag, html, set, setText } from "../dom.js";
import { hasNoKeys } from "../keyboard.js";
import { buildEverywhere } from "./everywhere.js";
import { accept, choose, pointAt, take, toggleWords } from "./marking.js";

/** @import { Attributes, ChoiceData, Content, LabellerPayload, Labelling } from "../types.js" */

const WORDS_HINT = "← → boundaries · Space cuts or joins there · / back to tags";
const TAGS_HINT =
  "← → words · Tab next uncertain word · 1–5 one of the likeliest · a letter sets the tag · Shift ← → several words";
const VERSIONS_HINT =
  "← → words · Tab next dispute · 1–9 take a version here · Shift 1–9 take all of it · a letter sets the tag";
const WHY_HINT = " · ? why this tag";
const BIO_HINT = " · Space one word of an entity · Alt ← → its end, Shift Alt ← → its start";
const BLANK_HINT = "← → words · a letter sets the tag · Shift ← → several words";

/** @param {Labelling} labelling */
export function buildDesk(labelling) {
  /** @param {string} name @param {string} text @param {string} key @param {() => void} does */
  const act = (name, text, key, does) => {
    return button([html("span", text), html("kbd", key)], () => labelling.idle(does), { "data-act": name });
  };
  const [place, reason, state] = ["place", "reason", "state"].map((name) => html(`span.${name}`));
  const note = html("div.note", { role: "status", "aria-live": "polite" });
  const sheet = html("div.sheet", {
    role: "listbox",
    "aria-label": "The words of the sentence",
    "aria-multiselectable": true,
  });
  const ranked = html("div.ranked");
  const versions = html("div.versions", { role: "group", "aria-label": "Versions" });
  const palette = html("div.palette", { role: "group", "aria-label": "Tags" });
  const words = act("words", "Split or join words", "/", () => toggleWords(labelling));
  const actions = [
    act("accept", labelling.guest ? "Accept" : "Accept, next", "Enter", () => accept(labelling)),
    act("undo", "Undo", "⌫", () => labelling.emit("undo")),
  ];
  const ofDesk = [
    words,
    act("back", "Previous", "Page ↑", () => labelling.emit("go", { by: -1 })),
    act("skip", "Next", "Page ↓", () => labelling.emit("go", { by: 1 })),
  ];
  const acts = html("div.actions", actions, labelling.guest ? [] : ofDesk);
  const hint = html("div.hint.keys");
  sheet.addEventListener("pointerdown", (event) => pointAt(labelling, event, true));
  sheet.addEventListener("pointerover", (event) => pointAt(labelling, event, false));
  const topline = html("div.topline", place, reason, state);
  const everywhere = buildEverywhere(labelling);
  return {
    elements: [topline, sheet, note, ...everywhere.elements, versions, ranked, palette, acts, hint],
    sheet,
    note,
    /** @param {Labelling} labelling */
    write(labelling) {
      const { data, words: cutting } = labelling;
      everywhere.write(labelling);
      setText(place, data.place);
      setText(reason, data.reason);
      setText(state, data.state === "done" ? "done" : "");
      setText(note, data.problem || data.note || standing(data));
      flag(note, { problem: Boolean(data.problem) });
      drawVersions(versions, labelling);
      drawRanked(ranked, labelling);
      drawPalette(palette, labelling);
      const listed = Boolean(data.everywhere?.rows); // the list has the place and the keys
      ranked.hidden = cutting || data.blank || listed;
      palette.hidden = cutting || listed;
      acts.hidden = listed;
      set(sheet, "dir", data.rtl ? "rtl" : "ltr");
      set(words, "aria-pressed", cutting);
      setText(hint, listed ? "" : hintOf(labelling));
    },
  };
}

// The keys that can be used now.
/** @param {Labelling} labelling */
function hintOf({ data, words, guest }) {
  if (words) return WORDS_HINT;
  const keys = data.versions ? VERSIONS_HINT : data.blank ? BLANK_HINT : TAGS_HINT;
  return `${keys}${data.bio ? BIO_HINT : ""}${guest ? "" : WHY_HINT}`;
}

/** @param {LabellerPayload} data */
function standing({ state, doubtful, words, blank, bio, versions }) {
  if (versions && state !== "done") return standingOf(versions);
  const touch = hasNoKeys();
  const accepts = touch ? "Accept ends it." : "Enter accepts.";
  if (state === "done") return `Done. A ${touch ? "tag" : "key"} changes it again.`;
  if (blank && bio)
    return touch ? `Tap a word, then its type; ${accepts}` : `Mark the entities by their keys; ${accepts}`;
  if (blank && doubtful.length) {
    const how = touch ? "tap each, then its tag" : "press its key, then Enter";
    return `${doubtful.length} of ${words.length} words have no tag: ${how}.`;
  }
  if (blank) return `Every word has a tag: ${accepts}`;
  if (!doubtful.length) return `No word is uncertain: ${accepts}`;
  const [isUncertain, sum] = [doubtful.length === 1 ? "is" : "are", words.length];
  return `${doubtful.length} of ${sum} words ${isUncertain} uncertain (p < 0.90).`;
}

// The likeliest tags of the word under the cursor.
/** @param {HTMLElement} element @param {Labelling} labelling */
function drawRanked(element, labelling) {
  const { words, ranked, choices, probabilistic, versions } = labelling.data;
  const { cursor } = labelling;
  const options = (ranked[cursor] ?? []).map(([choice, p], rank) => {
    const number = html("span.number", p.toFixed(2));
    return choiceButton(labelling, choices[choice], versions ? "" : rank + 1, [number], { "data-rank": rank + 1 });
  });
  const title = probabilistic ? "p(tag | sentence, your tags)" : "what a CRF with these scores would say";
  const word = html("span.word-name", { dir: "auto" }, words[cursor]);
  element.replaceChildren(word, ...options, html("span.quiet", title));
}

/** @param {HTMLElement} element @param {Labelling} labelling */
function drawPalette(element, labelling) {
  const { choices } = labelling.data;
  const known = JSON.stringify(choices);
  if (element.dataset.choices === known) return;
  element.dataset.choices = known;
  const buttons = choices.map((choice) => {
    return choiceButton(labelling, choice, choice.key, [], { "data-choice": choice.name || "none" });
  });
  element.replaceChildren(...buttons);
}

/**
 * @param {Labelling} labelling
 * @param {ChoiceData} choice
 * @param {string | number} key
 * @param {Content[]} more
 * @param {Attributes} attributes
 */
function choiceButton(labelling, { name, colour }, key, more, attributes) {
  const parts = [...(key === "" ? [] : [html("kbd", key)]), html("span.tag-name", name || "no entity"), ...more];
  const act = () => labelling.idle(() => choose(labelling, name));
  return button(parts, act, { style: `--tag: ${colour}`, ...attributes });
}

// The tags of each version, at the cursor and for the whole sentence.
/** @param {HTMLElement} element @param {Labelling} labelling */
function drawVersions(element, labelling) {
  const { versions } = labelling.data;
  element.hidden = !versions || labelling.words;
  if (!versions) return;
  const at = versions.disputes.find(({ first, last }) => first <= labelling.cursor && labelling.cursor <= last);
  /** @param {string} key @param {number} version @param {string} text */
  const choice = (key, version, text) => {
    const parts = [html("kbd", key), html("span.version", versions.names[version]), html("span.reading", text)];
    const whole = key !== String(version + 1);
    return button(parts, () => labelling.idle(() => take(labelling, version, whole)), { "data-take": key });
  };
  const readings = at ? at.readings.map((text, n) => choice(String(n + 1), n, text)) : [];
  const split = at?.split ? [html("span.quiet", "They split the words differently.")] : [];
  const why = at?.why ? [html("a.why", { href: at.why, target: "_blank" }, "Why does the model say so?")] : [];
  const none = at ? [] : [html("span.quiet", "All versions have the same tag here.")];
  const all = versions.names.map((_, n) => choice(`⇧${n + 1}`, n, "all words"));
  element.replaceChildren(html("div.row", ...readings, ...none, ...split, ...why), html("div.row", ...all));
}

// The number of open disputes, and the keys that settle one.
/** @param {{ left: number, names: string[], disputes: object[] }} versions */
function standingOf({ left, names, disputes }) {
  if (!left) return `Every dispute is settled: ${hasNoKeys() ? "Accept ends it" : "Enter accepts"}.`;
  const [of, keys] = [disputes.length, names.map((_, n) => n + 1).join(", ")];
  return `${left} of ${of} ${of === 1 ? "dispute" : "disputes"} open: ${keys} take a version, Enter goes on.`;
}
