// The words of an address, as crfviz/ui/state/link.py writes and reads them; `page` says which page. Reading is
// forgiving: it uses the valid parts and reports the others.

import { END, editsOf, START } from "../../stage/web/model.js";
import { MAX_CHARACTERS, readMove, readNumber, readPlace, readScore, unpack } from "./link_items.js";

const STRONGEST = 2;
const MAX_STEP = 10_000;
const SHOWN = 40; // characters of a quoted text in a message
const STEP = /^\d{1,5}$/;

// `known` is { models, pages }, the available names. Returns { model, sentence, constrained, edits, pins, step, page,
// direction, sweep, ignored }, where what the address does not say is null, and `ignored` has a message for each part
// of no use.
export function readLink(text, { models, pages }) {
  const query = new URLSearchParams(text);
  const ignored = [];
  const ignore = (what, expected) => ignored.push(`Ignored ${what} in the address: expected ${expected}.`);
  const take = (name) => {
    const value = query.get(name);
    query.delete(name);
    return value;
  };
  const oneOf = (name, names) => {
    const value = take(name);
    if (value === null || names.includes(value)) return value;
    ignore(`the ${name} ${quoted(value)}`, `one of ${names.join(", ")}`);
    return null;
  };
  const items = (name, read, expected) => {
    const texts = (take(name) ?? "").split(",").filter(Boolean);
    const found = texts.map((each) => [each, read(each)]);
    const bad = found.filter(([, item]) => !item).map(([each]) => each);
    const parts = bad.length === 1 ? "1 part" : `${bad.length} parts`;
    if (bad.length) ignore(`${parts} of ${name}, the first being ${quoted(bad[0])},`, expected);
    return found.flatMap(([, item]) => (item ? [item] : []));
  };
  const packed = take("m");
  const unpacked = packed ? unpack(packed) : [];
  if (!unpacked) ignored.push(`Ignored the packed edits ${quoted(packed)}: the link is damaged; copy it again.`);
  const strength = take("k") ?? "1";
  const strong = readNumber(strength) >= 0 && readNumber(strength) <= STRONGEST;
  if (!strong) ignore(`the strength ${quoted(strength)}`, `a number from 0 to ${STRONGEST}`);
  const step = take("step");
  const stepped = step === null || step === "start" || (STEP.test(step) && Number(step) <= MAX_STEP);
  if (!stepped) ignore(`the step ${quoted(step)}`, `a whole number from 0 to ${MAX_STEP}`);
  const sentence = take("sentence");
  if (sentence?.length > MAX_CHARACTERS) ignore("the end of the sentence", `at most ${MAX_CHARACTERS} characters`);
  const link = {
    model: oneOf("model", models),
    page: oneOf("page", pages),
    sentence: sentence?.slice(0, MAX_CHARACTERS) ?? null,
    constrained: take("c") !== "0",
    step: step === null || !stepped ? null : step === "start" ? step : Number(step),
    edits: {
      transitions: [...(unpacked ?? []), ...items("t", readMove, "FROM.TO:score")],
      emissions: items("e", readScore, "position.TAG:score"),
      strength: strong ? readNumber(strength) : 1,
    },
    pins: items("p", readPlace, "position.TAG"),
    direction: oneOf("v.direction", ["auto", "ltr", "rtl"]),
    sweep: oneOf("v.sweep", ["log", "probability", "normalised"]),
  };
  for (const name of OF_STARTING) take(name);
  for (const name of new Set(query.keys())) {
    ignore(`the part ${quoted(name)}`, "model, sentence, page, t, m, e, k, c, p, step, v.sweep or v.direction");
  }
  return { ...link, ignored };
}

const OF_STARTING = ["embed", "embed_options"]; // how the page opens

// The edits and pins of a link that fit these tags and words; `missing` names unknown tags in a sentence.
export function fitted({ edits, pins }, { tags, words }) {
  const unknown = new Set();
  const has = (tag) => tags.includes(tag) || !unknown.add(tag);
  const inside = (t) => t < words.length;
  const transitions = edits.transitions.filter(([[from, to]]) =>
    [from === START || has(from), to === END || has(to)].every(Boolean),
  );
  const emissions = edits.emissions.filter(([[t, tag]]) => has(tag) && inside(t));
  const kept = pins.filter(([t, tag]) => has(tag) && inside(t));
  const missing = unknown.size ? `This model has no tag ${[...unknown].map(quoted).join(", ")}.` : "";
  return {
    edits: editsOf(
      { strength: edits.strength, transitions: listed(transitions), emissions: listed(emissions) },
      { tags },
    ),
    pins: kept,
    missing,
  };
}

// Named cells with their scores, as payloads have them.
function listed(cells) {
  return cells.map(([names, value]) => [...names, value]);
}

function quoted(text) {
  return `“${text.length > SHOWN ? `${text.slice(0, SHOWN - 1)}…` : text}”`;
}
