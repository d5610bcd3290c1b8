"""a = H⁻¹ (τ - b): forward dynamics and bias, judged by Pinocchio, MuJoCo and the laws of mechanics."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from oracles.agreement import RELATIVE, assert_agree
from oracles.mujoco_robot import MujocoRobot
from oracles.newton_euler import newton_euler
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import ANY, SOLID, link_parameters, random_robot, random_states
from steelyard.dynamics.batch import numbers
from steelyard.dynamics.forward_dynamics import forward_dynamics, forward_scratch, sample_forward_dynamics
from steelyard.dynamics.inverse_dynamics import bias, inverse_dynamics
from steelyard.dynamics.tree import tree_of
from steelyard.errors import NoSolutionError, ShapeError
from steelyard.inertia.body import random_body
from steelyard.layout import Layout, layout_of
from steelyard.pose import Pose
from steelyard.robot import Joint, JointKind, Link, Robot
from steelyard.zoo import ZOO, zoo_robot

TERMS = ("viscous", "coulomb", "offset", "rotor")
WELL_CONDITIONED = 1e5
Z = np.array([0.0, 0.0, 1.0])


def _solid(rng: np.random.Generator, robot: Robot) -> tuple[Layout, np.ndarray, np.ndarray]:
    """Layout with every drive term, parameters of solid links, drive numbers (nv, 4) in order of TERMS."""
    layout = layout_of(robot, TERMS)
    drives = rng.uniform(0, 2, (len(layout.joints), 4))
    phi = np.concatenate([np.ravel([random_body(rng).parameters for _ in robot.links]), drives.ravel()])
    free = sum(dof < 0 for dof in layout.dofs)
    assert all(dof < 0 for dof in layout.dofs[:free]), "floating joints come first in these tests"
    return layout, phi, np.vstack([np.zeros((free, 4)), drives])


def _friction(drive: np.ndarray, v: np.ndarray) -> np.ndarray:
    return drive[:, 0] * v + drive[:, 1] * np.sign(v) + drive[:, 2]


def _judge(robot: Robot, bodies: np.ndarray, rotors: np.ndarray | None = None) -> PinocchioRobot:
    judge = PinocchioRobot.of(robot, bodies)
    if rotors is not None:
        judge.model.armature = judge.v(rotors)
    return judge


def _aba(judge: PinocchioRobot, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
    return pin.aba(judge.model, judge.data, judge.q(q), judge.v(v), judge.v(tau))[judge._v]


def _tolerance(H: np.ndarray, cancelled: float = 0.0) -> float:
    """1e-10 up to a condition number of 1e5, and in proportion beyond: round-off in H moves a that far.

    Inertia of size `cancelled` that opposite terms of H take from each other rounds like H itself.
    """
    singular = np.linalg.svd(H, compute_uv=False)
    return RELATIVE * max(1.0, float(singular[0] + cancelled) / float(singular[-1]) / WELL_CONDITIONED)


def _assert_forward_is_pinocchios(rng: np.random.Generator, robot: Robot) -> None:
    layout, phi, drive = _solid(rng, robot)
    q, v, tau = random_states(rng, robot, 3)
    a = forward_dynamics(robot, layout, phi, q, v, tau)
    judge = _judge(robot, phi[: 10 * len(robot.links)].reshape(-1, 10), drive[:, 3])
    for n in range(3):
        expected = _aba(judge, q[n], v[n], tau[n] - _friction(drive, v[n]))
        assert_agree(a[n], expected, relative=_tolerance(judge.mass_matrix(q[n])))


@pytest.mark.parametrize("seed", range(50))
def test_accelerations_are_pinocchios_on_any_tree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    _assert_forward_is_pinocchios(rng, random_robot(rng))


@pytest.mark.parametrize("seed", range(30))
def test_accelerations_are_pinocchios_when_the_base_floats(seed: int) -> None:
    rng = np.random.default_rng(seed)
    _assert_forward_is_pinocchios(rng, random_robot(rng).floating())


@pytest.mark.parametrize("name", list(ZOO))
def test_accelerations_are_pinocchios_on_the_zoo(name: str) -> None:
    rng = np.random.default_rng(0)
    _assert_forward_is_pinocchios(rng, zoo_robot(name))
    _assert_forward_is_pinocchios(rng, zoo_robot(name).floating())


@pytest.mark.parametrize("seed", range(30))
def test_accelerations_are_mujocos(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng)
    layout, phi, drive = _solid(rng, robot)
    (q,), (v,), (tau,) = random_states(rng, robot, 1)
    judge = MujocoRobot(robot, phi[: 10 * robot.nv].reshape(-1, 10))
    judge.model.dof_armature[judge._v] = drive[:, 3]
    judge.data.qpos[judge._v], judge.data.qvel[judge._v] = q, v
    judge.data.qfrc_applied[judge._v] = tau - _friction(drive, v)
    mujoco.mj_forward(judge.model, judge.data)
    a = forward_dynamics(robot, layout, phi, q, v, tau)[0]
    H = _judge(robot, phi[: 10 * robot.nv].reshape(-1, 10), drive[:, 3]).mass_matrix(q)
    assert_agree(a, np.array(judge.data.qacc[judge._v]), relative=_tolerance(H))


@pytest.mark.parametrize("name", list(ZOO))
def test_forward_dynamics_undoes_inverse_dynamics_with_the_zoos_own_numbers(name: str) -> None:
    for robot in (zoo_robot(name), zoo_robot(name).floating()):
        layout = layout_of(robot, TERMS)
        if any(link.body is None for link in robot.links):
            continue
        phi = layout.complete_nominal()
        q, v, a = random_states(np.random.default_rng(1), robot, 70)
        tau = inverse_dynamics(robot, layout, phi, q, v, a)
        judge = _judge(robot, link_parameters(robot))
        worst = max(_tolerance(judge.mass_matrix(x)) for x in q)
        assert_agree(forward_dynamics(robot, layout, phi, q, v, tau), a, relative=worst)


@pytest.mark.parametrize("seed", range(20))
def test_rods_plates_and_points_with_rotors_are_moved_too(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, shapes=ANY)
    layout = layout_of(robot, ["rotor"])
    phi = np.concatenate([link_parameters(robot).ravel(), rng.uniform(0.01, 0.1, robot.nv)])
    q, v, a = random_states(rng, robot, 2)
    again = forward_dynamics(robot, layout, phi, q, v, inverse_dynamics(robot, layout, phi, q, v, a))
    judge = _judge(robot, link_parameters(robot), phi[-robot.nv :])
    assert_agree(again, a, relative=max(_tolerance(judge.mass_matrix(x)) for x in q))


@pytest.mark.parametrize("seed", range(10))
def test_a_joint_that_floats_in_mid_tree_is_undone_too(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=6, shapes=SOLID)
    free = replace(robot.joints[2], kind=JointKind.FLOATING, parent=1)
    robot = replace(robot, joints=(*robot.joints[:2], free, *robot.joints[3:]))
    layout = layout_of(robot)
    phi = layout.complete_nominal()
    q, v, a = random_states(rng, robot, 3)
    judge = _judge(robot, link_parameters(robot))
    again = forward_dynamics(robot, layout, phi, q, v, inverse_dynamics(robot, layout, phi, q, v, a))
    for n in range(3):
        assert_agree(again[n], a[n], relative=_tolerance(judge.mass_matrix(q[n])))


def _textbook_mass_matrix(robot: Robot, bodies: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Torques of unit accelerations at rest without gravity; Pinocchio's `crba` takes masses for positive."""
    free, still = robot.with_gravity(np.zeros(3)), np.zeros(robot.nv)
    return np.array([newton_euler(free, bodies, q, still, unit) for unit in np.eye(robot.nv)])


