"""The load that a controller is told: in the frame of its flange, as the description has it, with bounds."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from oracles.controller_files import READERS, agrees, ros2_control, statements
from oracles.stated_bounds import stated_bounds
from steelyard.errors import InputError, UnknownNameError
from steelyard.export import controller_files
from steelyard.export.controllers import CONVENTIONS
from steelyard.finding import Severity
from steelyard.inertia import Body
from steelyard.payloads import DecidedBy, mounted_at
from steelyard.pose import Pose
from steelyard.robot import Robot
from steelyard.robot.descriptions.load import load_robot
from steelyard.workflows.controller_load import controller_load_of, flange_findings, flange_of

ARM = """
<robot name="arm">
 <link name="base"/>
 <link name="wrist"/>
 <link name="{flange}"/>
 <link name="hand"/>
 <link name="tcp"/>
 <link name="finger"/>
 <joint name="shoulder" type="revolute"><parent link="base"/><child link="wrist"/><axis xyz="0 1 0"/>
  <limit lower="-2" upper="2" effort="10" velocity="2"/></joint>
 <joint name="mount" type="fixed"><parent link="wrist"/><child link="{flange}"/>
  <origin xyz="0.1 0.02 -0.03" rpy="0.4 1.1 -2.2"/></joint>
 <joint name="screw" type="fixed"><parent link="{flange}"/><child link="hand"/>
  <origin xyz="0.011 -0.023 0.107" rpy="-0.7 0.3 1.9"/></joint>
 <joint name="offset" type="fixed"><parent link="hand"/><child link="tcp"/>
  <origin xyz="0 0.01 0.1" rpy="0 0 0.6"/></joint>
 <joint name="slide" type="prismatic"><parent link="hand"/><child link="finger"/><axis xyz="1 0 0"/>
  <limit lower="0" upper="0.04" effort="10" velocity="1"/></joint>
</robot>
"""
INERTIA = np.array([[0.011, 0.002, -0.001], [0.002, 0.017, 0.003], [-0.001, 0.003, 0.009]])
LOAD = Body(2.3, [0.03, -0.05, 0.08], INERTIA)


def matrix(xyz: tuple[float, ...], rpy: tuple[float, ...]) -> np.ndarray:
    """A homogeneous matrix of URDF's origin, by SciPy: rotations about fixed x, y, z."""
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = Rotation.from_euler("xyz", rpy).as_matrix(), xyz
    return X


HAND = matrix((0.011, -0.023, 0.107), (-0.7, 0.3, 1.9))
TCP = matrix((0.0, 0.01, 0.1), (0.0, 0.0, 0.6))
GRASP = matrix((0.02, 0.0, 0.05), (0.2, -0.1, 0.3))


def arm(tmp_path: Path, flange: str = "tool0") -> Robot:
    file = tmp_path / "arm.urdf"
    file.write_text(ARM.format(flange=flange), encoding="utf-8")
    return load_robot(file).with_tool_frame("tcp")


def estimate(body: Body = LOAD) -> Any:
    decided = dict.fromkeys(("com_x", "I_xy", "moment_1"), DecidedBy.PRIOR) | {"mass": DecidedBy.DATA}
    return SimpleNamespace(body=body, lower=np.array([2.2]), upper=np.array([2.4]), decided=decided)


def told(robot: Robot, grasp: Pose | None = None, flange: str | None = None, bounds: Any = None) -> Any:
    held = mounted_at(robot, grasp=grasp)
    return controller_load_of(
        robot, held, estimate(), bounds, extent=0.5, flange_frame=flange, verdict="warn", sources=["a.csv"]
    )


def moved(X: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    R = X[:3, :3]
    return LOAD.mass, R @ LOAD.com + X[:3, 3], R @ LOAD.inertia @ R.T


@pytest.mark.parametrize("file", READERS)
def test_a_load_stated_at_the_tool_centre_is_told_at_the_flange(file: str, tmp_path: Path) -> None:
    robot, grasp = arm(tmp_path), Pose(GRASP[:3, :3], GRASP[:3, 3])
    read = READERS[file] if not file.startswith("ros2/") else lambda text: ros2_control(text, frame="tool0")
    for given, X in ((None, HAND @ TCP), (grasp, HAND @ TCP @ GRASP)):
        text = controller_files(told(robot, given), CONVENTIONS).files[file]
        assert agrees(read(statements(file, text)), moved(X))
        for wrong in (X @ np.linalg.inv(TCP), np.linalg.inv(X), TCP):
            assert not agrees(read(statements(file, text)), moved(wrong))


def test_any_link_that_is_fixed_to_the_load_can_be_the_frame(tmp_path: Path) -> None:
    robot = arm(tmp_path)
    for name, X in (("hand", TCP), ("tcp", np.eye(4))):
        load = told(robot, flange=name)
        assert load.frame == name
        assert agrees((load.body.mass, load.body.com, load.body.inertia), moved(X))


def test_the_flange_is_tool0_where_the_description_has_it_else_the_tool_frame_with_a_warning(
    tmp_path: Path,
) -> None:
    robot = arm(tmp_path)
    frame, why = flange_of(robot, mounted_at(robot), None)
    assert frame.name == "tool0"
    assert [f.severity for f in flange_findings(frame, why)] == [Severity.INFO]
    other = arm(tmp_path, flange="flange")
    frame, why = flange_of(other, mounted_at(other), None)
    assert frame.name == "tcp"
    (finding,) = flange_findings(frame, why)
    assert (finding.severity, finding.code) == (Severity.WARNING, "flange-frame")
    assert "--flange-frame" in finding.message
    assert flange_findings(*flange_of(other, mounted_at(other), "flange")) == ()


def test_a_frame_that_does_not_move_with_the_load_is_refused(tmp_path: Path) -> None:
    robot = arm(tmp_path)
    for name in ("finger", "base"):
        with pytest.raises(InputError, match=rf"--flange-frame: between '{name}' and .* a joint moves"):
            told(robot, flange=name)
    with pytest.raises(UnknownNameError, match=r"--flange-frame: unknown link 'tool'.*mean 'tool0'"):
        told(robot, flange="tool")
    finger = robot.locked({"slide": 0.01})
    assert told(finger, flange="finger").frame == "finger"


def test_bounds_go_to_the_same_frame_and_what_the_prior_decided_is_named(tmp_path: Path) -> None:
    ten = LOAD.parameters
    bounds = stated_bounds(
        lower=ten - 0.01,
        upper=ten + 0.01,
        assumptions=("A.", "B."),
        untested=("B.",),
        needed=None,
        prior=SimpleNamespace(upper=np.full(10, 9.0)),
    )
    load = told(arm(tmp_path), bounds=bounds)
    assert load.bounds is not None
    assert (load.bounds.com[0] < moved(HAND @ TCP)[1]).all()
    assert (load.bounds.com[1] > moved(HAND @ TCP)[1]).all()
    assert np.ptp(load.bounds.com, axis=0).max() < 0.05
    assert load.by_prior == ("centre x", "Ixy")
    assert load.gravity == pytest.approx(9.81)
    assert told(arm(tmp_path).with_gravity([0.0, 0.0, 0.0])).gravity == 9.81
