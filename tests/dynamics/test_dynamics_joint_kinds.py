"""Helical, spherical, planar and universal joints, judged by Pinocchio, MuJoCo and the textbook."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from oracles.agreement import assert_agree
from oracles.newton_euler import newton_euler, world_poses
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import SOLID, link_parameters, random_pose, random_robot_on, random_states
from steelyard.drive import Drive
from steelyard.dynamics import (
    compress,
    forward_dynamics,
    forward_kinematics,
    frame_jacobian,
    inverse_dynamics,
    mass_matrix,
    regressor_adjoint,
    torque_regressor,
)
from steelyard.dynamics.inverse_dynamics import bias
from steelyard.inertia.body import random_body
from steelyard.layout import layout_of
from steelyard.pose import Pose
from steelyard.robot import JointKind, Limits, Robot
from steelyard.robot.assembly import RawJoint, RawLink, assemble_robot, chained, planar

BASE = "screws and balls"


@pytest.mark.parametrize("seed", range(40))
def test_torques_and_regressor_are_those_of_the_judges(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot_on(BASE, rng)
    assert robot.nq > robot.nv
    layout = layout_of(robot)
    phi = rng.standard_normal(layout.size)
    q, v, a = random_states(rng, robot, 2)
    Y = torque_regressor(robot, layout, q, v, a)
    tau = inverse_dynamics(robot, layout, phi, q, v, a)
    judge = PinocchioRobot.of(robot, phi.reshape(-1, 10))
    for n in range(2):
        state = (q[n], v[n], a[n])
        assert_agree(Y[n], judge.regressor(*state))
        for judged in (Y[n] @ phi, tau[n]):
            assert_agree(judged, judge.torques(*state))
            assert_agree(judged, newton_euler(robot, phi.reshape(-1, 10), *state))


@pytest.mark.parametrize("seed", range(20))
def test_mass_matrix_poses_and_jacobian_are_those_of_the_judges(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot_on(BASE, rng, shapes=SOLID)
    layout = layout_of(robot)
    q, v, _ = random_states(rng, robot, 1)
    judge = PinocchioRobot.of(robot, link_parameters(robot))
    assert_agree(mass_matrix(robot, layout, layout.complete_nominal(), q)[0], judge.mass_matrix(q[0]))
    X = forward_kinematics(robot, q)[0]
    for placed, (R, p) in zip(X, world_poses(robot, q[0]), strict=True):
        assert_agree(placed[:3, :3], R)
        assert_agree(placed[:3, 3], p)
    h = 1e-6
    moved = pin.integrate(judge.model, judge.q(q[0]), h * judge.v(v[0]))
    back = pin.integrate(judge.model, judge.q(q[0]), -h * judge.v(v[0]))
    name, k = robot.link_names[-1], judge.model.getJointId(robot.joint_names[-1])
    places = []
    for at in (moved, back):
        pin.forwardKinematics(judge.model, judge.data, at)
        places.append(judge.data.oMi[k].translation.copy())
    velocity = frame_jacobian(robot, q, name)[0] @ v[0]
    np.testing.assert_allclose(velocity[:3], (places[0] - places[1]) / (2 * h), atol=1e-7)


@pytest.mark.parametrize("seed", range(20))
def test_forward_dynamics_undoes_inverse_dynamics(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot_on(BASE, rng, shapes=SOLID)
    layout = layout_of(robot, ["viscous", "rotor"])
    phi = layout.complete_nominal()
    q, v, a = random_states(rng, robot, 5)
    tau = inverse_dynamics(robot, layout, phi, q, v, a)
    np.testing.assert_allclose(forward_dynamics(robot, layout, phi, q, v, tau), a, rtol=1e-8, atol=1e-7)
    H = mass_matrix(robot, layout, phi, q)
    assert_agree(np.einsum("nij,nj->ni", H, a) + bias(robot, layout, phi, q, v), tau)


@pytest.mark.parametrize("seed", range(8))
def test_gradients_agree_with_differences_along_each_degree_of_freedom(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot_on(BASE, rng)
    layout = layout_of(robot, ["viscous"])
    q, v, a = random_states(rng, robot, 1)
    G = rng.standard_normal((1, robot.nv, layout.size))
    gradient = regressor_adjoint(robot, layout, G, q, v, a)
    judge = PinocchioRobot.of(robot)
    h = 1e-6
    for k in range(robot.nv):
        step = h * np.eye(robot.nv)[k]
        ends = [_moved(robot, judge, q[0], s * step) for s in (1, -1)]
        both = [np.vdot(G, torque_regressor(robot, layout, x[None], v, a)) for x in ends]
        np.testing.assert_allclose(gradient.q[0, k], (both[0] - both[1]) / (2 * h), rtol=1e-5, atol=1e-4)


def _moved(robot: Robot, judge: PinocchioRobot, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Our coordinates after a small step along the degrees of freedom, by Pinocchio's integration."""
    there = pin.integrate(judge.model, judge.q(q), judge.v(step))
    moved, at, at_v = [], 0, 0
    for joint in robot.joints:
        model = judge.model.joints[judge.model.getJointId(joint.name)]
        if joint.nq > 1:
            moved.append(there[model.idx_q : model.idx_q + model.nq])
        else:  # an unbounded joint is a cosine and a sine there
            moved.append([q[at] + step[at_v]])
        at, at_v = at + joint.nq, at_v + joint.nv
    return np.concatenate(moved)


