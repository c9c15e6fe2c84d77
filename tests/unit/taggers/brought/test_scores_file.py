"""Scores of sentences as JSON and .npz: what is understood, and what is refused."""

import io
import json
import math
import pickle
import zipfile

import numpy as np
import pytest

from crfviz.chain.forward_backward import forward_backward
from crfviz.exceptions import FormatError
from crfviz.taggers.brought import files, parsed_model
from crfviz.taggers.brought.parsed_model import MAX_SENTENCES, MAX_TAGS, MAX_WORDS
from crfviz.taggers.brought.tagger import ImportedTagger
from crfviz.taggers.tagger import CRF, HMM, PERCEPTRON
from tests.support import oracle
from tests.support.brought import DOG, FALLS, TAGS, TRANSITIONS, as_json, as_npz, as_zip, understand

HMM_FILE = {
    "tags": ["C", "H"],
    "tokens": ["2", "3"],
    "probabilities": True,
    "start": [0.5, 0.5],
    "transitions": [[0.8, 0.1], [0.1, 0.8]],
    "end": [0.1, 0.1],
    "emissions": [[0.2, 0.2], [0.1, 0.7]],
}


def test_chosen_arrays_are_read_and_others_left_out():
    rows = {f"scores_{n}": np.full((2, 2), n) for n in range(3)}
    file = as_npz(**rows, emissions_0=np.zeros((1, 2)), other=np.zeros(4))
    found = understand(file, keys=(("scores", "emissions"),))
    assert [each.emissions.tolist() for each in found.sentences] == [
        [[n, n], [n, n]] for n in range(3)
    ]
    assert "Other arrays were chosen in place of emissions_0, other." in found.notes
    assert files.keys_of([file]) == {
        "emissions": ["scores", "emissions"],
        "transitions": ["scores"],
    }
    assert files.keys_of([as_npz(emissions=np.zeros((1, 2)))]) == {}
    both = as_npz(emissions=np.zeros((1, 2)), logits=np.ones((1, 2)))
    with pytest.raises(FormatError, match="are the same field"):
        understand(both)
    chosen = understand(both, keys=(("logits", "emissions"),))
    assert chosen.sentences[0].emissions.tolist() == [[1, 1]]


def test_json_of_two_sentences_is_read_unchanged():
    found = understand(as_json())
    assert (found.kind, found.family, found.tags) == ("Potentials as JSON", CRF, tuple(TAGS))
    first, second = found.sentences
    assert first.emissions.tolist() == DOG["emissions"]
    assert first.transitions.tolist() == second.transitions.tolist() == TRANSITIONS
    assert first.tokens == ("The", "dog", "barks")
    assert first.start.tolist() == second.end.tolist() == [0, 0, 0]
    assert found.notes == (
        "There are no start scores: zeros.",
        "There are no end scores: zeros.",
    )


def test_single_sentence_json_may_contain_minus_infinity():
    content = {**DOG, "transitions": [[0, "-inf", 0], [0, 0, 0], [0, 0, 0]], "end": [0, 0, -1]}
    text = json.dumps({**content, "start": [0, 0, -math.inf]})
    assert "-Infinity" in text
    found = understand(("dog.json", text.encode()))
    (chain,) = found.sentences
    assert chain.start[2] == chain.transitions[0, 1] == -math.inf
    assert chain.tags == ("0", "1", "2")
    assert "The tags are not named: they are called by their ids." in found.notes


def test_transitions_may_be_per_step_or_transposed():
    steps = np.arange(18.0).reshape(2, 3, 3)
    file = as_json(sentences=[{**DOG, "transitions": steps.tolist()}, FALLS])
    first, second = understand(file).sentences
    assert first.transitions.tolist() == steps.tolist()
    assert second.transitions.tolist() == TRANSITIONS
    first, second = understand(file, to_from=True).sentences
    assert second.transitions.tolist() == np.transpose(TRANSITIONS).tolist()
    assert first.transitions[1].tolist() == steps[1].T.tolist()


def test_probabilities_become_logarithms_of_an_hmm():
    found = understand(as_json(HMM_FILE))
    assert (found.family, found.unnormalised) == (HMM, ())
    says, goes = HMM_FILE["emissions"], HMM_FILE["transitions"]
    z = sum(0.5 * says[0][i] * goes[i][j] * says[1][j] * 0.1 for i in range(2) for j in range(2))
    assert forward_backward(found.sentences[0]).log_partition == pytest.approx(
        math.log(z), abs=1e-12
    )


