"""The chains of exercises as taggers, which all pages can show."""

import pytest

import crfviz
from crfviz.exceptions import ModelError, UnknownObservationError
from crfviz.taggers.exercises import is_exercise
from crfviz.taggers.registry import list_taggers


@pytest.mark.parametrize("kind", ["alpha", "beta", "viterbi"])
def test_exercise_is_a_tagger_of_its_sentence(kind):
    task, tagger = crfviz.exercise(kind, 7), crfviz.load_tagger(f"exercise/{kind}.7")
    (example,) = tagger.examples()
    chain = tagger.potentials(example.tokens)
    assert chain.emissions.tolist() == task.potentials.emissions.tolist()
    assert chain.transitions.tolist() == task.potentials.transitions.tolist()
    assert chain.tags == task.potentials.tags
    with pytest.raises(UnknownObservationError, match="knows one sentence alone: we can fish"):
        tagger.potentials(["other", "words"])
    assert tagger.name not in list_taggers()


@pytest.mark.parametrize("name", ["exercise/gamma.1", "exercise/beta", "exercise/beta.x", "beta.1"])
def test_other_names_are_no_exercises(name):
    assert not is_exercise(name)
    with pytest.raises(ModelError):
        crfviz.load_tagger(name)
