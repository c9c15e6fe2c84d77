"""Speed-ups of imports and of Streamlit's component scan; import this module before the app.

Streamlit scans all installed packages for components, for every server and every AppTest. That is
two thirds of a server's start and nine tenths of a page in AppTest, so its result is cached.

`rfc3987_syntax`, which JupyterLab installs, is hidden: it takes longer to load than torch, and
jsonschema (used by altair) needs it only to check one URL format.
"""

import sys
from functools import cache

from streamlit.components.v2 import manifest_scanner

manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
sys.modules.setdefault("rfc3987_syntax", None)
