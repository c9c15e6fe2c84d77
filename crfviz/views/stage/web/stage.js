// The live stage: entry point of the component. Streamlit calls the default export at the first draw and again with
// every new payload; what must survive in between lives in a Stage, one per mounted element.
//
// A change made here is drawn at once from this side's own recursions, sent to Python, and drawn again from Python's
// numbers when they arrive: Python is the truth. `data-rev` grows by one after each finished redraw; `data-source` is
// "python" when Python has answered every change of numbers, else "live".

import { buildGradient, buildMatrix, buildTable } from "./cells.js";
import { buildCell, KINDS, litOf, tiesOf } from "./cell.js";
import { html, mark, set, setProperty, setText } from "./dom.js";
import { makeEditable } from "./editing.js";
import { buildEntity, buildSpans } from "./entity.js";
import { buildLattice } from "./lattice.js";
import { applyEdits, decode, END, shownTags, solveLive, START, weight } from "./model.js";
import { precise, preciseProbability, probability, readProbability, readScore, score } from "./numbers.js";
import { Outbox } from "./outbox.js";
import { buildBars, buildControls, buildStepper } from "./panels.js";
import { makeRoving } from "./roving.js";
import { buildStrips, drawColumns } from "./strips.js";
import { buildRuler, buildTerms } from "./terms.js";

const stages = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  if (!stages.has(parentElement)) stages.set(parentElement, new Stage(parentElement));
  const stage = stages.get(parentElement);
  stage.outbox.send = (events) => setTriggerValue("events", events);
  try {
    stage.receive(decode(data));
  } catch (error) {
    reportError(error); // for the console; who reads the page gets words
    stage.fail();
  }
  // Streamlit also calls this when two payloads come so close together that it drops the first: then the stage stays.
  return () => setTimeout(() => {
    if (parentElement.isConnected) return;
    stage.close();
    stages.delete(parentElement);
  });
}

class Stage {
  constructor(parent) {
    this.root = html("div", { "data-stage": "", "data-rev": 0, tabindex: "-1" });
    parent.append(this.root);
    this.noteHeight = 0; // pixels
    this.outbox = new Outbox();
    this.preview = null; // the event under the hand right now, not sent yet
    this.unfolded = false;
    this.cell = null; // [word, tag] that the side panels speak of
    this.survivor = null;
    this.into = 1; // the word into which the matrix shows the step, where each step has its own
    this.reading = null; // how the side panel reads the cell: { kind, temperature }
    this.keydown = (event) => this.onKey(event);
    document.addEventListener("keydown", this.keydown);
    this.resizing = new ResizeObserver(() => this.onResize());
    this.resizing.observe(this.root);
  }

  close() {
    document.removeEventListener("keydown", this.keydown);
    this.resizing.disconnect();
    this.outbox.close();
    clearTimeout(this.stepTimer);
    clearTimeout(this.weightTimer);
    clearTimeout(this.askTimer);
  }

  // Words instead of a picture; the next payload builds it anew.
  fail() {
    this.payload = null;
    const text = "This picture could not be drawn. Your sentence and edits are kept: reload the page, or undo the last edit on the left.";
    this.root.replaceChildren(html("div", { class: "message", "data-problem": "true", role: "alert", text }));
  }

  // -- data in ---------------------------------------------------------------------------------------------------

  receive(payload) {
    const another = !this.payload || shapeOf(payload) !== shapeOf(this.payload);
    this.payload = payload;
    this.outbox.acknowledge(payload.ack);
    if (!this.stepTimer && !this.outbox.unanswered.some((event) => event.kind === "step")) this.step = payload.step;
    if (another) {
      this.cell = null;
      this.survivor = null;
      this.preview = null;
      this.message = null;
    }
    this.compose();
    if (another) this.build();
    this.draw();
    // A page that takes no questions was opened at this word by a link.
    if (another && payload.asked && !payload.asks) this.bringIntoSight(payload.asked[0]);
  }

