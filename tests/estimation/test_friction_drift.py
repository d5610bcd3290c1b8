"""Drift of friction: found where it is, silent where it is not, and added to what it changes alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.estimation import friction_drift, with_drift
from steelyard.estimation.friction import FrictionDrift
from steelyard.estimation.linear import fit_weighted
from steelyard.layout import layout_of
from steelyard.problem import Problem, problem_of
from uncertainty.noisy_logs import exact_log, exact_problem, noisy, with_torque

COULOMB, OFFSET = 1, 2


def drifting(problem: Problem, deviations: np.ndarray, seed: int, seconds: float = 2.5) -> Problem:
    """The same motion with friction that changes from stretch to stretch; deviations of shape (nv, 3)."""
    at, rng = problem.samples, np.random.default_rng(seed)
    stretch = (at.time // seconds).astype(int)
    d = rng.normal(size=(stretch[-1] + 1, *deviations.shape)) * deviations
    columns = np.stack((at.v, np.sign(at.v), np.ones_like(at.v)), axis=-1)
    return with_torque(problem, at.tau + (columns * d[stretch]).sum(axis=-1))


@pytest.fixture(scope="module")
def long_problem() -> Problem:
    """A two-link arm that moves for 30 s."""
    problem, _ = exact_problem("two_link")
    layout = problem.layout
    log = exact_log(problem.robot, layout, layout.complete_nominal(), samples=3000, period=30.0)
    return problem_of(problem.robot, layout, [log])


def test_noise_alone_is_rarely_called_drift(long_problem: Problem) -> None:
    called = [
        friction_drift(noisy(long_problem, seed, memory=memory)).deviations > 0.0
        for seed in range(12)
        for memory in (0.0, 0.8)
    ]
    # 24 logs of two joints, two chances in each of 0.5 % to be wrong.
    assert sum(found.any() for found in called) <= 2


def test_drift_is_found_with_its_size_at_the_joint_that_has_it(long_problem: Problem) -> None:
    true = np.array([[0.0, 0.5, 0.0], [0.0, 0.0, 0.0]])
    sizes = []
    for seed in range(8):
        posed = drifting(noisy(long_problem, seed, memory=0.5, level=0.1), true, seed, seconds=5.0)
        found = friction_drift(posed).deviations
        sizes.append(found[0, COULOMB])
        assert found[1, COULOMB] < 0.1
    # Each from six stretches, and half of it looked for in the viscous term.
    assert 0.15 < np.median(sizes) < 1.0
    assert np.min(sizes) > 0.05


def test_an_offset_that_wanders_is_told_from_friction(long_problem: Problem) -> None:
    true = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.8]])
    found = [
        friction_drift(drifting(noisy(long_problem, seed, level=0.5), true, seed, seconds=5.0)).deviations
        for seed in range(4)
    ]
    # With little other noise a wandering offset is noise with a long memory, and counted as such.
    assert all(x[1, OFFSET] > 0.1 for x in found)
    assert np.median([x[1, COULOMB] for x in found]) < 0.1


def test_two_logs_of_a_drifting_robot_agree_as_often_as_claimed(long_problem: Problem) -> None:
    true = np.array([[0.3, 0.4, 0.0], [0.1, 0.2, 0.0]])
    rng = np.random.default_rng(7)
    at = long_problem.samples
    columns = np.stack((at.v, np.sign(at.v), np.ones_like(at.v)), axis=-1)
    within: dict[bool, list[bool]] = {True: [], False: []}
    friction = [k for k, n in enumerate(long_problem.base.names) if "viscous" in n or "coulomb" in n]
    for seed in range(8):
        estimates = []
        for day in (0, 1):
            # A level of its own for each log, and as much from stretch to stretch within it.
            posed = drifting(noisy(long_problem, 2 * seed + day, level=0.1), true, 100 * seed + day, 5.0)
            level = (columns * (rng.normal(size=true.shape) * true)).sum(axis=-1)
            posed = with_torque(posed, posed.samples.tau + level)
            estimates.append((fit_weighted(posed), friction_drift(posed)))
        for wide in within:
            (a, da), (b, db) = estimates
            one, other = (with_drift(a, da), with_drift(b, db)) if wide else (a, b)
            apart = np.abs(one.values - other.values) / np.hypot(one.deviations, other.deviations)
            within[wide] += (apart[friction] < 1.96).tolist()
    assert np.mean(within[False]) < 0.6
    assert np.mean(within[True]) > 0.8


def test_drift_widens_its_own_terms_alone_and_only_where_there_is_a_covariance() -> None:
    problem, _ = exact_problem("two_link")
    estimate = fit_weighted(noisy(problem, 1))
    assert estimate.covariance is not None
    columns = problem.layout.drive_columns[:, :3]
    deviations = np.array([[0.1, 0.2, 0.3], [0.0, 0.4, 0.0]])
    wide = with_drift(estimate, FrictionDrift(deviations, columns))
    grown = dict(zip(problem.base.names, wide.deviations**2 - estimate.deviations**2, strict=True))
    for joint, row in zip(problem.robot.joint_names, deviations, strict=True):
        for term, d in zip(("viscous", "coulomb", "offset"), row, strict=True):
            assert grown.pop(f"{joint}.{term}") == pytest.approx(d**2, abs=1e-12)
    assert max(map(abs, grown.values())) < 1e-12
    assert wide.detail["friction_drift"] == deviations.tolist()
    assert wide.drift is not None
    np.testing.assert_allclose(wide.covariance - wide.drift, estimate.covariance, atol=1e-12)
    (told,) = [finding for finding in wide.findings if finding.code == "friction-drift"]
    assert all(joint in told.message for joint in problem.robot.joint_names)
    bare = replace(estimate, covariance=None)
    assert with_drift(bare, FrictionDrift(deviations, columns)) is bare


def test_short_logs_and_layouts_without_friction_or_with_load_claim_no_drift() -> None:
    problem, _ = exact_problem("two_link")
    log = exact_log(problem.robot, problem.layout, problem.layout.complete_nominal(), period=5.0)
    assert not friction_drift(noisy(problem_of(problem.robot, problem.layout, [log]), 1)).deviations.any()
    bare = layout_of(problem.robot, ())
    long = exact_log(problem.robot, bare, bare.complete_nominal(), samples=1000, period=30.0)
    assert not friction_drift(noisy(problem_of(problem.robot, bare, [long]), 1)).deviations.any()
    loaded = layout_of(problem.robot, ("viscous", "coulomb", "load"))
    assert not friction_drift(problem_of(problem.robot, loaded, [long])).deviations.any()
