"""Named snapshots of the scenario, to load again and to compare.

This module does not use Streamlit. In a URL a snapshot is the parameter `s.NAME`, whose value is
the query string of its own link. Links contain only the snapshots that a page compares, without
those that would make the link too long.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlencode

from crfviz.ui.state.event_parser import RefusedError
from crfviz.ui.state.link import LONGEST_LINK, Link, decode, encode_changes
from crfviz.ui.state.link_reader import Models
from crfviz.ui.state.scenario import MAX_CHARACTERS, Scenario
from crfviz.ui.words import clean, quote

LONGEST_NAME = 40  # characters
MAX_SNAPSHOTS = 100
PARAMETER = "s."  # prefix of the name in a URL


@dataclass(frozen=True)
class Snapshot:
    """A scenario with a name."""

    name: str
    scenario: Scenario  # model, sentence, edits and pins; no page options, no step


@dataclass(frozen=True)
class Snapshots:
    """All snapshots of a session; methods return new objects."""

    snapshots: tuple[Snapshot, ...] = ()  # in the order of saving
    deleted: tuple[tuple[int, Snapshot], ...] = ()  # position and snapshot, the latest last
    chosen: str = ""  # name of the selected snapshot, for load, rename and delete

    def names(self) -> list[str]:
        return [snapshot.name for snapshot in self.snapshots]

    def named(self, name: str) -> Snapshot | None:
        return next((snapshot for snapshot in self.snapshots if snapshot.name == name), None)

    def current(self) -> Snapshot | None:
        """Return the selected snapshot, or the last saved one if none is selected."""
        return self.named(self.chosen) or next(iter(self.snapshots[::-1]), None)

    def saved(self, name: str, scenario: Scenario) -> Snapshots:
        """Return the snapshots with a new one, which becomes the selected one.

        Raises:
            RefusedError: the name is empty, too long or taken, or there are too many.
        """
        name = self._checked(name)
        if len(self.snapshots) >= MAX_SNAPSHOTS:
            raise RefusedError(
                f"There are {MAX_SNAPSHOTS} snapshots already, and no room for more. Delete one."
            )
        snapshot = Snapshot(name, replace(scenario, view={}, step=0))
        return replace(self, snapshots=(*self.snapshots, snapshot), chosen=name)

    def renamed(self, old: str, new: str) -> Snapshots:
        """Return the snapshots with one renamed.

        Raises:
            RefusedError: the new name is empty, too long or taken, or there is no snapshot of the
                old name.

        """
        place = self._place(old)
        name = old if _tidy(new) == old else self._checked(new)
        snapshots = list(self.snapshots)
        snapshots[place] = replace(snapshots[place], name=name)
        return replace(self, snapshots=tuple(snapshots), chosen=name)

    def without(self, name: str) -> Snapshots:
        """Return the snapshots without one, which can be restored.

        Raises:
            RefusedError: there is no snapshot of that name.
        """
        place = self._place(name)
        snapshots = (*self.snapshots[:place], *self.snapshots[place + 1 :])
        deleted = (*self.deleted, (place, self.snapshots[place]))[-MAX_SNAPSHOTS:]
        return replace(self, snapshots=snapshots, deleted=deleted, chosen="")

    def restored(self) -> Snapshots:
        """Return the snapshots with the last deleted one in its old place, if there is one."""
        if not self.deleted or len(self.snapshots) >= MAX_SNAPSHOTS:
            return self
        place, snapshot = self.deleted[-1]
        back = replace(snapshot, name=self._free(snapshot.name))
        snapshots = (*self.snapshots[:place], back, *self.snapshots[place:])
        return replace(self, snapshots=snapshots, deleted=self.deleted[:-1], chosen=back.name)

    def with_linked(self, linked: Iterable[Snapshot]) -> Snapshots:
        """Return the snapshots with those of a link added, except where the name is taken."""
        shelf = self
        for snapshot in linked:
            if shelf.named(snapshot.name) is None and len(shelf.snapshots) < MAX_SNAPSHOTS:
                shelf = replace(shelf, snapshots=(*shelf.snapshots, snapshot))
        return shelf

    def _place(self, name: str) -> int:
        if name not in self.names():
            raise RefusedError(f"There is no snapshot called {quote(name)}.")
        return self.names().index(name)

    def _checked(self, name: str) -> str:
        name = _tidy(name)
        if not name:
            raise RefusedError("A snapshot needs a name: type one, then press Enter.")
        if len(name) > LONGEST_NAME:
            raise RefusedError(
                f"The name has {len(name)} characters: at most {LONGEST_NAME} fit. Shorten it."
            )
        if name in self.names():
            raise RefusedError(
                f"There is a snapshot called {quote(name)} already. Choose another name, or delete "
                "that one first."
            )
        return name

    def _free(self, name: str) -> str:
        """Return the name, with a number appended if it is taken."""
        number, free = 2, name
        while free in self.names():
            free = f"{name[: LONGEST_NAME - 6]} ({number})"
            number += 1
        return free


def query(scenario: Scenario) -> str:
    """Return the query string of a snapshot; it always has model and sentence."""
    parts = {"model": scenario.model, "sentence": scenario.sentence}
    return urlencode({**parts, **encode_changes(scenario)})


def with_snapshots(link: Link, snapshots: Iterable[Snapshot]) -> Link:
    """Return the link with the snapshots that fit; it is incomplete if any does not fit."""
    params, complete = dict(link.params), link.complete
    for snapshot in snapshots:
        wider = {**params, PARAMETER + snapshot.name: query(snapshot.scenario)}
        if len(urlencode(wider)) <= LONGEST_LINK:
            params = wider
        else:
            complete = False
    return Link(params, complete)


def without_snapshots(params: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in params.items() if not name.startswith(PARAMETER)}


def linked_snapshots(params: Mapping[str, str], models: Models) -> list[Snapshot]:
    """Return the valid snapshots in the parameters of a URL, if their models exist.

    `params` has percent-decoded values by name.
    """
    snapshots = []
    for parameter, value in params.items():
        name = parameter.removeprefix(PARAMETER)
        parts = dict(parse_qsl(value, keep_blank_values=True))
        usable = 0 < len(name) <= LONGEST_NAME and _tidy(name) == name
        if parameter.startswith(PARAMETER) and usable and models.knows(parts.get("model", "")):
            state = decode(without_snapshots(parts), models).scenario
            state = replace(state, right={}, view={}, step=0)
            snapshots.append(Snapshot(name, state))
    return snapshots[:MAX_SNAPSHOTS]


def _tidy(name: object) -> str:
    """Return the name on one line, stripped; empty if it is not text."""
    return " ".join(clean(name[:MAX_CHARACTERS]).split()) if isinstance(name, str) else ""
