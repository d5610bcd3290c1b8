"""Limits beside a description: who is meant, what counts first, and what is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from steelyard.errors import InputError
from steelyard.robot import StatedLimits, with_limits
from steelyard.zoo import zoo_robot

ROBOT = zoo_robot("two_link")


def test_nothing_stated_changes_nothing() -> None:
    assert StatedLimits().limited(ROBOT) is ROBOT


@pytest.mark.parametrize(
    ("text", "expected"),
    [("7", [7.0, 7.0]), ("7,8", [7.0, 8.0]), ("joint2=8", [None, 8.0]), ("joint2=8,joint1=7", [7.0, 8.0])],
)
@pytest.mark.parametrize("kind", ["velocity", "acceleration", "torque"])
def test_a_text_means_all_each_in_order_or_some_by_name(
    kind: str, text: str, expected: list[float | None]
) -> None:
    name = "effort" if kind == "torque" else kind
    limited = StatedLimits(**{kind: text}).limited(ROBOT)
    before = ROBOT.limit_array(name)
    assert limited.limit_array(name).tolist() == [
        b if e is None else e for e, b in zip(expected, before, strict=True)
    ]
    for other in {"lower", "upper", "velocity", "acceleration", "effort"} - {name}:
        assert limited.limit_array(other).tolist() == ROBOT.limit_array(other).tolist()


@pytest.mark.parametrize("suffix", ["toml", "json"])
def test_a_file_states_all_then_one_joint_and_an_option_counts_before_both(
    tmp_path: Path, suffix: str
) -> None:
    file = tmp_path / f"limits.{suffix}"
    if suffix == "toml":
        file.write_text("acceleration = 3\ntorque = [4, 5]\n[joint.joint2]\ntorque = 6\nposition = [-1, 1]\n")
    else:
        joint = {"joint2": {"torque": 6, "position": [-1, 1]}}
        file.write_text(json.dumps({"acceleration": 3, "torque": [4, 5], "joint": joint}))
    limited = StatedLimits(limits=str(file), acceleration="joint1=9").limited(ROBOT)
    assert limited.limit_array("acceleration").tolist() == [9.0, 3.0]
    assert limited.limit_array("effort").tolist() == [4.0, 6.0]
    assert (limited.joints[1].limits.lower, limited.joints[1].limits.upper) == (-1.0, 1.0)
    assert limited.joints[0].limits.lower == ROBOT.joints[0].limits.lower


def test_a_file_of_ros_is_read_and_what_it_switches_off_is_not(tmp_path: Path) -> None:
    file = tmp_path / "joint_limits.yaml"
    file.write_text(
        "joint_limits:\n"
        "  joint1: {has_acceleration_limits: true, max_acceleration: 3.0, max_effort: 12}\n"
        "  joint2: {has_acceleration_limits: false, max_acceleration: 0.0, max_velocity: !degrees 90,\n"
        "           has_position_limits: true, min_position: -0.5, max_position: 0.5}\n"
    )
    limited = StatedLimits(limits=str(file)).limited(ROBOT)
    first, second = (joint.limits for joint in limited.joints)
    assert (first.acceleration, first.effort) == (3.0, 12.0)
    assert second.acceleration == ROBOT.joints[1].limits.acceleration
    assert second.velocity == pytest.approx(math.pi / 2)
    assert (second.lower, second.upper) == (-0.5, 0.5)


@pytest.mark.parametrize(
    ("text", "expected"),
    [(None, [math.inf] * 2), ("7", [7.0, 7.0]), ("7,8", [7.0, 8.0]), ("joint2=8", [math.inf, 8.0])],
)
def test_a_jerk_is_stated_beside_a_robot_that_does_not_change(
    text: str | None, expected: list[float]
) -> None:
    stated = StatedLimits(jerk=text)
    assert stated.largest_jerk(ROBOT).tolist() == expected
    assert stated.limited(ROBOT) is ROBOT


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.toml", "jerk = 3\n", [9.0, 3.0]),
        ("a.toml", "jerk = [3, 4]\n[joint.joint2]\njerk = 5\n", [9.0, 5.0]),
        ("a.json", '{"joint": {"joint2": {"jerk": 6}}}', [9.0, 6.0]),
        ("a.yaml", "joint_limits: {joint2: {has_jerk_limits: true, max_jerk: 7}}", [9.0, 7.0]),
        ("a.yaml", "joint_limits: {joint2: {has_jerk_limits: false, max_jerk: 0}}", [9.0, math.inf]),
    ],
)
def test_a_file_states_jerks_and_an_option_counts_before_it(
    tmp_path: Path, name: str, content: str, expected: list[float]
) -> None:
    (tmp_path / name).write_text(content)
    stated = StatedLimits(limits=str(tmp_path / name), jerk="joint1=9")
    assert stated.largest_jerk(ROBOT).tolist() == expected
    assert stated.limited(ROBOT) is ROBOT


def test_a_joint_that_is_held_may_be_named() -> None:
    held = ROBOT.locked({"joint2": 0.1})
    assert StatedLimits(torque="joint2=3,joint1=4").limited(held).limit_array("effort").tolist() == [4.0]
    assert StatedLimits(jerk="joint2=3,joint1=4").largest_jerk(held).tolist() == [4.0]


@pytest.mark.parametrize(
    "text", ["-1", "0", "nan", "inf", "ten", "", "1,2,3", "joint1=", "joint1=-2", "joint1=1,2"]
)
def test_what_is_no_positive_number_for_a_joint_is_refused_with_the_option(text: str) -> None:
    with pytest.raises(InputError) as refused:
        StatedLimits(torque=text).limited(ROBOT)
    assert refused.value.place.startswith("--torque")
    assert refused.value.remedy
    with pytest.raises(InputError) as refused:
        StatedLimits(jerk=text).largest_jerk(ROBOT)
    assert refused.value.place.startswith("--jerk")
    assert refused.value.remedy


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"snap": 3}, "Valid: velocity, acceleration, torque, jerk, joint"),
        ({"jerk": -3}, "limits.toml: jerk: expected a positive number"),
        ({"joint": {"elbow": {"jerk": 3}}}, "Valid: joint1, joint2"),
        ({"torque": [1, 2, 3]}, "expected one number or 2, got 3"),
        ({"torque": True}, "expected a positive number"),
        ({"torque": {"joint1": 3}}, "expected a positive number"),
        ({"joint": {"elbow": {"torque": 3}}}, "Valid: joint1, joint2"),
        ({"joint": {"joint1": {"effort": 3}}}, "Valid: position, velocity, acceleration, torque, jerk"),
        (
            {"joint": {"joint1": {"torque": float("nan")}}},
            "joint 'joint1', torque: expected a positive number",
        ),
        ({"joint": {"joint1": {"position": [1, -1]}}}, "joint 'joint1', position: expected two numbers"),
        ({"joint": {"joint1": {"position": 1}}}, "expected two numbers, the smaller first"),
        ({"joint": [1]}, "must hold one table for each joint"),
    ],
)
def test_hostile_documents_are_refused_with_the_place(document: dict[str, object], said: str) -> None:
    with pytest.raises(InputError) as refused:
        with_limits(ROBOT, document, "limits.toml")
    assert said in str(refused.value)
    assert str(refused.value).startswith("limits.toml")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.toml", "acceleration = "),
        ("a.json", "{"),
        ("a.json", "[1]"),
        ("a.json", "[" * 100_000),
        ("a.yaml", "joint_limits: [1]"),
        ("a.yaml", "{"),
        ("a.yaml", "joint_limits: {joint1: {max_velocity: !!python/object:os.system x}}"),
    ],
)
def test_files_that_hold_no_limits_are_refused_by_name(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as refused:
        StatedLimits(limits=str(tmp_path / name)).limited(ROBOT)
    assert name in refused.value.place