  // The model to draw: the payload, with edits that Python has not seen yet on top.
  compose() {
    const { payload } = this;
    const { unanswered } = this.outbox;
    const unseen = [...unanswered, this.preview].filter((event) => LIVE.has(event?.kind));
    const live = unseen.length > 0;
    const waiting = live || unanswered.some((event) => PYTHONS.has(event.kind));
    const edits = unseen.reduce((known, event) => withEvent(known, event, payload), payload.edits);
    const { T } = payload;
    const model = { ...payload, edits, live, waiting };
    model.chain = payload.trained && applyEdits(payload, edits);
    if (live) {
      model.results = { ...payload.results, ...solveLive(model) };
      model.rows = payload.rows.map((row) => (row.id in model.results.rows ? { ...row, tags: model.results.rows[row.id], trained: row.trained ?? (payload.ghost ? null : row.tags) } : row));
      model.ghost = payload.ghost ?? { path: payload.results.path, marginals: payload.results.marginals };
    }
    const kept = live ? this.model?.shown : undefined;
    model.shown = this.unfolded ? new Set(payload.tags.keys()) : shownTags(model, kept);
    model.message = this.message;
    model.inSight = this.preview ? this.columnsInSight(T) : { from: 0, to: T };
    model.into = Math.max(1, Math.min(payload.T - 1, this.into));
    model.weightOf = (from, to) => weight(model.chain, model.tags, from, to, model.into);
    this.model = model;
    this.addSelection(model);
  }

  // The words that are not scrolled away: while something is being dragged, the others can wait.
  columnsInSight(T) {
    const { scrollLeft, clientWidth } = this.scroller;
    const column = parseFloat(this.root.style.getPropertyValue("--column"));
    return { from: Math.floor(scrollLeft / column), to: Math.min(T, Math.ceil((scrollLeft + clientWidth) / column)) };
  }

  // Scrolls a long sentence so that word t is in the middle, if it is not in sight.
  bringIntoSight(t) {
    const { scrollLeft, clientWidth } = this.scroller;
    const [column, label] = ["--column", "--label"].map((name) => parseFloat(this.root.style.getPropertyValue(name)));
    const [left, room] = [t * column, clientWidth - label];
    if (left < scrollLeft || left + column > scrollLeft + room) this.scroller.scrollTo({ left: left - room / 2 });
  }

  // What is pointed at and where the walk stands.
  addSelection(model) {
    const { T, K, results } = model;
    model.revealed = { columns: T, from: 0 }; // columns computed so far; the path is known from that word on
    const last = 2 * T;
    const at = this.step > 0 && this.step < last ? this.step : last;
    if (model.panels.stepper) {
      const column = at === last ? (this.cell?.[0] ?? T - 1) : at <= T ? at - 1 : last - at;
      if (!this.cell || this.cell[0] !== column || column >= T) this.cell = [column, this.tagAt(model, column)];
      model.stepping = { at, of: last, text: stepText(model, at) };
      if (at !== last) model.revealed = { columns: Math.min(at, T), from: at <= T ? T : last - at };
      model.ties = tiesOf(model);
    }
    const path = results.path ?? model.rows[0]?.tags ?? [];
    model.cell = this.cell && this.cell[0] < T && this.cell[1] < K ? this.cell : [Math.min(1, T - 1), path[Math.min(1, T - 1)] ?? 0];
    model.survivor = this.survivor && survivorOf(model, ...this.survivor);
    this.reading ??= { kind: model.panels.stepper ? "best" : "alpha", temperature: 1 };
    model.reading = this.reading;
    model.lit = model.panels.side === "cell" ? litOf(model, this.reading, ...model.cell) : null;
  }

  tagAt({ results, T, K }, t) {
    if (results.path) return results.path[t];
    let best = 0;
    for (let k = 1; k < K; k++) if ((results.best ?? results.marginals)[t * K + k] > (results.best ?? results.marginals)[t * K + best]) best = k;
    return best;
  }

  // -- building and drawing --------------------------------------------------------------------------------------