def test_rows_that_do_not_sum_to_one_are_noted_and_normalised_on_request():
    rough = {**HMM_FILE, "transitions": [[8, 1], [1, 8]], "end": [1, 1], "start": [2, 2]}
    found = understand(as_json(rough))
    assert found.family == CRF
    assert found.unnormalised == (
        "start sums to 4",
        "transitions with end, row 'C', sums to 10",
        "transitions with end, row 'H', sums to 10",
    )
    divided = understand(as_json(rough), normalise=True)
    assert (divided.family, divided.unnormalised) == (HMM, ())
    exact = understand(as_json(HMM_FILE))
    for name in ("start", "transitions", "end"):
        wanted, got = (getattr(each.sentences[0], name) for each in (exact, divided))
        np.testing.assert_allclose(got, wanted, atol=1e-15)


def test_row_of_zeros_cannot_be_normalised():
    rough = {**HMM_FILE, "transitions": [[0, 0], [1, 8]], "end": [0, 1]}
    with pytest.raises(FormatError, match="a row of zeros cannot be divided"):
        understand(as_json(rough), normalise=True)


def test_normalising_keeps_the_end_row_of_a_single_word():
    one = {"emissions": [[0.5, 0.5]], "transitions": [], "end": [0.5, 0.25], "probabilities": True}
    (chain,) = understand(as_json(one), normalise=True).sentences
    assert np.exp(chain.scores()[3]).tolist() == pytest.approx([0.5, 0.25])


def test_shared_step_matrices_count_once_per_sentence(monkeypatch):
    steps = np.zeros((2, 3, 3)).tolist()
    sentences = [{"emissions": DOG["emissions"], "tokens": [*"abc"[:2], str(n)]} for n in range(3)]
    file = as_json(transitions=steps, sentences=sentences)
    monkeypatch.setattr(parsed_model, "MAX_SCORES", 3 * (9 + 18))
    assert len(understand(file).sentences) == 3
    monkeypatch.setattr(parsed_model, "MAX_SCORES", 3 * (9 + 18) - 1)
    with pytest.raises(FormatError, match="would keep 81 scores"):
        understand(file)


def test_gold_scheme_and_family_are_kept(tmp_path):
    tags = ["O", "B-PER", "I-PER"]
    found = understand(
        as_json(
            tags=tags,
            scheme="BIO",
            family="perceptron",
            sentences=[{**DOG, "gold": ["O", "B-PER", "O"]}],
        )
    )
    found.write(tmp_path)
    tagger = ImportedTagger(tmp_path)
    assert (tagger.scheme, tagger.family, tagger.probabilistic) == ("BIO", PERCEPTRON, False)
    assert tagger.examples()[0].gold == ("O", "B-PER", "O")
    assert tagger.potentials(["The"]).start[2] == -math.inf
    assert tagger.potentials(["The"], constrained=False).start[2] == 0


def test_words_and_tags_are_renamed_to_fit_a_link():
    found = understand(
        as_json(
            tags=["START", "B C", "x"],
            sentences=[
                {**DOG, "tokens": ["New York", " b\t", "a\x07\u2028b"]},
                {"emissions": FALLS["emissions"]},
            ],
        )
    )
    assert found.tags == ("START_", "B_C", "x")
    assert found.sentences[0].tokens == ("New_York", "b", "a_b")
    assert found.sentences[1].tokens == ("2.1", "2.2")
    assert "The tag START is called START_ here." in found.notes
    assert "The tag B C is called B_C here." in found.notes
    assert "Words have _ for blanks here, 3 of them: 'New York' is New_York." in found.notes


def test_renamed_tags_are_counted_and_line_breaks_are_refused():
    tags = [f"B {n}" for n in range(3)]
    notes = understand(as_json(tags=tags)).notes
    assert [note for note in notes if note.startswith("The tag")] == [
        f"The tag {tag} is called {tag.replace(' ', '_')} here." for tag in tags
    ]
    with pytest.raises(FormatError, match="tag: expected a name on one line, got 'B"):
        understand(as_json(tags=["B\nC", "D", "E"]))
    with pytest.raises(FormatError, match="word: expected a name on one line"):
        understand(as_json(sentences=[{**DOG, "tokens": ["The", "dog\r\ncat", "barks"]}]))


def test_repeated_sentence_is_left_out():
    found = understand(as_json(sentences=[DOG, FALLS, DOG]))
    assert len(found.sentences) == 2
    assert "The words of sentence 3 are those of an earlier one: left out." in found.notes


