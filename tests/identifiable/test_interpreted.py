"""Python and machine code give the same bits, so an answer does not depend on which of them ran."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from steelyard.compiled import _interpreted, never_interpreted
from steelyard.dynamics import forward_kinematics, kinematics
from steelyard.identifiable import Identifiability, structural_identifiability, structure
from steelyard.layout import layout_of
from steelyard.robot import Robot, Rotor
from steelyard.zoo import zoo_robot

PUMA = zoo_robot("puma560")
ROBOTS = {
    "panda": zoo_robot("panda"),
    "slides": zoo_robot("scara"),
    "rotors": PUMA.with_rotors({joint.name: Rotor(50.0) for joint in PUMA.joints}),
    "floats": zoo_robot("cheetah3").floating(),
}


@pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)
def test_identifiability_has_the_same_bits_interpreted(robot: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = layout_of(robot, ["viscous", "offset", "rotor"])
    with never_interpreted():
        by_machine = structural_identifiability(robot, layout)
    for name in ("find_spans", "classify", "velocity_dimensions", "body_moves"):
        cheap: Any = getattr(structure, name)
        monkeypatch.setattr(structure, name, _interpreted(cheap.compiled))
    by_python = structural_identifiability(robot, layout)
    assert _plain(by_python) == _plain(by_machine)


def _plain(found: Identifiability) -> list[object]:
    """All numbers of an answer as bytes."""
    values = [getattr(found, field.name) for field in fields(found)]
    plain: list[object] = [v.tobytes() for v in values if isinstance(v, np.ndarray)]
    plain += [(c.columns.tobytes(), c.rows.tobytes()) for c in found.conditions]
    return [*plain, repr(found.bodies), found.kept, found.dropped]


def test_poses_have_the_same_bits_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = ROBOTS["panda"]
    q = np.random.default_rng(0).normal(size=(20, robot.nq))
    with never_interpreted():
        by_machine = forward_kinematics(robot, q, ["panda_link0", "panda_link3", "panda_link8"])
    cheap: Any = kinematics._frame_poses
    monkeypatch.setattr(kinematics, "_frame_poses", _interpreted(cheap.compiled))
    by_python = forward_kinematics(robot, q, ["panda_link0", "panda_link3", "panda_link8"])
    assert by_python.tobytes() == by_machine.tobytes()
