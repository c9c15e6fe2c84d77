"""The app's pages in their groups, each with a one-line description.

Pure: no Streamlit. The links on the left, the titles and the README follow this table.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One page."""

    title: str
    path: str  # in the address; empty for the home page
    answers: str  # what it shows, in one plain line
    terms: tuple[str, ...]  # the glossary's entries that it needs
    sentence: bool = True  # whether it is about the sentence in the bar on top
    model: bool = True  # whether the model chosen there acts on it

    @property
    def script(self) -> str:
        """The page's file, relative to the root of the app."""
        return f"pages/{self.path or 'explore'}.py"


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
        ),
        Entry(
            "Emissions",
            "emissions",
            "How well each tag fits each word on its own",
            ("emission", "nats", "softmax", "−inf", "independent", "Z", "p", "folded"),
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
            "Paths",
            "paths",
            "Which whole paths are likely, and how far one change reaches",
            ("path", "Z", "p", "sample", "entropy", "pin", "folded", "red dashes"),
        ),
        Entry(
            "Compare",
            "compare",
            "What differs between two models, or two states of one, on the same words",
            ("marginal", "mass", "Z", "p", "folded", "red dashes"),
        ),
    ),
    "Understand": (
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
        Entry(
            "HMM as CRF",
            "hmm-as-crf",
            "Which HMM constraints a CRF drops",
            ("HMM", "transition", "Z", "p", "nats", "max-marginal", "folded"),
        ),
        Entry(
            "Words and pieces",
            "pieces",
            "What a CRF makes of words that are split into pieces",
            ("piece", "transition", "path", "Z", "p", "backpointer", "folded", "red dashes"),
        ),
        Entry(
            "EM",
            "em",
            "How a hidden Markov model learns from days without tags",
            ("HMM", "EM", "expected count", "log-likelihood", "marginal", "nats", "Viterbi", "p"),
        ),
        Entry(
            "Learn",
            "learn",
            "What the model would change if these tags were right",
            ("gradient", "transition", "log-likelihood", "marginal", "Z", "p", "folded"),
        ),
        Entry(
            "Lectures",
            "lectures",
            "Lectures that are ready to play",
            (),
            sentence=False,
            model=False,
        ),
        Entry(
            "Homework",
            "homework",
            "Check your own table, and find the mistake in it",
            ("α", "β", "Viterbi", "backpointer", "nats"),
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
    ),
    "Models": (
        Entry(
            "Models",
            "models",
            "Which models there are, and how good each one is",
            ("independent", "greedy", "Viterbi", "max-marginal"),
            sentence=False,
        ),
        Entry(
            "Bring your own",
            "bring",
            "Upload your own model",
            ("tag", "emission", "transition", "START, END", "−inf"),
            sentence=False,
            model=False,
        ),
        Entry(
            "Guides",
            "guides",
            "How pages, keys, lectures, annotation, files and the library work",
            ("tag", "emission", "transition", "Z", "marginal"),
            sentence=False,
            model=False,
        ),
    ),
}  # the first page of all is the home page

ENTRIES = tuple(entry for group in GROUPS.values() for entry in group)


def group_of(path: str) -> str:
    """Return the heading of the group of a page, by its path in the address."""
    return next(heading for heading, group in GROUPS.items() if at_path(path) in group)


def beside(path: str, steps: int) -> str | None:
    """Return the path of a neighbour in the page's group; None beyond its ends."""
    paths = [entry.path for entry in GROUPS[group_of(path)]]
    at = paths.index(path) + steps
    return paths[at] if 0 <= at < len(paths) else None


def titled(title: str) -> Entry:
    """Return the page with a title."""
    return next(entry for entry in ENTRIES if entry.title == title)


def at_path(path: str) -> Entry:
    """Return the page at a path of the address."""
    return next(entry for entry in ENTRIES if entry.path == path)
