"""The passivity regressor: its Coriolis matrix makes Ḣ - 2C skew, judged by Pinocchio and the textbook."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from oracles.agreement import assert_agree
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import SOLID, link_parameters, random_robot, random_robot_on, random_states
from steelyard.drive import DRIVE_TERMS
from steelyard.dynamics import mass_matrix, torque_regressor
from steelyard.dynamics.passivity import passivity_regressor
from steelyard.errors import InputError, ShapeError
from steelyard.layout import layout_of
from steelyard.robot import Robot
from steelyard.zoo import ZOO, zoo_robot

TERMS = [term.name for term in DRIVE_TERMS]
Z = np.array([0.0, 0.0, 1.0])
BASES = ["fixed", "floating", "floating in mid-tree", "screws and balls"]
each_base = pytest.mark.parametrize("base", BASES)


def coriolis_matrix(robot: Robot, phi: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """C of Y φ = H a_r + C v_r + g without drives, column by column by unit v_r, shape (nv, nv)."""
    n = robot.nv + 1
    v_r = np.vstack([np.zeros(robot.nv), np.eye(robot.nv)])
    states = np.tile(q, (n, 1)), np.tile(v, (n, 1)), v_r, np.zeros((n, robot.nv))
    torque = passivity_regressor(robot, layout_of(robot), *states) @ phi
    return np.asarray((torque[1:] - torque[0]).T)


def _matrix(judge: PinocchioRobot, M: np.ndarray) -> np.ndarray:
    """A joint-space matrix of Pinocchio's in our order."""
    order = [int(np.flatnonzero(judge.v(unit))[0]) for unit in np.eye(judge.model.nv)]
    return M[np.ix_(order, order)]