def _barely_positive(
    rng: np.random.Generator, robot: Robot, q: np.ndarray, smallest: float
) -> tuple[Layout, np.ndarray, np.ndarray, float]:
    """Impossible bodies, and equal rotor inertias that make `smallest` the least eigenvalue of H(q)."""
    bodies = rng.standard_normal((robot.nv, 10))
    rotor = smallest - float(np.linalg.eigvalsh(_textbook_mass_matrix(robot, bodies, q))[0])
    phi = np.concatenate([bodies.ravel(), np.full(robot.nv, rotor)])
    return layout_of(robot, ["rotor"]), phi, bodies, rotor


@pytest.mark.parametrize("smallest", [1e-2, 1e-6, 1e-9])
@pytest.mark.parametrize("seed", range(8))
def test_impossible_bodies_are_moved_as_long_as_the_mass_matrix_is_positive(
    seed: int, smallest: float
) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, fixed=False)
    (q,), (v,), (tau,) = random_states(rng, robot, 1)
    layout, phi, bodies, rotor = _barely_positive(rng, robot, q, smallest)
    H = _textbook_mass_matrix(robot, bodies, q) + rotor * np.eye(robot.nv)
    expected = np.linalg.solve(H, tau - newton_euler(robot, bodies, q, v, np.zeros(robot.nv)))
    a = forward_dynamics(robot, layout, phi, q, v, tau)[0]
    assert_agree(a, expected, relative=_tolerance(H, cancelled=abs(rotor)))


