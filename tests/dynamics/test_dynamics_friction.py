"""Stribeck, asymmetric and load-dependent friction in the dynamics, against the formulas written out here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from oracles.agreement import assert_agree
from oracles.newton_euler import newton_euler
from oracles.random_robots import SOLID, random_robot, random_robot_on, random_states
from steelyard.control import Admittance, ComputedTorque
from steelyard.drive import Drive, StribeckShape
from steelyard.dynamics import (
    compress,
    forward_dynamics,
    inverse_dynamics,
    momentum_rate_regressor,
    momentum_regressor,
    regressor_adjoint,
    rigid_torque,
    torque_gram,
    torque_regressor,
)
from steelyard.dynamics.inverse_dynamics import bias
from steelyard.dynamics.passivity import passivity_regressor
from steelyard.errors import InputError, UnknownNameError
from steelyard.layout import Layout, layout_of
from steelyard.robot import Robot
from steelyard.robot.joint import Mimic
from steelyard.rollout import ClosedLoop, rollout, sensitivities
from steelyard.zoo import zoo_robot

LINEAR = ("viscous", "coulomb", "offset", "rotor")
FRICTION = ("stribeck", "asymmetric", "load")
BASES = ["fixed", "floating", "floating in mid-tree", "screws and balls"]


def shaped(rng: np.random.Generator, robot: Robot, terms: tuple[str, ...]) -> Layout:
    """The layout with a shape of its own for each joint."""
    if "stribeck" not in terms:
        return layout_of(robot, terms)
    driven = [joint.name for joint in robot.joints if joint.kind.nv == 1]
    shapes = {name: StribeckShape(rng.uniform(0.2, 2), rng.uniform(0.5, 3)) for name in driven}
    return layout_of(robot, terms, stribeck=shapes)


def drawn(rng: np.random.Generator, layout: Layout) -> np.ndarray:
    """Any parameters, friction positive and load below one."""
    phi = rng.standard_normal(layout.size)
    phi[10 * len(layout.links) :] = rng.uniform(0.05, 0.6, layout.size - 10 * len(layout.links))
    return phi


def friction_by_hand(
    layout: Layout, phi: np.ndarray, v: np.ndarray, a: np.ndarray, rigid: np.ndarray
) -> np.ndarray:
    """Torques of all drive terms of one sample, joint by joint, (nv,)."""
    tau = np.zeros(len(v))
    for dof, joint in enumerate(layout.dofs):
        if joint < 0:
            continue
        name, x = layout.joints[joint], v[dof]
        sign = float(x > 0) - float(x < 0)
        term = {"viscous": x, "coulomb": sign, "offset": 1.0, "rotor": a[dof], "asymmetric": abs(x)}
        term["load"] = abs(rigid[dof]) * sign
        if layout.stribeck:
            shape = layout.stribeck[joint]
            term["stribeck"] = sign * np.exp(-((abs(x) / shape.velocity) ** shape.exponent))
        tau[dof] = sum(phi[layout.index(f"{name}.{key}")] * term[key] for key in layout.drive)
    return tau


CHOICES = [chosen for count in range(1, 4) for chosen in combinations(FRICTION, count)]


@pytest.mark.parametrize("chosen", CHOICES, ids="+".join)
@pytest.mark.parametrize("base", BASES)
def test_torque_is_rigid_bodies_plus_every_term_of_the_drive(base: str, chosen: tuple[str, ...]) -> None:
    rng = np.random.default_rng(len(chosen))
    robot = random_robot_on(base, rng)
    layout = shaped(rng, robot, LINEAR + chosen)
    phi = drawn(rng, layout)
    q, v, a = random_states(rng, robot, 4)
    v[1], v[2, ::2] = 0.0, -0.0
    tau = inverse_dynamics(robot, layout, phi, q, v, a)
    load = rigid_torque(robot, layout, phi, q, v, a)
    Y = torque_regressor(robot, layout, q, v, a, load=load if "load" in chosen else None)
    bodies = phi[: 10 * len(robot.links)].reshape(-1, 10)
    for n in range(4):
        rigid = newton_euler(robot, bodies, q[n], v[n], a[n])
        expected = rigid + friction_by_hand(layout, phi, v[n], a[n], rigid)
        assert_agree(load[n], rigid)
        assert_agree(tau[n], expected)
        assert_agree(Y[n] @ phi, expected)


@pytest.mark.parametrize("seed", range(3))
def test_a_joint_that_mimics_another_has_friction_of_its_own(seed: int) -> None:
    rng = np.random.default_rng(seed)
    free = random_robot(rng, bodies=4)
    ratio = float(rng.uniform(-2, 2))
    tied = replace(free.joints[2], mimic=Mimic(free.joints[0].name, ratio, 0.3))
    robot = replace(free, joints=(*free.joints[:2], tied, free.joints[3]))
    layout = shaped(rng, robot, LINEAR + FRICTION)
    phi = drawn(rng, layout)
    q, v, a = random_states(rng, robot, 3)
    tau = inverse_dynamics(robot, layout, phi, q, v, a)
    load = rigid_torque(robot, layout, phi, q, v, a)
    assert_agree(torque_regressor(robot, layout, q, v, a, load=load) @ phi, tau)
    bodies = phi[:40].reshape(4, 10)
    for n in range(3):
        x, y, z = (np.insert(s[n], 2, ratio * s[n, 0]) for s in (q, v, a))
        x[2] += 0.3
        rigid = newton_euler(free, bodies, x, y, z)
        each = rigid + friction_by_hand(layout, phi, y, z, rigid)
        assert_agree(tau[n], [each[0] + ratio * each[2], each[1], each[3]])


@pytest.mark.parametrize("name", ["two_link", "scara"])
def test_straight_line_and_generic_code_agree(name: str) -> None:
    rng = np.random.default_rng(0)
    robot = zoo_robot(name)
    layout = shaped(rng, robot, LINEAR + FRICTION[:2])
    q, v, a = random_states(rng, robot, 21)
    generic, straight = (
        torque_regressor(robot, layout, q, v, a, code=c) for c in ("generic", "straight-line")
    )
    assert_agree(straight, generic)
    G = rng.standard_normal(generic.shape)
    one, other = (regressor_adjoint(robot, layout, G, q, v, a, code=c) for c in ("generic", "straight-line"))
    assert_agree(other.v, one.v)
    # The code is that of any shape: the columns are not.
    faster = layout.with_stribeck([replace(s, velocity=9.0) for s in layout.stribeck])
    moved = torque_regressor(robot, faster, q, v, a, code="straight-line")
    assert_agree(moved, torque_regressor(robot, faster, q, v, a, code="generic"))
    changed = (moved != straight).any(axis=(0, 1))
    assert [layout.names[k] for k in np.flatnonzero(changed)] == [
        n for n in layout.names if n.endswith(".stribeck")
    ]


@pytest.mark.parametrize("seed", range(4))
def test_compressed_logs_and_gram_matrices_hold_the_friction_columns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=4)
    layout = shaped(rng, robot, ("stribeck", "asymmetric", *LINEAR[:2]))
    q, v, a = random_states(rng, robot, 150)
    tau = rng.standard_normal(v.shape)
    W = torque_regressor(robot, layout, q, v, a).reshape(-1, layout.size)
    both = np.column_stack([W, tau.ravel()])
    assert_agree(torque_gram(robot, layout, [(q, v, a, tau)]), both.T @ both)
    assert_agree(compress(robot, layout, [(q, v, a, tau)]).gram(), both.T @ both)


@pytest.mark.parametrize("seed", range(4))
def test_the_adjoint_is_the_gradient_by_differences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=4)
    layout = shaped(rng, robot, FRICTION[:2])
    q, v, a = random_states(rng, robot, 3)
    G = rng.standard_normal((3, 4, layout.size))
    gradient = regressor_adjoint(robot, layout, G, q, v, a)

    def total(speed: np.ndarray) -> float:
        return float((G * torque_regressor(robot, layout, q, speed, a)).sum())

    h = 1e-6
    for n, k in np.ndindex(v.shape):
        step = np.zeros_like(v)
        step[n, k] = h
        slope = (total(v + step) - total(v - step)) / (2 * h)
        assert gradient.v[n, k] == pytest.approx(slope, rel=1e-5, abs=1e-5 * np.abs(gradient.v).max())


@pytest.mark.parametrize("seed", range(4))
def test_momentum_changes_by_torque_less_friction(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=4, shapes=SOLID)
    layout = shaped(rng, robot, LINEAR + FRICTION[:2])
    phi = drawn(rng, layout)
    q, v, a = random_states(rng, robot, 1)
    h = 1e-5

    def momentum(t: float) -> np.ndarray:
        W = momentum_regressor(robot, layout, q + v * t + a * t * t / 2, v + a * t)
        return np.asarray(W[0] @ phi)

    change = (momentum(h) - momentum(-h)) / (2 * h)
    tau = inverse_dynamics(robot, layout, phi, q, v, a)[0]
    expected = momentum_rate_regressor(robot, layout, q, v)[0] @ phi + tau
    assert_agree(change, expected, relative=1e-7, scale=float(np.abs(tau).max()))
    friction = [layout.index(f"{j}.{t}") for j in layout.joints for t in FRICTION[:2]]
    assert not momentum_regressor(robot, layout, q, v)[:, :, friction].any()


@pytest.mark.parametrize("seed", range(4))
def test_adaptive_control_keeps_the_damping_of_the_direction(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=4, shapes=SOLID)
    layout = shaped(rng, robot, ("viscous", "stribeck", "asymmetric"))
    phi = drawn(rng, layout)
    q, v, a = random_states(rng, robot, 2)
    assert_agree(passivity_regressor(robot, layout, q, v, v, a), torque_regressor(robot, layout, q, v, a))
    _, v_r, _ = random_states(rng, robot, 2)
    bare = layout_of(robot)
    # Without links' terms, what is left of the torque is D s.
    Y = passivity_regressor(robot, layout, q, v, v_r, a)[:, :, bare.size :]
    real = torque_regressor(robot, layout, q, v, a)[:, :, bare.size :]
    Fv = np.array([phi[layout.index(f"{j}.viscous")] for j in layout.joints])
    Fa = np.array([phi[layout.index(f"{j}.asymmetric")] for j in layout.joints])
    assert_agree((real - Y) @ phi[bare.size :], (Fv + Fa * np.sign(v)) * (v - v_r))


@pytest.mark.parametrize("base", BASES)
def test_forward_dynamics_undoes_inverse_dynamics(base: str) -> None:
    rng = np.random.default_rng(7)
    robot = random_robot_on(base, rng, shapes=SOLID)
    layout = shaped(rng, robot, LINEAR + FRICTION[:2])
    phi = layout.complete_nominal()
    phi[10 * len(robot.links) :] = drawn(rng, layout)[10 * len(robot.links) :]
    q, v, a = random_states(rng, robot, 5)
    tau = inverse_dynamics(robot, layout, phi, q, v, a)
    assert_agree(forward_dynamics(robot, layout, phi, q, v, tau), a, relative=1e-8)
    still = inverse_dynamics(robot, layout, phi, q, v, np.zeros_like(a))
    assert_agree(bias(robot, layout, phi, q, v), still)


def test_terms_of_size_zero_change_no_bit() -> None:
    rng = np.random.default_rng(3)
    robot = random_robot(rng, bodies=6)
    plain, rich = layout_of(robot, LINEAR), shaped(rng, robot, LINEAR + FRICTION)
    phi = drawn(rng, plain)
    padded = np.zeros(rich.size)
    padded[[rich.index(name) for name in plain.names]] = phi
    q, v, a = random_states(rng, robot, 20)
    np.testing.assert_array_equal(
        inverse_dynamics(robot, rich, padded, q, v, a), inverse_dynamics(robot, plain, phi, q, v, a)
    )


def test_alternating_between_load_and_parameters_finds_both() -> None:
    rng = np.random.default_rng(4)
    robot = zoo_robot("two_link")
    layout = layout_of(robot, ["viscous", "load"])
    truth = layout.complete_nominal()
    for joint in layout.joints:
        truth[layout.index(f"{joint}.viscous")], truth[layout.index(f"{joint}.load")] = 0.3, 0.15
    q, v, a = random_states(rng, robot, 300)
    tau = inverse_dynamics(robot, layout, truth, q, v, a).ravel()
    load = np.zeros(v.shape)
    for _ in range(30):
        W = torque_regressor(robot, layout, q, v, a, load=load).reshape(-1, layout.size)
        phi = np.linalg.lstsq(W, tau, rcond=1e-10)[0]
        load = rigid_torque(robot, layout, phi, q, v, a)
    for joint in layout.joints:
        assert phi[layout.index(f"{joint}.load")] == pytest.approx(0.15, rel=1e-6)
        assert phi[layout.index(f"{joint}.viscous")] == pytest.approx(0.3, rel=1e-6)


def stated(robot: Robot, drive: Drive) -> Robot:
    return replace(robot, joints=tuple(replace(joint, drive=drive) for joint in robot.joints))


RICH = Drive(0.2, 0.3, 0.1, 0.05, 0.4, -0.1, 0.2, StribeckShape(0.1, 1.5))


def test_computed_torque_feeds_every_stated_term_forward() -> None:
    robot = stated(zoo_robot("two_link"), RICH)
    robot = replace(robot, joints=(robot.joints[0], replace(robot.joints[1], drive=Drive(viscous=0.1))))
    law = ComputedTorque.nominal(robot, 100.0, 20.0)
    assert law.layout.drive == LINEAR + FRICTION
    q, v, a = np.array([0.3, -0.2]), np.array([0.05, -0.4]), np.array([1.0, 2.0])
    bodies = law.parameters[:20].reshape(2, 10)
    rigid = newton_euler(robot, bodies, q, v, a)
    expected = rigid + friction_by_hand(law.layout, law.parameters, v, a, rigid)
    assert_agree(law.torque(q, v, q, v, a), expected)


LOADED: dict[str, Callable[..., object]] = {
    "torque_regressor": lambda r, y, phi, x: torque_regressor(r, y, x, x, x),
    "compress": lambda r, y, phi, x: compress(r, y, [(x, x, x, x)]),
    "torque_gram": lambda r, y, phi, x: torque_gram(r, y, [(x, x, x, x)]),
    "regressor_adjoint": lambda r, y, phi, x: regressor_adjoint(r, y, np.zeros((2, y.size)), x, x, x),
    "momentum_rate_regressor": lambda r, y, phi, x: momentum_rate_regressor(r, y, x, x),
    "passivity_regressor": lambda r, y, phi, x: passivity_regressor(r, y, x, x, x, x),
    "forward_dynamics": lambda r, y, phi, x: forward_dynamics(r, y, phi, x, x, x),
    "bias": lambda r, y, phi, x: bias(r, y, phi, x, x),
    "rollout": lambda r, y, phi, x: rollout(
        r, y, phi, x[None], x[None], x[None], ClosedLoop(ComputedTorque.nominal(r, 1.0, 1.0), 1e-3)
    ),
}


@pytest.mark.parametrize("name", LOADED)
def test_where_load_makes_torque_nonlinear_it_is_refused_with_the_remedy(name: str) -> None:
    robot = zoo_robot("two_link")
    layout = layout_of(robot, ["load"])
    with pytest.raises(InputError, match=r"layout: it has the term 'load'.*out of the drive terms"):
        LOADED[name](robot, layout, layout.complete_nominal(), np.ones(2))


def test_what_does_not_know_the_friction_says_so() -> None:
    robot = stated(zoo_robot("two_link"), replace(RICH, load=None))
    law = ComputedTorque.nominal(robot, 400.0, 40.0)
    loop = ClosedLoop(law, 1e-3)
    run = (robot, law.layout, law.parameters, *np.zeros((3, 4, 2)), loop)
    assert np.isfinite(rollout(*run).q).all()
    with pytest.raises(InputError, match="it has stribeck and asymmetric friction, which straight-line"):
        rollout(*run, code="straight-line")
    with pytest.raises(InputError, match="which the variational equation lacks"):
        sensitivities(*run)
    with pytest.raises(InputError, match="momentum observer does not know and would take for a guiding hand"):
        Admittance.nominal(robot, 1.0, 1.0, 1.0, np.ones(6), np.ones(6), cycle=1e-3, components=("x",))


def test_a_load_without_its_term_and_of_the_wrong_shape_is_refused() -> None:
    robot = zoo_robot("two_link")
    x = np.ones((3, 2))
    with pytest.raises(InputError, match="load: is given, but the layout has no load term"):
        torque_regressor(robot, layout_of(robot), x, x, x, load=x)
    with pytest.raises(InputError, match=r"load: expected shape \(3, 2\), got \(2, 2\)"):
        torque_regressor(robot, layout_of(robot, ["load"]), x, x, x, load=x[:2])


def test_the_layout_demands_a_shape_and_keeps_it() -> None:
    robot = zoo_robot("two_link")
    shape = StribeckShape(0.1, 2.0)
    with pytest.raises(
        InputError, match=r"stribeck: its shape at joint '\w+' is not known.*not linear in it"
    ):
        layout_of(robot, ["stribeck"])
    with pytest.raises(UnknownNameError, match="unknown joint 'elbo'"):
        layout_of(robot, ["stribeck"], stribeck={"elbo": shape})
    with pytest.raises(InputError, match="shapes are given, but the term is not chosen"):
        layout_of(robot, ["viscous"], stribeck={robot.joint_names[0]: shape})
    layout = layout_of(stated(robot, RICH), ["load", "stribeck", "viscous", "asymmetric"])
    assert layout.drive == ("viscous", "stribeck", "asymmetric", "load")
    assert layout.friction == FRICTION
    np.testing.assert_array_equal(layout.stribeck_shapes, [[0.1, 1.5]] * 2)
    with pytest.raises(InputError, match="got 1 shapes for 2 joints"):
        layout.with_stribeck([shape])
    lower = [layout.parameters[k].lower for k in range(20, 24)]
    assert lower == [0.0, 0.0, -np.inf, 0.0]
    units = [layout.parameters[k].unit for k in range(20, 24)]
    assert units == ["N·m·s/rad", "N·m", "N·m·s/rad", "dimensionless"]