  build() {
    const { model } = this;
    const { panels } = model;
    this.parts = [];
    const add = (part) => (this.parts.push(part), part.element);
    this.identity = html("div", { class: "identity" });
    this.fold = html("button", { type: "button", class: "fold" });
    this.fold.addEventListener("click", () => {
      this.unfolded = !this.unfolded;
      this.refresh();
    });
    const bar = html("div", { class: "topline" }, [this.identity, this.fold]);
    const heads = model.words.map((word) => html("div", { class: "word", dir: "auto", title: word }, [html("span", { text: word })]));
    this.heading = html("div", { class: "label" });
    const words = html("div", { class: "row words" }, [this.heading, ...heads]);
    const columns = [words];
    this.note = html("div", { class: "note", role: "status" });
    this.lattice = null;
    for (const panel of panels.main) {
      if (panel === "strips") columns.push(add(buildStrips(model)));
      else if (panel === "lattice") columns.push(add((this.lattice = buildLattice(model, null, { onPoint: (...point) => this.onPoint(...point) }))));
      else if (panel === "spans") columns.push(add(buildSpans(model, heads, (span) => this.onSpan(span))));
      else columns.push(add(buildTable(model, panel)));
    }
    for (const element of columns) {
      element.addEventListener("pointerover", (event) => this.onCellPoint(event));
      element.addEventListener("focusin", (event) => this.onCellPoint(event));
      element.addEventListener("click", (event) => this.onCellPoint(event));
    }
    this.scroller = html("div", { class: "scroller", tabindex: "0", "aria-label": "The sentence, a column per word" }, columns);
    const side = this.buildSide(add);
    const main = html("div", { class: "main" }, [this.scroller]);
    if (panels.stepper) main.append(add(buildStepper(model, (by) => this.go(by))));
    this.legend = html("div", { class: "legend" });
    this.body = html("div", { class: "body", "data-side": panels.side ?? "none" }, panels.side === "matrix" ? [side, main] : side ? [main, side] : [main]);
    const below = panels.side === "gradient"; // so far down that the note would be out of sight
    this.root.replaceChildren(...(below ? [bar, this.note, this.body, this.legend] : [bar, this.body, this.note, this.legend]));
    this.root.querySelectorAll(".matrix").forEach((matrix) => {
      makeEditable(matrix, "[data-cell]", this.cellHooks());
      matrix.addEventListener("focusin", (event) => this.onWeight(event.target.dataset?.cell));
      matrix.addEventListener("focusout", () => clearTimeout(this.weightTimer)); // a question now would overtake a click on a link
    });
    this.root.querySelectorAll(".heat").forEach((table) => {
      const editable = table.querySelector("[data-table=emissions]");
      if (editable) makeEditable(table, "[data-table]", this.cellHooks());
      else readWithArrows(table, "[data-table]");
    });
    this.root.querySelectorAll(".below .matrix").forEach((matrix) => readWithArrows(matrix, "[data-weight]"));
  }

  buildSide(add) {
    const { model } = this;
    const { side } = model.panels;
    if (side === "cell") return html("div", { class: "side" }, [add(buildCell(model, { read: (how) => this.onRead(how) }))]);
    if (side === "terms") return html("div", { class: "side" }, [add(buildTerms(model))]);
    if (side === "entity") return html("div", { class: "side" }, [add(buildEntity(model, (span) => this.onSpan(span)))]);
    if (side === "bars") return html("div", { class: "side" }, [add(buildBars(model))]);
    if (side === "gradient") {
      const parts = [["weights (nats)", buildMatrix(model, (by) => this.stepInto(this.model.into + by))], ["observed − expected counts: the gradient of log p(right tags)", buildGradient(model)]];
      return html("div", { class: "side below" }, parts.map(([title, part]) => html("section", {}, [html("div", { class: "caption", text: title }), add(part)])));
    }
    if (side !== "matrix") return null;
    const controls = buildControls(model, {
      strength: (value, done, clear) => this.onStrength(value, done, clear),
      preset: (kind) => this.emit({ kind }),
      constrained: () => this.emit({ kind: "constrained", value: !this.payload.constrained }),
    });
    return html("div", { class: "side" }, [add(buildMatrix(model, (by) => this.stepInto(this.model.into + by))), add(buildRuler()), add(controls)]);
  }

  draw() {
    const { model } = this;
    setText(this.note, model.live ? "…" : model.note);
    mark(this.note, "hidden", !model.note);
    if (!model.live) this.noteHeight = this.heightOfNote();
    this.arrange();
    for (const part of this.parts) part.update(model);
    setText(this.identity, model.title ?? identityLine(model));
    if (model.heading.length) drawColumns(this.heading, model.heading);
    const folded = model.K - model.shown.size;
    mark(this.fold, "hidden", folded === 0 && !this.unfolded);
    setText(this.fold, this.unfolded ? "fold tags without mass" : `${folded} tags with no mass folded: show`);
    setText(this.legend, this.problem(model) ?? model.legend);
    mark(this.legend, "data-problem", Boolean(this.problem(model)));
    set(this.root, "data-source", model.waiting ? "live" : "python");
    set(this.root, "data-rev", Number(this.root.dataset.rev) + 1);
  }

