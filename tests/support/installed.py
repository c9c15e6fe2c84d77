"""The packages that are installed are looked through once in a process.

Streamlit does so for every server and every app that a test runs, for components that they might
bring: two thirds of the work of a server's start and nine tenths of a page in AppTest. And one that
JupyterLab brings is not found: to load it takes longer than torch, for a format of addresses that
jsonschema, which altair loads, knows only where it is there.
"""

import sys
from functools import cache

from streamlit.components.v2 import manifest_scanner

manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
sys.modules.setdefault("rfc3987_syntax", None)
