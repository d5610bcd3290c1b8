"""Joints that mimic others: the tied robot is the untied one along the ties, and Pinocchio agrees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from oracles.agreement import assert_agree
from oracles.newton_euler import newton_euler, world_poses
from oracles.random_robots import SOLID, random_robot, random_states
from steelyard.drive import Drive
from steelyard.dynamics import (
    base_wrench_regressor,
    compress,
    forward_dynamics,
    forward_kinematics,
    frame_jacobian,
    inverse_dynamics,
    mass_matrix,
    momentum_rate_regressor,
    momentum_regressor,
    regressor_adjoint,
    torque_gram,
    torque_regressor,
)
from steelyard.dynamics.inverse_dynamics import bias
from steelyard.dynamics.passivity import passivity_regressor
from steelyard.errors import DescriptionError, InputError, NoSolutionError, UnknownNameError
from steelyard.layout import layout_of
from steelyard.motion import random_fourier
from steelyard.robot import JointKind, Limits, Robot, parse_urdf
from steelyard.robot.joint import Mimic

TERMS = ["viscous", "coulomb", "offset", "rotor"]


def _tied(rng: np.random.Generator, **options: object) -> Robot:
    """A random tree in which the later joints follow the first or second, through any ratio."""
    robot = random_robot(rng, bodies=6, **options)
    joints = list(robot.joints)
    for i, leader in ((2, 0), (4, 0), (5, 1)):
        mimic = Mimic(joints[leader].name, float(rng.uniform(-2, 2)), float(rng.uniform(-1, 1)))
        joints[i] = replace(joints[i], mimic=mimic)
    return replace(robot, joints=tuple(joints))


def _written_out(robot: Robot, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All joints' positions and rates, from the definition of a mimic joint."""
    independent = [joint.name for joint in robot.joints if joint.mimic is None]
    values, rates = [], []
    for joint in robot.joints:
        mimic = joint.mimic or Mimic(joint.name)
        k = independent.index(mimic.joint)
        values.append(mimic.multiplier * q[:, k] + mimic.offset)
        rates.append(mimic.multiplier * v[:, k])
    return np.column_stack(values), np.column_stack(rates)


