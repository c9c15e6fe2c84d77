"""A file in shards: where it is cut, who works at them, what is kept, and what comes of it."""

import io
import os
from multiprocessing import active_children

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfviz.corpus.shards.shard import ShardCache, split_file
from crfviz.corpus.shards.workers import MAX_AHEAD, ProcessPool, run_shards
from crfviz.exceptions import CrfvizError, FormatError
from tests.support.small_disk import small_disk
from tests.support.workers import Shuffled, Upper

LINES = "".join(f"sentence {n}\n" for n in range(40)).encode()


def shards_of(content=LINES, size=30, *, by_line=True):
    return split_file(io.BytesIO(content), size, by_line=by_line)


ROWS = st.lists(st.sampled_from([b"a\tX\n", b"\n", b" \n", b"# c\n", b"\r\n", b"bb\tY\r\n"]))


@given(ROWS, st.sampled_from([b"", b"a\tX"]), st.integers(1, 30), st.integers(0, 3))
def test_file_is_split_between_sentences(rows, rest, size, read):
    content = b"".join(rows) + rest
    head = b"".join(rows[:read])
    file = io.BytesIO(content)
    file.read(len(head))
    shards = list(split_file(file, size, by_line=False, head=head))
    assert b"".join(shard.content for shard in shards) == content
    assert [shard.number for shard in shards] == list(range(len(shards)))
    for shard in shards:
        assert content[: shard.start].count(b"\n") == shard.first_line - 1
        assert content[shard.start :].startswith(shard.content)
    for shard in shards[:-1]:
        assert len(shard.content) >= size
        assert not shard.content.splitlines()[-1].strip()
        assert shard.content.endswith(b"\n")


@given(st.lists(st.text("ab ", max_size=9)), st.integers(1, 30))
def test_file_with_one_sentence_per_line_is_split_between_lines(lines, size):
    content = "".join(f"{line}\n" for line in lines).encode()
    shards = list(split_file(io.BytesIO(content), size, by_line=True))
    assert b"".join(shard.content for shard in shards) == content
    longest = max([len(line) + 1 for line in lines], default=0)
    for shard in shards:
        assert shard.content.endswith(b"\n")
        assert len(shard.content) <= size + longest + 1


@given(st.integers(1, 16), st.integers(0, 99))
def test_results_are_in_file_order(size, seed):
    crew = Shuffled(Upper(), size, seed)
    assert b"".join(run_shards(shards_of(), crew)) == LINES.upper()
    assert crew.stopped


def test_slow_shard_limits_how_far_others_run_ahead():
    class LastFirst(Shuffled):
        def next_result(self):
            self.given.sort(key=lambda shard: -shard.number)
            shard = self.given.pop(0)
            started.append(shard.number)
            return shard, shard.content

    started = []
    crew = LastFirst(Upper(), 2)
    assert b"".join(run_shards(shards_of(size=1), crew)) == LINES
    assert started.index(0) <= 2 * MAX_AHEAD


@pytest.mark.parametrize("size", [1, 3, 16])
def test_first_error_of_the_file_is_raised(size):
    for seed in range(20):
        crew = Shuffled(Upper(bad=(4, 5, 6)), size, seed)
        with pytest.raises(FormatError, match=r"^f, line 13: bad$"):
            list(run_shards(shards_of(), crew))
        assert crew.stopped


def test_finished_shards_are_resumed(tmp_path):
    kept = ShardCache(tmp_path / "out.shards", "key")
    halfway = run_shards(shards_of(), Shuffled(Upper(), 1), kept)
    first = [next(halfway) for _ in range(5)]
    halfway.close()
    assert "5 finished shards are kept in" in kept.summary()
    again, crew = (
        ShardCache(tmp_path / "out.shards", "key"),
        Shuffled(Upper(bad=(0, 1, 2, 3, 4)), 1),
    )
    whole = list(run_shards(shards_of(), crew, again))  # those that would fail are not begun
    assert whole[:5] == first
    assert b"".join(whole) == LINES.upper()
    assert (again.found, again.stale()) == (5, 0)
    again.clear()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("change", ["file", "key"])
def test_shards_of_another_file_or_job_are_not_reused(tmp_path, change):
    folder = tmp_path / "out.shards"
    list(run_shards(shards_of(), Shuffled(Upper(), 1), ShardCache(folder, "key")))
    other = LINES.replace(b"sentence 9\n", b"sentence x\n") if change == "file" else LINES
    kept = ShardCache(folder, "other" if change == "key" else "key")
    assert b"".join(run_shards(shards_of(other), Shuffled(Upper(), 1), kept)) == other.upper()
    number = len(list(shards_of()))
    assert kept.found == (number - 1 if change == "file" else 0)
    assert kept.stale() == number - kept.found


def test_damaged_shard_is_recomputed_and_other_files_are_kept(tmp_path):
    folder = tmp_path / "out.shards"
    list(run_shards(shards_of(), Shuffled(Upper(), 1), ShardCache(folder, "key")))
    sorted(folder.iterdir())[2].write_bytes(b"cut of")
    (folder / "mine.txt").touch()
    kept = ShardCache(folder, "key")
    assert b"".join(run_shards(shards_of(), Shuffled(Upper(), 1), kept)) == LINES.upper()
    assert kept.found == len(list(shards_of())) - 1
    kept.clear()
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]


def test_full_disk_is_reported_and_leaves_no_partial_shard(tmp_path):
    sizes = [3000, 3000, 90000, 3000]
    content = b"".join(os.urandom(size // 2).hex().encode() + b"\n" for size in sizes)
    kept = ShardCache(tmp_path / "out.shards", "key")
    with (
        small_disk(20000),
        pytest.raises(FormatError, match="cannot be written: File too large"),
    ):
        list(run_shards(shards_of(content, 1), Shuffled(Upper(), 1), kept))
    assert kept.summary().startswith("2 finished shards are kept in ")
    assert len(list(kept.folder.iterdir())) == 2
    again = ShardCache(tmp_path / "out.shards", "key")
    assert (
        b"".join(run_shards(shards_of(content, 1), Shuffled(Upper(), 1), again)) == content.upper()
    )
    assert again.found == 2


@pytest.mark.usefixtures("forked_workers")
def test_killed_worker_process_costs_only_its_shard(tmp_path):
    crew = ProcessPool(Upper(deadly=(1,), notes=tmp_path), 2)
    assert b"".join(run_shards(shards_of(size=90), crew)) == LINES.upper()
    tries = [int(path.name.split("-")[0]) for path in tmp_path.iterdir()]
    shards = len(list(shards_of(size=90)))
    assert sorted(tries) == sorted([1, *range(shards)])
    processes = {int(path.read_text()) for path in tmp_path.iterdir()}
    assert len(processes) == 3  # the other one went on
    assert not any(child.pid in processes for child in active_children())


@pytest.mark.usefixtures("forked_workers")
@pytest.mark.parametrize(
    ("job", "error", "message"),
    [
        (
            Upper(deadly=(0,)),
            CrfvizError,
            "lines 1 to 4 was ended by signal 9, 3 times",
        ),
        (Upper(bad=(2,)), FormatError, r"^f, line 7: bad$"),
    ],
    ids=["each worker dies", "bad input"],
)
def test_shard_that_always_fails_raises_an_error(job, error, message):
    with pytest.raises(error, match=message):
        list(run_shards(shards_of(), ProcessPool(job, 1)))
