"""Linear-chain CRFs you can see: exact inference, pretrained taggers and figures.

`__init__.pyi` names the module of each public name, which is imported when it is first used: most
of them need torch, which takes a second.
"""

from types import FunctionType
from typing import Any

import lazy_loader

from crfviz.chain.notebook_repr import VIEWS

__version__ = "0.4.0"

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
VIEWS.append("crfviz.views.exports.notebook")


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    """Import a public name; functions on chains then take arrays as well."""
    value = _load(name)
    if isinstance(value, FunctionType):
        from crfviz.chain.array_arguments import takes_arrays

        value = globals()[name] = takes_arrays(value)
    return value
