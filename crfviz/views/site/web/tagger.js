// A tagger in the browser: from a typed sentence to the scores of its chain, without a server.
//
// `../packing.py` makes what this reads. The chain is one of views/stage/web/recursions.js: flat Float64Arrays,
// transitions [from, to], -Infinity forbidden.

import { Network } from "./network.js";
import { arraysOf, unpacked, whole } from "./payload.js";
import { Perceptron } from "./perceptron.js";
import { Events, floats, Observations } from "./tables.js";
import { givenWords, readTokenizer } from "./tokenizer.js";

const FORMAT = 1;
const CHAINS = {
  network: (header, arrays) => scoring(header, new Network(header, arrays)),
  events: (header, arrays) => scoring(header, new Events(header, arrays)),
  perceptron: (header, arrays) => new Perceptron(header, arrays),
  observations: (header) => new Observations(header),
};

// Reads the text of a tagger; a text of no use is refused with an error for people.
export async function readTagger(text) {
  const { header, rest } = await unpacked(text);
  if (header?.format !== FORMAT || !Object.hasOwn(CHAINS, header.kind)) {
    throw new Error("The tagger is of another version of crfviz than this page.");
  }
  return whole(() => taggerOf(header, arraysOf(header.arrays, rest)));
}

function taggerOf(header, arrays) {
  const model = CHAINS[header.kind](header, arrays);
  const tokenize = header.tokenizer && readTokenizer(header.tokenizer);
  const { name, tags, family, scheme, probabilistic, observations } = header;
  return {
    name,
    tags,
    family,
    scheme,
    probabilistic,
    observations,
    split: (typed) => givenWords(typed) ?? (tokenize ? tokenize(typed).map((token) => token.text) : blanks(typed)),
    score: (words, constrained = true) => {
      if (!words.length) throw new Error("A sentence needs at least one word.");
      const chain = model.chain(words);
      return constrained ? withoutForbidden(chain, header.forbidden) : chain;
    },
  };
}

// Emissions from the words, over the temperature; the rest is the same for every sentence.
function scoring({ tags, weights, temperature }, model) {
  const shared = Object.fromEntries(Object.entries(weights).map(([name, values]) => [name, floats(values)]));
  const chain = (words) => {
    const emissions = model.emissions(words).map((score) => score / temperature);
    const { transitions, start, end } = shared;
    return {
      T: words.length,
      K: tags.length,
      emissions,
      transitions: transitions.slice(),
      start: start.slice(),
      end: end.slice(),
    };
  };
  return { chain };
}

// What the scheme forbids, by places in the tables.
function withoutForbidden(chain, { transitions, start }) {
  for (const at of transitions) {
    for (let step = at; step < chain.transitions.length; step += chain.K * chain.K) chain.transitions[step] = -Infinity;
  }
  for (const at of start) chain.start[at] = -Infinity;
  return chain;
}

function blanks(text) {
  return text.split(/\s+/).filter(Boolean);
}
