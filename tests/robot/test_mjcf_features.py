"""Actuators, tied joints, meshes and included files mean what MuJoCo makes of them."""

from __future__ import annotations

import math
from pathlib import Path

import mujoco
import numpy as np
import pytest

from oracles.agreement import assert_agree
from oracles.mujoco_file import CompiledFile, State
from robot.mjcf_files import robot_of_mjcf
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import DescriptionError
from steelyard.layout import layout_of
from steelyard.robot import Box, Capsule, Cylinder, JointKind, MeshFile, Sphere
from steelyard.robot.descriptions.mjcf.reader import load_mjcf

INERTIAL = '<inertial pos=".1 .2 .3" mass="2" diaginertia=".3 .4 .5"/>'
ARM = f'<body name="arm">{INERTIAL}<joint name="j" armature=".2" damping=".5" {{joint}}/></body>'
ENORMOUS = 1e9

ACTUATORS = [
    ("", '<motor joint="j" forcerange="-3 3"/>'),
    ("", '<motor joint="j" gear="-7" forcerange="-3 3"/>'),
    ("", '<motor joint="j" gear="7" ctrlrange="-2 2"/>'),
    ("", '<motor joint="j" gear="7" ctrlrange="-2 2" ctrllimited="false"/>'),
    ("", '<motor joint="j" gear="7" ctrlrange="-9 9" forcerange="-3 3"/>'),
    ("", '<position joint="j" kp="40" ctrlrange="-1 1"/>'),
    ("", '<position joint="j" kp="40" ctrlrange="-1 1" forcerange="-3 3"/>'),
    ("", '<general joint="j" gainprm="5" ctrlrange="-2 2"/>'),
    ("", '<general joint="j" class="strong"/>'),
    ("", '<motor joint="j" class="strong"/>'),
    ("", '<velocity joint="j" kv="3" forcerange="-4 4"/>'),
    ('actuatorfrcrange="-5 5"', '<motor joint="j" gear="7" ctrlrange="-2 2"/>'),
    ('actuatorfrcrange="-50 50"', '<motor joint="j" gear="7" ctrlrange="-2 2"/>'),
    ('actuatorfrcrange="-5 5"', '<motor joint="j"/>'),
    ("", '<motor joint="j" forcerange="-3 3"/><motor jointinparent="j" gear="2" forcerange="-4 4"/>'),
    ("", '<motor joint="j" gear="3" armature=".1" damping=".2" forcerange="-1 1"/>'),
]


def _with_actuators(joint: str, actuators: str) -> str:
    return (
        '<mujoco><default><default class="strong"><general gainprm="6" ctrlrange="-2 2" gear="3"/></default>'
        f"</default><worldbody>{ARM.format(joint=joint)}</worldbody><actuator>{actuators}</actuator></mujoco>"
    )


@pytest.mark.parametrize(("joint", "actuators"), ACTUATORS)
def test_the_effort_limit_is_the_largest_torque_mujoco_lets_through(joint: str, actuators: str) -> None:
    text = _with_actuators(joint, actuators)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qvel[:] = 0.1 * ENORMOUS if "velocity" in actuators else 0.0
    data.qpos[:] = -0.1 * ENORMOUS if "position" in actuators else 0.0
    data.ctrl[:] = ENORMOUS * np.sign(model.actuator_gear[:, 0])
    mujoco.mj_forward(model, data)
    largest = abs(float(data.qfrc_actuator[0]))
    effort = robot_of_mjcf(text).joints[0].limits.effort
    assert effort == (math.inf if largest > 1e6 else pytest.approx(largest, rel=1e-12))


@pytest.mark.parametrize(("joint", "actuators"), ACTUATORS)
def test_rotors_and_dampers_of_actuators_act_through_the_gear(joint: str, actuators: str) -> None:
    text = _with_actuators(joint, actuators)
    robot, judge = robot_of_mjcf(text), CompiledFile(text)
    layout = layout_of(robot, ["viscous", "rotor"])
    q, v, a = np.array([0.3]), np.array([0.7]), np.array([-1.1])
    tau = inverse_dynamics(robot, layout, layout.nominal, q, v, a)
    # Actuators apply no force here; what is left of them is their inertia and damping.
    assert_agree(tau[0], judge.torques(State(q, v, a, np.eye(1))))


