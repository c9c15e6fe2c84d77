// The lifecycle of the stage. It uses one element, payloads and events. Data flows one way: the payload and the user's
// choices make the model, and the model is drawn. Actions of the user go to the outbox as events.
//
// An edit is drawn at once from the browser's own recursions, sent to Python, and drawn again after Python's response,
// which is the reference. `data-rev` grows by one after each finished redraw. `data-source` is "python" when Python
// has answered every change of numbers, else "live"; without Python it is always "live". In a large lattice the visible
// words are drawn first, and the others in a later frame. With thousands of nodes, the others are drawn only when the
// reader scrolls there.

import { flag, focusedIn, html, mark, set, setProperty } from "../dom.js";
import { listenToKeys } from "../keyboard.js";
import { decode, editList } from "../model.js";
import { Outbox } from "../outbox.js";
import { PayloadStore } from "../payload_store.js";
import { SAVES } from "../svg_export.js";
import { forget, leave } from "./actions.js";
import { compose, selection, shapeOf } from "./compose.js";
import { buildFrame } from "./frame.js";
import { ancestors, heightOf, topOf } from "./heights.js";
import { KINDS } from "./inputs.js";
import { keysOf, stepKeyOf } from "./keys.js";
import { layout } from "./layout.js";
import { digitWidth, pageScale, wordsIn } from "./measuring.js";
import { GUEST_STACKED, STACKED } from "./widths.js";

/** @import { Filled } from "./heights.js" */
/** @import {
 *   Changes, Chosen, Composed, Decoded, Frame, Model, Payload, Send, Sizes, StageEvent, StageOptions, StageOutbox,
 *   Timer
 * } from "../types.js" */

const ANSWERED = "crfviz-answered"; // document event: the question over the picture was answered
// A lattice with more nodes is large. The limit is lower for another sentence, because all its nodes are created.
const LARGE = { same: 1500, another: 500 };
const TRIES = 3; // rows have whole pixels: of many rows, the first try may change none
const HUGE = 4000; // with more nodes in a window's lattice, scrolling stutters
const KEPT = "Your sentence and edits are kept: reload the page, or undo the last edit.";

export class Stage {
  /** @type {Decoded} */ payload; // undefined before the first payload
  /** @type {Model} */ model;
  /** @type {Frame} */ frame;
  /** @type {Sizes} */ sizes;
  /** @type {ReturnType<typeof import("../parts/tips.js").buildTips>} */ tip;
  /** @type {Record<string, Timer | null>} */ timers = {};
  /** @type {number | null | undefined} */ scheduled;
  /** @type {{ key: string, ems: number[], name: number, rise: number }} */
  measured = { key: "", ems: [], name: 0, rise: 0 }; // widths of words and tags
  touched = false; // whether the reader has scrolled, clicked or pressed a key since these words were drawn
  width = 0; // pixels, like the next ones
  top = 0;
  noteHeight = 0;
  /** @type {Filled} */ filled = { place: "", more: 0, isFixed: false };
  shortens = false; // whether the host shortens lists to the available space, as a lecture does

