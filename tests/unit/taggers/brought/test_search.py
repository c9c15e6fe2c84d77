"""`watch` on CRF layers that no adapter knows, and on modules that are no chains."""

import math
from itertools import pairwise, product

import pytest
import torch
from torch import nn

import crfviz
from crfviz.exceptions import FormatError, ShapeError
from crfviz.taggers.brought import recorder
from crfviz.taggers.brought.watch import Watch
from tests.support import unknown_layers as layers
from tests.support import watch_cost

TAGS = {"B": 0, "I": 1, "O": 2, layers.START: 3, layers.STOP: 4}
KINDS = {
    "one by one": (lambda: layers.OneByOne(TAGS), "sentence", "transitions[to, from], START is 3"),
    "root and end": (layers.RootAndEnd, "lengths", "weights[from, to], START is 0, STOP is 1"),
    "constrained": (layers.Constrained, "mask", "start start_transitions, end end_transitions"),
    "two more": (layers.TwoMore, "mask", "transitions[from, to], START is 4, STOP is 5"),
    "bare matrix": (layers.BareMatrix, "time", "A[to, from]"),
    "start only": (layers.StartOnly, "mask", "moves[from, to], start initial"),
}


def watched(model, calls, tags=None):
    model.eval()
    with torch.no_grad(), crfviz.watch(model, tags) as seen:
        for call in calls:
            model(*call)
    return seen


def best_by_enumeration(chain):
    """The best path of a chain by all paths, in plain Python."""
    emissions, steps = chain.emissions.tolist(), chain.transitions.tolist()
    start, end = chain.start.tolist(), chain.end.tolist()

    def score(path):
        moves = sum(steps[a][b] for a, b in pairwise(path))
        words = sum(row[tag] for row, tag in zip(emissions, path, strict=True))
        return start[path[0]] + words + moves + end[path[-1]]

    return max(product(range(chain.num_tags), repeat=len(emissions)), key=score)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_chain_of_an_unknown_layer_has_its_paths(kind, seed):
    torch.manual_seed(seed)
    make, arguments, said = KINDS[kind]
    model = make()
    seen = watched(model, list(layers.batches(arguments, 25)))
    chains = seen.potentials
    assert len(chains) > 7
    assert said in seen.notes[0]
    assert f"{len(chains)} of {len(chains)} paths" in seen.notes[0]
    for chain, path in zip(chains, seen.theirs, strict=True):  # words come twice: some paths tie
        assert crfviz.viterbi(chain).score == pytest.approx(chain.score(path), abs=1e-4)
    short = [n for n, chain in enumerate(chains) if chain.num_tokens <= 5]
    for number in short[:4]:
        best = chains[number].score(list(best_by_enumeration(chains[number])))
        assert best == pytest.approx(chains[number].score(seen.theirs[number]), abs=1e-4)


def test_start_and_stop_are_not_word_tags():
    model = layers.OneByOne(TAGS)
    seen = watched(model, list(layers.batches("sentence")))
    assert seen.potentials[0].tags == ("B", "I", "O")
    assert torch.isneginf(seen.potentials[0].transitions).sum() == 0
    sentences = list(layers.batches("sentence"))
    named = watched(model, sentences, ["X", "Y", "Z"])
    assert named.potentials[0].tags == ("X", "Y", "Z")
    whole = watched(model, sentences, ["X", "Y", "Z", "<s>", "</s>"])
    assert whole.potentials[0].tags == ("X", "Y", "Z")
    with pytest.raises(ShapeError, match="expected 3 tags, got 4"):
        watched(model, sentences, ["X", "Y", "Z", "W"]).potentials  # noqa: B018 - it searches


def test_model_is_restored_after_the_block_and_after_an_error():
    model = layers.OneByOne(TAGS)
    before = dict(vars(model))
    seen = Watch(model, None, None, lambda *_: None)
    with pytest.raises(IndexError), seen:
        model(torch.tensor([layers.WORDS + 1]))
    assert dict(vars(model)) == before
    assert not model._forward_hooks
    assert all("forward" not in vars(module) for module in model.modules())


def test_watched_model_returns_the_same_results():
    model = layers.TwoMore().eval()
    rows, mask = layers.padded(4)
    alone = model(rows, mask)
    with crfviz.watch(model):
        assert torch.equal(model(rows, mask), alone)


class Scored(layers.Tagger):
    """Scores of tags, of which the best of each word is returned, beside a square parameter."""

    def __init__(self, square):
        super().__init__(4)
        self.square = square

    def forward(self, rows):
        return self.mixed(self.emissions(rows)).argmax(-1)

    def mixed(self, scores):
        return scores


