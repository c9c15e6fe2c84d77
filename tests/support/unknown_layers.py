"""CRF layers in styles that people use for their own code, and modules that only look like one.

Each layer has its own decoding loops. `run` calls a model on sentences of word ids.
"""

import numpy as np
import torch
from torch import nn

WORDS = 30  # size of the vocabulary
NEVER = -10000.0
START, STOP = "<START>", "<STOP>"


def best_path(scores, steps, first, last):
    """Return the best score and path for (T, K) scores and [from, to] transitions, by loops."""
    table, pointers = first + scores[0], []
    for row in scores[1:]:
        best, pointer = (table[:, None] + steps).max(0)
        pointers.append(pointer)
        table = best + row
    table = table + last
    path = [int(table.argmax())]
    for pointer in reversed(pointers):
        path.append(int(pointer[path[-1]]))
    return table.max(), path[::-1]


class OneByOne(nn.Module):
    """One sentence per call; transitions [to, from], START and STOP as tags; (score, path)."""

    def __init__(self, tag_to_ix):
        super().__init__()
        self.tag_to_ix = tag_to_ix
        self.embedding = nn.Embedding(WORDS, 6)
        self.lstm = nn.LSTM(6, 4, bidirectional=True)
        self.hidden2tag = nn.Linear(8, len(tag_to_ix))
        self.transitions = nn.Parameter(torch.randn(len(tag_to_ix), len(tag_to_ix)))
        self.transitions.data[tag_to_ix[START], :] = NEVER
        self.transitions.data[:, tag_to_ix[STOP]] = NEVER

    def features(self, words):
        hidden, _ = self.lstm(self.embedding(words).view(len(words), 1, -1))
        return self.hidden2tag(hidden.view(len(words), -1))

    def decode(self, features):
        steps, start, stop = self.transitions.T, self.tag_to_ix[START], self.tag_to_ix[STOP]
        return best_path(features, steps, steps[start], steps[:, stop])

    def forward(self, words):
        return self.decode(self.features(words))


class Tagger(nn.Module):
    """An embedding and a linear layer of tag scores, the base of layers that take batches."""

    def __init__(self, num_tags):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, 8)
        self.scores = nn.Linear(8, num_tags)

    def emissions(self, words):
        return 2 * self.scores(self.embedding(words))


class RootAndEnd(Tagger):
    """Batches with lengths; root and end are the first two tags, transitions [from, to]."""

    def __init__(self, num_tags=4):
        super().__init__(num_tags + 2)
        self.weights = nn.Parameter(torch.randn(num_tags + 2, num_tags + 2))
        with torch.no_grad():
            self.weights[:, 0] = NEVER
            self.weights[1, :] = NEVER

    def forward(self, words, lengths):
        steps = self.weights
        return [
            best_path(row[: int(n)], steps, steps[0], steps[:, 1])[1]
            for row, n in zip(self.emissions(words), lengths, strict=True)
        ]


class Constrained(Tagger):
    """Transitions, start and end, a mask of allowed transitions with two more rows; dicts."""

    def __init__(self, num_tags=5):
        super().__init__(num_tags)
        self.transitions = nn.Parameter(torch.randn(num_tags, num_tags))
        self.start_transitions = nn.Parameter(torch.randn(num_tags))
        self.end_transitions = nn.Parameter(torch.randn(num_tags))
        allowed = (torch.rand(num_tags + 2, num_tags + 2) > 0.3).float()
        allowed[:num_tags, :num_tags].fill_diagonal_(1.0)
        allowed[num_tags, :2], allowed[:2, num_tags + 1] = 1.0, 1.0
        self.constraint_mask = nn.Parameter(allowed, requires_grad=False)

    def viterbi_tags(self, logits, mask):
        size = logits.shape[-1]
        allowed = self.constraint_mask.bool()
        steps = self.transitions.masked_fill(~allowed[:size, :size], NEVER)
        first = self.start_transitions.masked_fill(~allowed[size, :size], NEVER)
        last = self.end_transitions.masked_fill(~allowed[:size, size + 1], NEVER)
        rows = zip(logits, mask, strict=True)
        return [best_path(row[: int(there.sum())], steps, first, last)[::-1] for row, there in rows]

    def forward(self, words, mask):
        logits = self.emissions(words)
        best = self.viterbi_tags(logits, mask)
        return {"logits": logits, "mask": mask, "tags": [path for path, _ in best]}


class TwoMore(Tagger):
    """START and STOP are the last two tags, padding is the first; a padded tensor of paths."""

    def __init__(self, num_tags=4):
        super().__init__(num_tags + 2)
        steps = torch.randn(num_tags + 2, num_tags + 2)
        steps[:, -2], steps[-1, :], steps[:, 0], steps[0, :] = NEVER, NEVER, NEVER, NEVER
        self.transitions = nn.Parameter(steps)

    def decode(self, features, mask):
        steps, paths = self.transitions, torch.zeros(mask.shape, dtype=torch.long)
        for row, there, path in zip(features, mask, paths, strict=True):
            length = int(there.long().sum())
            found = best_path(row[:length], steps, steps[-2], steps[:, -1])[1]
            path[:length] = torch.tensor(found)
        return paths

    def forward(self, words, mask):
        return self.decode(self.emissions(words), mask)


