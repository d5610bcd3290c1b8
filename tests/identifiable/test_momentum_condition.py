"""Appendix D of Zhang et al. (2025): a payload seen in torques is seen in momentum windows too.

A short version of bench/studies/momentum_condition.py.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from identifiable.window_conditions import (
    PayloadRows,
    condition,
    correlations,
    payload_rows,
    slow_motion,
    wild_motion,
)
from steelyard.zoo import zoo_robot

MOTIONS = 6
WINDOWS = (1, 10, 100)
FAMILIES = {"slow": slow_motion, "wild": wild_motion}


@cache
def rows(family: str, seed: int = 0) -> PayloadRows:
    robot = zoo_robot("kinova_gen3")
    return payload_rows(robot, FAMILIES[family](robot, np.random.default_rng([7, seed])))


@cache
def conditions(family: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    every = [rows(family, seed) for seed in range(MOTIONS)]
    torque = np.array([each.in_torques() for each in every])
    euler = np.array([[each.in_windows(h) for h in WINDOWS] for each in every])
    exact = np.array([[each.in_windows(h, "trapezoid") for h in WINDOWS] for each in every])
    return torque, euler, exact


@pytest.mark.parametrize("family", FAMILIES)
def test_momentum_over_a_window_is_the_mean_of_the_torque_columns_over_it(family: str) -> None:
    each, h = rows(family), 50
    C = 0.5 * (each.rate[:-1] + each.rate[1:])
    change = np.diff(each.momentum[::h], axis=0) - each.step * C.reshape(-1, h, *C.shape[1:]).sum(axis=1)
    W = 0.5 * (each.torque[:-1] + each.torque[1:])
    mean = each.step * W.reshape(-1, h, *W.shape[1:]).sum(axis=1)
    assert np.abs(change - mean).max() < 1e-3 * np.abs(mean).max()
    # The same numbers by another road: no cumulative sum, no edges taken from it.
    assert each.in_windows(h, "trapezoid") == pytest.approx(condition(change), rel=1e-9)


def test_short_windows_see_what_torques_see() -> None:
    for family in FAMILIES:
        torque, euler, _ = conditions(family)
        assert (correlations(torque, euler)[:2] > 0.999).all()
        assert euler[:, 0] == pytest.approx(torque, rel=0.01)


def test_the_faster_the_motion_the_less_long_windows_agree_with_torques() -> None:
    at_100 = {family: correlations(*conditions(family)[:2])[-1] for family in FAMILIES}
    assert at_100["slow"] > 0.999
    assert at_100["wild"] < 0.95


def test_it_is_the_window_and_not_the_integration_that_costs_the_agreement() -> None:
    torque, euler, exact = conditions("wild")
    assert correlations(torque, exact) == pytest.approx(correlations(torque, euler), abs=5e-3)
    assert correlations(torque, exact)[-1] < 0.95
