// The words and rows that scroll, and what is in sight of them.

import { all, flag, html } from "../dom.js";
import { columnsOf } from "../parts/lattice.js";

/** @import { Cell, Model, Part, Sizes, Stage } from "../types.js" */

const BESIDE = 3; // words drawn beyond the visible ones

/** @param {Stage} stage @param {{ rows: Record<string, Part>, heads: HTMLElement[], columns: HTMLElement[] }} parts */
export function buildScrolling(stage, { rows, heads, columns }) {
  const scroller = html(
    "div.scroller",
    { role: "group", tabindex: "0", "aria-label": "The words, a column each", dir: stage.model.rtl ? "rtl" : "ltr" },
    columns,
  );
  const main = html("div.main", scroller, html("div.more.left"), html("div.more.right"));
  // The visible words: during a drag, the others can wait. Their neighbours are included if no others are drawn, so
  // that arrow keys reach the next word.
  /** @param {Model} next */
  const columnsInSight = (next) => {
    const { from, to } = columnsAt(scroller, next);
    const beside = next.sparse ? BESIDE : 0;
    return { from: Math.max(0, from - beside), to: Math.min(next.T, to + beside) };
  };
  /** @param {number} pixels */
  const scrollPast = (pixels) => scroller.scrollTo({ left: stage.model.rtl ? -pixels : pixels });
  const fade = () => {
    const { scrollWidth, clientWidth } = scroller;
    const passed = passedIn(scroller);
    const [before, after] = [passed > 1, passed + clientWidth < scrollWidth - 1];
    const { rtl } = stage.model;
    flag(main, { moreLeft: rtl ? after : before, moreRight: rtl ? before : after });
  };
  // Draws words that were scrolled into view, in a lattice that lacks them.
  const showInSight = () => {
    const { inSight, sparse } = stage.model;
    const { from, to } = columnsAt(scroller, stage.model);
    if (!sparse || (from >= inSight.from && to <= inSight.to)) return;
    const before = columnsOf(stage.model);
    stage.model.inSight = columnsInSight(stage.model);
    rows.lattice.scroll?.(stage.model, before);
  };
  scroller.addEventListener("scroll", () => {
    fade();
    showInSight();
  });
  // The visible height between the words and the lower end of the frame.
  const edges = () => {
    const { top, bottom } = scroller.getBoundingClientRect();
    const held = stage.root.hasAttribute("data-held") ? rows.strips.element.offsetHeight : 0;
    return [top + heads[0].offsetHeight, bottom - held];
  };
  return {
    columnsInSight,
    fade, // shows on which sides words continue
    showInSight,
    scroller,
    main,
    // Of a scrolled sentence: the word in the middle, and a function that scrolls back to it.
    /** @param {Sizes} sizes */
    middle({ lefts, room }) {
      const passed = passedIn(scroller);
      return passed > 0 ? wordAt(passed + room / 2, lefts) : null;
    },
    /** @param {number | null} words @param {Sizes} sizes */
    putIntoTheMiddle(words, { lefts, room }) {
      if (words === null) return;
      const [t, part] = [Math.floor(words), words % 1];
      const at = lefts[t] + part * ((lefts[t + 1] ?? lefts[t]) - lefts[t]);
      scrollPast(at - room / 2);
    },
    // Scrolls a long sentence to put word t in the middle, unless it is visible.
    /** @param {number} t @param {Sizes} sizes */
    bringIntoSight(t, { lefts, lengths }) {
      const [left, room] = [lefts[t], scroller.clientWidth - lengths.label];
      const passed = passedIn(scroller);
      if (left < passed || lefts[t + 1] > passed + room) scrollPast(left - room / 2);
    },
    // The same for rows that scroll under the words: the explained cell, the row of tag k in the lattice, or the framed
    // cell of a table at word t; and the rows of tags that a step revealed.
    /** @param {Cell} cell @param {Sizes} sizes */
    bringRowIntoSight([t, k], { row, rowOf, flags }) {
      const lattice = rows.lattice?.element.hidden ? undefined : rows.lattice?.element;
      const cells = all(scroller, `[data-chosen], [data-outlined][data-t="${t}"]`);
      const shown = cells.find((cell) => cell.offsetParent && (!lattice || cell.matches("[data-chosen]")));
      if (!flags.framed || !(shown ?? lattice)) return;
      const middle = () =>
        shown
          ? shown.getBoundingClientRect().top + row / 2
          : /** @type {HTMLElement} */ (lattice).getBoundingClientRect().top + (rowOf[k] + 0.5) * row;
      const [top, bottom] = edges();
      if (middle() < top + row || middle() > bottom - row) scroller.scrollBy({ top: middle() - (top + bottom) / 2 });
    },
    /** @param {string[]} parts @param {Model} next */
    bringPartsIntoSight(parts, next) {
      const strips = [...(rows.strips?.element.children ?? [])].filter((_, i) => parts.includes(next.rows[i].id));
      if (!next.sizes.flags.framed || strips.length === 0) return;
      const [first, last] = [strips[0], strips[strips.length - 1]].map((strip) => strip.getBoundingClientRect());
      const [top, bottom] = edges();
      if (first.top < top || last.bottom > bottom)
        scroller.scrollBy({ top: Math.min(first.top - top, last.bottom - bottom) });
    },
  };
}

// The visible words of a scroller.
/** @param {Element} scroller @param {Model} model */
function columnsAt(scroller, { T, sizes: { lefts } }) {
  const passed = passedIn(scroller);
  const to = lefts.findIndex((left) => left >= passed + scroller.clientWidth);
  return { from: Math.floor(wordAt(passed, lefts)), to: to < 0 ? T : to };
}

// Pixels scrolled away at the start of the words; `scrollLeft` is negative from right to left.
/** @param {Element} scroller */
function passedIn({ scrollLeft }) {
  return Math.abs(scrollLeft);
}

// The word at a position between the column ends, and the fraction of its width.
/** @param {number} place @param {number[]} lefts */
function wordAt(place, lefts) {
  const t = Math.max(
    0,
    lefts.findLastIndex((left) => left <= place),
  );
  return t < lefts.length - 1 ? t + (place - lefts[t]) / (lefts[t + 1] - lefts[t]) : t;
}
