"""What was measured, as figures, as a table, and with the machine it was measured on."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("streamlit", "torch", "playwright")


@dataclass(frozen=True)
class Figure:
    """One line of the table."""

    what: str
    unit: str
    n: int
    p50: float
    p95: float
    target: str  # "≤ p50 / p95", or one bound for the median; empty where none was set
    met: bool | None  # None where no target was set


@dataclass(frozen=True)
class Machine:
    """Where the figures come from, and how busy it was."""

    processor: str
    cores: int
    system: str
    python: str
    chromium: str
    packages: dict[str, str]
    load_before: float  # processes that ran or waited, average of a minute
    load_after: float


def figure(
    what: str, unit: str, values: Sequence[float], *bounds: float, n: int | None = None
) -> Figure:
    """Median and 95th percentile of what was measured, beside what was wanted.

    Args:
        what: was measured, in words.
        unit: of the values.
        values: one per measurement.
        bounds: wanted for the median, and for the 95th percentile.
        n: how many measurements `values` sums up, if not one each.
    """
    ordered = sorted(values)
    middle = statistics.median(ordered)
    high = ordered[round(0.95 * (len(ordered) - 1))]
    target = "≤ " + " / ".join(f"{bound:g}" for bound in bounds) if bounds else ""
    met = all(value <= bound for value, bound in zip((middle, high), bounds, strict=False))
    return Figure(what, unit, n or len(ordered), middle, high, target, met if bounds else None)


def machine(chromium: str, load_before: float) -> Machine:
    """This machine.

    Args:
        chromium: version of the browser.
        load_before: the load average when the measurement began.
    """
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return Machine(
        processor=models[0] if models else platform.machine(),
        cores=len(os.sched_getaffinity(0)),
        system=platform.platform(),
        python=platform.python_version(),
        chromium=chromium,
        packages={name: version(name) for name in PACKAGES},
        load_before=load_before,
        load_after=os.getloadavg()[0],
    )


def in_markdown(texts: Sequence[str], numbers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first columns are texts and whose others are numbers, which stand at the right.

    Args:
        texts: titles of the first columns.
        numbers: titles of the others.
        rows: cells of all columns.
    """
    lines = [[*texts, *numbers], *rows]
    written = [f"| {' | '.join(cells)} |" for cells in lines]
    return "\n".join([written[0], f"|{'---|' * len(texts)}{'---:|' * len(numbers)}", *written[1:]])


def table(where: Machine, figures: Sequence[Figure]) -> str:
    """The figures as Markdown."""
    answers = {True: "yes", False: "no", None: ""}
    lines = [
        f"{where.cores} cores of {where.processor}; Python {where.python}, Streamlit "
        f"{where.packages['streamlit']}, Chromium {where.chromium}; load average "
        f"{where.load_before:.1f} before, {where.load_after:.1f} after.",
        "",
        "| what | n | p50 | p95 | target | met |",
        "|---|---:|---:|---:|---|---|",
        *(
            f"| {f.what} ({f.unit}) | {f.n} | {_number(f.p50)} | {_number(f.p95)} | {f.target} "
            f"| {answers[f.met]} |"
            for f in figures
        ),
    ]
    return "\n".join(lines) + "\n"


def table_of_parts(file: Path, names: Iterable[str]) -> str:
    """The figures of a benchmark that is run in parts, as the JSON in a file has them."""
    report = json.loads(file.read_text())
    parts = report.pop("parts")
    figures = [Figure(**line) for name in names for line in parts.get(name, [])]
    return table(Machine(**report), figures).rstrip()


def _number(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"
