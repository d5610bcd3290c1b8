"""A mistake in a description or a log is named with its cause and size, and none where there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from steelyard.estimation import Diagnosis, diagnose
from steelyard.finding import Severity
from steelyard.layout import Layout, layout_of
from steelyard.pose import Pose
from steelyard.problem import problem_of
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.zoo import zoo_robot
from uncertainty.noisy_logs import coloured, exact_log

TERMS = ("viscous", "coulomb", "offset", "rotor")
Spoil = Callable[[Robot, Recording], tuple[Robot, Recording]]


@cache
def right(name: str = "panda", level: float = 0.01) -> tuple[Robot, Layout, Recording]:
    """A log whose torques have coloured noise in shares of each joint's torque."""
    robot = zoo_robot(name)
    layout = layout_of(robot, TERMS)
    phi = layout.complete_nominal()
    for joint in layout.joints:
        for term, value in zip(TERMS, (0.5, 0.5, 0.1, 0.05), strict=True):
            phi[layout.index(f"{joint}.{term}")] = value
    log = exact_log(robot, layout, phi, samples=700)
    tau = log.channels["tau"]
    noise = coloured(np.random.default_rng(0), log.n, level * tau.std(axis=0), 0.5)
    return robot, layout, log.with_channels(tau=tau + noise)


def told(spoil: Spoil, name: str = "panda") -> Diagnosis:
    robot, _, log = right(name)
    robot, log = spoil(robot, log)
    return diagnose(problem_of(robot, layout_of(robot, TERMS), [log]))


def times(channels: str, k: int, factor: float) -> Spoil:
    """The log with channels of joint k, counted from 1, multiplied."""

    def spoil(robot: Robot, log: Recording) -> tuple[Robot, Recording]:
        factors = np.where(np.arange(robot.nv) == k - 1, factor, 1.0)
        return robot, log.with_channels(**{c: log.channels[c] * factors for c in channels.split()})

    return spoil


def reordered(channels: str, j: int, k: int) -> Spoil:
    def spoil(robot: Robot, log: Recording) -> tuple[Robot, Recording]:
        order = np.arange(robot.nv)
        order[[j - 1, k - 1]] = k - 1, j - 1
        return robot, log.with_channels(**{c: log.channels[c][:, order] for c in channels.split()})

    return spoil


def placed(k: int, pose: Pose) -> Spoil:
    """The description with joint k, counted from 1, moved in its own frame."""

    def spoil(robot: Robot, log: Recording) -> tuple[Robot, Recording]:
        joints = list(robot.joints)
        joints[k - 1] = replace(joints[k - 1], placement=joints[k - 1].placement @ pose)
        return replace(robot, joints=tuple(joints)), log

    return spoil


def zero(k: int, offset: float) -> Spoil:
    def spoil(robot: Robot, log: Recording) -> tuple[Robot, Recording]:
        return robot, log.with_channels(q=log.channels["q"] + offset * (np.arange(robot.nv) == k - 1))

    return spoil


def tilted_base(robot: Robot, log: Recording) -> tuple[Robot, Recording]:
    return robot.with_gravity(Pose.from_rpy((0.0, 0.1, 0.05)).rotation @ robot.gravity), log


def in_degrees(robot: Robot, log: Recording) -> tuple[Robot, Recording]:
    return robot, log.with_channels(**{c: np.rad2deg(log.channels[c]) for c in "qva"})


MISTAKES: dict[str, tuple[Spoil, str, str, str]] = {
    "sign": (times("tau", 4, -1.0), "torque-sign", "panda_joint4", "--torque-sign panda_joint4=-1"),
    "direction": (times("q v a tau", 5, -1.0), "joint-direction", "panda_joint5", "turns the other way"),
    "positions": (times("q v a", 2, -1.0), "joint-direction", "panda_joint2", "its torques do not"),
    "torques": (reordered("tau", 4, 5), "joint-order", "panda_joint4, panda_joint5", "torques of"),
    "columns": (
        reordered("q v a tau", 2, 4),
        "joint-order",
        "panda_joint2, panda_joint4",
        "are exchanged in the log",
    ),
    "degrees": (in_degrees, "degrees-suspected", "q", "in degrees"),
    "scale": (times("tau", 2, 1.3), "torque-scale", "panda_joint2", "is 1.3 times"),
    "gear": (times("q v a", 4, 1.2), "gear-ratio", "panda_joint4", "moves 0.83"),
    "zero": (zero(2, 0.1), "joint-zero", "panda_joint2", "-0.1 rad"),
    "gravity": (tilted_base, "gravity-direction", "gravity", "--gravity 0,0,-9.81"),
    "tilt": (
        placed(3, Pose.from_rpy((0.0, np.deg2rad(5.0), 0.0))),
        "kinematics-suspected",
        "panda_joint3",
        "tilted by",
    ),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_a_mistake_is_named_with_its_cause_its_size_and_a_remedy(what: str) -> None:
    spoil, code, place, words = MISTAKES[what]
    found = told(spoil)
    (finding,) = found.findings
    assert (finding.code, finding.place, finding.severity) == (code, place, Severity.ERROR)
    assert words in finding.message
    assert found.repaired < 0.5 * found.left


@pytest.mark.parametrize("name", ["two_link", "scara", "ur10e", "lbr_med7"])
@pytest.mark.parametrize("level", [0.01, 0.2])
def test_a_right_log_raises_no_alarm(name: str, level: float) -> None:
    robot, layout, log = right(name, level)
    found = diagnose(problem_of(robot, layout, [log]))
    assert found.findings == ()
    assert found.repaired == found.left


def test_a_base_that_is_tilted_is_told_with_its_angle() -> None:
    robot, layout, _ = right()
    tilted, _ = tilted_base(robot, right()[2])
    log = exact_log(tilted, layout, layout.complete_nominal(), samples=700)
    (finding,) = diagnose(problem_of(robot, layout, [log])).findings
    assert finding.code == "gravity-direction"
    assert "tilted by 5.7 degrees" in finding.message  # the arc cosine of cos 0.1 cos 0 along z


def test_a_longer_link_that_the_parameters_absorb_is_not_named_as_anything() -> None:
    def longer(robot: Robot, log: Recording) -> tuple[Robot, Recording]:
        pose = robot.joints[3].placement
        joints = list(robot.joints)
        joints[3] = replace(joints[3], placement=Pose(pose.rotation, 1.05 * pose.translation))
        return replace(robot, joints=tuple(joints)), log

    assert told(longer).findings == ()


def test_all_signs_turned_are_told_although_any_numbers_explain_them() -> None:
    robot, layout, log = right("ur10e")
    turned = log.with_channels(tau=-log.channels["tau"])
    (finding,) = diagnose(problem_of(robot, layout, [turned])).findings
    assert (finding.code, finding.place) == ("torque-sign", "tau")
    assert "--torque-sign -" in finding.message


def test_friction_that_the_model_lacks_is_no_mistake_of_the_description() -> None:
    robot, layout, log = right()
    v, tau = log.channels["v"], log.channels["tau"]
    lacking = 0.2 * tau.std(axis=0) * np.sign(v) * np.exp(-np.abs(v) / 0.2)
    assert diagnose(problem_of(robot, layout, [log.with_channels(tau=tau + lacking)])).findings == ()
