"""Gradient of ⟨G, Y(q, v, a)⟩, judged by differences of two regressors and by Pinocchio's derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from oracles.agreement import assert_agree
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import random_robot, random_states
from oracles.thread_counts import thread_count
from steelyard.dynamics.adjoint import Gradient, regressor_adjoint
from steelyard.dynamics.regressor import torque_regressor
from steelyard.errors import InputError, ShapeError
from steelyard.inertia.body import random_body
from steelyard.layout import layout_of
from steelyard.robot import JointKind, Robot
from steelyard.zoo import ZOO, zoo_robot

TERMS = ("viscous", "coulomb", "offset", "rotor")
STEP = 1e-3
State = tuple[np.ndarray, np.ndarray, np.ndarray]


def _random_robot(seed: int) -> tuple[np.random.Generator, Robot]:
    """A tree whose base is fixed, or floats, or which has a floating joint in its middle."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng)
    if seed % 3 == 1:
        robot = robot.floating()
    elif seed % 3 == 2:
        middle = len(robot.joints) // 2
        joints = list(robot.joints)
        joints[middle] = replace(joints[middle], kind=JointKind.FLOATING)
        robot = replace(robot, joints=tuple(joints))
    return rng, robot


def _moved(robot: Robot, q: np.ndarray, along: np.ndarray) -> np.ndarray:
    """Coordinates q (nq,) after a small motion (nv,): a floating joint follows its twist's exponential."""
    parts, at, dof = [], 0, 0
    for joint in robot.joints:
        here, step = q[at : at + joint.kind.nq], along[dof : dof + joint.kind.nv]
        if joint.kind is JointKind.FLOATING:
            here = pin.SE3ToXYZQUAT(pin.XYZQUATToSE3(here) * pin.exp6(pin.Motion(step)))
        else:
            here = here + step
        parts.append(here)
        at, dof = at + joint.kind.nq, dof + joint.kind.nv
    return np.concatenate(parts)


def _slope(value: Callable[[float], float]) -> float:
    """Derivative at zero by central differences of fourth order."""
    return (8 * (value(STEP) - value(-STEP)) - value(2 * STEP) + value(-2 * STEP)) / (12 * STEP)


def _directional(gradient: Gradient, n: int, along: State) -> float:
    return float(gradient.q[n] @ along[0] + gradient.v[n] @ along[1] + gradient.a[n] @ along[2])


def _size(gradient: Gradient, n: int) -> float:
    return float(max(np.abs(x[n]).max() for x in (gradient.q, gradient.v, gradient.a)))


@pytest.mark.parametrize("seed", range(24))
def test_each_derivative_is_the_slope_of_the_regressor(seed: int) -> None:
    rng, robot = _random_robot(seed)
    layout = layout_of(robot, TERMS)
    q, v, a = random_states(rng, robot, 1)
    v += np.copysign(0.01, v)  # steps stay on one side of Coulomb's jump
    G = rng.standard_normal((1, robot.nv, layout.size))
    gradient = regressor_adjoint(robot, layout, G, q, v, a)

    def slopes(move: Callable[[np.ndarray], State]) -> np.ndarray:
        def values(step: float) -> np.ndarray:
            moved = [move(step * unit) for unit in np.eye(robot.nv)]
            Y = torque_regressor(robot, layout, *(np.array(part) for part in zip(*moved, strict=True)))
            return np.einsum("nkc,kc->n", Y, G[0])

        return (8 * (values(STEP) - values(-STEP)) - values(2 * STEP) + values(-2 * STEP)) / (12 * STEP)

    assert_agree(gradient.q[0], slopes(lambda d: (_moved(robot, q[0], d), v[0], a[0])), relative=1e-9)
    assert_agree(gradient.v[0], slopes(lambda d: (q[0], v[0] + d, a[0])), relative=1e-9)
    assert_agree(gradient.a[0], slopes(lambda d: (q[0], v[0], a[0] + d)), relative=1e-9)


