"""The wheel: it has every file of the package, and an app elsewhere draws the stage with it."""

import shutil
import subprocess
import sys
import zipfile

import pytest

from tests.support.paths import ROOT

APP = """
import crfviz, sys
from streamlit.testing.v1 import AppTest
assert crfviz.__file__.startswith(sys.argv[1]), crfviz.__file__
lines = '''
import crfviz, streamlit as st
chain = crfviz.Potentials([[1.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]], tags=["A", "B"], tokens=["x"])
st.session_state.shown = crfviz.st_lattice(chain, key="k")
'''
run = AppTest.from_string(lines, default_timeout=3600).run()
assert not run.exception and not run.error, (run.exception, run.error)
print(run.session_state["shown"].potentials.num_tags)
"""
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "crfviz")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, unpacked; it is built of a copy, which leaves nothing in the checkout."""
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(
                ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            shutil.copy(ROOT / name, source)
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", built]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, source], check=True)
    (archive,) = built.glob("*.whl")
    zipfile.ZipFile(archive).extractall(built / "unpacked")
    return built / "unpacked"


def test_wheel_contains_every_package_file(wheel):
    files = (path for path in (ROOT / "crfviz").rglob("*") if path.is_file())
    own = {path.relative_to(ROOT).as_posix() for path in files if "__pycache__" not in path.parts}
    packed = {path.relative_to(wheel).as_posix() for path in (wheel / "crfviz").rglob("*")}
    assert own <= packed


def test_app_in_another_folder_draws_the_stage_from_the_wheel(wheel, tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", APP, str(wheel)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(wheel), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert run.stdout.strip() == "2"
