"""The app's pages in their groups, and the views of each page, with a one-line description.

Pure: no Streamlit. The links on the left, the titles and the README follow this table.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One page, or another view of a page."""

    title: str
    path: str  # in the URL; empty for the home page, the value of `?view=` for a view
    answers: str  # one line on what the page shows
    terms: tuple[str, ...]  # entries of the glossary about the page
    sentence: bool = True  # whether the page shows the sentence in the bar
    model: bool = True  # whether the page depends on the model in the bar
    tab: str = ""  # label in the row of views; the title if empty
    views: tuple["Entry", ...] = ()  # the further views of a page

    @property
    def script(self) -> str:
        """The script of the page or view, relative to the root of the app."""
        return f"pages/{self.path or 'explore'}.py"

    @property
    def label(self) -> str:
        return self.tab or self.title


GROUPS: dict[str, tuple[Entry, ...]] = {
    "Follow the chain": (
        Entry(
            "Explore",
            "",
            "Four ways to choose the tags, and why they differ",
            (
                "tag",
                "independent",
                "Viterbi",
                "marginal",
                "Z",
                "p",
                "backpointer",
                "folded",
                "red dashes",
            ),
            tab="Decoders",
            views=(
                Entry(
                    "Compare",
                    "compare",
                    "What differs between two models, or two states of one, on the same words",
                    ("marginal", "mass", "Z", "p", "folded", "red dashes"),
                ),
            ),
        ),
        Entry(
            "Emissions",
            "emissions",
            "How well each tag fits each word on its own",
            ("emission", "nats", "softmax", "−inf", "independent", "Z", "p", "folded"),
            tab="Scores",
            views=(
                Entry(
                    "Words and pieces",
                    "pieces",
                    "What a CRF makes of words that are split into pieces",
                    (
                        "piece",
                        "transition",
                        "path",
                        "Z",
                        "p",
                        "backpointer",
                        "folded",
                        "red dashes",
                    ),
                ),
            ),
        ),
        Entry(
            "Transitions",
            "transitions",
            "Edit how likely one tag is to follow another",
            (
                "transition",
                "nats",
                "START, END",
                "−inf",
                "strength",
                "marginal",
                "Z",
                "p",
                "folded",
            ),
        ),
        Entry(
            "Forward–backward",
            "forward-backward",
            "How all paths are summed without listing them",
            ("α", "β", "Z", "p", "marginal", "nats", "folded"),
            tab="α and β",
            views=(
                Entry(
                    "Naive way",
                    "naive",
                    "What it costs to list every path",
                    ("path", "Z", "p"),
                ),
                Entry(
                    "Log space",
                    "log-space",
                    "Why CRF code works in log space",
                    ("nats", "α", "Z", "log-sum-exp", "−inf"),
                ),
            ),
        ),
        Entry(
            "Viterbi",
            "viterbi",
            "How Viterbi finds the best path, word by word",
            ("Viterbi", "backpointer", "path", "score", "Z", "p", "folded"),
        ),
        Entry(
            "Marginals",
            "marginals",
            "How probable each tag of each word is, and each whole path",
            ("marginal", "max-marginal", "Z", "p", "entropy", "sample", "folded", "red dashes"),
            tab="Tags",
            views=(
                Entry(
                    "Paths",
                    "paths",
                    "Which whole paths are likely, and how far one change reaches",
                    ("path", "Z", "p", "sample", "entropy", "pin", "folded", "red dashes"),
                ),
            ),
        ),
    ),
    "Ask the model": (
        Entry(
            "Why this tag",
            "why",
            "Why this tag and not another, and what it would take to change it",
            ("score", "Z", "p", "pin", "emission", "transition", "entropy", "folded", "red dashes"),
        ),
        Entry(
            "What if",
            "what-if",
            "Which tags change when the sentence is written another way",
            ("emission", "p", "nats", "folded", "red dashes"),
        ),
        Entry(
            "Entities",
            "entities",
            "Which words form an entity, how sure that is, and what the BIO rules do",
            ("BIO", "mass", "p", "−inf", "red dashes"),
        ),
        Entry(
            "Rules",
            "rules",
            "How probable it is that the tags obey a rule, and what obeying it costs",
            ("rule", "mass", "p", "nats", "Viterbi", "marginal", "transition", "folded"),
        ),
        Entry(
            "Risk",
            "risk",
            "What an error costs, and how sure is sure enough",
            ("Viterbi", "max-marginal", "marginal", "path", "p", "nats", "BIO", "red dashes"),
        ),
    ),
    "Practise and teach": (
        Entry(
            "Practise",
            "practise",
            "Carry the algorithm out yourself, graded at every step",
            ("α", "β", "Viterbi", "backpointer", "nats", "START, END"),
            sentence=False,
            model=False,
            tab="Step by step",
            views=(
                Entry(
                    "Homework",
                    "homework",
                    "Check your own table, and find the mistake in it",
                    ("α", "β", "Viterbi", "backpointer", "nats"),
                    tab="Check my table",
                ),
            ),
        ),
        Entry(
            "Learn",
            "learn",
            "What the model would change if these tags were right",
            ("gradient", "transition", "log-likelihood", "marginal", "Z", "p", "folded"),
        ),
        Entry(
            "HMM",
            "hmm",
            "Which HMM constraints a CRF drops",
            ("HMM", "transition", "Z", "p", "nats", "max-marginal", "folded"),
            tab="HMM as CRF",
            views=(
                Entry(
                    "EM",
                    "em",
                    "How a hidden Markov model learns from days without tags",
                    (
                        "HMM",
                        "EM",
                        "expected count",
                        "log-likelihood",
                        "marginal",
                        "nats",
                        "Viterbi",
                        "p",
                    ),
                ),
            ),
        ),
        Entry(
            "Lectures",
            "lectures",
            "Lectures that are ready to play",
            (),
            sentence=False,
            model=False,
        ),
    ),
    "Work": (
        Entry(
            "Annotate",
            "annotate",
            "Tag your own sentences quickly, with the model's help",
            ("tag", "pin", "marginal", "BIO"),
            sentence=False,
        ),
        Entry(
            "Model errors",
            "model-errors",
            "Where the model is wrong, and how confident it is there",
            ("gold", "independent", "Viterbi", "max-marginal", "p"),
            sentence=False,
        ),
        Entry(
            "Models",
            "models",
            "Which models there are, and how good each one is",
            ("independent", "greedy", "Viterbi", "max-marginal"),
            sentence=False,
            tab="Cards",
            views=(
                Entry(
                    "Bring your own",
                    "bring",
                    "Upload your own model",
                    ("tag", "emission", "transition", "START, END", "−inf"),
                    sentence=False,
                    model=False,
                ),
            ),
        ),
    ),
}  # the first page of all is the home page

