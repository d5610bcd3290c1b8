"""A leg identified on a bench does not predict running (Wensing et al. 2024, section 9.3, Table 6)."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.gallop import LEG, gallop, layout_with_spin, leg_with_rotors, record, table_6
from oracles.numerical_identifiability import numbers, stacked_regressor
from steelyard.identifiable import restricted, structural_identifiability

EXACT = 1e-6


@pytest.mark.parametrize(("floating", "count"), [(False, 18), (True, 10 + 24)])
def test_the_motion_shows_all_that_can_be_shown(floating: bool, count: int) -> None:
    robot = leg_with_rotors(floating=floating)
    assert restricted(structural_identifiability(robot, layout_with_spin(robot))).count == count
    W = record(robot, np.linspace(0.0, 4.0, 200)).W
    W = W.reshape(-1, W.shape[-1])
    assert numbers(W, range(W.shape[1])).rank == count


def test_the_gallop_is_a_motion() -> None:
    h, t = 1e-5, np.array([0.3, 1.7])
    (before, v, _), (after, later, _) = gallop(t - h), gallop(t + h)
    _, _, a = gallop(t)
    np.testing.assert_allclose((later - v) / (2 * h), a, atol=1e-4 * np.abs(a).max())
    np.testing.assert_allclose((after - before)[:, 7:] / (2 * h), gallop(t)[1][:, 6:], atol=1e-5)


def test_running_identifies_the_leg_for_bench_and_run() -> None:
    errors = table_6().errors
    assert errors["floating", "fixed"].max() < EXACT
    assert errors["floating", "floating"].max() < EXACT


def test_the_bench_identifies_the_leg_for_the_bench_alone() -> None:
    errors = table_6().errors
    assert errors["fixed", "fixed"].max() < EXACT
    wrong = errors["fixed", "floating"]
    assert wrong[:6].min() > 0.01, "forces and torques on the torso"
    abad, hip, knee = wrong[6:]
    assert min(abad, hip) > 0.01
    assert knee < EXACT


@pytest.mark.parametrize("seed", range(3))
def test_what_the_bench_hides_no_motion_of_the_torso_shows_at_the_knee(seed: int) -> None:
    fixed, free = leg_with_rotors(floating=False), leg_with_rotors(floating=True)
    layout = layout_with_spin(free)
    hidden = structural_identifiability(fixed, layout_with_spin(fixed)).nullspace
    hidden = hidden / np.abs(hidden).max(axis=0)
    W = stacked_regressor(free, layout, np.random.default_rng(seed), samples=30)
    torques = (W[:, 10:] @ hidden).reshape(30, free.nv, -1)
    felt = dict(zip(LEG, np.abs(torques[:, 6:]).max(axis=(0, 2)), strict=True))
    assert felt["knee"] < 1e-9 * np.abs(W).max()
    assert min(felt["abad"], felt["hip"]) > 1e-3
