// An entity: its tags under the words, its probability, and its rivals.

import { all, button, changed, describe, flag, focusedIn, html, set, setProperty, setText } from "../dom.js";
import { listenToCells, makeRoving } from "../keyboard.js";
import { minus, percent, signed } from "../numbers.js";
import { drawTick } from "./cells.js";

/** @import { HypothesisData, Model, ShortcutData, Span } from "../types.js" */

// Two rows under the words: the entities of the best path to choose from, and the chosen one, word by word.
// `choose` gets [type, first, last].
/** @param {Model} model @param {HTMLElement[]} heads @param {(span: Span) => void} choose */
export function buildSpans(model, heads, choose) {
  const offers = html("div.row.spans-offers", html("div.label", "best path"));
  const cells = model.words.map((_, t) => {
    return html("div.span-cell", { role: "button", tabindex: -1, "data-word": t, "data-t": t });
  });
  const chosen = html("div.row.spans-chosen", html("div.label", "chosen"), cells);
  const element = html("div.spans", { role: "group", "aria-label": "The chosen entity" }, offers, chosen);
  const move = makeRoving(element, "[data-word]");
  let entity = model.entity;
  /** @type {number | null} */
  let anchor = null; // the first word, until the last one is clicked
  /** @param {number | null} t */
  const setAnchor = (t) => {
    anchor = t;
    cells.forEach((cell, word) => flag(cell, { anchor: anchor === word }));
  };
  /** @param {number} t */
  const pick = (t) => {
    const first = anchor !== null && t >= anchor ? anchor : null;
    choose([entity.label, first ?? t, t]);
    setAnchor(first === null ? t : null);
  };
  /** @param {HTMLElement} cell @param {string} key @param {boolean} extending */
  const step = (cell, key, extending) => {
    const [t, to] = [wordOf(cell), move(cell, key)];
    if (!extending || !to) return;
    setAnchor(null);
    const still = t === entity.last ? entity.first : t === entity.first ? entity.last : t;
    const ends = [still, wordOf(to)];
    choose([entity.label, Math.min(...ends), Math.max(...ends)]);
  };
  [heads, cells].forEach((targets) => targets.forEach((target, t) => target.addEventListener("click", () => pick(t))));
  heads.forEach((head) => flag(head, { choosable: true }));
  listenToCells(chosen, "[data-word]", ({ key, shiftKey, ctrlKey, metaKey, altKey }, cell) => {
    if (ctrlKey || metaKey || altKey) return null;
    if (key === "Enter" || key === " ") return () => pick(wordOf(cell));
    if (key === "Escape" && anchor !== null) return () => setAnchor(null);
    if (key !== "ArrowLeft" && key !== "ArrowRight") return null;
    return () => step(cell, key, shiftKey);
  });
  return {
    element,
    /** @param {Model} next */
    update(next) {
      entity = next.entity;
      drawOffers(offers, next, (span) => {
        setAnchor(null);
        choose(span);
      });
      cells.forEach((cell, t) => drawWord(next, cell, t));
    },
  };
}

/** @param {HTMLElement} cell */
function wordOf(cell) {
  return Number(cell.dataset.word);
}

/** @param {HTMLElement} row @param {Model} model @param {(span: Span) => void} choose */
function drawOffers(row, { entity, colours, tags }, choose) {
  const key = JSON.stringify(entity.on_path);
  if (row.dataset.drawn !== key) {
    row.dataset.drawn = key;
    const chips = entity.on_path.map(({ label, first, last, probability }) => {
      const attributes = { class: "chip", "data-span": `${label},${first},${last}` };
      const chip = button(`${label} ${exact(probability)}`, () => choose([label, first, last]), attributes);
      chip.style.gridColumn = `${first + 2} / ${last + 3}`;
      setProperty(chip, "--tag", colours[tags.indexOf(`B-${label}`)]);
      set(chip, "title", `${label}, words ${first + 1} to ${last + 1}: ${probability}`);
      return chip;
    });
    row.replaceChildren(row.children[0], ...(chips.length ? chips : [html("div.span-none", "no entity")]));
  }
  const chosen = `${entity.label},${entity.first},${entity.last}`;
  for (const chip of all(row, ".chip")) set(chip, "aria-pressed", chip.dataset.span === chosen);
}

// Returns the tag that the entity requires at a word; the word after the entity must not continue it.
/** @param {Model} model @param {HTMLElement} cell @param {number} t */
function drawWord({ entity, words, colours, tags }, cell, t) {
  const { label, first, last } = entity;
  const inside = t >= first && t <= last;
  const after = t === last + 1 && tags.includes(`I-${label}`);
  const text = inside ? `${t === first ? "B" : "I"}-${label}` : after ? `not I-${label}` : "·";
  if (changed(cell, text)) cell.replaceChildren(...(after ? ["not ", html("span", `I-${label}`)] : [text]));
  setProperty(cell, "--tag", colours[tags.indexOf(`B-${label}`)]);
  flag(cell, { inside, after });
  describe(cell, `${words[t]}: ${text === "·" ? "not part of the chosen entity" : text}`);
}