def _assert_slopes_are_those_of_pinocchios_regressor(rng: np.random.Generator, robot: Robot) -> None:
    layout = layout_of(robot)
    q, v, a = random_states(rng, robot, 2)
    G = rng.standard_normal((2, robot.nv, layout.size))
    gradient = regressor_adjoint(robot, layout, G, q, v, a)
    judge = PinocchioRobot.of(robot)
    for n in range(2):
        along = tuple(rng.standard_normal((3, robot.nv)))

        def value(t: float, n: int = n, along: State = along) -> float:
            dq, dv, da = (t * x for x in along)
            return float(np.vdot(G[n], judge.regressor(_moved(robot, q[n], dq), v[n] + dv, a[n] + da)))

        expected = _slope(value)
        assert abs(_directional(gradient, n, along) - expected) <= 1e-8 * _size(gradient, n) * robot.nv


@pytest.mark.parametrize("seed", range(24))
def test_any_direction_has_the_slope_of_pinocchios_regressor(seed: int) -> None:
    _assert_slopes_are_those_of_pinocchios_regressor(*_random_robot(seed))


@pytest.mark.parametrize("name", list(ZOO))
def test_the_zoo_has_the_slopes_of_pinocchios_regressor(name: str) -> None:
    rng = np.random.default_rng(0)
    _assert_slopes_are_those_of_pinocchios_regressor(rng, zoo_robot(name))
    _assert_slopes_are_those_of_pinocchios_regressor(rng, zoo_robot(name).floating())


@pytest.mark.parametrize("seed", range(24))
def test_weights_of_rank_one_give_pinocchios_derivatives_of_the_torques(seed: int) -> None:
    """With G = λ φᵀ the sum is λ·τ, whose gradients are λᵀ ∂τ/∂q, λᵀ ∂τ/∂v and λᵀ H: no differences."""
    rng, robot = _random_robot(seed)
    layout = layout_of(robot)
    phi = np.ravel([random_body(rng).parameters for _ in robot.links])
    multiplier = rng.standard_normal(robot.nv)
    (q,), (v,), (a,) = random_states(rng, robot, 1)
    gradient = regressor_adjoint(robot, layout, np.outer(multiplier, phi), q, v, a)
    judge = PinocchioRobot.of(robot, phi.reshape(-1, 10))
    pin.computeRNEADerivatives(judge.model, judge.data, judge.q(q), judge.v(v), judge.v(a))
    order = np.ix_(judge._v, judge._v)
    assert_agree(gradient.q[0], multiplier @ np.array(judge.data.dtau_dq)[order])
    assert_agree(gradient.v[0], multiplier @ np.array(judge.data.dtau_dv)[order])
    assert_agree(gradient.a[0], multiplier @ judge.mass_matrix(q))


def test_the_gradient_is_linear_in_the_weights_and_zero_without_them() -> None:
    rng, robot = _random_robot(4)
    layout = layout_of(robot, TERMS)
    state = random_states(rng, robot, 3)
    G, E = rng.standard_normal((2, 3, robot.nv, layout.size))
    both, one, other, none = (
        regressor_adjoint(robot, layout, weights, *state) for weights in (2 * G - 3 * E, G, E, 0 * G)
    )
    for name in ("q", "v", "a"):
        parts = 2 * getattr(one, name) - 3 * getattr(other, name)
        assert_agree(getattr(both, name), parts, relative=1e-13)
        np.testing.assert_array_equal(getattr(none, name), 0.0)


def test_drives_add_their_own_slopes_and_coulomb_and_offset_none() -> None:
    rng = np.random.default_rng(7)
    robot = random_robot(rng, bodies=4).floating()
    layout = layout_of(robot, TERMS)
    state = random_states(rng, robot, 2)
    drives = np.zeros((2, robot.nv, layout.size))
    drives[:, :, 50:] = rng.standard_normal((2, robot.nv, 16))
    gradient = regressor_adjoint(robot, layout, drives, *state)
    np.testing.assert_array_equal(gradient.q, 0.0)
    np.testing.assert_array_equal(gradient.v[:, :6], 0.0)
    for j, joint in enumerate(layout.joints):
        k = 6 + j
        np.testing.assert_array_equal(gradient.v[:, k], drives[:, k, layout.index(f"{joint}.viscous")])
        np.testing.assert_array_equal(gradient.a[:, k], drives[:, k, layout.index(f"{joint}.rotor")])


