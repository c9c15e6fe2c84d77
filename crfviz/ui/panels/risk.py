"""The page Risk: the dial of the costs of errors, and sets that hold the right path."""

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.distribution import TagIds
from crfviz.chain.potentials import Array, Potentials
from crfviz.chain.questions.costs import (
    HIGHEST,
    KINDS,
    CostInterval,
    between_intervals,
    cost_intervals,
    cost_matrix,
    least_cost,
    parse_costs,
)
from crfviz.chain.questions.path_sets import Calibration, PathSet, path_set
from crfviz.chain.questions.rules import Ruled
from crfviz.corpus.table import Table, TableRow
from crfviz.corpus.tables.coverage import FolderCalibration
from crfviz.exceptions import CrfvizError, NoPathError
from crfviz.text.schemes import entity_scheme
from crfviz.ui import cached
from crfviz.ui.scene import Scene
from crfviz.ui.session.bound_widgets import bound_buttons, bound_number, bound_tag, bound_to
from crfviz.ui.session.page_options import choice_option, number_option
from crfviz.ui.session.scenario_state import set_view_option, view_option
from crfviz.ui.state.link_text import names_text, read_names, read_number
from crfviz.ui.state.scenario import COSTS, DEFAULT_LEVEL, DIAL, LEVEL, OF, SHARE
from crfviz.ui.widgets import narrowed
from crfviz.ui.words import plain
from crfviz.views.frames.errors import error_frame
from crfviz.views.stage.picture import Picture
from crfviz.views.strips.risk import (
    NAMES,
    between_note,
    cost_note,
    dial_picture,
    set_note,
    set_picture,
)

SHOWS = {"dial": "dial", "set": "set"}
MAX_COST = 1000.0
BETWEEN, CELL = "between", "cell"  # dials of tags without entities
WITHIN, WITHIN_LIMITS = "within", (2.0, 0.0, 20.0)  # page option; its default, least and most
UNITS = {"sentences": "whole paths", "words": "single tags"}
NO_CALIBRATION = (
    "This model has no calibration, so no rate is promised. `python -m crfviz evaluate test.conllu "
    "--model {model} --calibrate dev.conllu --card` writes one into its folder."
)
EDITED = "The rate is measured without rules, edits and pins; with them it is not promised."
FAILS = (
    "On {label} fewer than {level} % hold the right one. The promise is only for sentences like "
    "those of the calibration."
)


def dial(scene: Scene) -> Picture:
    """Draw the costs and the choice of what varies; return the picture."""
    of_kinds, tags, paths = entity_scheme(scene.tags) is not None, scene.tags, Counted(scene.now)
    dials = {BETWEEN: "Viterbi to max-marginal", CELL: "cost of a mistake"}
    gap: Any = "xsmall" if of_kinds else "small"
    with st.container(horizontal=True, vertical_alignment="bottom", gap=gap):
        if not of_kinds and bound_buttons("Vary", DIAL, dials, BETWEEN) == BETWEEN:
            return _between(scene.now, paths)
        costs = costs_in_link(tags)
        vary = (
            bound_buttons("Vary", DIAL, NAMES, KINDS[0])
            if of_kinds
            else (
                bound_tag("True tag", "true", tags, tags[0], width=140),
                bound_tag("Chosen tag", "taken", tags, tags[-1], width=140),
            )
        )
        varied = vary if isinstance(vary, str) else names_text(*vary)
        for key in KINDS if of_kinds else [varied]:
            cost_box(key, costs, tags)
    value, table = costs.get(varied, _usual(varied)), table_of_costs(costs, tags)
    of_copies = table[np.ix_(paths.of, paths.of)]
    high = max(HIGHEST, 2 * value)
    found = paths.intervals(cost_intervals(paths.chain, of_copies, vary, high=high))
    path = paths.tags(least_cost(paths.chain, of_copies).path)
    return dial_picture(scene.now, path, found, value, cost_note(scene.now, path, table, found))


def _between(now: Analysis, paths: "Counted") -> Picture:
    share = bound_number(st.slider, "Share", SHARE, 0.0, 0.0, 1.0, step=0.01, width=320)
    found = paths.intervals(between_intervals(paths.chain))
    path = next(each.path for each in found if share <= each.high)
    return dial_picture(now, path, found, share, between_note(now, path, found))


