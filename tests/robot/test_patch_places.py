"""Where the numbers of a description stand: each format, each spelling, and what has no place of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import mujoco
import numpy as np
import pytest

from oracles.agreement import assert_agree
from robot.patch_material import ODD_URDF
from steelyard.errors import DescriptionError, InputError
from steelyard.inertia import Body
from steelyard.inertia.body import random_body
from steelyard.layout import layout_of
from steelyard.model import Model
from steelyard.pose import Pose
from steelyard.robot import DescriptionSource, load_robot
from steelyard.workflows.patch import patch

HEAVY = Body(3.0, [0.1, -0.2, 0.3], [[0.05, 0.01, 0.002], [0.01, 0.06, -0.003], [0.002, -0.003, 0.07]])


def _file(folder: Path, text: str | bytes, name: str = "arm.xml") -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def _patched(
    path: Path, bodies: Mapping[str, Body] = {}, drives: Mapping[str, Mapping[str, float]] = {}
) -> str:
    files = DescriptionSource.open(path).patched(bodies, drives).files
    return files[path.resolve()].decode()


def _compiled(text: str) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(text)


def _of(model: mujoco.MjModel, name: str) -> Body:
    body = model.body(name)
    w, x, y, z = body.iquat
    R = Pose.from_quaternion((x, y, z, w)).rotation
    return Body(float(body.mass[0]), body.ipos, R @ np.diag(body.inertia) @ R.T)


# Encodings


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-8-sig"])
def test_a_file_keeps_its_encoding(encoding: str, tmp_path: Path) -> None:
    declared = ODD_URDF.decode().replace("utf-8", encoding.removesuffix("-sig"))
    path = _file(tmp_path, declared.encode(encoding), "arm.urdf")
    content = DescriptionSource.open(path).patched({"link2": HEAVY}, {}).files[path.resolve()]
    assert content.startswith(path.read_bytes()[:40]), "mark and declaration stay"
    after = content.decode(encoding)
    assert after.replace('<mass value="3.0"/>', "") != after
    numbers = re.compile(r"<inertial.*?</inertial>", re.DOTALL)
    assert numbers.sub("", after) == numbers.sub("", declared)
    assert_agree(load_robot(_file(tmp_path, content, "new.urdf")).links[1].own.parameters, HEAVY.parameters)


# MJCF

BODY = """<mujoco>
  <compiler angle="degree" eulerseq="zyx"/>
  <default>
    <joint armature="0.1"/>
    <default class="stiff"><joint damping="1 2 3" frictionloss="0.4"/></default>
  </default>
  <worldbody>
    <body name="a" childclass="stiff">
      <joint name="j" pos="0.1 0.2 0.3"/>
      {0}
      <geom type="box" size="0.1 0.1 0.1"/>
    </body>
  </worldbody>
  {1}
</mujoco>
"""
INERTIALS = {
    "moments": '<inertial pos="0 0 1" mass="1" diaginertia="1 2 2.5"/>',
    "turned": "<inertial euler='10 20 30' mass=\"1\"  pos='0 0 1' diaginertia='1 2 2.5'/>",
    "quaternion": '<inertial pos="0 0 1" quat="1 1 0 0" mass="1" diaginertia="1 2 2.5"/>',
    "full": '<inertial pos="0 0 1" mass="1" fullinertia="1 2 2.5 0 0 0.1"/>',
    "in a frame": '<frame pos="1 0 0" euler="0 40 0"><inertial pos="0 0 1" mass="1" diaginertia="1 2 2.5"/>'
    "</frame>",
    "from geoms": "",
}


@pytest.mark.parametrize("kind", INERTIALS)
def test_mujoco_reads_an_inertia_in_whatever_form_the_file_has(kind: str, tmp_path: Path) -> None:
    text = BODY.format(INERTIALS[kind], "")
    path = _file(tmp_path, text)
    if kind == "in a frame" and not _takes(text):
        pytest.skip("this MuJoCo takes no inertial in a frame")
    robot = load_robot(path)
    anchor = robot.frame("a/origin").placement
    after = _patched(path, {"a": HEAVY.moved(anchor)})
    assert_agree(_of(_compiled(after), "a").parameters, HEAVY.parameters, relative=1e-6)
    assert_agree(
        load_robot(_file(tmp_path, after, "new.xml")).links[0].own.parameters,
        HEAVY.moved(anchor).parameters,
        relative=1e-14,
    )
    inertial = re.compile(r"<inertial[^>]*>\s*")
    assert inertial.sub("", after) == inertial.sub("", text)
    form = re.search(r"<inertial[^>]*>", after).group()
    assert ("fullinertia" in form) == (kind == "full")
    if kind == "turned":
        assert re.fullmatch(r"""<inertial quat='[^']*' mass="3.0"  pos='[^']*' diaginertia='[^']*'/>""", form)
    if kind == "from geoms":
        assert '\n      <inertial pos="' in after, "on a line of its own, as far in as its neighbours"


