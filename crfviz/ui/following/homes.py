"""Where the rooms are: in the memory of this process, or in PostgreSQL for all that share it."""

import logging
from functools import cache

from crfviz.annotations.store.database import database_url
from crfviz.exceptions import StoreError
from crfviz.settings import settings
from crfviz.ui.following.rooms import Rooms
from crfviz.ui.following.shared import SharedRooms

_log = logging.getLogger(__name__)


@cache
def rooms() -> Rooms:
    """The rooms as the settings say; without any where the annotations are, if that is PostgreSQL.

    Raises:
        StoreError: the database of the rooms cannot be used.
    """
    place, address = settings().rooms, settings().database_url
    if place:
        return Rooms() if place == "process" else SharedRooms(place)
    try:
        return SharedRooms(address) if address and _on_a_server(address) else Rooms()
    except StoreError as error:  # labelling will say the same; who follows needs no store
        _log.warning("rooms are kept in this process alone: %s", error)
        return Rooms()


def _on_a_server(address: str) -> bool:
    return database_url(address).get_backend_name() == "postgresql"
