"""How long the desk looks for a marked name in a document of 100,000 sentences.

python benchmarks/everywhere.py
"""

import json
import os
import random
import sys
import tempfile
import time
from statistics import median

from crfviz.annotations.everywhere import Name, undecided
from crfviz.annotations.records import Item
from crfviz.annotations.store.names import refused, sentences_with
from crfviz.annotations.store.store import open_store
from crfviz.text.sentences import joined

SENTENCES, WORDS, KINDS, TIMES = 100_000, 20, 20_000, 10
NAMES = {"New York": 5000, "Bergen": 1000, "The": 2}  # one sentence in so many has the name


def main() -> None:
    """Print the median and the longest of `TIMES` searches of each name, in milliseconds."""
    dice = random.Random(0)
    items = []
    for number in range(SENTENCES):
        words = [f"word{dice.randrange(KINDS)}" for _ in range(WORDS)]
        for place, (name, every) in enumerate(NAMES.items()):
            if number % every == 0:
                words[3 * place : 3 * place + 2] = [*name.split(" "), "was"][:2]
        items.append(Item(*joined(words)))
    with tempfile.TemporaryDirectory() as at, open_store(f"sqlite:///{at}/a.db") as store:
        store.add("big", items)
        found: dict[str, object] = {"load": os.getloadavg()[0]}
        for text in NAMES:
            name, spent = Name(tuple(text.split(" ")), "LOC"), []
            for _ in range(TIMES):
                started = time.perf_counter()
                rows = sentences_with(store, "big", "anna", name.words)
                no = refused(store, "big", "anna", name.what)
                places = len(list(undecided(rows, name, no, bio=True)))
                spent.append(1000 * (time.perf_counter() - started))
            found[text] = {"places": places, "p50": median(spent), "max": max(spent)}
    sys.stdout.write(f"{json.dumps(found)}\n")


if __name__ == "__main__":
    main()
