// Backend for files without a server: stores the reader's edits, and answers each event with recomputed numbers.
// Numbers that only Python can compute are left out.
//
// `data` is that of crfviz/views/exports/live.py.

import { isRightToLeft } from "../../stage/web/direction.js";
import { movesText, numberText, placesText, scoresText } from "../../stage/web/link_text.js";
import { applyEdits, chainOf, editsOf, nameOf, solveUnder, underRule } from "../../stage/web/model.js";
import { minus, numbersOf, probability, score } from "../../stage/web/numbers.js";
import { logSumExp, solve } from "../../stage/web/recursions.js";
import { LIVE, withEvent } from "../../stage/web/stage/compose.js";
import { lengthOf, opensAt } from "../../stage/web/stage/visibility.js";
import { windowed } from "../../stage/web/windows.js";
import { entropyNote, explain } from "./explanation.js";

const GIVEN = "Only paths that match the rule count.";
const AS_KEPT = "Before your changes in this file:";
const MAX_MOVED = 3; // words in a note
const VIEWS = ["nodes", "panel", "sweep"]; // page options that are stored unchecked
const LOG = "log"; // the display of best, α and β as they are computed
const KINDS = { probability: "exponent", normalised: "probability" }; // of tables in the other displays
const SUFFIXES = { probability: "exp of the log", normalised: "each column sums to 1" };
const TABLES = ["alpha", "beta", "best", "marginals"];
const OUTLINED = { emissions: "greedy", marginals: "max_marginal", best: "viterbi" }; // path by table

export class LocalBackend {
  // `turned` is called after another page was opened, `beyond` with a message beyond the first and the last page.
  constructor(data, { turned, beyond }) {
    Object.assign(this, { turned, beyond });
    this.become({ data, edits: editsOf(data.edits, data) });
    this.opened = this.edits;
    [this.past, this.future] = [[], []];
    this.ack = 0;
    this.covered = data.covered;
    this.direction = data.direction ?? "";
    this.views = new Map(data.pages.map(({ id }) => [id, {}]));
    this.at = data.opens;
    if (data.step !== null) this.view.step = data.step;
  }

  get page() {
    return this.data.pages.find(({ id }) => id === this.at);
  }

  get view() {
    return this.views.get(this.at);
  }

  get edited() {
    const { transitions, emissions, strength } = this.edits;
    return transitions.size + emissions.size > 0 || strength !== 1;
  }

  // Whether the scores are those of the page that Python computed.
  get isAsKept() {
    return this.edits === this.opened;
  }

  get chain() {
    const { trained, K } = this;
    return applyEdits({ base: trained, offset: 0, tags: this.data.tags, K, pins: this.data.pins }, this.edits);
  }

  // Applies the new events.
  take(events) {
    for (const event of events) {
      if (event.seq <= this.ack) continue;
      this.ack = event.seq;
      this.apply(inSentence(event));
    }
  }

  apply(event) {
    const { kind, value } = event;
    if (LIVE.has(kind)) this.change(withEvent(this.edits, event, this.data));
    else if (kind === "undo") this.travel(this.past, this.future);
    else if (kind === "redo") this.travel(this.future, this.past);
    else if (kind === "step") this.step(value);
    else if (kind === "cover") this.covered = event.parts;
    else if (kind === "view") this.look(event.name, value);
    else if (kind === "page") this.turn(value === "next" ? 1 : -1);
  }

  // One step of undo; `data` is that of another sentence.
  change(edits, data = this.data) {
    this.past.push(this.state);
    this.future = [];
    this.become({ data, edits });
  }

  travel(from, to) {
    if (!from.length) return;
    to.push(this.state);
    this.become(from.pop());
  }

  get state() {
    const { data, edits } = this;
    return { data, edits };
  }

  become({ data, edits }) {
    this.edits = edits;
    if (data === this.data) return;
    if (this.data) for (const view of this.views.values()) forgetWords(view);
    const [T, K] = [data.words.length, data.tags.length];
    Object.assign(this, { data, T, K, first: 0, drawn: Math.min(T, data.window) });
    this.trained = data.chain ?? chainOf(data.trained, T, K);
    this.before = data.solved ?? solve(this.trained);
  }

  // As in Python: 0 is where the page opens, "start" before the first step.
  step(value) {
    const { view, page } = this;
    view.step = value === "start" ? 0 : value || opensAt(page.walk, this.drawn);
    view.chosen = null;
  }

  look(name, value) {
    if (VIEWS.includes(name)) this.view[name] = value;
    else if (name === "from") this.first = Number(value);
    else if (name === "folded") this.view.folding = value;
    else if (name === "direction") this.direction = value === "auto" ? "" : value;
    else if (name === "chosen") {
      const [t, tag] = value.split(" ");
      this.view.chosen = [Number(t), this.data.tags.indexOf(decodeURIComponent(tag))];
    }
  }

