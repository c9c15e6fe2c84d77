"""The error analysis of tagged sentences, for this process or a worker; without Streamlit."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from crfviz.chain.edits import Edits
from crfviz.corpus.counts.run_counts import as_counted
from crfviz.corpus.run.results import Results
from crfviz.corpus.run.tagging import Progress, run
from crfviz.corpus.shards.model_reference import ModelReference
from crfviz.corpus.tables.layer_gain import LayerGain, layer_gain
from crfviz.corpus.tables.report import Tables, full_record, tables_of
from crfviz.taggers.tagger import Tagger
from crfviz.text.sentences import Sentence
from crfviz.text.tokenizer import sentence_of
from crfviz.ui.state.link import explorer_link

Record = Mapping[str, Any]
Links = Mapping[str, Sequence[str | None]]  # by table: a link to the explorer for each row
ErrorAnalysis = tuple[Results, Record, Tables, Links]
WorkerResult = tuple[Mapping[str, Any], Record, Tables, Links]  # `Results` as a dict of fields


def load(model: ModelReference, report: Progress) -> None:
    """Load the model and tag a sentence, so that the next run is fast."""
    tagger = model.load()
    tagger.potentials_batch([tagger.split("These look fine to me.")])
    report(1, 1)


def analyse_in_worker(
    model: ModelReference,
    sentences: Sequence[Sentence],
    file: str,
    report: Progress,
    rule: str | None = None,
) -> WorkerResult:
    """Run `analyse_sentences` in a worker process; the result omits the tagger.

    Raises:
        CrfvizError: the worker cannot load the model, or the sentences do not suit it.
    """
    results, record, tables, links = analyse_sentences(
        model.load(), sentences, file, report, rule=rule
    )
    names = (field.name for field in fields(results) if field.name != "tagger")
    return {name: getattr(results, name) for name in names}, record, tables, links


def analyse_sentences(
    tagger: Tagger,
    sentences: Sequence[Sentence],
    file: str,
    report: Progress,
    pause: Callable[[], object] = lambda: None,
    rule: str | None = None,
    opener: "ExplorerLinks | None" = None,
) -> ErrorAnalysis:
    """Return the results of a tagger on sentences, their record, tables, and explorer links.

    `opener` creates the links; by default they open the tagger itself.

    Raises:
        CrfvizError: the sentences do not suit the tagger; the message says why.
    """
    results = run(tagger, sentences, report, rule=rule, pause=pause)
    counted = as_counted(results)
    tables = tables_of(counted)
    return results, full_record(counted, file, tables), tables, links_of(results, pause, opener)


def gain_in_worker(
    model: ModelReference, sentences: Sequence[Sentence], report: Progress
) -> LayerGain:
    """Run `layer_gain` in a worker process.

    Raises:
        CrfvizError: the worker cannot load the model, or the sentences do not suit it.
    """
    return layer_gain(model.load(), sentences, lambda share: report(round(100 * share), 100))


def links_of(
    results: Results,
    pause: Callable[[], object] = lambda: None,
    opener: "ExplorerLinks | None" = None,
) -> dict[str, list[str | None]]:
    """Return a link to the explorer for each row of the tables of errors and suspects."""
    log = results.log
    links = opener or ExplorerLinks(results.tagger, log.sentences)
    rows_by_table: dict[str, list[tuple[int, int, str]]] = {
        name: [(error.sentence, error.first, error.gold[0]) for error in errors]
        for name, errors in (("errors", log.first), ("suspects", log.suspects))
    }
    rows_by_table["entity_suspects"] = [
        (suspect.sentence, suspect.wrong, "") for suspect in log.entity_suspects
    ]
    by_table: dict[str, list[str | None]] = {name: [] for name in rows_by_table}
    link_of: dict[tuple[int, int, str], str | None] = {}  # computed once: suspects are also errors
    for name, rows in rows_by_table.items():
        for row in rows:
            if row not in link_of:
                link_of[row] = links.to(*row)
            by_table[name].append(link_of[row])
            pause()
    return by_table


class ExplorerLinks:
    """Links that open sentences in the explorer.

    A link is None if the tokenizer would split the words differently, or if the word is beyond
    those that the explorer draws. The tags of a sentence are left out if the tagger lacks any.

    Args:
        tagger: the model that the explorer shows.
        sentences: sentences with gold tags, by number.
        answers: the same sentences with the tags of another tagger, drawn as an extra row.

    """

    def __init__(
        self,
        tagger: Tagger,
        sentences: Mapping[int, Sentence],
        answers: Mapping[int, Sentence] | None = None,
    ) -> None:
        self._tagger = tagger
        self.model = tagger.name
        self._tags = set(tagger.tags)
        self._sentences = sentences
        self._answers = answers or {}
        self._texts: dict[int, str | None] = {}

    def to(
        self, number: int, position: int, tag: str = "", edits: Edits | None = None
    ) -> str | None:
        """Return the link to a sentence and a tag at a position, by default the gold tag."""
        sentence = self._sentences[number]
        if number not in self._texts:
            self._texts[number] = sentence_of(sentence.tokens, self._tagger.split)
        gold = self._known(sentence)
        asked = tag if tag in self._tags else gold[position] if gold else ""
        at = (position, asked) if asked else None
        answers = self._known(self._answers.get(number))
        return explorer_link(self.model, self._texts[number], gold, at, answers, edits)

    def _known(self, sentence: Sentence | None) -> tuple[str, ...]:
        """Return the tags of a sentence if the tagger has all of them."""
        tags = (sentence and sentence.tags) or ()
        return tags if self._tags.issuperset(tags) else ()
