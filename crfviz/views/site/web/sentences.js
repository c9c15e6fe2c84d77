// From a typed sentence to the data of its chain.

import { rebindSentence } from "../../exports/web/rebind_sentence.js";

// `known` is { data, tagger, examples, most }: data of any sentence of that tagger, its examples { words, gold } and
// the largest number of words. A sentence of no use is refused with an error for people.
export function spoken({ data, tagger, examples, most }, sentence, constrained = true) {
  const words = tagger.split(sentence);
  if (!words.length) throw new Error("There is no word in it: type a sentence.");
  if (words.length > most) {
    throw new Error(`A picture holds at most ${most} words, this sentence has ${words.length}: shorten it.`);
  }
  const chain = tagger.score(words, constrained);
  const example = examples.find((each) => same(each.words, words));
  const gold = example?.gold ?? null;
  return { ...rebindSentence(data, { words, chain, sentence, gold, constrained }), sentence, constrained };
}

// What is said of an error: those for people are plain, any other is a fault of ours.
export function wordsOf(error) {
  if (error.constructor === Error) return error.message;
  reportError(error); // for the console
  return "This cannot be shown, by a fault of this page.";
}

// Whether it has scores for all words of a text.
export function reads({ tagger }, text) {
  const { observations } = tagger;
  return observations === null || tagger.split(text).every((word) => observations.includes(word));
}

function same(first, second) {
  return first.length === second.length && first.every((word, t) => word === second[t]);
}
