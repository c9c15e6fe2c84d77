"""Small files that need much memory to read, such as zip bombs.

Run as a program, this module reads each file under a memory limit. It prints one JSON line per
file: its name, the result or error message, and the peak memory of reading and writing, in MB.
"""

import bz2
import io
import json
import resource
import struct
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path

import numpy as np

from tests.support.brought import as_json, as_npz, as_zip, understand
from tests.support.paths import ROOT

ROOM = 200  # MB of memory that one upload may need at its peak
SHIPPED = ROOT / "models"


def pickled(steps):
    """Return a .pt checkpoint with a pickle of these opcodes."""
    members = {"archive/version": b"3\n", "archive/byteorder": b"little"}
    archive = as_zip({"archive/data.pkl": b"\x80\x02" + steps + b".", **members}, 0)
    return [("bomb.pt", archive[1]), as_npz(emissions=np.zeros((1, 2)))]


def bytes_of_nothing():
    """270 bytes that `torch.load(weights_only=True)` expands to 3 GB."""
    return pickled(b"c__builtin__\nbytearray\n" + b"J" + struct.pack("<i", 2**31 - 1) + b"\x85R")


def a_far_memo():
    """A large memo index: Python's unpickler allocates a list of that length."""
    return pickled(b"}r" + struct.pack("<I", 2**29))


NESTED = b")" + b"q\0h\0\x86" * 40  # nested tuples: few objects, but 2^40 when printed


def a_nested_key():
    """A dict key of nested tuples, whose hash takes hours."""
    return pickled(b"}" + NESTED + b"K\x01s")


def a_nested_storage():
    """A storage name of nested tuples, which takes terabytes as text."""
    text = {name: b"X" + struct.pack("<I", len(name)) + name for name in (b"storage", b"cpu", b"a")}
    storage = text[b"storage"] + b"ctorch\nFloatStorage\n" + NESTED + text[b"cpu"] + b"K\x01"
    tensor = b"(" + storage + b"tQK\0K\x01\x85K\x01\x85\x89"
    rebuilt = b"ctorch._utils\n_rebuild_tensor_v2\n(" + tensor + b"ccollections\nOrderedDict\n)RtR"
    return pickled(b"}" + text[b"a"] + rebuilt + b"s")


def bools():
    """58 KB of compressed booleans that take 512 MB as float64."""
    file = io.BytesIO()
    transitions = np.zeros((200, 200), dtype=bool)
    np.savez_compressed(file, emissions=np.zeros((320, 990, 200), bool), transitions=transitions)
    return [("bools.npz", file.getvalue())]


def bool_steps():
    """The same for per-step transition matrices that all sentences share."""
    file = io.BytesIO()
    steps = np.zeros((1550, 200, 200), bool)
    np.savez_compressed(file, emissions=np.zeros((1551, 200), bool), transitions=steps)
    return [("steps.npz", file.getvalue())]


def one_own_matrix():
    """One sentence has its own matrix; the reader must not write a matrix for every sentence."""
    words = [{"emissions": [[n % 7] * 200]} for n in range(3000)]
    words[0]["transitions"] = [[1.0] * 200] * 200
    return [as_json({"transitions": [[0.0] * 200] * 200, "sentences": words})]


def shared_matrices_of_steps():
    """One matrix per step, shared by all sentences, which the reader stores per sentence."""
    steps = [[[0] * 50] * 50] * 19
    return [as_json({"transitions": steps, "sentences": [{"emissions": [[0] * 50] * 20}] * 2000})]


def own_starts():
    """Each sentence has its own start; the reader must not copy the shared matrix for each."""
    words = [{"emissions": [[1] * 200], "start": [n] * 200} for n in range(3000)]
    transitions = [[1] * 200] * 200
    return [as_json({"probabilities": True, "transitions": transitions, "sentences": words})]


def shared_matrix():
    """Many sentences and one large matrix: a valid file, which must be accepted."""
    emissions = np.zeros((3000, 8, 200), np.float32)
    return [as_npz(emissions=emissions, transitions=np.zeros((200, 200), np.float32))]


def shared_probabilities():
    """The same valid file as probabilities, which the reader normalises."""
    emissions = np.ones((3000, 8, 200), np.float32)
    transitions = np.ones((200, 200), np.float32)
    return [as_npz(emissions=emissions, transitions=transitions, probabilities=np.array(True))]


def lying_member():
    """A zip member that declares 1000 bytes but unpacks to 400 MB."""
    packer = zlib.compressobj(wbits=-15)
    packed = b"".join(packer.compress(bytes(10_000_000)) for _ in range(40)) + packer.flush()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("emissions.npy", packed)
    content = bytearray(file.getvalue())
    for magic, method, size in ((b"PK\x03\x04", 8, 22), (b"PK\x01\x02", 10, 24)):
        place = content.rindex(magic)
        struct.pack_into("<H", content, place + method, 8)
        struct.pack_into("<I", content, place + size, 1000)
    return [("lying.npz", bytes(content))]


