"""Torque signs and gravity directions that are wrong are found, and none that are right."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from shared_material import DATA
from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.estimation.sign_checks import sign_checks
from steelyard.layout import Layout, layout_of
from steelyard.problem import Problem, problem_of
from steelyard.problem.problem import problem_of_blocks
from steelyard.recording import Recording, read
from steelyard.robot import Robot, load_robot
from steelyard.signals import Preparation, prepared
from steelyard.zoo import zoo_robot
from uncertainty.noisy_logs import coloured, exact_log

TERMS = ("viscous", "coulomb", "offset", "rotor")


@cache
def noisy_log(name: str, level: float = 0.03, seed: int = 0) -> tuple[Robot, Layout, Recording]:
    """A log whose torques have coloured noise in shares of each joint's torque."""
    robot = zoo_robot(name)
    layout = layout_of(robot, TERMS)
    phi = layout.complete_nominal()
    for joint in layout.joints:
        for term, value in zip(TERMS, (0.5, 0.5, 0.1, 0.05), strict=True):
            phi[layout.index(f"{joint}.{term}")] = value
    log = exact_log(robot, layout, phi, samples=2000, seed=seed + 1)
    tau = log.channels["tau"]
    noise = coloured(np.random.default_rng(seed), log.n, level * tau.std(axis=0), 0.5)
    return robot, layout, log.with_channels(tau=tau + noise)


def read_as(name: str, signs: Array | float = 1.0, gravity: Array | None = None) -> Problem:
    """The log with torques turned, of a robot with another gravity stated."""
    robot, layout, log = noisy_log(name)
    turned = log.with_channels(tau=log.channels["tau"] * signs)
    return problem_of(robot if gravity is None else robot.with_gravity(gravity), layout, [turned])


@pytest.mark.parametrize("name", ["one_link", "two_link", "scara", "puma560", "ur10e", "panda"])
@pytest.mark.parametrize("level", [0.0, 0.03, 0.3])
def test_a_log_that_is_right_raises_no_alarm(name: str, level: float) -> None:
    for seed in range(2):
        robot, layout, log = noisy_log(name, level, seed)
        assert sign_checks(problem_of(robot, layout, [log])).findings == ()


@pytest.mark.parametrize("name", ["two_link", "puma560", "ur10e", "panda"])
def test_every_joint_whose_sign_is_turned_is_named(name: str) -> None:
    robot = zoo_robot(name)
    for k, joint in enumerate(robot.joint_names):
        signs = np.ones(robot.nv)
        signs[k] = -1.0
        found = sign_checks(read_as(name, signs)).findings
        assert [(f.code, f.place) for f in found] == [("torque-sign", joint)]
        assert "falls from" in found[0].message


@pytest.mark.parametrize("name", ["one_link", "two_link", "puma560", "ur10e"])
def test_all_signs_turned_at_once_are_told_by_links_that_can_exist(name: str) -> None:
    (found,) = sign_checks(read_as(name, -1.0)).findings
    assert found.code == "torque-sign"
    assert found.place == ("tau" if zoo_robot(name).nv > 1 else zoo_robot(name).joint_names[0])


def test_two_joints_are_found_one_after_the_other() -> None:
    found = sign_checks(read_as("puma560", np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0]))).findings
    joints = zoo_robot("puma560").joint_names
    assert [f.place for f in found] == [joints[1], joints[4]]


@pytest.mark.parametrize("name", ["two_link", "ur10e"])
@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (0, -1, 0), (0, 0, 0)])
def test_every_wrong_gravity_is_found_with_the_right_one(name: str, axis: tuple[int, int, int]) -> None:
    (found,) = sign_checks(read_as(name, gravity=9.81 * np.array(axis))).findings
    assert (found.code, found.place) == ("gravity-direction", "gravity")
    assert "along -z of the base frame" in found.message


def test_torques_from_which_gravity_was_taken_off_are_found() -> None:
    robot = zoo_robot("ur10e")
    layout = layout_of(robot, TERMS)
    log = exact_log(robot.with_gravity(np.zeros(3)), layout, layout.complete_nominal(), samples=1000)
    (found,) = sign_checks(problem_of(robot, layout, [log])).findings
    assert "along no axis" in found.message


def test_load_friction_and_known_parameters_do_not_stand_in_the_way() -> None:
    robot = zoo_robot("two_link")
    layout = layout_of(robot, (*TERMS, "load"))
    phi = layout.complete_nominal()
    phi[layout.index("joint1.load")] = 0.1
    layout = layout.fixing({"link1.m": phi[0]})
    log = exact_log(robot, layout, phi)
    assert sign_checks(problem_of(robot, layout, [log], prior=phi)).findings == ()
    turned = log.with_channels(tau=log.channels["tau"] * np.array([1.0, -1.0]))
    assert [f.place for f in sign_checks(problem_of(robot, layout, [turned])).findings] == ["joint2"]


def test_the_samples_are_needed() -> None:
    robot, layout, log = noisy_log("two_link")
    at = log.channels
    posed = problem_of_blocks(robot, layout, [(at["q"], at["v"], at["a"], at["tau"])])
    with pytest.raises(InputError, match="not kept"):
        sign_checks(posed)


REAL = {
    "ur10e/ur-20_02_10-30sec_12harm.csv": ("ur10e/ur10e.urdf", (14.87, 13.26, 11.13, 10.62, 11.03, 11.47)),
    "ur10_panda_unisa/ur10_exciting_trajectory.csv": ("ur10_panda_unisa/ur10_robot.urdf", None),
    "xmate7p/traj1.csv": ("xmate7p/XM7p.urdf", None),
    "kuka_lwr4/measurements_1.csv": ("kuka_lwr4/kuka_lwr4.urdf", None),
    "panda_gaz/trajectory_1.csv": ("panda", None),
}


@pytest.mark.parametrize("name", REAL)
def test_real_logs_raise_no_alarm_and_show_a_turned_second_joint(name: str) -> None:
    if not (DATA / name).exists():
        pytest.skip(f"{name} is not beside the repository")
    description, constants = REAL[name]
    robot = load_robot(DATA / description) if Path(description).suffix else zoo_robot(description)
    how = Preparation(torque_constant=None if constants is None else np.array(constants))
    joints = [joint.name for joint in robot.joints if joint.nv]
    log = prepared(read(DATA / name, joints=joints, lenient=True).recording, how).recording
    layout = layout_of(robot, TERMS)
    assert sign_checks(problem_of(robot, layout, [log])).findings == ()
    signs = np.ones(robot.nv)
    signs[1] = -1.0
    turned = log.with_channels(tau=log.channels["tau"] * signs)
    assert [f.place for f in sign_checks(problem_of(robot, layout, [turned])).findings] == [joints[1]]
