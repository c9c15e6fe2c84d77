"""A LaTeX document as PDF, by the LaTeX of this machine."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from crfviz.exceptions import CrfvizError
from crfviz.views.exports.tex import SIGN

ENGINES = ("pdflatex", "lualatex")  # the second one has signs beyond Latin letters, and is slower
LONGEST = 180  # seconds: the first time lualatex lists all fonts


def compiled(document: str) -> bytes:
    """The PDF of a document that asks for nothing but its packages.

    Raises:
        CrfvizError: there is no LaTeX here, or it does not compile the document.
    """
    wanted = ENGINES[::-1] if f"{SIGN}{{" in document else ENGINES
    engine = next(filter(None, map(shutil.which, wanted)), None)
    if engine is None:
        raise CrfvizError(
            f"a PDF needs {' or '.join(ENGINES)} here: write a .tex file, to be compiled elsewhere"
        )
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "picture.tex"
        source.write_text(document, encoding="utf-8")
        options = ("-no-shell-escape", "-interaction=batchmode", "-halt-on-error")
        try:
            subprocess.run(
                [engine, *options, source.name],
                cwd=folder,
                check=True,
                timeout=LONGEST,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
            return source.with_suffix(".pdf").read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            name = Path(engine).name
            raise CrfvizError(
                f"{name} does not compile the picture ({error}): it needs the packages standalone "
                "and tikz; a .tex file can be written without them"
            ) from error
