"""A browser page on the app, and assertions that it shows the library's numbers."""

import math
import re
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import torch
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as Timeout

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.edits import Edits
from crfviz.taggers.registry import load_tagger
from crfviz.views.contents import ENTRIES, GROUPS, GUIDES, VIEW, page_of, titled, view_in, views_of

SCRIPT = Path(__file__).with_name("screen.js")
PATIENCE = 45_000  # milliseconds of a timeout, long enough for a busy machine
expect.set_options(timeout=PATIENCE)
# A page that is waited for is looked at so often, in milliseconds. Playwright looks at every frame,
# and a frame that somebody waits for is drawn, while the server needs the processor.
Page.wait_for_function.__kwdefaults__["polling"] = 40
PAUSE = 1000  # milliseconds between two looks
TRIES = 10
MODEL = "upos-en-contextfree"  # of an address that names none, see `Screen.address`
SENTENCE = "These look fine to me ."  # of an address without a sentence
TITLES = {entry.path: page_of(entry.path).title for entry in ENTRIES}
GROUPED = {
    heading: [each for page in group for each in views_of(page).values()]
    for heading, group in (GROUPS | {GUIDES.title: (GUIDES,)}).items()
}  # pages and views
WITHOUT_STAGE = (
    "annotate",
    "what-if",
    "entities",
    "compare",
    "naive",
    "log-space",
    "pieces",
    "em",
    "lectures",
    "homework",
    "model-errors",
    "models",
    "bring",
    "guides",
)
STAGES = [entry.path for entry in ENTRIES if entry.path not in WITHOUT_STAGE]  # of every model
OF_SENTENCE = [  # an exercise has a chain of its own
    entry.path for entry in ENTRIES if entry.path in STAGES and entry.sentence
]
MARGINAL = 1.1e-6  # the stage writes six decimals


