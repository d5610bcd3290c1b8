"""Generated code says what the generic kernels and Pinocchio say, and its cache is never trusted blindly."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from oracles.agreement import assert_agree
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import SOLID, link_parameters, random_robot, random_states
from steelyard.drive import DRIVE_TERMS
from steelyard.dynamics import inverse_dynamics, mass_matrix, torque_regressor
from steelyard.dynamics.batch import numbers
from steelyard.dynamics.straight_line import LANES, StraightLineCode, straight_line_code, straight_line_pays
from steelyard.dynamics.straight_line.code import LARGEST
from steelyard.dynamics.straight_line.expression import ExpressionGraph, is_zero
from steelyard.dynamics.straight_line.inputs import write_cos_sin
from steelyard.dynamics.straight_line.model import carried_parameters, exact_constant
from steelyard.dynamics.tree import tree_of
from steelyard.errors import InputError
from steelyard.layout import Layout, layout_of
from steelyard.robot import Robot
from steelyard.zoo import zoo_robot

DRIVE = [term.name for term in DRIVE_TERMS]


def evaluate(code: StraightLineCode, inputs: np.ndarray, which: str) -> np.ndarray:
    """Run a program step by step in Python: a judge of the expressions without compiled code."""
    program = getattr(code, which)
    values: list[float] = []
    for step in program.instructions:
        a = [values[k] for k in step.arguments] if step.kind != "input" else []
        match step.kind:
            case "input":
                values.append(float(inputs[step.arguments[0]]))
            case "constant":
                values.append(step.constant)
            case "add":
                values.append(a[0] + a[1])
            case "subtract":
                values.append(a[0] - a[1])
            case "multiply":
                values.append(a[0] * a[1])
            case "divide":
                values.append(a[0] / a[1])
            case "negate":
                values.append(-a[0])
    return np.array([values[k] for k in program.outputs])


def inputs_of(
    robot: Robot, layout: Layout, phi: np.ndarray, q: np.ndarray, v: np.ndarray, tau: np.ndarray
) -> np.ndarray:
    given = numbers(robot, layout, phi)
    parameters = (np.ravel(given.links), np.ravel(given.drive[:, :4]))
    return np.concatenate([np.cos(q), np.sin(q), q, v, np.sign(v), tau, *parameters])


def generic_acceleration(
    robot: Robot, layout: Layout, phi: np.ndarray, q: np.ndarray, v: np.ndarray, tau: np.ndarray
) -> np.ndarray:
    H = mass_matrix(robot, layout, phi, q)[0]
    still = inverse_dynamics(robot, layout, phi, q, v, np.zeros(robot.nv))[0]
    return np.linalg.solve(H, tau - still)


def assert_solves(
    robot: Robot, layout: Layout, phi: np.ndarray, state: tuple[np.ndarray, ...], a: np.ndarray
) -> None:
    """H a + b = τ to 1e-12 of the largest torque: free of the condition of H, which the code cannot help."""
    q, v, tau = state
    size = np.abs(mass_matrix(robot, layout, phi, q)[0]) @ np.abs(a) + np.abs(tau)
    assert_agree(
        inverse_dynamics(robot, layout, phi, q, v, a)[0], tau, relative=1e-12, scale=float(size.max())
    )


@pytest.mark.parametrize("seed", range(40))
def test_expressions_equal_the_generic_kernels_on_any_tree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=int(rng.integers(1, 9)), shapes=SOLID)
    layout = layout_of(robot, DRIVE)
    phi = layout.complete_nominal()
    code = StraightLineCode(tree_of(robot), carried_parameters(layout))
    (q,), (v,), (tau,) = random_states(rng, robot, 1)
    a = evaluate(code, inputs_of(robot, layout, phi, q, v, tau), "forward")[: robot.nv]
    assert_solves(robot, layout, phi, (q, v, tau), a)
    assert_agree(a, generic_acceleration(robot, layout, phi, q, v, tau), relative=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_the_linearisation_is_the_derivative_of_inverse_dynamics(seed: int) -> None:
    """I_q and I_v against Pinocchio's derivatives, Y and the factor of H against the kernels."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=int(rng.integers(1, 9)), shapes=SOLID)
    layout = layout_of(robot, DRIVE)
    phi = layout.complete_nominal()
    code = StraightLineCode(tree_of(robot), carried_parameters(layout))
    (q,), (v,), (tau,) = random_states(rng, robot, 1)
    out = evaluate(code, inputs_of(robot, layout, phi, q, v, tau), "linear")
    nv, pairs = robot.nv, len(code.related)
    a = out[:nv]
    assert_solves(robot, layout, phi, (q, v, tau), a)

    at = 2 * nv
    L, D = np.eye(nv), np.diag(1.0 / out[at + len(code.above) : at + len(code.above) + nv])
    for value, pair in zip(out[at:], code.above, strict=False):
        L[pair] = value
    H = mass_matrix(robot, layout, phi, q)[0]
    assert_agree(L.T @ D @ L, H, relative=1e-12)
    assert_agree(np.diag(D), out[nv : 2 * nv], relative=1e-12)

    at += len(code.above) + nv
    judge = PinocchioRobot.of(robot, link_parameters(robot))
    dq, dv, _ = pin.computeRNEADerivatives(judge.model, judge.data, judge.q(q), judge.v(v), judge.v(a))
    order = judge._v
    viscous = np.diag(phi[layout.drive_columns[:, 0]])
    for start, expected in ((at, dq), (at + pairs, dv)):
        actual = np.zeros((nv, nv))
        for value, pair in zip(out[start:], code.related, strict=False):
            actual[pair] = value
        full = expected[np.ix_(order, order)] + (viscous if start > at else 0.0)
        assert_agree(actual, full, relative=1e-11, scale=float(np.abs(tau).max()))

    Y = np.zeros((nv, layout.size))
    places = [
        10 * row + column if kind == "links" else layout.drive_columns[row, column]
        for kind, row, column in code.carried.columns
    ]
    for value, (k, column) in zip(out[code.regressor_start :], code.felt, strict=True):
        Y[k, places[column]] = value
    assert_agree(Y, torque_regressor(robot, layout, q, v, a)[0], relative=1e-12)


