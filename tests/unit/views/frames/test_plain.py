"""A table as plain HTML: what it says, where its links lead, and that names in it are text."""

from html.parser import HTMLParser

import pandas as pd

from crfviz.views.frames.chains import plain_table


class Seen(HTMLParser):
    """Tags with their attributes, and the texts between them."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)


def test_rows_are_written_with_their_links():
    frame = pd.DataFrame(
        {"word": ["fish", "saw"], "margin": [0.25, None], "Why": ["/why?a=1&b=2", None]}
    )
    seen = Seen(plain_table(frame, ["Why"], {"margin": "{:.1f}"}, marked=1))
    assert seen.texts == ["word", "margin", "Why", "fish", "0.2", "open", "saw", "–"]
    link = {"href": "/why?a=1&b=2", "aria-label": "open Why: fish, 0.25"}
    assert [found for tag, found in seen.tags if tag == "a"] == [link]
    rows = [found for tag, found in seen.tags if tag == "tr"]
    assert rows == [{}, {}, {"aria-current": "true"}]


def test_names_in_a_table_are_escaped():
    name = '<img src=http://leak.invalid/a>"&'
    seen = Seen(plain_table(pd.DataFrame({name: [name], "Why": [f"/why?{name}"]}), ["Why"]))
    assert {tag for tag, _ in seen.tags} == {
        "div",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "a",
    }
    assert seen.texts == [name, "Why", name, "open"]
    (link,) = [found for tag, found in seen.tags if tag == "a"]
    assert link == {"href": f"/why?{name}", "aria-label": f"open Why: {name}"}
