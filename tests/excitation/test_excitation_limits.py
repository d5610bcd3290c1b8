"""Limits hold at every instant, and only motions that need them are cut."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from excitation.small_designs import TABLE, med7, problem_of, two_link, two_link_spline
from steelyard.excitation import DesignProblem, SearchBudget, design, spline_family
from steelyard.excitation.interior_point import linear_limits
from steelyard.excitation.local_search import Searcher
from steelyard.limits import clearance_of

ONE_ROUND = SearchBudget(seconds=None, rounds=1)


def worst_shares(problem: DesignProblem, motion, rate: float = 10_000.0) -> tuple[float, float, float]:
    """How much of the limits a motion uses at dense samples: position, velocity, acceleration."""
    robot = problem.robot
    at = motion.sample(np.linspace(0.0, motion.duration, int(rate * motion.duration) + 1))
    lower, upper = robot.limit_array("lower"), robot.limit_array("upper")
    reach = np.abs(at.q - 0.5 * (lower + upper)).max(axis=0) / (0.5 * (upper - lower))
    speed = np.abs(at.v).max(axis=0) / robot.limit_array("velocity")
    acceleration = np.abs(at.a).max(axis=0) / robot.limit_array("acceleration")
    return float(reach.max()), float(speed.max()), float(acceleration.max())


@pytest.mark.parametrize("problem", [two_link, two_link_spline], ids=["fourier", "spline"])
@pytest.mark.parametrize("criterion", ["cond", "a", "d"])
def test_designs_keep_position_velocity_and_acceleration_at_ten_kilohertz(problem, criterion: str) -> None:
    asked = replace(problem(), criterion=criterion, acceleration=True)
    found = design(asked, ONE_ROUND, np.random.default_rng(0), workers=1)
    shares = worst_shares(asked, found.motion)
    assert max(shares) <= 1.0
    # More motion shows more, so one of the limits is what stops it; a condition number has no scale.
    assert criterion == "cond" or max(shares) > 0.95


def test_acceleration_limits_count_only_where_they_are_asked_for() -> None:
    free = design(replace(two_link(), criterion="d"), ONE_ROUND, np.random.default_rng(0), workers=1)
    bound = design(
        replace(two_link(), criterion="d", acceleration=True), ONE_ROUND, np.random.default_rng(0), workers=1
    )
    assert worst_shares(two_link(), free.motion)[2] > 1.0 >= worst_shares(two_link(), bound.motion)[2]
    assert np.isinf(free.margins.acceleration)
    assert bound.margins.acceleration >= 0.0


def test_torques_stay_within_their_limits() -> None:
    asked = two_link()
    free = design(replace(asked, criterion="d"), ONE_ROUND, np.random.default_rng(0), workers=1)
    phi = asked.layout.complete_nominal()
    strict = replace(asked, criterion="d", parameters=phi)
    found = design(strict, ONE_ROUND, np.random.default_rng(0), workers=1)
    assert found.margins.torque >= 0.0
    assert found.value < free.value


def test_designs_stay_clear_of_robot_tool_and_table() -> None:
    asked = med7()
    found = design(asked, ONE_ROUND, np.random.default_rng(1), workers=1)
    assert asked.clearance is not None
    at = found.motion.sample(np.linspace(0.0, found.motion.duration, 3001))
    nearest = asked.clearance.distances(at.q).min()
    assert nearest >= 0.8 * asked.distance
    assert found.margins.clearance == pytest.approx(nearest - asked.distance, abs=1e-3)
    assert max(worst_shares(asked, found.motion)[:2]) <= 1.0


@pytest.mark.parametrize("problem", [two_link, two_link_spline], ids=["fourier", "spline"])
def test_designs_rest_at_both_ends_and_start_where_they_must(problem) -> None:
    asked = problem()
    found = design(asked, ONE_ROUND, np.random.default_rng(0), workers=1)
    ends = found.motion.sample([0.0, found.motion.duration])
    np.testing.assert_allclose(ends.q[0], asked.start, atol=1e-9)
    np.testing.assert_allclose(ends.v, 0.0, atol=1e-9)
    np.testing.assert_allclose(ends.a, 0.0, atol=1e-8)


def test_freeing_the_start_of_a_design_makes_it_no_worse() -> None:
    asked = replace(two_link(), criterion="d")
    given = design(asked, ONE_ROUND, np.random.default_rng(0), workers=1)
    free = Searcher(replace(asked, start=None))
    way = (given.motion.coefficients - free.unknowns.middle) / free.unknowns.scales[:, None]
    x = np.linalg.lstsq(free.unknowns.directions, way.T, rcond=None)[0].T
    # The first stages' strong barriers are for random starts; this one is another search's end.
    found = free.search(x, len(free.stages) - 1)
    assert found.judgement.value > given.value
    assert not np.allclose(free.unknowns.motion(found.x).sample([0.0]).q[0], asked.start, atol=1e-3)


@pytest.mark.parametrize("problem", [two_link, two_link_spline], ids=["fourier", "spline"])
def test_the_rows_hold_the_motion_and_hardly_more(problem) -> None:
    asked = replace(problem(), acceleration=True)
    searcher = Searcher(asked)
    for seed in range(5):
        x = np.random.default_rng(seed).standard_normal(searcher.unknowns.shape)
        rows = np.abs(searcher.limits.values(x)).max()
        used = max(worst_shares(asked, searcher.unknowns.motion(x)))
        assert used <= rows <= (1.05 if asked.family.periodic else 1.25) * used


def test_rows_of_a_quintic_in_many_parts_are_tight() -> None:
    robot = two_link().robot
    searcher = Searcher(replace(two_link(), family=spline_family(robot, pieces=20, duration=4.0)))
    limits = linear_limits(searcher.unknowns, searcher.ranges)
    x = np.random.default_rng(0).standard_normal(searcher.unknowns.shape)
    used = max(worst_shares(two_link(), searcher.unknowns.motion(x))[:2])
    assert used <= np.abs(limits.values(x)).max() <= 1.1 * used


def test_pairs_are_never_apart_where_the_limits_hold_them_together() -> None:
    folded = np.array([0.0, 1.5, 0.0, -1.5, 0.0, 1.0, 0.0])
    robot = med7().robot
    near = [
        replace(j.limits, lower=q - 1e-3, upper=q + 1e-3) for j, q in zip(robot.joints, folded, strict=True)
    ]
    joints = tuple(replace(j, limits=limits) for j, limits in zip(robot.joints, near, strict=True))
    held = replace(robot, joints=joints)
    clearance = clearance_of(held, TABLE)
    distances = clearance.distances(folded[None])[0]
    close = [pair.name for pair, d in zip(clearance.pairs, distances, strict=True) if d <= 0.3]
    assert any("table" in name for name in close)
    always = problem_of(held, clearance=clearance, distance=0.3).never_apart
    assert always == tuple(name for name in close if "table" not in name)
    free = problem_of(robot, clearance=clearance_of(robot, TABLE), distance=0.3)
    assert set(free.never_apart) < set(always)