  // What is wrong with a score just typed; beside the matrix it stands under the matrix.
  problem(model) {
    return model.panels.side === "matrix" ? null : model.message;
  }

  // In pixels, with its margins; it has one line or more.
  heightOfNote() {
    return this.note.hidden ? 0 : this.note.offsetHeight + 10;
  }

  // Sizes follow the room there is: all words side by side down to a least width, all rows above the fold of the page.
  arrange() {
    const { model } = this;
    const { main } = model.panels;
    const below = model.panels.side === "gradient";
    const side = below ? null : model.panels.side;
    const width = this.root.clientWidth || 960;
    const shown = model.shown.size;
    const tight = side && (width - 500) / model.T < 64;
    const half = Math.max(22, Math.min(38, Math.floor((width / 2 - 70) / (shown + 1))));
    const matrixCell = below ? half : Math.max(26, Math.min(shown <= 9 ? 38 : tight ? 27 : 32, Math.floor((0.47 * width - 56) / (shown + 1))));
    const sideWidth = side === "matrix" ? Math.max(LEAST_MATRIX, 56 + (shown + 1) * matrixCell) : side && side !== "entity" ? 286 : 0;
    const letters = Math.max(0, ...model.rows.map((row) => [row.label, row.value].filter(Boolean).join("  ").length));
    const named = Math.max(tight ? 84 : side ? 104 : 112, Math.min(150, tight ? 5.3 * letters : 10 + 7 * letters));
    const label = model.heading.length ? 55 * model.heading.length : named;
    const room = width - sideWidth - (sideWidth ? 16 : 0) - label - 2;
    const column = Math.floor(Math.max(side ? 40 : 50, Math.min(150, room / model.T)));
    const longest = Math.max(...model.words.map((word) => word.length));
    const wordSize = Math.max(13, Math.min(20, (column - 6) / (0.58 * longest)));
    const lattice = main.includes("lattice");
    const tables = main.filter((name) => !["strips", "lattice", "spans"].includes(name)).length;
    const rows = shown + (lattice && shown < model.K ? 1 : 0);
    const top = this.root.getBoundingClientRect().top + window.scrollY;
    const { compact } = model.panels;
    const [strip, plain] = compact ? [26, 20] : [model.heading.length ? 25 : 31, 22];
    const strips = main.includes("strips") ? model.rows.reduce((sum, row) => sum + (row.texts ? plain : strip), 0) : 0;
    const free = window.innerHeight - top - BELOW - 66 - strips - this.noteHeight - (model.panels.stepper ? 46 : 0) - (model.legend ? 20 : 0) - tables * 24 - (below ? 70 + 21 * (shown + 1) : 0);
    mark(this.body, "data-tall", model.heading.length > 0);
    setProperty(this.root, "--tall", `${Math.max(200, free + strips + 60)}px`);
    const [least, most] = compact ? (lattice ? [14, 22] : [18, 21]) : lattice ? [below ? 18 : 22, shown <= FEW_ROWS ? 64 : 36] : tables > 1 ? [17, 32] : [21, 32];
    const ideal = compact && lattice ? (window.innerHeight - TWICE) / 2 / rows : free / (lattice ? rows : shown * tables || 1);
    const row = Math.floor(Math.max(least, Math.min(most, ideal)));
    const shape = [model.T, label, column, row, matrixCell, sideWidth, [...model.shown].join()].join();
    if (shape === this.shape && this.lattice === this.placed) return;
    this.shape = shape;
    this.placed = this.lattice;
    for (const [name, value] of Object.entries({ label, column, row, strip, plain, matrix: matrixCell, side: sideWidth, letters: wordSize })) {
      setProperty(this.root, `--${name}`, `${value}px`);
    }
    setProperty(this.root, "--words", model.T);
    mark(this.root, "data-narrow", column < 64);
    mark(this.root, "data-compact", Boolean(compact));
    mark(this.root, "data-roomy", column >= 100);
    const order = [...model.shown].sort((a, b) => a - b);
    const rowOf = Array.from({ length: model.K }, (_, k) => (model.shown.has(k) ? order.indexOf(k) : shown));
    this.lattice?.place(model, { label, column, row, rowOf, rows });
  }