class Screen:
    """A browser page on the app."""

    def __init__(self, page, app):
        self.page = page
        self.app = app
        page.set_default_timeout(PATIENCE)

    # Navigation.

    def address(self, path="", **params):
        """Return a URL of a page, or of a view by its name.

        Without a model it names that of `chain()`, unless a lecture has one.
        """
        whole = params if "lecture" in params else {"model": MODEL, **params}
        if view := view_in(path):
            whole = {VIEW: view, **whole}
        return f"{self.app.url}/{page_of(path).path}?{urlencode(whole)}"

    def open(self, path="", **params):
        """Open a page with a stage, and wait until Python's numbers are drawn."""
        self.visit(path, **params)
        self.wait({"name": 0, "rev": -1})
        return self

    def visit(self, path="", **params):
        """Open a page with these parameters, and wait for its title."""
        return self.load(path, self.address(path, **params))

    def load(self, path, address):
        """Load the URL of a page, and wait for its title."""
        self.page.goto(address)
        self.expect_title(TITLES[path])
        return self

    def turn(self, path="", **params):
        """Change the URL as Back and Forward do, and wait until the stage is redrawn.

        This keeps the session and takes a fifth of the work of loading the page.
        """
        with self.redraw():
            self.page.evaluate("(to) => crfviz.turnTo(to)", self.address(path, **params))
            self.expect_title(TITLES[path])
        return self

    def follow(self, title):
        """Open another page by its link, or a view by its tab."""
        entry = titled(title)
        page = page_of(entry.path)
        if page == GUIDES:
            self.page.locator(".st-key-guides button").click()
        elif entry == page or self.page.locator("h1").inner_text() != page.title:
            self._follow_link(page.title)
        self.expect_title(page.title)
        if entry != page:
            self.tab(entry.label).click()
            expect(self.tab(entry.label)).to_be_checked()

    def tab(self, label):
        """Return the button of a view, in the head of its page."""
        views = self.page.locator(".st-key-view-view")
        return views.get_by_role("radio", name=label, exact=True)

    def _follow_link(self, title):
        link = self.page.locator("a").filter(has_text=re.compile(rf"^{title}$"))
        group = self.page.locator(".st-key-pages details").filter(has=link)
        if not group.evaluate("(group) => group.open"):
            group.locator("summary").click()
        # By script: during a redraw, groups fold and move the links below them.
        group.locator(link).evaluate("(link) => link.click()")

    def expect_title(self, title, patience=PATIENCE):
        """Wait for the title of the page.

        Playwright's `expect` would be slow: after each failed check, it describes the whole page
        for its message, which takes longer than drawing the page.
        """
        self.page.wait_for_function("(title) => crfviz.titled(title)", arg=title, timeout=patience)

    # Waiting.

    @contextmanager
    def redraw(self):
        """After the body of the `with`, wait until the stage shows Python's response to it."""
        before = self.page.evaluate("crfviz.mark()")
        yield
        self.wait(before)

    def wait(self, before):
        self.page.wait_for_function("(before) => crfviz.settled(before)", arg=before)

    def rest(self):
        """Wait until the server has responded to all events."""
        self.page.wait_for_function("crfviz.rests()")

    def reload(self):
        """Reload the page after the URL has been updated for all events."""
        self.rest()
        self.page.reload()

    def eventually(self, check):
        """Repeat a check after each redraw until it passes, because links and panels update late.

        In the meantime, parts of the page may be missing.
        """
        end = monotonic() + PATIENCE / 1000
        while monotonic() < end:
            before = self.page.evaluate("crfviz.mark()")
            try:
                return check()
            except (AssertionError, LookupError, PlaywrightError):
                with suppress(Timeout):
                    self.page.wait_for_function(
                        "(before) => crfviz.settled(before)", arg=before, timeout=PAUSE
                    )
        return check()

    def wait_for_text(self, text):
        self.page.get_by_text(text).first.wait_for(timeout=PATIENCE)

    # Reading.

    def read(self):
        return SimpleNamespace(**self.page.evaluate("crfviz.read()"))

    def params(self):
        """Return the query parameters of the URL."""
        query = urlsplit(self.page.url).query
        return {name: values[0] for name, values in parse_qs(query).items()}

    def param(self, name):
        """Wait for a query parameter of the URL, which follows the stage; return its value."""
        self.page.wait_for_function(
            "(name) => new URL(document.URL).searchParams.get(name)", arg=name
        )
        return self.params()[name]

    def expect_params(self, params):
        """Wait until the URL has exactly these query parameters."""

        def check():
            assert self.params() == params

        self.eventually(check)

    def expect_measured(self, script, expected, *args, where=None):
        """Wait until a script in the page returns `expected`; styles and drawings load late."""

        def check():
            assert self.page.evaluate(script, *args) == expected, where

        self.eventually(check)

    def expect_read(self, expected):
        """Wait until the stage shows the same as an earlier `read` of this or another stage."""

        def check():
            found, wanted = vars(self.read()), vars(expected)
            assert {
                name: (found[name], wanted[name]) for name in wanted if found[name] != wanted[name]
            } == {}

        self.eventually(check)

    def expect_lattice(self, expected):
        self.eventually(lambda: assert_lattice(self.read(), expected))

    def expect_rows(self, expected):
        self.eventually(lambda: assert_rows(self.read(), expected))

    def text(self):
        """Return all visible text, on the page and in the stage."""
        return "\n".join([self.page.inner_text("body"), self.page.evaluate("crfviz.text()")])

    def expect_edits(self, number):
        """Wait until the sidebar shows this number of edits exactly once.

        It updates after the stage, and during a rerun Streamlit may show it at two places.
        """
        label = re.compile(rf"^{number} edit")
        expect(self.page.locator(".st-key-edits")).to_have_text([label])

    def expect_param(self, name, value):
        """Wait until the URL has this value, or no such parameter (None), and the server knows."""
        self.page.wait_for_function(
            "([name, value]) => crfviz.linked(name, value)", arg=[name, value]
        )

    def cell(self, source, target):
        return self.page.locator(f"[data-cell='{source},{target}']")

    def emission(self, t, k):
        return self.page.locator(f"[data-table=emissions][data-t='{t}'][data-k='{k}']")

    def node(self, t, k):
        return self.page.locator(f"[data-node='{t},{k}']")

    @property
    def sentence(self):
        return self.page.locator(".st-key-sentence input")

    # Actions.

    def type_sentence(self, text):
        with self.redraw():
            self.apply_sentence(text)

    def apply_sentence(self, text):
        self.sentence.fill(text)
        self.sentence.press("Enter")

    def type_score(self, cell, text):
        """Click a cell, type, press Enter."""
        cell.click()
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def choose(self, key, option):
        """Pick an option of the select box with this key."""
        self.pick(self.page.locator(f".st-key-{key} button[aria-haspopup=listbox]"), option)

    def pick(self, box, option):
        """Pick an option of a select box; retry, because a late redraw closes the list.

        The model picker shows the purpose of some models after a dash.
        """
        options = partial(self.page.get_by_role, "option")
        wanted = options(name=option, exact=True).or_(options(name=f"{option} – "))
        for _ in range(TRIES):
            box.click()
            with suppress(Timeout):
                return wanted.click(timeout=5 * PAUSE)
            self.press("Escape")
        pytest.fail(f"the list has no {option}")

    def drag(self, cell, *, up, drop=True):
        """Drag a cell up by `up` pixels, and release it if `drop`."""
        cell.hover()  # waits until the cell does not move
        box = cell.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(x, y - up, steps=6)
        if drop:
            self.page.mouse.up()