  turn(by) {
    const pages = this.data.pages.filter(({ picture }) => picture);
    const next = pages[pages.findIndex(({ id }) => id === this.at) + by];
    if (next) this.open(next.id);
    else this.beyond(by);
  }

  open(id) {
    this.at = id;
    this.turned();
  }

  // The decoded payload of the stage.
  payload() {
    const { data, page, view, T, K, trained } = this;
    const changed = this.edited || data.pins.length > 0;
    const before = this.reference;
    const edited = this.chain;
    const now = changed ? this.solved(edited) : before;
    const possible = now.logPartition !== -Infinity;
    const walk = possible || !page.lost ? page.walk : page.lost;
    const all = {
      ...page.picture,
      ...{ T, K, offset: 0, total: T, base: trained, trained, edited, walk },
      solved: this.drawn < T ? now : null,
      words: data.words,
      tags: data.tags,
      colours: data.colours,
      pins: data.pins,
      probabilistic: data.probabilistic,
      margin: changed ? null : data.margin,
      ack: this.ack,
      alone: true,
      perStep: data.trained ? Boolean(data.trained.steps) : trained.transitions.length > K * K,
      edits: this.edits,
      results: { ...now, path: now.rows.viterbi },
      ghost: changed ? ghostOf(before) : null,
      rows: ((changed && page.editedRows) || page.rows).map((row) => this.row(row, now, changed)),
      tables: this.templates.map((table) => this.table(table, now, changed)),
      legend: changed ? page.editedLegend : page.picture.legend,
      note: this.note(now, changed),
      step: Math.min(view.step ?? opensAt(walk, this.drawn), lengthOf(walk, this.drawn)),
      nodes: view.nodes ?? "",
      panel: view.panel ?? "",
      folding: view.folding ?? "",
      rtl: isRightToLeft(data.words),
      direction: this.direction,
      chosen: view.chosen ?? null,
      covered: this.covered,
      ...NOT_HERE,
    };
    return all.solved ? windowed(all, { offset: this.first, T: this.drawn }) : all;
  }

  // Whether only the paths that match the active rule count.
  get counts() {
    return Boolean(this.data.kept) && this.at === "marginals";
  }

  solved(chain) {
    return this.counts ? solveUnder(chain, this.data) : solve(chain);
  }

  // The numbers before the edits.
  get reference() {
    return this.counts ? this.solved(this.trained) : this.before;
  }

  row(row, now, changed) {
    if (this.page.note === "kept") return row;
    if (row.id === "log_z") return { ...row, tags: null, texts: this.sums(now).map((sum) => score(sum, 4)) };
    if (row.id === "rule") return underRule(row, this.chain, this.data, now.score);
    if (row.id === "viterbi_trained") return { ...row, tags: this.before.rows.viterbi };
    if (!(row.id in now.rows)) return row; // gold
    const trained = changed ? { trained: this.reference.rows[row.id] } : {};
    return { ...row, ...trained, tags: now.rows[row.id] };
  }

  // The display of best, α and β: log, probability or normalised.
  get display() {
    const { sweep } = this.view;
    return this.page.displays && sweep in KINDS ? sweep : LOG;
  }

  // Viterbi's scores are a table only where they are drawn as other numbers.
  get templates() {
    const { tables } = this.page.picture;
    return this.at === "viterbi" && this.display !== LOG ? [...tables, BEST] : tables;
  }

  table(table, now, changed) {
    const { name } = table;
    const outlined = table.framed ? now.rows[OUTLINED[name]] : null;
    if (!TABLES.includes(name)) return { ...table, outlined };
    const values = this.displayed(now[name]);
    const trained = changed ? { trained: this.displayed(this.reference[name]) } : {};
    return { ...table, outlined, values, ...trained, ...this.format(table, values) };
  }

  // A table of logs in the display of the page.
  displayed(logs) {
    if (this.display === LOG) return logs;
    const { K } = this;
    const sums = this.display === "probability" ? null : columnsOf(logs, K).map(logSumExp);
    return logs.map((value, i) => Math.exp(value - (sums ? Math.max(sums[Math.floor(i / K)], -1e300) : 0)));
  }

  format(table, values) {
    const { display } = this;
    if (display === LOG) return {};
    const largest = values.reduce((most, value) => (Number.isFinite(value) ? Math.max(most, value) : most), 1);
    const label = table.label.replace(/; log, nats$/, `; ${SUFFIXES[display]}`);
    return { kind: KINDS[display], digits: 2, scale: display === "normalised" ? 1 : largest, label };
  }

  // log Z, computed at each word.
  sums({ alpha, beta }) {
    const at = (t) => logSumExp(Array.from({ length: this.K }, (_, k) => alpha[t * this.K + k] + beta[t * this.K + k]));
    return Array.from({ length: this.T }, (_, t) => at(t));
  }

