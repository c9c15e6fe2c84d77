"""Imported by the process that servers are forked from: what each would import and load anew."""

from importlib import import_module

from streamlit.components.v2 import manifest_scanner

import tests.installed  # noqa: F401
from crfviz.ui import cached
from crfviz.ui.shell.server import import_all

LATE = (  # modules that are imported as a server starts
    "pandas.io.formats.style",
    "streamlit.web.server.starlette.starlette_agent_routes",
    "uvicorn.lifespan.on",
    "uvicorn.protocols.http.h11_impl",
    "uvicorn.protocols.websockets.websockets_sansio_impl",
)

import_all()
for module in LATE:
    import_module(module)
cached.warm_up()
manifest_scanner.scan_component_manifests()
