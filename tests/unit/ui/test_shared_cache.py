"""A value that all share is made once, whoever asks for it."""

from threading import Barrier, Thread

import pytest

from crfviz.ui.shared_cache import shared_cache

MANY, PATIENCE = 20, 60.0  # threads, seconds


def squares(most=2):
    made = []

    @shared_cache(most, lambda number, *, sign=1: (number, sign))
    def square(number, *, sign=1):
        """The square."""
        made.append(number)
        if number < 0:
            raise ValueError(number)
        return [sign * number**2]

    return square, made


def test_cached_value_is_computed_once_and_shared():
    square, made = squares()
    assert square(3) == [9]
    assert square(3) is square(3)
    assert square(3, sign=-1) == [-9]
    assert made == [3, 3]
    assert (square.__name__, square.__doc__) == ("square", "The square.")


def test_least_recently_used_value_is_evicted():
    square, made = squares()
    for number in (1, 2, 1, 3, 1, 2):
        square(number)
    assert made == [1, 2, 3, 2]


def test_exceptions_are_not_cached():
    square, made = squares()
    for _ in range(2):
        with pytest.raises(ValueError, match="-1"):
            square(-1)
    assert made == [-1, -1]


def test_one_cached_value_or_all_can_be_cleared():
    square, made = squares()
    square(1), square(2)
    square.clear(1)
    square(1), square(2)
    assert made == [1, 2, 1]
    square.clear()
    square(1), square(2)
    assert made == [1, 2, 1, 1, 2]


def test_concurrent_callers_wait_for_one_computation():
    square, made = squares()
    there, seen = Barrier(MANY), []

    def ask():
        there.wait(PATIENCE)
        seen.append(square(7))

    threads = [Thread(target=ask, daemon=True) for _ in range(MANY)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert made == [7]
    assert len(seen) == MANY
    assert all(each is seen[0] for each in seen)