def _takes(text: str) -> bool:
    try:
        _compiled(text)
    except ValueError:
        return False
    return True


def test_moments_about_the_same_axes_keep_the_orientation_as_it_is_written(tmp_path: Path) -> None:
    text = BODY.format(INERTIALS["turned"], "")
    path = _file(tmp_path, text)
    body = load_robot(path).links[0].own
    after = _patched(path, {"a": Body(2.0 * body.mass, body.com, 2.0 * body.inertia)})
    assert "euler='10 20 30'" in after
    assert_agree(_of(_compiled(after), "a").inertia, 2.0 * _of(_compiled(text), "a").inertia, relative=1e-12)


@pytest.mark.parametrize("kind", ["full", "moments"])
@pytest.mark.parametrize("shape", ["planar", "rod"])
def test_a_flat_link_is_stated_so_that_mujoco_takes_it(kind: str, shape: str, tmp_path: Path) -> None:
    path = _file(tmp_path, BODY.format(INERTIALS[kind], ""))
    anchor = load_robot(path).frame("a/origin").placement
    for seed in range(5):
        body = random_body(np.random.default_rng(seed), shape=shape)
        after = _patched(path, {"a": body.moved(anchor)})
        assert_agree(_of(_compiled(after), "a").parameters, body.parameters, relative=1e-9)


def test_a_default_is_overridden_at_the_joint_alone_and_a_polynomial_keeps_its_rest(tmp_path: Path) -> None:
    text = BODY.format(INERTIALS["full"], "")
    path = _file(tmp_path, text)
    after = _patched(path, {}, {"j": {"viscous": 0.5, "coulomb": 0.4, "rotor": 0.0}})
    stated = '<joint name="j" pos="0.1 0.2 0.3" damping="0.5 2.0 3.0" armature="0.0"/>'
    assert after == text.replace('<joint name="j" pos="0.1 0.2 0.3"/>', stated), "0.4 was so by its class"
    model = _compiled(after)
    assert (model.dof_damping[0], model.dof_frictionloss[0], model.dof_armature[0]) == (0.5, 0.4, 0.0)


def test_what_actuators_add_through_their_gears_is_not_stated_twice(tmp_path: Path) -> None:
    motor = '<actuator><motor joint="j" gear="10" armature="0.002"/></actuator>'
    path = _file(tmp_path, BODY.format(INERTIALS["full"], motor))
    assert load_robot(path).joints[0].drive.rotor == pytest.approx(0.3)
    after = _patched(path, {}, {"j": {"rotor": 0.45}})
    assert load_robot(_file(tmp_path, after, "new.xml")).joints[0].drive.rotor == pytest.approx(0.45)
    assert float(re.search(r'name="j".* armature="([\d.]+)"/>', after).group(1)) == pytest.approx(0.25)
    with pytest.raises(DescriptionError, match=r"the actuators of joint 'j' alone add 0\.2 to its rotor"):
        _patched(path, {}, {"j": {"rotor": 0.15}})


def test_a_spring_damper_holds_the_damping(tmp_path: Path) -> None:
    text = BODY.format(INERTIALS["full"], "").replace('pos="0.1', 'springdamper="0.1 1" pos="0.1')
    path = _file(tmp_path, text)
    robot = load_robot(path)
    layout = layout_of(robot, ["viscous", "coulomb"])
    phi = layout.complete_nominal()
    phi[layout.index("j.viscous")] = 0.7
    done = patch(path, Model(robot, layout, phi))
    assert [(x.name, x.field, x.reason) for x in done.not_carried] == [
        ("j", "viscous", "'springdamper' sets the damping of this joint")
    ]
    assert done.difference == ""


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ('inertiafromgeom="true"', "body 'a' weighs what its geoms weigh"),
        ('settotalmass="5"', "every mass is scaled to a total of 5 kg"),
        ('boundmass="4"', "'boundmass' would change the numbers of body 'a': 3 kg"),
        ('boundinertia="1"', "'boundinertia' would change the numbers of body 'a'"),
    ],
)
def test_settings_that_would_change_the_numbers_are_refused_by_name(
    setting: str, message: str, tmp_path: Path
) -> None:
    path = _file(tmp_path, BODY.format(INERTIALS["full"], "").replace("angle=", f"{setting} angle="))
    with pytest.raises(DescriptionError, match=re.escape(message)) as refused:
        _patched(path, {"a": HEAVY})
    assert refused.value.place == "arm.xml:2"


