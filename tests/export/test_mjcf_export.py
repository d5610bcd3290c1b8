"""A written MJCF is the estimated robot in MuJoCo: torques, ranges, friction, motors, ties."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from export.material import bodies_of, full_layout, nominal_estimate, random_estimate
from oracles.agreement import assert_agree
from oracles.mujoco_file import CompiledFile, State, state_of
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import random_robot, random_states
from robot.mjcf_files import robot_of_mjcf
from shared_material import ROBOTS, needs_shared, robot_files
from steelyard.errors import DescriptionError
from steelyard.formats.mjcf import mjcf_text
from steelyard.formats.model_files import mjcf_model
from steelyard.inertia import Body
from steelyard.inertia.body import random_body
from steelyard.layout import Layout, layout_of
from steelyard.pose import Pose
from steelyard.robot import Joint, JointKind, Robot, load_robot, parse_urdf
from steelyard.robot.joint import Mimic
from steelyard.zoo import ZOO, zoo_robot

FILES = [*robot_files(".urdf"), *robot_files(".xml")]


def _drive(robot: Robot, layout: Layout, phi: np.ndarray, term: str) -> np.ndarray:
    columns = {joint: layout.index(f"{joint}.{term}") for joint in layout.joints if term in layout.drive}
    return np.array(
        [phi[columns[j.name]] if j.name in columns else 0.0 for j in robot.joints for _ in range(j.kind.nv)]
    )


def _assert_mujoco_agrees(
    text: bytes, robot: Robot, layout: Layout, phi: np.ndarray, *, relative: float = 1e-10
) -> CompiledFile:
    """MuJoCo's inverse dynamics of the file against Pinocchio's of the vector, viscous and rotor added."""
    free = robot.untied
    file = CompiledFile(text.decode())
    built = PinocchioRobot.of(free, bodies_of(robot, phi))
    F_v, I_a = (_drive(free, layout, phi, term) for term in ("viscous", "rotor"))
    order = np.concatenate(
        [
            np.arange(file.model.joint(j.name).dofadr[0], file.model.joint(j.name).dofadr[0] + j.nv)
            for j in free.joints
        ]
    )
    if free.nq != free.nv:
        assert np.array_equal(order, np.arange(free.nv)), "our order is that of the file"
    for q, v, a in zip(*random_states(np.random.default_rng(5), free, 4), strict=True):
        expected = built.torques(q, v, a) + F_v * v + I_a * a
        found = file.torques(_ordered(state_of(free, q, v, a), order))[order]
        assert_agree(found, expected, relative=relative)
    assert np.array_equal(file.model.dof_frictionloss[order], _drive(free, layout, phi, "coulomb"))
    return file


def _ordered(state: State, order: np.ndarray) -> State:
    """A state in the order of the file, whose joints stand depth first."""
    if np.array_equal(order, np.arange(len(order))):
        return state
    places = np.argsort(order)
    return State(state.qpos[places], state.qvel[places], state.qacc[places], state.twist)


@pytest.mark.parametrize("name", ZOO)
def test_robots_of_the_zoo_are_written_whole(name: str) -> None:
    robot = zoo_robot(name)
    layout = full_layout(robot)
    phi = nominal_estimate(np.random.default_rng(0), robot, layout)
    text = mjcf_model(robot, layout, phi).content
    file = _assert_mujoco_agrees(text, robot, layout, phi)
    for joint in robot.joints:
        found = file.model.joint(joint.name)
        bounded = np.isfinite(joint.limits.lower) or np.isfinite(joint.limits.upper)
        assert bool(file.model.jnt_limited[found.id]) == bounded
        if bounded:
            assert tuple(found.range) == (joint.limits.lower, joint.limits.upper)
        if np.isfinite(joint.limits.effort):
            assert tuple(file.model.actuator(joint.name).forcerange) == (
                -joint.limits.effort,
                joint.limits.effort,
            )
    for frame in robot.frames:
        if frame.name not in (robot.base.name, *robot.link_names):
            assert np.allclose(file.model.site(frame.name).pos, frame.placement.translation, atol=1e-15)


@needs_shared
@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(ROBOTS)) for path in FILES])
def test_public_robots_are_written_whole_with_their_ties(path: Path) -> None:
    robot = load_robot(path)
    layout = full_layout(robot)
    phi = random_estimate(np.random.default_rng(2), robot, layout)
    text = mjcf_model(robot, layout, phi).content
    file = _assert_mujoco_agrees(text, robot, layout, phi)
    tied = [joint for joint in robot.joints if joint.mimic is not None]
    assert file.model.neq == len(tied)
    assert file.model.nu == robot.nv
    for k, joint in enumerate(tied):
        assert joint.mimic is not None
        assert file.model.joint(file.model.eq_obj1id[k]).name == joint.name
        assert file.model.joint(file.model.eq_obj2id[k]).name == joint.mimic.joint
        assert tuple(file.model.eq_data[k, :2]) == (joint.mimic.offset, joint.mimic.multiplier)


def test_a_tied_joint_settles_where_its_tie_puts_it() -> None:
    robot = zoo_robot("two_link").with_gravity(np.zeros(3))
    leader = robot.joints[0].name
    robot = replace(robot, joints=(robot.joints[0], replace(robot.joints[1], mimic=Mimic(leader, -0.5, 0.3))))
    layout = full_layout(robot)
    phi = nominal_estimate(np.random.default_rng(0), robot, layout)
    model = mujoco.MjModel.from_xml_string(mjcf_model(robot, layout, phi).content.decode())
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, nstep=5000)
    assert data.qpos[1] == pytest.approx(-0.5 * data.qpos[0] + 0.3, abs=1e-2)


@pytest.mark.parametrize("seed", range(10))
def test_random_trees_are_written_whole(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng)
    layout = full_layout(robot)
    phi = random_estimate(rng, robot, layout)
    _assert_mujoco_agrees(mjcf_model(robot, layout, phi).content, robot, layout, phi)


@pytest.mark.parametrize("shape", ["planar", "rod", "point"])
def test_links_on_the_border_of_the_possible_are_loaded(shape: str) -> None:
    rng = np.random.default_rng(7)
    robot = zoo_robot("panda")
    layout = full_layout(robot)
    phi = random_estimate(rng, robot, layout)
    for link in robot.link_names:
        phi[layout.of_link(link)] = random_body(rng, shape=shape).parameters
    _assert_mujoco_agrees(mjcf_model(robot, layout, phi).content, robot, layout, phi)


def test_a_massless_link_is_raised_to_what_mujoco_takes_and_that_is_said() -> None:
    robot = zoo_robot("two_link")
    layout = full_layout(robot)
    phi = random_estimate(np.random.default_rng(0), robot, layout)
    phi[:10] = 0.0
    model = mjcf_model(robot, layout, phi)
    assert [finding.code for finding in model.findings] == ["raised-for-mujoco"]
    _assert_mujoco_agrees(model.content, robot, layout, phi)


def test_the_axes_of_a_planar_joint_stand_in_one_body() -> None:
    robot = parse_urdf(
        '<robot name="p"><link name="base"/><link name="arm"/><joint name="j" type="planar">'
        '<origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><axis xyz="0.6 0 0.8"/>'
        '<parent link="base"/><child link="arm"/></joint></robot>'
    )
    layout = full_layout(robot)
    phi = random_estimate(np.random.default_rng(0), robot, layout)
    text = mjcf_model(robot, layout, phi).content
    file = _assert_mujoco_agrees(text, robot, layout, phi)
    assert file.body_names == ("arm",)
    assert file.joint_names == robot.joint_names


def test_joints_apart_from_each_other_keep_their_anchors_in_one_body() -> None:
    base = zoo_robot("one_link")
    axes = np.eye(3)
    poses = [
        Pose.from_rpy(rpy, xyz) for rpy, xyz in (([1, 2, 3], [0.1, 0.2, 0.3]), ([0.5, 0, 1], [0.3, 0, 0]))
    ]
    first = Joint("one", JointKind.REVOLUTE, -1, poses[0], axes[1])
    second = Joint("two", JointKind.PRISMATIC, 0, poses[1], axes[0])
    between = replace(base.links[0], name="between", own=None, fixed=(), collision=(), virtual=True)
    robot = replace(base, joints=(first, second), links=(between, base.links[0]))
    layout = full_layout(robot)
    phi = random_estimate(np.random.default_rng(0), robot, layout)
    file = _assert_mujoco_agrees(mjcf_model(robot, layout, phi).content, robot, layout, phi)
    assert len(file.body_names) == 1


@pytest.mark.parametrize("placed", [False, True])
def test_a_floating_base_is_free(placed: bool) -> None:
    robot = zoo_robot("cheetah3").floating()
    layout = full_layout(robot)
    phi = random_estimate(np.random.default_rng(1), robot, layout)
    if not placed:
        _assert_mujoco_agrees(mjcf_model(robot, layout, phi).content, robot, layout, phi)
    else:  # MuJoCo's coordinates of a free body are the world's, so the room's own comparison must turn them
        joint = replace(robot.joints[0], placement=Pose.from_rpy([0.3, 0.2, 0.1], [1.0, 2.0, 3.0]))
        mjcf_model(replace(robot, joints=(joint, *robot.joints[1:])), layout, phi)


def test_a_ball_joint_is_a_ball_joint() -> None:
    robot = zoo_robot("two_link")
    joint = replace(robot.joints[1], kind=JointKind.SPHERICAL)
    robot = replace(robot, joints=(robot.joints[0], joint))
    layout = full_layout(robot)
    phi = random_estimate(np.random.default_rng(1), robot, layout)
    _assert_mujoco_agrees(mjcf_model(robot, layout, phi).content, robot, layout, phi)


@pytest.mark.parametrize("kind", [JointKind.HELICAL, JointKind.FLOATING])
def test_joints_mujoco_lacks_are_refused_by_name(kind: JointKind) -> None:
    robot = zoo_robot("two_link")
    joint = replace(robot.joints[1], kind=kind)
    with pytest.raises(DescriptionError, match=f"joint '{joint.name}'"):
        mjcf_text(replace(robot, joints=(robot.joints[0], joint)))


@pytest.mark.parametrize("name", ZOO)
def test_our_own_reader_finds_the_same_robot(name: str) -> None:
    robot = zoo_robot(name)
    again = robot_of_mjcf(mjcf_text(robot).content.decode())
    assert again.joint_names == robot.joint_names
    assert again.link_names == robot.link_names
    for one, other in zip(again.links, robot.links, strict=True):
        assert one.body is not None
        assert other.body is not None
        assert_agree(one.body.parameters, other.body.parameters, relative=1e-12)
    assert sum(len(link.collision) for link in (again.base, *again.links)) == sum(
        len(link.collision) for link in (robot.base, *robot.links)
    )


@pytest.mark.parametrize("name", ZOO)
def test_a_link_on_the_base_does_not_collide_with_it(name: str) -> None:
    robot = zoo_robot(name)
    model = mujoco.MjModel.from_xml_string(mjcf_text(robot).content.decode())
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    roots = {model.body(joint_link.name).id for joint, joint_link in _on_base(robot)}
    for contact in data.contact[: data.ncon]:
        bodies = {int(model.geom_bodyid[contact.geom1]), int(model.geom_bodyid[contact.geom2])}
        assert not (0 in bodies and bodies & roots)


def _on_base(robot: Robot) -> list[tuple[Joint, object]]:
    return [(j, link) for j, link in zip(robot.joints, robot.links, strict=True) if j.parent < 0]


def test_a_joint_that_may_not_move_loses_its_range_and_that_is_said() -> None:
    robot = zoo_robot("one_link")
    limits = replace(robot.joints[0].limits, lower=0.5, upper=0.5)
    robot = replace(robot, joints=(replace(robot.joints[0], limits=limits),))
    model = mjcf_text(robot)
    assert "empty-range-dropped" in [finding.code for finding in model.findings]
    mujoco.MjModel.from_xml_string(model.content.decode())


def test_a_link_without_inertial_is_refused_by_name() -> None:
    robot = zoo_robot("one_link")
    bare = replace(robot.links[0], own=None, fixed=())
    with pytest.raises(DescriptionError, match=f"link '{bare.name}': states no inertial"):
        mjcf_text(replace(robot, links=(bare,)))


def test_the_model_runs_and_a_pendulum_keeps_its_energy() -> None:
    robot = zoo_robot("two_link")
    layout = layout_of(robot)
    phi = layout.nominal
    phi[:10] = Body(1.0, [0.0, 0.0, 0.5], 0.1 * np.eye(3)).parameters
    model = mujoco.MjModel.from_xml_string(mjcf_model(robot, layout, phi).content.decode())
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    model.opt.timestep = 1e-4
    data = mujoco.MjData(model)
    data.qpos[:] = 1.0
    mujoco.mj_forward(model, data)
    start = data.energy.sum()
    mujoco.mj_step(model, data, nstep=5000)
    assert abs(data.energy.sum() - start) < 1e-2 * abs(start)