GUIDES = Entry(
    "Guides",
    "guides",
    "How pages, keys, lectures, annotation, files and the library work",
    ("tag", "emission", "transition", "Z", "marginal"),
    sentence=False,
    model=False,
)  # linked at the bottom of the sidebar

PAGES = (*(page for group in GROUPS.values() for page in group), GUIDES)
ENTRIES = tuple(each for page in PAGES for each in (page, *page.views))
VIEW = "view"  # the URL parameter and page option that names a view of a page
FORMER = {"hmm-as-crf": "hmm"}  # former names, still valid in links and lectures

_BY_PATH = {entry.path: entry for entry in ENTRIES}
_PAGE_OF = {each.path: page for page in PAGES for each in (page, *page.views)}


def at_path(path: str) -> Entry:
    """Return the page at a path of the address, or the view of a name.

    Raises:
        KeyError: there is none.
    """
    return _BY_PATH[FORMER.get(path, path)]


def titled(title: str) -> Entry:
    return next(entry for entry in ENTRIES if entry.title == title)


def page_of(path: str) -> Entry:
    return _PAGE_OF[FORMER.get(path, path)]


def views_of(page: Entry) -> Mapping[str, Entry]:
    """Return the views of a page by their names, the page itself first."""
    return {each.path: each for each in (page, *page.views)}


def view_in(path: str) -> str:
    """Return the value of `?view=` for a view; empty for a page."""
    entry = at_path(path)
    return "" if entry in PAGES else entry.path


def group_of(path: str) -> str:
    page = page_of(path)
    return next((heading for heading, group in GROUPS.items() if page in group), "")


def beside(path: str, steps: int) -> str | None:
    """Return the neighbour of a page in its group, or of a view in its page; None beyond the ends.

    The page comes before its first view; the next page follows its last one.
    """
    views = list(views_of(page_of(path)))
    place = views.index(at_path(path).path) + steps
    if view_in(path) and 0 <= place < len(views):
        return views[place]
    paths = [page.path for page in GROUPS.get(group_of(path), (page_of(path),))]
    at = paths.index(page_of(path).path) + steps
    return paths[at] if 0 <= at < len(paths) else None