def test_a_link_is_not_changed_where_what_is_bolted_to_it_cannot_be_weighed(tmp_path: Path) -> None:
    """Its mesh is missing here and not where the file is used, so that it would count twice there."""
    bolted = '<body name="bolt"><geom type="mesh" mesh="m"/></body>'
    asset = '<asset><mesh name="m" file="bolt.stl"/></asset>'
    path = _file(tmp_path, BODY.format(INERTIALS["full"] + bolted, asset))
    with pytest.raises(InputError, match=r"the inertia of body 'bolt' is not known: .* It is bolted to 'a'"):
        patch(path, _heavier(path))
    robot = load_robot(path)
    assert patch(path, Model.of_robot(robot)).difference == ""


# Includes

SCENE = (
    '<mujoco model="scene">\n  <include file="parts/arm.xml"/>\n  <include file="floor.xml"/>\n</mujoco>\n'
)
FLOOR = '<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/></worldbody></mujoco>\n'


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    """A scene that includes an arm and a floor."""
    _file(tmp_path / "parts", BODY.format(INERTIALS["full"], "").replace("<mujoco>", "<mujoco> <!-- arm -->"))
    _file(tmp_path, FLOOR, "floor.xml")
    return _file(tmp_path, SCENE, "scene.xml")


def _heavier(path: Path) -> Model:
    robot = load_robot(path)
    layout = layout_of(robot)
    return Model(robot, layout, HEAVY.moved(robot.frame("a/origin").placement).parameters)


def test_an_included_file_is_changed_where_it_lies(scene: Path) -> None:
    model = _heavier(scene)
    done = patch(scene, model, out=scene, force=True)
    assert {number.file for number in done.changed} == {"parts/arm.xml"}
    assert done.judges == ("MuJoCo",)
    assert scene.read_text() == SCENE
    assert (scene.parent / "floor.xml").read_text() == FLOOR
    assert "<!-- arm -->" in (scene.parent / "parts" / "arm.xml").read_text()
    compiled = mujoco.MjModel.from_xml_path(str(scene))
    assert_agree(_of(compiled, "a").parameters, HEAVY.parameters, relative=1e-6)
    assert "--- a/parts/arm.xml\n+++ b/parts/arm.xml\n" in done.difference


