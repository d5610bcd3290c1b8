"""Exact identifiability of known robots: what floating point answers, what the regressor's columns say."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.random_robots import random_states
from steelyard.dynamics import torque_regressor
from steelyard.identifiable import Class, structural_identifiability
from steelyard.identifiable.exact.identifiability import exact_identifiability
from steelyard.layout import layout_of
from steelyard.robot import JointKind, Robot
from steelyard.zoo import ZOO, zoo_robot

DRIVE = ("rotor", "offset", "viscous", "coulomb", "asymmetric")


def variant(name: str, base: str) -> Robot:
    robot = zoo_robot(name)
    if base == "floating":
        return robot if robot.joints[0].kind is JointKind.FLOATING else robot.floating()
    return robot.with_gravity(np.zeros(3)) if base == "no gravity" else robot


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("drive", [(), DRIVE])
@pytest.mark.parametrize("base", ["fixed", "floating", "no gravity"])
@pytest.mark.parametrize("name", ZOO)
def test_exact_and_floating_point_arithmetic_agree(
    name: str, base: str, drive: tuple[str, ...], static: bool
) -> None:
    robot = variant(name, base)
    layout = layout_of(robot, drive)
    exact = exact_identifiability(robot, layout, static=static)
    floating = structural_identifiability(robot, layout, static=static)
    assert exact.count == floating.count
    assert exact.classes == floating.classes
    assert exact.pivots.tolist() == floating.pivots.tolist()
    for one, other in zip(exact.bodies, floating.bodies, strict=True):
        assert vars(one) == vars(other)


@pytest.mark.parametrize("base", ["fixed", "floating", "no gravity"])
@pytest.mark.parametrize("name", ["puma560", "scara", "cheetah3", "panda"])
def test_base_parameters_explain_every_torque_and_none_can_be_spared(name: str, base: str) -> None:
    robot = variant(name, base)
    layout = layout_of(robot, DRIVE)
    answer = exact_identifiability(robot, layout)
    states = random_states(np.random.default_rng(3), robot, 120)
    W = torque_regressor(robot, layout, *states).reshape(-1, layout.size)
    W1 = W[:, answer.pivots]
    np.testing.assert_allclose(W1 @ answer.matrix, W, atol=1e-12 * np.abs(W).max())
    assert np.linalg.svd(W1 / np.linalg.norm(W1, axis=0), compute_uv=False)[-1] > 1e-4


def test_a_single_joint_shows_its_moment_and_two_first_moments() -> None:
    robot = zoo_robot("one_link")
    answer = exact_identifiability(robot, layout_of(robot))
    assert answer.count == 3
    assert sum(kind is Class.ALONE for kind in answer.classes) == 3
    assert all(row == {name: 1} for name, row in answer.groupings.items())