def test_an_asymmetric_range_keeps_the_smaller_end_and_says_so() -> None:
    robot = robot_of_mjcf(_with_actuators("", '<motor joint="j" forcerange="-3 8"/>'))
    assert robot.joints[0].limits.effort == 3.0
    assert [f.code for f in robot.findings if f.severity == "warning"] == ["asymmetric-effort"]
    one_sided = robot_of_mjcf(_with_actuators("", '<motor joint="j" forcerange="0 8"/>'))
    assert one_sided.joints[0].limits.effort == 8.0


TIED = (
    "<mujoco><worldbody>"
    f'<body name="a">{INERTIAL}<joint name="lead" axis="0 1 0" ref="30"/>'
    f'<body name="b" pos=".4 0 0">{INERTIAL}<joint name="follow" type="slide" axis="1 0 0" ref=".2"/>'
    f'<body name="c" pos=".1 0 0">{INERTIAL}<joint name="last"/></body></body></body></worldbody>'
    '<equality><joint joint1="follow" joint2="lead" polycoef=".1 -1.5"/>'
    '<joint joint1="last" joint2="follow" polycoef="0 2 0 0 0"/></equality></mujoco>'
)


def test_tied_joints_satisfy_mujocos_equality_and_add_up_their_torques() -> None:
    robot, judge = robot_of_mjcf(TIED), CompiledFile(TIED)
    assert (robot.nq, robot.nv, len(robot.joints)) == (1, 1, 3)
    k, q_0 = np.ones(3), np.zeros(3)
    for i, joint in enumerate(robot.joints[1:], start=1):
        assert joint.mimic is not None
        assert joint.mimic.joint == "lead"
        k[i], q_0[i] = joint.mimic.multiplier, joint.mimic.offset
    q, v, a = 0.8, -0.6, 1.7
    layout = layout_of(robot)
    tau = inverse_dynamics(robot, layout, layout.nominal, np.array([q]), np.array([v]), np.array([a]))
    expected = k @ judge.torques(State(k * q + q_0, k * v, k * a, np.eye(3)))
    assert_agree(tau[0], np.array([expected]))
    free = mujoco.MjModel.from_xml_string(TIED)
    data = mujoco.MjData(free)
    data.qpos[:] = k * q + q_0
    mujoco.mj_forward(free, data)
    assert data.ne == 2
    np.testing.assert_allclose(data.efc_pos[:2], 0.0, atol=1e-15)


# An L and the triangles that fill it: not convex, and not symmetric about anything.
ANGLE = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
FAN = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
# A U of three bars: its corners in order, and triangles that fill it.
FOLDED = [
    (0, 0),
    (1, 0),
    (2, 0),
    (3, 0),
    (3, 0.2),
    (3, 3),
    (2, 3),
    (2, 0.2),
    (1, 0.2),
    (1, 3),
    (0, 3),
    (0, 0.2),
]
FILLING = [(0, 1, 8), (0, 8, 11), (1, 2, 7), (1, 7, 8), (2, 3, 4), (2, 4, 7)]
FILLING += [(11, 8, 9), (11, 9, 10), (7, 4, 5), (7, 5, 6)]


def _write_prism(path: Path, corners: list[tuple[float, float]], filling: list[tuple[int, int, int]]) -> None:
    n = len(corners)
    lines = [f"v {x} {y} {z}" for z in (0, 0.5) for x, y in corners]
    for i, j, k in filling:
        lines += [f"f {k + 1} {j + 1} {i + 1}", f"f {i + 1 + n} {j + 1 + n} {k + 1 + n}"]
    for i in range(n):
        j = (i + 1) % n
        lines += [f"f {i + 1} {j + 1} {j + 1 + n}", f"f {i + 1} {j + 1 + n} {i + 1 + n}"]
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    "asset",
    ["", 'scale=".1 .2 .3"', 'refpos=".1 .2 .3" refquat="1 .2 .3 .4"', 'scale="2 2 2" refpos="1 0 0"'],
)
@pytest.mark.parametrize("weight", ["", 'mass="3"', 'density="20"'])
def test_a_mesh_inside_the_folder_weighs_what_mujoco_says(tmp_path: Path, asset: str, weight: str) -> None:
    (tmp_path / "parts").mkdir()
    _write_prism(tmp_path / "parts" / "iron.obj", ANGLE, FAN)
    file = tmp_path / "robot.xml"
    file.write_text(
        f'<mujoco><compiler meshdir="parts"/><asset><mesh file="iron.obj" {asset}/></asset><worldbody>'
        '<body name="arm"><joint name="j"/><geom type="mesh" mesh="iron" pos="1 2 3" euler="10 20 30" '
        f"{weight}/></body></worldbody></mujoco>"
    )
    model = mujoco.MjModel.from_xml_path(str(file))
    robot = load_mjcf(file)
    judge = CompiledFile.__new__(CompiledFile)
    judge.model = model
    own = robot.links[0].own
    assert own is not None
    # MuJoCo keeps mesh vertices in single precision.
    assert_agree(own.parameters, judge.body("arm").parameters, relative=1e-5)
    shape = robot.links[0].collision[0].shape
    assert isinstance(shape, MeshFile)
    assert shape.file == "parts/iron.obj"


