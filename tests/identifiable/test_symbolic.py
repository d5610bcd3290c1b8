"""Symbolic identifiability: formulas that hold whatever the lengths."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy

from oracles.random_robots import random_states
from steelyard.dynamics import torque_regressor
from steelyard.errors import InputError, UnknownNameError
from steelyard.identifiable.exact.identifiability import exact_identifiability
from steelyard.identifiable.exact.symbolic import SymbolicIdentifiability, symbolic_identifiability
from steelyard.layout import layout_of
from steelyard.pose import Pose
from steelyard.robot import Robot
from steelyard.zoo import zoo_robot

PUMA = {"p_joint3_x": "a2", "p_joint3_z": "d3", "p_joint4_x": "a3", "p_joint4_y": "d4"}
DRIVE = ("rotor", "offset", "viscous", "coulomb")


def puma() -> SymbolicIdentifiability:
    robot = zoo_robot("puma560")
    return symbolic_identifiability(robot, layout_of(robot), symbols=PUMA)


def resized(robot: Robot, values: dict[str, float]) -> Robot:
    """The same robot with its offsets and its gravity taken from the values of the symbols."""
    joints = []
    for joint in robot.joints:
        p = [values.get(f"p_{joint.name}_{axis}", 0.0) for axis in "xyz"]
        joints.append(replace(joint, placement=Pose(joint.placement.rotation, np.array(p))))
    gravity = np.array([values.get(f"g_{axis}", 0.0) for axis in "xyz"])
    return replace(robot, joints=tuple(joints), gravity=gravity)


def expected(**coefficients: str) -> dict[str, sympy.Expr]:
    """Coefficients by parameter, `Izz1` meaning `link1.Izz`, and h a first moment."""
    return {
        f"link{name[-1]}.{name[:-1].replace('h', 'm')}": sympy.sympify(value)
        for name, value in coefficients.items()
    }


def test_the_puma_has_36_base_parameters_whatever_its_lengths() -> None:
    assert puma().count == 36


def test_the_puma_has_the_textbook_regroupings() -> None:
    # The first regroupings of the PUMA in modified Denavit-Hartenberg frames.
    e, far = expected, "a2**2 + a3**2 + d3**2"
    rows = [
        e(Izz1="1", Iyy2="1", Iyy3="1", hz3="2*d3", m3="a2**2 + d3**2", m4=far, m5=far, m6=far),
        e(hx2="1", m3="a2", m4="a2", m5="a2", m6="a2"),
        e(hy2="1"),
        e(Ixx2="1", Iyy2="-1", m3="-a2**2", m4="-a2**2", m5="-a2**2", m6="-a2**2"),
        e(Izz2="1", m3="a2**2", m4="a2**2", m5="a2**2", m6="a2**2"),
        e(Iyz2="1"),
        e(Ixz2="1", hz3="-a2", m3="-a2*d3", m4="-a2*d3", m5="-a2*d3", m6="-a2*d3"),
        e(Ixy2="1"),
        e(hx3="1", m4="a3", m5="a3", m6="a3"),
        e(hy3="1", hz4="1", m4="d4", m5="d4", m6="d4"),
    ]
    found = list(puma().groupings.values())[: len(rows)]
    for row, formula in zip(rows, found, strict=True):
        assert row.keys() == formula.keys()
        assert all(sympy.expand(row[name] - formula[name]) == 0 for name in row)


@pytest.mark.parametrize("name", ["scara", "puma560", "cheetah3_leg", "panda"])
def test_formulas_hold_at_random_lengths(name: str) -> None:
    rng = np.random.default_rng(7)
    robot = zoo_robot(name)
    layout = layout_of(robot, DRIVE)
    answer = symbolic_identifiability(robot, layout)
    values = {
        symbol: float(round(x, 3)) for symbol, x in zip(answer.symbols, rng.uniform(0.1, 2, 99), strict=False)
    }
    other = resized(robot, values)
    exact = exact_identifiability(other, layout)
    assert answer.classes == exact.classes
    assert [vars(body) for body in answer.bodies] == [vars(body) for body in exact.bodies]
    np.testing.assert_allclose(answer.matrix(values), exact.matrix, rtol=1e-12, atol=1e-14)
    W = torque_regressor(other, layout, *random_states(rng, other, 40)).reshape(-1, layout.size)
    np.testing.assert_allclose(W[:, answer.pivots] @ answer.matrix(values), W, atol=1e-11 * np.abs(W).max())


def test_symbols_stand_for_the_numbers_of_the_description() -> None:
    answer = puma()
    assert answer.symbols["a2"] == Fraction(4318, 10000)
    exact = exact_identifiability(zoo_robot("puma560"), answer.layout)
    np.testing.assert_allclose(answer.matrix(), exact.matrix, rtol=1e-14, atol=1e-16)


def test_equal_lengths_share_a_symbol_only_when_asked() -> None:
    robot = zoo_robot("cheetah3")
    layout = layout_of(robot)
    apart = symbolic_identifiability(robot, layout)
    thighs = [name for name in apart.symbols if name.endswith("knee_x")]
    assert len(thighs) == 4
    together = symbolic_identifiability(robot, layout, symbols=dict.fromkeys(thighs, "thigh"))
    assert "thigh" in together.symbols
    assert len(together.symbols) == len(apart.symbols) - 3
    np.testing.assert_allclose(together.matrix(), apart.matrix(), atol=1e-15)


def test_opposite_lengths_share_a_symbol_with_opposite_signs() -> None:
    robot = zoo_robot("cheetah3")
    layout = layout_of(robot)
    apart = symbolic_identifiability(robot, layout)
    sides = [name for name in apart.symbols if name.endswith("hip_y")]
    assert {apart.symbols[name] > 0 for name in sides} == {True, False}
    together = symbolic_identifiability(robot, layout, symbols=dict.fromkeys(sides, "side"))
    np.testing.assert_allclose(together.matrix(), apart.matrix(), atol=1e-15)


def test_different_lengths_cannot_share_a_symbol() -> None:
    robot = zoo_robot("puma560")
    with pytest.raises(InputError, match=r"'a' would stand for 0.4318 and, as 'p_joint3_z', for 0.1501"):
        symbolic_identifiability(robot, layout_of(robot), symbols={"p_joint3_x": "a", "p_joint3_z": "a"})


def test_a_name_of_no_length_is_refused_with_those_that_exist() -> None:
    robot = zoo_robot("scara")
    with pytest.raises(UnknownNameError, match="p_joint2_x"):
        symbolic_identifiability(robot, layout_of(robot), symbols={"p_joint1_x": "a"})
    with pytest.raises(UnknownNameError, match="a2"):
        puma().matrix({"a9": 1.0})


def test_a_robot_without_lengths_or_gravity_has_plain_numbers() -> None:
    robot = zoo_robot("one_link").with_gravity(np.zeros(3))
    answer = symbolic_identifiability(robot, layout_of(robot, ("viscous",)))
    assert answer.groupings == {name: {name: 1} for name in answer.groupings}
    assert answer.count == 2


def test_lengths_at_which_a_formula_has_no_value_are_refused() -> None:
    robot = zoo_robot("scara")
    answer = symbolic_identifiability(robot, layout_of(robot, ("offset",)), static=True)
    assert answer.groupings["link3.m"]["joint3.offset"] == -1 / sympy.Symbol("g_z")
    with pytest.raises(InputError, match="other combinations are known"):
        answer.matrix({"g_z": 0.0})
