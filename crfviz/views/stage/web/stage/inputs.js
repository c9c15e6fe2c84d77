// The explanation of one cell: its formula, its ranked inputs, and the sum beside the maximum.

import { button, changed, flag, hide, html, mark, present, set, setProperty, setText } from "../dom.js";
import { marginalText, percent, score } from "../numbers.js";
import { leastTie, logSumExp, transition } from "../recursions.js";

/** @import { Input, Model, Reading, Tables } from "../types.js" */

/** @type {Record<string, string>} */
export const KINDS = { best: "Viterbi", alpha: "α", beta: "β", marginals: "p" };
/** @type {Record<string, string[]>} */
const HEADS = {
  best: ["from", "before", "transition", "emission", "sum"],
  alpha: ["from", "α before", "transition", "emission", "sum"],
  beta: ["to", "β after", "transition", "emission", "sum"],
  marginals: ["", "", "", "", "log"],
  message: ["from", "α before", "emission", "transition", "sum"],
  z: ["tag", "last α", "END", "", "sum"],
};
/** @type {Record<string, string>} */
const FORMULAS = {
  best: "max of: best before + transition + emission",
  alpha: "log Σ exp of: α before + transition + emission",
  beta: "log Σ exp of: transition + emission + β after",
  marginals: "p = exp(α + β − log Z)",
  message: "log Σ exp over the tags of this word: α before + its emission + transition",
  z: "log Z = log Σ exp of: α + END",
};

// The inputs of each word t and tag k, before the first step.
/** @type {Record<string, string[]>} */
const RECURRENCES = {
  best: ["best(t, k) = e(t, k) + max over j of", "  best(t − 1, j) + A(j, k)"],
  alpha: ["α(t, k) = e(t, k) + log Σ over j of", "  exp(α(t − 1, j) + A(j, k))"],
  message: ["m(t, k) = log Σ over j of", "  exp(m(t − 1, j) + e(t − 1, j) + A(j, k))"],
};
const MARKS = [
  "e(t, k): emission of tag k at word t",
  "A(j, k): transition; A(START, k) at the first word",
  "circle size: relative to the word’s largest",
];
const LINES = { best: "line: the best j", sum: "line width: share of the sum" };

/** @type {[string, string, [number, number]][]} */
const MOVES = [
  ["◀", "the word before", [-1, 0]],
  ["▶", "the word after", [1, 0]],
  ["▲", "the tag above", [0, -1]],
  ["▼", "the tag below", [0, 1]],
];

/** @typedef {Pick<Model, "chain" | "results" | "T" | "K" | "messages"> & Partial<Pick<Model, "solved">>} Chained */

// The chain of the whole sentence and the position of word t in it: inputs of a window's first word precede the window.
/** @param {Chained} window @param {number} t @returns {[Chained, number]} */
function inSentence(window, t) {
  const { solved, edited, total, offset, K, messages } = /** @type {Model} */ (window);
  if (!solved) return [window, t];
  return [{ chain: edited, results: { ...solved, path: solved.rows.viterbi }, T: total, K, messages }, t + offset];
}

// All inputs of the cell (t, k): rows { tag, parts [before, transition, emission], sum }, the largest
// first. `tag` is null for START and END.
/** @param {Chained} window @param {string} kind @param {number} at @param {number} k @returns {Input[]} */
export function inputsOf(window, kind, at, k) {
  const [model, t] = inSentence(window, at);
  const { chain, results, T, K } = model;
  if (kind === "marginals") return [];
  if (kind === "z") return ranked(K, (j) => [results.alpha[(T - 1) * K + j], chain.end[j], null]);
  if (isMessage(model, kind)) {
    if (t === T - 1) return []; // no input after the last word
    return ranked(K, (j) => [messageInto(model, t, j), chain.emissions[t * K + j], transition(chain, t + 1, j, k)]);
  }
  if (kind === "beta") {
    if (t === T - 1) return [{ tag: null, name: "END", parts: [null, chain.end[k], null], sum: chain.end[k] }];
    return ranked(K, (j) => {
      const next = (t + 1) * K + j;
      return [results.beta[next], transition(chain, t + 1, k, j), chain.emissions[next]];
    });
  }
  const emission = chain.emissions[t * K + k];
  if (t === 0) {
    const sum = chain.start[k] + emission;
    return [{ tag: null, name: "START", parts: [null, chain.start[k], emission], sum }];
  }
  const before = kind === "best" ? results.best : results.alpha;
  return ranked(K, (j) => [before[(t - 1) * K + j], transition(chain, t, j, k), emission]);
}

