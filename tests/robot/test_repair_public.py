"""Public descriptions, repaired: both simulators load them; numbers without a finding stay as they are."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import mujoco
import numpy as np
import pinocchio
import pytest

from shared_material import ROBOTS, needs_shared, robot_files
from steelyard.robot import repair_file

SHAPES = ("visual", "collision")
FILES = robot_files(".urdf")
pytestmark = needs_shared
each_file = pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(ROBOTS)) for path in FILES])


@each_file
def test_it_loads_in_both_simulators_or_says_that_masses_are_missing(path: Path) -> None:
    repair = repair_file(path, path)
    pinocchio.buildModelFromXML(repair.text.decode())
    if any(finding.code == "missing-inertial" for finding in repair.left):
        with pytest.raises(ValueError, match="mass and inertia of moving bodies"):
            mujoco.MjModel.from_xml_string(repair.text.decode())
        repair = repair_file(path, path, fill_mass=1.0)
    model = mujoco.MjModel.from_xml_string(repair.text.decode())
    assert model.nv == sum(joint.kind.nv for joint in repair.robot.joints)
    assert not any(finding.severity == "error" for finding in repair.left)


def _numbers(root: ElementTree.Element) -> dict[str, dict[str, str]]:
    """Every attribute of links and joints by the path of its element, shapes left out."""
    said = {}
    waiting = [
        (f"{item.tag} {item.attrib['name']}", item)
        for item in (*root.findall("link"), *root.findall("joint"))
    ]
    for where, element in waiting:
        said[where] = element.attrib
        waiting += [(f"{where} {child.tag}", child) for child in element if child.tag not in SHAPES]
    return said


@each_file
def test_only_what_is_listed_differs(path: Path) -> None:
    repair = repair_file(path, path)
    before, after = ElementTree.parse(path).getroot(), ElementTree.fromstring(repair.text)
    assert len(path.read_bytes().splitlines()) == len(repair.text.splitlines())
    stated, repaired = _numbers(before), _numbers(after)
    assert stated.keys() == repaired.keys()
    differing = {key for key in stated if stated[key] != repaired[key]}
    listed = {
        f"joint {change.what.split(chr(39))[1]} origin"
        for change in repair.changes
        if change.what.startswith("the origin of joint")
    }
    assert differing == listed
    shapes = sum(len(link.findall(kind)) for link in before.findall("link") for kind in SHAPES)
    kept = sum(len(link.findall(kind)) for link in after.findall("link") for kind in SHAPES)
    assert shapes - kept == sum(change.after == "" for change in repair.changes)


@each_file
def test_the_inertias_and_placements_without_a_finding_are_the_same_to_the_last_bit(path: Path) -> None:
    repair = repair_file(path, path)
    changed = {change.what.split("'")[1] for change in repair.changes if "joint" in change.what}
    before = pinocchio.buildModelFromUrdf(str(path))
    after = pinocchio.buildModelFromXML(repair.text.decode())
    assert list(before.names) == list(after.names)
    fixed = {
        joint.attrib["name"]
        for joint in ElementTree.parse(path).getroot().findall("joint")
        if joint.attrib["type"] == "fixed"
    }
    for k, name in enumerate(before.names):
        if name not in changed:
            np.testing.assert_array_equal(
                before.jointPlacements[k].homogeneous, after.jointPlacements[k].homogeneous
            )
        if not changed & fixed:
            np.testing.assert_array_equal(
                before.inertias[k].toDynamicParameters(), after.inertias[k].toDynamicParameters()
            )