  refresh() {
    this.compose();
    this.draw();
  }

  onResize() {
    const note = this.parts && !this.model.live && this.heightOfNote() !== this.noteHeight; // the style sheet has come
    if (this.parts && (note || this.root.clientWidth !== this.width)) {
      this.width = this.root.clientWidth;
      this.draw();
    }
  }

  // -- the user's hand -------------------------------------------------------------------------------------------

  cellHooks() {
    return {
      value: (cell) => this.valueOf(cell, this.model.chain),
      text: (cell) => (this.asProbability(cell) ? preciseProbability : precise)(this.valueOf(cell, this.model.chain)),
      read: (cell, typed) => (this.asProbability(cell) ? readProbability : readScore)(typed),
      preview: (cell, value) => {
        if (value === undefined) this.preview = null;
        else this.preview = this.eventOf(cell, value);
        this.message = null;
        this.schedule();
      },
      commit: (cell, value) => {
        this.preview = null;
        this.message = null;
        this.emit(this.eventOf(cell, value));
      },
      complain: (text) => {
        this.message = text;
        this.refresh();
      },
    };
  }

  // At most one redraw a frame while something is being dragged.
  schedule() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.refresh();
    });
  }

  valueOf(cell, chain) {
    if (cell.dataset.cell) return weight(chain, this.payload.tags, ...cell.dataset.cell.split(","), this.model.into);
    return chain.emissions[cell.dataset.t * this.payload.K + Number(cell.dataset.k)];
  }

  // The event that sets a cell to `value`; back at the trained value (or null) it is a restore.
  eventOf(cell, value) {
    const many = this.payload.perStep && this.betweenWords(cell); // an edit holds at every step, and they differ
    const plain = value === null || (!many && value === this.valueOf(cell, this.payload.trained));
    const score_ = value === -Infinity ? null : value;
    if (cell.dataset.cell) {
      const [from, to] = cell.dataset.cell.split(",");
      return plain ? { kind: "restore", from, to } : { kind: "transition", from, to, score: score_ };
    }
    const [position, tag] = [Number(cell.dataset.t), this.payload.tags[cell.dataset.k]];
    return plain ? { kind: "restore", position, tag } : { kind: "emission", position, tag, score: score_ };
  }

  asProbability(cell) {
    if (cell.dataset.cell) return this.payload.display === "probability";
    return this.payload.tables.find((table) => table.name === cell.dataset.table).kind !== "score";
  }

  betweenWords(cell) {
    const [from, to] = (cell.dataset.cell ?? "").split(",");
    return to !== undefined && from !== START && to !== END;
  }

  // The matrix shows the step into word t.
  stepInto(t) {
    this.into = Math.max(1, Math.min(this.payload.T - 1, t));
    this.refresh();
  }

  // Asks for the ruler of the cell that the focus rests on.
  onWeight(cell) {
    clearTimeout(this.weightTimer);
    if (this.payload.panels.side !== "matrix" || !cell || cell.replace(",", " ") === this.payload.ruler?.weight.join(" ")) return;
    this.weightTimer = setTimeout(() => this.emit({ kind: "view", name: "weight", value: cell.replace(",", " ") }), 250);
  }

  // Tells Python which place the page shall speak of; the keyboard's focus has to rest there.
  ask(t, k, delay = 0) {
    clearTimeout(this.askTimer);
    const { asks, asked, tags } = this.payload;
    if (!asks || (asked?.[0] === t && asked[1] === k)) return;
    const event = asks === "right" ? { kind: "right", position: t, tag: tags[k] } : { kind: "view", name: asks, value: `${t} ${tags[k]}` };
    this.askTimer = setTimeout(() => this.emit(event), delay);
  }

  onStrength(value, done, clear = false) {
    if (done) {
      this.preview = null;
      this.emit(...(clear ? [{ kind: "reset" }] : []), { kind: "strength", value });
    } else {
      this.preview = { kind: "strength", value };
      this.schedule();
    }
  }

  emit(...events) {
    this.outbox.post(...events);
    this.refresh();
  }

  go(by) {
    const last = 2 * this.payload.T;
    const at = this.model.stepping.at;
    const next = Math.max(1, Math.min(last, at + by));
    this.step = next === last ? 0 : next;
    this.cell = null;
    this.refresh();
    if (next !== last) this.bringIntoSight(this.model.cell[0]);
    clearTimeout(this.stepTimer); // the link follows when the keys rest
    this.stepTimer = setTimeout(() => {
      this.stepTimer = null;
      this.emit({ kind: "step", value: this.step });
    }, 400);
  }

  onKey(event) {
    const inside = event.composedPath()[0];
    if (event.defaultPrevented || this.belongsToAnother(inside)) return; // there may be two stages on a page
    if (inside.matches?.("input:not([type=range]), textarea, select, [contenteditable], [role=combobox]")) return;
    const key = event.key;
    if ((event.ctrlKey || event.metaKey) && key.toLowerCase() === "z") this.emit({ kind: event.shiftKey ? "redo" : "undo" });
    else if ((event.ctrlKey || event.metaKey) && key.toLowerCase() === "y") this.emit({ kind: "redo" });
    else if (event.ctrlKey || event.metaKey || event.altKey) return;
    else if (this.payload?.panels.stepper && key in STEP_KEYS && !this.usesKey(inside, key)) this.go(STEP_KEYS[key]);
    else if (this.payload?.panels.stepper && (key === "ArrowUp" || key === "ArrowDown")) this.climb(key === "ArrowUp" ? -1 : 1);
    else if (this.payload?.asks && inside.dataset?.node && (key === "Enter" || key === " ")) this.ask(...inside.dataset.node.split(",").map(Number));
    else if (this.lattice && inside.dataset?.node && key.startsWith("Arrow")) this.walk(inside, key);
    else return;
    event.preventDefault();
  }

  belongsToAnother(element) {
    const stage = element.closest?.("[data-stage]");
    return Boolean(stage) && stage !== this.root;
  }

  // Whether a control needs the key itself; our own buttons need the space bar only.
  usesKey(control, key) {
    if (control.matches?.("button") && this.root.contains(control)) return key === " ";
    return control.matches?.("button, a, [role=tab], input") ?? false;
  }

  // Up and down through the tags of the current column.
  climb(by) {
    const order = [...this.model.shown].sort((a, b) => a - b);
    const [t, k] = this.model.cell;
    this.select(t, order[Math.max(0, Math.min(order.length - 1, order.indexOf(k) + by))]);
  }

  walk(node, key) {
    const [t, k] = node.dataset.node.split(",").map(Number);
    const order = [...this.model.shown].sort((a, b) => a - b);
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
    this.lattice.focus(t + dx, order[order.indexOf(k) + dy] ?? k);
  }

  onPoint(t, k, kind) {
    if (t === null) {
      this.survivor = null;
      this.refreshSelection();
    } else if (kind === "click" && this.payload.asks) {
      this.ask(t, k);
    } else if (kind === "click" || !this.payload.panels.stepper) {
      if (kind === "click" && this.payload.panels.side === "matrix") this.stepInto(t);
      this.select(t, k);
    } else {
      this.survivor = [t, k];
      this.refreshSelection();
    }
  }

  onCellPoint(event) {
    const cell = event.target.closest?.("[data-t]");
    if (!cell) return;
    const t = Number(cell.dataset.t);
    const { side } = this.payload.panels;
    if (side === "matrix" && event.type === "click") this.stepInto(t);
    if (event.type !== "pointerover" && cell.dataset.k) this.ask(t, Number(cell.dataset.k), event.type === "click" ? 0 : 250);
    const k = Number(cell.dataset.k ?? (this.cell?.[0] === t ? this.cell[1] : this.tagAt(this.model, t)));
    if (side === "bars" && String(this.cell) !== String([t, k])) this.select(t, k);
    if (side === "cell" && event.type !== "pointerover" && cell.dataset.k) {
      if (cell.dataset.table in KINDS) this.reading = { ...this.reading, kind: cell.dataset.table };
      this.select(t, k);
    }
  }

  // Asks for an entity: [type, first, last].
  onSpan([label, first, last]) {
    this.emit({ kind: "view", name: "entity", value: `${first} ${last} ${label}` });
  }

  onRead(how) {
    this.reading = { ...this.reading, ...how };
    this.refreshSelection();
  }

  select(t, k) {
    this.cell = [t, k];
    this.survivor = [t, k];
    this.refreshSelection();
  }

  refreshSelection() {
    this.addSelection(this.model);
    for (const part of this.parts) part.update(this.model);
  }
}