def test_a_mesh_that_folds_back_weighs_what_it_encloses_and_the_difference_is_reported(
    tmp_path: Path,
) -> None:
    _write_prism(tmp_path / "u.obj", FOLDED, FILLING)
    masses = {}
    for rule in ("legacy", "exact"):
        file = tmp_path / f"{rule}.xml"
        file.write_text(
            f'<mujoco><asset><mesh file="u.obj" inertia="{rule}"/></asset><worldbody><body name="arm">'
            '<joint name="j"/>\n<geom type="mesh" mesh="u"/></body></worldbody></mujoco>'
        )
        masses[rule] = mujoco.MjModel.from_xml_path(str(file)).body_mass[1]
        assert load_mjcf(file).mass == pytest.approx(1000 * (3 * 0.2 + 2 * 2.8) * 0.5, rel=1e-12)
    assert not any(finding.code == "mesh-folds" for finding in load_mjcf(tmp_path / "exact.xml").findings)
    (finding,) = [f for f in load_mjcf(tmp_path / "legacy.xml").findings if f.code == "mesh-folds"]
    assert finding.place == "legacy.xml:2"
    assert f"counts {masses['legacy'] / masses['exact'] - 1:.1%} more" in finding.message


def test_included_files_take_the_place_of_their_include(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    file = tmp_path / "robot.xml"
    file.write_text(
        '<mujoco><include file="deep/settings.xml"/><worldbody><body name="a">'
        f'<include file="deep/arm.xml"/>{INERTIAL}</body></worldbody></mujoco>'
    )
    (tmp_path / "deep" / "settings.xml").write_text(
        '<mujocoinclude><option gravity="1 2 3"/><default><joint armature="4"/></default></mujocoinclude>'
    )
    # Not in the main file's folder, so it is looked for beside the file that includes it.
    (tmp_path / "deep" / "arm.xml").write_text('<x>\n<include file="joint.xml"/></x>')
    (tmp_path / "deep" / "joint.xml").write_text('<x>\n\n<joint name="j" axis="0 1 0"/></x>')
    robot = load_mjcf(file)
    model = mujoco.MjModel.from_xml_path(str(file))
    assert robot.joint_names == ("j",)
    np.testing.assert_array_equal(robot.gravity, model.opt.gravity)
    assert robot.joints[0].drive.rotor == model.dof_armature[0] == 4.0
    assert "joint.xml:3" in [finding.place for finding in robot.findings]


@pytest.mark.parametrize(
    "name", ["../outside.xml", "deep/../../outside.xml", "/etc/hostname", "robot.xml", "loop.xml"]
)
def test_an_include_outside_the_folder_or_of_itself_is_refused_at_its_line(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "robot"
    folder.mkdir()
    (tmp_path / "outside.xml").write_text("<x><option/></x>")
    (folder / "loop.xml").write_text('<x><include file="loop.xml"/></x>')
    file = folder / "robot.xml"
    file.write_text(f'<mujoco>\n\n<include file="{name}"/><worldbody/></mujoco>')
    with pytest.raises(DescriptionError, match=r"(robot.xml:3|loop.xml:1).*(outside the|twice, or)"):
        load_mjcf(file)


def test_included_files_count_towards_the_elements_a_description_may_hold(tmp_path: Path) -> None:
    for name in ("a.xml", "b.xml"):
        (tmp_path / name).write_text(f"<x>{'<body/>' * 25_000}</x>")
    file = tmp_path / "robot.xml"
    file.write_text('<mujoco><worldbody><include file="a.xml"/><include file="b.xml"/></worldbody></mujoco>')
    with pytest.raises(
        DescriptionError, match=r"robot.xml: holds more than 50000 elements with what it incl"
    ):
        load_mjcf(file)


def test_a_file_that_is_included_must_exist() -> None:
    with pytest.raises(DescriptionError, match=r"MJCF:1: includes 'a.xml', but there is no such file"):
        robot_of_mjcf('<mujoco><include file="a.xml"/></mujoco>')


def test_collision_shapes_have_full_lengths_and_sit_in_the_links_frame() -> None:
    robot = robot_of_mjcf(
        f'<mujoco><worldbody><geom type="plane" size="1 1 1"/><geom size="2" pos="0 0 -2"/><body name="a">'
        f'{INERTIAL}<joint name="j" pos="1 0 0"/>'
        '<geom size=".1"/><geom type="capsule" size=".1 .2"/><geom type="cylinder" size=".1 .2"/>'
        '<geom type="box" size=".1 .2 .3" pos="0 5 0"/><geom size="9" contype="0" conaffinity="0"/>'
        "</body></worldbody></mujoco>"
    )
    shapes = [item.shape for item in robot.links[0].collision]
    assert shapes == [Sphere(0.1), Capsule(0.1, 0.4), Cylinder(0.1, 0.4), Box(0.2, 0.4, 0.6)]
    np.testing.assert_allclose(robot.links[0].collision[3].pose.translation, [-1, 5, 0])
    assert [item.shape for item in robot.base.collision] == [Sphere(2.0)]


def test_a_planar_joint_is_a_chain_with_virtual_links() -> None:
    robot = robot_of_mjcf(
        f'<mujoco><worldbody><body name="a">{INERTIAL}<joint name="x" type="slide" axis="1 0 0"/>'
        '<joint name="y" type="slide" axis="0 1 0"/><joint name="turn"/></body></worldbody></mujoco>'
    )
    assert [link.virtual for link in robot.links] == [True, True, False]
    assert [joint.kind for joint in robot.joints] == [
        JointKind.PRISMATIC,
        JointKind.PRISMATIC,
        JointKind.CONTINUOUS,
    ]
    assert robot.link_names[-1] == "a"


def test_a_free_robot_and_a_free_box_are_one_tree_on_the_world() -> None:
    robot = robot_of_mjcf(
        f'<mujoco model="pair"><worldbody><body name="dog"><freejoint/>{INERTIAL}<body>{INERTIAL}<joint/>'
        '</body></body><body name="box" pos="1 2 3"><joint type="free"/><geom size=".1"/></body>'
        "</worldbody></mujoco>"
    )
    assert (robot.name, robot.base.name) == ("pair", "world")
    assert [joint.kind for joint in robot.joints] == [
        JointKind.FLOATING,
        JointKind.CONTINUOUS,
        JointKind.FLOATING,
    ]
    assert [joint.parent for joint in robot.joints] == [-1, 0, -1]
    assert (robot.nq, robot.nv) == (15, 13)


def test_gravity_is_the_options_and_none_where_its_flag_says_so() -> None:
    body = f"<worldbody>{ARM.format(joint='')}</worldbody>"
    assert robot_of_mjcf(f"<mujoco>{body}</mujoco>").gravity.tolist() == [0, 0, -9.81]
    off = '<option gravity="1 2 3"><flag gravity="disable"/></option>'
    assert robot_of_mjcf(f"<mujoco>{off}{body}</mujoco>").gravity.tolist() == [0, 0, 0]


LOOPED = TIED.replace("</equality>", '<connect body1="c" anchor=".3 0 0"/></equality>')


@pytest.mark.parametrize("flag", ["equality", "constraint"])
def test_equalities_that_a_flag_disables_tie_nothing_as_in_mujoco(flag: str) -> None:
    disabled = LOOPED.replace("<worldbody>", f'<option><flag {flag}="disable"/></option><worldbody>')
    judge = mujoco.MjModel.from_xml_string(disabled)
    data = mujoco.MjData(judge)
    mujoco.mj_forward(judge, data)
    assert data.ne == 0
    robot = robot_of_mjcf(disabled)
    assert robot.nv == judge.nv == 3
    assert all(joint.mimic is None for joint in robot.joints)
    said = [finding.message for finding in robot.findings if finding.code == "equality-disabled"]
    assert len(said) == 3
    assert all(f"'{flag}'" in message for message in said)


def test_equalities_that_a_flag_enables_hold() -> None:
    enabled = LOOPED.replace("<worldbody>", '<option><flag equality="enable"/></option><worldbody>')
    with pytest.raises(DescriptionError, match="<connect> of 'c' closes a kinematic loop"):
        robot_of_mjcf(enabled)
