// The words of an address, as crfviz/ui/state/link.py writes and reads them; `page` says which page. Reading is
// forgiving: it uses the valid parts and reports the others.

import { END, START } from "../../stage/web/model.js";

const LARGEST = 1e6; // of an edited weight, either side of zero
const STRONGEST = 2;
const LONGEST = 5000; // characters of a sentence
const SHOWN = 40; // characters of somebody's text in a message
const NUMBER = /^[+-]?(\d{1,9}(\.\d{0,30})?|\.\d{1,30})(e[+-]?\d{1,3})?$/;
const STEP = /^\d{1,5}$/;

// `known` is { models, pages }, the names there are. Gives { model, sentence, constrained, edits, pins, step, page,
// ignored }, where what the address does not say is null, and `ignored` has a message for each part of no use.
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
    const found = texts.map((each) => [each, attempt(() => read(each))]);
    const bad = found.filter(([, item]) => !item).map(([each]) => each);
    const parts = bad.length === 1 ? "1 part" : `${bad.length} parts`;
    if (bad.length) ignore(`${parts} of ${name}, the first being ${quoted(bad[0])},`, expected);
    return found.flatMap(([, item]) => (item ? [item] : []));
  };
  const strength = take("k") ?? "1";
  const strong = readNumber(strength) >= 0 && readNumber(strength) <= STRONGEST;
  if (!strong) ignore(`the strength ${quoted(strength)}`, `a number from 0 to ${STRONGEST}`);
  const step = take("step");
  const stepped = step === null || step === "start" || STEP.test(step);
  if (!stepped) ignore(`the step ${quoted(step)}`, "a whole number");
  const sentence = take("sentence");
  if (sentence?.length > LONGEST) ignore("the end of the sentence", `at most ${LONGEST} characters`);
  const link = {
    model: oneOf("model", models),
    page: oneOf("page", pages),
    sentence: sentence?.slice(0, LONGEST) ?? null,
    constrained: take("c") !== "0",
    step: step === null || !stepped ? null : step === "start" ? step : Number(step),
    edits: {
      transitions: new Map(items("t", readMove, "FROM.TO:score")),
      emissions: new Map(items("e", readScore, "position.TAG:score")),
      strength: strong ? readNumber(strength) : 1,
    },
    pins: items("p", readPlace, "position.TAG"),
    direction: oneOf("v.direction", ["auto", "ltr", "rtl"]),
  };
  for (const name of OF_STARTING) take(name);
  for (const name of new Set(query.keys())) {
    ignore(`the part ${quoted(name)}`, "model, sentence, page, t, e, k, c, p, step or v.direction");
  }
  return { ...link, ignored };
}

const OF_STARTING = ["embed", "embed_options"]; // how the page opens

// The edits and pins of a link that fit these tags and words; `missing` names unknown tags in a sentence.
export function fitted({ edits, pins }, { tags, words }) {
  const unknown = new Set();
  const has = (tag) => tags.includes(tag) || !unknown.add(tag);
  const inside = (t) => t < words.length;
  const transitions = [...edits.transitions].filter(([cell]) => {
    const [from, to] = cell.split(",");
    return [from === START || has(from), to === END || has(to)].every(Boolean);
  });
  const emissions = [...edits.emissions].filter(([place]) => has(place[1]) && inside(place[0]));
  const kept = pins.filter(([t, tag]) => has(tag) && inside(t));
  const missing = unknown.size ? `This model has no tag ${[...unknown].map(quoted).join(", ")}.` : "";
  return {
    edits: {
      strength: edits.strength,
      transitions: new Map(transitions),
      emissions: new Map(emissions.map(([[t, tag], value]) => [`${t},${tags.indexOf(tag)}`, value])),
    },
    pins: kept,
    missing,
  };
}

function readMove(text) {
  const [names, number] = halves(text, ":");
  const [from, to, ...more] = names.split(".").map(decodeURIComponent);
  const value = readWeight(number);
  if (value === null || !from || !to || more.length || (from === START && to === END)) return null;
  return [`${from},${to}`, value];
}

function readScore(text) {
  const [place, number] = halves(text, ":");
  const [read, value] = [readPlace(place), readWeight(number)];
  return read && value !== null ? [read, value] : null;
}

function readPlace(text) {
  const [position, tag] = halves(text, ".");
  return /^\d{1,4}$/.test(position) && tag && !tag.includes(".") ? [Number(position), decodeURIComponent(tag)] : null;
}

function readWeight(text) {
  if (text === "-inf") return -Infinity;
  const value = readNumber(text);
  return Math.abs(value) <= LARGEST ? value : null;
}

function readNumber(text) {
  return NUMBER.test(text) ? Number(text) : NaN;
}

// Before the first sign and behind it.
function halves(text, sign) {
  const at = text.indexOf(sign);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

// Text that is no encoding of any other is nothing.
function attempt(read) {
  try {
    return read();
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}

function quoted(text) {
  return `“${text.length > SHOWN ? `${text.slice(0, SHOWN - 1)}…` : text}”`;
}