# A joint that slides, a tree, and seven joints; expressions of any tree are judged above.
@pytest.mark.parametrize("name", ["scara", "cheetah3", "panda"])
def test_compiled_code_equals_its_program_and_the_generic_kernels(name: str) -> None:
    robot = zoo_robot(name)
    layout = layout_of(robot, DRIVE)
    phi = layout.complete_nominal()
    code = straight_line_code(robot, layout)
    given, tree, rng = numbers(robot, layout, phi), tree_of(robot), np.random.default_rng(5)
    work = code.kernels.work_arrays(tree, given)
    q, v, tau = random_states(rng, robot, 20)
    for n in range(20):
        inputs = inputs_of(robot, layout, phi, q[n], v[n], tau[n])
        a = np.zeros(robot.nv)
        assert code.kernels.acceleration(tree, given, q[n], v[n], tau[n], work, a) == -1
        assert_solves(robot, layout, phi, (q[n], v[n], tau[n]), a)
        assert_agree(a, evaluate(code, inputs, "forward")[: robot.nv], relative=1e-13)
        assert code.kernels.linearisation(tree, given, q[n], v[n], tau[n], work, a) == -1
        assert_agree(work[1], evaluate(code, inputs, "linear"), relative=1e-13)


def test_columns_solve_the_variational_equation() -> None:
    robot = zoo_robot("panda")
    layout = layout_of(robot, DRIVE)
    phi, rng = layout.complete_nominal(), np.random.default_rng(1)
    code = straight_line_code(robot, layout)
    given, tree, nv = numbers(robot, layout, phi), tree_of(robot), robot.nv
    work, a = code.kernels.work_arrays(tree, given), np.zeros(robot.nv)
    (q,), (v,), (tau,) = random_states(rng, robot, 1)
    code.kernels.linearisation(tree, given, q, v, tau, work, a)
    dq, dv, dtau, dtorque = rng.standard_normal((4, 3, nv, LANES))
    da = np.zeros((3, nv, LANES))
    code.kernels.columns(work[1], dq, dv, dtau, dtorque, da)
    start = code.regressor_start - 2 * len(code.related)
    I_q, I_v = np.zeros((2, nv, nv))
    for place, pair in enumerate(code.related):
        I_q[pair], I_v[pair] = work[1][start + place], work[1][start + len(code.related) + place]
    H = mass_matrix(robot, layout, phi, q)[0]
    for tile in range(3):
        left = H @ da[tile] + I_q @ dq[tile] + I_v @ dv[tile] + dtorque[tile]
        assert_agree(left, dtau[tile], relative=1e-11, scale=float(np.abs(I_q).max()))


def test_parameters_outside_the_basis_vanish_from_the_code() -> None:
    robot = zoo_robot("panda")
    layout = layout_of(robot, ["viscous"])
    few = np.zeros((layout.size, 3))
    few[[layout.index(f"{robot.link_names[6]}.Izz"), 9, layout.size - 1], range(3)] = 1.0
    whole, part = straight_line_code(robot, layout), straight_line_code(robot, layout, few)
    assert len(part.carried.columns) == 3
    assert part.key != whole.key
    assert part.forward.operations < whole.forward.operations / 3


