"""Rounds of local searches, in this process or on several cores, with the same result either way.

Round k starts from what rounds 0 to k - `BEHIND` have found and from random numbers of its own. Up to
`BEHIND` rounds can thus run at the same time, and neither their number nor their speed changes any of them: a
seed and a number of rounds give the same motion on one core and on four.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.pool
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple, Protocol

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import NoSolutionError
from steelyard.excitation.searcher import Local, Searcher
from steelyard.excitation.starts import fresh_start, mixed_start
from steelyard.threads import set_thread_count

BEHIND = 4
"""How many rounds a round lies behind the newest results it may use, itself included."""
FRESH = 6
"""Rounds that start from scratch; later ones start from mixtures of what was found."""
ELITE = 6
"""Motions that are kept to be mixed."""


class Round(NamedTuple):
    """A local search to run.

    Attributes:
        number: from 0.
        seed: of all rounds.
        elite: unknowns to start from, best first, each shape (nv, n), dimensionless; empty to start fresh.
    """

    number: int
    seed: int
    elite: tuple[Array, ...]


class Failure(NamedTuple):
    """Why a round found nothing; a `NoSolutionError` that can be sent between processes.

    Attributes:
        message: what is wrong.
        place: where.
        remedy: what to do about it.
    """

    message: str
    place: str
    remedy: str


class Pending(Protocol):
    """A round that runs or has run."""

    def get(self) -> Local | Failure:
        """Wait for the end of the round."""
        ...


class Crew(Protocol):
    """Who runs rounds."""

    workers: int
    """Rounds that run at the same time."""
    ahead: int
    """Rounds that may be started before the first of them has ended."""

    def start(self, task: Round) -> Pending:
        """Start a round."""
        ...


def run_round(searcher: Searcher, task: Round) -> Local | Failure:
    """Run one round.

    Args:
        searcher: of the problem.
        task: which round.

    Returns:
        What was found, or why nothing could be.
    """
    rng = np.random.default_rng([task.seed, task.number])
    if searcher.apart is not None:
        searcher.apart.forget()
    try:
        mixture = mixed_start(searcher, task.elite, rng) if task.elite else None
        if mixture is None:
            return searcher.search(fresh_start(searcher, rng))
        # A mixture of good motions is past the first, blurred look.
        return searcher.search(mixture, first_stage=1)
    except NoSolutionError as error:
        return Failure(error.message, error.place, error.remedy)


@contextmanager
def crew(searcher: Searcher, workers: int) -> Iterator[Crew]:
    """Hire workers: this process alone, or copies of it.

    Copies are forked, so that compiled code and the problem need not be sent; where a system cannot fork,
    this process works alone.

    Args:
        searcher: of the problem.
        workers: how many.

    Yields:
        The crew.
    """
    if workers <= 1 or "fork" not in multiprocessing.get_all_start_methods():
        yield _Alone(searcher)
        return
    with multiprocessing.get_context("fork").Pool(workers, _begin, (searcher,)) as pool:
        yield _Several(pool, workers)


class _Done(NamedTuple):
    result: Local | Failure

    def get(self) -> Local | Failure:
        return self.result


class _Alone:
    workers = 1
    ahead = 1

    def __init__(self, searcher: Searcher) -> None:
        self._searcher = searcher

    def start(self, task: Round) -> Pending:
        return _Done(run_round(self._searcher, task))


class _Several:
    def __init__(self, pool: multiprocessing.pool.Pool, workers: int) -> None:
        self._pool = pool
        self.workers = workers
        self.ahead = BEHIND

    def start(self, task: Round) -> Pending:
        return self._pool.apply_async(_work, (task,))


_searcher: Searcher | None = None


def _begin(searcher: Searcher) -> None:
    """In a worker: keep the problem, one thread each, and leave interruptions to the parent."""
    global _searcher
    _searcher = searcher
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    set_thread_count(1)


def _work(task: Round) -> Local | Failure:
    assert _searcher is not None
    return run_round(_searcher, task)
