import pytest
import torch

from crfviz.taggers.neural.network import ARCHITECTURES, Network, build_vocabulary, initialise
from tests.support.close import assert_close
from tests.support.tiny_tagger import SENTENCES, SIZES

VOCABULARY = build_vocabulary(SENTENCES, min_words=1, min_characters=1)


def network(architecture, seed=0):
    made = Network(architecture, SIZES, VOCABULARY, 3)
    initialise(made, torch.Generator().manual_seed(seed))
    return made.eval()


def emissions(made, *sentences):
    with torch.inference_mode():
        return made.emissions(VOCABULARY.encode(sentences))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_sentence_scores_the_same_alone_and_padded(architecture):
    made = network(architecture)
    short, long = ["a", "b"], ["internationalisation"] * 9
    together = emissions(made, short, long)
    assert_close(together[0, :2], emissions(made, short)[0], atol=1e-6, rtol=0)
    assert_close(together[1], emissions(made, long)[0], atol=1e-6, rtol=0)


def test_context_free_scores_ignore_the_neighbours():
    made = network("contextfree")
    one, other = emissions(made, ["Run", "dogs"], ["Paris", "dogs"])
    assert_close(one[1], other[1], atol=1e-6, rtol=0)


def test_bilstm_scores_depend_on_both_sides():
    made = network("bilstm")
    middle = [emissions(made, words)[0, 1] for words in (["He", "runs", "."], ["Run", "runs", "."])]
    assert (middle[0] - middle[1]).abs().max() > 1e-4
    middle = [emissions(made, words)[0, 1] for words in (["He", "runs", "."], ["He", "runs", "!"])]
    assert (middle[0] - middle[1]).abs().max() > 1e-4


def test_every_window_width_reads_the_end_of_the_word():
    made = network("contextfree")
    ends = emissions(made, ["dogs"], ["dogS"])
    assert (ends[0] - ends[1]).abs().max() > 1e-5


def test_equal_generators_give_equal_weights():
    one, same, other = network("bilstm", 4), network("bilstm", 4), network("bilstm", 5)
    for name, weights in one.named_parameters():
        assert torch.equal(weights, same.get_parameter(name)), name
    assert not torch.equal(one.output.weight, other.output.weight)