  // `send` gets lists of unacknowledged events. The stage handles the keys of the element `keys`. `beyond` is called
  // before a page is turned, and returns whether it handled the step. `walked` gets each step at once as an event, and
  // null when none is pending. A `frugal` host gets no events for hovering or focus, and no repeated ones.
  /** @param {HTMLElement} parent @param {Send} send @param {StageOptions} how */
  constructor(parent, send, { keys = parent, beyond = () => false, walked = () => {}, frugal = false } = {}) {
    this.frugal = frugal;
    this.beyond = beyond;
    this.walked = walked;
    this.root = html("div", { "data-stage": "", "data-rev": 0, tabindex: "-1" });
    this.root.style.visibility = "hidden"; // until the style sheet is loaded, which overrides this
    parent.append(this.root);
    this.outbox = /** @type {StageOutbox} */ (new Outbox(send, frugal ? 1 : undefined));
    this.payloads = new PayloadStore(this.outbox);
    /** @type {Chosen} */
    this.chosen = {
      unfolded: null, // whether every tag has its own row; null for the page's default
      direction: "", // direction of the columns: ltr, rtl, or empty for that of the sentence
      cell: null, // [word, tag] in the side panels
      survivor: null,
      into: 1, // if each step has its own matrix: the word that the displayed step leads to
      reading: { kind: "", temperature: 1 }, // the display of the cell in the side panel
      step: 0, // step of the walk
      nodes: "", // the numbers of the lattice nodes, if the walk leaves a choice
      covered: [], // hidden parts
      preview: null, // event of the current drag, not sent yet
      message: null, // error message for the score just typed
    };
    const touch = () => {
      this.touched = true;
    };
    this.root.addEventListener("wheel", touch, { passive: true });
    this.root.addEventListener("pointerdown", touch);
    keys.addEventListener("keydown", touch, true); // before the key is handled
    this.forgetKeys = () => keys.removeEventListener("keydown", touch, true);
    this.stopKeys = listenToKeys(
      keys,
      (event) => keysOf(this, event),
      (event, hands) => stepKeyOf(this, event, hands),
    );
    this.uncover = () => {
      if (this.payload?.withheld?.length) this.showAll();
    };
    document.addEventListener(ANSWERED, this.uncover);
    /** @param {MouseEvent} event */
    this.download = ({ target }) => {
      const kind = target instanceof HTMLElement && target.dataset.save;
      if (kind) SAVES[kind]?.(this.root);
    };
    document.addEventListener("click", this.download);
    this.resizing = new ResizeObserver(() => this.resize());
    this.resizing.observe(this.root);
    this.leaving = new IntersectionObserver(() => this.fit(), { threshold: [0.5, 0.8, 0.9, 0.95, 1] });
    this.leaving.observe(this.root);
    this.growing = new ResizeObserver(() => this.fit()); // of what the picture is in, with content above it
  }

  close() {
    this.stopKeys();
    this.forgetKeys();
    document.removeEventListener(ANSWERED, this.uncover);
    document.removeEventListener("click", this.download);
    this.resizing.disconnect();
    this.leaving.disconnect();
    this.growing.disconnect();
    this.outbox.close();
    for (const name of Object.keys(this.timers)) forget(this, name);
    this.walked(null);
  }

  leave() {
    return leave(this);
  }

  // `read` decodes the tables of a payload; some hosts pass decoded ones.
  /** @param {Payload | Changes | Decoded} data @param {(data: Payload) => Decoded} [read] */
  receive(data, read = decode) {
    try {
      const payload = this.payloads.payload(/** @type {Payload | Changes} */ (data), read);
      if (!payload) return;
      const another = !this.payload || shapeOf(payload) !== shapeOf(this.payload);
      this.payload = payload;
      this.outbox.acknowledge(payload.ack);
      this.choose(payload, another);
      const moved = another && focusedIn(this.root)?.matches(".overview input"); // its slider keeps the focus
      if (another) Object.assign(this, { frame: null, touched: false });
      this.refresh();
      if (moved) this.frame.overview?.slider.focus();
    } catch (error) {
      reportError(error); // for the console; the page shows a message
      Object.assign(this, { payload: null }); // the next payload rebuilds the picture
      this.root.replaceChildren(
        html("div.message", { "data-problem": "true", role: "alert" }, `This picture could not be drawn. ${KEPT}`),
      );
    }
  }