// Whether α is the message to the next word, without its emission.
/** @param {Pick<Model, "messages">} model @param {string} kind */
function isMessage({ messages }, kind) {
  return messages && kind === "alpha";
}

// Returns the message into word t as tag k, before its emission.
/** @param {Chained} window @param {number} at @param {number} k */
export function messageInto(window, at, k) {
  const [{ chain, results, K }, t] = inSentence(window, at);
  const emission = chain.emissions[t * K + k];
  if (t === 0) return chain.start[k];
  if (emission > -Infinity) return results.alpha[t * K + k] - emission;
  const before = Array.from({ length: K }, (_, j) => results.alpha[(t - 1) * K + j] + transition(chain, t, j, k));
  return logSumExp(before);
}

/** @param {number} K @param {(tag: number) => Input["parts"]} parts */
function ranked(K, parts) {
  const rows = Array.from({ length: K }, (_, tag) => {
    const terms = parts(tag);
    return { tag, parts: terms, sum: Number(terms[0]) + Number(terms[1]) + Number(terms[2]) };
  });
  return rows.sort((a, b) => (b.sum === a.sum ? a.tag - b.tag : b.sum - a.sum));
}

// The sum over paths at temperature 1, the best path alone at 0, and everything between: τ log Σ exp(x / τ).
/** @param {number[]} sums @param {number} temperature */
export function combine(sums, temperature) {
  const largest = Math.max(...sums);
  if (temperature === 0 || largest === -Infinity) return largest;
  return temperature * logSumExp(sums.map((sum) => sum / temperature));
}

// Returns the share of each input at that temperature; shares sum to 1.
/** @param {number[]} sums @param {number} temperature */
export function sharesOf(sums, temperature) {
  const total = combine(sums, temperature);
  if (total === -Infinity) return sums.map(() => 0);
  if (temperature === 0) return sums.map((_, i) => (i === sums.indexOf(total) ? 1 : 0));
  return sums.map((sum) => Math.exp((sum - total) / temperature));
}

// The highlighted neighbours of a cell: { t, shares by tag }, or null.
/** @param {Chained} model @param {Reading} reading @param {number} t @param {number} k */
export function litOf(model, { kind, temperature }, t, k) {
  const inputs = inputsOf(model, kind, t, k);
  if (kind === "z" || inputs.length === 0 || inputs[0].tag === null) return null;
  const sums = inputs.map((input) => input.sum);
  const shares = sharesOf(sums, kind === "best" ? 0 : temperature);
  const byTag = new Map(inputs.map((input, i) => [Number(input.tag), shares[i]]));
  return { t: kind === "beta" ? t + 1 : t - 1, table: kind, shares: byTag };
}

// [t, from, to] of every predecessor that ties with the drawn backpointer.
/** @param {Chained} model */
export function tiesOf(model) {
  const { T, K, results } = model;
  /** @type {Model["ties"]} */
  const ties = [];
  for (let t = 1; t < T; t++) {
    for (let k = 0; k < K; k++) {
      const rows = inputsOf(model, "best", t, k);
      if (rows[0].sum === -Infinity) continue;
      const drawn = results.backpointers[t * K + k];
      const level = rows.filter(({ tag, sum }) => sum >= leastTie(rows[0].sum) && tag !== drawn);
      for (const { tag } of level) ties.push([t, Number(tag), k]);
    }
  }
  return ties;
}

