"""Interruptions that wait until something is done which must not be done by half."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupted_afterwards() -> Iterator[None]:
    """Hear an interruption, or a request to end, only after what stands inside; keep that short.

    Only those are held back that a handler of Python's would answer, and only in the main thread, which is
    where it would.
    """
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    if threading.current_thread() is not threading.main_thread():
        handlers = {}
    heard: list[tuple[int, FrameType | None]] = []
    for number, handler in handlers.items():
        if callable(handler):
            signal.signal(number, lambda number, frame: heard.append((number, frame)))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            if callable(handler):
                signal.signal(number, handler)
    for first, frame in heard[:1]:
        answer = handlers[signal.Signals(first)]
        assert callable(answer)
        answer(first, frame)
