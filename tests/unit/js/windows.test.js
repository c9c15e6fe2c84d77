// A window of a long sentence: the numbers of the whole one, by listing all its paths.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { decode } from "../../../crfviz/views/stage/web/model.js";
import { sharesIn } from "../../../crfviz/views/stage/web/parts/overview.js";
import { solve } from "../../../crfviz/views/stage/web/recursions.js";
import { compose } from "../../../crfviz/views/stage/web/stage/compose.js";
import { combine, inputsOf, messageInto } from "../../../crfviz/views/stage/web/stage/inputs.js";
import { windowed } from "../../../crfviz/views/stage/web/windows.js";
import { chainFrom, enumerate, randomChain } from "./support/chains.js";

const [T, K, OFFSET, DRAWN] = [6, 2, 2, 3];
const TAGS = ["A", "B"];
const WORDS = ["a", "b", "c", "d", "e", "f"];
const base64 = (array) => Buffer.from(array.buffer).toString("base64");
const rows = (table, size = K) =>
  Array.from({ length: T }, (_, t) => Array.from(table.slice(t * size, (t + 1) * size)));
const inSight = (table) => Array.from(table).slice(OFFSET * K, (OFFSET + DRAWN) * K);

function close(actual, expected) {
  assert.equal(actual.length, expected.length);
  expected.forEach((value, i) => assert.ok(Math.abs(actual[i] - value) < 1e-9, `${i}: ${actual[i]}, not ${value}`));
}

// A payload as Python sends it: the scores of all words, the numbers of those in sight.
function payload(chain, fields = {}) {
  const known = enumerate(chain);
  const part = (list) => list.slice(OFFSET, OFFSET + DRAWN);
  return {
    words: part(WORDS),
    offset: OFFSET,
    total: T,
    tags: TAGS,
    trained: {
      emissions: base64(chain.emissions),
      transitions: base64(chain.transitions),
      start: base64(chain.start),
      end: base64(chain.end),
      steps: null,
    },
    edits: { transitions: [], emissions: [], strength: 1 },
    pins: [],
    results: {
      log_partition: known.logPartition,
      path: part(known.path),
      score: known.score,
      backpointers: "",
    },
    rows: [{ id: "viterbi", tags: part(known.path) }],
    tables: [],
    panels: { main: ["lattice"], side: "cell" },
    walk: null,
    ghost: null,
    ruler: null,
    pile: null,
    gradient: null,
    ...fields,
  };
}

const CHOSEN = { preview: null, message: null, unfolded: null, into: 1, covered: [], step: 0 };
const composed = (data, events = []) => compose(decode(data), { events, chosen: CHOSEN });
const changed = (chain, change) => {
  const { emissions, transitions, start, end } = chain;
  const nested = {
    emissions: rows(emissions),
    transitions: [0, 1].map((j) => Array.from(transitions).slice(2 * j, 2 * j + 2)),
    start,
    end,
  };
  change(nested);
  return enumerate(chainFrom(nested));
};

test("a picture without new events keeps the edited chain of its payload", () => {
  const decoded = decode(payload(randomChain(11, { T, K })));
  const now = (events) => compose(decoded, { events, chosen: CHOSEN }).edited;
  assert.equal(now([]), decoded.edited);
  assert.notEqual(now([{ kind: "strength", value: 0.5 }]), decoded.edited);
});

