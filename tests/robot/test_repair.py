"""Repaired descriptions load in Pinocchio and MuJoCo, list every change, and keep all else as written."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np
import pinocchio
import pytest

from steelyard.errors import DescriptionError, InputError
from steelyard.robot import Change, Repair, parse_urdf, repair_file
from steelyard.robot.descriptions.repair import repair_urdf

INERTIA = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
INERTIAL = f'<inertial><mass value="2"/>{INERTIA}</inertial>'
LIMIT = '<limit lower="-1" upper="1" velocity="2" effort="3"/>'
AXIS = '<axis xyz="0 0 1"/>'
ORIGIN = '<origin xyz="0 0 0.5" rpy="0 0.25 0"/>'
HAND = (
    f'<link name="hand">{INERTIAL}</link>\n<joint name="wrist" type="fixed">\n'
    '<parent link="arm"/><child link="hand"/></joint>\n'
)
GOOD = (
    '<?xml version="1.0"?>\n<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">\n'
    '<!-- kept\n-->\n<link name="base"/>\n'
    f'<link  name="arm" >\n{INERTIAL}\n</link>\n'
    f'<joint name="j" type="revolute">\n<parent link="base"/><child link="arm"/>{ORIGIN}{AXIS}{LIMIT}\n'
    f"</joint>\n{HAND}</robot>\n"
)


def _repair(old: str, new: str, **options: object) -> Repair:
    assert old in GOOD
    return repair_urdf(GOOD.replace(old, new, 1).encode(), "r.urdf", **options)  # type: ignore[arg-type]


def _loads(repair: Repair) -> None:
    pinocchio.buildModelFromXML(repair.text.decode())
    mujoco.MjModel.from_xml_string(repair.text.decode())


def _refused(text: str) -> bool:
    """Whether at least one of the two simulators refuses a text."""
    for build in (pinocchio.buildModelFromXML, mujoco.MjModel.from_xml_string):
        try:
            build(text)
        except ValueError:
            return True
    return False


def _only(repair: Repair) -> Change:
    assert len(repair.changes) == 1, repair.changes
    return repair.changes[0]


def _without_comments(text: bytes) -> bytes:
    return re.sub(rb"<!-- repaired: .*?-->", b"", text, flags=re.DOTALL)


def test_a_good_description_comes_back_byte_for_byte() -> None:
    repair = repair_urdf(GOOD.encode(), "r.urdf")
    assert repair.text == GOOD.encode()
    assert repair.changes == ()
    assert repair.left == ()
    windows = GOOD.replace("\n", "\r\n").encode()
    assert repair_urdf(windows, "r.urdf").text == windows


THIN = INERTIA.replace('izz="1"', 'izz="0"')
CONE = '<collision><geometry><cone radius="1"/></geometry></collision>'
BALL = '<collision><geometry><sphere radius="-1"/></geometry></collision>'
NOTHING = "<collision/>"
PAINT = '<visual><geometry><sphere radius="1"/></geometry><material/></visual>'
# old, new, what the text became, where, and whether a simulator refuses the file before the repair.
CASES: dict[str, tuple[str, str, str, int, bool]] = {
    "axis not unit": (AXIS, '<axis xyz="0 3 4"/>', '<axis xyz="0.0 0.6 0.8"/>', 10, False),
    "rounded axis": (AXIS, '<axis xyz="0 1e-9 -1"/>', '<axis xyz="0.0 0.0 -1.0"/>', 10, False),
    "rounded angle": ("0 0.25 0", "1.5708 0.25 -3.14", f"{math.pi / 2!r} 0.25 {-math.pi!r}", 10, False),
    "rounded offset": ("0 0 0.5", "1e-9 0 0.5", '"0 0 0.5"', 10, False),
    "no velocity": (' velocity="2"', "", 'velocity="1e30"', 10, True),
    "no effort": (' effort="3"', "", 'effort="1e30"', 10, True),
    "no limit": (LIMIT, "", 'type="continuous"', 9, True),
    "triangle": ('izz="1"', 'izz="3"', 'izz="3', 7, True),
    "negative moment": ('ixx="1"', 'ixx="-1"', "ixx=", 7, True),
    "rod": (INERTIA, THIN, "izz=", 7, True),
    "unknown shape": (f"{INERTIAL}\n", f"{INERTIAL}{CONE}\n", "cone radius", 7, True),
    "bad shape": (f"{INERTIAL}\n", f"{INERTIAL}{BALL}\n", "sphere radius", 7, True),
    "no geometry": (f"{INERTIAL}\n", f"{INERTIAL}{NOTHING}\n", "no geometry", 7, True),
    "no robot name": (' name="r"', "", 'name="r"', 2, True),
    "joint name twice": ('"wrist"', '"j"', 'name="j_2"', 13, True),
    "upper-case tag": (AXIS, '<Axis xyz="0 0 1"></Axis>', '<axis xyz="0 0 1">', 10, False),
    "upper-case attribute": (' upper="1"', ' Upper="1"', 'upper="1"', 10, False),
    "upper-case type": ('"revolute"', '"Revolute"', 'type="revolute"', 9, True),
    "link stands twice": ('<link name="base"/>', '<link name="base"/><link name="base"></link>', "", 5, True),
    "limit twice": (LIMIT, LIMIT + '<limit effort="1" velocity="1"/>', "removed", 10, True),
    "inertial twice": (f"{INERTIAL}\n", f"{INERTIAL}{INERTIAL}\n", "removed", 7, True),
    "material twice": ("</robot>", '<material name="m"/><material name="m"/></robot>', "", 15, True),
    "material without a name": (f"{INERTIAL}\n", f"{INERTIAL}{PAINT}\n", "no name", 7, True),
}


@pytest.mark.parametrize("case", CASES)
def test_each_defect_is_repaired_listed_and_nothing_else_is_touched(case: str) -> None:
    old, new, becomes, line, refused = CASES[case]
    broken = GOOD.replace(old, new, 1)
    assert broken != GOOD
    assert _refused(broken) == refused
    repair = _repair(old, new)
    _loads(repair)
    assert _only(repair).place == f"r.urdf:{line}"
    assert repair.left == ()
    assert becomes in repair.text.decode()
    assert b"<!-- repaired: " in repair.text.splitlines()[line - 1]
    # Line by line, only the line of the change differs.
    pairs = zip(broken.splitlines(), repair.text.decode().splitlines(), strict=True)
    assert [n for n, (before, after) in enumerate(pairs, 1) if before != after] == [line]


@pytest.mark.parametrize("case", CASES)
def test_repairing_a_second_time_changes_nothing(case: str) -> None:
    repair = _repair(*CASES[case][:2])
    again = repair_urdf(repair.text, "r.urdf")
    assert (again.text, again.changes) == (repair.text, ())


@pytest.mark.parametrize("case", ["triangle", "negative moment", "rod"])
def test_an_impossible_tensor_becomes_the_nearest_and_mass_and_centre_stay(case: str) -> None:
    repair = _repair(*CASES[case][:2])
    inertial = ElementTree.fromstring(repair.text).find("./link[@name='arm']/inertial")
    assert inertial is not None
    assert inertial.find("mass").attrib == {"value": "2"}  # type: ignore[union-attr]
    entries = {key: float(value) for key, value in inertial.find("inertia").attrib.items()}  # type: ignore[union-attr]
    # Second moments tr(I)/2 - I of what was stated, those below zero set to zero, give the nearest body.
    stated = {"triangle": (1, 1, 3), "negative moment": (-1, 1, 1), "rod": (1, 1, 0)}[case]
    second = np.maximum(sum(stated) / 2 - np.array(stated), 0)
    nearest = second.sum() - second
    np.testing.assert_allclose([entries["ixx"], entries["iyy"], entries["izz"]], nearest, atol=1e-5)
    assert repair.robot.links[0].own.consistency.strict  # type: ignore[union-attr]
    assert "nearest possible" in _only(repair).reason


def test_a_tensor_in_a_turned_frame_is_repaired_in_that_frame() -> None:
    turned = '<origin xyz="1 2 3" rpy="0.3 -0.4 0.5"/><mass value="2"/>'
    repair = _repair('<mass value="2"/>' + INERTIA, turned + INERTIA.replace('izz="1"', 'izz="3"'))
    _loads(repair)
    own = repair.robot.links[0].own
    assert own is not None
    np.testing.assert_allclose(own.com, [1, 2, 3], atol=1e-12)
    np.testing.assert_allclose(np.linalg.eigvalsh(own.inertia), [1.5, 1.5, 3], atol=1e-4)


def test_random_impossible_inertias_load_once_repaired() -> None:
    rng = np.random.default_rng(11)
    keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    changed = 0
    for _ in range(150):
        size = 10.0 ** rng.uniform(-9, 3)
        tensor = " ".join(
            f'{k}="{x!r}"' for k, x in zip(keys, (rng.normal(size=6) * size).tolist(), strict=True)
        )
        repair = _repair(INERTIA, f"<inertia {tensor}/>")
        _loads(repair)
        changed += len(repair.changes)
    assert changed > 100


WITHOUT_MASS = (
    "",
    INERTIAL.replace('"2"', '"-2"'),
    INERTIAL.replace('"2"', '"-2"').replace('izz="1"', 'izz="3"'),
    INERTIAL.replace("2", "0").replace("1", "0"),
)


def test_no_mass_is_invented_and_what_is_left_is_an_error() -> None:
    for link in WITHOUT_MASS:
        broken = GOOD.replace(HAND, "").replace(INERTIAL, link, 1)
        repair = repair_urdf(broken.encode(), "r.urdf")
        assert repair.text == broken.encode()
        assert [finding.severity for finding in repair.left] == ["error"]


@pytest.mark.parametrize("link", WITHOUT_MASS)
def test_a_mass_is_filled_in_where_it_is_asked_for(link: str) -> None:
    broken = GOOD.replace(HAND, "").replace(INERTIAL, link, 1)
    repair = repair_urdf(broken.encode(), "r.urdf", fill_mass=0.5)
    _loads(repair)
    assert repair.left == ()
    assert repair.robot.links[0].body.mass == 0.5  # type: ignore[union-attr]
    assert all("0.5 kg of water in a ball was asked for" in change.reason for change in repair.changes)


def test_a_link_carried_by_its_own_inertia_is_not_filled() -> None:
    repair = _repair(INERTIAL, "", fill_mass=0.5)
    assert repair.changes == ()
    _loads(repair)


def test_a_moving_point_mass_is_given_moments_that_do_not_matter() -> None:
    broken = GOOD.replace(HAND, "").replace(INERTIA, INERTIA.replace('"1"', '"0"'))
    assert _refused(broken)
    repair = repair_urdf(broken.encode(), "r.urdf")
    _loads(repair)
    assert 0 < repair.robot.links[0].own.inertia.max() < 1e-5  # type: ignore[union-attr]


def test_a_prismatic_joint_without_limits_is_given_some_that_do_not_bind() -> None:
    repair = repair_urdf(GOOD.replace(LIMIT, "").replace("revolute", "prismatic").encode(), "r.urdf")
    _loads(repair)
    limits = repair.robot.joints[0].limits
    assert (limits.lower, limits.upper, limits.velocity, limits.effort) == (-1e30, 1e30, 1e30, 1e30)


TWIN = '<link name="finger">' + INERTIAL + "</link>\n"
HINGE = '<joint name="{}" type="continuous"><parent link="arm"/><child link="finger"/></joint>\n'


def test_twin_links_under_one_name_are_told_apart_by_their_joints() -> None:
    more = TWIN + TWIN + HINGE.format("left") + HINGE.format("right")
    repair = _repair("</robot>", more + "</robot>")
    _loads(repair)
    assert repair.robot.link_names == ("arm", "finger", "finger_2")
    assert [change.after for change in repair.changes] == ["finger_2", "finger_2"]


def test_twins_that_carry_something_are_not_told_apart_by_guess() -> None:
    tip = '<link name="tip"/><joint name="t" type="fixed"><parent link="finger"/><child link="tip"/></joint>'
    more = TWIN + TWIN + HINGE.format("left") + HINGE.format("right") + tip
    with pytest.raises(DescriptionError, match="cannot be known which of the two"):
        _repair("</robot>", more + "</robot>")


def test_what_is_taken_out_stays_readable_even_if_it_holds_a_comment() -> None:
    shape = "<collision><!-- a - - cone\n --><geometry><cone radius='--1--'/></geometry></collision>"
    repair = _repair(f"{INERTIAL}\n", f"{INERTIAL}{shape}\n")
    _loads(repair)
    assert b"a - - cone\n" in repair.text
    assert len(repair.text.splitlines()) == len(GOOD.splitlines()) + 1


def test_which_of_two_different_links_is_meant_is_not_guessed() -> None:
    more = TWIN + TWIN.replace('"2"', '"3"') + HINGE.format("left") + HINGE.format("right")
    with pytest.raises(DescriptionError, match=r"r\.urdf:16: the link name 'finger' is used twice, first at"):
        _repair("</robot>", more + "</robot>")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('upper="1"', 'upper="-2"', "lower limit -1 lies above"),
        (AXIS, '<axis xyz="0 0 0"/>', "no direction"),
        ('child link="arm"', 'child link="arn"', "Did you mean 'arm'"),
        (' ixy="0"', "", "lacks the attribute 'ixy'"),
        ("</robot>", "", "not well-formed"),
        ('<?xml version="1.0"?>', '<!DOCTYPE r [<!ENTITY a "b">]>', "document type"),
    ],
)
def test_what_only_a_person_can_know_is_refused(old: str, new: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        _repair(old, new)


@pytest.mark.parametrize("mass", [0.0, -1.0, math.inf, math.nan])
def test_only_a_positive_mass_can_be_filled_in(mass: float) -> None:
    with pytest.raises(InputError, match="positive mass"):
        repair_urdf(GOOD.encode(), fill_mass=mass)


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1"])
def test_other_encodings_become_utf8_and_the_change_is_listed(encoding: str) -> None:
    text = GOOD.replace('"1.0"?', f'"1.0" encoding="{encoding}"?').replace('"hand"', '"händ"')
    repair = repair_urdf(text.encode(encoding), "r.urdf")
    _loads(repair)
    assert (_only(repair).before, _only(repair).after) == (encoding, "utf-8")
    assert repair.text.decode() == text.replace(encoding, "utf-8")


MESH = '<{kind}><geometry>\n<mesh filename="{file}"/></geometry></{kind}>'


def _with_mesh(tmp_path: Path, file: str, kind: str = "collision") -> Path:
    path = tmp_path / "r.urdf"
    path.write_text(GOOD.replace(f"{INERTIAL}\n", f"{INERTIAL}\n{MESH.format(kind=kind, file=file)}\n", 1))
    return path


@pytest.mark.parametrize("kind", ["collision", "visual"])
@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("gone.stl", "no such file"),
        ("../../etc/passwd", "outside"),
        ("package://p/a.stl", "package"),
        ("http://host/a.stl", "outside"),
    ],
)
def test_shapes_whose_mesh_cannot_be_reached_are_taken_out(
    tmp_path: Path, kind: str, file: str, reason: str
) -> None:
    path = _with_mesh(tmp_path, file, kind)
    repair = repair_file(path, tmp_path / "r.urdf")
    _loads(repair)
    change = _only(repair)
    assert (change.place, change.before, change.after) == ("r.urdf:8", file, "")
    assert reason in change.reason
    assert b"<mesh" not in _without_comments(repair.text)
    kept = repair_file(path, tmp_path / "r.urdf", keep_meshes=True)
    assert kept.text == path.read_bytes()


def _tetrahedron(path: Path) -> None:
    corners = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))
    faces = ((1, 3, 2), (1, 2, 4), (1, 4, 3), (2, 3, 4))
    lines = [*(f"v {x} {y} {z}" for x, y, z in corners), *(f"f {a} {b} {c}" for a, b, c in faces)]
    path.write_text("\n".join(lines))


def test_a_mesh_that_is_reached_stays_and_is_named_as_seen_from_the_new_folder(tmp_path: Path) -> None:
    (tmp_path / "meshes").mkdir()
    _tetrahedron(tmp_path / "meshes" / "a.obj")
    path = _with_mesh(tmp_path, "meshes/a.obj")
    assert repair_file(path, tmp_path / "r.urdf").text == path.read_bytes()
    (tmp_path / "out").mkdir()
    repair = repair_file(path, tmp_path / "out" / "r.urdf")
    assert _only(repair).after == "../meshes/a.obj"
    out = tmp_path / "out" / "r.urdf"
    compiler = b'<mujoco><compiler strippath="false"/></mujoco></robot>'
    out.write_bytes(repair.text.replace(b"</robot>", compiler))
    assert mujoco.MjModel.from_xml_path(str(out)).nmesh == 1


def test_a_damaged_mesh_is_taken_out(tmp_path: Path) -> None:
    (tmp_path / "a.stl").write_bytes(b"solid nothing")
    repair = repair_file(_with_mesh(tmp_path, "a.stl"), tmp_path / "new.urdf")
    _loads(repair)
    assert "cannot be read" in _only(repair).reason


def test_all_defects_at_once_are_repaired_together() -> None:
    text = GOOD
    changed: list[Callable[[str], str]] = [
        lambda t, case=case: t.replace(*CASES[case][:2], 1)  # type: ignore[misc]
        for case in (
            "rounded axis",
            "rounded angle",
            "no velocity",
            "triangle",
            "joint name twice",
            "upper-case type",
        )
    ]
    for change in changed:
        text = change(text)
    repair = repair_urdf(text.encode(), "r.urdf")
    _loads(repair)
    assert len(repair.changes) == len(changed)
    lines = [int(change.place.rpartition(":")[2]) for change in repair.changes]
    assert lines == sorted(lines)
    assert parse_urdf(repair.text, "r.urdf").findings == ()