  // Applies the choices in a payload, except those for which an event of the reader is still pending.
  /** @param {Decoded} payload @param {boolean} another whether the words or tags are others than before */
  choose(payload, another) {
    const { chosen, outbox } = this;
    if (another) forget(this, "step"); // a pending step belongs to the previous words
    /** @param {...string} kinds */
    const waits = (...kinds) => outbox.unanswered.some((event) => kinds.includes(event.kind));
    if (!this.timers.step && !waits("step", "view"))
      Object.assign(chosen, { step: payload.step, nodes: payload.nodes });
    if (!this.timers.step && !waits("step")) this.walked(null);
    if (!waits("cover")) chosen.covered = payload.covered;
    if (another) Object.assign(chosen, { cell: null, survivor: null, preview: null, message: null });
    chosen.reading.kind ||= payload.walk?.phases[0]?.nodes[0] ?? "alpha";
    if (!waits("view")) {
      chosen.unfolded = payload.folding ? payload.folding === "no" : null;
      chosen.direction = payload.direction;
      if (payload.panel in KINDS) chosen.reading = { ...chosen.reading, kind: payload.panel };
    }
    if (payload.chosen && !this.timers.cell && !this.timers.step && !waits("step", "view"))
      chosen.cell = payload.chosen;
  }

  // Shows the answer to a question, which the payload already contains.
  showAll() {
    this.payload.withheld = [];
    this.refresh();
  }

  // Scrolls to the word in the link after every layout, because style sheets may load after the picture. Stops when the
  // reader scrolls, clicks or presses a key.
  showPlace() {
    if (this.touched) return;
    const { asked, chosen } = this.payload;
    const place = this.model.walking ? this.model.steps?.column : (chosen ?? asked)?.[0];
    if (!this.model.walking && chosen) this.frame.bringRowIntoSight(chosen, this.sizes);
    if (place !== null && place !== undefined) this.frame.bringIntoSight(place, this.sizes);
  }

  // Applies `changes` to the reader's choices, and draws everything.
  refresh(changes = {}) {
    const { payload, outbox } = this;
    const chosen = Object.assign(this.chosen, changes);
    const model = compose(payload, { events: outbox.unanswered, chosen, before: this.model?.shown });
    this.model = select(model, chosen);
    const another = !this.frame;
    this.frame ??= buildFrame(this);
    this.draw(another);
  }

  // Applies changes, and draws everything in the next animation frame, for drags.
  /** @param {Partial<Chosen>} changes */
  schedule(changes) {
    Object.assign(this.chosen, changes);
    this.scheduled ??= requestAnimationFrame(() => {
      this.scheduled = null;
      this.refresh();
    });
  }

  // Applies the changes of pointing, and redraws without computing numbers.
  /** @param {Partial<Chosen>} changes */
  reselect(changes) {
    Object.assign(this.chosen, changes);
    select(this.model, this.chosen);
    this.frame.write(this.model);
    this.frame.update(this.model);
    this.showStep();
    if (this.shortens && this.fills()) this.draw(); // a step with a longer text or another row
  }

  deliver() {
    this.outbox.post();
  }

  // Each event names its sentence and its payload, because a payload of another sentence may be on its way here.
  /** @param {StageEvent[]} events @param {Partial<Chosen>} [changes] */
  emit(events, changes = {}) {
    const { sentence, offset } = this.payload ?? {};
    this.outbox.post(...events.map((event) => ({ sentence, offset, has: this.payloads.name, ...event })));
    if (this.payload) this.refresh(changes);
  }

  // `another`: whether this is the first draw of the frame, before any scrolling.
  draw(another = false) {
    this.drawOnce(another);
    if (this.chosen.preview) return;
    for (let tries = TRIES; tries && this.fills(); tries--) {
      const { offsetHeight } = this.root;
      this.drawOnce();
      if (this.shortens || this.root.offsetHeight <= offsetHeight) continue;
      Object.assign(this.filled, { more: 0, isFixed: true }); // in less height, a list did not scroll at all
      this.drawOnce();
    }
  }

  // Returns whether the height that the picture may use has changed, as measured.
  fills() {
    const { root, width, top, payload, shortens, frugal } = this;
    const place = JSON.stringify([shapeOf(payload), width, window.innerHeight, Math.round(top), payload.covered]);
    const next = heightOf(
      { bottom: topOf(root) + root.offsetHeight, place, scale: pageScale(), shortens, frugal },
      this.filled,
    );
    this.filled = next ?? this.filled;
    return next !== null;
  }

