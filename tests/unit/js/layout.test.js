// How high the rows of a picture are, when they scroll in a frame of their own, and how wide its columns are.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { layout } from "../../../crfviz/views/stage/web/stage/layout.js";
import { SHEET } from "../../../crfviz/views/stage/web/stage/sheet.js";
import { linesOf, TEXT } from "../../../crfviz/views/stage/web/stage/widths.js";

const TARGET = 24; // pixels, see WCAG 2.2, 2.5.8
const ROOM = { width: 935, height: 720, top: 57, note: 38, scale: 1, shortens: false }; // a projector
const PHONE = { width: 350 };
const TALL = { height: 1080 };
const LEARN = { tables: [], panels: { main: ["strips", "lattice"], side: "gradient" } };

// Forward–backward of nine words and 17 tags, `shown` of them in rows, beside the panel of a cell.
function sizesOf(shown, { walking = false, room, page } = {}) {
  const [T, K] = [9, 17];
  const table = (name) => ({ name, label: "x".repeat(70), values: new Array(T * K).fill(1.5), digits: 1 });
  const model = {
    T,
    K,
    walking,
    tags: Array.from({ length: K }, (_, k) => `TAG${k}`),
    shown: new Set(Array(shown).keys()),
    order: [...Array(shown).keys()],
    words: new Array(T).fill("word"),
    rows: [{ label: "log Z", texts: new Array(T).fill("68.7550") }],
    tables: [table("alpha"), table("beta")],
    panels: { main: ["lattice", "alpha", "beta", "strips"], side: "cell" },
    heading: [],
    covered: new Set(),
    walk: { phases: [{ nodes: ["alpha"] }] },
    legend: "x".repeat(120),
    ...page,
  };
  const { row, flags, lengths, lefts } = layout(model, { ...ROOM, ...room });
  const columns = lefts.slice(1).map((end, t) => end - lefts[t]);
  return { row, strip: lengths.strip, side: lengths.side, word: lengths.word, columns, ...flags };
}

test("a lattice and two tables are drawn closer before they scroll", () => {
  for (const shown of [8, 9]) {
    const { row, close, framed } = sizesOf(shown);
    assert.deepEqual([close, framed], [true, false]);
    assert.ok(row >= 15 && row < 18, `rows of ${row} pixels`);
  }
});

test("few rows keep their height", () => {
  const { row, framed } = sizesOf(2);
  assert.equal(framed, false);
  assert.ok(row > 24, `rows of ${row} pixels`);
});

test("few rows fill the height, except over a panel under them", () => {
  const [wide, phone] = [sizesOf(3, { room: TALL }), sizesOf(3, { room: { ...TALL, ...PHONE } })];
  assert.ok(9 * wide.row > 1080 / 2, `rows of ${wide.row} pixels`);
  assert.ok(phone.row <= 36, `rows of ${phone.row} pixels`);
});

test("on a phone rows are as high as a target, and the page scrolls", () => {
  const { row, close, framed } = sizesOf(8, { room: PHONE });
  assert.deepEqual([row, close, framed], [TARGET, false, false]);
});

test("rows without room even when closer scroll, under strips as low as a target", () => {
  const { framed, strip } = sizesOf(17);
  assert.deepEqual([framed, strip], [true, TARGET]);
  assert.ok(sizesOf(2).strip > TARGET);
});

test("while it steps the lattice is alone and not closer", () => {
  for (const shown of [9, 17]) {
    const { row, alone, close } = sizesOf(shown, { walking: true });
    assert.deepEqual([alone, close], [true, false]);
    assert.ok(row >= 22, `rows of ${row} pixels`);
  }
});

test("rows over matrices are close at every step, but not on a phone", () => {
  for (const walking of [false, true]) {
    const { row, close, noteBeside } = sizesOf(8, { walking, page: LEARN });
    assert.deepEqual([close, noteBeside], [true, true]);
    assert.ok(row >= TARGET && row < TARGET + 2, `rows of ${row} pixels`);
  }
  const { close, noteBeside } = sizesOf(8, { room: PHONE, page: LEARN });
  assert.deepEqual([close, noteBeside], [false, false]);
});

test("columns have room for the names of tags up to six letters", () => {
  const columnOf = (tags) => {
    const T = 40;
    const model = {
      T,
      K: 2,
      tags,
      walking: false,
      shown: new Set([0, 1]),
      order: [0, 1],
      words: new Array(T).fill("word"),
      rows: [{ label: "Viterbi", tags: new Array(T).fill(0) }],
      tables: [],
      panels: { main: ["strips"], side: null },
      heading: [],
      covered: new Set(),
      walk: null,
      legend: "",
    };
    return layout(model, ROOM).lengths.column;
  };
  const [short, longer, six, seven] = ["LOC", "B-LOC", "B-MISC", "B-PRODUCT"].map((name) => columnOf(["O", name]));
  assert.ok(short <= longer && longer < six, `${short}, ${longer}, ${six} pixels`);
  assert.ok(six >= 60, "room for a bold B-MISC and its frame");
  assert.equal(six, seven); // longer ones end in dots: words count, too
});

