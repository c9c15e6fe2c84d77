"""Where an emission comes from: a sentence, bars and a table of contributions."""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from crfviz.taggers.attribution import Attribution
from crfviz.views.formatting import columns, named, score, signed
from crfviz.views.theme import NEGATIVE, POSITIVE, READABLE

HEIGHT = 170  # pixels
MOST_LEVEL = 12  # words whose names stand side by side
MOST_WORDS = 3  # that the sentence names
MOST_FEATURES = 10


def because(found: Attribution, words: Sequence[str], position: int, tags: tuple[str, str]) -> str:
    """Return what the gap between two emissions comes from, the largest contributions first."""
    values = found.words.tolist()
    order = sorted(range(len(words)), key=lambda t: -abs(values[t]))
    parts = [f"“{words[t]}” {signed(values[t])}" for t in order[:MOST_WORDS] if values[t]]
    rest = [values[t] for t in order[MOST_WORDS:] if values[t]]
    more = [f"all other words {signed(sum(rest))}"] if rest else []
    return (
        f"At {named(words, position)} the emission of {tags[0]} minus that of {tags[1]} is "
        f"{signed(found.gap)} nats, as trained: because of "
        f"{', '.join([*parts, *more, f'and without any word {signed(found.baseline)}'])}."
    )


def features_note(found: Attribution) -> str:
    """Return the largest features of a tagger that adds them up; empty for a network."""
    shown = [f"{name} {signed(value)}" for name, value in found.features[:MOST_FEATURES] if value]
    return f"Largest features: {', '.join(shown)}." if shown else ""


def because_chart(found: Attribution, words: Sequence[str]) -> alt.Chart:
    """Return a bar for each word, up for the tag and down for its rival."""
    frame = pd.DataFrame({"word": columns(words), "nats": found.words})
    axis = alt.Axis(labelAngle=0 if len(words) <= MOST_LEVEL else 90)
    chart: alt.Chart = (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=alt.X("word:N", sort=columns(words), title=None, axis=axis),
            y=alt.Y("nats:Q", title="nats"),
            color=alt.condition("datum.nats < 0", alt.value(NEGATIVE), alt.value(POSITIVE)),
            tooltip=["word:N", alt.Tooltip("nats:Q", format="+.4f")],
        )
        .properties(height=HEIGHT, config=READABLE)
    )
    return chart


def because_frame(found: Attribution, words: Sequence[str]) -> pd.DataFrame:
    """Return a column for each word with its contribution, then the baseline and the sum."""
    values = [*found.words.tolist(), found.baseline, found.gap]
    texts = [score(value, 4) for value in values]
    return pd.DataFrame([texts], columns=[*columns(words), "no word", "sum"], index=["nats"])