def test_weights_of_links_a_joint_does_not_carry_do_not_matter() -> None:
    rng = np.random.default_rng(8)
    robot = random_robot(rng, bodies=7)
    layout = layout_of(robot, TERMS)
    state = random_states(rng, robot, 2)
    never = np.ones((robot.nv, layout.size), dtype=bool)
    for k, joint in enumerate(robot.joint_names):
        never[k, layout.of_joint(joint)] = False
    for link, name in enumerate(robot.link_names):
        k = link
        while k >= 0:
            never[k, layout.of_link(name)] = False
            k = robot.joints[k].parent
    assert not torque_regressor(robot, layout, *state)[:, never].any()
    G = rng.standard_normal((2, robot.nv, layout.size))
    plain, wild = (regressor_adjoint(robot, layout, g, *state) for g in (G, np.where(never, 1e9, G)))
    for name in ("q", "v", "a"):
        np.testing.assert_array_equal(getattr(wild, name), getattr(plain, name))


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 129])
def test_a_sample_depends_neither_on_its_batch_nor_on_threads(count: int) -> None:
    rng, robot = _random_robot(4)
    layout = layout_of(robot, TERMS)
    q, v, a = random_states(rng, robot, 129)
    G = rng.standard_normal((129, robot.nv, layout.size))
    with thread_count(3):
        whole = regressor_adjoint(robot, layout, G, q, v, a)
    with thread_count(1):
        part = regressor_adjoint(robot, layout, G[:count], q[:count], v[:count], a[:count])
    for name in ("q", "v", "a"):
        assert getattr(part, name).shape == (count, robot.nv)
        np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[:count])


def test_one_sample_may_come_without_its_leading_axis_and_results_are_read_only() -> None:
    robot = zoo_robot("panda")
    layout = layout_of(robot)
    rng = np.random.default_rng(9)
    (q,), (v,), (a,) = random_states(rng, robot, 1)
    G = rng.standard_normal((7, 70))
    flat, deep = (
        regressor_adjoint(robot, layout, G, q, v, a),
        regressor_adjoint(robot, layout, G[None], q, v, a),
    )
    np.testing.assert_array_equal(flat.q, deep.q)
    with pytest.raises(ValueError, match="read-only"):
        flat.q[0, 0] = 1.0


def test_weights_and_states_that_do_not_fit_are_refused_by_name() -> None:
    robot = zoo_robot("panda")
    layout = layout_of(robot)
    still = dict.fromkeys("qva", np.zeros((3, 7)))
    with pytest.raises(ShapeError, match=r"^weights: expected shape \(3, 7, 70\), got \(2, 7, 70\)"):
        regressor_adjoint(robot, layout, np.zeros((2, 7, 70)), **still)
    with pytest.raises(ShapeError, match=r"^weights: expected shape \(3, 7, 70\), got \(1, 7, 70\)"):
        regressor_adjoint(robot, layout, np.zeros((7, 70)), **still)
    with pytest.raises(ShapeError, match=r"^weights: .*got \(3, 7, 57\)"):
        regressor_adjoint(robot, layout, np.zeros((3, 7, 57)), **still)
    with pytest.raises(ShapeError, match=r"^weights: must be finite"):
        regressor_adjoint(robot, layout, np.full((3, 7, 70), np.nan), **still)
    with pytest.raises(ShapeError, match=r"^v: expected shape \(N, 7\), got \(3, 6\)"):
        regressor_adjoint(robot, layout, np.zeros((3, 7, 70)), **(still | {"v": np.zeros((3, 6))}))
    with pytest.raises(InputError, match=r"^layout: "):
        regressor_adjoint(robot, layout_of(zoo_robot("two_link")), np.zeros((3, 7, 20)), **still)