def test_elsewhere_all_files_of_a_scene_are_written(
    scene: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    out = tmp_path_factory.mktemp("out")
    before = {path: path.read_bytes() for path in scene.parent.rglob("*.xml")}
    _file(out, FLOOR, "floor.xml")  # holds the same already, so that nobody need allow its replacement
    done = patch(scene, _heavier(scene), out=out)
    assert sorted(done.files) == ["floor.xml", "parts/arm.xml", "scene.xml"]
    assert all(path.read_bytes() == content for path, content in before.items())
    compiled = mujoco.MjModel.from_xml_path(str(out / "scene.xml"))
    assert compiled.body("a").mass[0] == 3.0


def test_beside_the_scene_its_parts_are_not_replaced_unasked(scene: Path) -> None:
    before = {path: path.read_bytes() for path in scene.parent.rglob("*.xml")}
    with pytest.raises(InputError, match=r"parts/arm.xml: exists already"):
        patch(scene, _heavier(scene), out=scene.with_name("new.xml"))
    assert {path: path.read_bytes() for path in scene.parent.rglob("*.xml")} == before


# Xacro

LITERAL = """<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:include filename="macros.xacro"/>
  <xacro:property name="length" value="0.4"/>
  <link name="base"/>
  <link name="upper">
    <inertial>{0}<mass value="1.5"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
  </link>
  <joint name="j1" type="continuous"><parent link="base"/><child link="upper"/></joint>
  <xacro:arm name="fore" mass="2"/>
  {1}
  <joint name="j2" type="continuous">
    <origin xyz="${{length}} 0 0"/><parent link="upper"/><child link="fore"/>
  </joint>
</robot>
"""
MACROS = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:macro name="arm" params="name mass">
    <link name="${name}">
      <inertial>
        <mass value="%s"/>
        <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>
      </inertial>
    </link>
  </xacro:macro>
</robot>
"""


def _xacro(folder: Path, mass: str, more: str = "", origin: str = "") -> Path:
    _file(folder, MACROS % mass, "macros.xacro")
    return _file(folder, LITERAL.format(origin, more), "arm.xacro")


def test_literal_numbers_of_a_xacro_are_changed_also_in_a_macro_that_is_used_once(tmp_path: Path) -> None:
    path = _xacro(tmp_path, "2")
    robot = load_robot(path)
    layout = layout_of(robot, ["viscous"])
    phi = np.concatenate([HEAVY.parameters, 2.0 * HEAVY.parameters, [0.25, 0.0]])
    done = patch(path, Model(robot, layout, phi), out=path, force=True)
    assert {number.file for number in done.changed} == {"arm.xacro", "macros.xacro"}
    assert "Pinocchio" in done.judges
    after = load_robot(path)
    for k, factor in enumerate((1.0, 2.0)):
        assert_agree(after.links[k].own.parameters, factor * HEAVY.parameters, relative=1e-14)
    assert after.joints[0].drive.viscous == 0.25
    assert "${length} 0 0" in path.read_text()


def test_numbers_behind_macros_and_properties_are_listed_and_nothing_is_changed(tmp_path: Path) -> None:
    origin = '<origin xyz="${length/2} 0 0"/>'
    path = _xacro(tmp_path, "${mass}", '<xacro:arm name="other" mass="1"/>', origin)
    text = path.read_text().replace(
        "</robot>",
        '<joint name="j3" type="continuous"><parent link="fore"/><child link="other"/></joint></robot>',
    )
    path.write_text(text)
    robot = load_robot(path)
    layout = layout_of(robot)
    model = Model(robot, layout, np.tile(HEAVY.parameters, 3))
    with pytest.raises(
        DescriptionError, match="have no place of their own, so nothing is changed"
    ) as refused:
        patch(path, model, out=path, force=True)
    told = refused.value.evidence["obstacles"]
    assert (
        "link 'upper': 'xyz' of <origin> at arm.xacro:6 is ${length/2} 0 0, property 'length' (arm.xacro:3)"
        in told
    )
    assert "link 'fore': <mass> at macros.xacro:5 of macro 'arm' (macros.xacro:2) serves 2 places" in told
    assert "steelyard inspect arm.xacro --repair arm.urdf" in refused.value.remedy
    assert path.read_text() == text


def test_a_parameter_of_a_macro_is_named_by_the_macro(tmp_path: Path) -> None:
    path = _xacro(tmp_path, "${mass}")
    source = DescriptionSource.open(path)
    with pytest.raises(DescriptionError, match=r"parameter 'mass' of macro 'arm' \(macros.xacro:2\)"):
        source.patched({"fore": HEAVY}, {})


# URDF


def test_the_three_axes_of_a_planar_joint_have_no_friction_of_their_own(tmp_path: Path) -> None:
    text = ODD_URDF.replace(b'<joint name="joint2" type="revolute">', b'<joint name="joint2" type="planar">')
    path = _file(tmp_path, text, "arm.urdf")
    robot = load_robot(path)
    layout = layout_of(robot, ["viscous"])
    phi = layout.complete_nominal()
    phi[layout.index("joint2_x.viscous")] = 1.0
    phi[layout.index("joint1.viscous")] = 0.7
    done = patch(path, Model(robot, layout, phi))
    assert [(x.name, x.value) for x in done.not_carried] == [("joint2_x", 1.0)]
    assert [(x.name, x.before, x.after) for x in done.changed] == [("joint1", 0.2, 0.7)]
    assert done.text == text.replace(b"damping='0.2'", b"damping='0.7'")


def test_a_link_that_states_nothing_gets_an_inertial_and_zero_friction_stays_unsaid(tmp_path: Path) -> None:
    inertial = re.compile(rb"\t\t<inertial>.*?</inertial>\r\n", re.DOTALL)
    text = inertial.sub(b"", ODD_URDF, count=1)
    path = _file(tmp_path, text, "arm.urdf")
    robot = load_robot(path)
    assert robot.links[1].own is None
    after = _patched(path, {"link2": HEAVY}, {"joint2": {"viscous": 0.0, "coulomb": 0.0}})
    assert after.count("<dynamics") == 1
    read = load_robot(_file(tmp_path, after, "new.urdf")).links[1].own
    assert np.array_equal(read.parameters, HEAVY.parameters)