  note(now, changed) {
    const { data, trained } = this;
    const { words, tags } = data;
    const state = { chain: changed ? this.chain : trained, words, tags, solved: now };
    const { note } = this.page;
    if (note === "given") return this.page.picture.note;
    if (note === "kept") return [this.isAsKept ? "" : AS_KEPT, this.page.picture.note].join(" ").trim();
    if (note === "sweeps") return this.sweepNote(now);
    if (note === "entropy") return this.counts ? `${GIVEN} ${entropyNote(state)}` : entropyNote(state);
    if (note === "edits" && changed) return this.editNote(now);
    return note === "none" ? "" : explain(state);
  }

  sweepNote(now) {
    if (now.logPartition === -Infinity)
      return "No tag sequence is allowed: Z is 0 however it is read, and log Z is −∞.";
    const { chain, T } = this;
    const fromBeta = logSumExp(chain.start.map((start, k) => start + chain.emissions[k] + now.beta[k]));
    const readings = [fromBeta, ...this.sums(now)];
    const gap = Math.max(...readings.map((reading) => Math.abs(reading - now.logPartition)));
    const [alpha, beta] = [now.logPartition, fromBeta].map((value) => score(value, 9));
    const deviation = gap ? minus(gap.toExponential(0)) : "0";
    return `log Z from α ${alpha}, from β ${beta}, and at each of the ${T} words: largest deviation ${deviation}.`;
  }

  // As explain_edits says it.
  editNote(now) {
    const [old, path] = [this.before.rows.viterbi, now.rows.viterbi];
    if (!path) return "No tag sequence is allowed. Undo an edit, or restore a forbidden cell.";
    if (!old) return "";
    const { words, tags } = this.data;
    const change = `p(best path) ${probability(bestShare(this.before))} → ${probability(bestShare(now))}`;
    const moved = path.flatMap((k, t) => (k === old[t] ? [] : [`“${words[t]}” ${tags[old[t]]} → ${tags[k]}`]));
    if (!moved.length) return `The best path stays as it was; ${change}.`;
    const more = moved.length > MAX_MOVED ? ` and ${moved.length - MAX_MOVED} more` : "";
    return `The best path changes at ${moved.slice(0, MAX_MOVED).join(", ")}${more}; ${change}.`;
  }

  // The edited cells by name, each with its score.
  get named() {
    const { data, edits } = this;
    const all = (cells, names) => Array.from(cells, ([cell, value]) => [names(...numbersOf(cell)), value]);
    return {
      moves: all(edits.transitions, (from, to) => [nameOf(data, from), nameOf(data, to)]),
      places: all(edits.emissions, (t, k) => [t, data.tags[k]]),
    };
  }

  // The edits as payloads have them.
  plainEdits() {
    const { moves, places } = this.named;
    const plain = ([names, value]) => [...names, value === -Infinity ? null : value];
    return { transitions: moves.map(plain), emissions: places.map(plain), strength: this.edits.strength };
  }

  // The query of this screen's link, in the form of crfviz/ui/state/link.py; `first` are its first parameters.
  query(first = this.data.origin.params) {
    const { strength } = this.edits;
    const { moves, places } = this.named;
    const { step } = this.view;
    const { walk } = this.page;
    const opens = walk && opensAt(walk, this.drawn);
    const parts = {
      ...first,
      k: strength === 1 ? "" : numberText(strength),
      t: movesText(moves),
      e: scoresText(places),
      p: placesText(this.data.pins),
      step: step === undefined || step === opens ? "" : String(step || "start"),
      "v.sweep": this.display === LOG ? "" : this.display,
      "v.direction": this.direction,
    };
    return new URLSearchParams(Object.entries(parts).filter(([, value]) => value !== "")).toString();
  }
}

// Viterbi's table in a display other than log; the nodes have its numbers.
const BEST = { name: "best", label: "", scale: 1, digits: 2, kind: "exponent", editable: false, framed: false };

function columnsOf(table, K) {
  return Array.from({ length: table.length / K }, (_, t) => table.subarray(t * K, (t + 1) * K));
}

// Fields that only Python can compute are empty here.
const NOT_HERE = {
  overview: null,
  asks: "",
  asked: null,
  ruler: null,
  marks: [],
  constrained: null,
  terms: null,
  entity: null,
  pile: null,
  gradient: null,
};

// Options of a page's view that name words of the old sentence.
function forgetWords(view) {
  delete view.step;
  delete view.chosen;
}

// With positions from the first word of the sentence instead of the window.
function inSentence({ offset, ...event }) {
  if (!offset) return event;
  if ("position" in event) return { ...event, position: event.position + offset };
  if (event.name !== "chosen") return event;
  const [t, tag] = event.value.split(" ");
  return { ...event, value: `${Number(t) + offset} ${tag}` };
}

function ghostOf(before) {
  const { logPartition } = before;
  const finite = logPartition === -Infinity ? null : logPartition;
  return { ...before, path: before.rows.viterbi, probability: bestShare(before), log_partition: finite };
}

// The probability of the best path.
function bestShare({ score: best, logPartition }) {
  return logPartition === -Infinity ? 0 : Math.exp(Math.min(0, best - logPartition));
}