def another_packing():
    """A bzip2 member, for which zipfile cannot limit the unpacked size."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("emissions.npy", bz2.compress(bytes(300_000_000)))
    content = bytearray(file.getvalue())
    for magic, method, size in ((b"PK\x03\x04", 8, 22), (b"PK\x01\x02", 10, 24)):
        place = content.rindex(magic)
        struct.pack_into("<H", content, place + method, zipfile.ZIP_BZIP2)
        struct.pack_into("<I", content, place + size, 50_000_000)
    return [("packed.npz", bytes(content))]


def many_members():
    """60,000 empty members: the zip directory is larger than its content."""
    return [as_zip({f"{n}": b"" for n in range(60_000)}, zipfile.ZIP_STORED)]


def many_numbers():
    """As many short numbers as the reader accepts in a JSON file."""
    row = f"[{','.join(['0.5'] * 17)}]"
    sentence = f'{{"emissions":[{",".join([row] * 17)}]}}'
    sentences = ",".join([sentence] * 7_000)
    text = f'{{"transitions":[{",".join([row] * 17)}],"sentences":[{sentences}]}}'
    return [("many.json", text.encode())]


def empty_lists():
    return [("lists.json", b'{"transitions": [' + b"[]," * 6_000_000 + b"[]]}")]


def wide_characters():
    """One emoji, which makes Python store every character of the string in four bytes."""
    text = '{"comment": "🙂' + "x" * 19_000_000 + '"}'
    return [("wide.json", text.encode())]


def words_of_nothing(crfsuite):
    """Words of two bytes each, for which the reader allocates a row of scores."""
    return [crfsuite, ("a.jsonl", b'{"attributes": [' + b"[]," * 6_000_000 + b"[]]}")]


def lines_of_nothing(crfsuite):
    return [crfsuite, ("a.jsonl", b'{"attributes": [[]]}\n' + b"a\n" * 9_000_000)]


def one_long_name(crfsuite):
    """Every attribute points to the same name, which is as long as the file."""
    number, long = 5000, b"x" * 1_000_000
    names = b"CQDB" + struct.pack("<5I", 24 + 8 + len(long) + 4 * number, 0, 0, number, 24)
    places = struct.pack(f"<{number}I", *[24 + 4 * number] * number)
    names += places + struct.pack("<2I", 0, len(long)) + long
    content = bytearray(crfsuite[1] + names)
    struct.pack_into("<I", content, 4, len(content))
    struct.pack_into("<I", content, 24, number)
    struct.pack_into("<I", content, 36, len(crfsuite[1]))
    return [("names.crfsuite", bytes(content)), ("a.jsonl", b'{"attributes": [[]]}')]


def header(family, **fields):
    return json.dumps({"format": 1, "family": family, **fields}).encode()


def tensors(**arrays):
    from safetensors.numpy import save

    return save(arrays)


def large_layers():
    """A config that declares a huge network, with the weights of a small one."""
    members = {path.name: path.read_bytes() for path in (SHIPPED / "upos-en").iterdir()}
    config = json.loads(members["config.json"])
    sizes = dict.fromkeys(config["sizes"], 4096) | {"widths": [4096] * 10}
    members["config.json"] = json.dumps({**config, "sizes": sizes}).encode()
    return [as_zip(members)]


def unpacked_weights():
    """A perceptron with millions of empty rows, which take one byte each in the file."""
    rows = 2_000_000
    arrays = {
        "features.keys": np.arange(1, dtype=np.uint32),
        "features.counts": np.zeros(1, dtype=np.uint8),
        "words.keys": np.arange(rows, dtype=np.uint32),
        "words.counts": np.zeros(rows, dtype=np.uint8),
    }
    for name in ("features", "words"):
        arrays[f"{name}.columns"] = np.zeros(0, np.uint8)
        arrays[f"{name}.values"] = np.zeros(0, np.int8)
        arrays[f"{name}.scale"] = np.ones(1, np.float32)
    tags = [f"T{n}" for n in range(20)]
    for name, shape in (("transitions", (20, 20)), ("start", 20), ("end", 20)):
        arrays[name] = np.zeros(shape, np.float32)
    config = header("perceptron", tags=tags, updates="viterbi")
    return [as_zip({"config.json": config, "model.safetensors": tensors(**arrays)})]


def long_vocabulary():
    config = header("hmm", tags=["A"], smoothing={})
    lists = b'{"words": [' + b"[]," * 3_000_000 + b"[]]}"
    members = {"config.json": config, "vocabulary.json": lists, "model.safetensors": tensors()}
    return [as_zip(members)]


def long_example():
    """An example sentence of 300,000 words, of which only the first are used."""
    members = {path.name: path.read_bytes() for path in (SHIPPED / "upos-en").iterdir()}
    words = ["word"] * 300_000
    example = {"text": "x", "tokens": words, "claim": "x", "kind": "given"}
    members["examples.jsonl"] = json.dumps(example).encode()
    return [as_zip(members)]


ALONE = (
    bytes_of_nothing,
    a_far_memo,
    a_nested_key,
    a_nested_storage,
    bools,
    bool_steps,
    one_own_matrix,
    shared_matrices_of_steps,
    own_starts,
    shared_matrix,
    shared_probabilities,
    lying_member,
    another_packing,
    many_members,
    many_numbers,
    empty_lists,
    wide_characters,
    large_layers,
    unpacked_weights,
    long_vocabulary,
    long_example,
)
WITH_CRFSUITE = (words_of_nothing, lines_of_nothing, one_long_name)


def status(name):
    """Return a field of /proc/self/status, such as VmRSS, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))


def tried(files):
    """Read the files under a memory limit; return the result and the extra peak memory in MB."""
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    room = int((status("VmSize") + 1.5 * ROOM) * 2**20)
    resource.setrlimit(resource.RLIMIT_AS, (room, hard))
    said = "understood"
    try:
        with tempfile.TemporaryDirectory() as folder:
            understand(*files).write(Path(folder))
    except (ValueError, MemoryError, RuntimeError) as error:
        said = f"{type(error).__name__}: {error}"
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    return said, status("VmHWM") - before


def main(crfsuite):
    understand(as_json())  # triggers lazy imports, which must not count
    model = "small.crfsuite", Path(crfsuite).read_bytes()
    for make in (*ALONE, *WITH_CRFSUITE):
        said, peak = tried(make() if make in ALONE else make(model))
        sys.stdout.write(json.dumps([make.__name__, said, peak]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
