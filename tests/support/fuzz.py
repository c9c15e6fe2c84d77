"""Fuzzing of file readers: reproducible mutations of valid files.

A reader may accept a mutated file or reject it with a `CrfvizError`; any other error is a bug. The
tests try `TRIES` mutations per kind of file. `make fuzz` sets CRFVIZ_FUZZ to many more, and also
measures time and memory.
"""

import io
import os
import random
import re
import sys
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from crfviz.exceptions import CrfvizError

TRIES = int(os.environ.get("CRFVIZ_FUZZ", "2000"))
MEASURED = "CRFVIZ_FUZZ" in os.environ
LARGEST = 100_000  # maximum size of a mutated file, bytes
MAX_SECONDS = 2.0  # CPU time for one file
MAX_MEMORY = 300 * 2**20  # bytes above the memory in use before the first file
LONGEST_MESSAGE = 1000  # characters of an error message, which must not repeat the input
MAX_CHANGES = 4  # maximum number of changes to one file

ZIP_MAGIC = b"PK\x03\x04"
VALUE = re.compile(rb'-?\d+(?:\.\d+)?(?:e-?\d+)?|"[^"\n]{0,80}"|\b(?:null|true|false|NaN)\b')
ODD = (
    b"", b"0", b"-1", b"3", b"1e308", b"1e999", b"-1e999", b"1e-999", b"NaN", b"-Infinity", b"null",
    b"true", b"[]", b"{}", b"[[]]", b'""', b'"x"', b'"\\ud800"', b'"\\u0000"', b'"0"', b'"-1"',
    b"9223372036854775807", b"9223372036854775808", b"-9223372036854775809", b"4294967296",
    b"1" * 400, b"7" * 4300, b"7" * 5000, b"-" + b"9" * 5000, b'"' + b"8" * 5000 + b'"',
    b"0." + b"3" * 5000, b"1," * 500, b"1,111,111x", b"[" * 2000, b"{\"a\":" * 2000, b" " * 2000,
    b"\t" * 300, b"x" * 3000, b"\n" * 50, b"\r", b"\r\n", b"\x00", b"\xff", b"\xed\xa0\x80",
    b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\xe2\x88\x92", "\u0661\u0662".encode(), "\u00b2".encode(),
    b"#", b"\\", b"'", b'"', b"(", b")", b"|", b";", b",", b":", b"=", b"%", b"%D8",
    b"\xf0\x9f\x99\x82",
)  # fmt: skip


def fuzz(
    kind: str,
    seeds: Sequence[bytes],
    read: Callable[[bytes], object],
    *,
    tries: int = TRIES,
) -> None:
    """Read `tries` mutations of the seeds; only a `CrfvizError` may be raised.

    Args:
        kind: name of the file format; seeds the random mutations and appears in messages.
        seeds: valid files, which are read first and must be accepted.
        read: the reader's public function.
        tries: number of mutations.
    """
    for seed in seeds:
        read(seed)
    before, slowest, refused = _memory_now(), 0.0, 0
    for number, content in enumerate(mutations(kind, seeds, tries)):
        started = time.process_time()
        refused += _is_refused(content, read, f"{kind} {number}")
        took = time.process_time() - started
        slowest = max(slowest, took)
        assert not MEASURED or took <= MAX_SECONDS, f"{kind} {number}: {took:.1f} s\n{_of(content)}"
    assert refused, f"no mutation of {kind} was refused: are they any?"
    if MEASURED:
        grown = _memory_peak() - before
        sys.stdout.write(
            f"\n{kind}: {tries:,} files, {refused:,} refused, slowest {slowest:.2f} s, "
            f"{grown / 2**20:.0f} MB above the start\n"
        )
        assert grown <= MAX_MEMORY, f"{kind}: {grown / 2**20:.0f} MB more memory"


def _is_refused(content: bytes, read: Callable[[bytes], object], name: str) -> bool:
    """Return whether a reader rejects a file; any error but a `CrfvizError` fails the test."""
    try:
        read(content)
    except CrfvizError as error:
        said = str(error)
        assert 0 < len(said) <= LONGEST_MESSAGE, f"{name} says {said[:500]}\n{_of(content)}"
        return True
    except Exception as error:
        told = f"{name}: {type(error).__name__} comes out: {str(error)[:300]}"
        raise AssertionError(f"{told}\n{_of(content)}") from error
    return False


def _of(content: bytes) -> str:
    return f"of {len(content)} bytes: {content[:300]!r}"


