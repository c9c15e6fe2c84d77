"""How often somebody may try codes that no room has: five letters could be found by trying.

An address shares its tries, as a class shares an address; who is in a room is no longer asked, so
that nobody in the hall can lock the others out. Each server process counts for itself.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address
from threading import Lock
from time import monotonic

MOST = 60  # wrong tries of an address at once
AGAIN = 10.0  # seconds until it has one more
MOST_ADDRESSES = 10_000  # that are remembered
MOST_KNOWN = 200  # codes of an address that are remembered
NETWORK = 64  # bits of an address of IPv6 that one household shares


@dataclass
class _Tried:
    """What an address has tried."""

    left: float
    since: float
    known: OrderedDict[str, None] = field(default_factory=OrderedDict)


class Tries:
    """What every address has tried lately."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._tried: OrderedDict[str, _Tried] = OrderedDict()
        self._lock = Lock()

    def may(self, address: str, code: str) -> bool:
        """Whether the address may ask for this code now."""
        with self._lock:
            tried = self._of(address)
            return code in tried.known or tried.left >= 1

    def heard(self, address: str, code: str, *, right: bool) -> None:
        """What came of it."""
        with self._lock:
            tried = self._of(address)
            if right:
                tried.known[code] = None
                while len(tried.known) > MOST_KNOWN:
                    tried.known.popitem(last=False)
            else:
                tried.left -= 1

    def _of(self, address: str) -> _Tried:
        now, name = self._clock(), _network(address)
        tried = self._tried.setdefault(name, _Tried(MOST, now))
        tried.left = min(MOST, tried.left + (now - tried.since) / AGAIN)
        tried.since = now
        self._tried.move_to_end(name)
        while len(self._tried) > MOST_ADDRESSES:
            self._tried.popitem(last=False)
        return tried


def _network(address: str) -> str:
    """Whose address it is: of IPv6 one has as many as one likes."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return address
    return str(found.ipv4_mapped or int(found) >> (128 - NETWORK))
