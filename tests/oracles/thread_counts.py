"""Run something with another number of threads, and with work cut fine enough for them to matter."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from steelyard import threads


@contextmanager
def thread_count(count: int, *, least: int = 8) -> Iterator[None]:
    """Within the block, `count` threads share work of at least `least` samples each."""
    before, threads.LEAST = (threads.thread_count(), threads.LEAST), least
    threads.set_thread_count(count)
    try:
        yield
    finally:
        threads.set_thread_count(before[0])
        threads.LEAST = before[1]