class Counted:
    """The chain of the paths that count: under a rule each tag has copies, read as that tag."""

    def __init__(self, now: Analysis) -> None:
        self.names = now.tags
        self.chain, self.of = now.potentials, list(range(len(now.tags)))
        if isinstance(now, Ruled):
            self.chain, self.of = now.copies.potentials, now.of.tolist()

    def tags(self, copies: Iterable[int]) -> TagIds:
        """Return the tag ids of copies."""
        return TagIds([self.of[copy] for copy in copies], self.names)

    def intervals(self, found: Iterable[CostInterval]) -> list[CostInterval]:
        """Return intervals with the paths read as tags."""
        return [
            CostInterval(low, high, path := self.tags(copies), path.names)
            for low, high, copies, _ in found
        ]

    def near(self, chain: Potentials, within: float) -> PathSet:
        """Return `path_set` of the chain, or of a part of it, read as tags."""
        used = path_set(chain, within)
        return replace(
            used,
            paths=[replace(path, tags=self.tags(path.tags)) for path in used.paths],
            tags=[TagIds(sorted({*self.tags(word)}), self.names) for word in used.tags],
            steps=[sorted({(self.of[j], self.of[k]) for j, k in step}) for step in used.steps],
        )


def costs_in_link(tags: tuple[str, ...]) -> dict[str, float]:
    """Return the costs of the link by kind of error, or by true and chosen tag, as in `NOUN VERB`.

    Others cost 1. What is invalid for these tags is left out: the link may be of another model.
    """
    text, found = view_option(COSTS), dict[str, float]()
    if entity_scheme(tags):
        with suppress(CrfvizError):
            found = parse_costs(text)
        return found
    for part in text.split(";"):
        names, _, number = part.rpartition(" ")
        cell, cost = read_names(names, tags, tags), read_number(number)
        if cell and cost is not None and 0.0 <= cost <= MAX_COST:
            found[names_text(*cell)] = cost
    return found


def set_cost(key: str, cost: float, tags: tuple[str, ...]) -> None:
    """Set one cost in the link."""
    kept = {**costs_in_link(tags), key: cost}
    sign, end = "=," if entity_scheme(tags) else " ;"
    texts = [f"{each}{sign}{value:g}" for each, value in kept.items() if value != _usual(each)]
    set_view_option(COSTS, end.join(texts))


def _usual(key: str) -> float:
    """Return the cost of what no link has: 1, or 0 if true and chosen tag are the same."""
    true, _, chosen = key.partition(" ")
    return float(true != chosen)


def table_of_costs(costs: Mapping[str, float], tags: tuple[str, ...]) -> Array:
    """Return (K, K) costs of these errors; 1 for others."""
    if entity_scheme(tags):
        return cost_matrix(tags, costs)
    table = 1.0 - np.eye(len(tags))
    for key, cost in costs.items():
        if cell := read_names(key, tags, tags):
            table[tags.index(cell[0]), tags.index(cell[1])] = cost
    return table


def cost_box(key: str, costs: Mapping[str, float], tags: tuple[str, ...]) -> None:
    """Draw the box of one cost."""
    limits: dict[str, Any] = {"min_value": 0.0, "max_value": MAX_COST, "step": 0.5, "width": 100}
    name, usual = key if key in KINDS else "cell", _usual(key)

    def store(cost: float | None) -> None:
        set_cost(key, usual if cost is None else cost, tags)

    value, label = min(MAX_COST, costs.get(key, usual)), NAMES.get(key, "cost").capitalize()
    bound_to(st.number_input, label, f"cost.{name}", value, store, **limits)


def code_of(scene: Scene, picture: Picture) -> str:
    """Return Python that prints the numbers of the picture, for the download."""
    chain = f"potentials.constrained({scene.rule!r})" if scene.rule else "potentials"
    if picture.used is not None:
        known = cached.calibration(scene.model)
        if known is None:
            within = number_option(WITHIN, *WITHIN_LIMITS)
            return f"print(crfviz.path_set({chain}, {within!r}).tags)\n"
        return f"print(crfviz.{_chosen(known)!r}.sets({chain}).tags)\n"
    frame, of_kinds = cost_frame(scene), bool(entity_scheme(scene.tags))
    if frame is None or (scene.rule and not of_kinds):  # a matrix has no copies of tags
        return ""
    costs = costs_in_link(scene.tags) if of_kinds else frame.to_numpy().tolist()
    return f"costs = {costs!r}\nprint(crfviz.least_cost({chain}, costs).names)\n"


