"""Run crfviz's JavaScript modules in Node, bundled as for a live file."""

import json
import os
import shutil
import subprocess

import pytest

from crfviz.views.exports import bundle


def program():
    """Return the path of Node; skip the test if it is missing."""
    path = shutil.which("node")
    if path is None:
        reason = "no Node on this machine (Debian: apt-get install nodejs)"
        if os.environ.get("CRFVIZ_REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return path


def run(folder, modules, body, told):
    """Run an async JavaScript function of one argument; return its result, parsed from JSON.

    Args:
        folder: working folder for the bundle and its data.
        modules: paths of modules, with the names that the body imports from them.
        body: body of the function; `told` is the name of its argument there.
        told: the argument, a JSON value.
    """
    node = program()
    imports = [f'import {{ {names} }} from "{path}";' for path, names in modules.items()]
    main = [
        "async function answer(told) {",
        body,
        "}",
        'const fs = require("node:fs");',
        'const told = JSON.parse(fs.readFileSync("told.json", "utf8"));',
        'answer(told).then((result) => fs.writeFileSync("result.json", JSON.stringify(result)));',
    ]
    (folder / "entry.js").write_text("\n".join([*imports, *main]), "utf-8")
    (folder / "bundle.js").write_text(bundle.bundled(folder / "entry.js"), "utf-8")
    (folder / "told.json").write_text(json.dumps(told), "utf-8")
    done = subprocess.run(
        [node, "bundle.js"], cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads((folder / "result.json").read_text("utf-8"))