@pytest.mark.parametrize("seed", [0, 2, 6])
def test_samples_whose_mass_matrix_is_not_positive_are_named(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=5, fixed=False)
    q, v, tau = random_states(rng, robot, 130)
    layout, phi, bodies, rotor = _barely_positive(rng, robot, q[0], 1e-3)
    least = [np.linalg.eigvalsh(_textbook_mass_matrix(robot, bodies, x))[0] + rotor for x in q]
    bad = np.flatnonzero(np.array(least) <= 0)
    assert 0 < bad.size < 130, "choose another seed"
    good = np.delete(np.arange(130), bad)
    assert np.isfinite(forward_dynamics(robot, layout, phi, q[good], v[good], tau[good])).all()
    message = rf"^parameters: .*not positive definite at {bad.size} of 130 samples, first at sample {bad[0]}:"
    with pytest.raises(NoSolutionError, match=message) as caught:
        forward_dynamics(robot, layout, phi, q, v, tau)
    np.testing.assert_array_equal(caught.value.evidence["samples"], bad)
    assert caught.value.evidence["joint"] in robot.joint_names


def _two_wheels_on_one_axle(tilt: float) -> Robot:
    placement = Pose.from_rpy((tilt, 0.3, 0.0), (0.0, 0.0, 0.7))
    inner = Joint("inner", JointKind.CONTINUOUS, -1, Pose.identity(), Z)
    outer = Joint("outer", JointKind.CONTINUOUS, 0, placement, placement.rotation.T @ Z)
    wheel = Link("wheel", random_body(np.random.default_rng(0)))
    return Robot("axle", Link("base"), (inner, outer), (Link("hub"), wheel))


@pytest.mark.parametrize("tilt", [0.0, 0.4, 1.1, 2.0])
def test_an_inertia_that_only_rounding_makes_positive_is_refused(tilt: float) -> None:
    """A massless hub turns about the axis of the wheel it carries: H is singular, whatever rounding says."""
    robot = _two_wheels_on_one_axle(tilt)
    layout = layout_of(robot, ["rotor"])
    phi = np.concatenate([np.zeros(10), random_body(np.random.default_rng(0)).parameters, np.zeros(2)])
    q = np.random.default_rng(1).uniform(-3, 3, (50, 2))
    with pytest.raises(
        NoSolutionError, match=r"at 50 of 50 samples, first at sample 0: .* joint 'inner' feels"
    ):
        forward_dynamics(robot, layout, phi, q, np.zeros((50, 2)), np.ones((50, 2)))
    phi[-2:] = 0.1
    v = np.zeros((50, 2))
    a = forward_dynamics(robot.with_gravity(np.zeros(3)), layout, phi, q, v, np.ones((50, 2)))
    xx, xy, yy, xz, yz, zz = phi[14:20]
    u = robot.joints[1].axis
    axial = u @ [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]] @ u
    assert_agree(a, np.full((50, 2), 1.0 / (2.0 * axial + 0.1)))


