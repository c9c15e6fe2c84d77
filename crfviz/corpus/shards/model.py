"""A model as whoever works at shards finds it: by its folder, and by what is in it."""

import socket
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from crfviz.exceptions import ModelError
from crfviz.taggers.folder import version_at
from crfviz.taggers.registry import load_tagger, place_of
from crfviz.taggers.tagger import Tagger


@dataclass(frozen=True)
class Model:
    """A model that was loaded here and has to be the same elsewhere."""

    place: str  # its folder or file, absolute; the name of one that has none, as of a plug-in
    version: str  # a digest of what is there; empty for one without a place

    def load(self) -> Tagger:
        """The tagger, loaded once in a process.

        Raises:
            ModelError: the folder cannot be seen from here, or holds another model.
        """
        return _loaded(self)


def model_of(asked: str) -> Model:
    """The model that `load_tagger` finds by this name or folder.

    Raises:
        ModelError: a file of it cannot be read.
    """
    place = place_of(asked)
    return Model(asked, "") if place is None else Model(str(place.resolve()), version_at(place))


@lru_cache(maxsize=2)
def _loaded(model: Model) -> Tagger:
    if model.version and not Path(model.place).exists():
        raise ModelError(
            f"the worker on {socket.gethostname()} cannot see {model.place}: expected the model at "
            f"the same place as here, in a shared folder or a copy"
        )
    if model.version and version_at(Path(model.place)) != model.version:
        raise ModelError(
            f"the worker on {socket.gethostname()} has another model at {model.place}: expected "
            f"the same files as here"
        )
    return load_tagger(model.place)
