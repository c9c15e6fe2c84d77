"""Training of a model on the finished sentences of a document, to propose its tags.

    made = propose_model(store, document, "mine", CRF, store.annotations("Waren"), report)
    load_tagger("mine")

The model has all tags of its document, also those without a sentence. A later version replaces an
earlier one of the same name; other models are never overwritten.
"""

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from crfviz.annotations.curation import learnable
from crfviz.annotations.records import DocumentSummary, Pair
from crfviz.annotations.store.store import Store, open_store
from crfviz.annotations.teaching.partly import begun
from crfviz.annotations.teaching.teach import RECORD_FILE, Announce, finished
from crfviz.corpus.metrics import Rate
from crfviz.corpus.training.cross_validation import CrossValidated, cross_validated
from crfviz.corpus.training.feature_crf import fit_feature_crf, partly_tagged
from crfviz.corpus.training.labelled import order_tags
from crfviz.corpus.training.perceptron import PerceptronRecipe, fit_perceptron
from crfviz.exceptions import CrfvizError
from crfviz.taggers.examples import EXAMPLES_FILE, GIVEN, Example, write_examples
from crfviz.taggers.folder import CARD_FILE
from crfviz.taggers.lexicon import build_lexicon, write_lexicon
from crfviz.taggers.perceptron import Perceptron, save_perceptron
from crfviz.taggers.registry import list_taggers, load_tagger
from crfviz.taggers.storage import write_json, write_tokenizer
from crfviz.taggers.tagger import CRF, PERCEPTRON
from crfviz.taggers.user_models import new_model, owner_of, require_own_name, safe_name, user_models
from crfviz.text.files import abbreviate
from crfviz.text.sentences import Sentence
from crfviz.text.splitting import told_by, words_of_text
from crfviz.text.tokenizer import sentence_of

FAMILIES = {CRF: "CRF over word features", PERCEPTRON: "perceptron"}
MIN_DONE = 10  # minimum of finished sentences, and the interval between offers
FITS = 6  # five folds of cross-validation, and the model


@dataclass(frozen=True)
class Proposer:
    """Figures of a model that was trained on a document."""

    name: str
    document: str
    family: str
    num_sentences: int  # finished sentences in the training
    num_begun: int  # open sentences in the training, with their set tags
    score: CrossValidated
    seconds: float
    earlier: tuple[tuple[int, float], ...] = ()  # finished sentences and score of earlier models

    @property
    def reached(self) -> float:
        """F1 of entities, else the share of right words, in [0, 1]."""
        return (self.score.entity_f1 or self.score.words).value


def propose_model(
    store: Store,
    document: DocumentSummary,
    name: str,
    pairs: Sequence[Pair],
    report: Announce,
    family: str = CRF,
) -> Proposer:
    """Train a model on a document with one answer per sentence.

    An exception of `report` aborts the training without leaving files. A perceptron learns only
    from finished sentences.

    Raises:
        CrfvizError: there are too few sentences, or another model has the name.

    """
    started, name = time.monotonic(), safe_name(name)
    require_own_name(name, document.key, list_taggers())
    sentences = finished(pairs)
    tags = document.tags or order_tags([tag for s in sentences for tag in s.tags or ()])
    _require_enough(sentences)
    before = None  # previous model, for confident guesses in open sentences
    last = last_proposer(document)
    with suppress(CrfvizError):
        before = load_tagger(document.model) if last else None
    partly = begun(pairs, tags, before) if family == CRF else []
    done = 0

    def told(share: float) -> None:
        what = "cross-validation" if done < FITS - 1 else f"training {name}"
        report((done + share) / FITS, what)

    def trained(part: Sequence[Sentence]) -> Perceptron:
        nonlocal done
        if family == PERCEPTRON:
            model = fit_perceptron(PerceptronRecipe(), part, tags, told)
        else:
            learnt = [partly_tagged(sentence, tags) for sentence in (*part, *partly)]
            model = fit_feature_crf(learnt, tags, told)
        done += 1
        return model

    score = cross_validated(sentences, trained)
    done = FITS - 1
    model = trained(sentences)

    def confirm() -> None:
        """Record the model in the document; a locked store raises an error."""
        now = _present(store, document)
        settings = replace(now.settings, tags=now.tags or tags, model=name)
        if settings != now.settings:
            store.change(now.name, settings)

    with new_model(name, document.key, confirm) as folder:
        save_perceptron(folder, model)
        tokenizer = document.settings.tokenizer or told_by(sentences)[0]
        write_tokenizer(folder, tokenizer)
        write_lexicon(folder, build_lexicon(sentences))
        seconds = round(time.monotonic() - started, 2)
        earlier = (*last.earlier, (last.num_sentences, last.reached)) if last else ()
        made = Proposer(
            name, document.name, family, len(sentences), len(partly), score, seconds, earlier
        )
        (folder / CARD_FILE).write_text(_card(made), encoding="utf-8")
        write_json(folder / RECORD_FILE, asdict(made))
        write_examples(folder / EXAMPLES_FILE, _examples(sentences, tokenizer))
        report(1.0, f"saving {name}")
    return made


