"""Paths: ranked paths, samples that pile up, and the reach of a nudge, against the library."""

import pytest

from crfviz.chain.decoding.viterbi import k_best
from crfviz.chain.distribution import largest_gap, sample_counts
from crfviz.chain.questions.sensitivity import influence
from tests.support.screen import MODEL, assert_equal, chain, named

SENTENCE = "Old dogs see the boat ."


def potentials(sentence=SENTENCE):
    return chain(MODEL, sentence).analysis.potentials


def test_best_paths_are_ranked(screen):
    k, expected = 20, chain(MODEL, SENTENCE)
    paths = k_best(expected.analysis.potentials, k)
    screen.open("paths", sentence=SENTENCE, **{"v.k": k})
    rows = screen.read().rows
    assert [name for name in rows if name.startswith("best_")] == [
        f"best_{rank}" for rank in range(1, k + 1)
    ]
    for rank, path in enumerate(paths, start=1):
        assert rows[f"best_{rank}"] == named(path.tags, expected.tags)
    best = paths[0].tags
    differing = screen.page.locator("[data-row=best_2][data-differs]").count()
    assert differing == sum(a != b for a, b in zip(best, paths[1].tags, strict=True))
    labels = screen.page.locator(".strip .label[data-columns]").all_inner_texts()
    assert f"{paths[-1].score:.2f}" in labels[-1]


def shown_pile(screen):
    """The moves of the samples with their counts, as they are drawn."""
    moves = screen.page.locator("[data-move]").evaluate_all(
        "paths => paths.map((path) => path.dataset.move.split(',').map(Number))"
    )
    return {tuple(move[:3]): move[3] for move in moves}


def assert_pile(screen, n, seed):
    expected = chain(MODEL, SENTENCE)
    samples = sample_counts(expected.analysis.potentials, n, seed)
    counts = {
        tuple(move): int(samples.moves[tuple(move)]) for move in samples.moves.nonzero().tolist()
    }

    def check():
        assert shown_pile(screen) == counts
        shown = screen.read()
        assert shown.rows["sample"] == named(samples.paths[-1].tolist(), expected.tags)
        gap = largest_gap(samples.frequencies, expected.analysis.forward_backward.marginals)[0]
        assert f"{gap:.4f}" in shown.note

    screen.eventually(check)


@pytest.mark.rotating
def test_samples_accumulate_by_button_key_and_link(screen):
    screen.open("paths", sentence=SENTENCE, **{"v.paths": "samples", "v.seed": "3"})
    assert shown_pile(screen) == {}
    screen.page.get_by_role("button", name="Draw 1", exact=False).first.click()
    assert_pile(screen, 1, 3)
    screen.press("2")
    assert_pile(screen, 11, 3)
    screen.press("3")
    assert_pile(screen, 111, 3)
    screen.expect_param("v.n", "111")
    screen.reload()
    screen.wait({"name": 0, "rev": -1})
    assert_pile(screen, 111, 3)
    screen.press("0")
    screen.eventually(lambda: assert_equal(shown_pile(screen), {}))


@pytest.mark.rotating
def test_reach_follows_the_chosen_cell(screen):
    screen.open("paths", sentence=SENTENCE, **{"v.paths": "reach", "v.nudge_by": "2.5"})
    expected = chain(MODEL, SENTENCE)
    verb = expected.tags.index("VERB")

    def assert_reach(position):
        found = influence(expected.analysis.potentials, position, 2.5, verb)

        def check():
            shown = screen.read().tables["change"]
            assert len(shown) > 20
            for place, text in shown.items():
                t, k = map(int, place.split(","))
                assert float(text) == pytest.approx(found.change[t, k].item(), abs=1e-6), place
            titles = screen.page.locator("[data-row=reach]").evaluate_all(
                "cells => cells.map((cell) => Number(cell.title.split(' ')[0]))"
            )
            assert titles == pytest.approx(found.reach.tolist(), abs=1e-6)

        screen.eventually(check)

    screen.page.locator(f"[data-table=change][data-t='2'][data-k='{verb}']").click()
    assert_reach(2)
    screen.expect_param("v.nudge", "2 VERB")
    screen.press("ArrowLeft")
    assert_reach(1)
