"""Writes what the proxy has to know of the processes behind it.

python -m deploy.replicas replica-1:8501 replica-2:8501 replica-3:8501 > deploy/proxy/replicas.conf

Process number N has the name N (`CRFVIZ_REPLICA`). Who has no cookie is sent to each in turn; whose
process is gone, to the others in turn, until it is back.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def replicas(addresses: Sequence[str]) -> str:
    """The file `replicas.conf` for the addresses of all processes."""
    blocks = [
        "# Written by `python -m deploy.replicas`.",
        _upstream("everybody", addresses, ()),
        _upstream("anybody", addresses, ()),  # who comes anew takes turns with no other request
    ]
    for name, address in enumerate(addresses, 1):
        others = [other for other in addresses if other != address]
        blocks.append(_upstream(f"replica_{name}", [address], others))
    known = [f"    {name} replica_{name};" for name in range(1, len(addresses) + 1)]
    blocks.append(
        "\n".join(["map $cookie_crfviz_replica $replica {", "    default everybody;", *known, "}"])
    )
    return "\n\n".join(blocks) + "\n"


def _upstream(name: str, addresses: Sequence[str], others: Sequence[str]) -> str:
    servers = [f"    server {address} max_fails=1 fail_timeout=2s;" for address in addresses]
    spare = [f"    server {other} max_fails=1 fail_timeout=2s backup;" for other in others]
    zone = f"    zone {name} 64k;"  # the workers of the proxy take turns as one
    return "\n".join([f"upstream {name} {{", zone, *servers, *spare, "}"])


if __name__ == "__main__":
    sys.stdout.write(replicas(sys.argv[1:]))
