"""Peer libraries that tests compare with, installed without dependencies in a separate folder.

`make` installs them from `.ci/peers.txt` into the folder `peers` of the virtual environment. Their
requirements conflict, and on the usual path their entry points would break spaCy. `load` replaces
missing dependencies by empty modules; a small tagger calls none of them.
"""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
import warnings
from pathlib import Path

import pytest

PEERS = Path(sys.prefix) / "peers"
ABSENT = {
    *("bioc", "boto3", "botocore", "deprecated", "emoji", "ftfy", "gdown", "huggingface_hub"),
    *("lxml", "orjson", "segtok", "sentencepiece", "transformer_smaller_training_vocab"),
    *("transformers", "udtools"),
}  # packages that flair and Stanza import, but these tests do not use


class Anything:
    """A class, function or decorator that does nothing."""

    def __init__(self, *args, **options):
        pass

    def __call__(self, *args, **_):
        return args[0] if args else self


class Empty(types.ModuleType):
    """A module in which every name exists, as a subclass of `Anything`."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (Anything,), {})


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import hook that creates empty modules; the last finder, so installed packages win."""

    def __init__(self, absent):
        self.absent = absent
        self.made = []

    def find_spec(self, name, path, target=None):  # noqa: ARG002 - as importlib calls it
        if name.partition(".")[0] in self.absent:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        self.made.append(spec.name)
        return Empty(spec.name)

    def exec_module(self, module):
        pass


def load(name, absent=ABSENT):
    """Import a library; skip the test if it is not installed.

    Packages in `absent` that are not installed are replaced by empty modules.
    """
    if name in sys.modules:
        return sys.modules[name]
    if not (PEERS / name.partition(".")[0]).is_dir():
        pytest.skip(f"needs {name.partition('.')[0]}: `make` installs it into {PEERS}")
    finder = Finder(absent)
    sys.meta_path.append(finder)
    sys.path.append(str(PEERS))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    finally:
        sys.path.remove(str(PEERS))
        sys.meta_path.remove(finder)
        for made in finder.made:  # other code must not import the empty modules
            sys.modules.pop(made, None)


def load_file(path):
    """Import one file of a library without its package."""
    if not (PEERS / path).is_file():
        pytest.skip(f"needs {path.partition('/')[0]}: `make` installs it into {PEERS}")
    name = path.removesuffix(".py").replace("/", ".")
    spec = importlib.util.spec_from_file_location(name, PEERS / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
