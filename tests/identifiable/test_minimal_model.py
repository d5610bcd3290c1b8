"""The smallest model says all that torques can: judged by the regressor of Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import random_states
from steelyard.dynamics import torque_regressor
from steelyard.errors import InputError
from steelyard.identifiable import MinimalModel, minimal_model
from steelyard.inertia import PARAMETER_NAMES
from steelyard.layout import layout_of
from steelyard.link_frames import modified_dh_frames
from steelyard.reduction import SYMMETRIC, Reduction, fixed
from steelyard.zoo import zoo_robot

HAND = "crane_x7_finger_link"


def crane() -> MinimalModel:
    """The model of Oaki et al. (2026): no products of inertia, the hand axis a rotor with friction."""
    robot = zoo_robot("crane_x7_hand")
    layout = layout_of(robot, ["viscous", "rotor"])
    rules = dict.fromkeys(robot.link_names, SYMMETRIC) | {HAND: fixed(dict.fromkeys(PARAMETER_NAMES, 0.0))}
    return minimal_model(robot, layout, Reduction(layout, modified_dh_frames(robot), rules))


def test_the_crane_with_its_hand_has_the_39_parameters_of_paper_004() -> None:
    model = crane()
    assert model.size == 39
    units = [unit.replace(" ", "·").replace("^2", "²") for unit in model.units]
    assert (units.count("kg·m²"), units.count("kg·m"), units.count("N·m·s/rad")) == (13 + 6, 12, 8)
    rotors = [name.split(".")[0] for name in model.names if ".rotor" in name]
    assert [model.robot.joint_names.index(joint) for joint in rotors] == [2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("name", ["panda", "scara", "crane_x7"])
def test_the_leading_parameters_alone_predict_the_torques_of_all(name: str) -> None:
    robot = zoo_robot(name)
    layout = layout_of(robot)
    model, rng = minimal_model(robot, layout), np.random.default_rng(1)
    judge = PinocchioRobot.of(robot)
    phi = rng.normal(size=layout.size)
    alone = model.standard(model.of_standard(phi))
    assert np.count_nonzero(alone) == np.linalg.matrix_rank(model.to_base) == model.size
    for q, v, a in zip(*random_states(rng, robot, 5), strict=True):
        Y = judge.regressor(q, v, a)
        np.testing.assert_allclose(Y @ alone, Y @ phi, atol=1e-9)


def test_base_parameters_survive_the_way_to_standard_ones_and_back() -> None:
    model, rng = crane(), np.random.default_rng(2)
    beta = rng.normal(size=model.size)
    np.testing.assert_allclose(model.of_standard(model.standard(beta)), beta, atol=1e-12)


def test_what_is_known_of_a_link_is_part_of_the_torque() -> None:
    robot = zoo_robot("two_link")
    layout = layout_of(robot)
    frames = modified_dh_frames(robot)
    known = dict(zip(PARAMETER_NAMES, (0.5, 0.1, 0, 0, 0.01, 0, 0.02, 0, 0, 0.02), strict=True))
    model = minimal_model(robot, layout, Reduction(layout, frames, {robot.link_names[-1]: fixed(known)}))
    beta, rng = np.ones(model.size), np.random.default_rng(3)
    q, v, a = random_states(rng, robot, 20)
    Y = torque_regressor(robot, layout, q, v, a).reshape(-1, layout.size)
    phi = model.standard(beta)
    assert phi[layout.of_link(robot.link_names[-1])][0] == pytest.approx(0.5)
    np.testing.assert_allclose(model.of_standard(phi), beta, atol=1e-12)
    assert np.abs(Y @ model.offset).max() > 1e-3


def test_fixed_parameters_are_to_be_stated_as_a_reduction() -> None:
    robot = zoo_robot("two_link")
    layout = layout_of(robot).fixing({layout_of(robot).names[0]: 1.0})
    with pytest.raises(InputError, match="Reduction"):
        minimal_model(robot, layout)
