"""How high the rows of a picture are, and when they scroll in a frame of their own."""

import pytest

from crfviz.views.stage.component import PACKAGE, WEB
from tests.support import node

TEXTS = {str(PACKAGE / WEB / "stage" / "texts.js"): "linesOf"}
LAYOUT = {str(PACKAGE / WEB / "stage" / "layout.js"): "layout"}
TARGET = 24  # pixels, see WCAG 2.2, 2.5.8
# Forward–backward of nine words and 17 tags beside the panel of a cell, on a projector.
SIZES = """
  const [T, K] = [9, 17];
  const tags = Array.from({ length: K }, (_, k) => `TAG${k}`);
  const label = "x".repeat(70);
  const table = (name) => ({ name, label, values: new Array(T * K).fill(1.5), digits: 1 });
  const model = (shown, walking) => ({
    T, K, tags, walking,
    shown: new Set(Array(shown).keys()),
    order: [...Array(shown).keys()],
    words: new Array(T).fill("word"),
    rows: [{ label: "log Z", texts: new Array(T).fill("68.7550") }],
    tables: [table("alpha"), table("beta")],
    panels: { main: ["lattice", "alpha", "beta", "strips"], side: "cell" },
    heading: [],
    covered: new Set(),
    walk: { phases: [{ nodes: ["alpha"] }] },
    legend: "x".repeat(120),
  });
  const room = { height: 720, top: 57, note: 38, scale: 1, shortens: false };
  const learn = { tables: [], panels: { main: ["strips", "lattice"], side: "gradient" } };
  return told.map(({ shown, walking, page, width = 935, height = 720 }) => {
    const drawn = { ...model(shown, walking), ...(page === "learn" ? learn : {}) };
    const { row, flags, lengths } = layout(drawn, { ...room, width, height });
    const { framed, close, alone } = flags;
    return { row, framed, close, alone, strip: lengths.strip };
  });
"""


@pytest.fixture(scope="module")
def sizes(tmp_path_factory):
    """By the number of tags in sight and whether steps are left."""
    cases = [(shown, walking) for shown in (2, 5, 8, 9, 17) for walking in (False, True)]
    told = [{"shown": shown, "walking": walking} for shown, walking in cases]
    cases += ["phone", "few", "few on a phone"]
    told.append({"shown": 8, "walking": False, "width": 350})
    told.append({"shown": 3, "walking": False, "height": 1080})
    told.append({"shown": 3, "walking": False, "height": 1080, "width": 350})
    for walking in (False, True):
        cases.append(("learn", walking))
        told.append({"shown": 8, "walking": walking, "page": "learn"})
    cases.append("learn on a phone")
    told.append({"shown": 8, "walking": False, "page": "learn", "width": 350})
    given = node.run(tmp_path_factory.mktemp("layout"), LAYOUT, SIZES, told)
    return dict(zip(cases, given, strict=True))


@pytest.mark.parametrize("shown", [8, 9])
def test_a_lattice_and_two_tables_are_drawn_closer_before_they_scroll(sizes, shown):
    last = sizes[shown, False]
    assert last["close"]
    assert not last["framed"]
    assert 15 <= last["row"] < 17


def test_few_rows_keep_their_height(sizes):
    assert not sizes[2, False]["framed"]
    assert sizes[2, False]["row"] > 24


def test_few_rows_fill_the_height_but_for_a_panel_under_them(sizes):
    assert 9 * sizes["few"]["row"] > 1080 / 2
    assert sizes["few on a phone"]["row"] <= 36


def test_on_a_phone_rows_are_as_high_as_a_target_and_the_page_scrolls(sizes):
    assert not sizes["phone"]["close"]
    assert not sizes["phone"]["framed"]
    assert sizes["phone"]["row"] == TARGET


def test_what_has_no_room_even_then_scrolls(sizes):
    assert sizes[17, False]["framed"]


@pytest.mark.parametrize("shown", [9, 17])
def test_while_it_steps_the_lattice_is_alone_and_not_closer(sizes, shown):
    walking = sizes[shown, True]
    assert walking["alone"]
    assert not walking["close"]
    assert walking["row"] >= 22


def test_strips_are_as_low_as_a_target_before_anything_scrolls(sizes):
    assert sizes[17, False]["framed"]
    assert sizes[17, False]["strip"] == TARGET
    assert sizes[2, False]["strip"] > TARGET


@pytest.mark.parametrize("walking", [False, True])
def test_what_stands_over_matrices_is_close_at_every_step(sizes, walking):
    assert sizes["learn", walking]["close"]
    assert sizes["learn", walking]["row"] == TARGET
    assert not sizes["learn on a phone"]["close"]


COLUMNS = """
  const [T, K] = [40, 2];
  return told.map((tags) => {
    const model = {
      T, K, tags, walking: false,
      shown: new Set([0, 1]),
      order: [0, 1],
      words: new Array(T).fill("word"),
      rows: [{ label: "Viterbi", tags: new Array(T).fill(0) }],
      tables: [],
      panels: { main: ["strips"], side: null },
      heading: [],
      covered: new Set(),
      walk: null,
      legend: "",
    };
    const room = { height: 720, width: 935, top: 57, note: 38, scale: 1, shortens: false };
    return layout(model, room).lengths.column;
  });
"""


def test_columns_have_room_for_the_names_of_tags_up_to_six_letters(tmp_path):
    names = [["O", "LOC"], ["O", "B-LOC"], ["O", "B-MISC"], ["O", "B-PRODUCT"]]
    columns = node.run(tmp_path, LAYOUT, COLUMNS, names)
    assert columns == sorted(columns)
    assert columns[2] >= 60  # a bold B-MISC and its frame
    assert columns[1] < columns[2] == columns[3]  # longer ones end in dots: words count, too


def test_the_place_that_a_note_will_take_has_the_lines_that_its_words_fill(tmp_path):
    """It was taken for a line or two more, and the rows jumped when the note came."""
    told = {"": 1, "one two": 1, "one two three": 2, "a b c d e f": 2, "incomprehensibly a b": 2}
    body = "return told.map((text) => linesOf(text, ({ length }) => length, 8));"
    assert node.run(tmp_path, TEXTS, body, list(told)) == list(told.values())
