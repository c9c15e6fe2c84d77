"""Columns of long names leave room for the numbers beside them."""

import pandas as pd

from crfviz.ui.widgets import INDEX, LONGEST_NAME, NAMES_WIDTH, narrowed

LONG = "x" * (LONGEST_NAME + 1)


def test_only_columns_of_long_names_are_narrowed():
    names = pd.DataFrame({"tag": ["O", LONG], "gold": [1, 2], "word": ["a", "b"]})
    assert {name: each["width"] for name, each in narrowed(names).items()} == {"tag": NAMES_WIDTH}
    assert narrowed(pd.DataFrame({"tag": [LONG[1:]]})) == {}


def test_long_row_and_column_names_are_narrowed_with_full_help():
    frame = pd.DataFrame([[0.5, 0.5]], index=[LONG], columns=["word", f"{LONG}*"])
    options = narrowed(frame)
    assert set(options) == {INDEX, f"{LONG}*"}
    assert options[f"{LONG}*"]["help"] == f"{LONG}\\*"
    assert not options[INDEX].get("help")
