"""The address holds the screen: reload it, send it, go back in it."""

from urllib.parse import urlencode

from playwright.sync_api import expect

from crfviz.chain.edits import Edits
from tests.support.screen import (
    SENTENCE,
    STAGES,
    TITLES,
    assert_lattice,
    assert_rows,
    assert_table,
    chain,
)

WORDS = "Fruit flies like a banana ."


def test_reload_keeps_edits_made_by_hand(screen):
    screen.open("transitions")
    screen.type_sentence(WORDS)
    with screen.redraw():
        screen.type_score(screen.cell("DET", "NOUN"), "-7.125")
    before = screen.read()
    screen.reload()
    screen.wait({"name": 0, "rev": -1})
    screen.expect_read(before)
    expect(screen.sentence).to_have_value(WORDS)
    screen.expect_edits(1)


def test_a_sent_link_shows_the_same_screen_to_somebody_else(screen, watch, fresh):
    screen.open("emissions", model="upos-en")
    screen.type_sentence(WORDS)
    with screen.redraw():
        screen.type_score(screen.emission(1, 5), "3.75")
    with screen.redraw():
        screen.page.get_by_role("radio", name="softmax").click()
    screen.expect_param("v.emissions", "softmax")
    other = watch(fresh())
    other.page.goto(screen.page.url)
    other.wait({"name": 0, "rev": -1})
    other.expect_read(screen.read())
    assert list(other.read().tables) == ["softmax"]
    other.expect_params(screen.params())
    expect(other.sentence).to_have_value(WORDS)
    other.expect_edits(1)
    expect(other.page.get_by_role("combobox", name="Model")).to_have_value("upos-en")


def test_rows_chosen_in_the_sidebar_stay(screen):
    screen.open()
    with screen.redraw():
        screen.page.locator(".st-key-rows").get_by_text("left to right").click()
    kept = ["greedy", "viterbi", "max_marginal", "gold"]
    screen.eventually(lambda: assert_has_rows(screen, kept))
    screen.reload()
    screen.wait({"name": 0, "rev": -1})
    screen.eventually(lambda: assert_has_rows(screen, kept))


def assert_has_rows(screen, names):
    assert list(screen.read().rows) == names


def test_an_edit_is_in_the_links_to_other_pages_and_one_step_back_from_them(screen, watch, fresh):
    screen.open("transitions", step="2", **{"v.panel": "beta"})
    with screen.redraw():
        screen.type_score(screen.cell("DET", "NOUN"), "-4")
    link = screen.page.locator(".st-key-pages a", has_text="Viterbi")
    edited, chosen = {"t": "DET.NOUN:-4"}, {"v.weight": "DET NOUN"}
    expect(link).to_have_attribute("href", f"viterbi?{urlencode(edited | chosen)}")
    other = watch(fresh())
    other.page.goto(f"{screen.app.url}/{link.get_attribute('href')}")
    other.expect_edits(1)
    screen.follow("Viterbi")
    screen.expect_edits(1)
    screen.expect_params(edited | chosen)
    with screen.redraw():
        screen.page.get_by_role("button", name="Undo", exact=True).click()  # still possible
    screen.expect_params(chosen)
    screen.page.go_back()
    screen.expect_params(edited | chosen)
    screen.page.go_back()
    screen.expect_title("Transitions")
    screen.expect_edits(1)


def test_page_change_keeps_the_scenario(screen):
    edits = Edits(transitions={("DET", "NOUN"): -4.0}, emissions={(1, "ADJ"): 6.0}, strength=1.5)
    screen.open("", sentence=WORDS, t="DET.NOUN:-4", e="1.ADJ:6", k="1.5")
    expected = chain(sentence=WORDS, edits=edits)

    def check():
        shown = screen.read()
        assert shown.words == expected.words
        assert_rows(shown, expected)
        if shown.edges:
            assert_lattice(shown, expected)
        assert screen.page.url.startswith(screen.address(path, sentence=WORDS))

    for path in (*STAGES[1:], ""):
        with screen.redraw():
            screen.follow(TITLES[path])
        screen.eventually(check)
        screen.expect_edits(3)
    screen.expect_params({"sentence": WORDS, "t": "DET.NOUN:-4", "e": "1.ADJ:6", "k": "1.5"})


def test_back_goes_to_the_page_before_with_the_scenario(screen):
    screen.open("", sentence=WORDS, t="DET.NOUN:-4")
    with screen.redraw():
        screen.follow("Viterbi")
    with screen.redraw():
        screen.page.go_back()
        screen.expect_title("Explore")
    screen.expect_lattice(chain(sentence=WORDS, edits=Edits(transitions={("DET", "NOUN"): -4.0})))


def test_another_model_keeps_the_sentence_and_the_edits(screen):
    screen.open("", sentence=WORDS, t="DET.NOUN:-4")
    with screen.redraw():
        screen.choose("model", "upos-en")
    edits = Edits(transitions={("DET", "NOUN"): -4.0})
    screen.expect_lattice(chain("upos-en", WORDS, edits))
    screen.expect_param("model", "upos-en")
    screen.expect_edits(1)


def test_another_models_tags_are_other_tags_and_the_app_says_what_went(screen):
    screen.open("", sentence=WORDS, t="DET.NOUN:-4")
    with screen.redraw():
        screen.choose("model", "ner-en")
    screen.wait_for_text("ner-en has no tag")
    screen.expect_lattice(chain("ner-en", WORDS))
    screen.expect_edits(0)


def test_an_example_of_the_gallery_is_drawn_with_its_claim(screen):
    screen.open()
    box = screen.page.locator(".st-key-example button[aria-haspopup=listbox]")
    box.click()
    options = screen.page.get_by_role("option")
    label = options.nth(1).inner_text()
    with screen.redraw():
        options.nth(1).click()
    expect(screen.sentence).not_to_have_value(SENTENCE)
    sentence = screen.sentence.input_value()
    screen.expect_lattice(chain(sentence=sentence))
    assert label == f"{sentence} – {label.partition(' – ')[2]}"
    screen.eventually(lambda: assert_says(screen, label.partition(" – ")[2]))


def assert_says(screen, text):
    assert text in screen.text()


def test_two_sessions_do_not_influence_each_other(watch, fresh, screen):
    other = watch(fresh())
    screen.open("transitions")
    other.open("transitions")
    with screen.redraw():
        screen.type_score(screen.cell("DET", "NOUN"), "5")
    with other.redraw():
        other.type_score(other.cell("PRON", "VERB"), "-5")
    with other.redraw():
        other.apply_sentence(WORDS)
    screen.expect_lattice(chain(edits=Edits(transitions={("DET", "NOUN"): 5.0})))
    edits = Edits(transitions={("PRON", "VERB"): -5.0})
    other.expect_lattice(chain(sentence=WORDS, edits=edits))
    screen.expect_edits(1)
    other.expect_edits(1)
    expect(screen.sentence).to_have_value(SENTENCE)


def test_numbers_as_tables_on_demand(screen):
    screen.open("marginals")
    frames = screen.page.locator("[data-testid=stDataFrame]")
    expect(frames).to_have_count(1)  # the page's own: pairs of tags
    screen.page.locator(".st-key-view-twin label").first.click()
    expect(frames).to_have_count(3)
    screen.expect_param("v.twin", "1")
    marginals = chain().analysis.forward_backward.marginals
    screen.eventually(lambda: assert_table(screen.read(), "marginals", marginals))
    screen.page.locator(".st-key-view-twin label").first.click()
    expect(frames).to_have_count(1)
