"""The objective, its barriers and its limits against finite differences and the dense textbook way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from excitation.small_designs import med7, two_link, two_link_spline
from steelyard.dynamics import torque_regressor
from steelyard.excitation import DesignProblem
from steelyard.excitation.local_search import Searcher, random_unknowns
from steelyard.excitation.objective import RANGE, ClearanceBarrier, ObjectiveStage, barrier, surrogate
from steelyard.identifiable import Criterion, Information, score

STAGE = ObjectiveStage(power=8.0, barrier=1e-2)


def central_difference(f, x: np.ndarray, way: np.ndarray, h: float) -> float:
    return (f(x + h * way)[0] - f(x - h * way)[0]) / (2.0 * h)


def allowed(searcher: Searcher, seed: int) -> np.ndarray:
    x = random_unknowns(searcher, np.random.default_rng(seed))
    assert x is not None
    return x


@pytest.mark.parametrize("criterion", list(Criterion))
def test_the_gradient_of_every_criterion_is_that_of_its_value(criterion: Criterion) -> None:
    searcher = Searcher(replace(two_link(), criterion=criterion, noise=np.array([0.5, 2.0])))
    x = allowed(searcher, 1)
    f = searcher.function(STAGE)
    for seed in range(3):
        way = np.random.default_rng(seed).standard_normal(x.shape)
        assert central_difference(f, x, way, 1e-6) == pytest.approx(float((f(x)[1] * way).sum()), rel=1e-6)


@pytest.mark.parametrize("problem", [med7, two_link_spline], ids=["med7", "spline"])
def test_the_gradient_holds_with_clearance_and_torque_limits(problem) -> None:
    asked: DesignProblem = problem()
    asked = replace(asked, parameters=asked.layout.complete_nominal(), torque_share=1.0)
    searcher = Searcher(asked)
    x = allowed(searcher, 3)
    f = searcher.function(STAGE)
    way = np.random.default_rng(0).standard_normal(x.shape)
    assert central_difference(f, x, way, 1e-6) == pytest.approx(float((f(x)[1] * way).sum()), rel=1e-5)


def test_the_torque_barrier_has_the_gradient_of_its_value() -> None:
    asked = two_link()
    # A limit just above the largest torque, so that the barrier acts.
    searcher = Searcher(asked)
    x = allowed(searcher, 5)
    q, v, a = searcher.objective.sampled(x)
    phi = asked.layout.complete_nominal()
    torque = torque_regressor(asked.robot, asked.layout, q, v, a) @ phi
    share = 1.02 * float((np.abs(torque) / asked.robot.limit_array("effort")).max())
    strict = Searcher(replace(asked, parameters=phi, torque_share=share))
    free, near = searcher.function(STAGE), strict.function(STAGE)
    assert near(x)[0] > free(x)[0]
    way = np.random.default_rng(0).standard_normal(x.shape)
    assert central_difference(near, x, way, 1e-7) == pytest.approx(float((near(x)[1] * way).sum()), rel=1e-5)


def test_the_clearance_barrier_counts_exactly_the_pairs_that_are_near() -> None:
    asked = med7()
    searcher = Searcher(asked)
    clearance = asked.clearance
    assert clearance is not None
    apart = ClearanceBarrier(asked, clearance, searcher.unknowns, searcher.ranges)
    acted = 0
    for seed in range(2):
        end = allowed(searcher, seed)
        # Ever larger motions, until something collides: remembered distances are used, and given up in time.
        for share in np.linspace(0.0, 2.0, 41):
            q = searcher.unknowns.motion(share * end).sample(asked.clearance_times).q
            expected = barrier((clearance.distances(q) - asked.distance) / RANGE)[0]
            assert apart.gradient(share * end)[0] == pytest.approx(expected, rel=1e-9)
            if 0.0 < expected < np.inf:
                acted += 1
                slope = central_difference(apart.gradient, share * end, end, 1e-6)
                assert slope == pytest.approx(float((apart.gradient(share * end)[1] * end).sum()), rel=1e-4)
    assert acted >= 2


def test_the_barrier_is_twice_differentiable_where_it_ends_and_infinite_at_the_limit() -> None:
    u = np.array([1.0 - 1e-3, 1.0 + 1e-3])
    value, slope = barrier(u)
    assert 0.0 < value < 1e-11
    assert abs(slope[0]) < 1e-8
    assert slope[1] == 0.0
    assert barrier(np.array([0.5, 0.0]))[0] == np.inf
    h = 1e-6
    difference = (barrier(np.array([0.3 + h]))[0] - barrier(np.array([0.3 - h]))[0]) / (2.0 * h)
    assert difference == pytest.approx(barrier(np.array([0.3]))[1][0], rel=1e-8)


def test_the_information_is_that_of_the_dense_regressor_over_the_noise_plus_what_is_recorded() -> None:
    asked = two_link()
    rng = np.random.default_rng(0)
    factor = rng.standard_normal((asked.layout.size, asked.layout.size))
    noise = np.array([0.5, 2.0])
    asked = replace(asked, noise=noise, recorded=factor.T @ factor)
    searcher = Searcher(asked)
    motion = searcher.unknowns.motion(allowed(searcher, 2))
    at = motion.sample(asked.times)
    Y = torque_regressor(asked.robot, asked.layout, at.q, at.v, at.a) / noise[:, None]
    W = np.vstack([Y.reshape(-1, asked.layout.size), factor])[:, asked.base.columns]
    expected = Information.of_regressor(W).gram
    np.testing.assert_allclose(searcher.objective.information(motion).gram, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("criterion", list(Criterion))
def test_a_sharp_surrogate_is_the_logarithm_of_its_criterion(criterion: Criterion) -> None:
    rng = np.random.default_rng(3)
    W, K = rng.standard_normal((30, 5)) * [1.0, 3.0, 0.2, 1.0, 5.0], rng.standard_normal((5, 8))
    G = W.T @ W
    L = np.linalg.qr(K.T, mode="r").T
    value = score(criterion, Information(G, squared=True), groupings=K).value
    expected = {Criterion.D: -value / 5.0, Criterion.E: -np.log(abs(value))}.get(
        criterion, np.log(abs(value))
    )
    assert surrogate(criterion, G, 400.0, L).value == pytest.approx(expected, abs=1e-2)