const FEW_ROWS = 4; // lattices this low may be drawn larger
const LEAST_MATRIX = 270; // pixels: the controls under a small matrix need them
const BELOW = 62; // pixels that the page needs under the stage
const TWICE = 320; // pixels that a page with two lattices needs around them

// Events that change numbers: those whose outcome is drawn before Python answers, and those that Python alone can work out.
const LIVE = new Set(["transition", "emission", "restore", "strength", "reset"]);
const PYTHONS = new Set(["undo", "redo", "constrained"]);

const STEP_KEYS = { ArrowRight: 1, PageDown: 1, " ": 1, ArrowLeft: -1, PageUp: -1, Home: -Infinity, End: Infinity };

// What must be the same for a redraw to be enough; anything else builds the stage anew.
function shapeOf({ words, tags, panels, tables }) {
  return JSON.stringify([words, tags, panels, tables.map((table) => [table.name, table.editable])]);
}

// `edits` after one more event, without changing `edits`.
function withEvent(edits, event, { tags }) {
  if (event.kind === "reset") return { transitions: new Map(), emissions: new Map(), strength: 1 };
  const next = { ...edits, transitions: new Map(edits.transitions), emissions: new Map(edits.emissions) };
  const [cells, key] = "position" in event ? [next.emissions, `${event.position},${tags.indexOf(event.tag)}`] : [next.transitions, `${event.from},${event.to}`];
  if (event.kind === "strength") next.strength = event.value;
  else if (event.kind === "restore") cells.delete(key);
  else cells.set(key, event.score ?? -Infinity);
  return next;
}

