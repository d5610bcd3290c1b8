"""The motions of a sensitivity study do what Lambert (2023) says of them, within the robot's limits."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest

from oracles.pinocchio_robot import pinocchio_model
from steelyard.errors import NoSolutionError, UnknownNameError
from steelyard.payloads import Noise, SensitivityPlan, study_motions, study_sensitivity
from steelyard.zoo import zoo_robot

PANDA = zoo_robot("panda")


def tool_pose(q: np.ndarray) -> np.ndarray:
    """The tool frame in the base by Pinocchio."""
    model = pinocchio_model(PANDA, np.array([link.body.parameters for link in PANDA.links]))
    data = model.createData()
    pinocchio.forwardKinematics(model, data, q)
    return np.array(data.oMi[model.njoints - 1].homogeneous) @ PANDA.tool_frame.placement.matrix


@pytest.mark.parametrize("name", ["panda", "kinova_gen3", "scara"])
def test_sinusoids_keep_every_limit_and_the_papers_figures(name: str) -> None:
    robot = zoo_robot(name)
    for motion in study_motions(robot, ("sinusoid",), 5, np.random.default_rng(1))["sinusoid"]:
        at = motion.sample(np.linspace(0.0, motion.duration, 2001))
        assert (at.q >= robot.limit_array("lower") - 1e-9).all()
        assert (at.q <= robot.limit_array("upper") + 1e-9).all()
        assert (np.abs(at.v) <= robot.limit_array("velocity") * (1.0 + 1e-9)).all()
        assert np.ptp(at.q, axis=0).max() == pytest.approx(0.6, abs=1e-3)


def test_on_the_papers_arm_all_joints_swing_at_random_frequencies() -> None:
    drawn = study_motions(PANDA, ("sinusoid",), 40, np.random.default_rng(2))["sinusoid"]
    frequencies = np.array([motion.frequency for motion in drawn])
    assert frequencies.min() >= 1.0
    assert frequencies.max() <= 5.0
    # 280 uniform numbers from 1 to 5: their mean is 3 ± 0.07.
    assert abs(frequencies.mean() - 3.0) < 0.3
    assert all((motion.amplitude == 0.3).all() for motion in drawn)


def test_pick_and_place_goes_at_rest_from_a_box_in_front_to_one_behind() -> None:
    lower, upper = PANDA.limit_array("lower"), PANDA.limit_array("upper")
    for motion in study_motions(PANDA, ("pick-and-place",), 5, np.random.default_rng(4))["pick-and-place"]:
        at = motion.sample(np.linspace(0.0, motion.duration, 801))
        assert ((at.q >= lower - 1e-9) & (at.q <= upper + 1e-9)).all()
        assert (np.abs(at.v) <= 0.5 * PANDA.limit_array("velocity") + 1e-9).all()
        assert np.abs(at.v[[0, -1]]).max() < 1e-9
        for q, side in ((at.q[0], 1.0), (at.q[-1], -1.0)):
            pose = tool_pose(q)
            off = pose[:3, 3] * (side, 1.0, 1.0) - (0.5, 0.0, 0.35)
            assert (np.abs(off) <= np.array([0.15, 0.3, 0.15]) + 1e-3).all()
            assert pose[2, 2] < -1.0 + 1e-6


def test_kinds_do_not_depend_on_each_other() -> None:
    alone = study_motions(PANDA, ("pick-and-place",), 1, np.random.default_rng(5))
    both = study_motions(PANDA, ("sinusoid", "pick-and-place"), 1, np.random.default_rng(5))
    assert alone["pick-and-place"][0].digest == both["pick-and-place"][0].digest
    other = study_motions(PANDA, ("pick-and-place",), 1, np.random.default_rng(6))
    assert other["pick-and-place"][0].digest != alone["pick-and-place"][0].digest


def test_an_arm_that_reaches_no_box_is_told_so() -> None:
    with pytest.raises(NoSolutionError, match="does not reach the box"):
        study_motions(zoo_robot("two_link"), ("pick-and-place",), 1, np.random.default_rng(0))
    with pytest.raises(UnknownNameError, match="sinusoid, pick-and-place, excitation"):
        study_motions(PANDA, ("waltz",), 1, np.random.default_rng(0))


def test_a_motion_designed_for_payloads_is_better_conditioned_than_every_sinusoid() -> None:
    sinusoids = study_motions(PANDA, ("sinusoid",), 10, np.random.default_rng(8))
    motions = sinusoids | study_motions(PANDA, ("excitation",), 1, np.random.default_rng(7))
    plan = SensitivityPlan(PANDA, motions, noises=(Noise(torque=0.01),), filters=("none",), trials=1)
    waved, designed = study_sensitivity(plan, np.random.default_rng(0)).spreads
    assert designed.conditions.max() < 0.5 * waved.conditions.min()