def test_npz_of_one_sentence_is_read(tmp_path):
    found = understand(
        as_npz(
            emissions=np.float32(DOG["emissions"]),
            transitions=np.array(TRANSITIONS),
            start_transitions=np.array([0.0, 1.0, -np.inf]),
            tags=np.array(TAGS),
            tokens=np.array(DOG["tokens"]),
        )
    )
    (chain,) = found.sentences
    assert found.kind == "Potentials as .npz"
    assert chain.emissions.tolist() == DOG["emissions"]
    assert chain.start.tolist() == [0, 1, -math.inf]
    found.write(tmp_path)
    assert ImportedTagger(tmp_path).potentials(DOG["tokens"]).start[2] == -math.inf


def test_numbered_sentences_of_an_npz_are_read_in_order():
    steps = np.arange(18.0).reshape(2, 3, 3)
    numbers = {f"emissions_{n}": np.full((3, 3), float(n)) for n in range(11)}
    found = understand(as_npz(**numbers, transitions=np.array(TRANSITIONS), transitions_10=steps))
    assert [chain.emissions[0, 0].item() for chain in found.sentences] == list(range(11))
    assert found.sentences[10].transitions.tolist() == steps.tolist()
    assert found.sentences[9].transitions.tolist() == TRANSITIONS


def padded(*, batch_first, **others):
    emissions = np.zeros((2, 3, 3))
    emissions[0, :2], emissions[1] = FALLS["emissions"], DOG["emissions"]
    order = (0, 1, 2) if batch_first else (1, 0, 2)
    turned = {
        name: array if batch_first or array.ndim < 2 else array.T for name, array in others.items()
    }
    return as_npz(emissions=emissions.transpose(order), transitions=np.array(TRANSITIONS), **turned)


@pytest.mark.parametrize("batch_first", [True, False], ids=["batch first", "time first"])
@pytest.mark.parametrize(
    "told_by",
    [
        {"lengths": np.array([2, 3])},
        {"mask": np.array([[1, 1, 0], [1, 1, 1]], dtype=bool)},
        {"tokens": np.array([[*FALLS["tokens"], ""], [*DOG["tokens"]]])},
    ],
    ids=["lengths", "mask", "tokens"],
)
def test_padded_batch_is_split_in_either_axis_order(batch_first, told_by):
    found = understand(padded(batch_first=batch_first, **told_by))
    assert [chain.emissions.tolist() for chain in found.sentences] == [
        FALLS["emissions"],
        DOG["emissions"],
    ]
    turned = not batch_first and "lengths" not in told_by
    assert any("taken as (T, B, K), 2 sentences" in note for note in found.notes) == turned


def test_transposed_batch_and_mask_with_holes_are_noted():
    mask = np.ones((3, 9), bool)
    mask[1:, 4] = False
    file = as_npz(emissions=np.zeros((3, 9, 6)), transitions=np.zeros((6, 6)), mask=mask)
    found = understand(file)
    assert found.batch_first is False
    (note,) = [note for note in found.notes if "taken as" in note]
    assert "(3, 9, 6) are taken as (T, B, K), 9 sentences" in note
    assert "“mask” has holes" in note
    answered = understand(file, batch_first=False)
    assert answered.batch_first is None
    assert len(answered.sentences) == 9
    assert not any("taken as" in note for note in answered.notes)
    with pytest.raises(FormatError, match="mask: each sentence must have words first"):
        understand(file, batch_first=True)


def test_ambiguous_batch_order_follows_the_option():
    falling = padded(batch_first=True, mask=np.array([[1, 1, 1], [1, 1, 0]], dtype=bool))
    assert any("nothing tells" in note for note in understand(falling).notes)  # a mask either way
    square = as_npz(emissions=np.arange(12.0).reshape(2, 2, 3), transitions=np.zeros((3, 3)))
    assert understand(square).sentences[0].emissions[1].tolist() == [3, 4, 5]
    assert understand(square, batch_first=False).sentences[0].emissions[1].tolist() == [6, 7, 8]
    assert any("nothing tells" in note for note in understand(square).notes)
    assert [understand(square, **answer).batch_first for answer in ({}, {"batch_first": True})] == [
        True,
        None,
    ]
    named = as_npz(
        emissions=np.arange(12.0).reshape(2, 2, 3),
        transitions=np.zeros((3, 3)),
        batch_first=np.array(False),
    )
    assert understand(named).sentences[0].emissions[1].tolist() == [6, 7, 8]


def test_marginals_of_read_scores_equal_enumeration():
    chain = understand(as_json()).sentences[0]
    found = forward_backward(chain).marginals
    for (t, k), probability in oracle.marginals(chain).items():
        assert found[t, k].item() == pytest.approx(probability, abs=1e-12)


def cut(file, at):
    return file[0], file[1][:at]


