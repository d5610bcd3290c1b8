"""The ROS 2 package: what needs no ROS is tried, and what needs it is at least whole."""

from __future__ import annotations

import ast
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "ros2" / "steelyard_ros"))

from steelyard.motion import MotionDeviation, bezier, trajectory_goal
from steelyard.recording import read
from steelyard_ros.goal import Goal, GoalError
from steelyard_ros.log import JointLog

PACKAGE = Path(sys.path[0])
JOINTS = ("a", "b")
MOTION = bezier(JOINTS, 2.0, np.repeat([[0.1, -0.4], [1.2, 0.9]], 3, axis=0).T)


def written(tmp_path: Path) -> Path:
    room = MotionDeviation(*(np.full(2, np.inf) for _ in range(3)))
    path = tmp_path / "motion.goal.yaml"
    path.write_text(trajectory_goal(MOTION, room).yaml("/arm/follow"))
    return path


def test_the_player_reads_every_bit_of_a_goal(tmp_path: Path) -> None:
    goal = Goal.read(written(tmp_path))
    assert goal.joints == JOINTS
    times = np.array([p.seconds + 1e-9 * p.nanoseconds for p in goal.points]) - 3.0
    at = MOTION.sample(times)
    np.testing.assert_allclose([p.positions for p in goal.points], at.q, atol=1e-9)
    np.testing.assert_allclose([p.accelerations for p in goal.points], at.a, atol=1e-7)
    assert goal.points[0].positions == tuple(MOTION.sample([0.0]).q[0])


def test_the_player_knows_how_far_the_arm_is_from_the_start(tmp_path: Path) -> None:
    goal = Goal.read(written(tmp_path))
    assert goal.farthest({"b": -0.4, "a": 0.1, "finger": 9.0})[1] < 1e-12
    joint, off = goal.farthest({"a": 0.1, "b": 0.1})
    assert joint == "b"
    assert off == pytest.approx(0.5)
    for lacking in ({"a": 0.1}, {"a": 0.1, "b": float("nan")}):
        with pytest.raises(GoalError, match="nobody says where joint 'b' is"):
            goal.farthest(lacking)
    (there,) = goal.approach(7.25).points
    assert (there.positions, there.seconds, there.nanoseconds) == (goal.points[0].positions, 7, 250_000_000)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("trajectory:", "path:"),
        ("sec: 4, nanosec: 0}", "sec: 0, nanosec: 0}"),
        ("velocities: [", "velocities: [.nan, "),
        ("positions: [", "positions: [one, "),
        ("joint_names: [", "joint_names: 7 #"),
    ],
)
def test_what_is_no_goal_is_refused(tmp_path: Path, old: str, new: str) -> None:
    path = written(tmp_path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(GoalError, match=r"motion\.goal\.yaml"):
        Goal.read(path)


def test_steelyard_reads_the_log_that_was_recorded(tmp_path: Path) -> None:
    log = JointLog(JOINTS)
    stamp = 1_700_000_000_123_456_789 + 2_000_000 * np.arange(50)
    q, v, tau = np.random.default_rng(5).normal(size=(3, 50, 2))
    for k in range(50):
        other = [q[k, 1], 5.0, q[k, 0]]
        kept = log.add(
            int(stamp[k]), ["b", "x", "a"], other, [v[k, 1], 0, v[k, 0]], [tau[k, 1], 0, tau[k, 0]]
        )
        assert kept
    assert not log.add(int(stamp[-1]), ["b", "a"], [0, 0], [], []), "time does not increase"
    assert not log.add(int(stamp[-1]) + 9, ["b"], [0], [], []), "a joint is missing"
    assert log.passed == 2
    log.write(tmp_path / "log.csv")
    recording = read(tmp_path / "log.csv")
    assert recording.joints == JOINTS
    np.testing.assert_array_equal(np.round(recording.time * 1e9).astype(np.int64), stamp - stamp[0])
    for channel, wanted in (("q", q), ("v", v), ("tau", tau)):
        assert getattr(recording, channel).tobytes() == wanted.tobytes()
    log.add(int(stamp[-1]) + 99, ["a", "b"], [0, 0], [0, 0], [])
    log.write(tmp_path / "log.csv")
    assert read(tmp_path / "log.csv").tau is None, "one message tells no effort"
    with pytest.raises(ValueError, match="only 0 joint states came"):
        JointLog(JOINTS).write(tmp_path / "empty.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["log.csv"]


def test_the_package_is_whole() -> None:
    """The node cannot run without ROS; that its parts name each other can be seen."""
    described = ElementTree.parse(PACKAGE / "package.xml").getroot()
    needed = {element.text for element in described.findall("exec_depend")}
    trees = {file.name: ast.parse(file.read_text()) for file in PACKAGE.rglob("*.py")}
    imported = {
        (node.module or "").partition(".")[0]
        for name in ("play.py", "play.launch.py")
        for node in ast.walk(trees[name])
        if isinstance(node, ast.ImportFrom)
    }
    ros = imported - {"__future__", "pathlib", "steelyard_ros"}
    assert ros <= needed
    functions = {node.name for node in trees["play.py"].body if isinstance(node, ast.FunctionDef)}
    assert "play = steelyard_ros.play:main" in (PACKAGE / "setup.py").read_text()
    assert "main" in functions
    launched = (PACKAGE / "launch" / "play.launch.py").read_text()
    texts = {node.value for node in ast.walk(trees["play.py"]) if isinstance(node, ast.Constant)}
    assert {"goal", "out", "action", "topic", "tolerance", "approach"} <= texts
    assert all(
        f'("{name}"' in launched for name in ("goal", "out", "action", "topic", "tolerance", "approach")
    )