class BareMatrix(Tagger):
    """An unusually named matrix [to, from], time first, no start or end; a tensor of paths."""

    def __init__(self, num_tags=4):
        super().__init__(num_tags)
        self.A = nn.Parameter(torch.randn(num_tags, num_tags))

    def forward(self, words):
        none = torch.zeros(len(self.A))
        rows = self.emissions(words).transpose(0, 1)
        return torch.tensor([best_path(row, self.A.T, none, none)[1] for row in rows]).T


class StartOnly(Tagger):
    """A start vector without an end vector; returns NumPy arrays."""

    def __init__(self, num_tags=4):
        super().__init__(num_tags)
        self.moves = nn.Parameter(torch.randn(num_tags, num_tags))
        self.initial = nn.Parameter(torch.randn(num_tags))

    def predict(self, emissions, mask):
        none = torch.zeros(len(self.initial))
        return [
            np.array(best_path(row[: int(there.sum())], self.moves, self.initial, none)[1])
            for row, there in zip(emissions, mask, strict=True)
        ]

    def forward(self, words, mask):
        return self.predict(self.emissions(words), mask)


class Looped(Tagger):
    """A forward over a batch that decodes one sentence after the other by a helper.

    Args:
        helper: what the helper returns, "path", "score, path" or "path, score".
        result: what the model returns: "paths", "paths, scores", "pairs", "columns" (a tuple of
            paths and one of scores), "padded" (a tensor) or "last" (nothing of the helper).
        order: "given", or the batch is sorted by length for the helper: "sorted" returns the
            sorted paths, "restored" those in the order of the batch.
        wrong: number of words from which on the backpointers are those of the step before.
    """

    def __init__(self, helper="path", result="paths", order="given", wrong=100, num_tags=4):
        super().__init__(num_tags + 2)
        self.helper, self.result, self.order, self.wrong = helper, result, order, wrong
        steps = torch.randn(num_tags + 2, num_tags + 2)
        steps[-2], steps[:, -1] = NEVER, NEVER  # [to, from]
        self.transitions = nn.Parameter(steps)

    def decode(self, features):
        steps = self.transitions.T
        score, path = best_path(features, steps, steps[-2], steps[:, -1])
        path = [path[0], *path[:-1]] if len(path) >= self.wrong else path
        return {"path": path, "score, path": (score, path), "path, score": (path, score)}[
            self.helper
        ]

    def forward(self, words, lengths):
        order = torch.arange(len(words))
        if self.order != "given":
            order = lengths.argsort(descending=True)
        rows = self.emissions(words[order])
        found = [self.decode(row[:n]) for row, n in zip(rows, lengths[order], strict=True)]
        if self.order == "restored":
            found = [found[int(number)] for number in order.argsort()]
        if self.helper == "path":
            paths, scores = found, [0.0] * len(found)
        else:
            swapped = self.helper == "score, path"
            paths, scores = ([each[part] for each in found] for part in (swapped, not swapped))
        if self.result == "padded":
            rows = [torch.tensor(path) for path in paths]
            return nn.utils.rnn.pad_sequence(rows, batch_first=True)
        pairs = list(zip(paths, scores, strict=True))
        columns = tuple(zip(*pairs, strict=True))
        results = {"paths": paths, "paths, scores": (paths, scores), "last": rows[-1, -1, 0]}
        return {**results, "pairs": pairs, "columns": columns}[self.result]


def score_of(model, row, path):
    """Return the score of a path of a `Looped` model for the word ids of a sentence, by a sum."""
    steps = model.transitions.tolist()
    start, stop = len(steps) - 2, len(steps) - 1
    total = 0.0
    for before, tag, scores in zip(
        [start, *path[:-1]], path, model.emissions(row).tolist(), strict=True
    ):
        total += steps[tag][before] + scores[tag]
    return total + steps[stop][path[-1]]


def words(*shape):
    return torch.randint(0, WORDS, shape)


def padded(number):
    """Return the word ids and the mask of random sentences of 2 to 9 words."""
    lengths = [int(torch.randint(2, 10, ())) for _ in range(number)]
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return words(*mask.shape) * mask, mask


def batches(kind, number=8):
    """Yield the arguments of each call, in the form that a kind of layer takes."""
    for _ in range(number):
        if kind == "sentence":
            yield (words(int(torch.randint(3, 10, ()))),)
        elif kind == "lengths":
            rows, mask = padded(4)
            yield rows, mask.sum(1)
        elif kind == "mask":
            yield padded(4)
        elif kind == "time":
            yield (words(int(torch.randint(3, 10, ())), int(torch.randint(1, 5, ()))),)
