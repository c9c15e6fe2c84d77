"""Colours: every tag has one, entity tags share theirs, and what is written can be read."""

import re
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfviz.taggers.registry import list_taggers, load_tagger
from crfviz.views import theme
from crfviz.views.theme import GREY, PALETTE, UPOS_COLOURS, tag_colours

CSS = (Path(theme.__file__).parent / "stage/web/stage.css").read_text()
UPOS = ["ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM"]
UPOS += ["PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"]  # Universal Dependencies 2
PAGES = {  # Streamlit's own themes: background and text
    "light": ("#ffffff", "#31333f"),
    "dark": ("#0e1117", "#fafafa"),
}
READABLE = 4.5  # WCAG 2.2, 1.4.3: contrast of text
FAR = 10.0  # CIE76: about four times what one just notices, on fields side by side

in_both_pages = pytest.mark.parametrize(("paper", "ink"), PAGES.values(), ids=PAGES)


def rgb(colour):
    """Three shares of full light from "#0072B2"."""
    return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def mix(first, second, percent):
    """CSS color-mix(in srgb, first percent, second)."""
    return [a * percent / 100 + b * (1 - percent / 100) for a, b in zip(first, second, strict=True)]


def linear(light):
    return light / 12.92 if light <= 0.04045 else ((light + 0.055) / 1.055) ** 2.4


def luminance(colour):
    red, green, blue = map(linear, colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first, second):
    """WCAG 2.2 contrast ratio, 1 to 21."""
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def lab(colour):
    """CIELAB under D65."""
    red, green, blue = map(linear, colour)
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089
    x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return (116 * y - 16, 500 * (x - y), 200 * (y - z))


def distance(first, second):
    pairs = zip(lab(rgb(first)), lab(rgb(second)), strict=True)
    return sum((a - b) ** 2 for a, b in pairs) ** 0.5


def shares(pattern):
    """The percentages of a mix in the stage's style sheet, at least one."""
    found = [float(share) for share in re.findall(pattern, CSS)]
    assert found, f"nothing in stage.css looks like {pattern}"
    return found


def test_contrast_equals_the_wcag_values():
    assert contrast(rgb("#000000"), rgb("#ffffff")) == pytest.approx(21.0, abs=1e-9)
    assert contrast(rgb("#767676"), rgb("#ffffff")) == pytest.approx(4.54, abs=0.005)


def test_every_universal_tag_has_its_own_colour():
    assert set(UPOS_COLOURS) == set(UPOS)
    assert len(set(tag_colours(UPOS))) == len(UPOS)


def test_universal_tags_keep_their_colours_in_any_order():
    assert tag_colours(UPOS[::-1]) == tag_colours(UPOS)[::-1]
    assert tag_colours(["FOO", "NOUN"])[1] == tag_colours(["NOUN"])[0]


@pytest.mark.parametrize(
    "colours", [PALETTE, tuple(UPOS_COLOURS.values())], ids=["palette", "UPOS"]
)
def test_no_two_colours_look_alike(colours):
    for first, second in combinations(colours, 2):
        assert distance(first, second) >= FAR, (first, second)


@pytest.mark.parametrize("name", list_taggers())
def test_shipped_models_have_a_colour_for_every_tag(name):
    tags = load_tagger(name).tags
    colours = dict(zip(tags, tag_colours(tags), strict=True))
    kinds = {tag.removeprefix("B-").removeprefix("I-") for tag in tags}
    assert len(set(colours.values())) == len(kinds)


types = st.lists(st.text("ABCDEFG-", min_size=1), min_size=1, max_size=30, unique=True)


@given(types, st.booleans())
def test_begin_and_inside_share_a_colour_and_types_differ(names, outside_first):
    tags = [f"{prefix}-{name}" for name in names for prefix in "BI"]
    tags = ["O", *tags] if outside_first else [*tags, "O"]
    colours = dict(zip(tags, tag_colours(tags), strict=True))
    assert colours.pop("O") == GREY
    for name in names:
        assert colours[f"B-{name}"] == colours[f"I-{name}"]
    assert GREY not in colours.values()
    assert len(set(colours.values())) == min(len(names), len(PALETTE) - 1)


