"""Snapshots in the address: `s.NAME=` and the query part that the snapshot is.

Only those that a page compares travel, so that links stay short; what is too long for a link stays
out whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from urllib.parse import parse_qsl, urlencode

from crfviz.ui.state.link import LONGEST_LINK, Link, decode, encode_changes
from crfviz.ui.state.scenario import Scenario
from crfviz.ui.state.snapshots import LONGEST_NAME, MOST_SNAPSHOTS, Snapshot
from crfviz.ui.words import clean

PARAMETER = "s."  # before the name


def query(scenario: Scenario) -> str:
    """The state as the query part of an address, nothing left to defaults."""
    parts = {"model": scenario.model, "sentence": scenario.sentence}
    return urlencode({**parts, **encode_changes(scenario)})


def with_snapshots(link: Link, snapshots: Iterable[Snapshot]) -> Link:
    """The link that carries these snapshots, too, as far as there is room."""
    params, complete = dict(link.params), link.complete
    for snapshot in snapshots:
        wider = {**params, PARAMETER + snapshot.name: query(snapshot.scenario)}
        if len(urlencode(wider)) <= LONGEST_LINK:
            params = wider
        else:
            complete = False
    return Link(params, complete)


def without_snapshots(params: Mapping[str, str]) -> dict[str, str]:
    """The other parameters of an address."""
    return {name: value for name, value in params.items() if not name.startswith(PARAMETER)}


def linked_snapshots(
    params: Mapping[str, str],
    *,
    models: Sequence[str],
    default_model: str,
    first_sentence: Callable[[str], str],
) -> list[Snapshot]:
    """The snapshots of an address; what cannot be one is left out.

    Args:
        params: name to value, percent-decoded.
        models: the models there are; a snapshot of another one is left out.
        default_model: as for `crfviz.ui.state.link.decode`.
        first_sentence: likewise.
    """
    found = []
    for parameter, value in params.items():
        name = parameter.removeprefix(PARAMETER)
        parts = dict(parse_qsl(value, keep_blank_values=True))
        usable = 0 < len(name) <= LONGEST_NAME and " ".join(clean(name).split()) == name
        if parameter.startswith(PARAMETER) and usable and parts.get("model") in models:
            decoded = decode(
                without_snapshots(parts),
                models=models,
                default_model=default_model,
                first_sentence=first_sentence,
            )
            state = decoded.scenario
            found.append(
                Snapshot(name, Scenario(state.model, state.sentence, state.edits, state.pins))
            )
    return found[:MOST_SNAPSHOTS]
