"""A student's program for the tables of a chain, in plain loops, with mistakes as options.

Shares no code with crfviz. `BUGS` names each mistake as `check_table` should report it.
"""

import math

NEVER = -math.inf


def log_sum(scores):
    best = max(scores)
    if best == NEVER:
        return NEVER
    return best + math.log(sum(math.exp(score - best) for score in scores))


class Student:
    """One program; each option is a mistake."""

    def __init__(self, chain, **mistakes):
        self.e, self.w, self.s, self.f = (
            part.tolist() for part in (chain.emissions, chain.transitions, chain.start, chain.end)
        )
        self.T, self.K = len(self.e), len(self.s)
        self.tags = range(self.K)
        self.bug = mistakes
        if mistakes.get("finite"):
            self.e = [[max(x, -10000.0) for x in row] for row in self.e]
            self.w = [[max(x, -10000.0) for x in row] for row in self.w]
            self.s = [max(x, -10000.0) for x in self.s]
            self.f = [max(x, -10000.0) for x in self.f]
        if mistakes.get("raw"):
            self.e = [[math.exp(x) for x in row] for row in self.e]
        if mistakes.get("transposed"):
            self.w = [[self.w[k][j] for k in self.tags] for j in self.tags]
        if mistakes.get("no_start"):
            self.s = [0.0] * self.K
        if mistakes.get("no_end"):
            self.f = [0.0] * self.K
        self.normalise_scores()
        if padding := mistakes.get("padding"):
            self.e = self.e + [[0.0] * self.K] * padding
        times = mistakes.get("emission", 1)
        self.e = [[times * x if times else 0.0 for x in row] for row in self.e]

    def normalise_scores(self):
        if self.bug.get("columns_normalised"):
            sums = [log_sum([self.w[j][k] for j in self.tags]) for k in self.tags]
            self.w = [[self.w[j][k] - sums[k] for k in self.tags] for j in self.tags]
        if self.bug.get("emissions_over_words"):
            sums = [log_sum([row[k] for row in self.e]) for k in self.tags]
            self.e = [[row[k] - sums[k] for k in self.tags] for row in self.e]

    def join(self, scores, default):
        if self.bug.get("no_log"):
            return sum(math.exp(score) if score < 700 else math.inf for score in scores)
        if self.bug.get("lost_maximum"):
            return log_sum(scores) - max(scores)
        return {"sum": log_sum, "max": max}[self.bug.get("join", default)](scores)

    def forward(self, join="sum"):
        table = [[self.s[k] + self.e[0][k] for k in self.tags]]
        for t in range(1, len(self.e)):
            table.append(
                [
                    self.e[t][k] + self.join([table[-1][j] + self.w[j][k] for j in self.tags], join)
                    for k in self.tags
                ]
            )
        return self.normalised(table)

    def backward(self):
        length = len(self.e)
        table = [None] * length
        table[-1] = list(self.f)
        shift = 0 if self.bug.get("emission_of_t") else 1
        for t in range(length - 2, -1, -1):
            after = [self.e[t + shift][k] + table[t + 1][k] for k in self.tags]
            table[t] = [
                self.join([self.w[j][k] + after[k] for k in self.tags], "sum") for j in self.tags
            ]
        if self.bug.get("shifted"):
            table = [*table[1:], [0.0] * self.K]
        return self.normalised(table[: self.T])

    def pointers(self):
        best = self.forward("max")

        def pointer(t, k):
            return max(self.tags, key=lambda j: (best[t - 1][j] + self.w[j][k], -j))

        later = ([pointer(t, k) for k in self.tags] for t in range(1, self.T))
        rows = [[-1] * self.K, *later]
        if self.bug.get("early"):
            rows = [*rows[1:], [-1] * self.K]
        if self.bug.get("from_one"):
            rows = [rows[0], *([pointer + 1 for pointer in row] for row in rows[1:])]
        return rows

    def table(self, kind):
        return {
            "alpha": self.forward,
            "beta": self.backward,
            "viterbi": lambda: self.forward("max"),
            "backpointers": self.pointers,
        }[kind]()

    def normalised(self, table):
        if not self.bug.get("over_words"):
            return table
        sums = [log_sum([row[k] for row in table]) for k in self.tags]
        return [[row[k] - sums[k] for k in self.tags] for row in table]


BUGS = [  # (name, kind of table, options of the mistake)
    ("end score forgotten", "beta", {"no_end": True}),
    ("start forgotten", "alpha", {"no_start": True}),
    ("start forgotten", "viterbi", {"no_start": True}),
    ("transposed matrix", "alpha", {"transposed": True}),
    ("transposed matrix", "beta", {"transposed": True}),
    ("transposed matrix", "viterbi", {"transposed": True}),
    ("emission added twice", "alpha", {"emission": 2}),
    ("emission added twice", "beta", {"emission": 2}),
    ("emission added twice", "viterbi", {"emission": 2}),
    ("emission left out", "alpha", {"emission": 0}),
    ("emission left out", "beta", {"emission": 0}),
    ("emission left out", "viterbi", {"emission": 0}),
    ("max for sum", "alpha", {"join": "max"}),
    ("max for sum", "beta", {"join": "max"}),
    ("sum for max", "viterbi", {"join": "sum"}),
    ("missing log", "alpha", {"no_log": True}),
    ("missing log", "alpha", {"raw": True}),
    ("beta off by one", "beta", {"shifted": True}),
    ("beta off by one", "beta", {"emission_of_t": True}),
    ("backpointer off by one", "backpointers", {"early": True}),
    ("backpointer off by one", "backpointers", {"from_one": True}),
    ("mask ignored", "beta", {"padding": 1}),
    ("mask ignored", "beta", {"padding": 3}),
    ("mask ignored", "alpha", {"padding": 2}),
    ("-10000 leaking", "alpha", {"finite": True}),
    ("-10000 leaking", "beta", {"finite": True}),
    ("-10000 leaking", "viterbi", {"finite": True}),
    ("wrong axis normalised", "alpha", {"over_words": True}),
    ("wrong axis normalised", "beta", {"over_words": True}),
    ("wrong axis normalised", "alpha", {"columns_normalised": True}),
    ("wrong axis normalised", "viterbi", {"emissions_over_words": True}),
    ("maximum not added back", "alpha", {"lost_maximum": True}),
    ("maximum not added back", "beta", {"lost_maximum": True}),
]