@given(st.lists(st.sampled_from([*UPOS, "NN", "NNP", "VBZ", "O"]), unique=True))
def test_other_tags_do_not_take_reserved_colours(tags):
    colours = tag_colours(tags)
    assert len(colours) == len(tags)
    assert all(re.fullmatch(r"#[0-9A-F]{6}", colour) for colour in colours)
    colour_of = dict(zip(tags, colours, strict=True))
    own = {colour_of[tag] for tag in tags if tag in UPOS_COLOURS or tag == "O"}
    others = {colour_of[tag] for tag in tags if tag not in UPOS_COLOURS and tag != "O"}
    if own < set(PALETTE):
        assert not others & own


def test_empty_tag_list_has_no_colours():
    assert tag_colours([]) == []


@in_both_pages
@pytest.mark.parametrize("background", ["page", "panel"])
@pytest.mark.parametrize("colour", dict.fromkeys([*PALETTE, *UPOS_COLOURS.values()]))
def test_tag_names_are_readable(colour, background, paper, ink):
    paper, ink = rgb(paper), rgb(ink)
    if background == "panel":
        (shade,) = shares(r"--shade: color-mix\(in srgb, var\(--ink\) ([\d.]+)%, var\(--paper\)\)")
        paper = mix(ink, paper, shade)
    for share in shares(
        r"[ ;]color: color-mix\(in srgb, var\(--tag(?:, currentColor)?\) ([\d.]+)%, var\(--ink\)"
    ):
        assert contrast(mix(rgb(colour), ink, share), paper) >= READABLE


@in_both_pages
@pytest.mark.parametrize("colour", PALETTE)
def test_text_on_a_strip_is_readable(colour, paper, ink):
    paper, ink = rgb(paper), rgb(ink)
    tint, *entities = shares(
        r"background: color-mix\(in srgb, var\(--tag\) ([\d.]+)%, var\(--paper\)\)"
    )
    (differs,) = shares(
        rf"(?i)--differs: color-mix\(in srgb, {theme.DIFFERS} ([\d.]+)%, var\(--ink"
    )
    (text,) = shares(r"color: color-mix\(in srgb, var\(--differs\) ([\d.]+)%, var\(--ink\)\)")
    accent = mix(rgb(theme.DIFFERS), ink, differs)
    assert contrast(mix(accent, ink, text), mix(rgb(colour), paper, tint)) >= READABLE
    for share in (tint, *entities):  # entities are written in ink only
        assert contrast(ink, mix(rgb(colour), paper, share)) >= READABLE


@in_both_pages
def test_quiet_and_warning_text_is_readable(paper, ink):
    paper, ink = rgb(paper), rgb(ink)
    (quiet,) = shares(r"--quiet: color-mix\(in srgb, var\(--ink\) ([\d.]+)%, var\(--paper\)\)")
    (shade,) = shares(r"--shade: color-mix\(in srgb, var\(--ink\) ([\d.]+)%, var\(--paper\)\)")
    (line,) = shares(r"--line: color-mix\(in srgb, var\(--ink\) ([\d.]+)%, var\(--paper\)\)")
    (differs,) = shares(
        rf"(?i)--differs: color-mix\(in srgb, {theme.DIFFERS} ([\d.]+)%, var\(--ink"
    )
    for share in (0, shade, line):
        assert contrast(mix(ink, paper, quiet), mix(ink, paper, share)) >= READABLE
    assert contrast(mix(rgb(theme.DIFFERS), ink, differs), paper) >= READABLE


@in_both_pages
@pytest.mark.parametrize("colour", [theme.POSITIVE, theme.NEGATIVE])
def test_numbers_on_full_cells_are_readable(colour, paper, ink):
    cells = (Path(theme.__file__).parent / "stage/web/parts/cells.js").read_text()
    (full,) = re.findall(r"Math\.round\((\d+) \* share\)}%", cells)
    assert contrast(rgb(ink), mix(rgb(colour), rgb(paper), float(full))) >= READABLE


@pytest.mark.parametrize(
    ("name", "colour"), [("above", theme.POSITIVE), ("below", theme.NEGATIVE)], ids=str
)
def test_style_sheet_has_the_colours_of_the_theme(name, colour):
    assert f"--{name}: {colour.lower()};" in CSS
