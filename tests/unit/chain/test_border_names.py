"""Tags called START or END are refused where a matrix would show the name twice."""

from types import SimpleNamespace

import pytest

import crfviz
from crfviz.chain.edits import weight_matrix
from crfviz.corpus.training.labelled import Sources, read_train_and_dev
from crfviz.exceptions import CrfvizError, FormatError, ModelError
from crfviz.taggers.examples import Example
from crfviz.views.site.folder import write_site

REFUSED = "expected tags with other names than START and END"


def chain(tags):
    return crfviz.Potentials([[1.0, 0.0], [0.0, 2.0]], [[0.5, 0.0], [0.0, 0.25]], tags=tags)


def tagger_of(potentials):
    """A tagger of somebody else, which no registration has seen."""
    example = Example("a a", ("a", "a"), "", "agree")
    tagger = crfviz.from_hmm([0.5, 0.5], [[0.5, 0.5]] * 2, [[1.0]] * 2, ["a"], ["NN", "VB"])
    tagger.tags, tagger.examples = tuple(potentials.tag_names), lambda: [example]
    return tagger


@pytest.mark.parametrize("name", ["START", "END"])
def test_pictures_and_tables_refuse_the_name_of_a_border(tmp_path, name):
    potentials = chain(["NN", name])
    doors = [
        lambda: weight_matrix(potentials),
        lambda: crfviz.export_html(potentials, tmp_path / "a.html"),
        lambda: crfviz.export_table(potentials, tmp_path / "a.tex", table="transitions"),
        lambda: crfviz.Edits().reaching(potentials, potentials),
        lambda: write_site(tmp_path / "site", [tagger_of(potentials)]),
    ]
    for door in doors:
        with pytest.raises(CrfvizError, match=f"{REFUSED}, got {name}.*Rename the tag"):
            door()
    assert crfviz.viterbi(potentials).names == ["NN", name]  # numbers need no matrix


@pytest.mark.parametrize("name", ["START", "END"])
def test_taggers_refuse_the_name_of_a_border(name):
    made = SimpleNamespace(tags=("NN", name), potentials=lambda _: chain(["NN", name]))
    with pytest.raises(ModelError, match=f"{REFUSED}, got {name}"):
        crfviz.register(made, "of_borders")
    with pytest.raises(ModelError, match=f"{REFUSED}, got {name}"):
        crfviz.from_hmm([0.5, 0.5], [[0.5, 0.5]] * 2, [[1.0]] * 2, ["a"], ["NN", name])


def test_training_refuses_the_name_of_a_border_before_it_trains(tmp_path):
    path = tmp_path / "train.jsonl"
    path.write_text('{"tokens": ["a", "b"], "tags": ["NN", "END"]}\n')
    with pytest.raises(FormatError, match=f"the train files: {REFUSED}, got END"):
        read_train_and_dev(Sources((path,), ()))