// `read` gets { kind } or { temperature }; `move` gets a number of words and rows, because cells in low rows are hard
// to click.
/**
 * @param {Model} model
 * @param {(how: Partial<Reading>) => void} read
 * @param {(words: number, rows: number) => void} move
 */
export function buildInputs(model, read, move) {
  const spans = () => HEADS.best.map(() => html("span"));
  const title = html("div.side-title");
  const kinds = Object.entries(KINDS).map(([kind, label]) =>
    button(label, () => read({ kind }), { "data-kind": kind }),
  );
  const places = buildMoves(move);
  const formula = html("div.formula");
  const head = html("div.candidate.candidate-head", spans());
  const rows = [null, ...model.tags].map(() => html("div.candidate", spans()));
  const more = html("div.candidate-more");
  const slider = html("input", { type: "range", min: 0, max: 1, step: 0.01, "data-temperature": "" });
  set(slider, "aria-label", "temperature, from maximum (0) to sum (1)");
  slider.addEventListener("input", () => read({ temperature: Number(slider.value) }));
  const morph = html("label.morph", html("span", "max"), slider, html("span", "sum"));
  const values = html("div.values");
  const foot = html("div.side-note");
  const buttons = html("div.buttons", kinds, places.element);
  const list = html("div.ranked", { role: "group", "aria-label": "What goes into the cell" }, rows, more);
  const parts = [title, buttons, formula, head, list, morph, values, foot];
  const content = html("div", parts);
  const intro = html("div.intro");
  return {
    element: html("section.side-panel.candidates", { "aria-live": "polite" }, content, intro),
    /** @param {Model} next */
    update(next) {
      places.turn(next.rtl);
      mark(list, "tabindex", next.sizes?.flags.framed ? 0 : null); // for scrolling by keyboard
      present(content, next.open("cell") && isBegun(next));
      drawIntro(intro, next);
      const [t, k] = next.cell;
      const { kind, temperature } = next.reading;
      const inputs = inputsOf(next, kind, t, k);
      const sums = inputs.map((input) => input.sum);
      const shares = sharesOf(sums, kind === "best" ? 0 : temperature);
      const form = isMessage(next, kind) ? "message" : kind;
      setText(title, titleOf(next, form));
      for (const each of kinds) {
        set(each, "aria-pressed", each.dataset.kind === kind);
        each.disabled = next.walking && each.dataset.kind !== kind;
      }
      setText(formula, FORMULAS[form]);
      hide(head, inputs.length === 0);
      setTexts(head, HEADS[form]);
      const listed = inputs.length > next.sizes.listed ? next.sizes.listed - 1 : inputs.length;
      rows.forEach((row, i) => {
        drawInput(next, row, inputs[i], shares[i]);
        flag(row, { beyond: i >= listed });
      });
      hide(more, listed === inputs.length);
      setText(more, `… and ${inputs.length - listed} lower ones`);
      hide(morph, kind === "best" || inputs.length < 2);
      if (slider.value !== String(temperature)) slider.value = String(temperature);
      setText(values, valuesText(next, sums) + trainedText(next, kind, t * next.K + k));
      setText(foot, kind === "best" ? verdict(next, t, inputs) : "");
    },
  };
}

// Buttons from cell to cell; the next word's button is on the side of the reading direction.
/** @param {(words: number, rows: number) => void} move */
function buildMoves(move) {
  const every = MOVES.map(([label, name, by]) =>
    button(label, () => move(...by), { "data-move": by.join(), title: name, "aria-label": name }),
  );
  const [before, after, ...rest] = every;
  const element = html("div.moves", every);
  return {
    element,
    /** @param {boolean} rtl */
    turn(rtl) {
      if (!changed(element, rtl)) return;
      const sides = rtl ? [after, before] : [before, after];
      sides.forEach((each, i) => setText(each, MOVES[i][0]));
      element.replaceChildren(...sides, ...rest);
    },
  };
}

/** @param {Model} model */
function isBegun({ walking, steps }) {
  return !walking || Number(steps?.at) > 0;
}

