"""The search for a motion worth running: rounds of local searches within a budget, and their answer."""

from __future__ import annotations

import multiprocessing
import multiprocessing.pool
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError, NoSolutionError
from steelyard.excitation.local_search import (
    Local,
    Searcher,
    SmallestMargins,
    fresh_start,
    judge,
    mixed_start,
)
from steelyard.excitation.problem import DesignProblem, refuse_infeasible
from steelyard.identifiable import Criterion
from steelyard.motion import FourierMotion, LinearMotion, SplineMotion
from steelyard.threads import set_thread_count, thread_count

# Rounds of local searches, in this process or on several cores, with the same result either way.
#
# Round k starts from what rounds 0 to k - `BEHIND` have found and from random numbers of its own. Up to
# `BEHIND` rounds can thus run at the same time, and neither their number nor their speed changes any of them:
# a seed and a number of rounds give the same motion on one core and on four.

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


class SearchFailure(NamedTuple):
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

    def get(self) -> Local | SearchFailure:
        """Wait for the end of the round."""
        ...


class SearchPool(Protocol):
    """Who runs rounds."""

    workers: int
    """Rounds that run at the same time."""
    ahead: int
    """Rounds that may be started before the first of them has ended."""

    def start(self, task: Round) -> Pending:
        """Start a round."""
        ...


def run_round(searcher: Searcher, task: Round) -> Local | SearchFailure:
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
        return SearchFailure(error.message, error.place, error.remedy)


@contextmanager
def search_pool(searcher: Searcher, workers: int) -> Iterator[SearchPool]:
    """A pool of searches: in this process alone, or in copies of it.

    Copies are forked, so that compiled code and the problem need not be sent; where a system cannot fork,
    this process works alone.

    Args:
        searcher: of the problem.
        workers: how many.
    """
    if workers <= 1 or "fork" not in multiprocessing.get_all_start_methods():
        yield _Alone(searcher)
        return
    with multiprocessing.get_context("fork").Pool(workers, _begin, (searcher,)) as pool:
        yield _Several(pool, workers)


class _Done(NamedTuple):
    result: Local | SearchFailure

    def get(self) -> Local | SearchFailure:
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
    # A handler of the parent's that lets the process live on would let the pool wait for it for ever.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    set_thread_count(1)


def _work(task: Round) -> Local | SearchFailure:
    assert _searcher is not None
    return run_round(_searcher, task)


# The rounds of one search: what each starts from, when to stop, and what was found.


@dataclass(frozen=True)
class SearchBudget:
    """When a search ends: whatever comes first, but never before one round.

    A time budget is kept by not starting rounds that would end too late, so it decides about the number of
    rounds only; the same seed and that number as the budget give the same motion again.

    Attributes:
        seconds: wall time, s; None for any.
        rounds: local searches; None for any number.
    """

    seconds: float | None = 10.0
    rounds: int | None = None

    def __post_init__(self) -> None:
        if self.seconds is None and self.rounds is None:
            raise InputError("must state seconds or rounds.", place="budget")
        if self.seconds is not None and not self.seconds > 0.0:
            raise InputError(f"must be positive, got {self.seconds} s.", place="budget")
        if self.rounds is not None and self.rounds < 1:
            raise InputError(f"must be at least one round, got {self.rounds}.", place="budget")


@dataclass(frozen=True)
class Progress:
    """The state of a search after a round.

    Attributes:
        seconds: since it began, s.
        rounds: local searches done.
        best: value of the criterion so far; NaN while no motion keeps all limits.
    """

    seconds: float
    rounds: int
    best: float


@dataclass(eq=False)
class MotionSearch:
    """A search that is under way.

    Attributes:
        criterion: what makes a motion good.
        budget: when to end.
        seed: of all rounds.
        progress: called after every round.
        begin: when it began, on `time.perf_counter`, s.
        results: of every round so far, in order.
        history: the state after every round.
    """

    criterion: Criterion
    budget: SearchBudget
    seed: int
    progress: Callable[[Progress], None]
    begin: float
    results: list[Local | SearchFailure] = field(default_factory=list)
    history: list[Progress] = field(default_factory=list)

    @property
    def best(self) -> Local | None:
        """The best motion that keeps every limit."""
        ranked = self._ranked(len(self.results))
        return ranked[0] if ranked else None

    def run(self, hands: SearchPool) -> bool:
        """Run rounds until the budget ends.

        Args:
            hands: who runs them.

        Returns:
            Whether the search was interrupted after it had found a motion.
        """
        pending: list[Pending] = []
        opened = time.perf_counter()
        try:
            while True:
                while len(pending) < hands.ahead and self._worth_starting(
                    len(pending), hands.workers, opened
                ):
                    pending.append(hands.start(self._round(len(self.results) + len(pending))))
                if not pending:
                    return False
                self.results.append(pending.pop(0).get())
                best = self.best
                now = time.perf_counter() - self.begin
                value = float("nan") if best is None else best.judgement.value
                self.history.append(Progress(now, len(self.results), value))
                self.progress(self.history[-1])
        except KeyboardInterrupt:
            if self.best is None:
                raise
            return True

    def _round(self, number: int) -> Round:
        elite = self._ranked(max(0, number - BEHIND + 1))[:ELITE] if number >= FRESH else []
        return Round(number, self.seed, tuple(local.x for local in elite))

    def _ranked(self, rounds: int) -> list[Local]:
        """What the first rounds have found within the limits, best first."""
        kept = [local for local in self.results[:rounds] if isinstance(local, Local) and local.judgement.kept]
        sign = -1.0 if self.criterion.maximised else 1.0
        return sorted(kept, key=lambda local: sign * local.judgement.value)

    def _worth_starting(self, waiting: int, workers: int, opened: float) -> bool:
        """Whether the budget has room for another round after those that wait."""
        done = len(self.results)
        if self.budget.rounds is not None and done + waiting >= self.budget.rounds:
            return False
        if self.budget.seconds is None or done + waiting < workers:
            return done + waiting == 0 or self._elapsed() < (self.budget.seconds or float("inf"))
        if done == 0:
            return False
        each = (time.perf_counter() - opened) / done
        return self._elapsed() + (waiting + workers) * each <= self.budget.seconds

    def _elapsed(self) -> float:
        return time.perf_counter() - self.begin