@cache
def tagger(model=MODEL):
    return load_tagger(model)


@contextmanager
def one_thread():
    """Use one thread, as the app does, because float32 sums depend on the number of threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def chain(model=MODEL, sentence=SENTENCE, edits=None, *, windowed=False):
    """Analyse the first 120 words with the library, or all words cut to 120 if `windowed`.

    Returns:
        The words, the tag names, and the analysis.
    """
    edits = edits or Edits()
    words = tagger(model).split(sentence)[: None if windowed else 120]
    with one_thread():
        potentials = tagger(model).potentials(words, constrained=edits.constrained)
    analysis = analyse(edits.apply(potentials))
    return SimpleNamespace(
        words=words[:120],
        tags=list(tagger(model).tags),
        analysis=analysis.window(0, 120) if windowed else analysis,
    )


def with_cell(source, target, score):
    return Edits(transitions={(source, target): score})


def number(text):
    return -math.inf if text == "forbidden" else float(text)


def grid(table):
    """Convert a (T, K) tensor to {"t,k": value}, the keys of the stage's tables."""
    return {
        f"{t},{k}": value
        for t, column in enumerate(table.tolist())
        for k, value in enumerate(column)
    }


def named(path, tags):
    """Return the tag names of a path; None without a path."""
    return None if path is None else [tags[k] for k in path]


def assert_equal(found, expected):
    assert found == expected


def assert_rows(shown, expected):
    """Check that each drawn decoder row shows that decoder's tags, or dashes without a path."""
    analysis, tags = expected.analysis, expected.tags
    decoders = {
        "greedy": analysis.greedy,
        "left_to_right": analysis.left_to_right,
        "viterbi": analysis.viterbi and analysis.viterbi.path,
        "max_marginal": analysis.max_marginal,
    }
    drawn = {name: row for name, row in shown.rows.items() if name in decoders}
    dashes = ["–"] * len(expected.words)
    assert drawn == {name: named(decoders[name], tags) or dashes for name in drawn}


def assert_lattice(shown, expected):
    """Check the marginals or best(t, k), the best path and every backpointer of the lattice."""
    analysis = expected.analysis
    assert shown.words == expected.words
    drawn, table = (
        (shown.best_scores, grid(analysis.best))
        if shown.best_scores
        else (shown.marginals, grid(analysis.forward_backward.marginals))
    )
    assert drawn == pytest.approx(table, abs=MARGINAL)
    path = analysis.viterbi.path if analysis.viterbi else []
    assert sorted(shown.best) == sorted(f"{t},{k}" for t, k in enumerate(path))
    pointers = analysis.backpointers.tolist()
    reached = (analysis.best > -math.inf).tolist()
    assert sorted(shown.edges) == sorted(
        f"{t},{pointers[t][k]},{k}"
        for t in range(1, len(expected.words))
        for k in range(len(expected.tags))
        if reached[t][k]
    )


def assert_table(shown, name, values):
    """Check the values of a table of the stage, except those of folded tags.

    Args:
        shown: the result of `Screen.read`.
        name: name of the table.
        values: (T, K) expected values.
    """
    drawn = {place: number(text) for place, text in shown.tables[name].items()}
    expected = grid(values)
    assert drawn
    assert drawn == pytest.approx(
        {place: expected[place] for place in drawn}, rel=1e-6, abs=1e-12, nan_ok=True
    )


def assert_matrix(shown, expected, into=1):
    """Check each unfolded cell of the matrix; `into` is the word at which the step ends."""
    potentials, tags = expected.analysis.potentials, expected.tags
    matrix = potentials.transitions
    matrix = matrix if matrix.dim() == 2 else matrix[into - 1]
    for cell, text in shown.cells.items():
        source, target = cell.split(",")
        if source == "START":
            weight = potentials.start[tags.index(target)]
        elif target == "END":
            weight = potentials.end[tags.index(source)]
        else:
            weight = matrix[tags.index(source), tags.index(target)]
        assert number(text) == pytest.approx(weight.item(), rel=1e-6), cell
