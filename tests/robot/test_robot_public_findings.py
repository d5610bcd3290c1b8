"""What is reported about the public descriptions is what stands in them, on the lines it stands on."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from shared_material import DATA, ROBOTS, needs_shared, robot_files
from steelyard.robot.descriptions.urdf import load_urdf

FILES = [*robot_files(".urdf"), *(sorted(DATA.rglob("*.urdf")) if DATA.is_dir() else [])]
pytestmark = needs_shared
each_file = pytest.mark.parametrize(
    "path", FILES, ids=[str(path.relative_to(ROBOTS.parent)) for path in FILES]
)

TAGS = {
    "missing-inertial": "<link",
    "impossible-inertia": "<inertial",
    "zero-mass": "<inertial",
    "mesh-missing": "<mesh",
    "mesh-outside": "<mesh",
    "mesh-unresolved": "<mesh",
    "empty-range": "<limit",
    "rounded-angle": "<origin",
    "repeated-element": "<origin",
}


def _impossible(inertial: ElementTree.Element) -> bool:
    mass, tensor = inertial.find("mass"), inertial.find("inertia")
    assert mass is not None
    assert tensor is not None
    xx, xy, xz, yy, yz, zz = (float(tensor.attrib["i" + key]) for key in ("xx", "xy", "xz", "yy", "yz", "zz"))
    moments = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    short = moments[2] - moments[0] - moments[1] > 1e-12 * np.abs(moments).max()
    massless = float(mass.attrib["value"]) == 0 and bool(moments.any())
    return bool(moments[0] < 0 or short or float(mass.attrib["value"]) < 0 or massless)


def _present(path: Path) -> Counter[str]:
    """What is wrong with a file, counted with a plain XML reader; rounded angles are judged elsewhere."""
    root = ElementTree.parse(path).getroot()
    joints = root.findall("joint")
    children = {joint.find("child").attrib["link"] for joint in joints if joint.attrib["type"] != "fixed"}  # type: ignore[union-attr]
    links = root.findall("link")
    inertials = [link.find("inertial") for link in links]
    meshes = {mesh.attrib["filename"] for link in links for mesh in link.iter("mesh")}
    count: Counter[str] = Counter()
    for link, inertial in zip(links, inertials, strict=True):
        if inertial is None:
            count["missing-inertial"] += link.attrib["name"] in children
        elif _impossible(inertial):
            count["impossible-inertia"] += 1
        else:
            count["zero-mass"] += float(inertial.find("mass").attrib["value"]) == 0  # type: ignore[union-attr]
    for joint in joints:
        limit = joint.find("limit")
        count["repeated-element"] += max(0, len(joint.findall("origin")) - 1)
        if joint.attrib["type"] in ("revolute", "prismatic"):
            assert limit is not None
            assert {"velocity", "effort"} <= limit.attrib.keys()
            count["empty-range"] += float(limit.get("lower", 0)) == float(limit.get("upper", 0))
    count["mesh-unresolved"] = len({name.split("/")[2] for name in meshes if name.startswith("package://")})
    count["mesh-outside"] = sum(name.startswith("file://") for name in meshes)
    count["mesh-missing"] = sum("://" not in name and not (path.parent / name).exists() for name in meshes)
    return +count


@each_file
def test_each_finding_is_in_the_file_and_nothing_in_it_is_missed(path: Path) -> None:
    found = Counter(finding.code for finding in load_urdf(path).findings)
    del found["rounded-angle"]
    assert found == _present(path)


@each_file
def test_each_finding_names_the_line_of_its_element_and_they_come_in_order(path: Path) -> None:
    text = path.read_text(encoding="utf-8").splitlines()
    lines = []
    for finding in load_urdf(path).findings:
        file, line = finding.place.split(":")
        assert file == path.name
        assert TAGS[finding.code] in text[int(line) - 1]
        lines.append(int(line))
    assert lines == sorted(lines)
