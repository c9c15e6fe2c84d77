"""What hiding each word does to one emission and to the decode, as strips and in words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from crfviz.views.numbers import score, signed
from crfviz.views.phrases import columns, differing, named, numbered
from crfviz.views.stage.parts import Row

LEGEND = (
    "hidden: word replaced by an unknown character · tags changed: tags of the best path that "
    "change when that word is hidden · dashed frame: the chosen cell"
)


@dataclass(frozen=True)
class Watched:
    """One emission while each of the T words is hidden in turn."""

    position: int  # of the emission
    tag: int  # id, of the emission
    change: Sequence[float]  # T nats, from `Occlusion.change`
    path: Sequence[int] | None  # T tag ids, from the whole sentence; None where none is allowed
    hidden: Sequence[Sequence[int] | None]  # T paths, each decoded with one word hidden
    words: Sequence[str]  # T
    tags: Sequence[str]  # K names

    def changes(self, hidden: int) -> list[str]:
        """The decoded tags that change with one word hidden, its own included, in words."""
        before, after, tags = self.path, self.hidden[hidden], self.tags
        if before is None or after is None:
            return []
        places = differing(before, after)
        return [f"{numbered(self.words, t)} {tags[before[t]]} → {tags[after[t]]}" for t in places]


def occlusion_rows(watched: Watched) -> list[Row]:
    """A bar per word, how hiding it moves the emission, and how many decoded tags then change."""
    change, tag = watched.change, watched.tags[watched.tag]
    size = max((abs(value) for value in change if math.isfinite(value)), default=0.0) or 1.0
    changes = [watched.changes(hidden) for hidden in range(len(watched.words))]
    return [
        Row(
            "occlusion",
            f"hidden: {tag}",
            None,
            texts=[signed(value) for value in change],
            shares=[max(-1.0, min(1.0, value / size)) for value in change],
            titles=[
                f"without “{word}” {signed(value, 4)} nats"
                for word, value in zip(watched.words, change, strict=True)
            ],
        ),
        Row(
            "occlusion_tags",
            "tags changed",
            None,
            texts=[str(len(changed) or "·") for changed in changes],
            titles=[
                f"without “{word}”: {', '.join(changed)}" if changed else ""
                for word, changed in zip(watched.words, changes, strict=True)
            ],
        ),
    ]


def occlusion_note(watched: Watched) -> str:
    """Which hidden word moves the emission most, and what becomes of the tags without it."""
    change, tag = watched.change, watched.tags[watched.tag]
    own = f"Hiding {named(watched.words, watched.position)} {_moved(change, watched, tag)}"
    others = [s for s, value in enumerate(change) if s != watched.position and value != 0.0]
    if not others:
        return f"{own}; hiding others changes nothing."
    most = max(others, key=lambda s: abs(change[s]))
    word = named(watched.words, most)
    return (
        f"{own}. Of the others {word} matters most ({signed(change[most])}): without it "
        f"{', '.join(watched.changes(most)) or 'no decoded tag changes'}."
    )


def _moved(change: Sequence[float], watched: Watched, tag: str) -> str:
    """Return what hiding the word does to its own score."""
    value = change[watched.position]
    if value == 0.0:
        return f"does not change its {tag} score"
    return f"{'lowers' if value < 0 else 'raises'} its {tag} score by {score(abs(value))}"


def occlusion_frame(watched: Watched) -> pd.DataFrame:
    """The same as a table: a line per hidden word."""
    return pd.DataFrame(
        {
            "hidden word": word,
            "emission moves by": watched.change[s],
            "tags that change": ", ".join(watched.changes(s)),
        }
        for s, word in enumerate(columns(watched.words))
    )
