"""The live file: what is in it, what is not, and what is refused."""

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256

import pytest
import torch

import crfviz
from crfviz.chain.edits import Edits
from crfviz.views.exports import bundle
from crfviz.views.exports.live import PAGES, Live
from crfviz.views.exports.live_page import LARGEST, live_page, static_tables
from crfviz.views.stage.picture import WINDOW
from tests.support.fake_tagger import FakeTagger

HOSTILE = ("</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<!--", "𝄞&amp;")


def chain(num_tokens, num_tags, *, tokens=None):
    generator = torch.Generator().manual_seed(num_tokens)
    return crfviz.Potentials(
        torch.randn(num_tokens, num_tags, generator=generator),
        torch.randn(num_tags, num_tags, generator=generator),
        tags=[f"TAG-{k}" for k in range(num_tags)],
        tokens=tokens,
    )


def exported(tmp_path, what, **options):
    path = tmp_path / "live.html"
    crfviz.export_html(what, path, **options)
    return path.read_text("utf-8")


def data_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


def test_live_file_loads_nothing_and_its_policy_forbids_requests(tmp_path):
    page = exported(tmp_path, chain(3, 4))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert not re.search(r'\s(src|href|on\w+)\s*=\s*"', page.partition('<script type="module">')[0])
    inline = re.findall(
        r"<(?:script nomodule|script type=\"module\"|style)>(.*?)</s", page, re.DOTALL
    )
    assert len(inline) == 3
    for text in inline:
        assert b64encode(sha256(text.encode()).digest()).decode() in policy


def test_words_with_markup_are_text(tmp_path):
    page = exported(tmp_path, chain(4, 3, tokens=HOSTILE))
    assert data_of(page)["words"] == list(HOSTILE)
    assert len(re.findall(r"<script", page.partition('type="module"')[0])) == 3  # ours
    assert "<img" not in page.partition('type="module"')[0]


@pytest.mark.parametrize(("tokens", "tags"), [(1, 1), (12, 17), (WINDOW, 60)])
def test_live_file_is_small(tmp_path, tokens, tags):
    page = exported(tmp_path, chain(tokens, tags))
    assert len(page.encode()) <= LARGEST


def test_long_chain_is_complete_and_its_first_words_need_no_script(tmp_path):
    potentials = chain(WINDOW + 30, 3, tokens=[f"w{n}" for n in range(WINDOW + 30)])
    page = exported(tmp_path, potentials)
    told = data_of(page)
    assert len(told["words"]) == WINDOW + 30
    assert told["window"] == WINDOW
    before = page.partition("<script")[0]
    assert "The first 120 of 150 words." in before
    assert "w119" in before
    assert "w120" not in before
    log_z = crfviz.forward_backward(potentials).log_partition
    assert f"log Z {log_z:.4f}".replace("-", "−") in before


def test_tables_are_readable_without_a_script(tmp_path):
    potentials = chain(3, 4, tokens=("the", "dog", "barks"))
    page = exported(tmp_path, potentials).partition("<script")[0]
    marginal = crfviz.forward_backward(potentials).marginals[0, 0].item()
    assert f"<td>{marginal:.4f}" in page
    for title in ("What each decoder chooses", "marginals", "emissions", "α", "β", "transitions"):
        assert f"<h2>{title}" in page


def test_live_file_contains_no_local_paths(tmp_path):
    here = FakeTagger(["X", "Y"], {"a": {"X": 1.0}}, folder=tmp_path / "kept at home")
    page = exported(tmp_path, here, sentence="a a")
    assert "kept at home" not in page
    assert str(tmp_path) not in page
    assert data_of(page)["origin"]["address"] == ""
    assert "no link can open them again" in data_of(page)["origin"]["text"]


def test_shipped_model_is_named_with_its_sentence(tmp_path):
    tagger = crfviz.load_tagger("textbook/ice-cream")
    sentence = tagger.examples()[0].text
    origin = data_of(exported(tmp_path, tagger, sentence=sentence))["origin"]
    assert origin["params"] == {"model": "textbook/ice-cream", "sentence": sentence}


def test_same_chain_gives_the_same_bytes(tmp_path):
    assert exported(tmp_path, chain(4, 3)) == exported(tmp_path, chain(4, 3))


def test_embedded_model_is_small_and_makes_no_request(tmp_path):
    tagger = crfviz.load_tagger("upos-en")
    page = exported(tmp_path, tagger, sentence="These look fine to me.", with_model=True)
    assert len(page.encode()) <= 6_000_000
    assert re.search(r'id="tagger">[A-Za-z0-9+/=]+</script>', page)
    assert re.search(r"default-src 'none'; script-src 'sha256-\S+' 'sha256-\S+; ", page)


def test_pages_are_in_the_requested_order(tmp_path):
    page = exported(tmp_path, chain(2, 2), pages=["viterbi", "explore"])
    assert [each["id"] for each in data_of(page)["pages"]] == ["viterbi", "explore"]
    assert data_of(page)["opens"] == "viterbi"


