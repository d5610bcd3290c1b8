"""The linearisation of many states at once says what that of one state says."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.agreement import assert_agree
from steelyard.dynamics.straight_line import StraightLineCode, straight_line_code
from steelyard.dynamics.straight_line.expression import Program
from steelyard.layout import layout_of
from steelyard.rollout.sensitivity import with_known_accelerations
from steelyard.zoo import zoo_robot


def values(program: Program, inputs: np.ndarray) -> np.ndarray:
    """The outputs of a program, step by step."""
    known: list[float] = []
    for step in program.instructions:
        if step.kind == "input":
            known.append(inputs[step.arguments[0]])
        elif step.kind == "constant":
            known.append(step.constant)
        elif step.kind == "negate":
            known.append(-known[step.arguments[0]])
        else:
            known.append(getattr(np, step.kind)(*(known[k] for k in step.arguments)))
    return np.array([known[k] for k in program.outputs])


def code_of(name: str) -> StraightLineCode:
    robot = zoo_robot(name)
    return straight_line_code(robot, layout_of(robot, ["viscous", "coulomb", "offset", "rotor"]))


@pytest.mark.parametrize("name", ["one_link", "two_link", "scara"])
def test_the_linearisation_is_the_same_when_the_accelerations_are_known(name: str) -> None:
    code, rng = code_of(name), np.random.default_rng(4)
    nv = code.nv
    known = with_known_accelerations(code.linear, nv)
    state, parameters = rng.normal(size=6 * nv), rng.uniform(0.5, 1.0, 14 * nv)
    expected = values(code.linear, np.concatenate([state, parameters]))
    state[5 * nv :] = expected[:nv]
    assert_agree(values(known, np.concatenate([parameters, state])), expected, relative=1e-14)


def test_what_finds_the_accelerations_falls_away() -> None:
    code = code_of("scara")
    known = with_known_accelerations(code.linear, code.nv)
    used = {k for step in known.instructions if step.kind != "input" for k in step.arguments}
    assert used | set(known.outputs) == set(range(len(known.instructions)))
    assert known.operations < code.linear.operations