def propose_in_store(
    document: DocumentSummary, name: str, family: str, report: Announce
) -> Proposer:
    """Train a model in a job; sentences on which annotators disagree are left out."""
    with open_store() as store:
        now = _present(store, document)
        pairs = learnable(store.annotations(now.name), "agreed")
        return propose_model(store, now, name, pairs, report, family)


def _present(store: Store, document: DocumentSummary) -> DocumentSummary:
    """Return the current state of a document, which may have been renamed or changed."""
    found = next((each for each in store.documents() if each.key == document.key), None)
    if found is None:
        raise CrfvizError(f"the document {abbreviate(document.name)} is gone; no model was saved")
    return found


def last_proposer(document: DocumentSummary) -> Proposer | None:
    """Return the document's own model; None without one, or if its record is unreadable."""
    if not document.model or owner_of(document.model) != document.key:
        return None
    try:
        path = user_models() / document.model / RECORD_FILE
        record = json.loads(path.read_text(encoding="utf-8"))
        rates: dict[str, Any] = {
            key: Rate(**value) if isinstance(value, Mapping) else value
            for key, value in record["score"].items()
        }
        earlier = tuple((int(n), float(score)) for n, score in record.get("earlier", ()))
        return Proposer(**record | {"score": CrossValidated(**rates), "earlier": earlier})
    except (OSError, ValueError, TypeError, KeyError, AttributeError, CrfvizError):
        return None


def score_in_words(score: CrossValidated) -> str:
    """Describe the cross-validated score with its interval."""
    rates = {"of the words right": score.words, "F1 of entities": score.entity_f1}
    said = [
        f"{100 * rate.value:.1f} % {what} ({100 * rate.low:.1f} to {100 * rate.high:.1f})"
        for what, rate in rates.items()
        if rate is not None
    ]
    return f"{', '.join(said)}, cross-validated on {score.num_sentences} sentences"


def _require_enough(sentences: Sequence[Sentence]) -> None:
    if len(sentences) < MIN_DONE:
        raise CrfvizError(
            f"expected at least {MIN_DONE} finished sentences to learn from, got {len(sentences)}"
        )
    used = {tag for sentence in sentences for tag in sentence.tags or ()}
    if len(used) < 2:
        raise CrfvizError(
            f"expected at least two different tags in the {len(sentences)} finished sentences, got "
            f"{', '.join(used)} alone: there is nothing to learn from yet"
        )


def _examples(sentences: Sequence[Sentence], tokenizer: str) -> list[Example]:
    by_tags = sorted(sentences, key=lambda s: (-len(set(s.tags or ())), len(s.tokens)))
    split = partial(words_of_text, name=tokenizer)
    texts = ((s, sentence_of(s.tokens, split)) for s in by_tags[: 2 * MIN_DONE])
    found = {
        text: Example(text, s.tokens, "One that it learnt from.", GIVEN, gold=s.tags)
        for s, text in texts
        if text
    }
    return list(found.values())[:3]


def _card(made: Proposer) -> str:
    begun = f" and {made.num_begun} begun" if made.num_begun else ""
    return (
        f"# {made.name}\n\n"
        f"A {FAMILIES[made.family]} that learnt from {made.num_sentences} finished"
        f"{begun} sentences of the document {json.dumps(made.document, ensure_ascii=False)}: "
        f"{score_in_words(made.score)} (95 % interval in brackets).\n\n"
        "Its next version replaces it.\n"
    )