# `design`: the search as one call, and the motion found


@dataclass(frozen=True, eq=False)
class Design:
    """A motion, what it is worth, and how it was found.

    Attributes:
        motion: the best one found.
        criterion: by which it was chosen.
        value: of the criterion.
        cond: condition number of the base regressor, in SI units, Coulomb friction with sign(v).
        cond_normalised: the same with columns of unit length.
        rms_deviation: root mean square of the base parameters' standard deviations, see `Judgement`.
        columns: names of the base parameters it was judged by.
        margins: the smallest margin of each kind, see `SmallestMargins`.
        never_apart: pairs that are built closer than the required distance, and were not watched.
        seconds: wall time of the search, s.
        rounds: local searches done; the same seed and this number give the same motion again.
        evaluations: of the objective and its gradient, in all rounds.
        history: the state after every round.
        interrupted: whether the search was interrupted, and this is the best so far.
    """

    motion: LinearMotion
    criterion: Criterion
    value: float
    cond: float
    cond_normalised: float
    rms_deviation: float
    columns: tuple[str, ...]
    margins: SmallestMargins
    never_apart: tuple[str, ...]
    seconds: float
    rounds: int
    evaluations: int
    history: tuple[Progress, ...]
    interrupted: bool = False


def design(
    problem: DesignProblem,
    budget: SearchBudget,
    rng: np.random.Generator,
    *,
    workers: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    code: str = "generic",
) -> Design:
    """Find a motion that shows a robot's parameters as well as its limits allow.

    Local searches start from random motions, later from mixtures of the best motions found with random ones.
    An interruption ends the search and keeps the best so far. On several cores every worker is one process:
    set OPENBLAS_NUM_THREADS=1, or they get in each other's way.

    Args:
        problem: the question.
        budget: when to end.
        rng: source of all random choices; one number is drawn from it.
        workers: processes to use, at most four; None for one on each core. No result depends on it.
        progress: called after every round.
        code: of the dynamics, see `torque_regressor`; `straight-line` makes rounds about a tenth shorter,
            after some seconds of compiling once for each robot and layout.

    Returns:
        The best motion found.

    Raises:
        NoSolutionError: the problem is infeasible, says why and where; or no motion that keeps every limit
            between the samples too was found within the budget.
    """
    begin = time.perf_counter()
    seed = int(rng.integers(2**63))
    refuse_infeasible(problem)
    searcher = Searcher(problem, code)
    _warm_up(searcher)
    search = MotionSearch(problem.criterion, budget, seed, progress or _ignore, begin)
    with search_pool(searcher, min(BEHIND, thread_count() if workers is None else workers)) as hands:
        interrupted = search.run(hands)
    best = search.best
    if best is None:
        raise _nothing_found(problem, search)
    found = best.judgement
    return Design(
        motion=searcher.unknowns.motion(best.x),
        criterion=problem.criterion,
        value=found.value,
        cond=found.cond,
        cond_normalised=found.cond_normalised,
        rms_deviation=found.rms_deviation,
        columns=problem.columns,
        margins=found.margins,
        never_apart=problem.never_apart,
        seconds=time.perf_counter() - begin,
        rounds=len(search.results),
        evaluations=sum(local.evaluations for local in search.results if isinstance(local, Local)),
        history=tuple(search.history),
        interrupted=interrupted,
    )


def judged_again(problem: DesignProblem, found: Design, motion: FourierMotion | SplineMotion) -> Design:
    """What is left of a design when its motion is changed after the search, by being slowed for example.

    Args:
        problem: the question.
        found: what was found.
        motion: the motion as it is now, of the same family but for its duration.

    Returns:
        The same search, with the figures and margins of this motion.
    """
    there = judge(Searcher(replace(problem, family=motion)).objective, motion)
    return replace(
        found,
        motion=motion,
        value=there.value,
        cond=there.cond,
        cond_normalised=there.cond_normalised,
        rms_deviation=there.rms_deviation,
        margins=there.margins,
    )


def _nothing_found(problem: DesignProblem, search: MotionSearch) -> NoSolutionError:
    for result in search.results:
        if isinstance(result, SearchFailure):
            return NoSolutionError(result.message, place=result.place, remedy=result.remedy)
    return NoSolutionError(
        f"none of {len(search.results)} motions keeps every limit between the samples.",
        place=f"robot '{problem.robot.name}'",
        remedy="Allow more time, or look at the clearance more often.",
    )


def _warm_up(searcher: Searcher) -> None:
    """Load or compile all code before the workers are made, so that they share it."""
    still = np.zeros(searcher.unknowns.shape)
    searcher.objective.gradient(still, searcher.stages[0])
    if searcher.apart is not None:
        searcher.apart.gradient(still)
    judge(searcher.objective, searcher.unknowns.motion(still))


def _ignore(_progress: Progress) -> None:
    """A callback that does nothing."""
