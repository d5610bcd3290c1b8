"""The regressor by generated code: the same answers as the generic kernel, chosen for long batches."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import random_robot, random_states
from oracles.thread_counts import thread_count
from steelyard.drive import DRIVE_TERMS
from steelyard.dynamics import regressor_adjoint, torque_regressor
from steelyard.dynamics.straight_line.regressor import straight_line_regressor
from steelyard.errors import InputError, UnknownNameError
from steelyard.layout import layout_of
from steelyard.robot import Robot
from steelyard.zoo import zoo_robot

MODULE = importlib.import_module("steelyard.dynamics.regressor")
ALL = [term.name for term in DRIVE_TERMS]
ROBOTS = [
    ("one_link", ALL),
    ("panda", []),
    ("panda", ["coulomb", "rotor"]),
    ("a tree", ALL),
]


def robot_named(name: str) -> Robot:
    return random_robot(np.random.default_rng(3), bodies=5) if name == "a tree" else zoo_robot(name)


@pytest.fixture
def from_ten_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODULE, "STRAIGHT_LINE_FROM", 10)


@pytest.mark.parametrize(("name", "drive"), ROBOTS)
def test_generated_code_equals_generic_code(name: str, drive: list[str], from_ten_samples: None) -> None:
    robot = robot_named(name)
    layout = layout_of(robot, drive)
    q, v, a = random_states(np.random.default_rng(0), robot, 37)
    v[5] = 0.0
    q[6] = 1e6
    generated = torque_regressor(robot, layout, q, v, a)
    generic = np.concatenate(
        [torque_regressor(robot, layout, *(x[n : n + 1] for x in (q, v, a))) for n in range(37)]
    )
    for n in range(37):
        bound = 1e-12 if n != 6 else 1e-9  # an angle of 1e6 rad has lost ten digits
        assert np.abs(generated[n] - generic[n]).max() <= bound * np.abs(generic[n]).max()
    assert not np.array_equal(generated, generic) or name == "one_link"


@pytest.mark.parametrize(("name", "drive"), ROBOTS)
def test_the_generated_adjoint_equals_the_generic_one(name: str, drive: list[str]) -> None:
    robot = robot_named(name)
    layout = layout_of(robot, drive)
    rng = np.random.default_rng(4)
    q, v, a = random_states(rng, robot, 19)
    v[3] = 0.0
    G = rng.standard_normal((19, robot.nv, layout.size))
    made = regressor_adjoint(robot, layout, G, q, v, a, code="straight-line")
    generic = regressor_adjoint(robot, layout, G, q, v, a, code="generic")
    for part in ("q", "v", "a"):
        expected = getattr(generic, part)
        assert np.abs(getattr(made, part) - expected).max() < 1e-12 * np.abs(expected).max()
    with thread_count(3):
        again = regressor_adjoint(robot, layout, G, q, v, a, code="straight-line")
    assert all(np.array_equal(getattr(again, part), getattr(made, part)) for part in ("q", "v", "a"))


def test_pinocchio_agrees(from_ten_samples: None) -> None:
    robot = zoo_robot("panda")
    judge = PinocchioRobot.of(robot)
    q, v, a = random_states(np.random.default_rng(1), robot, 20)
    Y = torque_regressor(robot, layout_of(robot), q, v, a)
    for n in range(20):
        expected = judge.regressor(q[n], v[n], a[n])
        assert np.abs(Y[n] - expected).max() < 1e-12 * np.abs(expected).max()


def test_neither_the_batch_nor_the_threads_change_a_bit(from_ten_samples: None) -> None:
    robot = zoo_robot("panda")
    layout = layout_of(robot)
    q, v, a = random_states(np.random.default_rng(2), robot, 101)
    whole = torque_regressor(robot, layout, q, v, a)
    for first, last in ((0, 10), (3, 20), (90, 101)):
        part = torque_regressor(robot, layout, q[first:last], v[first:last], a[first:last])
        assert np.array_equal(part, whole[first:last])
    with thread_count(3):
        assert np.array_equal(torque_regressor(robot, layout, q, v, a), whole)


@pytest.mark.parametrize(("name", "drive"), ROBOTS)
def test_entries_stored_by_the_block_are_those_stored_one_by_one(name: str, drive: list[str]) -> None:
    robot = robot_named(name)
    layout = layout_of(robot, drive)
    q, v, a = random_states(np.random.default_rng(6), robot, 16)
    made = straight_line_regressor(robot, layout)
    starts, singles = made.blocks
    blocks, places = (first[:, None] + np.arange(8) for first in (starts, made.places[starts]))
    assert np.array_equal(made.places[blocks], places)
    assert sorted({*blocks.ravel(), *singles}) == list(range(len(made.places)))
    whole = torque_regressor(robot, layout, q, v, a, code="straight-line")
    for n in range(16):  # fewer than eight samples are stored one by one
        alone = torque_regressor(robot, layout, q[n], v[n], a[n], code="straight-line")
        assert np.array_equal(alone[0], whole[n])


def test_short_batches_and_floating_robots_use_the_generic_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[str] = []
    module = importlib.import_module("steelyard.dynamics.straight_line.regressor")
    monkeypatch.setattr(module, "straight_line_regressor", lambda robot, layout: used.append(robot.name))
    robot = zoo_robot("two_link")
    torque_regressor(robot, layout_of(robot), *np.zeros((3, MODULE.STRAIGHT_LINE_FROM - 1, 2)))
    floating = robot.floating()
    q = np.ones((MODULE.STRAIGHT_LINE_FROM, 9))
    torque_regressor(floating, layout_of(floating), q, *np.zeros((2, MODULE.STRAIGHT_LINE_FROM, 8)))
    assert used == []
    with pytest.raises(AttributeError):  # the stand-in cannot write
        torque_regressor(robot, layout_of(robot), *np.zeros((3, MODULE.STRAIGHT_LINE_FROM, 2)))
    assert used == ["two_link"]


def test_code_may_be_chosen_by_name() -> None:
    robot = zoo_robot("two_link")
    layout = layout_of(robot)
    q, v, a = random_states(np.random.default_rng(5), robot, 3)
    generic = torque_regressor(robot, layout, q, v, a, code="generic")
    made = torque_regressor(robot, layout, q, v, a, code="straight-line")
    assert np.array_equal(generic, torque_regressor(robot, layout, q, v, a))
    assert np.abs(made - generic).max() < 1e-13 * np.abs(generic).max()
    with pytest.raises(UnknownNameError, match=r"unknown code 'fast'.*straight-line"):
        torque_regressor(robot, layout, q, v, a, code="fast")
    floating = robot.floating()
    with pytest.raises(InputError, match="degrees of freedom"):
        torque_regressor(floating, layout_of(floating), np.ones(9), *np.zeros((2, 8)), code="straight-line")


def test_structural_zeros_leave_no_trace() -> None:
    robot = zoo_robot("two_link")
    layout = layout_of(robot)
    made = straight_line_regressor(robot, layout)
    # Planar arms feel few parameters, but every carried entry of a supported row is an output.
    assert len(made.places) == 10 * 1 + 10 * 2
    assert made.program.operations < 100
    assert straight_line_regressor(robot, layout) is made
