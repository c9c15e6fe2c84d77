"""`python -m crfviz worksheet`: a worksheet with numbers of its own for each student.

For each student: pages to print (HTML, LaTeX), a notebook with nbgrader's metadata, tests for
otter-grader, and a question for PrairieLearn. The keys are in a folder of their own.
"""

import argparse
import sys
from pathlib import Path

from crfviz.chain.homework.variants import variants
from crfviz.exceptions import CrfvizError
from crfviz.views.exports.worksheet import worksheet_files

IMAGE = "prairielearn/grader-python"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `worksheet`."""
    add = parser.add_argument
    add("out", type=Path, help="folder to write; it must be empty or not exist")
    add("--seed", type=int, default=0, help="another one gives other numbers")
    add("--students", type=int, default=1, help="how many worksheets, at most 1000")
    add("--image", default=IMAGE, help="Docker image with crfviz, for PrairieLearn")


def main(args: argparse.Namespace) -> int:
    """Write the folder; 0 when it is written.

    Raises:
        CrfvizError: the folder has files already, or the number of students is out of range.
    """
    chains = variants(args.seed, args.students)
    if args.out.exists() and (not args.out.is_dir() or any(args.out.iterdir())):
        raise CrfvizError(f"{args.out} is there already and not empty: name another folder")
    digits = len(str(len(chains)))
    for number, chain in enumerate(chains, start=1):
        for path, text in worksheet_files(chain, f"student-{number:0{digits}}", args.image).items():
            target = args.out / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            if path.endswith("grade.py"):
                target.chmod(0o755)
    sys.stdout.write(f"{args.out}: {len(chains)} worksheets and their keys\n")
    return 0
