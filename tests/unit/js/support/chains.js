// Chains for tests, and what they amount to by listing all their paths: shares no code with the recursions.

// Numbers in [0, 1) that are the same in every run (mulberry32).
export function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

// `whole` draws whole scores, of which many paths tie exactly; `forbidden` is the share of -Infinity.
export function randomChain(seed, { T, K, forbidden = 0, perStep = false, whole = false }) {
  const random = randomNumbers(seed);
  const draw = () => {
    if (random() < forbidden) return -Infinity;
    return whole ? Math.floor(5 * random()) - 2 : 6 * random() - 3;
  };
  const table = (size) => Float64Array.from({ length: size }, draw);
  return {
    T,
    K,
    emissions: table(T * K),
    transitions: table((perStep ? T - 1 : 1) * K * K),
    start: table(K),
    end: table(K),
  };
}

// A chain of nested lists: emissions [word][tag], transitions [from][to] or [step][from][to].
export function chainFrom({ emissions, transitions, start, end }) {
  const [T, K] = [emissions.length, emissions[0].length];
  const zeros = Array(K).fill(0);
  return {
    T,
    K,
    emissions: Float64Array.from(emissions.flat()),
    transitions: Float64Array.from((transitions ?? Array(K).fill(zeros)).flat(2)),
    start: Float64Array.from(start ?? zeros),
    end: Float64Array.from(end ?? zeros),
  };
}

// What `solve` returns, by listing all sequences of tags. Scores that are equal tie, others do not.
export function enumerate(chain) {
  const { T, K } = chain;
  const cells = Array.from({ length: T * K }, (_, i) => [Math.floor(i / K), i % K]);
  const paths = sequences(T, K);
  const scores = paths.map((tags) => pathScore(chain, tags));
  const logPartition = logOfSum(scores);
  const possible = logPartition !== -Infinity;
  const probabilities = scores.map((score) => (possible ? Math.exp(score - logPartition) : 0));
  const prefixes = cells.map(([t, k]) => sequences(t, K).map((tags) => [...tags, k]));
  const suffixes = cells.map(([t, k]) => sequences(T - 1 - t, K).map((tags) => [k, ...tags]));
  const best = prefixes.map((each) => lowestBest(each, (tags) => prefixScore(chain, tags)));
  return {
    logPartition,
    score: Math.max(...scores),
    path: possible ? lowestBest(paths, (tags) => pathScore(chain, tags)) : null,
    marginals: cells.map(([t, k]) => sum(probabilities.filter((_, i) => paths[i][t] === k))),
    alpha: prefixes.map((each) => logOfSum(each.map((tags) => prefixScore(chain, tags)))),
    beta: suffixes.map((each) => logOfSum(each.map((tags) => suffixScore(chain, tags)))),
    best: best.map((tags) => prefixScore(chain, tags)),
    backpointers: best.map((tags) => (prefixScore(chain, tags) === -Infinity ? -1 : (tags.at(-2) ?? -1))),
  };
}

function sequences(length, K) {
  if (length === 0) return [[]];
  return sequences(length - 1, K).flatMap((tags) => Array.from({ length: K }, (_, k) => [...tags, k]));
}

function pathScore(chain, tags) {
  return prefixScore(chain, tags) + chain.end[tags.at(-1)];
}

// Of the first words, the emission of the last of them included.
function prefixScore({ K, emissions, start, ...chain }, tags) {
  const moves = tags.slice(1).map((to, t) => moveScore({ K, ...chain }, t + 1, tags[t], to));
  return start[tags[0]] + sum(tags.map((k, t) => emissions[t * K + k])) + sum(moves);
}

// Of the last words, the emission of the first of them left out.
function suffixScore({ T, K, emissions, end, ...chain }, tags) {
  const first = T - tags.length;
  const later = tags.slice(1).map((to, i) => {
    const t = first + 1 + i;
    return moveScore({ K, ...chain }, t, tags[i], to) + emissions[t * K + to];
  });
  return sum(later) + end[tags.at(-1)];
}

function moveScore({ K, transitions }, t, from, to) {
  const matrices = transitions.length / (K * K);
  return transitions[(matrices > 1 ? (t - 1) * K * K : 0) + from * K + to];
}

// Of sequences with the largest score the one with the lowest tags, read from its end.
function lowestBest(sequencesOfTags, scoreOf) {
  const largest = Math.max(...sequencesOfTags.map(scoreOf));
  const reversed = (tags) => [...tags].reverse();
  const isLower = (one, other) => {
    const t = one.findIndex((tag, i) => tag !== other[i]);
    return t >= 0 && one[t] < other[t];
  };
  return sequencesOfTags
    .filter((tags) => scoreOf(tags) === largest)
    .reduce((least, tags) => (isLower(reversed(tags), reversed(least)) ? tags : least));
}

function logOfSum(scores) {
  const largest = Math.max(...scores);
  return largest === -Infinity ? -Infinity : largest + Math.log(sum(scores.map((score) => Math.exp(score - largest))));
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
