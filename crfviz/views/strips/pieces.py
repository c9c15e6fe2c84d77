"""Word pieces in pictures: a row for each reading, the steps inside of words, and the figures."""

import math
from collections.abc import Sequence

import pandas as pd

from crfviz.chain.distribution import Path
from crfviz.chain.questions.pieces import PieceReading, Pieces
from crfviz.exceptions import NoPathError
from crfviz.views.formatting import columns, count, listed, score, short, signed
from crfviz.views.stage.picture import Row

READINGS = {"first": "first pieces", "all": "all pieces", "holes": "holes"}
WORD, PYTORCH = "word", "pytorch-crf"
MAX_NAMED = 2  # maximum number of words that a note names


def piece_rows(read: Pieces) -> list[Row]:
    """Return the rows over the pieces: the tags of each reading, and the steps inside of words.

    The first row has numbers of words, and the tags of words that other rows are compared with.
    """
    first = _best(read.first)
    theirs = None if first is None else read.pytorch_crf
    numbers = [str(word + 1) if t in read.starts else "·" for t, word in enumerate(read.places)]
    rows = [
        Row(WORD, WORD, _spread(read, first), texts=numbers, against=WORD),
        Row("first", READINGS["first"], _spread(read, first, later=False)),
    ]
    for name in ("all", "holes"):
        reading = getattr(read, name)
        best = _best(reading)
        rows.append(Row(name, READINGS[name], None if best is None else best.tags, against=WORD))
        if best is not None and len(read.starts) < len(read.places):
            rows.append(_step_row(f"{name}_steps", reading))
    tags = _spread(read, theirs, later=False)
    return [*rows, Row("pytorch_crf", PYTORCH, tags, against=WORD)]


def _best(reading: PieceReading) -> Path | None:
    try:
        return reading.best
    except NoPathError:
        return None


def _spread(read: Pieces, path: Path | None, *, later: bool = True) -> list[int] | None:
    """Return the tags of the words for each piece; without the `later` ones, these have -1."""
    if path is None:
        return None
    tags = [path.tags[word] for word in read.places]
    return tags if later else [tag if t in read.starts else -1 for t, tag in enumerate(tags)]


def _step_row(name: str, reading: PieceReading) -> Row:
    texts, titles = [[""] * len(reading.words) for _ in range(2)]
    for step in reading.inner_steps:
        source, target = (reading.potentials.tag_names[k] for k in step.tags)
        texts[step.position] = signed(step.score, 1)
        titles[step.position] = f"{source} → {target} {score(step.score, 4)}"
    return Row(name, "inner steps", None, texts=texts, titles=titles)


def tag_frame(read: Pieces) -> pd.DataFrame:
    """Return the rows of the picture as text, a column for each piece; steps with their tags."""
    tags, above, texts = read.all.potentials.tag_names, "", {}
    for row in piece_rows(read):
        name = row.label if row.titles is None else f"{row.label}, {above}"
        texts[name] = row.titles or row.names(tags) or ["–"] * len(read.places)
        above = row.label
    return pd.DataFrame(texts, index=columns(read.all.potentials.tokens or ())).T


def figure_frame(read: Pieces) -> pd.DataFrame:
    """Return a row for each reading and one for pytorch-crf; NaN if no path is allowed."""
    lines = {name: _figures(getattr(read, key)) for key, name in READINGS.items()}
    if _best(read.first) is not None:
        theirs = {"best score": read.pytorch_crf.score, "p": read.pytorch_crf.probability}
        lines[f"{PYTORCH}’s path"] = {**lines[READINGS["first"]], **theirs}
    return pd.DataFrame(lines).T.astype({"positions": int})


def _figures(reading: PieceReading) -> dict[str, float]:
    best = _best(reading)
    return {
        "positions": len(reading.words),
        "inner steps": math.fsum(s.score for s in reading.inner_steps) if best else math.nan,
        "log Z": reading.log_partition,
        "best score": best.score if best else math.nan,
        "p": best.probability if best else math.nan,
    }


def piece_note(read: Pieces, words: Sequence[str]) -> str:
    """Describe how many words are split, and the effect of each reading on the tags."""
    split = sum(read.places.count(word) > 1 for word in set(read.places))
    if not split:
        return "No word is split: all readings are the same."
    if _best(read.first) is None:
        return "No path over the words is allowed: undo an edit or drop a pin."
    changes = (
        f"{READINGS[name].capitalize()}: {_changes(read, getattr(read, name), words)}."
        for name in ("all", "holes")
    )
    return " ".join([f"{split} of {count(len(words), 'word')} split.", *changes])


def _changes(read: Pieces, reading: PieceReading, words: Sequence[str]) -> str:
    """Return the tags of words that a reading changes, against first pieces."""
    best = _best(reading)
    if best is None:
        return "no path is allowed"
    moved = _moved(read, [best.tags[t] for t in read.starts], words)
    steps = reading.inner_steps
    largest = max(steps, key=lambda step: abs(step.score))
    source, target = (reading.potentials.tag_names[k] for k in largest.tags)
    total = short(math.fsum(step.score for step in steps), plus=True)
    return (
        f"{moved or 'first pieces keep their tags'}; {count(len(steps), 'inner step')}, such as "
        f"{source} → {target} in “{words[read.places[largest.position]]}”, "
        f"{'add' if len(steps) > 1 else 'adds'} {total} nats"
    )


def _moved(read: Pieces, tags: Sequence[int], words: Sequence[str]) -> str:
    """Return where the tags of words differ from those of first pieces."""
    names = read.first.potentials.tag_names
    pairs = zip(words, read.first.path, tags, strict=True)
    changes = [f"“{word}” {names[old]} → {names[new]}" for word, old, new in pairs if old != new]
    return listed(changes, MAX_NAMED)


def pytorch_note(read: Pieces, words: Sequence[str]) -> str:
    """Return where pytorch-crf differs under a mask with holes; empty without a hole."""
    best, right = _best(read.first), _spread(read, _best(read.first))
    if best is None or right is None or len(read.starts) == len(read.places):
        return ""
    moved = _moved(read, read.pytorch_crf.tags, words)
    lost = f"it scores {short(best.score - read.pytorch_crf.score)} nats less: {moved}"
    exact = score(best.score - read.first.log_partition, 4)
    took = score(read.pytorch_crf_log_likelihood(right), 4)
    return (
        "Given a mask with holes, pytorch-crf skips them in its sums: log Z is that of first "
        "pieces. Its path follows backpointers of the wrong pieces; "
        f"{lost if moved else 'here it is the best one by chance'}. For log p of the first-piece "
        f"path it takes {took}, {'which is right here' if took == exact else f'not {exact}'}."
    )