test("a wide word takes a wider column, and the others share the rest", () => {
  const ems = [...new Array(8).fill(2), 5];
  const { columns, word } = sizesOf(8, { room: { width: 970, words: ems } });
  assert.ok(columns[8] >= 5 * 14 + 6, `${columns}`);
  assert.equal(new Set(columns.slice(0, 8)).size, 1);
  assert.ok(columns[0] < columns[8]);
  assert.ok(5 * word <= columns[8] - 6, "the word fits");
});

test("columns are alike where every word has room", () => {
  const { columns } = sizesOf(8, { room: { words: new Array(9).fill(2) } });
  assert.equal(new Set(columns).size, 1);
});

test("columns of words that are too wide together scroll or share, but never overlap", () => {
  const { columns } = sizesOf(8, { room: { words: new Array(9).fill(40) } });
  assert.ok(columns.every((width) => width > 0 && width <= 150));
});

test("in a lecture the words take the room of a panel that has nothing to explain yet", () => {
  const walk = { walking: true, page: { steps: { at: 0 } } };
  const [before, after] = [0, 1].map((at) =>
    sizesOf(8, { ...walk, page: { steps: { at } }, room: { shortens: true } }),
  );
  assert.ok(before.resting && !after.resting);
  assert.equal(before.side, 0);
  assert.ok(Math.min(...before.columns) > Math.min(...after.columns));
  assert.equal(sizesOf(8, walk).resting, false); // the app explains the first step there
});

// The place that a note will take: with a line too many the rows would jump when the note comes.
test("a text has the lines that its words fill", () => {
  const lines = { "": 1, "one two": 1, "one two three": 2, "a b c d e f": 2, "incomprehensibly a b": 2 };
  for (const [text, count] of Object.entries(lines)) {
    assert.equal(
      linesOf(text, ({ length }) => length, 8),
      count,
      text,
    );
  }
});

test("a lecture on a large screen gets smaller texts before its rows scroll", () => {
  const large = { width: 1856, height: 1080, top: 260, note: 0, scale: 1.93 };
  const page = { panels: { main: ["lattice", "alpha", "strips"], side: null }, tables: [], legend: "" };
  assert.equal(sizesOf(17, { room: large, page }).framed, true);
  const lecture = sizesOf(17, { room: { ...large, shortens: true }, page });
  assert.equal(lecture.framed, false);
});

test("three words use the width of a lecture", () => {
  const page = { T: 3, words: ["a", "b", "c"], panels: { main: ["strips", "lattice"], side: null }, tables: [] };
  const [wide, lecture] = [false, true].map((shortens) => sizesOf(3, { room: { width: 1280, shortens }, page }));
  assert.deepEqual(wide.columns, [150, 150, 150]);
  assert.deepEqual(lecture.columns, [300, 300, 300]);
});

const STYLES = readFileSync(new URL("../../../crfviz/views/stage/web/stage.css", import.meta.url), "utf8");
const CLOSE = /^\[data-close\] \{.*?^\}/ms; // rules of the close layout

// The number in the value of a property: the value has this shape, with `#` in the number's place.
function styled(selector, property, shape, styles = STYLES.replace(CLOSE, "")) {
  const values = [...styles.matchAll(/^\s*([^{}\n]+) \{([^{}]*)\}/gm)]
    .filter(([, each]) => each === selector)
    .flatMap(([, , body]) => body.split(";").map((line) => line.trim()))
    .filter((line) => line.startsWith(`${property}: `))
    .map((line) => line.slice(property.length + 2));
  const [before, after] = shape.split("#");
  const numbers = values
    .filter((value) => value.startsWith(before) && value.endsWith(after))
    .map((value) => Number(value.slice(before.length, value.length - after.length)));
  assert.equal(numbers.length, 1, `${selector} has one ${property} like ${shape}`);
  return numbers[0];
}

test("the numbers that sizes share with the style sheet are its own", () => {
  const em = "calc(# * var(--text))";
  assert.equal(styled("[data-stage]", "--text", "#px"), TEXT);
  assert.deepEqual(SHEET, {
    gap: styled(".body", "gap", "#px"),
    topline: styled(".topline", "min-height", "#px"),
    overview: styled(".overview", "height", "#px") + styled(".overview", "margin-bottom", "#px"),
    head: {
      usual: styled(".word", "height", em),
      compact: styled("[data-compact] .word", "height", em),
      close: styled(".word", "height", em, STYLES.match(CLOSE)[0].replace("[data-close] {", "")),
    },
    headMargin: styled(".word", "padding", "0 2px #px"),
    matrixLabel: Math.round(styled(".matrix-row", "grid-template-columns", "#em") * TEXT),
    matrixRow: styled(".matrix-row", "height", em) * TEXT,
    rowBelow: styled(".below .matrix-row", "height", "max(24px, calc(# * var(--text)))") * TEXT,
    between: styled(".below", "gap", "#px"),
  });
});
