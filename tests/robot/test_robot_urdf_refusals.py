"""Every malformed URDF is refused with its line and the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.errors import DescriptionError, InputError, UnknownNameError
from steelyard.robot import load_robot, parse_urdf

HEAD = '<robot name="r">\n<link name="a"/>\n<link name="b"/>\n'
JOINT = (
    '<joint name="j" type="revolute">\n<parent link="a"/>\n<child link="b"/>\n'
    '<axis xyz="0 0 1"/>\n<limit lower="-1" upper="1" velocity="2" effort="3"/>\n</joint>\n'
)
GOOD = HEAD + JOINT + "</robot>\n"
BOMB = '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>\n<robot name="&b;"/>'


def test_the_text_these_cases_start_from_is_accepted() -> None:
    robot = parse_urdf(GOOD)
    assert (robot.nv, robot.joint_names, robot.link_names) == (1, ("j",), ("b",))


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        (GOOD, "", 1, "not well-formed XML: no element found"),
        (GOOD, "once upon a time", 1, "not well-formed XML"),
        ("</robot>", "", 11, "not well-formed XML"),
        ("</joint>", "</jont>", 9, "not well-formed XML: mismatched tag"),
        (GOOD, BOMB, 1, "document type or an entity.*Remove the <!DOCTYPE"),
        (
            GOOD,
            '<!DOCTYPE r SYSTEM "file:///etc/passwd">\n<robot name="r"/>',
            1,
            "document type or an entity",
        ),
        (GOOD, "\n<mujoco/>", 2, "the root element is <mujoco>, a URDF starts with <robot>"),
        (' name="r"', "", 1, "<robot> lacks the attribute 'name'"),
        ('<link name="b"/>', "<link/>", 3, "<link> lacks the attribute 'name'"),
        (' name="j"', "", 4, "<joint> lacks the attribute 'name'"),
        (' type="revolute"', "", 4, "<joint> lacks the attribute 'type'"),
        ('"revolute"', '"screw"', 4, "type 'screw'. Supported: revolute, continuous, prismatic, floating, "),
        ('<parent link="a"/>', "", 4, "<joint> lacks a <parent> element"),
        ('<child link="b"/>', "", 4, "<joint> lacks a <child> element"),
        ('<parent link="a"/>', "<parent/>", 5, "<parent> lacks the attribute 'link'"),
        ('<parent link="a"/>', '<parent link="aa"/>', 4, "joint 'j': unknown link 'aa'. Did you mean 'a'"),
        ('<child link="b"/>', '<child link="x"/>', 4, "unknown link 'x'. Valid: a, b"),
        (
            '<link name="b"/>',
            '<link name="b"/>\n<link name="b"/>',
            4,
            "link name 'b' is used twice, first at r.urdf:3",
        ),
        ("</robot>", JOINT + "</robot>", 10, "joint name 'j' is used twice, first at r.urdf:4"),
        (
            "</robot>",
            JOINT.replace('"j"', '"k"') + "</robot>",
            10,
            "link 'b' is the child of both 'j' and 'k'.*loops are not supported",
        ),
        ('"revolute"', '"fixed"', None, "every joint is fixed, so nothing can move"),
        ("0 0 1", "0 0 0", 7, "the axis of joint 'j' has no direction"),
        ("0 0 1", "0 0 1e-9", 7, "the axis of joint 'j' has no direction"),
        ("0 0 1", "0 0", 7, "<axis> needs 3 finite numbers in 'xyz', got '0 0'"),
        ("0 0 1", "0 0 one", 7, "<axis> needs 3 finite numbers in 'xyz', got '0 0 one'"),
        ("0 0 1", "0 0 nan", 7, "<axis> needs 3 finite numbers"),
        ('upper="1"', 'upper="inf"', 8, "<limit> needs a finite number in 'upper', got 'inf'"),
        ('upper="1"', 'upper="1e999"', 8, "<limit> needs a finite number in 'upper'"),
        ('upper="1"', 'upper="1_0"', 8, "<limit> needs a finite number in 'upper', got '1_0'"),
        ('upper="1"', 'upper="١"', 8, "<limit> needs a finite number in 'upper'"),
        ('upper="1"', 'upper=""', 8, "<limit> lacks the attribute 'upper'"),
        ('lower="-1"', 'lower="${pi}"', 8, "<limit> needs a finite number in 'lower', got '\\${pi}'"),
        ('lower="-1"', 'lower="2"', 8, "joint 'j': the lower limit 2 lies above the upper limit 1"),
        ('velocity="2"', 'velocity="-2"', 8, "joint 'j': the velocity limit -2 is negative"),
        ('effort="3"', 'effort="-3"', 8, "joint 'j': the effort limit -3 is negative"),
        ("</joint>", '<dynamics damping="-1"/></joint>', 9, "joint 'j': viscous: cannot be negative"),
        ("</joint>", '<dynamics friction="-1"/></joint>', 9, "joint 'j': coulomb: cannot be negative"),
        (
            "</joint>",
            '<dynamics damping="thick"/></joint>',
            9,
            "<dynamics> needs a finite number in 'damping'",
        ),
        ("</joint>", '<origin xyz="0 0 0 0"/></joint>', 9, "<origin> needs 3 finite numbers in 'xyz'"),
        ('<link name="b"/>', '<link name="b"><inertial/></link>', 3, "<inertial> lacks a <mass> element"),
        (
            '<link name="b"/>',
            '<link name="b"><inertial><mass value="1"/></inertial></link>',
            3,
            "<inertial> lacks a <inertia> element",
        ),
        (
            '<link name="b"/>',
            '<link name="b"><inertial><mass value="1"/>\n<inertia ixx="1"/></inertial></link>',
            4,
            "<inertia> lacks the attribute 'ixy'",
        ),
        (
            '<link name="b"/>',
            '<link name="b">\n<collision/></link>',
            4,
            "<collision> lacks a <geometry> element",
        ),
        (
            '<link name="b"/>',
            '<link name="b">\n<collision><geometry/></collision></link>',
            4,
            "<geometry> is empty",
        ),
        (
            "<link",
            '<xacro:macro name="m"/>\n<link',
            2,
            "<xacro:macro>, so it is a xacro file.*expanded first",
        ),
    ],
)
def test_a_malformed_description_is_refused_at_its_line(
    old: str, new: str, line: int | None, reason: str
) -> None:
    assert GOOD.count(old) >= 1
    place = rf"r\.urdf:{line}: " if line is not None else ""
    with pytest.raises(InputError, match=rf"(?s){place}.*{reason}"):
        parse_urdf(GOOD.replace(old, new, 1), "r.urdf")


@pytest.mark.parametrize(
    ("links", "joints", "reason"),
    [
        ("ab", ["ab", "ba"], "every link has a parent, so the joints form a loop"),
        ("abcd", ["ab", "cd", "dc"], "link '[cd]' is its own ancestor.*cut the loop"),
        ("abcd", ["ab"], "3 links have no parent \\('a', 'c', 'd'\\); a robot is one tree"),
        ("abcdefgh", [], "8 links have no parent \\('a', 'b', 'c', 'd', 'e', …\\)"),
        ("a", [], "nothing can move"),
        ("ab", ["aa", "ab"], "link 'a' is its own ancestor|every link has a parent"),
        ("", [], "the description has no link"),
    ],
)
def test_what_is_not_one_tree_is_refused(links: str, joints: list[str], reason: str) -> None:
    body = "".join(f'<link name="{name}"/>' for name in links)
    for parent, child in joints:
        ends = f'<parent link="{parent}"/><child link="{child}"/>'
        body += f'<joint name="{parent}{child}" type="continuous">{ends}</joint>'
    with pytest.raises(DescriptionError, match=reason):
        parse_urdf(f'<robot name="r">{body}</robot>')


def test_an_unknown_link_is_also_a_lookup_error() -> None:
    with pytest.raises(UnknownNameError) as caught:
        parse_urdf(GOOD.replace('child link="b"', 'child link="bb"'))
    assert isinstance(caught.value, LookupError)
    assert caught.value.choices == ("a", "b")


def test_a_xacro_element_inside_a_link_is_refused_too() -> None:
    text = GOOD.replace('<link name="b"/>', '<link name="b"><xacro:inertia_of_b/></link>')
    with pytest.raises(DescriptionError, match="xacro"):
        parse_urdf(text)


@pytest.mark.parametrize("depth", [1000, 100_000])
def test_deep_nesting_is_refused_without_overflow(depth: int) -> None:
    text = '<robot name="r">' + "<a>" * depth + "</a>" * depth + "</robot>"
    with pytest.raises(DescriptionError, match="nested deeper than 200"):
        parse_urdf(text)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no element found"),
        (b"\x00\x01\x02", "not well-formed"),
        (b'<?xml version="1.0" encoding="klingon"?><robot name="r"/>', "cannot be decoded|unknown encoding"),
        (b'<robot name="\xff\xfe"/>', "not well-formed"),
    ],
    ids=["empty", "binary", "unknown encoding", "not UTF-8"],
)
def test_a_file_that_is_not_text_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "bad.urdf"
    path.write_bytes(content)
    with pytest.raises(DescriptionError, match=rf"bad\.urdf.*({reason})"):
        load_robot(path)


def test_a_path_that_is_no_description_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match=r"nowhere\.urdf: there is no such file"):
        load_robot(tmp_path / "nowhere.urdf")
    (tmp_path / "folder.urdf").mkdir()
    with pytest.raises(DescriptionError, match=r"folder\.urdf: is a folder, not a file"):
        load_robot(tmp_path / "folder.urdf")
    with pytest.raises(DescriptionError, match="not a kind of description"):
        load_robot(tmp_path)
    (tmp_path / "robot.docx").write_text(GOOD)
    with pytest.raises(DescriptionError, match=r"'\.docx' is not a kind .* Supported: \.urdf"):
        load_robot(str(tmp_path / "robot.docx"))


def test_a_file_larger_than_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.robot.descriptions.xml.MAX_BYTES", 100)
    (tmp_path / "big.urdf").write_text(GOOD)
    with pytest.raises(DescriptionError, match="is larger than"):
        load_robot(tmp_path / "big.urdf")


def test_a_good_file_is_read_whatever_the_case_of_its_suffix(tmp_path: Path) -> None:
    for name in ("good.urdf", "GOOD.URDF"):
        (tmp_path / name).write_text(GOOD)
        robot = load_robot(tmp_path / name)
        assert (robot.name, robot.source) == ("r", name)