// Tables that cannot be changed: arrows go from cell to cell.
function readWithArrows(table, selector) {
  const move = makeRoving(table, selector);
  table.addEventListener("keydown", (event) => {
    const cell = event.target.closest?.(selector);
    if (!cell || !event.key.startsWith("Arrow") || !move(cell, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  });
}

// The tags on the best prefix that ends in (t, k).
function survivorOf({ results, K }, t, k) {
  const tags = [k];
  for (let i = t; i > 0; i--) tags.unshift(results.backpointers[i * K + tags[0]]);
  return tags.includes(-1) ? null : tags;
}

function identityLine(model) {
  const { results, ghost } = model;
  const { score: best, logPartition } = results;
  if (logPartition === -Infinity) return "No tag sequence is allowed: log Z = −∞. Undo an edit or restore a forbidden cell.";
  const log = best - logPartition;
  if (!model.probabilistic) return scoresLine(model, log);
  const now = `score ${score(best, 2)} − log Z ${score(logPartition, 2)} = log p ${score(log, 2)}  ·  p = ${probability(Math.min(1, Math.exp(log)))}`;
  if (!ghost || ghost.log_partition === undefined || ghost.log_partition === null) return now;
  return `${now}, was ${probability(ghost.probability)}  ·  log Z was ${score(ghost.log_partition, 2)}`;
}

// For a model whose scores are no probabilities: Z is what a CRF with these scores would say.
function scoresLine({ results, margin, live }, log) {
  const lead = margin === null || live ? "" : `, ${score(margin, 2)} ahead of the next path`;
  const asCrf = `log Z ${score(results.logPartition, 2)}, p = ${probability(Math.min(1, Math.exp(log)))}`;
  return `score ${score(results.score, 2)}${lead}  ·  scores, not probabilities: a CRF with these scores would say ${asCrf}`;
}

function stepText(model, at) {
  const { T, words, tags, results } = model;
  if (!results.path) return "No path is allowed, so there is nothing to trace back.";
  if (at <= T) return at === 1 ? `Start: each tag of “${words[0]}” by itself.` : `Forward ${at} of ${T}: the best way into each tag of “${words[at - 1]}”.`;
  const t = 2 * T - at;
  if (at === T + 1) return `Back: ${tags[results.path[t]]} ends the best path (best score plus END).`;
  if (at === 2 * T) return `The best path, read back along the backpointers.`;
  return `Back: the pointer leads from ${tags[results.path[t + 1]]} to ${tags[results.path[t]]} at “${words[t]}”.`;
}
