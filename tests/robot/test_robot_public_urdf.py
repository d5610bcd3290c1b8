"""Public robot descriptions, read by us and by Pinocchio, are the same robot."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from oracles.agreement import assert_agree
from oracles.newton_euler import world_poses
from oracles.pinocchio_robot import PinocchioRobot
from shared_material import ROBOTS, needs_shared, robot_files
from steelyard.dynamics import inverse_dynamics, torque_regressor
from steelyard.layout import layout_of
from steelyard.robot import Robot, load_robot

FILES = robot_files(".urdf")
pytestmark = needs_shared
each_file = pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(ROBOTS)) for path in FILES])


def _states(robot: Robot, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-3, 3, (3, 4, robot.nv))


@each_file
def test_its_regressor_is_pinocchios(path: Path) -> None:
    robot = load_robot(path).untied
    judge = PinocchioRobot.from_urdf(robot, path)
    q, v, a = _states(robot)
    Y = torque_regressor(robot, layout_of(robot), q, v, a)
    for n in range(len(q)):
        assert_agree(Y[n], judge.regressor(q[n], v[n], a[n]))


@each_file
def test_its_torques_are_those_of_pinocchios_model_with_mimic_joints(path: Path) -> None:
    robot = load_robot(path)
    if path.name == "gen3_2f85.urdf":
        pytest.skip("Pinocchio reads no mimic joint that stands before its leader")
    model = pin.buildModelFromUrdf(str(path), mimic=True)
    leaders = [joint.name for joint in robot.joints if joint.mimic is None]
    assert model.nv == robot.nv == len(leaders)
    if any(link.body is None for link in robot.links):
        return  # nothing weighs anything
    data, layout = model.createData(), layout_of(robot)
    ids = [model.joints[model.getJointId(name)] for name in leaders]
    order = [joint.idx_v for joint in ids]
    q, v, a = _states(robot)
    tau = inverse_dynamics(robot, layout, layout.complete_nominal(), q, v, a)
    for n in range(len(q)):
        q_n, v_n, a_n = np.empty(model.nq), np.empty(model.nv), np.empty(model.nv)
        for joint, angle in zip(ids, q[n], strict=True):
            turned = [np.cos(angle), np.sin(angle)] if joint.nq == 2 else [angle]
            q_n[joint.idx_q : joint.idx_q + joint.nq] = turned
        v_n[order], a_n[order] = v[n], a[n]
        assert_agree(tau[n], pin.rnea(model, data, q_n, v_n, a_n)[order])


@each_file
def test_its_links_weigh_what_pinocchio_and_the_file_say(path: Path) -> None:
    robot = load_robot(path)
    stated = sum(float(mass.attrib["value"]) for mass in ElementTree.parse(path).iter("mass"))
    assert robot.mass == pytest.approx(stated, rel=1e-14, abs=0)
    bodies = [np.zeros(10) if link.body is None else link.body.parameters for link in robot.links]
    assert_agree(np.array(bodies), PinocchioRobot.from_urdf(robot.untied, path).bodies())


@each_file
def test_every_link_of_the_file_is_a_frame_where_pinocchio_puts_it(path: Path) -> None:
    robot = load_robot(path).untied
    judge = PinocchioRobot.from_urdf(robot, path)
    named = [link.attrib["name"] for link in ElementTree.parse(path).getroot().findall("link")]
    assert sorted(frame.name for frame in robot.frames) == sorted(named)
    for q in _states(robot, seed=1)[0]:
        carriers = [*world_poses(robot, q), (np.eye(3), np.zeros(3))]  # index -1 is the base
        for frame in robot.frames:
            R, p = carriers[frame.link]
            expected = judge.frame(frame.name, q)
            assert_agree(R @ frame.placement.rotation, expected[:3, :3])
            assert_agree(R @ frame.placement.translation + p, expected[:3, 3], scale=1.0)


@each_file
def test_its_limits_are_those_of_the_file(path: Path) -> None:
    robot = load_robot(path)
    stated = {joint.attrib["name"]: joint for joint in ElementTree.parse(path).getroot().findall("joint")}
    for joint in robot.joints:
        limit = stated[joint.name].find("limit")
        assert stated[joint.name].attrib["type"] == joint.kind.value
        if limit is not None:
            for name in {"lower", "upper", "velocity", "effort"} & set(limit.attrib):
                if joint.kind.value != "continuous" or name in ("velocity", "effort"):
                    assert getattr(joint.limits, name) == float(limit.attrib[name])


def test_geometry_without_inertials_is_reported_per_moving_link() -> None:
    robot = load_robot(ROBOTS / "puma560" / "puma560_robot.urdf")
    assert [finding.code for finding in robot.findings].count("missing-inertial") == robot.nv == 6
    assert robot.mass == 0.0