@pytest.mark.parametrize("seed", range(10))
def test_torques_do_the_same_work_as_those_of_the_free_joints(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = _tied(rng)
    assert (robot.nv, robot.nq, len(robot.joints)) == (3, 3, 6)
    layout = layout_of(robot)
    phi = rng.standard_normal(layout.size)
    q, v, a = random_states(rng, robot, 3)
    tau = inverse_dynamics(robot, layout, phi, q, v, a)
    assert_agree(torque_regressor(robot, layout, q, v, a) @ phi, tau)
    q_all, v_all = _written_out(robot, q, v)
    _, a_all = _written_out(robot, q, a)
    for n in range(3):
        forces = newton_euler(robot.untied, phi.reshape(-1, 10), q_all[n], v_all[n], a_all[n])
        for k in range(3):
            # A unit virtual rate of one independent joint moves all that follow it.
            virtual = _written_out(robot, q[:1], np.eye(3)[k : k + 1])[1][0]
            np.testing.assert_allclose(tau[n, k], forces @ virtual, rtol=1e-9, atol=1e-9)
        poses = world_poses(robot.untied, q_all[n])
        placed = forward_kinematics(robot, q)[n]
        assert_agree(placed[:, :3, :3], np.array([R for R, _ in poses]))
        assert_agree(placed[:, :3, 3], np.array([p for _, p in poses]))


def _potential(robot: Robot, phi: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Energy of the links' weights, -g . sum (m p + R m c), shape (N,), J."""
    poses = forward_kinematics(robot, q, list(robot.link_names))
    m, mc = phi.reshape(-1, 10)[:, 0], phi.reshape(-1, 10)[:, 1:4]
    moments = m[:, None] * poses[:, :, :3, 3] + np.einsum("nkij,kj->nki", poses[:, :, :3, :3], mc)
    return np.asarray(-moments.sum(axis=1) @ robot.gravity)


@pytest.mark.parametrize("seed", range(6))
def test_every_kernel_obeys_its_law_on_a_tied_robot(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = _tied(rng, shapes=SOLID)
    layout = layout_of(robot, TERMS)
    phi = layout.complete_nominal()
    q, v, a = random_states(rng, robot, 4)
    tau = inverse_dynamics(robot, layout, phi, q, v, a)
    H = mass_matrix(robot, layout, phi, q)
    assert_agree(np.einsum("nij,nj->ni", H, a) + bias(robot, layout, phi, q, v), tau)
    assert (np.linalg.eigvalsh(H) > 0).all()
    np.testing.assert_allclose(forward_dynamics(robot, layout, phi, q, v, tau), a, rtol=1e-7, atol=1e-7)
    assert_agree(momentum_regressor(robot, layout, q, v) @ phi, np.einsum("nij,nj->ni", H, v))
    assert_agree(passivity_regressor(robot, layout, q, v, v, a) @ phi, tau)
    rigid = layout_of(robot)
    held = inverse_dynamics(robot, rigid, phi[: rigid.size], q, np.zeros_like(v), np.zeros_like(v))
    # The momentum's rate is W_c φ + τ.
    h = 1e-6
    ahead = momentum_regressor(robot, layout, q + h * v, v + h * a) @ phi
    back = momentum_regressor(robot, layout, q - h * v, v - h * a) @ phi
    rate = momentum_rate_regressor(robot, layout, q, v) @ phi + tau
    np.testing.assert_allclose((ahead - back) / (2 * h), rate, rtol=1e-5, atol=1e-4)
    # Weight is the gradient of the potential energy.
    for k in range(robot.nv):
        step = h * np.eye(robot.nv)[k]
        rise = _potential(robot, phi[: rigid.size], q + step) - _potential(robot, phi[: rigid.size], q - step)
        np.testing.assert_allclose(rise / (2 * h), held[:, k], rtol=1e-5, atol=1e-4)
    assert base_wrench_regressor(robot, layout, q, v, a).shape == (4, 6, layout.size)


@pytest.mark.parametrize("seed", range(4))
def test_jacobian_and_gradients_agree_with_differences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = _tied(rng)
    layout = layout_of(robot, ["viscous", "rotor"])
    q, v, a = random_states(rng, robot, 2)
    G = rng.standard_normal((2, robot.nv, layout.size))
    gradient = regressor_adjoint(robot, layout, G, q, v, a)
    J = frame_jacobian(robot, q, robot.link_names[5])
    h = 1e-6
    for k in range(robot.nv):
        step = h * np.eye(robot.nv)[k]
        places = [
            forward_kinematics(robot, x, [robot.link_names[5]])[:, 0, :3, 3] for x in (q + step, q - step)
        ]
        np.testing.assert_allclose(J[:, :3, k], (places[0] - places[1]) / (2 * h), atol=1e-7)
        for name, shift in (("q", (1, 0, 0)), ("v", (0, 1, 0)), ("a", (0, 0, 1))):
            both = [
                np.sum(
                    G
                    * torque_regressor(
                        robot,
                        layout,
                        q + s * shift[0] * step,
                        v + s * shift[1] * step,
                        a + s * shift[2] * step,
                    ),
                    axis=(1, 2),
                )
                for s in (1, -1)
            ]
            difference = (both[0] - both[1]) / (2 * h)
            np.testing.assert_allclose(getattr(gradient, name)[:, k], difference, rtol=1e-5, atol=1e-4)


def test_a_log_of_a_tied_robot_is_compressed_exactly() -> None:
    rng = np.random.default_rng(5)
    robot = _tied(rng)
    layout = layout_of(robot, TERMS)
    q, v, a = random_states(rng, robot, 60)
    tau = rng.standard_normal(v.shape)
    blocks = [(q[:25], v[:25], a[:25], tau[:25]), (q[25:], v[25:], a[25:], tau[25:])]
    W = torque_regressor(robot, layout, q, v, a)
    stacked = np.concatenate([W, tau[..., None]], axis=2)
    weights = np.array([1.0, 2.0, 0.5])
    small = compress(robot, layout, blocks)
    weighted = (weights[:, None] * stacked).reshape(-1, layout.size + 1)
    assert_agree(small.gram(weights), weighted.T @ weighted)
    R = small.factor(weights)
    assert_agree(R.T @ R, weighted.T @ weighted)
    flat = stacked.reshape(-1, layout.size + 1)
    assert_agree(torque_gram(robot, layout, blocks), flat.T @ flat)
    assert small.samples == 60
    with pytest.raises(InputError, match="numbers of samples differ"):
        compress(robot, layout, [(q[:2], v[:3], a[:3], tau[:3])])
    with pytest.raises(InputError, match="no sample"):
        compress(robot, layout, [])


def test_a_tied_robot_without_inertia_is_refused() -> None:
    robot = _tied(np.random.default_rng(0), shapes=SOLID)
    layout = layout_of(robot)
    q, v, a = random_states(np.random.default_rng(0), robot, 2)
    with pytest.raises(NoSolutionError, match="not positive definite"):
        forward_dynamics(robot, layout, np.zeros(layout.size), q, v, a)


GRIPPER = """<robot name="gripper"><link name="base"/>{links}
<joint name="arm" type="revolute"><parent link="base"/><child link="l0"/><axis xyz="0 0 1"/>
<origin xyz="0.1 0 0.2" rpy="0.3 0 0"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
<joint name="left" type="prismatic"><parent link="l0"/><child link="l1"/><axis xyz="0 1 0"/>
<origin xyz="0 0.1 0.2"/><limit lower="0" upper="1" velocity="1" effort="1"/></joint>
<joint name="right" type="prismatic"><parent link="l0"/><child link="l2"/><axis xyz="0 -1 0"/>
<origin xyz="0 0.1 0.2"/><limit lower="0" upper="1" velocity="1" effort="1"/>
<mimic joint="left" multiplier="2" offset="0.1"/></joint>
<joint name="tip" type="revolute"><parent link="l2"/><child link="l3"/><axis xyz="1 0 0"/>
<origin xyz="0 0.1 0.2"/><limit lower="-1" upper="1" velocity="1" effort="1"/>
<mimic joint="{leader}" multiplier="0.5" offset="0.2"/></joint></robot>"""


def _gripper(leader: str = "left") -> tuple[Robot, str]:
    rng = np.random.default_rng(2)
    inside = []
    for i in range(4):
        xx, yy, zz = rng.uniform(0.1, 0.15, 3)
        inside.append(
            f'<link name="l{i}"><inertial><origin xyz="0.1 {0.1 * i} 0"/><mass value="{1 + i}"/><inertia '
            f'ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="0.01" ixz="0" iyz="0"/></inertial></link>'
        )
    text = GRIPPER.format(links="".join(inside), leader=leader)
    return parse_urdf(text), text


def test_a_urdf_with_mimic_joints_has_the_torques_of_pinocchios_mimic_model() -> None:
    robot, text = _gripper()
    assert robot.findings == ()
    model = pin.buildModelFromXML(text, True)  # with mimic joints
    assert model.nv == robot.nv == 2
    data = model.createData()
    layout = layout_of(robot)
    phi = layout.complete_nominal()
    rng = np.random.default_rng(1)
    for _ in range(5):
        q, v, a = rng.standard_normal((3, 2))
        tau = inverse_dynamics(robot, layout, phi, q, v, a)[0]
        assert_agree(tau, pin.rnea(model, data, q, v, a))


def test_a_mimic_of_a_mimic_follows_the_one_that_moves() -> None:
    robot, _ = _gripper(leader="right")
    tip = robot.joints[3].mimic
    assert tip is not None
    assert tip.joint == "left"
    np.testing.assert_allclose([tip.multiplier, tip.offset], [0.5 * 2, 0.5 * 0.1 + 0.2])


def test_locking_the_leader_locks_its_followers_where_they_go() -> None:
    robot, _ = _gripper()
    locked = robot.locked({"left": 0.3})
    assert locked.joint_names == ("arm",)
    assert {lock.name: float(lock.position[0]) for lock in locked.locks} == pytest.approx(
        {"left": 0.3, "right": 0.7, "tip": 0.35}
    )
    names = [frame.name for frame in robot.frames if frame.name != "base"]
    q = np.array([[0.4, 0.3]])
    assert_agree(forward_kinematics(locked, q[:, :1], names), forward_kinematics(robot, q, names))
    phi, single = layout_of(robot).complete_nominal(), layout_of(locked).complete_nominal()
    v, a = np.array([[0.7, 0.0]]), np.array([[1.1, 0.0]])
    whole = inverse_dynamics(robot, layout_of(robot), phi, q, v, a)[0, :1]
    assert_agree(inverse_dynamics(locked, layout_of(locked), single, q[0, :1], v[0, :1], a[0, :1])[0], whole)
    assert robot.locked({"left": 0.3, "right": 0.7}).digest == locked.digest
    with pytest.raises(InputError, match="mimics 'left' and has no position"):
        robot.locked({"right": 0.1})
    with pytest.raises(InputError, match=r"follows it to 0\.7 m, not 0\.1"):
        robot.locked({"left": 0.3, "right": 0.1})


def test_a_leader_that_cannot_lead_is_refused() -> None:
    with pytest.raises(DescriptionError, match="mimics itself"):
        _gripper(leader="tip")
    with pytest.raises(DescriptionError, match="multiplier of zero"):
        Mimic("left", 0.0)
    robot = random_robot(np.random.default_rng(0), bodies=3)
    first, second, third = robot.joints
    with pytest.raises(UnknownNameError, match="nobody"):
        replace(robot, joints=(first, replace(second, mimic=Mimic("nobody")), third))
    with pytest.raises(DescriptionError, match="which mimics another itself"):
        replace(
            robot,
            joints=(
                first,
                replace(second, mimic=Mimic(first.name)),
                replace(third, mimic=Mimic(second.name)),
            ),
        )
    ball = replace(first, kind=JointKind.SPHERICAL, limits=Limits(), drive=Drive())
    with pytest.raises(DescriptionError, match="is spherical"):
        replace(robot, joints=(ball, replace(second, mimic=Mimic(first.name)), third))
    with pytest.raises(DescriptionError, match="cannot mimic another"):
        replace(ball, mimic=Mimic(second.name))


def test_what_needs_independent_joints_says_so() -> None:
    robot, _ = _gripper()
    with pytest.raises(DescriptionError, match=r"joint 'right' mimics 'left'.*Lock 'left'"):
        random_fourier(robot, np.random.default_rng(0))
