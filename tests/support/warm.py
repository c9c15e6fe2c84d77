"""Imports for the process that test servers are forked from, so that forks start fast."""

from importlib import import_module

from streamlit.components.v2 import manifest_scanner

import tests.support.installed  # noqa: F401 - or each app takes ten times as long
from crfviz.ui import cached
from crfviz.ui.shell.server import import_all

LATE = (  # modules that a server imports only at its start
    "anyio._backends._asyncio",
    "anyio._core._fileio",
    "anyio.streams.tls",
    "pandas.io.formats.style",
    "starlette.applications",
    "starlette.middleware.sessions",
    "starlette.staticfiles",
    "streamlit.watcher.polling_path_watcher",
    "streamlit.web.cli",
    "streamlit.web.server.app_discovery",
    "streamlit.web.server.starlette.starlette_agent_routes",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.http.h11_impl",
    "uvicorn.protocols.websockets.websockets_sansio_impl",
)

import_all()
for module in LATE:
    import_module(module)
cached.warm_up()
manifest_scanner.scan_component_manifests()
