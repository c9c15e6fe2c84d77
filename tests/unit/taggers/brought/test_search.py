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


@pytest.mark.parametrize("seed", range(2))
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


HELPERS = ["path", "score, path", "path, score"]
RESULTS = ["paths", "paths, scores", "pairs", "columns", "padded", "last"]
LENGTHS = [3, 7, 4, 2, 6, 3, 4, 5]


def looped_batch():
    """Word ids of eight sentences in a batch, with padding, and their lengths."""
    rows = layers.words(8, 7)
    return rows * (torch.arange(7) < torch.tensor(LENGTHS)[:, None]), torch.tensor(LENGTHS)


def best_by_loop(model, row):
    """The best path of a sentence by all paths, in plain Python."""
    tags = range(len(model.transitions) - 2)
    return max(product(tags, repeat=len(row)), key=lambda path: layers.score_of(model, row, path))


def has_own_scores(chain, model, row):
    """Return whether a chain scores each tag of a sentence as the model does."""
    own = model.emissions(row).tolist()
    ours = torch.as_tensor(chain.emissions).tolist()
    return ours == [pytest.approx(scores[:-2]) for scores in own]


@pytest.mark.parametrize("helper", HELPERS)
@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("order", ["given", "restored"])
def test_loop_over_the_sentences_of_a_batch_has_all_of_them(helper, result, order):
    torch.manual_seed(5)
    model = layers.Looped(helper, result, order).requires_grad_(False)
    calls = [looped_batch() for _ in range(3)]
    named = [[f"{n}.{t}" for t in range(length)] for n, length in enumerate(3 * LENGTHS)]
    seen = watched(model, calls)
    if (order, result) == ("restored", "last"):
        assert "in another order than the model: compare their words" in seen.notes[1]
        return
    seen.words = named
    rows = [row[:n] for words, lengths in calls for row, n in zip(words, lengths, strict=True)]
    assert len(seen.potentials) == len(rows) == 24
    assert seen.notes[0] == f"{READ_AS}; 24 of 24 paths are reproduced."
    assert all("have the same path: compare their words" in note for note in seen.notes[1:])
    assert order == "restored" or len(seen.notes) == 1
    for chain, path, row, words in zip(seen.potentials, seen.theirs, rows, named, strict=True):
        assert list(chain.tokens) == words
        assert has_own_scores(chain, model, row)
        if len(row) < 6:
            best = best_by_loop(model, row)
            expected = layers.score_of(model, row, best)
            assert chain.score(path) == pytest.approx(expected, abs=1e-4)


READ_AS = "transitions[to, from], START is 4, STOP is 5"


@pytest.mark.parametrize("helper", HELPERS)
@pytest.mark.parametrize("result", RESULTS)
def test_wrong_backpointers_in_two_of_eight_sentences_are_named(helper, result):
    torch.manual_seed(1)
    model = layers.Looped(helper, result, wrong=6).requires_grad_(False)
    words, lengths = looped_batch()
    seen = watched(model, [(words, lengths)])
    if helper == "path":
        with pytest.raises(FormatError, match="No chain was found") as error:
            seen.potentials  # noqa: B018 - it searches
        assert f"The closest reading is {READ_AS}: 6 of 8 paths. Sentence 2: " in str(error.value)
        assert "So do those of 5." in str(error.value)
        return
    rows = [row[:n] for row, n in zip(words, lengths, strict=True)]
    assert len(seen.potentials) == 8
    assert "8 of 8 scores are reproduced" in seen.notes[0]
    assert "are the best in 6 of 8 sentences: it decodes wrongly" in seen.notes[0]
    assert [note.partition(":")[0] for note in seen.notes[1:]] == ["sentence 2", "sentence 5"]
    for number, (chain, row) in enumerate(zip(seen.potentials, rows, strict=True)):
        assert has_own_scores(chain, model, row)
        path = list(best_by_loop(model, row)) if len(row) < 6 else crfviz.viterbi(chain).path
        assert (seen.theirs[number] == path) == (number not in (1, 4))


def test_sorted_batch_whose_paths_are_returned_sorted_is_noted():
    torch.manual_seed(2)
    seen = watched(layers.Looped(order="sorted"), [looped_batch()])
    assert "another order than the model: compare their words" in seen.notes[1]
    seen.words = [["word"] * n for n in LENGTHS]
    with pytest.raises(ShapeError, match="sentence 1: expected 7 words"):
        seen.potentials  # noqa: B018 - it searches


class Padded(layers.Looped):
    """Decodes padding, too, and cuts the paths."""

    def decode(self, features):  # noqa: ARG002 - as in the base class
        return super().decode(self.whole[next(self.numbers)])

    def forward(self, words, lengths):
        self.whole, self.numbers = self.emissions(words), iter(range(len(words)))
        paths = super().forward(words, lengths)
        return [path[:n] for path, n in zip(paths, lengths, strict=True)]


class PaddedRows(Padded):
    """The same by a helper that gets the whole row."""

    def decode(self, features):  # noqa: ARG002 - as in the base class
        return self.best(self.whole[next(self.numbers)])

    def best(self, features):
        return layers.Looped.decode(self, features)


@pytest.mark.parametrize("kind", [Padded, PaddedRows])
def test_decoded_padding_is_noted_or_rejected(kind):
    torch.manual_seed(3)
    seen = watched(kind(), [looped_batch() for _ in range(2)])
    if kind is Padded:
        assert seen.notes[0].startswith("No chain was found")
    else:
        assert "7 of 8 sentences end with padding, which the layer decodes." in seen.notes


