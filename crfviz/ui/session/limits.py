"""How much of a server one visitor may take, and all together; whoever runs it may set it."""

import os
from dataclasses import dataclass, fields
from functools import cache

from crfviz.exceptions import CrfvizError
from crfviz.text.files import abbreviate

VARIABLE = "CRFVIZ_LIMITS"  # environment variable: "requests=40 jobs=3 line=50", or some of these
MOST = 1_000_000


@dataclass(frozen=True)
class Limits:
    """Whole numbers from 1 on."""

    requests: int = 40  # a second of one session, in the long run; a key held down makes some 30
    jobs: int = 3  # long work of one visitor, in line and at work
    line: int = 50  # long work of all visitors, in line and at work


NAMES = tuple(field.name for field in fields(Limits))


def limits() -> Limits:
    """What holds for this server.

    Raises:
        CrfvizError: the setting names something else, or no number.
    """
    return _read(os.environ.get(VARIABLE, ""))


@cache
def _read(text: str) -> Limits:
    numbers = {}
    for item in text.split():
        name, _, number = item.partition("=")
        if name not in NAMES or not number.isdecimal() or not 1 <= int(number[:10]) <= MOST:
            raise CrfvizError(
                f"expected words such as {NAMES[0]}=40 in {VARIABLE}, with a name of "
                f"{', '.join(NAMES)} and a number from 1 to {MOST:,}, got {abbreviate(item)}"
            )
        numbers[name] = int(number)
    return Limits(**numbers)
