"""The search for a motion worth running, and its answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from steelyard.errors import NoSolutionError
from steelyard.excitation.feasibility import refuse_infeasible
from steelyard.excitation.judgement import SmallestMargins, judge
from steelyard.excitation.problem import DesignProblem
from steelyard.excitation.rounds import BEHIND, Failure, crew
from steelyard.excitation.search import Budget, Progress, Search
from steelyard.excitation.searcher import Local, Searcher
from steelyard.identifiability import Criterion
from steelyard.motion import FourierMotion, LinearMotion, SplineMotion
from steelyard.threads import thread_count


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
    budget: Budget,
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
    search = Search(problem.criterion, budget, seed, progress or _ignore, begin)
    with crew(searcher, min(BEHIND, thread_count() if workers is None else workers)) as hands:
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


def _nothing_found(problem: DesignProblem, search: Search) -> NoSolutionError:
    for result in search.results:
        if isinstance(result, Failure):
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
    """Nobody asked."""
