"""A model that is not what it should be does not count as written."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable

import numpy as np
import pytest

from export.material import full_layout, nominal_estimate
from steelyard.formats import robot_with_parameters
from steelyard.formats.mjcf import mjcf_text
from steelyard.formats.read_back import ReadBackError, check_mjcf, check_urdf
from steelyard.formats.urdf import new_urdf
from steelyard.zoo import ZOO, zoo_robot

ROBOT = zoo_robot("panda")
LAYOUT = full_layout(ROBOT)
PHI = nominal_estimate(np.random.default_rng(0), ROBOT, LAYOUT)
CARRIED = robot_with_parameters(ROBOT, LAYOUT, PHI)
URDF, MJCF = new_urdf(CARRIED), mjcf_text(CARRIED).content


@pytest.fixture
def without_pinocchio(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plain install: the import of Pinocchio fails."""
    monkeypatch.setitem(sys.modules, "pinocchio", None)


def test_a_right_model_differs_by_round_off() -> None:
    assert check_urdf(URDF, CARRIED, LAYOUT, PHI).difference < 1e-11
    assert check_mjcf(MJCF, CARRIED, LAYOUT, PHI).difference < 1e-11


def test_it_says_which_programs_judged(without_pinocchio: None) -> None:
    assert check_urdf(URDF, CARRIED, LAYOUT, PHI).judges == ("MuJoCo",)
    assert check_mjcf(MJCF, CARRIED, LAYOUT, PHI).judges == ("MuJoCo",)


def test_pinocchio_judges_beside_mujoco_where_it_is_installed() -> None:
    assert check_urdf(URDF, CARRIED, LAYOUT, PHI).judges == ("MuJoCo", "Pinocchio")


@pytest.mark.parametrize("name", ZOO)
def test_mujoco_alone_judges_the_urdf_of_every_robot_of_the_zoo(name: str, without_pinocchio: None) -> None:
    robot = zoo_robot(name)
    layout = full_layout(robot)
    phi = nominal_estimate(np.random.default_rng(1), robot, layout)
    carried = robot_with_parameters(robot, layout, phi)
    read = check_urdf(new_urdf(carried), carried, layout, phi)
    assert read.judges == ("MuJoCo",)
    assert read.difference < 1e-9


def test_a_mesh_that_is_nowhere_does_not_keep_mujoco_from_judging(without_pinocchio: None) -> None:
    shape = b'<visual><geometry><mesh filename="package://gone/link.dae"/></geometry></visual></link>'
    assert check_urdf(URDF.replace(b"</link>", shape), CARRIED, LAYOUT, PHI).judges == ("MuJoCo",)


def test_a_urdf_that_no_judge_takes_is_said_to_be_unjudged(without_pinocchio: None) -> None:
    flat = re.sub(rb'iyy="[^"]*"', b'iyy="1e3"', URDF, count=3)
    read = check_urdf(flat, CARRIED, LAYOUT, PHI)
    assert read.judges == ()
    assert [finding.code for finding in read.findings] == ["mujoco-refuses-urdf", "not-read-back"]
    assert "pip install 'steelyard[pinocchio]'" in read.findings[1].message


def _scaled(pattern: bytes) -> Callable[[bytes], bytes]:
    """Makes the last number a pattern finds one part in a million larger."""

    def change(text: bytes) -> bytes:
        match = list(re.finditer(pattern, text))[-1]
        value = repr(float(match.group(1)) * (1 + 1e-6)).encode()
        return text[: match.start(1)] + value + text[match.end(1) :]

    return change


@pytest.mark.parametrize("pattern", [rb'mass value="(.*?)"', rb'ixx="(.*?)"', rb'damping="(.*?)"'])
@pytest.mark.parametrize("judge", ["both", "MuJoCo"])
def test_a_urdf_off_by_a_millionth_is_refused(
    pattern: bytes, judge: str, request: pytest.FixtureRequest
) -> None:
    if judge == "MuJoCo":
        request.getfixturevalue("without_pinocchio")
    with pytest.raises(ReadBackError, match="URDF: "):
        check_urdf(_scaled(pattern)(URDF), CARRIED, LAYOUT, PHI)


@pytest.mark.parametrize("attribute", [b"mass", b"damping", b"frictionloss", b"armature"])
def test_an_mjcf_off_by_a_millionth_is_refused(attribute: bytes) -> None:
    with pytest.raises(ReadBackError, match="MJCF: "):
        check_mjcf(_scaled(rb"\b" + attribute + rb'="([^"]*)"')(MJCF), CARRIED, LAYOUT, PHI)


def test_a_model_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(ReadBackError, match="Pinocchio refuses it"):
        check_urdf(b"<robot/>", CARRIED, LAYOUT, PHI)
    with pytest.raises(ReadBackError, match="MuJoCo refuses it"):
        check_mjcf(b"<mujoco><nonsense/></mujoco>", CARRIED, LAYOUT, PHI)


def test_a_joint_of_another_name_is_refused() -> None:
    name = ROBOT.joint_names[2].encode()
    with pytest.raises(ReadBackError, match="has the joints"):
        check_urdf(URDF.replace(b'"' + name + b'"', b'"other"'), CARRIED, LAYOUT, PHI)
    with pytest.raises(ReadBackError, match="has the joints"):
        check_mjcf(MJCF.replace(b'"' + name + b'"', b'"other"'), CARRIED, LAYOUT, PHI)


def test_principal_axes_turned_by_next_to_nothing_are_read_in_full() -> None:
    robot = zoo_robot("crane_x7")
    layout = full_layout(robot)
    phi = nominal_estimate(np.random.default_rng(0), robot, layout)
    # The link that `steelyard demo --robot crane_x7` finds: MuJoCo takes its axes for those of its frame.
    phi[layout.of_link("crane_x7_lower_arm_revolute_part_link")] = [
        0.250000122, 4.04653550e-18, -5.28710337e-10, 1.61249907e-02,
        1.70097621e-03, 8.75898901e-19, 1.70097407e-03, -2.42015725e-18, 6.82036338e-11, 1.07176698e-04,
    ]  # fmt: skip
    carried = robot_with_parameters(robot, layout, phi)
    assert check_urdf(new_urdf(carried), carried, layout, phi).difference < 1e-11
    assert check_mjcf(mjcf_text(carried).content, carried, layout, phi).difference < 1e-11
