// Words of a typed text, with their place in it: spaCy's algorithm over the rules of a language.
//
// The rules come from Python: `tokenizer_rules` in `crfviz.views.site.packing` packs them.

// Python's white space; JavaScript's \s has one more character and lacks some.
const BLANK = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const CHUNK = new RegExp(`[^${BLANK}]+`, "gu");
const GAP = new RegExp(`[${BLANK}]+`, "gu");
const ENDS = new RegExp(`^[${BLANK}]+|[${BLANK}]+$`, "gu");
const PIECE = /https?:\/\/.+|[\p{L}\p{N}_]+|[^\p{L}\p{N}_]/gu;
const EXTENDS = /^(?:\p{M}|\u200c|\u200d|[\u0e33\u0eb3\u{e0020}-\u{e007f}])/u; // vowels of Thai and Lao, parts of flags
const JOINED = /[\u200c\u200d]$/;
const HALVES = /\p{Surrogate}/gu; // halves of characters

// A function from a text to its words: [{ text, start, end }], with places in UTF-16 units.
export function readTokenizer(data) {
  if (data.pattern) {
    const pattern = new RegExp(data.pattern, "gu");
    return (text) => pieces(text, pattern);
  }
  const rules = {
    exceptions: new Map(data.exceptions.map(([...parts]) => [parts.join(""), parts])),
    prefix: new RegExp(data.prefix, "u"),
    suffix: new RegExp(data.suffix, "u"),
    infix: new RegExp(data.infix, "gu"),
    whole: new RegExp(data.whole, data.wholeFlags),
    url: new RegExp(data.url, "u"),
    longest: data.longest,
    spans: null,
  };
  rules.spans = spansOf(rules);
  return (text) => tokens(text, rules);
}

// The words, if every gap has two blanks or more; otherwise null, and the tokenizer finds them.
export function givenWords(sentence) {
  const text = sentence.replace(ENDS, "");
  const gaps = text.match(GAP) ?? [];
  if (text && !gaps.length && sentence.endsWith("  ")) return [text];
  return gaps.length && gaps.every((gap) => gap.length > 1) ? text.split(GAP) : null;
}

// The matches of a pattern, each with the marks and joiners that follow it.
function pieces(text, pattern) {
  const found = [];
  for (const { 0: piece, index } of text.matchAll(pattern)) {
    const last = found.at(-1);
    const joins = last?.end === index && (EXTENDS.test(piece) || JOINED.test(last.text));
    const start = joins ? last.start : index;
    const end = index + piece.length;
    if (joins) found.pop();
    found.push({ text: text.slice(start, end), start, end });
  }
  return found;
}

function tokens(text, rules) {
  const found = [];
  for (const chunk of text.matchAll(CHUNK)) {
    let start = chunk.index;
    for (const { length } of split(chunk[0], rules)) {
      const end = start + length;
      found.push({ text: text.slice(start, end), start, end });
      start = end;
    }
  }
  return found;
}

function split(chunk, rules) {
  const isLong = chunk.length > rules.longest && [...chunk].length > rules.longest;
  if (isLong) return chunk.match(PIECE);
  const plain = chunk.replace(HALVES, "\ufffd");
  return joined(affixed(plain, rules, rules.exceptions), rules);
}

// The words of a text between blanks: marks at its ends are words, and marks inside cut it.
function affixed(chunk, rules, exceptions) {
  if (exceptions.has(chunk)) return exceptions.get(chunk);
  const before = [];
  const after = [];
  const rest = withoutAffixes(chunk, rules, exceptions, before, after);
  return [...before, ...inner(rest, rules, exceptions), ...after.reverse()];
}

function withoutAffixes(chunk, rules, exceptions, before, after) {
  let text = chunk;
  let length = -1;
  while (text && text.length !== length) {
    if (rules.whole.test(text) || exceptions.has(text)) return text;
    length = text.length;
    const prefix = lengthOf(rules.prefix, text);
    if (prefix && exceptions.has(text.slice(prefix))) {
      before.push(text.slice(0, prefix));
      return text.slice(prefix);
    }
    const suffix = lengthOf(rules.suffix, text.slice(prefix));
    if (suffix && exceptions.has(text.slice(0, length - suffix))) {
      after.push(text.slice(length - suffix));
      return text.slice(0, length - suffix);
    }
    if (prefix) before.push(text.slice(0, prefix));
    if (suffix) after.push(text.slice(length - suffix));
    text = text.slice(prefix, length - suffix);
  }
  return text;
}

function lengthOf(pattern, text) {
  return pattern.exec(text)?.[0].length ?? 0;
}

function inner(text, rules, exceptions) {
  if (!text) return [];
  if (exceptions.has(text)) return exceptions.get(text);
  if (rules.whole.test(text) || rules.url.test(text)) return [text];
  const words = [];
  let start = 0;
  for (const { 0: mark, index } of text.matchAll(rules.infix)) {
    if (index === 0) continue;
    if (index !== start) words.push(text.slice(start, index));
    if (mark) words.push(mark); // some languages split between two letters
    start = index + mark.length;
  }
  if (start < text.length) words.push(text.slice(start));
  return words;
}

// Exceptions with punctuation inside, by the first word that the rules would split off.
function spansOf(rules) {
  const spans = new Map();
  for (const text of rules.exceptions.keys()) {
    const words = affixed(text, rules, new Map());
    const isCut = lengthOf(rules.prefix, text) || lengthOf(rules.suffix, text) || text.search(rules.infix) >= 0;
    if (isCut) spans.set(words[0], [...(spans.get(words[0]) ?? []), { text, words }]);
  }
  return spans;
}

// Words that make up an exception together become its words: the longest first, and of equally long ones the first.
function joined(words, rules) {
  const found = words.flatMap((word, start) =>
    (rules.spans.get(word) ?? [])
      .filter((span) => span.words.every((part, offset) => part === words[start + offset]))
      .map((span) => ({ start, end: start + span.words.length, text: span.text })),
  );
  if (!found.length) return words;
  found.sort((one, other) => other.end - other.start - (one.end - one.start) || one.start - other.start);
  const taken = new Set();
  const kept = new Map();
  for (const span of found) {
    if (!taken.has(span.start) && !taken.has(span.end - 1)) kept.set(span.start, span);
    for (let at = span.start; at < span.end; at++) taken.add(at);
  }
  const result = [];
  for (let at = 0; at < words.length; at = kept.get(at)?.end ?? at + 1) {
    result.push(...(kept.has(at) ? rules.exceptions.get(kept.get(at).text) : [words[at]]));
  }
  return result;
}