def _mass_matrix_rate(judge: PinocchioRobot, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Ḣ by central differences of fourth order of Pinocchio's mass matrix along a steady motion."""
    model, data, h = judge.model, judge.data, 1e-3

    def H(t: float) -> np.ndarray:
        upper = np.triu(pin.crba(model, data, pin.integrate(model, judge.q(q), judge.v(v) * t)))
        return _matrix(judge, upper + np.triu(upper, 1).T)

    return (8 * (H(h) - H(-h)) - H(2 * h) + H(-2 * h)) / (12 * h)


@each_base
@pytest.mark.parametrize("seed", range(10))
def test_mass_matrix_rate_less_twice_coriolis_is_skew(seed: int, base: str) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot_on(base, rng, shapes=SOLID)
    layout = layout_of(robot)
    (q,), (v,), _ = random_states(rng, robot, 1)
    C = coriolis_matrix(robot, layout.complete_nominal(), q, v)
    rate = _mass_matrix_rate(PinocchioRobot.of(robot, link_parameters(robot)), q, v)
    N = rate - 2 * C
    assert_agree(N + N.T, np.zeros_like(N), relative=1e-8, scale=float(np.abs(C).max()))
    x = rng.standard_normal(robot.nv)
    assert abs(x @ N @ x) <= 1e-8 * float(np.abs(C).max()) * float(x @ x)


@each_base
@pytest.mark.parametrize("seed", range(10))
def test_coriolis_times_velocity_is_the_bias_without_gravity(seed: int, base: str) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot_on(base, rng, shapes=SOLID)
    layout = layout_of(robot)
    (q,), (v,), _ = random_states(rng, robot, 1)
    C = coriolis_matrix(robot, layout.complete_nominal(), q, v)
    judge = PinocchioRobot.of(robot, link_parameters(robot))
    bias = pin.nonLinearEffects(judge.model, judge.data, judge.q(q), judge.v(v))
    gravity = pin.computeGeneralizedGravity(judge.model, judge.data, judge.q(q))
    assert_agree(judge.v(C @ v), bias - gravity, scale=float(np.abs(gravity).max()))


@pytest.mark.parametrize("seed", range(5))
def test_its_entries_are_christoffels_symbols(seed: int) -> None:
    """C_kl = ½ Σ_m (∂_m H_kl + ∂_l H_km - ∂_k H_lm) v_m, by differences of Pinocchio's mass matrix."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, shapes=SOLID, bodies=6)
    layout = layout_of(robot)
    (q,), (v,), _ = random_states(rng, robot, 1)
    judge = PinocchioRobot.of(robot, link_parameters(robot))
    dH = np.array([_mass_matrix_rate(judge, q, unit) for unit in np.eye(6)])  # dH[m] = ∂_m H
    expected = np.einsum("mkl,m->kl", dH, v) + np.einsum("lkm,m->kl", dH, v) - np.einsum("klm,m->kl", dH, v)
    C = coriolis_matrix(robot, layout.complete_nominal(), q, v)
    assert_agree(C, expected / 2, relative=1e-8)


@each_base
@pytest.mark.parametrize("seed", range(10))
def test_the_matrix_is_pinocchios(seed: int, base: str) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot_on(base, rng, shapes=SOLID)
    layout = layout_of(robot)
    (q,), (v,), _ = random_states(rng, robot, 1)
    judge = PinocchioRobot.of(robot, link_parameters(robot))
    expected = pin.computeCoriolisMatrix(judge.model, judge.data, judge.q(q), judge.v(v))
    C = coriolis_matrix(robot, layout.complete_nominal(), q, v)
    assert_agree(C, _matrix(judge, expected))


@pytest.mark.parametrize("name", list(ZOO))
def test_the_matrix_of_a_zoo_robot_is_pinocchios(name: str) -> None:
    rng = np.random.default_rng(0)
    for robot in (zoo_robot(name), zoo_robot(name).floating()):
        layout = layout_of(robot)
        phi = np.abs(rng.standard_normal(layout.size))
        (q,), (v,), _ = random_states(rng, robot, 1)
        judge = PinocchioRobot.of(robot, phi.reshape(-1, 10))
        expected = pin.computeCoriolisMatrix(judge.model, judge.data, judge.q(q), judge.v(v))
        assert_agree(coriolis_matrix(robot, phi, q, v), _matrix(judge, expected))


@each_base
@pytest.mark.parametrize("seed", range(10))
def test_with_the_motion_as_reference_it_is_the_torque_regressor(seed: int, base: str) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot_on(base, rng, shapes=SOLID)
    layout = layout_of(robot, TERMS)
    q, v, a = random_states(rng, robot, 3)
    v[1] = 0.0
    Y = torque_regressor(robot, layout, q, v, a)
    assert_agree(passivity_regressor(robot, layout, q, v, v, a), Y, relative=1e-14)


@each_base
@pytest.mark.parametrize("seed", range(10))
def test_torques_are_those_of_pinocchios_matrices(seed: int, base: str) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot_on(base, rng, shapes=SOLID)
    layout = layout_of(robot)
    (q,), (v,), _ = random_states(rng, robot, 1)
    _, (v_r,), (a_r,) = random_states(rng, robot, 1)
    judge = PinocchioRobot.of(robot, link_parameters(robot))
    model, data = judge.model, judge.data
    C = pin.computeCoriolisMatrix(model, data, judge.q(q), judge.v(v))
    gravity = pin.computeGeneralizedGravity(model, data, judge.q(q))
    torques = judge.v(judge.mass_matrix(q) @ a_r) + C @ judge.v(v_r) + gravity
    Y = passivity_regressor(robot, layout, q, v, v_r, a_r)[0]
    assert_agree(judge.v(Y @ layout.complete_nominal()), torques)


def test_friction_and_rotor_follow_the_reference_and_coulomb_the_measured_sign() -> None:
    rng = np.random.default_rng(2)
    robot = random_robot(rng, bodies=3).floating()
    layout = layout_of(robot, TERMS)
    q, v, a_r = random_states(rng, robot, 1)
    v_r = -2.0 * v
    Y = passivity_regressor(robot, layout, q, v, v_r, a_r)[0]
    assert not Y[:6, 40:].any()
    for k, joint in enumerate(layout.joints, start=6):
        columns = layout.of_joint(joint)
        np.testing.assert_array_equal(Y[k, columns], [v_r[0, k], np.sign(v[0, k]), 1.0, a_r[0, k]])
        assert not np.delete(Y[:, columns], k, axis=0).any()


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("seed", range(5))
def test_the_tracking_error_is_passive(seed: int, base: str) -> None:
    """With s = v - v_r:  sᵀ(τ - Y φ) = d/dt (½ sᵀ H s) + sᵀ F_v s, H and its rate being Pinocchio's."""
    rng = np.random.default_rng(seed)
    robot = random_robot_on(base, rng, shapes=SOLID)
    layout = layout_of(robot, TERMS)
    links = 10 * len(robot.links)
    phi = layout.complete_nominal()
    phi[links:] = rng.uniform(0.1, 2.0, layout.size - links)
    (q,), (v,), (a,) = random_states(rng, robot, 1)
    _, (v_r,), (a_r,) = random_states(rng, robot, 1)
    tau = torque_regressor(robot, layout, q, v, a)[0] @ phi
    supplied = (v - v_r) @ (tau - passivity_regressor(robot, layout, q, v, v_r, a_r)[0] @ phi)
    drives = np.zeros((robot.nv, 4))
    drives[robot.nv - len(layout.joints) :] = phi[links:].reshape(-1, 4)
    judge = PinocchioRobot.of(robot, link_parameters(robot))
    H = judge.mass_matrix(q) + np.diag(drives[:, 3])
    s, ṡ = v - v_r, a - a_r
    stored = s @ H @ ṡ + s @ _mass_matrix_rate(judge, q, v) @ s / 2
    lost = float(drives[:, 0] @ s**2)
    scale = float(np.abs(s) @ np.abs(tau))
    assert abs(supplied - stored - lost) <= 1e-8 * scale


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65])
def test_a_sample_does_not_depend_on_its_batch(count: int) -> None:
    rng = np.random.default_rng(4)
    robot = random_robot(rng, bodies=4).floating()
    layout = layout_of(robot, TERMS)
    q, v, a = random_states(rng, robot, 129)
    v_r, some = v[::-1], slice(0, count)
    Y = passivity_regressor(robot, layout, q, v, v_r, a)
    part = passivity_regressor(robot, layout, q[some], v[some], v_r[some], a[some])
    np.testing.assert_array_equal(part, Y[some])