class Attention(Scored):
    def __init__(self):
        super().__init__(nn.Parameter(torch.randn(4, 4)))

    def mixed(self, scores):
        return torch.softmax(scores @ self.square @ scores.transpose(-1, -2), -1) @ scores


class Multiplied(Scored):
    def __init__(self):
        super().__init__(nn.Linear(4, 4))

    def mixed(self, scores):
        return self.square(scores)


class Normed(Scored):
    def __init__(self):
        super().__init__(nn.Parameter(torch.eye(4)))


class Recurrent(Scored):
    def __init__(self):
        super().__init__(nn.RNN(4, 4, batch_first=True))

    def mixed(self, scores):
        return self.square(scores)[0]


class Gated(Scored):
    def __init__(self):
        super().__init__(nn.GRUCell(4, 4))

    def mixed(self, scores):
        return torch.stack([self.square(row) for row in scores])


class Bilinear(Scored):
    def __init__(self):
        super().__init__(nn.Bilinear(4, 4, 4))

    def mixed(self, scores):
        return self.square(scores, scores)


class Embedded(Scored):
    def __init__(self):
        super().__init__(nn.Embedding(4, 4))

    def mixed(self, scores):
        return scores + self.square(scores.argmax(-1))


class Smoothed(Scored):
    def __init__(self):
        super().__init__(nn.Parameter(torch.rand(4, 4).softmax(1)))

    def mixed(self, scores):
        return scores.softmax(-1) @ self.square


class Convolved(Scored):
    def __init__(self):
        super().__init__(nn.Conv1d(4, 4, 3, padding=1))

    def mixed(self, scores):
        return self.square(scores.transpose(1, 2)).transpose(1, 2)


class Greedy(Scored):
    """Steps from the last word's tag, left to right: no best path."""

    def __init__(self):
        super().__init__(nn.Parameter(3 * torch.randn(4, 4)))

    def forward(self, rows):
        paths = []
        for row in self.emissions(rows):
            tags = [int(row[0].argmax())]
            for scores in row[1:]:
                tags.append(int((scores + self.square[tags[-1]]).argmax()))
            paths.append(tags)
        return paths


LOOKALIKES = [
    *(Attention, Multiplied, Normed, Recurrent, Gated, Bilinear, Embedded, Smoothed, Convolved),
    Greedy,
]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", LOOKALIKES)
def test_square_parameter_outside_a_chain_is_rejected(kind, seed):
    torch.manual_seed(seed)
    if kind in (Gated, Bilinear, Convolved):  # their parameters are longer than wide
        with pytest.raises(FormatError, match="or a square parameter that may have"):
            crfviz.watch(kind())
        return
    seen = watched(kind(), [(layers.words(4, 8),) for _ in range(5)])
    assert seen.notes[0].startswith("No chain was found")
    assert "register_adapter" in seen.notes[0]
    with pytest.raises(FormatError, match="No chain was found"):
        seen.potentials  # noqa: B018 - it searches
    with pytest.raises(FormatError, match="No chain was found"):
        seen.bring("x")


class LossAlone(Scored):
    """A layer that scores gold tags and decodes nothing."""

    def __init__(self):
        square = torch.randn(4, 4)
        square[:, 0] = 20  # its best path has tag 0 alone, as the gold tags have
        super().__init__(nn.Parameter(square))

    def forward(self, rows, gold):
        emissions = self.emissions(rows)
        steps = self.square[gold[:, :-1], gold[:, 1:]].sum(1)
        return -(emissions.gather(2, gold[..., None]).sum((1, 2)) + steps).mean()


def test_gold_tags_among_the_arguments_are_not_recorded_as_paths():
    torch.manual_seed(0)
    gold = torch.zeros(5, 6, dtype=torch.long)
    seen = watched(LossAlone(), [(layers.words(5, 6), gold) for _ in range(3)])
    with pytest.raises(FormatError, match="No chain was found"):
        seen.potentials  # noqa: B018 - it searches


def test_two_matching_readings_ask_for_more_runs():
    torch.manual_seed(0)
    model = layers.BareMatrix()
    seen = watched(model, [(layers.words(2, 1),)])
    with pytest.raises(FormatError, match="Run more"):
        seen.potentials  # noqa: B018 - it searches
    model.eval()
    with torch.no_grad(), seen:
        for call in layers.batches("time"):
            model(*call)
    assert "A[to, from]" in seen.notes[0]


