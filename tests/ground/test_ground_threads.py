"""Work is shared completely, whatever the number of threads, callers and processes."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from oracles.thread_counts import thread_count
from steelyard import threads
from steelyard.errors import InputError
from steelyard.threads import beside, set_thread_count, share


def _count(first: int, last: int, seen: np.ndarray) -> None:
    for k in range(first, last):
        seen[k] += 1


@pytest.mark.parametrize("count", [1, 2, 3, 7])
@pytest.mark.parametrize("items", [0, 1, 7, 8, 9, 100])
def test_every_item_is_done_once(items: int, count: int) -> None:
    seen = np.zeros(items)
    with thread_count(count):
        share(items, _count, seen)
    assert (seen == 1).all()


def test_little_work_stays_in_the_callers_thread() -> None:
    pieces: list[tuple[int, int]] = []
    with thread_count(4, least=10):
        share(19, lambda first, last: pieces.append((first, last)))
        assert pieces == [(0, 19)]
        pieces.clear()
        share(40, lambda first, last: pieces.append((first, last)))
    assert sorted(pieces) == [(0, 10), (10, 20), (20, 30), (30, 40)]


def test_a_failure_in_any_piece_reaches_the_caller() -> None:
    def fail_late(first: int, _last: int) -> None:
        if first > 0:
            raise ZeroDivisionError("late")

    with thread_count(3, least=1), pytest.raises(ZeroDivisionError, match="late"):
        share(9, fail_late)


def test_several_callers_may_share_at_once() -> None:
    def call(_: int) -> bool:
        seen = np.zeros(300)
        share(300, _count, seen)
        return bool((seen == 1).all())

    with thread_count(3), ThreadPoolExecutor(8) as callers:
        assert all(callers.map(call, range(40)))


@pytest.mark.parametrize("count", [1, 2])
def test_work_beside_the_caller_answers_and_may_share_its_own(count: int) -> None:
    def work() -> np.ndarray:
        seen = np.zeros(300)
        share(300, _count, seen, least=10)
        return seen

    with thread_count(count):
        answers = [beside(work) for _ in range(3)]
        assert all((answer() == 1).all() for answer in answers)


@pytest.mark.parametrize("count", [1, 2])
def test_a_failure_beside_the_caller_reaches_it_with_the_answer(count: int) -> None:
    def fail() -> None:
        np.array([1.0]) / np.array([0.0])

    with thread_count(count), np.errstate(divide="raise"):
        answer = beside(fail)
        with pytest.raises(FloatingPointError):
            answer()


def _in_child(queue: multiprocessing.Queue) -> None:
    seen = np.zeros(100)
    share(100, _count, seen)
    queue.put(float(seen.sum()))


def test_a_forked_child_has_threads_of_its_own() -> None:
    context = multiprocessing.get_context("fork")
    with thread_count(3):
        share(100, _count, np.zeros(100))
        queue = context.Queue()
        child = context.Process(target=_in_child, args=(queue,))
        child.start()
        assert queue.get(timeout=30) == 100.0
        child.join(timeout=30)
    assert child.exitcode == 0


def test_no_thread_at_all_is_refused() -> None:
    before = threads.thread_count()
    with pytest.raises(InputError, match="at least 1"):
        set_thread_count(0)
    assert threads.thread_count() == before