def test_a_body_without_inertia_cannot_float() -> None:
    robot = random_robot(np.random.default_rng(3), bodies=2).floating()
    layout = layout_of(robot, ["rotor"])
    phi = np.zeros(layout.size)
    phi[-2:] = 1.0
    q, v, tau = random_states(np.random.default_rng(3), robot, 1)
    with pytest.raises(NoSolutionError, match="joint 'floating_base' feels no positive inertia"):
        forward_dynamics(robot, layout, phi, q, v, tau)


def test_a_released_body_falls() -> None:
    body = random_body(np.random.default_rng(0))
    joint = Joint("free", JointKind.FLOATING, -1, Pose.identity(), Z)
    robot = Robot("free body", Link("world"), (joint,), (Link("body", body),))
    q, _, _ = random_states(np.random.default_rng(1), robot, 5)
    still = np.zeros((5, 6))
    a = forward_dynamics(robot, layout_of(robot), body.parameters, q, still, still)
    np.testing.assert_allclose(np.linalg.norm(a[:, :3], axis=1), 9.81, rtol=1e-13)
    np.testing.assert_allclose(a[:, 3:], 0.0, atol=1e-11)


@pytest.mark.parametrize("seed", range(20))
def test_the_bias_is_what_torques_have_beyond_inertia_times_acceleration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng)
    robot = robot.floating() if seed % 2 else robot
    layout, phi, drive = _solid(rng, robot)
    q, v, _ = random_states(rng, robot, 2)
    bodies = phi[: 10 * len(robot.links)].reshape(-1, 10)
    judge = PinocchioRobot.of(robot, bodies)
    b = bias(robot, layout, phi, q, v)
    for n in range(2):
        friction = _friction(drive, v[n])
        nonlinear = pin.nonLinearEffects(judge.model, judge.data, judge.q(q[n]), judge.v(v[n]))[judge._v]
        assert_agree(b[n], nonlinear + friction)
        assert_agree(b[n], newton_euler(robot, bodies, q[n], v[n], np.zeros(robot.nv)) + friction)


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 129])
def test_a_sample_does_not_depend_on_its_batch(count: int) -> None:
    rng = np.random.default_rng(5)
    robot = random_robot(rng, bodies=5).floating()
    layout, phi, _ = _solid(rng, robot)
    q, v, tau = random_states(rng, robot, 129)
    whole = forward_dynamics(robot, layout, phi, q, v, tau)
    part = forward_dynamics(robot, layout, phi, q[:count], v[:count], tau[:count])
    np.testing.assert_array_equal(part, whole[:count])


def test_the_sample_kernel_fails_with_a_number_and_nan_and_works_again_afterwards() -> None:
    rng = np.random.default_rng(6)
    robot = random_robot(rng, bodies=4)
    layout, phi, _ = _solid(rng, robot)
    (q,), (v,), (tau,) = random_states(rng, robot, 1)
    work, a = forward_scratch(4, 4), np.empty(4)
    tree = tree_of(robot)
    hollow = phi.copy()
    hollow[layout.index(f"{robot.joint_names[3]}.rotor")] = -1e6
    assert sample_forward_dynamics(tree, numbers(robot, layout, hollow), q, v, tau, work, a) == 3
    assert np.isnan(a).all()
    assert sample_forward_dynamics(tree, numbers(robot, layout, phi), q, v, tau, work, a) == -1
    np.testing.assert_array_equal(a, forward_dynamics(robot, layout, phi, q, v, tau)[0])


def test_bad_torques_are_refused_by_name() -> None:
    robot = zoo_robot("two_link")
    layout = layout_of(robot)
    state = (robot, layout, layout.complete_nominal(), np.zeros((3, 2)), np.zeros((3, 2)))
    with pytest.raises(ShapeError, match=r"^tau: expected shape \(N, 2\), got \(3, 3\)"):
        forward_dynamics(*state, np.zeros((3, 3)))
    with pytest.raises(ShapeError, match=r"^tau: must be finite"):
        forward_dynamics(*state, np.full((3, 2), np.nan))
    with pytest.raises(ShapeError, match=r"^v: expected shape"):
        bias(*state[:4], np.zeros((3, 3)))