class Shortcut(layers.Looped):
    """Words alone do without the helper, and the scores of a batch are never together."""

    def forward(self, words, lengths):
        paths = []
        for row, n in zip(words, lengths, strict=True):
            if n < 3:
                paths.append([0] * int(n))
            else:
                paths.append(self.decode(self.emissions(row[:n])))
        return paths


def test_sentences_without_scores_are_counted():
    torch.manual_seed(4)
    seen = watched(Shortcut(), [looped_batch() for _ in range(4)])
    assert "returned 8 paths in a call, and the scores of only 7" in seen.notes[0]
    with pytest.raises(FormatError, match="scores of only 7"):
        seen.potentials  # noqa: B018 - it searches


class Changed(layers.Looped):
    """The helper is right, and the model reverses the longest path."""

    def forward(self, words, lengths):
        paths = super().forward(words, lengths)
        return [path[::-1] if len(path) == 7 else path for path in paths]


def test_paths_that_the_model_changes_are_named():
    torch.manual_seed(6)
    seen = watched(Changed(), [looped_batch(), looped_batch()])
    assert "best in 14 of 16 sentences: it decodes wrongly" in seen.notes[0]
    assert [note.partition(":")[0] for note in seen.notes[1:]] == ["sentence 2", "sentence 10"]


class Chunked(layers.RootAndEnd):
    """A batch in chunks, and the scores of each as log probabilities."""

    def forward(self, words, lengths):
        pairs = zip(words.split(3), lengths.split(3), strict=True)
        return [path for chunk in pairs for path in self.part(*chunk)]

    def part(self, words, lengths):
        return super().forward(words, lengths)

    def emissions(self, words):
        return self.normalised(super().emissions(words))

    def normalised(self, scores):
        return scores.log_softmax(-1)


def test_chunks_and_scores_up_to_constants_are_one_chain():
    torch.manual_seed(7)
    model = Chunked().requires_grad_(False)
    calls = [looped_batch() for _ in range(3)]
    seen = watched(model, calls)
    rows = [row[:n] for words, lengths in calls for row, n in zip(words, lengths, strict=True)]
    assert seen.notes == [
        "weights[from, to], START is 0, STOP is 1; 24 of 24 paths are reproduced."
    ]
    for chain, row in zip(seen.potentials, rows, strict=True):
        assert chain.emissions.tolist() == [
            pytest.approx(scores[2:]) for scores in model.emissions(row).tolist()
        ]


class Packed(layers.Looped):
    """Packs the scores of a batch, and gives them to a helper that unpacks them."""

    def forward(self, words, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(
            self.embedding(words), lengths, batch_first=True, enforce_sorted=False
        )
        return self.all_paths(packed._replace(data=2 * self.scores(packed.data)))

    def all_paths(self, packed):
        rows, lengths = nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
        return [self.decode(row[:n]) for row, n in zip(rows, lengths, strict=True)]


def test_packed_scores_keep_the_order_of_the_batch():
    torch.manual_seed(8)
    model = Packed().requires_grad_(False)
    calls = [looped_batch() for _ in range(3)]
    seen = watched(model, calls)
    rows = [row[:n] for words, lengths in calls for row, n in zip(words, lengths, strict=True)]
    assert len(seen.potentials) == 24
    assert len(seen.notes) == 1
    for chain, row in zip(seen.potentials, rows, strict=True):
        assert has_own_scores(chain, model, row)


def test_failed_call_is_not_recorded():
    torch.manual_seed(9)
    model = layers.Looped()
    words, lengths = looped_batch()
    with torch.no_grad(), crfviz.watch(model.eval()) as seen:
        model(words, lengths)
        with pytest.raises(IndexError):
            model(words, lengths - 2)
        model(words, lengths)
    assert len(seen.potentials) == 16


class Numbered(layers.Looped):
    """The helper gets the number of a sentence, so that nothing shows which scores it reads."""

    def forward(self, words, lengths):
        self.rows, self.lengths = self.emissions(words), lengths
        return [self.numbered(number) for number in range(len(words))]

    def numbered(self, number):
        steps, row = self.transitions.T, self.rows[number][: self.lengths[number]]
        return layers.best_path(row, steps, steps[-2], steps[:, -1])[1]


@pytest.mark.parametrize("seed", [2, 4])
@pytest.mark.parametrize("result", ["paths", "padded"])
@pytest.mark.parametrize("order", ["sorted", "restored"])
def test_one_sorted_call_is_read_by_the_scores_that_the_helper_gets(order, result, seed):
    torch.manual_seed(seed)  # half of these scores would have the same paths, or all are tag 0
    seen = watched(layers.Looped("path", result, order), [looped_batch()])
    assert seen.notes[0] == f"{READ_AS}; 8 of 8 paths are reproduced."


def test_message_names_each_reading_once():
    torch.manual_seed(4)
    seen = watched(Numbered(), [looped_batch()])  # its scores, and twice as much
    names = seen.notes[0].partition("all paths: ")[2].partition(". Run more")[0].split("; or ")
    assert len(names) == len(set(names)) > 1


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


@pytest.mark.parametrize("seed", range(2))
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
    scores = [t for call in seen._search.calls for each in call.scores.values() for t in each]
    kept = {id(each): each for each in scores}.values()
    assert 0 < sum(t.numel() * t.element_size() for t in kept) <= 2000


def test_recognised_chain_can_be_brought(tmp_path, monkeypatch):
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path))
    model = layers.OneByOne(TAGS)
    seen = watched(model, list(layers.batches("sentence")))
    seen.words = [[f"w{n}" for n in range(chain.num_tokens)] for chain in seen.potentials]
    assert seen.bring("found").tags == ("B", "I", "O")