def test_the_compressed_log_holds_the_equations_of_a_spherical_joint() -> None:
    rng = np.random.default_rng(3)
    robot = random_robot_on(BASE, rng)
    layout = layout_of(robot)
    q, v, a = random_states(rng, robot, 50)
    tau = rng.standard_normal(v.shape)
    W = torque_regressor(robot, layout, q, v, a).reshape(-1, layout.size)
    stacked = np.column_stack([W, tau.ravel()])
    assert_agree(compress(robot, layout, [(q, v, a, tau)]).gram(), stacked.T @ stacked)


def _raw(rng: np.random.Generator, name: str, parent: str, child: str, kind: JointKind) -> RawJoint:
    axis = rng.standard_normal(3)
    return RawJoint(
        name, "here", kind, parent, child, random_pose(rng), axis / np.linalg.norm(axis), Limits(), Drive()
    )


def _compound_robot(rng: np.random.Generator) -> Robot:
    bodies = [random_body(rng, shape="solid") for _ in range(3)]
    links = [RawLink("base", "here", None, ())]
    links += [RawLink(f"link{i}", "here", body, ()) for i, body in enumerate(bodies)]
    flat = planar(_raw(rng, "plane", "base", "link0", JointKind.CONTINUOUS))
    across = np.linalg.qr(rng.standard_normal((3, 3)))[0][0]
    turn = _raw(rng, "cross_1", "link0", "link1", JointKind.REVOLUTE)
    cross = chained([turn, replace(turn, name="cross_2", placement=Pose.identity(), axis=across)])
    last = _raw(rng, "last", "link1", "link2", JointKind.REVOLUTE)
    return assemble_robot("compound", [*links, *flat[0], *cross[0]], [*flat[1], *cross[1], last])


def _several_joints_on_a_body(robot: Robot) -> mujoco.MjModel:
    """The same mechanism in MuJoCo, where a body carries all joints of its compound."""

    def words(values: object) -> str:
        return " ".join(repr(float(x)) for x in np.ravel(values))

    text, closing, waiting, first = "", "", "", None
    for joint, link in zip(robot.joints, robot.links, strict=True):
        kind = "slide" if joint.kind is JointKind.PRISMATIC else "hinge"
        first = joint.placement if first is None else first
        waiting += f'<joint name="{joint.name}" type="{kind}" axis="{words(joint.axis)}"/>'
        if link.virtual:
            continue
        x, y, z, w = pin.Quaternion(first.rotation.copy()).coeffs()
        body = link.body
        assert body is not None
        I_c = body.inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        text += (
            f'<body pos="{words(first.translation)}" quat="{words((w, x, y, z))}">'
            f'<inertial pos="{words(body.com)}" mass="{body.mass!r}" fullinertia="{words(I_c)}"/>{waiting}'
        )
        closing, waiting, first = closing + "</body>", "", None
    return mujoco.MjModel.from_xml_string(
        '<mujoco><compiler angle="radian" inertiafromgeom="false"/>'
        f'<option gravity="{words(robot.gravity)}"/><worldbody>{text}{closing}</worldbody></mujoco>'
    )


@pytest.mark.parametrize("seed", range(10))
def test_planar_and_universal_joints_are_those_of_mujoco(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = _compound_robot(rng)
    names = ("plane_x", "plane_y", "plane_angle", "cross_1", "cross_2", "last")
    assert robot.joint_names == names
    assert [link.virtual for link in robot.links] == [True, True, False, True, False, False]
    assert robot.findings == ()
    layout = layout_of(robot)
    np.testing.assert_array_equal(layout.free, np.repeat([not link.virtual for link in robot.links], 10))
    phi = layout.complete_nominal()
    assert not phi[~layout.free].any()
    q, v, a = random_states(rng, robot, 3)
    tau = inverse_dynamics(robot, layout, phi, q, v, a)
    assert_agree(torque_regressor(robot, layout, q, v, a) @ phi, tau)
    np.testing.assert_allclose(forward_dynamics(robot, layout, phi, q, v, tau), a, rtol=1e-7, atol=1e-7)
    model = _several_joints_on_a_body(robot)
    data = mujoco.MjData(model)
    for n in range(3):
        data.qpos, data.qvel, data.qacc = q[n], v[n], a[n]
        mujoco.mj_inverse(model, data)
        assert_agree(tau[n], data.qfrc_inverse)


def test_a_planar_joint_slides_across_its_axis_and_turns_about_it() -> None:
    rng = np.random.default_rng(1)
    for axis in (*np.eye(3), *-np.eye(3), *rng.standard_normal((5, 3))):
        raw = _raw(rng, "plane", "base", "link0", JointKind.CONTINUOUS)
        normal = axis / np.linalg.norm(axis)
        _, (x, y, turn) = planar(
            RawJoint("plane", "", raw.kind, "base", "link0", raw.placement, normal, Limits(), Drive())
        )
        triad = np.array([x.axis, y.axis, turn.axis])
        np.testing.assert_allclose(triad @ triad.T, np.eye(3), atol=1e-15)
        assert np.linalg.det(triad) > 0