def test_symmetric_matrix_is_noted():
    torch.manual_seed(0)
    model = layers.BareMatrix()
    model.A.data = model.A.data + model.A.data.T
    seen = watched(model, list(layers.batches("time")))
    assert "A[from, to], which is symmetric" in seen.notes[0]


class WrongPointers(layers.OneByOne):
    """Decodes with the backpointers of the step before; its scores are right."""

    def decode(self, features):
        score, path = super().decode(features)
        return score, [path[0], *path[:-1]] if len(path) > 3 else path


class WrongPaths(layers.StartOnly):
    """Returns no scores, and a wrong last tag in long sentences."""

    def predict(self, emissions, mask):
        paths = [path.tolist() for path in layers.StartOnly.predict(self, emissions, mask)]
        return [[*path[:-1], (path[-1] + 1) % 3] if len(path) > 6 else path for path in paths]


def test_layer_with_a_decoding_bug_is_recognised_by_its_scores():
    torch.manual_seed(0)
    model = WrongPointers(TAGS)
    seen = watched(model, list(layers.batches("sentence", 20)))
    chains = seen.potentials
    best = [best_by_enumeration(chain) for chain in chains if chain.num_tokens <= 5]
    short = [n for n, chain in enumerate(chains) if chain.num_tokens <= 5]
    right = sum(crfviz.viterbi(c).path == p for c, p in zip(chains, seen.theirs, strict=True))
    assert right < len(chains)
    assert "scores are reproduced" in seen.notes[0]
    assert (
        f"are the best in {right} of {len(chains)} sentences: it decodes wrongly" in seen.notes[0]
    )
    wrong = [n for n, path in zip(short, best, strict=True) if list(path) != seen.theirs[n]]
    assert wrong
    note = next(n for n in seen.notes if n.startswith(f"sentence {wrong[0] + 1}: the path of"))
    chain, theirs = chains[wrong[0]], seen.theirs[wrong[0]]
    gap = chain.score(list(best[short.index(wrong[0])])) - chain.score(theirs)
    assert f"theirs scores {gap:.4g} less" in note


def test_wrong_paths_without_scores_are_rejected_naming_the_closest_reading():
    torch.manual_seed(0)
    seen = watched(WrongPaths(), list(layers.batches("mask", 25)))
    with pytest.raises(FormatError, match="No chain was found") as error:
        seen.potentials  # noqa: B018 - it searches
    said = str(error.value)
    assert "The closest reading is moves[from, to], start initial" in said
    assert "the model's path" in said
    assert "less than ours" in said


def test_single_words_or_a_single_tag_are_rejected():
    torch.manual_seed(0)
    seen = watched(layers.OneByOne(TAGS), [(layers.words(1),) for _ in range(3)])
    assert "every sentence has one word, which no transition scores" in seen.notes[0]
    with pytest.raises(FormatError, match="one tag has nothing to decode"):
        crfviz.watch(layers.StartOnly(1))


def test_nan_and_training_mode_are_noted_and_half_precision_is_read():
    torch.manual_seed(0)
    model = layers.StartOnly()
    seen = watched(model.bfloat16(), list(layers.batches("mask")))
    assert [len(chain.emissions) for chain in seen.potentials] == list(map(len, seen.theirs))
    model = layers.StartOnly().train()
    with crfviz.watch(model) as seen:
        for call in layers.batches("mask"):
            model(*call)
    assert any("training mode" in note for note in seen.notes)
    model.scores.bias.data[:] = math.nan
    seen = watched(model, list(layers.batches("mask")))
    assert "NaN" in seen.notes[0]


@pytest.mark.parametrize("kind", watch_cost.KINDS)
def test_watching_at_most_doubles_the_time(kind):
    best = min((watch_cost.cost(kind, 10) for _ in range(3)), key=lambda each: each["ratio"])
    assert best["ratio"] <= 2
    assert best["kept_mb"] < 1


def test_recording_stops_at_its_limit(monkeypatch):
    monkeypatch.setattr(recorder, "MAX_BYTES", 2000)
    model = layers.OneByOne(TAGS)
    seen = watched(model, list(layers.batches("sentence", 40)))
    kept = [t for call in seen._search.calls for t in call.scores.values()]
    assert 0 < sum(t.numel() * t.element_size() for t in kept) <= 2000


def test_recognised_chain_can_be_brought(tmp_path, monkeypatch):
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path))
    model = layers.OneByOne(TAGS)
    seen = watched(model, list(layers.batches("sentence")))
    seen.words = [[f"w{n}" for n in range(chain.num_tokens)] for chain in seen.potentials]
    assert seen.bring("found").tags == ("B", "I", "O")