@pytest.mark.parametrize("which", ["q", "v", "v_r", "a_r"])
def test_a_bad_array_is_refused_by_name(which: str) -> None:
    robot = random_robot(np.random.default_rng(5), bodies=3)
    layout, good = layout_of(robot), dict.fromkeys(["q", "v", "v_r", "a_r"], np.zeros((2, 3)))
    with pytest.raises(ShapeError, match=rf"^{which}: expected shape \(N, 3\), got \(2, 4\)"):
        passivity_regressor(robot, layout, **good | {which: np.zeros((2, 4))})
    with pytest.raises(ShapeError, match=rf"^{which}: must be finite"):
        passivity_regressor(robot, layout, **good | {which: np.full((2, 3), np.nan)})
    with pytest.raises(InputError, match=r"numbers of samples differ"):
        passivity_regressor(robot, layout, **good | {which: np.zeros((1, 3))})


def test_a_foreign_layout_is_refused() -> None:
    robot, good = random_robot(np.random.default_rng(6), bodies=3), np.zeros((2, 3))
    foreign = layout_of(random_robot(np.random.default_rng(7), bodies=2))
    with pytest.raises(InputError, match=r"^layout: .*Make it with layout_of"):
        passivity_regressor(robot, foreign, good, good, good, good)


def test_mass_matrix_rate_is_the_matrix_plus_its_transpose_for_impossible_bodies_too() -> None:
    rng = np.random.default_rng(8)
    robot = random_robot(rng, bodies=5)
    layout = layout_of(robot)
    phi = rng.standard_normal(layout.size)
    (q,), (v,), _ = random_states(rng, robot, 1)
    h = 1e-3
    H = mass_matrix(robot, layout, phi, q + h * np.outer([-2, -1, 1, 2], v))
    rate = np.tensordot([1, -8, 8, -1], H, 1) / (12 * h)
    C = coriolis_matrix(robot, phi, q, v)
    assert_agree(C + C.T, rate, relative=1e-8)