describe("a window", () => {
  const chain = randomChain(11, { T, K });

  test("has the numbers of the whole sentence, which agree with Python's", () => {
    const model = composed(payload(chain));
    const all = enumerate(chain);
    assert.equal(model.disagrees, false);
    close([model.results.logPartition], [all.logPartition]);
    for (const name of ["marginals", "alpha", "beta", "best"]) close(model.results[name], inSight(all[name]));
    close(model.chain.emissions, inSight(chain.emissions));
  });

  test("is computed anew for the whole sentence when a transition changes", () => {
    const model = composed(payload(chain), [{ kind: "transition", from: "A", to: "B", score: 2.5 }]);
    const all = changed(chain, ({ transitions }) => {
      transitions[0][1] = 2.5;
    });
    close([model.results.logPartition], [all.logPartition]);
    for (const name of ["marginals", "alpha", "beta", "best"]) close(model.results[name], inSight(all[name]));
    assert.deepEqual(model.rows[0].tags, all.path.slice(OFFSET, OFFSET + DRAWN));
    close(model.solved.marginals, all.marginals);
  });

  test("whose scores stay with Python has the strip that Python computed", () => {
    const { alpha, beta, best, marginals, path } = enumerate(chain);
    const overview = { path: Array.from(path), marginals: base64(Float64Array.from(marginals)) };
    const [tables, results] = [{ alpha, beta, best, marginals }, payload(chain).results];
    for (const name of Object.keys(tables)) results[name] = base64(Float64Array.from(inSight(tables[name])));
    const model = composed(payload(chain, { trained: null, overview, results }));
    close(model.results.marginals, inSight(marginals));
    close(sharesIn(model, T).marginals, marginals);
    assert.equal(model.disagrees, false);
  });

  test("takes positions of edits and pins from the sentence, and of events from its first word", () => {
    const edits = {
      transitions: [],
      emissions: [
        [0, "A", 3],
        [3, "B", -2],
      ],
      strength: 1,
    };
    const data = payload(chain, { edits, pins: [[5, "A"]], results: { ...payload(chain).results, log_partition: 0 } });
    const model = composed(data, [{ kind: "emission", position: 2, tag: "A", score: 4 }]);
    const all = changed(chain, ({ emissions }) => {
      emissions[0][0] = 3;
      emissions[3][1] = -2;
      emissions[4][0] = 4;
      emissions[5][1] = -Infinity;
    });
    close(model.results.marginals, inSight(all.marginals));
    assert.deepEqual([...model.edits.emissions.keys()], ["-2,0", "1,1", "2,0"]);
    assert.deepEqual(model.pins, [[3, "A"]]);
  });

  test("explains its first and last word by those outside", () => {
    const model = composed(payload(chain));
    const all = enumerate(chain);
    const sums = (kind, t, k) => inputsOf(model, kind, t, k).map(({ sum }) => sum);
    for (let k = 0; k < K; k++) {
      close([combine(sums("alpha", 0, k), 1)], [all.alpha[OFFSET * K + k]]);
      close([combine(sums("best", 0, k), 0)], [all.best[OFFSET * K + k]]);
      close([combine(sums("beta", DRAWN - 1, k), 1)], [all.beta[(OFFSET + DRAWN - 1) * K + k]]);
      close([messageInto(model, 0, k)], [all.alpha[OFFSET * K + k] - chain.emissions[OFFSET * K + k]]);
    }
    close([combine(sums("z", 0, 0), 1)], [all.logPartition]);
  });

  test("of a host that computes all is cut from all", () => {
    const solved = solve(chain);
    const all = decode({
      ...payload(chain),
      offset: 0,
      total: T,
      words: WORDS,
      results: { ...payload(chain).results, path: solved.rows.viterbi },
    });
    const edits = { ...all.edits, emissions: new Map([["3,1", 7]]) };
    const cut = windowed(
      {
        ...all,
        edits,
        results: { ...solved, path: solved.rows.viterbi },
        rows: [{ id: "v", tags: solved.rows.viterbi }],
        chosen: [3, 1],
      },
      { offset: OFFSET, T: DRAWN },
    );
    assert.deepEqual([cut.words, cut.offset, cut.total, cut.T], [["c", "d", "e"], OFFSET, T, DRAWN]);
    close(cut.results.marginals, inSight(enumerate(chain).marginals));
    assert.deepEqual(cut.rows[0].tags, solved.rows.viterbi.slice(OFFSET, OFFSET + DRAWN));
    assert.deepEqual([[...cut.edits.emissions], cut.chosen], [[["1,1", 7]], [1, 1]]);
    close(cut.trained.emissions, inSight(chain.emissions));
  });
});

describe("the strip of the whole", () => {
  const solved = solve(randomChain(12, { T: 7, K: 3 }));
  const model = { K: 3, total: 7, solved };

  test("has a column for each word where there is room", () => {
    const { best, marginals } = sharesIn(model, 7);
    close(marginals, Array.from(solved.marginals));
    solved.rows.viterbi.forEach((k, t) => assert.equal(best[3 * t + k], 1));
    assert.equal(
      best.reduce((sum, share) => sum + share, 0),
      7,
    );
  });

  test("has means where a column holds several words, each in one column", () => {
    const { best, marginals } = sharesIn(model, 3);
    const groups = [
      [0, 1],
      [2, 3, 4],
      [5, 6],
    ]; // 7 / 3 = 2.33, 4.67: the edges are 2 and 5
    groups.forEach((words, column) => {
      for (let k = 0; k < 3; k++) {
        const mean = words.reduce((sum, t) => sum + solved.marginals[3 * t + k], 0) / words.length;
        const share = words.filter((t) => solved.rows.viterbi[t] === k).length / words.length;
        close([marginals[3 * column + k], best[3 * column + k]], [mean, share]);
      }
    });
  });
});
