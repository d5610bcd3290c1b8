"""Rounded angles: read as meant a description has the known count, read to the letter it need not."""

from __future__ import annotations

import numpy as np
import pytest

from shared_material import DATA, ROBOTS, needs_shared
from steelyard.identifiable import Identifiability, structural_identifiability
from steelyard.layout import layout_of
from steelyard.pose import Pose
from steelyard.robot import Robot, load_robot
from steelyard.zoo import zoo_robot

ALL = ["viscous", "coulomb", "offset", "rotor"]
XMATE = DATA / "xmate7p" / "XM7p.urdf"


def ask(robot: Robot, drive: list[str]) -> Identifiability:
    return structural_identifiability(robot, layout_of(robot, drive))


# 69 is 43 rigid, the armatures of joints 3 to 7, and viscous, Coulomb and offset of seven joints. A rounded
# quarter turn lets the second armature show with a coefficient of 4e-6.
@needs_shared
@pytest.mark.parametrize(("drive", "meant", "literal"), [([], 43, 43), (["rotor"], 48, 49), (ALL, 69, 70)])
def test_the_xmate_as_meant_and_to_the_letter(drive: list[str], meant: int, literal: int) -> None:
    snapped, raw = (ask(load_robot(XMATE, snap=snap), drive) for snap in (True, False))
    assert (snapped.count, raw.count) == (meant, literal)
    assert (snapped.doubtful, raw.doubtful) == (False, True)


@needs_shared
def test_rounding_spoils_classes_even_where_the_count_survives() -> None:
    snapped, raw = (ask(load_robot(XMATE, snap=snap), []) for snap in (True, False))
    alone = [sum(kind == "alone" for kind in found.classes) for found in (snapped, raw)]
    assert alone[1] < alone[0]


# The mechanism meant has the kinematic structure of six- and seven-joint arms with known counts.
@needs_shared
@pytest.mark.parametrize(
    ("file", "meant", "literal"),
    [
        ("puma560/puma560_robot.urdf", 36, 38),
        ("menagerie/trs_so_arm100/so_arm100.xml", 36, 38),
        ("kinova_gen3/raptor_kinova.urdf", 43, 45),
    ],
)
def test_rounded_descriptions_differ_and_are_doubtful_when_read_to_the_letter(
    file: str, meant: int, literal: int
) -> None:
    snapped, raw = (ask(load_robot(ROBOTS / file, snap=snap), []) for snap in (True, False))
    assert (snapped.count, snapped.doubtful) == (meant, False)
    assert (raw.count, raw.doubtful) == (literal, True)


@pytest.mark.parametrize("name", ["so101", "panda", "puma560"])
@pytest.mark.parametrize("off", [3.7e-6, 1e-7, 1e-9])
def test_an_axis_that_is_nearly_parallel_leaves_a_doubt(name: str, off: float) -> None:
    robot = zoo_robot(name)
    assert not ask(robot, []).doubtful
    bent = Robot(
        name,
        robot.base,
        tuple(
            joint.__class__(
                joint.name,
                joint.kind,
                joint.parent,
                joint.placement @ Pose.from_rpy((off, off, 0.0)),
                joint.axis,
            )
            for joint in robot.joints
        ),
        robot.links,
        robot.gravity,
    )
    found = ask(bent, [])
    assert found.doubtful
    assert found.kept < 1e-5 or found.dropped > 1e-10


def test_round_off_in_a_placement_leaves_no_doubt() -> None:
    robot = zoo_robot("so101")
    turned = robot.mounted(Pose.from_rpy((0.0, 0.0, np.pi)))
    assert (ask(turned, []).count, ask(turned, []).doubtful) == (36, False)
