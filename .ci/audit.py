"""Ask OSV, the open database of vulnerabilities, about every package of the locks.

Ends with 1 where it knows something about one, and with 0 where it knows nothing or cannot be
asked: then it says that nothing was audited.
"""

import json
import re
import sys
from http.client import HTTPException
from pathlib import Path
from urllib.request import Request, urlopen

LOCKS = Path(__file__).resolve().parents[1] / "locks"
URL = "https://api.osv.dev/v1/querybatch"
PATIENCE = 20.0  # seconds
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", flags=re.MULTILINE)

Package = tuple[str, str]


def pinned() -> list[Package]:
    """Name and version of all packages; a build for the CPU has the faults of its version."""
    texts = (path.read_text("utf-8") for path in sorted(LOCKS.glob("*.txt")))
    found = {(name, version.split("+")[0]) for text in texts for name, version in PIN.findall(text)}
    return sorted(found)


def known(packages: list[Package], url: str = URL) -> dict[Package, list[str]]:
    """What the database knows: by package the names of its faults.

    Raises:
        OSError: it cannot be asked.
        ValueError: what it answers is no answer.
    """
    queries = [
        {"package": {"name": name, "ecosystem": "PyPI"}, "version": version}
        for name, version in packages
    ]
    body = json.dumps({"queries": queries}).encode()
    request = Request(url, body, {"Content-Type": "application/json"})
    with urlopen(request, timeout=PATIENCE) as answer:
        results = json.load(answer)["results"]
    faults = [[each["id"] for each in result.get("vulns", [])] for result in results]
    return {each: names for each, names in zip(packages, faults, strict=True) if names}


def main(url: str = URL) -> int:
    """Say what is known; the exit status."""
    packages = pinned()
    try:
        faults = known(packages, url)
    except (OSError, HTTPException, ValueError, KeyError, TypeError, AttributeError) as error:
        sys.stdout.write(f"No data, nothing was audited: {type(error).__name__}, {error}\n")
        return 0
    for (name, version), names in faults.items():
        sys.stdout.write(f"{name} {version}: {', '.join(names)}\n")
    sys.stdout.write(f"{len(packages)} packages audited, {len(faults)} with known faults.\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
