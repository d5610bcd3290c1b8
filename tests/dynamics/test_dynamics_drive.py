"""Drives: τ = Y φ with every choice of terms, against the formula written out here."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from oracles.agreement import assert_agree
from oracles.newton_euler import newton_euler
from oracles.random_robots import random_robot, random_states
from steelyard.dynamics import inverse_dynamics, torque_regressor
from steelyard.layout import layout_of

TERMS = ("viscous", "coulomb", "offset", "rotor")
CHOICES = [chosen for count in range(5) for chosen in combinations(TERMS, count)]


@pytest.mark.parametrize("chosen", CHOICES, ids="+".join)
def test_drive_torque_is_friction_offset_and_rotor(chosen: tuple[str, ...]) -> None:
    rng = np.random.default_rng(len(chosen))
    robot = random_robot(rng, bodies=5)
    layout = layout_of(robot, chosen)
    phi = rng.standard_normal(layout.size)
    q, v, a = random_states(rng, robot, 3)
    v[1] = 0.0
    v[2, ::2] = -0.0
    value = {
        (joint, term): phi[layout.index(f"{joint}.{term}")] for joint in layout.joints for term in chosen
    }
    tau = inverse_dynamics(robot, layout, phi, q, v, a)
    Y = torque_regressor(robot, layout, q, v, a)
    for n in range(3):
        expected = newton_euler(robot, phi[:50].reshape(5, 10), q[n], v[n], a[n])
        for j, joint in enumerate(robot.joint_names):
            sign = 0.0 if v[n, j] == 0 else np.copysign(1.0, v[n, j])
            moves = {"viscous": v[n, j], "coulomb": sign, "offset": 1.0, "rotor": a[n, j]}
            expected[j] += sum(value[joint, term] * moves[term] for term in chosen)
        assert_agree(tau[n], expected)
        assert_agree(Y[n] @ phi, expected)


def test_at_rest_coulomb_friction_is_silent() -> None:
    robot = random_robot(np.random.default_rng(1), bodies=4)
    layout = layout_of(robot, ["coulomb"])
    Y = torque_regressor(robot, layout, np.ones(4), np.array([0.0, -0.0, 5e-324, -5e-324]), np.ones(4))[0]
    columns = [layout.index(f"{joint}.coulomb") for joint in robot.joint_names]
    np.testing.assert_array_equal(Y[:, columns], np.diag([0.0, 0.0, 1.0, -1.0]))


def test_a_drive_acts_on_its_own_joint_only() -> None:
    rng = np.random.default_rng(2)
    robot = random_robot(rng, bodies=6)
    layout = layout_of(robot, TERMS)
    Y = torque_regressor(robot, layout, *random_states(rng, robot, 2))
    for j, joint in enumerate(robot.joint_names):
        others = np.delete(Y[:, :, layout.of_joint(joint)], j, axis=1)
        assert not others.any()
        assert Y[:, j, layout.of_joint(joint)].all()