def test_a_quarter_turn_leaves_no_operation_behind() -> None:
    turn = np.array([np.cos(np.pi / 2), 1.0 - 2e-16, -1.0, 0.5, 1e-9])
    assert exact_constant(turn).tolist() == [0.0, 1.0, -1.0, 0.5, 1e-9]


def test_only_a_number_that_is_zero_is_zero_whatever_the_inputs() -> None:
    (x,) = ExpressionGraph().symbols(1)
    assert is_zero(0.0)
    assert is_zero(x - x)
    assert is_zero(x * 0.0)
    assert not is_zero(0.5)
    assert not is_zero(x)
    assert not is_zero(x - 0.5)


def test_sines_and_cosines_are_those_of_the_system_to_the_last_bits() -> None:
    rng = np.random.default_rng(0)
    quarters = np.pi / 4 * np.arange(-40, 41)
    angles = [rng.uniform(-size, size, 20_000) for size in (1e-8, 1.0, 10.0, 9e3, 1e9)]
    q = np.concatenate([quarters, np.nextafter(quarters, 9.0), [0.0, -0.0, 1e-300, np.nan, 1e300], *angles])
    out = np.empty(2 * q.size)
    write_cos_sin(q, out)
    np.testing.assert_allclose(out[: q.size], np.cos(q), rtol=0, atol=3e-16)
    np.testing.assert_allclose(out[q.size :], np.sin(q), rtol=0, atol=3e-16)
    small = np.abs(q) < 1.0
    np.testing.assert_allclose(out[q.size :][small], np.sin(q[small]), rtol=4e-16, atol=0)


def test_a_joint_without_inertia_is_named() -> None:
    robot = zoo_robot("panda")
    layout = layout_of(robot)
    phi = layout.complete_nominal()
    phi[layout.of_link(robot.link_names[6])] = 0.0
    code, tree = straight_line_code(robot, layout), tree_of(robot)
    given, a = numbers(robot, layout, phi), np.zeros(robot.nv)
    still = np.zeros(robot.nv)
    work = code.kernels.work_arrays(tree, given)
    assert code.kernels.acceleration(tree, given, still, still, still, work, a) == 6


def test_a_floating_or_long_robot_is_refused_with_the_reason() -> None:
    floating = zoo_robot("panda").floating()
    assert not straight_line_pays(floating)
    with pytest.raises(InputError, match="'floating_base' has 6 degrees of freedom"):
        straight_line_code(floating, layout_of(floating))
    long = random_robot(np.random.default_rng(0), bodies=LARGEST + 1)
    assert not straight_line_pays(long)
    with pytest.raises(InputError, match=f"at most {LARGEST}"):
        straight_line_code(long, layout_of(long))
    assert straight_line_pays(zoo_robot("panda"))


def test_the_key_follows_everything_the_code_depends_on() -> None:
    robot = zoo_robot("two_link")
    layout = layout_of(robot, DRIVE)
    keys = {
        straight_line_code(robot, layout).key,
        straight_line_code(robot.with_gravity([0.0, 0.0, 1.0]), layout).key,
        straight_line_code(robot, layout_of(robot)).key,
    }
    assert len(keys) == 3
    assert straight_line_code(zoo_robot("two_link"), layout).key in keys


SCRIPT = """
import sys
import numpy as np
from steelyard.dynamics.batch import numbers
from steelyard.dynamics.straight_line import call, straight_line_code
from steelyard.dynamics.straight_line.inputs import write_cos_sin
from steelyard.dynamics.tree import tree_of
from steelyard.layout import layout_of
from steelyard.zoo import zoo_robot

robot = zoo_robot("one_link")
layout = layout_of(robot)
given, tree = numbers(robot, layout, layout.complete_nominal()), tree_of(robot)
kernels = straight_line_code(robot, layout).kernels
work, a = call(kernels, "work_arrays", tree, given), np.zeros(1)
call(kernels, "acceleration", tree, given, np.ones(1), np.ones(1), np.ones(1), work, a)
sys.stdout.write(f"{a[0].hex()} {sum(kernels.acceleration.stats.cache_misses.values())}")
"""


def run_script(folder: Path) -> tuple[str, int]:
    environment = {**os.environ, "STEELYARD_CACHE": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
    )
    value, misses = done.stdout.split()
    return value, int(misses)


def test_damaged_files_of_the_cache_are_made_again_and_never_executed(tmp_path: Path) -> None:
    value, misses = run_script(tmp_path)
    assert misses == 1
    assert run_script(tmp_path) == (value, 0), "a second process loads the machine code"
    for file in tmp_path.rglob("*.machine-code"):
        file.write_bytes(file.read_bytes()[:-100])
    assert run_script(tmp_path) == (value, 1)
    assert run_script(tmp_path) == (value, 0)