def mutations(kind: str, seeds: Sequence[bytes], tries: int) -> Iterator[bytes]:
    """Yield mutated seeds of at most `LARGEST` bytes; the n-th is the same in every run."""
    for number in range(tries):
        generator = random.Random(f"{kind} {number}")
        yield mutated(generator.choice(seeds), generator)[:LARGEST]


def mutated(content: bytes, generator: random.Random) -> bytes:
    """Return a file with 1 to `MAX_CHANGES` changes; in an archive often inside a member."""
    if content.startswith(ZIP_MAGIC) and generator.random() < 0.7:
        return _rezipped(content, generator)
    for _ in range(generator.randint(1, MAX_CHANGES)):
        content = generator.choice(CHANGES)(content, generator)
    return content


def _flipped(content: bytes, generator: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(generator.randint(1, 4)):
        if changed:
            changed[generator.randrange(len(changed))] ^= 1 << generator.randrange(8)
    return bytes(changed)


def _overwritten(content: bytes, generator: random.Random) -> bytes:
    at = generator.randrange(len(content) + 1)
    odd = generator.choice((b"\x00", b"\xff", b"\x7f", b"0", b"9", b'"', b"[", b" ", b"("))
    return content[:at] + odd + content[at + 1 :]


def _cut(content: bytes, generator: random.Random) -> bytes:
    start, end = _slice(content, generator)
    return generator.choice((content[:start], content[start:], content[:start] + content[end:]))


def _inserted(content: bytes, generator: random.Random) -> bytes:
    at = generator.randrange(len(content) + 1)
    return content[:at] + generator.choice(ODD) + content[at:]


def _replaced(content: bytes, generator: random.Random) -> bytes:
    """Replace one value by another, or all values with the same text."""
    places = [match.span() for match in VALUE.finditer(content[:LARGEST])]
    if not places:
        return _inserted(content, generator)
    start, end = generator.choice(places)
    odd = generator.choice(ODD)
    if generator.random() < 0.1:
        return content.replace(content[start:end], odd)
    return content[:start] + odd + content[end:]


def _renumbered(content: bytes, generator: random.Random) -> bytes:
    """Replace a number by one with as many digits, to damage declared lengths."""
    places = [match.span() for match in re.finditer(rb"\d+", content[:LARGEST])]
    if not places:
        return _flipped(content, generator)
    start, end = generator.choice(places)
    digits = bytes(generator.choice(b"0123456789") for _ in range(end - start))
    return content[:start] + digits + content[end:]


def _repeated(content: bytes, generator: random.Random) -> bytes:
    start, end = _slice(content, generator)
    times = generator.choice((2, 2, 3, 10, 100, 1000))
    return content[:start] + content[start:end] * times + content[end:]


def _swapped(content: bytes, generator: random.Random) -> bytes:
    """Swap two lines or two bytes."""
    by = b"\n" if content.count(b"\n") > 1 and generator.random() < 0.5 else b","
    parts = content.split(by)
    if len(parts) < 2:
        half = len(content) // 2
        return content[half:] + content[:half]
    one, other = generator.sample(range(len(parts)), 2)
    parts[one], parts[other] = parts[other], parts[one]
    return by.join(parts)


CHANGES = (
    _flipped, _overwritten, _cut, _inserted, _replaced, _replaced, _renumbered, _repeated, _swapped,
)  # fmt: skip


def _slice(content: bytes, generator: random.Random) -> tuple[int, int]:
    start = generator.randrange(len(content) + 1)
    return start, min(len(content), start + generator.choice((1, 2, 5, 20, 100)))


def _rezipped(content: bytes, generator: random.Random) -> bytes:
    """Return the archive with one member changed, renamed, duplicated or removed.

    The checksums are correct. Otherwise compressed members would always fail at their checksum.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    index = generator.randrange(len(members))
    name, inside = members[index]
    chance = generator.random()
    if chance < 0.8:
        members[index] = name, mutated(inside, generator)
    elif chance < 0.9:
        renamed = generator.choice(("", "x.npy", "../x", "a/b", "data.pkl", members[0][0]))
        members[index] = renamed, inside
    else:
        del members[index]
    file = io.BytesIO()
    how = generator.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(file, "w", how) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about duplicate member names
        for name, inside in members:
            archive.writestr(zipfile.ZipInfo(name or "empty"), inside, how)
    return file.getvalue()


def _memory_now() -> int:
    """Return the bytes in use, and reset the peak."""
    if not MEASURED:
        return 0
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _memory_peak() -> int:
    return _status("VmHWM")


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))
