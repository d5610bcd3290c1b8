"""What a computation says while it runs: to the caller's function where one listens, and to `logging`.

Nothing is printed here. A workflow says what it does with `say`, and how far a search or a campaign is with
`advance`; whoever called it hears of both through the function it gave as `progress`, such as `print`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class ProgressStep:
    """One thing that is said while work goes on.

    Attributes:
        message: what is done, or was found, in words.
        share: how much of the present task is done, from 0 to 1, dimensionless; None for words alone.
    """

    message: str
    share: float | None = None

    def __str__(self) -> str:
        return self.message if self.share is None else f"{self.message} ({100.0 * self.share:.0f} %)"


Progress = Callable[[ProgressStep], object]
"""What listens: called with every step, from the thread that works; `print` is one."""

_listener: ContextVar[Progress | None] = ContextVar("steelyard_progress", default=None)
_logger = logging.getLogger("steelyard")


def say(message: str) -> None:
    """Tell whoever listens what is done or was found.

    Args:
        message: a line in plain words.
    """
    _logger.info(message)
    listener = _listener.get()
    if listener is not None:
        listener(ProgressStep(message))


def advance(message: str, share: float) -> None:
    """Tell whoever listens how far a task is; `logging` hears it at the level of debugging.

    Args:
        message: the task, and what it has found so far.
        share: how much of it is done, from 0 to 1, dimensionless.
    """
    _logger.debug("%s (%.0f %%)", message, 100.0 * share)
    listener = _listener.get()
    if listener is not None:
        listener(ProgressStep(message, share))


@contextmanager
def heard_by(progress: Progress | None) -> Iterator[None]:
    """Inside, steps go to a function.

    Args:
        progress: what listens; None leaves whoever listens already.
    """
    if progress is None:
        yield
        return
    token = _listener.set(progress)
    try:
        yield
    finally:
        _listener.reset(token)
