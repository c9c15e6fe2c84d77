"""References to models, for workers in other processes and on other machines."""

import socket
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from crfviz.exceptions import ModelError
from crfviz.taggers.folder import version_at
from crfviz.taggers.plugins import plugin_version
from crfviz.taggers.registry import load_tagger, model_path
from crfviz.taggers.tagger import Tagger


@dataclass(frozen=True)
class ModelReference:
    """A model by its path and the digest of its content, for workers on other machines."""

    place: str  # absolute path; the name of a model without files, such as a plug-in
    version: str  # a digest of the content; empty for a model without files
    code: str = ""  # version of a plug-in; shards of other versions are not reused

    def load(self) -> Tagger:
        """Return the tagger, which is cached in the process.

        Raises:
            ModelError: this machine cannot access the folder, or it holds another model.
        """
        return _load(self)


def model_reference(name: str) -> ModelReference:
    """Return the reference of a model name or folder.

    Raises:
        ModelError: a file of the model cannot be read.
    """
    place = model_path(name)
    return (
        ModelReference(name, "", plugin_version(name))
        if place is None
        else ModelReference(str(place.resolve()), version_at(place))
    )


@lru_cache(maxsize=2)
def _load(model: ModelReference) -> Tagger:
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
