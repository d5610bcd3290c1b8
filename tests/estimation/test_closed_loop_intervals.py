"""Several sampling intervals of one log, and the delay of the loop."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from paper_004.closed_loop import paper_loop
from steelyard.control import FeedforwardPD
from steelyard.errors import InputError
from steelyard.estimation.closed_loop.fit import fit_closed_loop_input, refine_intervals
from steelyard.estimation.closed_loop.response import LoopComparison
from steelyard.estimation.closed_loop.run import LoopRun, block_means
from steelyard.estimation.closed_loop.search import RefinementOutcome
from steelyard.identifiable import MinimalModel, minimal_model
from steelyard.layout import layout_of
from steelyard.rollout import ClosedLoop, rollout
from steelyard.zoo import zoo_robot

CYCLE = 2e-3
ROBOT = zoo_robot("two_link")
LAYOUT = layout_of(ROBOT, ["viscous", "rotor"])
PLANT = layout_of(ROBOT, ["viscous", "coulomb", "rotor"])


@cache
def model() -> MinimalModel:
    return minimal_model(ROBOT, LAYOUT)


@cache
def loop() -> ClosedLoop:
    return ClosedLoop(FeedforwardPD(ROBOT, 1.0, 0.5, 400.0, 36.0, cycle=CYCLE), CYCLE, CYCLE)


def truth(coulomb: float) -> np.ndarray:
    phi = np.array(PLANT.complete_nominal())
    values = {"viscous": 0.6, "rotor": 0.1, "coulomb": coulomb}
    for joint in PLANT.joints:
        for term, value in values.items():
            phi[PLANT.index(f"{joint}.{term}")] = value
    return phi


def start() -> np.ndarray:
    beta = model().of_standard([truth(0.0)[PLANT.index(name)] for name in LAYOUT.names])
    return beta * (1.0 + 0.2 * np.random.default_rng(0).uniform(-1, 1, beta.size))


@cache
def log(coulomb: float = 0.2, delay: float = CYCLE, average: int = 5) -> LoopRun:
    rng = np.random.default_rng(3)
    A, w, p = rng.uniform(0.2, 0.6, (3, 2)), rng.uniform(1, 6, (3, 2)), rng.uniform(0, 6, (3, 2))
    x = w * (CYCLE * np.arange(1500))[:, None, None] + p
    refs = (A * np.sin(x)).sum(1), (A * w * np.cos(x)).sum(1), -(A * w * w * np.sin(x)).sum(1)
    made = rollout(ROBOT, PLANT, truth(coulomb), *refs, replace(loop(), delay=delay))
    return LoopRun(*refs, average, *(block_means(x, average) for x in (made.tau, made.q)))


def test_shared_and_separate_searches_end_in_the_same_places() -> None:
    shared = refine_intervals(model(), [log()], loop(), [start()] * 4)
    apart = refine_intervals(model(), [log()], loop(), [start()] * 4, share=False)
    for one, other, factor in zip(shared, apart, (1, 2, 4, 8), strict=True):
        assert one.converged
        assert other.converged
        assert one.samples == other.samples == log().blocks // factor
        assert (np.abs(one.values - other.values) / other.deviations).max() < 0.1
        np.testing.assert_allclose(one.rms, other.rms, rtol=1e-4)
    assert sum(fit.sensitivity_runs for fit in shared) < sum(fit.sensitivity_runs for fit in apart)
    alone = fit_closed_loop_input(model(), [log().coarser(4)], loop(), start())
    np.testing.assert_array_equal(apart[2].values, alone.values)


def test_joined_derivatives_are_those_of_longer_blocks() -> None:
    fine = LoopComparison(model(), [log(), log()], loop(), {"tau": np.array([1.0, 3.0])})
    joined, direct = fine.joined(fine.at(start(), "exact"), 4), fine.coarser(4).at(start(), "exact")
    for name in ("signals", "residual", "jacobian"):
        np.testing.assert_allclose(getattr(joined, name), getattr(direct, name), rtol=1e-9, atol=1e-10)


def test_an_interval_whose_start_diverges_does_not_take_the_others_along() -> None:
    broken = -start()
    fits = refine_intervals(model(), [log()], loop(), [broken, start(), broken], factors=(1, 2, 4))
    assert [fit.outcome for fit in fits] == [
        RefinementOutcome.DIVERGED,
        RefinementOutcome.CONVERGED,
        RefinementOutcome.CONVERGED,
    ]
    apart = refine_intervals(
        model(), [log()], loop(), [broken, start(), broken], factors=(1, 2, 4), share=False
    )
    assert [fit.converged for fit in apart] == [False, True, False]


@pytest.mark.parametrize(("cycle", "steps"), [(1e-3, 4), (2e-3, 8), (0.1e-3, 1), (0.6e-3, 3)])
def test_the_papers_step_is_at_most_a_quarter_of_a_millisecond(cycle: float, steps: int) -> None:
    law = FeedforwardPD(ROBOT, 1.0, 0.5, 400.0, 36.0, cycle=cycle)
    made = paper_loop(ClosedLoop(law, cycle, cycle))
    assert made.scheme == "euler-trapezoid"
    assert made.steps_per_cycle == steps
    assert made.timing.late_step <= 0.25e-3 * (1 + 1e-9)


def test_the_papers_scheme_ends_beside_the_fast_one() -> None:
    ours, papers = (fit_closed_loop_input(model(), [log()], x, start()) for x in (loop(), paper_loop(loop())))
    assert papers.converged
    assert papers.detail["scheme"] == "euler-trapezoid"
    np.testing.assert_allclose(papers.values, ours.values, atol=5e-3)


def test_what_does_not_fit_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="starts"):
        refine_intervals(model(), [log()], loop(), [start()])
    with pytest.raises(InputError, match="factors"):
        refine_intervals(model(), [log()], loop(), [start()] * 2, factors=(2, 3))
