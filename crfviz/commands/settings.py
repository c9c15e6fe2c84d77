"""`python -m crfviz settings`: print every setting with its value, default and meaning.

Settings are environment variables. Passwords and tokens are not printed.
"""

import argparse
import sys

from crfviz.settings import (
    PREFIX,
    describe_settings,
    environment,
    read_settings,
    settings_table,
    variables,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--markdown", action="store_true", help="the table of docs/deployment.md")


def main(args: argparse.Namespace) -> int:
    """Print the settings, and return 0 if all are valid.

    Raises:
        SettingsError: a variable has an invalid value.
    """
    if args.markdown:
        sys.stdout.write(f"{settings_table()}\n")
        return 0
    given = environment()
    for name, value, about in describe_settings(given):
        lines = [
            f"{name} = {value}" if value else f"{name} is not set",
            f"  {about.meaning}",
            f"  values: {about.values}",
            f"  default: {about.default}",
        ]
        sys.stdout.write("\n".join(lines).replace("`", "") + "\n\n")
    if unknown := [n for n in sorted(given) if n.startswith(PREFIX) and n not in variables()]:
        sys.stdout.write(f"Unknown variables, which change nothing: {', '.join(unknown)}\n")
    read_settings(given)
    return 0
