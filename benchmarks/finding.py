"""What the analysis of errors finds about one model on one file: the text in docs/measured.md.

python benchmarks/finding.py --file test.conllu [--model upos-en]
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gold_errors
import torch

from crfviz.corpus.counts.run_counts import IN_TRAINING
from crfviz.corpus.run.tagging import run
from crfviz.corpus.tables.errors import slice_table
from crfviz.corpus.tables.report import full_record, tables_of
from crfviz.taggers.registry import load_tagger
from crfviz.text.formats import read_sentences

OUT = Path(__file__).with_name("finding.json")
PAIR = {"NOUN", "PROPN"}  # tags taken for each other
PLANTED = 0.01  # of the words
SEED = 0


def main() -> None:
    """Measure, and write JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--file", type=Path, required=True)
    parser.add_argument("--model", default="upos-en")
    options = parser.parse_args()
    torch.set_num_threads(1)
    tagger, sentences = load_tagger(options.model), read_sentences(options.file)
    results = run(tagger, sentences)
    tables = tables_of(results)
    record = full_record(results, options.file.name, tables)
    record = {
        "model": options.model,
        "sentences": record["sentences"],
        "words": record["tokens"],
        "total": record["errors"]["total"],
        "words_wrong": record["errors"]["words"],
        "by_kind": record["errors"]["by_kind"],
        "pair": sum(
            int(row["words"] or 0)
            for row in tables["confusion"]
            if {row["gold"], row["predicted"]} == PAIR
        ),
        "search_errors": results.search_errors,
        "oracle": tables["oracle"][-1],
        "in_training": slice_table(results, [IN_TRAINING]),
        "planted": gold_errors.measure(tagger, sentences, PLANTED, random.Random(SEED)),
    }
    OUT.write_text(json.dumps(record, indent=2) + "\n")
    sys.stdout.write(text(record) + "\n")


def text(record: Mapping[str, Any]) -> str:
    """The finding in words, every figure from `record`."""
    shares = {kind: 100 * n / record["total"] for kind, n in record["by_kind"].items()}
    beam = next(
        (name for name in ("beam_2", "beam_4", "beam_8") if not record["search_errors"][name]),
        None,
    )
    searched = (
        f"a beam of {beam.removeprefix('beam_')} already finds the best path of every sentence"
        if beam
        else "a beam of 8 misses the best path of some sentences"
    )
    seen = {row[IN_TRAINING]: row for row in record["in_training"]}
    wrong = {name: 100 * row["wrong"] / row["words"] for name, row in seen.items()}
    other = seen["seen with other tags only"]
    planted, all_wrong = record["planted"], record["words_wrong"]
    lines = [
        f"The page Model errors on `{record['model']}` and EWT test ({record['sentences']:,} "
        f"sentences): {record['total']:,} errors, runs of wrong words.",
        f"In {shares['emission']:.0f} % of them the words alone are to blame, in "
        f"{shares['transition']:.0f} % the transitions alone, in {shares['both']:.0f} % both; "
        f"{shares['near tie']:.0f} % are near ties.",
        f"Nouns and proper nouns taken for each other are {record['pair']:,} of the "
        f"{all_wrong:,} wrong words ({100 * record['pair'] / all_wrong:.0f} %).",
        f"Of the words that training had with this very tag {wrong['seen with this tag']:.1f} % "
        f"are wrong, of those it never had {wrong['never seen']:.1f} %, and of those it had with "
        f"other tags only {wrong['seen with other tags only']:.1f} %: {other['words']:,} words "
        f"with {100 * other['wrong'] / all_wrong:.0f} % of all wrong ones.",
        f"Search is no problem any more: {searched}, and the gold path is among the "
        f"{record['oracle']['k']} best of {100 * record['oracle']['sentences']:.0f} % of the "
        "sentences.",
        f"With {100 * PLANTED:.0f} % of the gold tags replaced at random, "
        f"{100 * planted['precision_at_k']:.0f} % of the first {planted['planted']} suspects are "
        f"planted ones ({100 * planted['precision_of_a_random_order']:.0f} % in random order).",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