def cost_frame(scene: Scene) -> pd.DataFrame | None:
    """Return the matrix of costs, true tag by chosen tag; None for another dial."""
    tags = scene.tags
    if not entity_scheme(tags) and choice_option(DIAL, (BETWEEN, CELL), BETWEEN) == BETWEEN:
        return None
    return pd.DataFrame(table_of_costs(costs_in_link(tags), tags), index=tags, columns=tags)


def calibrated_set(scene: Scene) -> Picture:
    """Draw the level and what was measured; return the lattice of the set."""
    known, counted = cached.calibration(scene.model), Counted(scene.now)
    chain = counted.chain
    if known is None:
        st.info(NO_CALIBRATION.format(model=plain(scene.model)))
        within = bound_number(
            st.slider, "Within (nats)", WITHIN, *WITHIN_LIMITS, step=0.1, width=320
        )
        used = counted.near(chain, within)
        return set_picture(scene.now, used, set_note(used, "sentences", None))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        of = bound_buttons("Promise for", OF, UNITS, "sentences")
        level = chosen_level(known, of)
        if rows := known.rows(of, level):
            st.caption(plain(measured_line(rows, level)), width=360)
    calibration = known.at(of, level)
    if of == "sentences":
        used = counted.near(chain, calibration.threshold)
    else:
        kept = scene.now.forward_backward.marginals >= calibration.threshold
        tags = [TagIds(row.nonzero().flatten().tolist(), scene.tags) for row in kept]
        used = PathSet([], 0, tags, [])  # a word may have no tag that is sure enough
        with suppress(NoPathError):
            used = replace(counted.near(chain.allow(kept[:, counted.of]), math.inf), tags=tags)
    note = set_note(used, of, calibration.level)
    source = f"Calibrated on {known.file}: {calibration.sentences:,} sentences."
    if scene.edited or scene.rule:
        st.caption(EDITED)
    return set_picture(scene.now, used, f"{note} {source}")


def chosen_level(known: FolderCalibration, of: str) -> int:
    """Draw the level in per cent; return one of those that are calibrated."""
    fixed: dict[str, Any] = {"format": "%d %%", "width": 320}
    level: int = bound_number(st.slider, "Level", LEVEL, DEFAULT_LEVEL, *known.levels(of), **fixed)
    return level


def measured(scene: Scene) -> None:
    """Draw what the sets of the level were measured to hold, by corpus, and where that fails."""
    known = cached.calibration(scene.model)
    if known is None:
        return
    calibration = _chosen(known)
    of, level = calibration.of, round(100 * calibration.level)
    rows = known.rows(of, level)
    if rows:
        frame = error_frame(by_corpus(rows)).round(2)
        st.dataframe(frame, hide_index=True, width="content", column_config=narrowed(frame))
    for text in fail_notes(rows, level):
        st.caption(text)


def _chosen(known: FolderCalibration) -> Calibration:
    """Return the calibration of the link's unit and level."""
    of = choice_option(OF, UNITS, "sentences")
    return known.at(of, number_option(LEVEL, DEFAULT_LEVEL, *known.levels(of)))


def by_corpus(rows: Mapping[str, TableRow]) -> Table:
    """Return the measured part of the rows of `coverage_rows`, a row per label."""
    return [{"corpus": label, **dict(list(row.items())[4:])} for label, row in rows.items()]


def measured_line(rows: Mapping[str, TableRow], level: int) -> str:
    """Return the shares that the sets were measured to hold, by corpus, in one line."""
    failing = _failing(rows, level)
    shares = (
        f"{100 * float(row['covered'] or 0):.1f} %"
        f"{f' instead of {level} %' * (label in failing)} on {label}"
        for label, row in rows.items()
    )
    return f"Measured: {', '.join(shares)}."


def fail_notes(rows: Mapping[str, TableRow], level: int) -> list[str]:
    """Return a sentence for each corpus whose sets hold gold less often than promised."""
    return [plain(FAILS.format(label=label, level=level)) for label in _failing(rows, level)]


def _failing(rows: Mapping[str, TableRow], level: int) -> list[str]:
    return [label for label, row in rows.items() if float(row["covered_high"] or 0) < level / 100]