  drawOnce(another = false) {
    const { root, frame, model, chosen } = this;
    frame.write(model);
    if (!model.live) this.noteHeight = frame.noteHeight();
    this.width = root.clientWidth;
    const narrow = this.frugal ? GUEST_STACKED : STACKED;
    const room = {
      narrow,
      width: this.width || 960,
      height: window.innerHeight + this.filled.more,
      note: this.noteHeight,
      scale: pageScale(),
    };
    if (another) for (const each of ancestors(root)) this.growing.observe(each);
    const top = topOf(root);
    const style = getComputedStyle(root);
    const shortens = style.getPropertyValue("--beyond") !== ""; // as a lecture does
    Object.assign(this, { top, shortens });
    const family = style.fontFamily;
    const words = wordsIn(family, model, this.measured);
    this.measured = words ?? this.measured;
    const sizes = layout(model, {
      ...room,
      top,
      shortens,
      digit: digitWidth(family),
      words: words?.ems,
      name: words?.name,
      rise: words?.rise,
    });
    for (const [name, value] of Object.entries(sizes.lengths)) setProperty(root, `--${name}`, `${value}px`);
    setProperty(
      root,
      "--columns",
      sizes.lefts
        .slice(1)
        .map((end, t) => `${end - sizes.lefts[t]}px`)
        .join(" "),
    );
    flag(root, sizes.flags);
    root.dataset.edits = editList(model);
    model.sizes = sizes;
    this.sizes = sizes;
    const large = model.T * model.K > (another ? LARGE.another : LARGE.same) && model.panels.main.includes("lattice");
    if (large) this.showPlace();
    model.sparse = large && model.total > model.T && model.T * model.K > HUGE;
    model.inSight = large || chosen.preview ? frame.columnsInSight(model) : { from: 0, to: model.T };
    frame.update(model);
    this.showPlace();
    const { from, to } = model.inSight;
    if (!model.sparse && !chosen.preview && to - from < model.T) this.drawBeyond();
    else this.finish();
  }

  // Draws the words outside the visible part later, unless another draw comes first.
  drawBeyond() {
    const { root, model } = this;
    const rest = () => {
      if (model !== this.model || !root.isConnected) return;
      model.inSight = { from: 0, to: model.T };
      this.frame.update(model);
      this.finish();
    };
    requestAnimationFrame(() => setTimeout(rest));
  }

  finish() {
    const { root, model } = this;
    const source = model.waiting || model.alone ? "live" : "python";
    set(root, "data-source", source);
    const outside = root.getRootNode(); // its style sheet hides stale figures of the page
    if (outside instanceof ShadowRoot) set(outside.host, "data-source", source);
    this.showStep();
    set(root, "data-rev", Number(root.dataset.rev) + 1);
  }

  // Writes the position of the walk into DOM attributes.
  showStep() {
    const { steps } = this.model;
    mark(this.root, "data-step", steps && String(steps.at));
    mark(this.root, "data-steps", steps && String(steps.of));
  }

  // If content appears or disappears above the picture, its sizes change.
  fit() {
    const fits = !this.frugal || this.shortens;
    if (this.payload && fits && this.root.isConnected && Math.abs(topOf(this.root) - this.top) > 1) this.draw();
  }

  resize() {
    if (!this.payload) return;
    const note = !this.model.live && this.frame.noteHeight() !== this.noteHeight; // the style sheet has loaded
    const { width } = this;
    const middle = this.frame.middle(this.sizes); // this word stays in the middle when column widths change
    if (note || this.root.clientWidth !== width) this.draw();
    if (this.width !== width) this.frame.putIntoTheMiddle(middle, this.sizes);
    this.showPlace();
    this.frame.fade();
  }
}

// Adds the effects of the reader's choices to the model; the steps of a walk move the chosen cell.
/** @param {Composed} model @param {Chosen} chosen */
function select(model, chosen) {
  const selected = /** @type {Model} */ (Object.assign(model, selection(model, chosen)));
  if (selected.steps?.of) chosen.cell = selected.cell;
  return selected;
}