def test_live_file_opens_with_the_edits_pins_page_and_step():
    edits = Edits({("TAG-0", "TAG-1"): 2.0}, {(0, "TAG-1"): -torch.inf}, 0.5)
    live = Live(chain(3, 2), edits=edits, pins={1: "TAG-0"}, opens="viterbi", step=2)
    told = data_of(live_page(live, list(PAGES)))
    assert told["edits"] == {
        "transitions": [["TAG-0", "TAG-1", 2.0]],
        "emissions": [[0, "TAG-1", None]],
        "strength": 0.5,
    }
    assert (told["pins"], told["opens"], told["step"]) == ([[1, "TAG-0"]], "viterbi", 2)


@pytest.mark.parametrize(
    ("what", "options", "expected"),
    [
        (chain(2, 2), {"with_model": True}, "have no model"),
        (FakeTagger(["X"], {}), {"sentence": "a", "with_model": True}, "cannot go into a file"),
        (chain(2, 2), {"sentence": "a"}, "of one sentence already"),
        (chain(2, 2), {"pages": ["nowhere"]}, "got 'nowhere'"),
        (chain(2, 2), {"pages": "explore"}, "pages must be"),
        (chain(2, 2), {"pages": []}, "pages must be"),
        (chain(977, 64), {}, "of 64 tags holds at most 976 words, got 977"),
        (FakeTagger(["X"], {}), {}, "needs a sentence"),
        (3, {}, "Potentials or a tagger"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_invalid_export_is_rejected(tmp_path, what, options, expected):
    with pytest.raises(crfviz.CrfvizError, match=expected):
        crfviz.export_html(what, tmp_path / "x.html", **options)
    assert not list(tmp_path.iterdir())


def test_unwritable_path_is_reported(tmp_path):
    with pytest.raises(crfviz.CrfvizError, match=r"x\.html: cannot be written"):
        crfviz.export_html(chain(2, 2), tmp_path / "no folder" / "x.html")


def test_chain_without_a_path_is_exported(tmp_path):
    lost = crfviz.Potentials(torch.zeros(2, 2), torch.full((2, 2), -torch.inf))
    assert "No tag sequence is allowed" in exported(tmp_path, lost)


@pytest.mark.parametrize(
    ("text", "expected"),
    [('import x from "./a.js";', "cannot be bundled"), ("const a = `one", "several lines")],
)
def test_unsupported_javascript_is_rejected_by_the_bundler(tmp_path, text, expected):
    entry = tmp_path / "entry.js"
    entry.write_text(text)
    with pytest.raises(ValueError, match=expected):
        bundle.bundled(entry)


def test_bundle_joins_and_minifies_the_sources(tmp_path):
    (tmp_path / "numbers.js").write_text(
        '// Said once.\nexport const ONE = 1; // the first\nconst own = "a://b // c";\n'
        'const told = one("a , b", { own });\n'
    )
    (tmp_path / "entry.js").write_text(
        'import {\n  ONE as one,\n} from "./numbers.js";\nadd(one);\n'
    )
    assert bundle.bundled(tmp_path / "entry.js") == (
        '"use strict";\n'
        'const m0 = (() => {\nconst ONE=1;\nconst own = "a://b // c";\n'
        'const told=one("a , b",{own});\nreturn {ONE};\n})();\n'
        "const m1 = (() => {\nconst{ONE:one}=m0;\nadd(one);\nreturn {};\n})();"
    )


def test_static_tables_follow_the_text_direction(tmp_path):
    hebrew = exported(tmp_path, chain(3, 2, tokens=("הילד", "הלך", "7")))
    english = exported(tmp_path, chain(3, 2, tokens=("The", "boy", "7")))
    still = hebrew.partition('id="data">')[0]
    assert len(re.findall(r'<div class="scroll" dir="rtl"><table><tr><th><th>1 הילד', still)) == 6
    assert still.count("<table>") == 8  # the likely tags and the matrix have no columns of words
    assert 'dir="rtl"' not in english.partition('id="data">')[0]


def test_static_tables_follow_the_chosen_direction():
    live = Live(chain(3, 2, tokens=("The", "boy", "7")), direction="rtl")
    assert static_tables(live).count('<div class="scroll" dir="rtl">') == 6
    hebrew = Live(chain(3, 2, tokens=("הילד", "הלך", "7")), direction="ltr")
    assert 'dir="rtl"' not in static_tables(hebrew)


def test_static_tables_list_the_edits():
    live = Live(chain(3, 2, tokens=("The", "boy", "7")), edits=Edits(emissions={(1, "TAG-0"): 2.0}))
    assert "<p>1 edit: 2 “boy” TAG-0 2.00</p>" in static_tables(live)
    assert "edit" not in static_tables(replace(live, edits=Edits()))
