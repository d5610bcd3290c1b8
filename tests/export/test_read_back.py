"""A model that is not what it should be does not count as written."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from export.material import full_layout, nominal_estimate
from steelyard.export import (
    ReadBackError,
    check_mjcf,
    check_urdf,
    mjcf_text,
    new_urdf,
    robot_with_parameters,
)
from steelyard.zoo import zoo_robot

ROBOT = zoo_robot("panda")
LAYOUT = full_layout(ROBOT)
PHI = nominal_estimate(np.random.default_rng(0), ROBOT, LAYOUT)
CARRIED = robot_with_parameters(ROBOT, LAYOUT, PHI)
URDF, MJCF = new_urdf(CARRIED), mjcf_text(CARRIED).content


def test_a_right_model_differs_by_round_off() -> None:
    assert check_urdf(URDF, CARRIED, LAYOUT, PHI) < 1e-11
    assert check_mjcf(MJCF, CARRIED, LAYOUT, PHI) < 1e-11


def _scaled(pattern: bytes) -> Callable[[bytes], bytes]:
    """Makes the last number a pattern finds one part in a million larger."""

    def change(text: bytes) -> bytes:
        match = list(re.finditer(pattern, text))[-1]
        value = repr(float(match.group(1)) * (1 + 1e-6)).encode()
        return text[: match.start(1)] + value + text[match.end(1) :]

    return change


@pytest.mark.parametrize("pattern", [rb'mass value="(.*?)"', rb'ixx="(.*?)"', rb'damping="(.*?)"'])
def test_a_urdf_off_by_a_millionth_is_refused(pattern: bytes) -> None:
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