// The exact probability, the rivals at the same words, and the shortcuts.
/** @param {Model} model @param {(span: Span) => void} choose */
export function buildEntity(model, choose) {
  let { entity } = model;
  const buttons = entity.types.map((type) => {
    return button(type, () => choose([type, entity.first, entity.last]), { "data-type": type, title: type });
  });
  const types = html("div.buttons", { role: "group", "aria-label": "Type of the entity" }, buttons);
  const title = html("div.side-title");
  const big = html("div.entity-number", { "data-entity-probability": "" });
  const was = html("div.entity-was");
  /** @param {string} label */
  const list = (label) => html("div.entity-rows", { role: "group", "aria-label": label });
  const rivals = list("What else could be at these words");
  const shortcuts = list("What shortcuts would say");
  const total = html("div.entity-total", { "data-entity-total": "" });
  const foot = html("div.entity-total", "of the words' marginals; | is the exact probability");
  const element = html("section.side-panel.entity", { "aria-live": "polite" }, [
    html("div.entity-own", title, big, was, types),
    html("div", html("div.side-head", "Everything that could be at these words"), rivals, total),
    html("div", html("div.side-head", "What shortcuts would say"), shortcuts, foot),
  ]);
  return {
    element,
    /** @param {Model} next */
    update(next) {
      entity = next.entity;
      setText(title, entity.title);
      setText(big, exact(entity.probability));
      set(big, "title", String(entity.probability));
      setText(was, `exact probability${entity.trained === null ? "" : `, trained ${exact(entity.trained)}`}`);
      for (const each of buttons) set(each, "aria-pressed", each.dataset.type === entity.label);
      fill(rivals, entity.hypotheses, (hypothesis) => rivalRow(hypothesis, next, choose));
      setText(total, `sum ${entity.total.toFixed(9)}`);
      fill(shortcuts, entity.shortcuts, (shortcut) => shortcutRow(shortcut, entity.probability));
    },
  };
}

// One line per item; the focused line keeps the focus.
/** @template Thing @param {HTMLElement} list @param {Thing[]} things @param {(thing: Thing) => HTMLElement} rowOf */
function fill(list, things, rowOf) {
  const at = [...list.children].findIndex((line) => line.contains(focusedIn(list)));
  list.replaceChildren(...things.map((thing) => html("div.entity-line", rowOf(thing))));
  const rows = all(list, ".entity-row");
  for (const row of rows) row.tabIndex = -1; // one line is reached by Tab, the others by arrow keys
  if (at >= 0) rows[Math.min(at, rows.length - 1)]?.focus();
}

/** @param {HypothesisData} hypothesis @param {Model} model @param {(span: Span) => void} choose */
function rivalRow({ text, relation, probability, trained, span }, { colours, tags }, choose) {
  const own = relation === "this entity";
  const bar = barOf(probability);
  drawTick(bar, trained, `trained ${trained}`);
  const name = html("span.entity-text", { dir: "auto" }, own ? `▸ ${text}` : text);
  const row = html(span ? "button.entity-row" : "div.entity-row", name, bar, numberOf(probability));
  flag(row, { relation, probability });
  set(row, "title", `${text} (${relation}): ${probability}`);
  setProperty(row, "--tag", span ? colours[tags.indexOf(`B-${span[0]}`)] : "var(--edge)");
  if (span && !own) row.addEventListener("click", () => choose(span));
  return row;
}

/** @param {ShortcutData} shortcut @param {number} probability */
function shortcutRow({ name, value, error }, probability) {
  const bar = barOf(value);
  setProperty(bar, "--tag", "var(--edge)");
  bar.append(html("span.bar-exact", { style: `--at: ${percent(probability)};` }));
  const off = Math.abs(error) < 5e-5 ? "exact here" : `${signed(error, 4)} ${error > 0 ? "too high" : "too low"}`;
  const parts = [html("span.entity-text", name), bar, numberOf(value), html("span.shortcut-off", off)];
  const attributes = { "data-shortcut": name, "data-value": value, title: `${name}: ${value}` };
  return html("div.entity-row.shortcut-row", attributes, parts);
}

/** @param {number} share */
function barOf(share) {
  return html("span.bar", { style: `--length: ${percent(share)};` });
}

/** @param {number} probability */
function numberOf(probability) {
  return html("span.bar-number", exact(probability));
}

// Formats with four decimals; only exact values are written as 0 or 1.
/** @param {number} value */
function exact(value) {
  if (value > 0 && value < 5e-5) return minus(value.toExponential(1));
  if (value < 1 && value > 0.99995) return "> 0.9999";
  return value.toFixed(4);
}