def bomb():
    """Few bytes that say they are many."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("emissions.npy", bytes(70_000_000))
    assert len(file.getvalue()) < 100_000
    return "bomb.npz", file.getvalue()


SENTENCE = {"emissions": [[1.0, 2.0]], "transitions": [[0.0, 0.0], [0.0, 0.0]]}
BAD = {
    "empty": (("a.json", b"  \n"), "a.json is empty"),
    "many bytes": (("a.json", b" " * 20_000_001), "20,000,001 bytes, at most 20,000,000"),
    "no JSON": (("a.json", b'{"tags": '), "looks like JSON but is none"),
    "deep JSON": (("a.json", b'{"tags": ' + b"[" * 100_000), "looks like JSON but is none"),
    "no object": (("a.json", b"[1, 2]"), "none of the files that can be read"),
    "text": (("a.txt", b"word\ttag\n"), "none of the files that can be read"),
    "not UTF-8": (("a.json", b'{"tags": ["\xff"]}'), r"nor UTF-8 text \(byte 12"),
    "pickle": (("a.npz", pickle.dumps({"emissions": 1})), "is a pickle"),
    "pickle in an npz": (
        as_npz(emissions=np.array([{}, 1], dtype=object)),
        "cannot be read without unpickling",
    ),
    "zip bomb": (bomb(), r"unpacks to 70,000,000 bytes, at most 64,000,000"),
    "cut npz": (cut(as_npz(emissions=np.zeros((99, 3))), 900), "damaged or cut off"),
    "misspelt field": (as_json(transition=[]), "the file: there is no field 'transition'; known"),
    "misspelt field of a sentence": (
        as_json(sentences=[{**DOG, "token": []}]),
        "sentence 1: there is no field 'token'",
    ),
    "unknown array": (as_npz(emission=np.zeros(3)), "no array 'emission' in such a file"),
    "no emissions": (as_json({"tags": TAGS}), "there are no “emissions”"),
    "no arrays": (as_npz(tags=np.array(TAGS)), "no array “emissions”; the file holds tags"),
    "no transitions": (as_json({"emissions": [[1, 2]], "end": [0, 1]}), "there are no transitions"),
    "no sentence": (as_json(sentences=[]), "at least one sentence"),
    "NaN": (
        as_json({**SENTENCE, "emissions": [[1, math.nan]]}),
        r"emissions\[0, 1\] must be -inf .* got nan",
    ),
    "null": (as_json({**SENTENCE, "emissions": [[1, None]]}), r"emissions\[0, 1\] .* got nan"),
    "+inf": (
        as_json({**SENTENCE, "end": [0, math.inf]}),
        r"the sentence: end\[1\] must be -inf .* got inf",
    ),
    "wrong shape": (
        as_json({**SENTENCE, "transitions": [[0, 0, 0], [0, 0, 0]]}),
        r"transitions must be \(2, 2\) or \(0, 2, 2\) to match emissions \(1, 2\), got \(2, 3\)",
    ),
    "ragged": (
        as_json({**SENTENCE, "emissions": [[1, 2], [3]]}),
        "emissions must be numbers in rows of one length",
    ),
    "words for numbers": (
        as_json({**SENTENCE, "emissions": [["a", "b"]]}),
        "emissions must be numbers in rows of one length",
    ),
    "flat emissions": (as_json({**SENTENCE, "emissions": [1, 2]}), r"must be \(T, K\)"),
    "other number of tags": (
        as_json(sentences=[{"emissions": [[1, 2]]}]),
        r"sentence 1: transitions must be \(2, 2\)",
    ),
    "twice a tag": (as_json(tags=["A", "A", "B"]), "different names, got 'A' twice"),
    "too few tags": (as_json(tags=["A", "B"]), "Expected 3 tags to match the emissions, got 2"),
    "an empty tag": (as_json(tags=["A", "B", " "]), "tag: expected a name of 1 to 60"),
    "tags that are no text": (as_json(tags=[1, 2, 3]), "“tags” must be a list of strings"),
    "too few tokens": (
        as_json(sentences=[{**DOG, "tokens": ["a"]}]),
        "expected 3 tokens to match the emissions, got 1",
    ),
    "unknown gold": (
        as_json(sentences=[{**DOG, "gold": ["DET", "X", "DET"]}]),
        "gold tag 'X' is none of the tags",
    ),
    "no family": (as_json(family="oracle"), '“family” must be "crf" or "perceptron"'),
    "no truth": (as_json(probabilities="yes"), "“probabilities” must be false or true"),
    "no BIO": (as_json(scheme="BIO"), "rules of BIO need tags O, B-… and I-…, got DET"),
    "negative probability": (
        as_json({**HMM_FILE, "start": [1.5, -0.5]}),
        "start must hold probabilities, from 0 to 1, got -0.5",
    ),
    "too many tags": (
        as_json(
            {
                "emissions": [[0] * (MAX_TAGS + 1)],
                "transitions": [[0] * (MAX_TAGS + 1)] * (MAX_TAGS + 1),
            }
        ),
        f"has {MAX_TAGS + 1} tags; up to {MAX_TAGS}",
    ),
    "too many words": (
        as_json({**SENTENCE, "emissions": [[0, 0]] * (MAX_WORDS + 1)}),
        f"at most {MAX_WORDS:,} words",
    ),
    "too many sentences": (
        as_json(sentences=[{"emissions": [[0]]}] * (MAX_SENTENCES + 1)),
        f"at most {MAX_SENTENCES:,} sentences, got more",
    ),
    "lengths that do not fit": (
        padded(batch_first=True, lengths=np.array([3, 9])),
        "lengths must be 2 whole numbers from 1 to 3",
    ),
    "a mask with holes": (
        padded(batch_first=True, mask=np.array([[1, 0, 1], [1, 0, 1]], dtype=bool)),
        "mask: each sentence must have words first",
    ),
    "tags that are numbers": (
        as_npz(emissions=np.zeros((1, 2)), tags=np.arange(2)),
        "tags must be text, one for each, got int64",
    ),
    "complex numbers": (
        as_npz(emissions=np.zeros((1, 2), dtype=complex), transitions=np.zeros((2, 2))),
        "must be numbers in rows of one length",
    ),
    "another zip": (as_zip({"notes.txt": b"hello"}), "no .npz, .pt or model folder"),
}


@pytest.mark.parametrize(("file", "message"), BAD.values(), ids=BAD)
def test_invalid_scores_are_rejected_with_their_reason(file, message):
    with pytest.raises(FormatError, match=message):
        understand(file)


def test_files_that_do_not_belong_together_are_rejected():
    with pytest.raises(FormatError, match="Two files are JSON"):
        understand(as_json(), as_json())
    with pytest.raises(FormatError, match=r"\.npz and JSON do not belong together"):
        understand(as_json(), as_npz(emissions=np.zeros((1, 2))))


def test_words_may_be_long():
    words = ["https://example.org/" + "x" * 300, "barks"]
    found = understand(as_json(sentences=[{**FALLS, "tokens": words}]))
    assert found.sentences[0].tokens == tuple(words)
    assert found.left_out == ()


WRONG = [
    {**FALLS, "tokens": ["x" * 1001, "falls"]},
    {**FALLS, "tokens": ["one"]},
    {**DOG, "gold": ["DET", "X", "VERB"]},
    {"emissions": [[1, 2]]},
    {"emissions": [[1, None, 2]]},
    {**FALLS, "token": []},
    7,
]


def test_invalid_sentences_are_left_out_and_reported(tmp_path):
    found = understand(as_json(sentences=[WRONG[0], FALLS, *WRONG[1:], DOG]))
    assert [chain.tokens for chain in found.sentences] == [
        tuple(each["tokens"]) for each in (FALLS, DOG)
    ]
    number, *first, more = found.left_out
    assert [message.split(":")[0] for message in first] == [
        f"sentence {n}" for n in (1, 3, 4, 5, 6)
    ]
    assert number == "7 of 9 sentences are left out:"
    assert (len(first), more) == (5, "and 2 more")
    said = " ".join(first)
    for place in (
        "sentence 1: word: expected a name of 1 to 1,000",
        "sentence 3: expected 2 tokens",
    ):
        assert place in said
    assert "with 1,001" in said
    found.write(tmp_path)
    assert "7 of 9 sentences are left out" in ImportedTagger(tmp_path).card()
    assert len(understand(as_json(sentences=[WRONG[0], DOG])).left_out) == 2


def test_error_of_the_first_sentence_is_raised_if_none_is_left():
    with pytest.raises(FormatError, match="sentence 1: expected 2 tokens"):
        understand(as_json(sentences=WRONG[1:4]))


def test_file_may_have_many_sentences():
    words = {f"tokens_{n}": np.array([f"w{n}", "."]) for n in range(1300)}
    scores = {f"emissions_{n}": np.full((2, 3), float(n)) for n in range(1300)}
    found = understand(as_npz(transitions=np.zeros((3, 3)), **words, **scores))
    assert len(found.sentences) == 1300
    assert found.sentences[7].tokens == ("w7", ".")
    assert found.sentences[-1].emissions[0, 0] == 1299
