"""Sharded processing for `evaluate` and `tag`: source, workers, progress and resumption.

Finished shards are cached in the folder FILE.shards, beside the output FILE, until FILE is
complete.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Never, cast

from tqdm import tqdm

from crfviz.corpus.shards.cluster import Cluster
from crfviz.corpus.shards.shard import SHARD_BYTES, Shard, ShardCache, cache_folder, split_file
from crfviz.corpus.shards.workers import InProcessPool, Job, ProcessPool, WorkerPool, run_shards
from crfviz.exceptions import CrfvizError, FormatError
from crfviz.text.files import decoded
from crfviz.text.formats import FormatName, detect_format, warn_of_comments
from crfviz.text.readers.reading import Choice
from crfviz.text.rewriting import format_of_parts, rewritten

MIN_PARALLEL_BYTES = 16_000_000  # bytes; larger files use all cores
STANDARD_INPUT = Path("-")
PIPED_LINES = 100  # maximum number of lines read to detect a format


def add_work_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options for workers, cluster and shard size."""
    workers = parser.add_mutually_exclusive_group()
    workers.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="processes on this machine (default: one a core for files of "
        f"{MIN_PARALLEL_BYTES // 10**6} MB and more, else 1)",
    )
    workers.add_argument(
        "--scheduler",
        metavar="tcp://HOST:8786",
        help="an existing Dask cluster instead; needs crfviz[cluster]",
    )
    parser.add_argument(
        "--shard-bytes",
        type=int,
        default=SHARD_BYTES,
        metavar="N",
        help="bytes of the file per shard (default: %(default)s)",
    )


@dataclass(frozen=True)
class Source:
    """An open file of sentences, with its format and size."""

    file: BinaryIO
    name: str
    head: bytes  # the lines of a pipe that format detection has already read
    file_format: FormatName
    size: int | None  # bytes; None for a pipe
    reading: str  # how the file was read, in one line


@contextmanager
def open_source(path: Path, choice: Choice, *, tagged: bool = True) -> Iterator[Source]:
    """Open a file, or standard input as `-`, and detect its format if none is given.

    A file in a format that cannot be split is rewritten as JSONL in a temporary file.

    Args:
        path: the file.
        choice: how to read it.
        tagged: whether to reject plain text.

    Raises:
        FormatError: the file cannot be read, or has no known format; also raised in the body.
    """
    if not path.is_file():
        if choice.wanted:
            raise CrfvizError("--words, --tags and --sentences read a file, not standard input")
        with _opened(path, str(path), cast("FormatName | None", choice.file_format)) as source:
            yield source
        return
    alone, reading = format_of_parts(path, choice)
    if alone is not None:
        with _opened(path, str(path), cast("FormatName", alone)) as source:
            yield replace(source, reading=reading)
        return
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as lines:
        said: list[str] = []
        lines.writelines(rewritten(path, choice, said.append, tagged=tagged))
        lines.flush()
        with _opened(Path(lines.name), str(path), "jsonl") as source:
            yield replace(source, reading=said[0])


@contextmanager
def _opened(path: Path, name: str, file_format: FormatName | None) -> Iterator[Source]:
    """Open a file that can be split between any two sentences."""
    piped = path == STANDARD_INPUT
    name = "standard input" if piped else name
    with _readable(name):
        file: BinaryIO = sys.stdin.buffer if piped else path.open("rb")
    with nullcontext() if piped else file:
        head: list[bytes] = []
        with _readable(name):
            first = [*islice(_lines(file, name, head), PIPED_LINES)]
            format_name = file_format or detect_format(first, name=name)
            warn_of_comments(first, format_name, name=name)
            size = os.fstat(file.fileno()).st_size if path.is_file() else None
            if size is not None:  # a file is cut from its beginning, so that its parts are even
                file.seek(0)
                head.clear()
        yield Source(file, name, b"".join(head), format_name, size, format_name)


@contextmanager
def _readable(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FormatError(f"{name}: expected a file to read, got: {error.strerror}") from error


def _shards(source: Source, size: int) -> Iterator[Shard]:
    by_line = source.file_format == "jsonl"
    with _readable(source.name):
        yield from split_file(source.file, size, by_line=by_line, head=source.head)


def shards_again(source: Source, size: int) -> Iterator[Shard]:
    """Yield all shards of a file again, from its beginning."""
    source.file.seek(0)
    return _shards(replace(source, head=b""), size)


def _lines(file: BinaryIO, name: str, head: list[bytes]) -> Iterator[str]:
    """Yield the lines of a file, and append the bytes of each to `head`."""
    for number, line in enumerate(file, start=1):
        head.append(line)
        text = decoded(line, name=name, first_line=number)
        yield text.removesuffix("\n").removesuffix("\r")


@contextmanager
def sharded_results(
    options: argparse.Namespace, source: Source, job: Job, outputs: Sequence[Path]
) -> Iterator[Iterator[bytes]]:
    """Yield an iterator over the results of all shards, in the order of the file.

    If the body succeeds, the cached shards are removed.

    Raises:
        CrfvizError: an option, a shard or the model is invalid, or a shard cannot be cached.
    """
    if options.shard_bytes < 1:
        raise CrfvizError(f"--shard-bytes: expected at least 1, got {options.shard_bytes}")
    many = source.size is None or source.size > options.shard_bytes
    kept = ShardCache(cache_folder(outputs[0]), job.key) if outputs and many else None
    shards = _shards(source, options.shard_bytes)
    try:
        with _Progress(source.size) as progress:
            pool = _worker_pool(options, source, job, progress)
            with closing(run_shards(shards, pool, kept, progress.done)) as contents:
                yield contents
    except (KeyboardInterrupt, CrfvizError):
        if kept:
            sys.stderr.write(f"\nstopped: {kept.summary()}\n")
        raise
    if kept:
        _tell_of(kept)
        kept.clear()


def _tell_of(kept: ShardCache) -> None:
    if kept.found:
        sys.stderr.write(f"{kept.folder}: went on from {kept.found} finished shards\n")
    if stale := kept.stale():
        sys.stderr.write(
            f"{kept.folder}: {stale} shards were of another file, model or options, and not used\n"
        )


def _worker_pool(
    options: argparse.Namespace, source: Source, job: Job, progress: "_Progress"
) -> WorkerPool:
    if options.scheduler is not None:
        return Cluster(job, options.scheduler)
    number = options.workers
    if number is None:
        large = source.size is not None and source.size >= MIN_PARALLEL_BYTES
        number = _cores() if large else 1
    if number < 1:
        raise CrfvizError(f"--workers: expected at least 1, got {number}")
    if source.size is not None:
        number = min(number, -(-max(1, source.size) // options.shard_bytes))
    return InProcessPool(job, progress.share) if number == 1 else ProcessPool(job, number)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Progress:
    """A progress bar of the finished bytes of a file."""

    def __init__(self, size: int | None) -> None:
        self._bar: tqdm[Never] = tqdm(total=size, unit="B", unit_scale=True, disable=None)
        self._finished = 0

    def __enter__(self) -> "_Progress":
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def done(self, shard: Shard) -> None:
        self._finished += len(shard.content)
        self._show(self._finished)

    def share(self, shard: Shard, share: float) -> None:
        """Show the progress within a shard; `share` is from 0 to 1."""
        self._show(self._finished + int(share * len(shard.content)))

    def _show(self, finished: int) -> None:
        self._bar.update(finished - self._bar.n)
