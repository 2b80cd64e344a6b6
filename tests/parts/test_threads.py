"""Work on several threads: in order, not too far ahead, and errors get out."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Callable, Generator, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doors import AHEAD, NAME, count_threads, work_ahead
from doors import threads as threads_module
from lanes import scaled

PATIENCE = 10.0  # seconds after which something hangs


class Items:
    """Numbers from 0 on that remember how many of them were taken."""

    def __init__(self, count: int, error: Exception | None = None) -> None:
        self.count, self.taken, self.error = count, 0, error
        self.threads: set[int] = set()

    def __iter__(self) -> Iterator[int]:
        while self.taken < self.count:
            self.threads.add(threading.get_ident())
            self.taken += 1
            yield self.taken - 1
        if self.error is not None:
            raise self.error


def raised_by(job: Callable[[], object]) -> Exception | None:
    """What it raises, if anything; on a thread of its own, so that what hangs fails."""
    raised: list[Exception | None] = []

    def run() -> None:
        try:
            job()
        except Exception as error:  # noqa: BLE001  # whatever it is
            raised.append(error)
        else:
            raised.append(None)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert raised, "it hangs"
    return raised[0]


def pool_threads() -> set[threading.Thread]:
    """Those that pools have begun and not ended."""
    return {thread for thread in threading.enumerate() if thread.name == NAME}


def close(results: Iterator[int]) -> None:
    """As somebody does who wants no more."""
    assert isinstance(results, Generator)
    results.close()


# ------------------------------------------------------------------------------------------------------------- in order


@settings(max_examples=scaled(40))
@given(st.lists(st.integers()), st.integers(1, 5))
def test_results_are_those_of_map(items: list[int], threads: int) -> None:
    assert list(work_ahead(lambda item: item**2 + 1, items, threads=threads)) == [item**2 + 1 for item in items]


@pytest.mark.parametrize("threads", [None, 1, 2, 4])
def test_order_is_kept_when_later_work_is_done_first(threads: int | None) -> None:
    def work(item: int) -> int:
        time.sleep(0.002 * (4 - item % 5))
        return item

    assert list(work_ahead(work, range(23), threads=threads)) == list(range(23))


def test_work_is_done_at_the_same_time() -> None:
    """Each piece waits for the other two: on fewer than three threads nothing would come."""
    meeting = threading.Barrier(3, timeout=PATIENCE)

    def work(item: int) -> int:
        meeting.wait()
        return item

    assert list(work_ahead(work, range(6), threads=3)) == list(range(6))


def test_as_many_threads_as_said() -> None:
    seen: set[int] = set()

    def work(item: int) -> int:
        seen.add(threading.get_ident())
        time.sleep(0.001)
        return item

    list(work_ahead(work, range(20), threads=2))
    assert 1 <= len(seen) <= 2
    assert threading.get_ident() not in seen


# ---------------------------------------------------------------------------------------------------------- not too far


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_items_are_taken_only_a_little_ahead(threads: int) -> None:
    items = Items(40)
    results = work_ahead(lambda item: item, items, threads=threads)
    assert items.taken == 0  # nothing begins before anybody asks
    for given_out, result in enumerate(results):
        assert result == given_out
        assert items.taken <= min(given_out + AHEAD * threads, 40)
        if given_out == 0:
            assert items.taken == AHEAD * threads  # there is work for every thread, and some to go on with
    assert items.taken == 40


def test_items_are_taken_by_whoever_takes_the_results() -> None:
    """An iterator is not safe to be asked by several threads."""
    items = Items(10)
    list(work_ahead(lambda item: item, items, threads=3))
    assert items.threads == {threading.get_ident()}


def test_results_are_let_go() -> None:
    """What was given out is not held: only a few are alive at a time."""

    class Result:
        alive = most = 0
        lock = threading.Lock()

        def __init__(self) -> None:
            with Result.lock:
                Result.alive += 1
                Result.most = max(Result.most, Result.alive)

        def __del__(self) -> None:
            with Result.lock:
                Result.alive -= 1

    for _ in work_ahead(lambda _: Result(), range(50), threads=2):
        pass
    gc.collect()
    assert Result.alive <= 1  # the last, which the loop still names
    assert Result.most <= AHEAD * 2 + 2


# --------------------------------------------------------------------------------------------------------------- errors


class WorkError(Exception):
    """What a piece of work raises."""


def fail_at(place: int) -> Callable[[int], int]:
    """Work that cannot do one of the items."""

    def work(item: int) -> int:
        if item == place:
            raise WorkError(f"no {item}")
        return item

    return work


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("place", [0, 1, 5, 19])
def test_an_error_of_the_work_comes_in_its_place(place: int, threads: int) -> None:
    items = Items(20)
    results: list[int] = []
    error = raised_by(lambda: results.extend(work_ahead(fail_at(place), items, threads=threads)))
    assert isinstance(error, WorkError)
    assert str(error) == f"no {place}"
    assert results == list(range(place))
    assert items.taken <= min(20, place + AHEAD * threads)


@pytest.mark.parametrize("count", [0, 1, 9])
def test_an_error_of_the_iterator_gets_out(count: int) -> None:
    before, broken = pool_threads(), KeyError("no more")
    assert raised_by(lambda: list(work_ahead(lambda item: item, Items(count, broken), threads=2))) is broken
    assert pool_threads() <= before


# -------------------------------------------------------------------------------------------------------------- the end


def test_closing_early_begins_nothing_more() -> None:
    """What runs is waited for, what waits is not begun, and no thread is left behind."""
    begun: list[int] = []
    go = threading.Event()

    def work(item: int) -> int:
        begun.append(item)
        if item > 0:
            assert go.wait(PATIENCE)
        return item

    before, items = pool_threads(), Items(100)
    results = work_ahead(work, items, threads=1)
    assert next(results) == 0  # item 1 is being worked on or waits, whatever comes after was not taken
    assert items.taken == AHEAD
    go.set()
    assert raised_by(lambda: close(results)) is None
    assert set(begun) <= {0, 1}
    assert pool_threads() <= before


def test_what_waits_is_cancelled() -> None:
    """One thread is held by item 1; item 2 and 3 are queued behind it when the generator is closed."""
    begun: list[int] = []
    running, go = threading.Event(), threading.Event()

    def work(item: int) -> int:
        begun.append(item)
        if item == 1:
            running.set()
            assert go.wait(PATIENCE)
        return item

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads_module, "AHEAD", 4)
        results = work_ahead(work, Items(100), threads=1)
        assert next(results) == 0
    assert running.wait(PATIENCE)
    timer = threading.Timer(0.05, go.set)  # while the generator is being closed
    timer.start()
    assert raised_by(lambda: close(results)) is None
    timer.join()
    assert begun == [0, 1]


# ------------------------------------------------------------------------------------------------------------- how many


def test_as_many_as_there_are_cores_for_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 5}, raising=False)
    assert count_threads() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert count_threads() == 7
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert count_threads() == 1


def test_by_default_every_core_has_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads_module, "count_threads", lambda: 3)
    items = Items(40)
    next(work_ahead(lambda item: item, items))
    assert items.taken == AHEAD * 3
