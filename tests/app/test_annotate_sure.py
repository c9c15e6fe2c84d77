"""Annotate: sentences whose calibrated set has a single path are filtered and accepted together."""

import pytest

import crfviz
from crfviz.corpus.tables.coverage import read_calibrations
from crfviz.taggers.registry import SHIPPED
from tests.app.test_annotate_page import PAGE, _items, open_part, store  # noqa: F401
from tests.support.app_pages import button, new_app, open_at

MODEL = "upos-en"
TEXTS = ["She reads books .", "Look fine .", "The dog sleeps .", "These look fine to me .", "Go !"]


@pytest.mark.parametrize("level", [80, 85])
def test_sentences_with_one_path_are_accepted_together(store, level):  # noqa: F811
    store.add("sure.txt", _items(*TEXTS))
    tagger = crfviz.load_tagger(MODEL)
    known = read_calibrations(SHIPPED / MODEL).at("sentences", level)
    single = {
        item.id: crfviz.viterbi(tagger.potentials(item.tokens)).names
        for item in store.items("sure.txt")
        if len(known.sets(tagger.potentials(item.tokens)).paths) == 1
    }
    assert 0 < len(single) < len(TEXTS)
    page = new_app()
    page.query_params.update({"model": MODEL, "v.by": "anna", "v.level": str(level)})
    open_at(page, PAGE)
    open_part(page, "label", "sure.txt")
    page.selectbox(key="view.order").set_value("sure").run()
    number = "1 sentence" if len(single) == 1 else f"{len(single)} sentences"
    wrong = min(len(single), int((100 - level) * len(TEXTS) / 100))
    captions = " ".join(each.value for each in page.caption)
    assert f"expect at most {wrong:,} of these to be wrong" in captions
    assert f"Of all {len(TEXTS)} scored sentences" in captions
    button(page, f"Accept {number}").click().run()
    assert not page.exception
    assert store.done_ids("sure.txt", "anna") == set(single)
    for item, tags in single.items():
        assert list(store.annotation(item, "anna").final) == tags
    assert not [each for each in page.button if each.label.startswith("Accept")]
