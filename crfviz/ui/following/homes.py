"""Where the rooms are: in the memory of this process, or in PostgreSQL for all that share it."""

import logging
import os
from functools import cache

from crfviz.annotations.store.database import VARIABLE as STORE
from crfviz.annotations.store.database import database_url
from crfviz.exceptions import StoreError
from crfviz.ui.following.rooms import Rooms
from crfviz.ui.following.shared import SharedRooms

VARIABLE = "CRFVIZ_ROOMS"  # "process", or the address of a PostgreSQL database
ALONE = "process"

_log = logging.getLogger(__name__)


@cache
def rooms() -> Rooms:
    """The rooms as the settings say; without any where the annotations are, if that is PostgreSQL.

    Raises:
        StoreError: they are to be at an address that is none of PostgreSQL's.
    """
    asked = os.environ.get(VARIABLE, "").strip()
    if asked == ALONE:
        return Rooms()
    if asked:
        if not _on_a_server(asked):
            raise StoreError(f"expected {ALONE!r} or a postgresql:// address in {VARIABLE}")
        return SharedRooms(asked)
    address = os.environ.get(STORE, "")
    try:
        return SharedRooms(address) if address and _on_a_server(address) else Rooms()
    except StoreError as error:  # labelling will say the same; who follows needs no store
        _log.warning("rooms are kept in this process alone: %s", error)
        return Rooms()


def _on_a_server(address: str) -> bool:
    return database_url(address).get_backend_name() == "postgresql"
