"""Taggers for typed text from CRFsuite models with their features, and from the tables of an HMM.

python-crfsuite shows its weights with six decimals only. The weights of a file are read exactly. Of
a `pycrfsuite.Tagger` they follow from probabilities: p(k | a word with the attribute a alone) is
proportional to exp(w(a, k)), and p(j, k | two words without attributes) to exp(w(j, k)).
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import numpy as np

from crfviz.chain import validation
from crfviz.chain.edits import require_no_border
from crfviz.chain.potentials import Array, ArrayLike, Potentials
from crfviz.chain.validation import as_numbers
from crfviz.exceptions import FormatError, ModelError, errors_at
from crfviz.taggers.brought.crfsuite_file import CrfsuiteModel, read_crfsuite
from crfviz.taggers.brought.parsed_model import FeatureWeights
from crfviz.taggers.folder import NOWHERE, SentenceTagger
from crfviz.taggers.plugins import as_model_error
from crfviz.taggers.tagger import CRF, Contribution
from crfviz.taggers.textbook import HiddenMarkov, MarkovTagger
from crfviz.text.files import abbreviate_value

ROUNDING = 1e-6  # precision of python-crfsuite's weights
STRANGE = "\N{REPLACEMENT CHARACTER}"  # replaces a word, to find attributes that depend on it

Features = Callable[..., Any]


def from_hmm(
    start: ArrayLike,
    transitions: ArrayLike,
    emissions: ArrayLike,
    symbols: Sequence[object],
    states: Sequence[object] | None = None,
    end: ArrayLike | None = None,
) -> MarkovTagger:
    """Return the tagger of a hidden Markov model with K states and V symbols.

    Its text is symbols separated by blanks. All numbers are probabilities.

    Args:
        start: (K,) p(first state).
        transitions: (K, K) p(to | from); with `end`, a row and its end sum to 1.
        emissions: (K, V) p(symbol | state).
        symbols: V names without blanks.
        states: K names, the tags; "0", "1", ... if None.
        end: (K,) p(end | state); None: a sequence may end anywhere at no cost.

    Raises:
        ShapeError, ModelError: a table has another shape, holds no probabilities, or a row does not
            sum to 1; or names are missing, doubled or have blanks.
    """
    rows = _table("emissions", emissions)
    chain = HiddenMarkov(
        states=_names("states", range(len(rows)) if states is None else states),
        observations=_names("symbols", symbols),
        start=_table("start", start),
        transitions=_table("transitions", transitions),
        end=None if end is None else _table("end", end),
        emissions=rows,
    )
    about = "# Hidden Markov model\n\nMade from its tables in Python."
    tagger = MarkovTagger(NOWHERE, chain, about, "`crfviz.from_hmm`")
    tagger.name = "hmm"
    return tagger


def from_crfsuite(model: Any, features: Features) -> "CrfsuiteTagger":  # noqa: ANN401 - see `model`
    """Return the tagger of a CRFsuite model with the features that it was trained on.

    Args:
        model: a `pycrfsuite.Tagger`, a fitted `sklearn_crfsuite.CRF`, or the path of a model file.
            From a `pycrfsuite.Tagger` the scores of an attribute may all differ from the file's by
            the same number below 1e-6, which changes no probability.
        features: `features(words)` returns the attributes of each word, `features(words, position)`
            those of one; attributes are those of python-crfsuite, such as `{"word": "The"}`.

    Raises:
        FormatError, ModelError: the model cannot be read, or `features` is not a function.
    """
    path = getattr(getattr(model, "modelfile", None), "name", model)  # for sklearn-crfsuite
    if isinstance(path, str | Path):
        try:
            return CrfsuiteTagger(read_crfsuite(Path(path).read_bytes()), features)
        except OSError as error:
            raise FormatError(f"{path}: cannot be read ({error.strerror})") from error
    if not hasattr(model, "info") or not hasattr(model, "marginal"):
        raise FormatError(
            "expected a pycrfsuite.Tagger, a fitted sklearn_crfsuite.CRF or the path of a model "
            f"file, got {abbreviate_value(model)}"
        )
    with as_model_error("Reading the pycrfsuite.Tagger"):
        weights = _weights(model)
    return CrfsuiteTagger(weights, features)


class CrfsuiteTagger(SentenceTagger):
    """A CRFsuite model with a function of features; see `Tagger`."""

    family = CRF
    probabilistic = True

    def __init__(self, model: CrfsuiteModel, features: Features) -> None:
        with errors_at("the CRFsuite model", ModelError):
            require_no_border(model.labels)
        super().__init__(NOWHERE, model.labels, None)
        self.name = "crfsuite"
        self._model = model
        self._features = features
        self._by_word = _takes_position(features)

    def contributions(self, words: Sequence[str], position: int) -> list[Contribution]:
        """Return the known attributes of a word; their scores add up to its emissions.

        An attribute depends on the words whose replacement changes it. To find them, each word in
        turn is replaced by an unknown one, so the feature function is called for T more sentences.
        """
        given = list(words)
        replaced = ([*given[:t], STRANGE, *given[t + 1 :]] for t in range(len(given)))
        others = [self._attributes(sentence, position) for sentence in replaced]
        nothing = np.zeros(len(self.tags))
        return [
            Contribution(
                name,
                tuple(
                    t
                    for t, other in enumerate(others)
                    if not np.array_equal(other.get(name, nothing), scores)
                ),
                scores,
            )
            for name, scores in self._attributes(given, position).items()
        ]

    def _attributes(self, words: list[str], position: int) -> dict[str, Array]:
        """Return the contribution of each known attribute of a word, (K,)."""
        parts = self._model.parts(f"word {position + 1}", self._rows(words)[position])
        known = ((name, number, value) for name, number, value in parts if number is not None)
        return self._model.features.by_name(known, len(self.tags))

    def _score(self, words: tuple[str, ...]) -> Potentials:
        scores, _, _ = self._model.emissions("features", self._rows(list(words)))
        return Potentials(scores, self._model.transitions, tags=self.tags, tokens=words)

    def _rows(self, words: list[str]) -> list[Any]:
        with as_model_error(f"The function of features of {self.name}"):
            if self._by_word:
                rows = [self._features(words, t) for t in range(len(words))]
            else:
                rows = list(self._features(words))
        if len(rows) != len(words):
            raise ModelError(
                f"{self.name}: features(words) must return the attributes of {len(words)} words, "
                f"got {len(rows)}"
            )
        return rows


def _table(name: str, numbers: ArrayLike) -> Array:
    return np.atleast_1d(as_numbers(name, numbers).detach().numpy())


def _names(what: str, names: Sequence[object]) -> tuple[str, ...]:
    """Return names as strings, which must be distinct and without blanks."""
    found = validation.words(names) if what == "symbols" else validation.names(what, names)
    blank = [name for name in found if name.split() != [name]]
    if blank or len(set(found)) < len(found):
        problem = f"{blank[0]!r}" if blank else "the same name twice"
        raise ModelError(f"{what} must have different names without blanks, got {problem}")
    return found


def _takes_position(features: Features) -> bool:
    if not callable(features):
        raise FormatError(f"features must be a function, got {abbreviate_value(features)}")
    plain = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    with suppress(ValueError):  # functions written in C may have no signature
        given = signature(features).parameters.values()
        return sum(each.kind in plain and each.default is Parameter.empty for each in given) > 1
    return False


def _weights(model: Any) -> CrfsuiteModel:  # noqa: ANN401 - a pycrfsuite.Tagger
    info, labels = model.info(), tuple(model.labels())
    moves = np.array([[info.transitions.get((a, b), np.nan) for b in labels] for a in labels])
    model.set([[], []])
    pairs = np.array([[model.probability([a, b]) for b in labels] for a in labels])
    rounded: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for (attribute, label), weight in info.state_features.items():
        rounded[attribute][label] = weight
    begins, targets, weights = [0], list[int](), list[float]()
    for attribute, known in rounded.items():
        model.set([[attribute]])
        alone = np.array([model.marginal(label, 0) for label in labels])
        exact = _exact(alone, np.array([known.get(label, np.nan) for label in labels]))
        own = [k for k, label in enumerate(labels) if label in known]
        targets += own
        weights += exact[own].tolist()
        begins.append(len(targets))
    return CrfsuiteModel(
        labels=labels,
        transitions=_exact(pairs, moves),
        attributes={attribute: number for number, attribute in enumerate(rounded)},
        features=FeatureWeights(
            np.array(begins), np.array(targets, dtype=np.uint32), np.array(weights)
        ),
    )


def _exact(probabilities: Array, rounded: Array) -> Array:
    """Return exact weights from probabilities and rounded weights (NaN where missing).

    A missing weight is 0, which determines the constant by which the logarithms are shifted. If a
    probability is too small, the rounded weight is kept.
    """
    with np.errstate(divide="ignore"):
        logs = np.log(probabilities)
    missing, there = np.isnan(rounded), np.isfinite(logs)
    zeros = logs[missing & there]
    shift = zeros.mean() if len(zeros) else (logs - rounded)[there].mean()
    close = np.abs(logs - shift - rounded) < 2 * ROUNDING
    return np.where(missing, 0.0, np.where(close, logs - shift, rounded))
