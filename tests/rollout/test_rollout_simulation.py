"""A rollout solves the robot's equations with torques commanded, delayed and held as stated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import numpy as np
import pinocchio as pin
import pytest
import scipy.integrate

from oracles.agreement import assert_agree
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import SOLID, link_parameters, random_robot
from steelyard.compiled import kernel
from steelyard.control import PD, ComputedTorque
from steelyard.control.controller import ControlStep
from steelyard.drive import Drive
from steelyard.dynamics import inverse_dynamics, mass_matrix
from steelyard.errors import InputError, NoSolutionError, ShapeError, UnknownNameError
from steelyard.layout import Layout, layout_of
from steelyard.robot import JointKind, Robot
from steelyard.rollout import ClosedLoop, rollout
from steelyard.rollout.closed_loop import SCHEMES
from steelyard.zoo import zoo_robot

CYCLE = 0.004
TERMS = ("viscous", "coulomb", "offset", "rotor")
DELAYS = (0.0, 0.4, 1.0, 1.3, 2.0, 2.95)


@kernel
def filtered_step(tree, numbers, gains, memory, q, v, q_ref, v_ref, a_ref, tau):
    """Position, filtered velocity and integral: remembers the filter's and the integral's state."""
    for j in range(q.size):
        memory[j] += 0.3 * (v[j] - memory[j])
        memory[q.size + j] += 0.004 * (q_ref[j] - q[j])
        e, s = q_ref[j] - q[j], v_ref[j] - memory[j]
        tau[j] = gains[0, j] * e + gains[1, j] * s + 30.0 * memory[q.size + j]


@dataclass(frozen=True, eq=False)
class Filtered(PD):
    """A law with a memory, built on the gains of `PD`."""

    @property
    def step(self) -> ControlStep:
        return filtered_step

    @property
    def memory(self) -> np.ndarray:
        return np.zeros(2 * self.robot.nv)


@cache
def arm() -> tuple[Robot, Layout, np.ndarray]:
    robot = zoo_robot("two_link")
    layout = layout_of(robot, ["viscous", "rotor"])
    phi = layout.complete_nominal()
    phi[-4:] = 0.3, 0.02, 0.2, 0.01
    return robot, layout, phi


def reference(robot: Robot, cycles: int, cycle: float = CYCLE, seed: int = 0) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    A, w, p = rng.uniform(0.2, 0.5, robot.nv), rng.uniform(2, 5, robot.nv), rng.uniform(0, 6, robot.nv)
    t = cycle * np.arange(cycles)[:, None]
    return A * np.sin(w * t + p), A * w * np.cos(w * t + p), -A * w * w * np.sin(w * t + p)


def judged(
    robot: Robot, layout: Layout, phi: np.ndarray, law: PD, refs: tuple[np.ndarray, ...], delay: float
) -> tuple[np.ndarray, ...]:
    """The loop told by its instants: Pinocchio's accelerations, SciPy's integrator, the law in plain Python.

    Command n is computed at n T and acts from n T + delay until the next one acts; command 0 also before.
    """
    judge = PinocchioRobot.of(robot, phi[: 10 * len(robot.links)].reshape(-1, 10))
    judge.model.armature = judge.v(phi[layout.drive_columns[:, 3]])
    viscous = phi[layout.drive_columns[:, 0]]

    def rate(_: float, x: np.ndarray, tau: np.ndarray) -> np.ndarray:
        q, v = np.split(x, 2)
        force = judge.v(tau - viscous * v)
        a = pin.aba(judge.model, judge.data, judge.q(q), judge.v(v), force)[judge._v]
        return np.concatenate([v, a])

    count, memory, commands, rows = len(refs[0]), np.array(law.memory), [], []
    x = np.concatenate([refs[0][0], refs[1][0]])
    for n in range(count):
        tau = np.zeros(robot.nv)
        q, v = np.split(x, 2)
        step = law.step.py_func
        step(law.tree, law.numbers, law.gains, memory, q, v, *(ref[n] for ref in refs), tau)
        commands.append(tau)
        rows.append((q, v, tau))
        start, end = n * CYCLE, (n + 1) * CYCLE
        arrivals = [k * CYCLE + delay for k in range(n + 1)]
        instants = [start, *(t for t in arrivals if start + 1e-12 < t < end - 1e-12), end]
        for t0, t1 in pairwise(instants):
            acting = max([k for k, t in enumerate(arrivals) if t <= t0 + 1e-12], default=0)
            solved = scipy.integrate.solve_ivp(
                rate, (t0, t1), x, "DOP853", args=(commands[acting],), rtol=1e-12, atol=1e-13
            )
            x = solved.y[:, -1]
    return tuple(np.array(row) for row in zip(*rows, strict=True))


@pytest.mark.parametrize("law", [PD, Filtered])
@pytest.mark.parametrize("share", DELAYS)
def test_delay_hold_and_memory_are_those_of_an_independent_loop(share: float, law: type[PD]) -> None:
    robot, layout, phi = arm()
    controller = law(robot, np.full(2, 60.0), np.full(2, 5.0))
    refs = reference(robot, 40)
    loop = ClosedLoop(controller, CYCLE, share * CYCLE, "rk4", 4)
    run = rollout(robot, layout, phi, *refs, loop)
    q, v, tau = judged(robot, layout, phi, controller, refs, share * CYCLE)
    assert_agree(run.q, q, relative=1e-8)
    assert_agree(run.v, v, relative=1e-8)
    assert_agree(run.tau, tau, relative=1e-8)
    assert_agree(run.time, CYCLE * np.arange(40), relative=1e-15)


def smooth_panda() -> tuple[Robot, Layout, np.ndarray]:
    """A Panda in the layout of the other tests, without the terms that the judge does not know."""
    robot = zoo_robot("panda")
    layout = layout_of(robot, TERMS)
    phi = layout.complete_nominal()
    phi[layout.drive_columns[:, 1:3]] = 0.0
    return robot, layout, phi


def test_seven_joints_agree_with_pinocchio_and_scipy() -> None:
    robot, layout, phi = smooth_panda()
    controller = PD(robot, np.full(7, 200.0), np.full(7, 12.0))
    refs = reference(robot, 25)
    run = rollout(robot, layout, phi, *refs, ClosedLoop(controller, CYCLE, 0.7 * CYCLE, "rk4", 8))
    q, v, tau = judged(robot, layout, phi, controller, refs, 0.7 * CYCLE)
    assert_agree(run.q, q, relative=1e-7)
    assert_agree(run.v, v, relative=1e-7)
    assert_agree(run.tau, tau, relative=1e-7)


@pytest.mark.parametrize(("scheme", "order"), [("euler-trapezoid", 1), ("heun", 2), ("rk4", 4)])
@pytest.mark.parametrize("share", [0.0, 0.37])
def test_halving_the_step_divides_the_error_by_two_to_the_order(
    scheme: str, order: int, share: float
) -> None:
    robot, layout, phi = arm()
    controller = PD(robot, np.full(2, 60.0), np.full(2, 5.0))
    refs = reference(robot, 30, 0.02)
    delay = share * 0.02
    best = rollout(robot, layout, phi, *refs, ClosedLoop(controller, 0.02, delay, "rk4", 64)).q
    errors = []
    for steps in (16, 32):
        loop = ClosedLoop(controller, 0.02, delay, scheme, steps)
        errors.append(np.abs(rollout(robot, layout, phi, *refs, loop).q - best).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)


def test_euler_trapezoid_steps_velocity_first_and_position_by_the_mean() -> None:
    robot, layout, phi = arm()
    controller = PD(robot, np.full(2, 60.0), np.full(2, 5.0))
    refs = reference(robot, 20)
    run = rollout(robot, layout, phi, *refs, ClosedLoop(controller, CYCLE, 0.0, "euler-trapezoid"))
    for n in range(19):
        H = mass_matrix(robot, layout, phi, run.q[n])[0]
        b = inverse_dynamics(robot, layout, phi, run.q[n], run.v[n], np.zeros(2))[0]
        v = run.v[n] + CYCLE * np.linalg.solve(H, run.tau[n] - b)
        np.testing.assert_allclose(run.v[n + 1], v, rtol=1e-11)
        np.testing.assert_allclose(run.q[n + 1], run.q[n] + CYCLE / 2 * (run.v[n] + v), rtol=1e-11)


@pytest.mark.parametrize("name", ["two_link", "panda"])
def test_generated_and_generic_code_agree(name: str) -> None:
    robot = zoo_robot(name)
    layout = layout_of(robot, TERMS)
    phi = layout.complete_nominal()
    controller = PD(robot, np.full(robot.nv, 100.0), np.full(robot.nv, 8.0))
    refs = reference(robot, 200)
    loop = ClosedLoop(controller, CYCLE, 1.5 * CYCLE)
    runs = [rollout(robot, layout, phi, *refs, loop, code=code) for code in ("straight-line", "generic")]
    for field in ("q", "v", "tau"):
        assert_agree(getattr(runs[0], field), getattr(runs[1], field), relative=1e-10)


def test_a_branching_robot_with_sliding_joints_agrees_too() -> None:
    rng = np.random.default_rng(0)
    robot = random_robot(rng, bodies=4, shapes=SOLID)
    assert len({joint.parent for joint in robot.joints}) < 4, "it branches"
    assert {joint.kind for joint in robot.joints} >= {JointKind.PRISMATIC, JointKind.REVOLUTE}
    layout = layout_of(robot, ["viscous", "rotor"])
    phi = np.concatenate([link_parameters(robot).ravel(), np.tile([0.5, 0.1], 4)])
    controller = PD(robot, np.full(4, 50.0), np.full(4, 5.0))
    refs = reference(robot, 100, 0.001)
    loop = ClosedLoop(controller, 0.001)
    runs = [rollout(robot, layout, phi, *refs, loop, code=code) for code in ("straight-line", "generic")]
    assert_agree(runs[0].q, runs[1].q, relative=1e-10)


def test_base_parameters_move_the_robot_like_the_standard_ones() -> None:
    """A parameter that no torque can show may be left out: mass and first moment along a vertical axis."""
    robot, layout, phi = smooth_panda()
    blind = [layout.index(f"{robot.link_names[0]}.{term}") for term in ("m", "mx", "my", "mz", "Ixx", "Iyy")]
    basis = np.delete(np.eye(layout.size), blind, axis=1)
    controller = PD(robot, np.full(7, 200.0), np.full(7, 12.0))
    refs = reference(robot, 100)
    loop = ClosedLoop(controller, CYCLE)
    whole = rollout(robot, layout, phi, *refs, loop)
    part = rollout(robot, layout, np.delete(phi, blind), *refs, loop, basis=basis)
    assert_agree(part.tau, whole.tau, relative=1e-10)


def test_a_free_arm_keeps_its_energy_and_a_damped_one_loses_it() -> None:
    robot, layout, phi = arm()
    free = PD(robot, np.zeros(2), np.zeros(2))
    still = np.zeros((2000, 2))
    links = phi[: 10 * len(robot.links)].reshape(-1, 10)
    judge = PinocchioRobot.of(robot, links)

    def energy(parameters: np.ndarray) -> np.ndarray:
        loop = ClosedLoop(free, 0.001, scheme="rk4")
        run = rollout(robot, layout, parameters, still, still, still, loop, q_start=[1.0, 0.5])
        kinetic = np.einsum("nk,nkj,nj->n", run.v, mass_matrix(robot, layout, parameters, run.q), run.v) / 2
        return kinetic + [judge.potential_energy(q) for q in run.q]

    undamped = phi.copy()
    undamped[layout.drive_columns[:, 0]] = 0.0
    level = energy(undamped)
    assert np.ptp(level) < 1e-8 * np.abs(level).max()
    assert (np.diff(energy(phi)) < 0).mean() > 0.95


def test_the_same_run_gives_the_same_bits_and_leaves_its_arguments_alone() -> None:
    robot, layout, phi = arm()
    controller = Filtered(robot, np.full(2, 60.0), np.full(2, 5.0))
    refs, start = reference(robot, 50), np.array([0.1, -0.2])
    loop = ClosedLoop(controller, CYCLE, CYCLE)
    runs = [rollout(robot, layout, phi, *refs, loop, q_start=start, v_start=start) for _ in range(2)]
    assert np.array_equal(runs[0].tau, runs[1].tau)
    assert start.tolist() == [0.1, -0.2]
    assert runs[0].q[0].tolist() == start.tolist()
    with pytest.raises(ValueError, match="read-only"):
        runs[0].q[0, 0] = 1.0


def test_a_run_starts_on_its_reference_and_may_be_one_cycle_long() -> None:
    robot, layout, phi = arm()
    controller = PD(robot, np.full(2, 60.0), np.full(2, 5.0))
    refs = reference(robot, 1)
    run = rollout(robot, layout, phi, *refs, ClosedLoop(controller, CYCLE))
    assert np.array_equal(run.q, refs[0])
    assert np.array_equal(run.v, refs[1])
    assert run.tau.tolist() == [[0.0, 0.0]]


def test_a_run_that_diverges_says_when() -> None:
    robot, layout, phi = arm()
    wild = PD(robot, np.full(2, 1e9), np.zeros(2))
    still = np.zeros((500, 2))
    with pytest.raises(NoSolutionError, match=r"diverged at 0\.\d+ s: its state is not finite") as caught:
        rollout(robot, layout, phi, still, still, still, ClosedLoop(wild, 0.01), q_start=[0.1, 0.1])
    assert 0 < caught.value.evidence["cycle"] < 500


def test_a_mass_matrix_that_is_not_positive_names_the_joint() -> None:
    robot, layout, phi = arm()
    hollow = -phi
    still = np.zeros((5, 2))
    controller = PD(robot, np.ones(2), np.ones(2))
    for code in ("straight-line", "generic"):
        with pytest.raises(
            NoSolutionError, match=f"joint '{robot.joint_names[1]}' feels no positive inertia"
        ):
            rollout(robot, layout, hollow, still, still, still, ClosedLoop(controller, 0.01), code=code)


def test_bad_arguments_are_named() -> None:
    robot, layout, phi = arm()
    law = PD(robot, np.ones(2), np.ones(2))
    still = np.zeros((5, 2))
    for options, match in (
        ({"cycle": 0.0}, "cycle: must be positive"),
        ({"cycle": np.nan}, "cycle: must be positive"),
        ({"cycle": 1.0, "delay": -1.0}, "delay: must be finite and not negative"),
        ({"cycle": 1.0, "steps_per_cycle": 0}, "steps_per_cycle: must be at least 1"),
        ({"cycle": 1.0, "steps_per_cycle": 1.5}, "steps_per_cycle: must be a whole number"),
    ):
        with pytest.raises(InputError, match=match):
            ClosedLoop(law, **options)
    timed = PD(robot, np.ones(2), np.ones(2), cycle=0.001)
    with pytest.raises(InputError, match=r"cycle: is 0\.002 s, but the controller is made for 0\.001 s"):
        ClosedLoop(timed, 0.002)
    with pytest.raises(UnknownNameError, match="Did you mean 'heun'"):
        ClosedLoop(law, 1.0, scheme="huen")
    loop = ClosedLoop(law, 0.01)
    with pytest.raises(ShapeError, match="parameters: expected shape"):
        rollout(robot, layout, phi[1:], still, still, still, loop)
    with pytest.raises(ShapeError, match="basis: expected shape"):
        rollout(robot, layout, phi, still, still, still, loop, basis=np.eye(3))
    with pytest.raises(InputError, match="numbers of samples differ"):
        rollout(robot, layout, phi, still, still[1:], still, loop)
    with pytest.raises(ShapeError, match="q_start: expected shape"):
        rollout(robot, layout, phi, still, still, still, loop, q_start=[0.0])
    with pytest.raises(UnknownNameError, match="straight-line"):
        rollout(robot, layout, phi, still, still, still, loop, code="fast")
    panda = zoo_robot("panda")
    seven = np.zeros((5, 7))
    with pytest.raises(InputError, match="controller: it is for the joints"):
        rollout(panda, layout_of(panda), np.zeros(70), seven, seven, seven, loop)
    floating = panda.floating()
    with pytest.raises(InputError, match="more than one degree of freedom"):
        rollout(floating, layout_of(floating), np.zeros(80), seven, seven, seven, loop)
    assert set(SCHEMES) == {"euler-trapezoid", "heun", "rk4"}


def test_computed_torque_with_an_exact_model_tracks_its_reference() -> None:
    robot, _, _ = arm()
    bare = replace(robot, joints=tuple(replace(joint, drive=Drive()) for joint in robot.joints))
    controller = ComputedTorque.nominal(bare, 400.0, 40.0)
    refs = reference(bare, 500, 0.001)
    layout = layout_of(bare)
    run = rollout(bare, layout, layout.complete_nominal(), *refs, ClosedLoop(controller, 0.001))
    assert np.abs(run.q - refs[0]).max() < 1e-4
