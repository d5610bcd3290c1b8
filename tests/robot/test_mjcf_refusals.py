"""What the MJCF reader refuses: malformed files and what it cannot model, with the line and the remedy."""

from __future__ import annotations

import math
import re

import pytest

from robot.mjcf_files import robot_of_mjcf
from steelyard.errors import DescriptionError, InputError, UnknownNameError
from steelyard.robot.joint import Mimic

INERTIAL = '<inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/>'
JOINT = '<joint name="j"/>'


def _file(inside: str = JOINT + INERTIAL, *, before: str = "", after: str = "") -> str:
    """The body starts on line 4, what it holds on line 5, what follows the bodies on line 8."""
    body = f'<body name="arm">\n{inside}\n</body>'
    return f"<mujoco>\n{before}\n<worldbody>\n{body}\n</worldbody>\n{after}</mujoco>"


def test_the_file_these_are_mutations_of_is_read() -> None:
    assert robot_of_mjcf(_file()).joint_names == ("j",)


REFUSED = {
    "two orientations": (
        JOINT + '<geom size="1" quat="1 0 0 0" euler="1 2 3"/>',
        "5: .* 2 times: quat, euler",
    ),
    "zero quaternion": (JOINT + '<geom size="1" quat="0 0 0 0"/>', "5: .* no orientation"),
    "short vector": ('<joint pos="1 2"/>' + INERTIAL, "5: <joint> needs 3 finite numbers in 'pos'"),
    "long size": (JOINT + '<geom size="1 1 1 1"/>', "5: <geom> needs 1 to 3 finite numbers in 'size'"),
    "not a number": ('<joint damping="thick"/>' + INERTIAL, "5: .* 'damping', got 'thick'"),
    "axis of zeros": ('<joint axis="0 0 0"/>' + INERTIAL, "5: the axis of <joint> has no direction"),
    "negative friction": ('<joint damping="-1"/>' + INERTIAL, "5: joint 'arm_joint': .*negative"),
    "negative mass": (JOINT + '<geom size="1" mass="-1"/>', "5: <geom> has a mass of -1"),
    "two tensors": (
        JOINT + '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1" fullinertia="1 1 1 0 0 0"/>',
        "5: .* 'fullinertia' and 'diaginertia'",
    ),
    "full tensor with an orientation": (
        JOINT + '<inertial pos="0 0 0" mass="1" quat="1 0 0 0" fullinertia="1 1 1 0 0 0"/>',
        "5: .* 'fullinertia' and 'quat'",
    ),
    "inertial without pos": (JOINT + '<inertial mass="1" diaginertia="1 1 1"/>', "5: .* lacks .* 'pos'"),
    "inertial without mass": (JOINT + '<inertial pos="0 0 0" diaginertia="1 1 1"/>', "5: .* lacks .* 'mass'"),
    "two inertials": (JOINT + INERTIAL + INERTIAL, "5: body 'arm' states two inertials"),
    "limited to nothing": ('<joint limited="true"/>' + INERTIAL, "5: <joint> is limited to the range 0 to 0"),
    "free beside a hinge": ("<freejoint/><joint/>" + INERTIAL, "5: free joint .* must be the only joint"),
    "free below another": (
        f"{JOINT}{INERTIAL}<body><freejoint/>{INERTIAL}</body>",
        "5: free joint .* of a body in the world",
    ),
    "pose and fromto": (
        JOINT + '<geom type="capsule" size="1" pos="1 0 0" fromto="0 0 0 1 1 1"/>',
        "5: .* both 'fromto' and 'pos'",
    ),
    "fromto of a sphere": (
        JOINT + '<geom size="1" fromto="0 0 0 1 1 1"/>',
        "5: a sphere cannot be stated by",
    ),
    "line without length": (
        JOINT + '<geom type="capsule" size="1" fromto="1 1 1 1 1 1"/>',
        "5: the line of <geom> has no direction",
    ),
    "duplicate joint": (JOINT + JOINT + INERTIAL, "5: the joint name 'j' is used twice"),
    "nothing moves": (INERTIAL, "every joint is fixed"),
    "replicate": (JOINT + INERTIAL + '<replicate count="3"/>', "5: <replicate> makes bodies"),
    "composite": (JOINT + INERTIAL + '<composite type="rope"/>', "5: <composite> makes bodies"),
    "attach": (JOINT + INERTIAL + '<attach model="m" body="b"/>', "5: <attach> makes bodies"),
    "flexcomp": (JOINT + INERTIAL + '<flexcomp type="grid"/>', "5: <flexcomp> makes bodies"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_malformed_body_is_refused_at_its_line(case: str) -> None:
    inside, message = REFUSED[case]
    place = "" if message.startswith("every") else "r.xml:"
    with pytest.raises(DescriptionError, match=place + message):
        robot_of_mjcf(_file(inside), "r.xml")


TWO_ARMS = f'{JOINT}{INERTIAL}<body name="fore" pos="1 0 0"><joint name="k" ref="30"/>{INERTIAL}</body>'
CLOSED = {
    "connect": (
        '<connect name="bar" body1="fore" anchor="0 0 0"/>',
        "<connect> 'bar' of 'fore' closes a",
    ),
    "connect of sites": (
        '<connect site1="a" site2="b"/>',
        "<connect> of 'a' and 'b' closes a",
    ),
    "weld": ('<weld body1="arm" body2="fore"/>', "<weld> of 'arm' and 'fore' closes a kinematic loop"),
    "tendon": ('<tendon tendon1="t" tendon2="u"/>', "<tendon> of 't' and 'u' couples joints through tendons"),
    "flex": ('<flex flex="cloth"/>', "<flex> of 'cloth' closes a kinematic loop"),
    "still": ('<joint joint1="k" polycoef="0.2"/>', "an equality holds joint 'k' still"),
    "no slope": ('<joint joint1="k" joint2="j" polycoef="0 0"/>', "holds joint 'k' still"),
    "curve": ('<joint joint1="k" joint2="j" polycoef="0 1 0.5"/>', "tied to 'j' by a curve.*0 1 0.5 0 0"),
    "twice": (
        '<joint joint1="k" joint2="j"/><joint joint1="k" joint2="j" polycoef="0 2"/>',
        "'k' is tied to 'j', but also to 'j', which closes a loop",
    ),
}


@pytest.mark.parametrize("case", CLOSED)
def test_a_closed_loop_is_refused_by_its_element_and_line(case: str) -> None:
    equality, message = CLOSED[case]
    text = _file(TWO_ARMS, after=f"<equality>\n{equality}</equality>")
    with pytest.raises(DescriptionError, match=rf'r.xml:9: .*{message}.*[Ss]et active="false"'):
        robot_of_mjcf(text, "r.xml")
    off = equality.replace("/>", ' active="false"/>')
    assert robot_of_mjcf(_file(TWO_ARMS, after=f"<equality>{off}</equality>")).nv == 2


def test_a_joint_held_still_comes_with_the_position_to_lock_it_at() -> None:
    text = _file(TWO_ARMS, after='<equality><joint joint1="k" polycoef="0.2"/></equality>')
    # 30 degrees are drawn, and 0.2 rad more are asked for.
    with pytest.raises(DescriptionError, match=r"lock the joint at 0\.723599 rad"):
        robot_of_mjcf(text)


def test_a_joint_tied_in_proportion_to_another_is_a_mimic() -> None:
    tie = '<equality><joint joint1="k" joint2="j" polycoef="0.1 -2"/></equality>'
    robot = robot_of_mjcf(_file(TWO_ARMS, after=tie))
    assert robot.nv == 1
    assert robot.joints[1].mimic == Mimic("j", -2.0, math.pi / 6 + 0.1)


UNKNOWN = {
    "equality": (_file(after="<equality><conect/></equality>"), 8, "conect", "connect"),
    "element": (_file(JOINT + INERTIAL + "<jiont/>"), 5, "jiont", "joint"),
    "section": (_file(after="<wordlbody/>"), 8, "wordlbody", "worldbody"),
    "joint type": (_file('<joint type="hnge"/>'), 5, "hnge", "hinge"),
    "geom type": (_file(JOINT + '<geom type="bx"/>'), 5, "bx", "box"),
    "class": (_file('<joint class="man"/>'), 5, "man", "main"),
    "childclass": (_file("<frame childclass='mian'/>"), 5, "mian", "main"),
    "mesh": (
        _file(JOINT + '<geom type="mesh" mesh="am"/>', before='<asset><mesh file="arm.stl"/></asset>'),
        5,
        "am",
        "arm",
    ),
    "joint of an actuator": (_file(after='<actuator><motor joint="jj"/></actuator>'), 8, "jj", "j"),
    "joint of an equality": (_file(after='<equality><joint joint1="jj"/></equality>'), 8, "jj", "j"),
    "actuator": (_file(after="<actuator><moter/></actuator>"), 8, "moter", "motor"),
    "angle": (_file(before='<compiler angle="radians"/>'), 2, "radians", "radian"),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_an_unknown_name_is_refused_with_those_that_exist(case: str) -> None:
    text, line, name, meant = UNKNOWN[case]
    with pytest.raises(
        UnknownNameError, match=rf"r.xml:{line}: unknown .*'{name}'.*Valid: .*{re.escape(meant)}"
    ):
        robot_of_mjcf(text, "r.xml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<robot name='r'/>", "r.xml:1: the root element is <robot>"),
        (_file(before='<compiler coordinate="global"/>'), "r.xml:2: uses global coordinates"),
        (_file(before='<compiler eulerseq="xyw"/>'), "r.xml:2: the Euler sequence 'xyw'"),
        (
            _file('<joint range="0 1"/>', before='<compiler autolimits="false"/>'),
            "r.xml:5: .*'range' but not",
        ),
        (_file(before="<default><default/></default>"), "r.xml:2: <default> lacks .* 'class'"),
        (_file(before='<default class="arm"/>'), "r.xml:2: the outermost default class is 'main'"),
        (_file(after='<equality><joint joint1="j" joint2="j"/></equality>'), "r.xml:8: .* tied to itself"),
        (_file(after='<deformable><flex dim="1"/></deformable>'), "r.xml:8: <flex> makes bodies"),
        ("<mujoco><worldbody><joint/></worldbody></mujoco>", "r.xml:1: the world has no <joint>"),
        ("<mujoco/>", "every joint is fixed"),
        ('<!DOCTYPE m [<!ENTITY a "b">]><mujoco/>', "r.xml:1: declares a document type"),
        ("<mujoco>" + "<worldbody>" * 300, "r.xml:1: elements are nested deeper"),
        (
            f"<mujoco><worldbody>{'<body/>' * 50_000}</worldbody></mujoco>",
            "r.xml:1: holds more than 50000 elements",
        ),
        (
            _file(
                JOINT + "<geom type='mesh' mesh='m'/>",
                before="<compiler settotalmass='3'/><asset><mesh name='m'/></asset>",
            ),
            "total mass of 3 kg, but not every mass is known",
        ),
    ],
)
def test_a_file_beyond_the_model_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        robot_of_mjcf(text, "r.xml")
