"""`python -m crfviz.ui.beside.worker FOLDER`: the process that `crfviz.ui.beside.process` starts.

Each line of its input names a file in the folder with work to be done. To its output it writes JSON
lines: how far it is, and at the end whether it went well. It ends, and removes the folder, when
nobody can ask any more.
"""

import json
import os
import pickle
import shutil
import signal
import sys
import threading
import traceback
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TextIO

from crfviz.exceptions import CrfvizError

FIRST, FOUND = "first", "found"  # files: work that nobody waits for, and what came of other work


def main() -> None:
    """Work until nobody asks any more."""
    folder = Path(sys.argv[1])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the server
    says = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what others print is not ours
    names: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_listen, args=(names, folder), daemon=True).start()

    import torch

    torch.set_num_threads(1)  # as in the server
    while True:
        name = names.get()
        if name == FIRST:
            with suppress(Exception):  # whatever it is, it will be told of the work itself
                _work(folder / name)(report=lambda *_: None)
        else:
            _answer(folder, name, says)


def _listen(names: "SimpleQueue[str]", folder: Path) -> None:
    for line in sys.stdin:
        names.put(line.strip())
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)  # whatever is under way is of no use to anybody


def _answer(folder: Path, name: str, says: TextIO) -> None:
    def say(**what: object) -> None:
        says.write(f"{json.dumps(what)}\n")
        says.flush()

    good, made = _done(folder / name, say)
    with (folder / FOUND).open("wb") as file:
        pickle.dump(made, file)
    say(good=good)


def _done(file: Path, say: Any) -> tuple[bool, object]:  # noqa: ANN401 - takes what JSON knows
    """What comes of the work in a file, or the error that a person can act on."""
    try:
        return True, _work(file)(report=lambda *so_far: say(so_far=so_far))
    except CrfvizError as error:
        return False, error.with_traceback(None)
    except Exception as error:  # noqa: BLE001 - the reader is told, and whoever runs the server
        kind = type(error).__name__
        traceback.print_tb(error.__traceback__)
        sys.stderr.write(f"{kind}; its words are left out, as something typed may be in them\n")
        return False, CrfvizError(f"This run failed ({kind}). The log of the server has the trace.")


def _work(file: Path) -> Any:  # noqa: ANN401 - what the server put there
    work = pickle.loads(file.read_bytes())  # noqa: S301 - of the server itself
    file.unlink()
    return work


if __name__ == "__main__":
    main()
