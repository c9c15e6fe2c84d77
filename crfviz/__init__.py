"""Linear-chain CRFs you can see: exact inference, pretrained taggers and figures.

`__init__.pyi` names the module of each public name, which is imported when it is first used: most
of them need torch, which takes a second.
"""

import lazy_loader

from crfviz.chain.notebook_repr import VIEWS

__version__ = "0.3.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
VIEWS.append("crfviz.views.exports.notebook")