// Describes the recurrence before the first step.
/** @param {HTMLElement} intro @param {Model} model */
function drawIntro(intro, model) {
  present(intro, model.open("cell") && !isBegun(model));
  const form = isMessage(model, model.reading.kind) ? "message" : model.reading.kind;
  if (!changed(intro, form)) return;
  const marks = [...MARKS, form === "best" ? LINES.best : LINES.sum];
  intro.replaceChildren(
    html("div.recurrence-title", "Recurrence"),
    ...(RECURRENCES[form] ?? []).map((line) => html("div.recurrence", line)),
    html("ul.marks-list", ...marks.map((each) => html("li", each))),
  );
}

/** @param {Model} model @param {HTMLElement} row @param {Input | undefined} input @param {number} share */
function drawInput({ cell: [t, k], reading: { kind }, tags, colours, results, K, offset }, row, input, share) {
  hide(row, !input);
  if (!input) return;
  setProperty(row, "--tag", input.tag === null ? "currentColor" : colours[input.tag]);
  setProperty(row, "--share", kind === "best" ? "0%" : percent(share, 1));
  const parts = input.parts.map((part) => (part === null ? "" : score(part, 2)));
  const name = input.tag === null ? String(input.name) : tags[input.tag];
  setTexts(row, [name, ...parts, score(input.sum, 2)]);
  set(row.children[0], "title", name);
  flag(row, { winner: kind === "best" && (t + offset === 0 || input.tag === results.backpointers[t * K + k]) });
  set(row, "title", `${(100 * share).toFixed(2)} % of the sum`);
}

/** @param {HTMLElement} row @param {string[]} texts */
function setTexts(row, texts) {
  texts.forEach((text, i) => setText(row.children[i], text));
}

/** @param {Model} model @param {string} form */
function titleOf({ words, tags, total, offset, cell: [t, k] }, form) {
  if (form === "z") return "Z";
  if (form !== "message") return `${tags[k]} at “${words[t]}”`;
  return t + offset === total - 1 ? `“${words[t]}”` : `“${words[t]}” to ${tags[k]} at “${words[t + 1] ?? "…"}”`;
}

/** @param {Model} model @param {number[]} sums */
function valuesText(model, sums) {
  const { kind, temperature } = model.reading;
  const [t, k] = model.cell;
  if (sums.length === 0 && isMessage(model, kind)) return "The last word passes nothing on: here Z is read.";
  if (kind === "marginals") return marginalText(model, t, k);
  if (kind === "best")
    return `best(${t + model.offset + 1}, ${model.tags[k]}) = ${score(model.results.best[t * model.K + k], 4)}`;
  /** @param {number} warmth */
  const at = (warmth) => score(combine(sums, warmth), 4);
  const between = temperature > 0 && temperature < 1 ? `  ·  τ = ${temperature.toFixed(2)}: ${at(temperature)}` : "";
  return `log Σ exp = ${at(1)}  ·  max = ${at(0)}${between}`;
}

// Returns the value of the cell before the edits.
/** @param {Model} model @param {string} kind @param {number} i */
function trainedText(model, kind, i) {
  const before = isMessage(model, kind) ? undefined : model.ghost?.[/** @type {keyof Tables} */ (kind)]?.[i];
  if (before === undefined) return "";
  return `\ntrained ${kind === "marginals" ? before.toPrecision(6) : score(before, 4)}`;
}

/** @param {Model} model @param {number} t @param {Input[]} inputs */
function verdict(model, t, [first, second]) {
  if (t + model.offset === 0) return "The first word has no backpointer: start + emission.";
  if (!second) return "";
  if (first.sum === -Infinity) return "Every way into this tag is forbidden.";
  const [winner, runnerUp] = [first, second].map(({ tag }) => model.tags[Number(tag)]);
  if (second.sum >= leastTie(first.sum))
    return `${winner} and ${runnerUp} tie: the lower tag id keeps the backpointer.`;
  if (second.sum === -Infinity) return `${winner} is the only way into this tag.`;
  return `${winner} wins, ${(first.sum - second.sum).toFixed(2)} ahead of ${runnerUp}.`;
}
