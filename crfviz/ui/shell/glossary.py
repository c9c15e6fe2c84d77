"""The glossary: two sentences and a formula for each term and symbol.

This module does not use Streamlit. The symbols are those of docs/pages.md: `e[t, k]` for emissions,
`A[j, k]` for transitions from j to k, T words, K tags.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape


@dataclass(frozen=True)
class Term:
    """The definition of one term or symbol."""

    text: str  # two sentences
    formula: str


GLOSSARY: dict[str, Term] = {
    "tag": Term(
        "The label of one word, such as NOUN or B-PER. A model has K of them and gives every "
        "word one.",
        "y_t ∈ {1, …, K}",
    ),
    "path": Term(
        "One tag for every word of the sentence, from the first to the last. There are K^T of "
        "them, and the decoders choose one.",
        "y = (y_1, …, y_T)",
    ),
    "emission": Term(
        "How well a tag fits a word, whatever its neighbours are. It comes from a network, from "
        "counts or from a file, and is one number for every word and tag.",
        "e[t, k]",
    ),
    "transition": Term(
        "How well one tag follows another. It is one number for every pair of tags, and the row "
        "is where the step comes from.",
        "A[j, k], from j to k",
    ),
    "START, END": Term(
        "The places before the first word and after the last. Their transitions say which tags "
        "often begin and end a sentence.",
        "A[START, k] and A[k, END]",
    ),
    "score": Term(
        "The sum of all emissions and transitions that a path passes. A higher score is better; "
        "it is not yet a probability.",
        "s(y) = Σ_t e[t, y_t] + A[y_t−1, y_t]",
    ),
    "nats": Term(
        "The unit of scores: natural logarithms. One more nat makes a path e = 2.72 times as "
        "probable relative to the others.",
        "s = ln w, and w = exp(s)",
    ),
    "−inf": Term(
        "The score of what is forbidden. A path that contains it has probability 0, however good "
        "the rest is.",
        "exp(−inf) = 0",
    ),
    "Z": Term(
        "The sum over all paths, each with the exponential of its score. Dividing by it turns "
        "scores into probabilities.",
        "Z = Σ_y exp(s(y))",
    ),
    "p": Term(
        "The probability of a whole path: its share of Z. Over all paths it sums to 1.",
        "p(y) = exp(s(y) − log Z)",
    ),
    "α": Term(
        "The sum over all paths that reach a tag at a word, with this word's emission. It is "
        "worked out from left to right, one column from the one before.",
        "α[t, k] = e[t, k] + log Σ_j exp(α[t−1, j] + A[j, k])",
    ),
    "β": Term(
        "The sum over all ways to go on from a tag to the end of the sentence, without this "
        "word's emission. It is worked out from right to left.",
        "β[t, j] = log Σ_k exp(A[j, k] + e[t+1, k] + β[t+1, k])",
    ),
    "marginal": Term(
        "The probability that a word has a tag, over all paths. Those of one word sum to 1.",
        "p(y_t = k) = exp(α[t, k] + β[t, k] − log Z)",
    ),
    "mass": Term(
        "The total probability of a set of paths. Some masses are too small for the picture to "
        "show.",
        "Σ p(y) over these paths",
    ),
    "folded": Term(
        "Tags that are unlikely at every word and on no path shown are hidden to save room. The "
        "link above the picture shows them.",
        "p(y_t = k) < 0.01 for every t",
    ),
    "independent": Term(
        "The decoder that gives each word the tag with the best emission. It does not look at "
        "the neighbours at all.",
        "y_t = argmax_k e[t, k]",
    ),
    "greedy": Term(
        "The decoder that decides word by word from left to right and never takes a decision "
        "back. It sees the tag before, and not what follows.",
        "y_t = argmax_k e[t, k] + A[y_t−1, k]",
    ),
    "Viterbi": Term(
        "The decoder that finds the path with the highest score of all. It needs no more than "
        "the best score that reaches each tag of each word.",
        "best[t, k] = e[t, k] + max_j (best[t−1, j] + A[j, k])",
    ),
    "max-marginal": Term(
        "The decoder that gives each word its most probable tag. Its tags need not make one "
        "likely path together.",
        "y_t = argmax_k p(y_t = k)",
    ),
    "gold": Term(
        "The correct tags, as an annotator set them. Examples and annotated files have them.",
        "y*",
    ),
    "backpointer": Term(
        "The previous tag on the best path into a tag. Following them from the last word back to "
        "the first gives the best path.",
        "argmax_j (best[t−1, j] + A[j, k])",
    ),
    "pin": Term(
        "A word whose tag is fixed. Paths with another tag there no longer count.",
        "p(y | y_t = k)",
    ),
    "red dashes": Term(
        "What differs from the path it is compared with. The line below the picture names that "
        "path.",
        "y_t ≠ y′_t",
    ),
    "softmax": Term(
        "The scores of one word turned into probabilities that sum to 1. Transitions are ignored.",
        "exp(e[t, k]) / Σ_j exp(e[t, j])",
    ),
    "strength": Term(
        "How much the transitions count. At 0 every word is tagged on its own, at 1 the "
        "model is as trained.",
        "s(y) = Σ_t e[t, y_t] + strength · A[y_t−1, y_t]",
    ),
    "entropy": Term(
        "How uncertain the model is: 0 where one tag has probability 1. With K equally probable "
        "tags it is log K.",
        "H = −Σ p log p",
    ),
    "sample": Term(
        "A path drawn by its probability. In many samples, each path appears in proportion to "
        "its probability.",
        "y ~ p(y)",
    ),
    "log-sum-exp": Term(
        "The logarithm of a sum of exponentials. The largest term is taken out first, so that "
        "nothing overflows.",
        "log Σ exp(x) = m + log Σ exp(x − m), m = max x",
    ),
    "log-likelihood": Term(
        "The logarithm of the probability of the right path. Training makes it larger.",
        "log p(y*) = s(y*) − log Z",
    ),
    "gradient": Term(
        "How the log-likelihood changes with each weight. It is the count under the gold tags "
        "minus the expected count.",
        "∂ log p(y*) / ∂A[j, k] = observed − expected",
    ),
    "rule": Term(
        "A regular expression over tags, such as [^ VERB]* VERB .* for a verb somewhere. The chain "
        "times its automaton is a chain again, so every question can be asked under it.",
        "P(rule) = Z_rule / Z",
    ),
    "piece": Term(
        "A part of a word, as subword networks read it; ## marks those that do not begin one. "
        "A mask of first pieces has a hole at each of these.",
        "unfair → un ##fair",
    ),
    "HMM": Term(
        "A model that generates tags and then words with probabilities. Their logarithms are the "
        "scores of a CRF.",
        "p(x, y) = Π_t p(y_t | y_t−1) p(x_t | y_t)",
    ),
    "EM": Term(
        "Learning without tags: compute how often each probability is used on average, then set "
        "the probabilities to match. The log-likelihood never falls.",
        "p(k | j) = E[j then k] / E[j]",
    ),
    "expected count": Term(
        "How often something is used, on average over all paths. It is a sum of marginals.",
        "E[j then k] = Σ_t p(y_t = j, y_t+1 = k | x)",
    ),
    "BIO": Term(
        "Tags for spans: B begins one, I goes on inside, O is outside. I may only follow B or I "
        "of the same kind.",
        "A[O, I-PER] = −inf",
    ),
}


def terms_panel(own: Sequence[str]) -> str:
    """Return HTML: the button "Terms" and its panel, which opens without a rerun.

    The panel has a search box (see `web/frame.js`), the terms of the page (`own`), and all others.
    """
    others = "".join(_entry(term) for term in GLOSSARY if term not in own)
    folded = "" if own else " open"
    return (
        '<button type="button" class="crfviz-terms" popovertarget="crfviz-glossary">Terms</button>'
        '<div id="crfviz-glossary" popover role="dialog" aria-label="Terms">'
        '<input type="search" aria-label="Search terms" placeholder="Search terms">'
        f"<dl>{''.join(map(_entry, own))}</dl>"
        f"<details{folded}><summary>All terms</summary><dl>{others}</dl></details>"
        "<p hidden>No term matches.</p></div>"
    )


@cache
def _pattern(term: str) -> re.Pattern[str]:
    """Return the pattern of a term: words also match in other case and with a plural s."""
    if len(term) > 1 and term.isascii():
        return re.compile(rf"\b{re.escape(term)}s?\b", re.IGNORECASE)
    return re.compile(rf"\b{re.escape(term)}\b")


def linked(text: str, terms: Iterable[str]) -> str:
    """Return a sentence as HTML in which the first use of each term opens its definition.

    A word also matches in other case or with a plural s; a symbol matches exactly.

    >>> linked("How are all paths summed?", ["α", "path"]).partition("<div")[0]
    'How are all <button type="button" popovertarget="crfviz-term-0">paths</button> summed?'
    """
    term_at: dict[tuple[int, int], str] = {}
    for term in sorted(terms, key=len, reverse=True):
        match = _pattern(term).search(text)
        if match and not any(match.start() < end and start < match.end() for start, end in term_at):
            term_at[match.span()] = term
    parts, panels, at = [], [], 0
    for number, (start, end) in enumerate(sorted(term_at)):
        name = f"crfviz-term-{number}"
        button = f'<button type="button" popovertarget="{name}">{escape(text[start:end])}</button>'
        parts += [escape(text[at:start]), button]
        label = escape(term_at[start, end])
        panels.append(
            f'<div id="{name}" popover role="dialog" aria-label="{label}">'
            f"<dl>{_entry(term_at[start, end])}</dl></div>"
        )
        at = end
    return "".join([*parts, escape(text[at:]), *panels])


def _entry(term: str) -> str:
    entry = GLOSSARY[term]
    return (
        f'<div data-term="{escape(term)}"><dt>{escape(term)}</dt>'
        f"<dd>{escape(entry.text)} <i>{escape(entry.formula)}</i></dd></div>"
    )
