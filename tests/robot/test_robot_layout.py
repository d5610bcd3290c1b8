"""The layout: names, slices, units, nominal values, and an order that is the same however it is asked for."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from oracles.random_robots import random_robot
from steelyard.archive import from_document, to_document
from steelyard.drive import Drive
from steelyard.errors import DescriptionError, InputError, UnknownNameError
from steelyard.inertia import PARAMETER_NAMES
from steelyard.layout import Layout, layout_of
from steelyard.robot import JointKind, Link, Robot

TERMS = ("viscous", "coulomb", "offset", "rotor")


def _robot() -> Robot:
    robot = random_robot(np.random.default_rng(0), bodies=3)
    kinds = (JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.CONTINUOUS)
    drives = (Drive(viscous=1.0, rotor=0.5), Drive(), Drive(offset=-2.0))
    joints = [
        replace(joint, kind=kind, drive=drive)
        for joint, kind, drive in zip(robot.joints, kinds, drives, strict=True)
    ]
    return replace(robot, joints=tuple(joints))


ROBOT = _robot()
LAYOUT = layout_of(ROBOT, TERMS)


def test_links_come_first_ten_each_then_the_drives_joint_by_joint() -> None:
    names = [f"link{i}.{term}" for i in range(3) for term in PARAMETER_NAMES]
    names += [f"joint{i}.{term}" for i in range(3) for term in TERMS]
    assert list(LAYOUT.names) == names
    assert LAYOUT.size == 42
    assert [LAYOUT.index(name) for name in names] == list(range(42))
    for parameter in LAYOUT.parameters:
        assert parameter.name == f"{parameter.owner}.{parameter.term}"


def test_slices_cover_the_vector_once() -> None:
    slices = [LAYOUT.of_link(link) for link in LAYOUT.links] + [LAYOUT.of_joint(j) for j in LAYOUT.joints]
    covered = [k for each in slices for k in range(42)[each]]
    assert covered == list(range(42))
    for link in LAYOUT.links:
        assert {p.owner for p in LAYOUT.parameters[LAYOUT.of_link(link)]} == {link}


@pytest.mark.parametrize("count", range(5))
def test_the_order_of_the_drive_does_not_depend_on_how_it_is_asked_for(count: int) -> None:
    for chosen in permutations(TERMS, count):
        layout = layout_of(ROBOT, chosen)
        assert layout.drive == tuple(term for term in TERMS if term in chosen)
        assert layout == layout_of(ROBOT, sorted(chosen))
        assert layout.size == 30 + 3 * count
        assert layout.of_joint("joint1") == slice(30 + count, 30 + 2 * count)


def test_drive_columns_point_at_the_named_parameter_or_nowhere() -> None:
    layout = layout_of(ROBOT, ["rotor", "coulomb"])
    assert layout.drive_columns.shape == (3, 4)
    for j, joint in enumerate(layout.joints):
        for k, term in enumerate(TERMS):
            at = layout.index(f"{joint}.{term}") if term in layout.drive else -1
            assert layout.drive_columns[j, k] == at
    with pytest.raises(ValueError, match="read-only"):
        layout.drive_columns[0, 0] = 3


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("link0.m", "kg"),
        ("joint0.viscous", "N·m·s/rad"),
        ("joint0.rotor", "kg·m²"),
        ("joint1.viscous", "N·s/m"),
        ("joint1.coulomb", "N"),
        ("joint1.rotor", "kg"),
        ("joint2.offset", "N·m"),
    ],
)
def test_units_follow_the_kind_of_joint(name: str, unit: str) -> None:
    assert LAYOUT.parameters[LAYOUT.index(name)].unit == unit


def test_lower_bounds_are_zero_where_physics_says_so_and_absent_elsewhere() -> None:
    nonnegative = {"m", "Ixx", "Iyy", "Izz", "viscous", "coulomb", "rotor"}
    for parameter in LAYOUT.parameters:
        assert parameter.lower == (0.0 if parameter.term in nonnegative else -math.inf)


def test_unknown_names_get_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown parameter 'link1\.mm'\. Did you mean 'link1\.m"):
        LAYOUT.index("link1.mm")
    with pytest.raises(UnknownNameError, match=r"unknown moving link 'base'"):
        LAYOUT.of_link("base")
    with pytest.raises(UnknownNameError, match=r"unknown joint 'joint9'\. Did you mean 'joint"):
        LAYOUT.of_joint("joint9")
    with pytest.raises(UnknownNameError, match=r"unknown drive term 'friction'"):
        layout_of(ROBOT, ["friction"])
    with pytest.raises(InputError, match=r"^drive: a term is named twice"):
        layout_of(ROBOT, ["rotor", "rotor"])


def test_nominal_values_are_what_the_description_states_and_nan_elsewhere() -> None:
    nominal = LAYOUT.nominal
    for link in ROBOT.links:
        assert link.body is not None
        np.testing.assert_array_equal(nominal[LAYOUT.of_link(link.name)], link.body.parameters)
    stated = {"joint0.viscous": 1.0, "joint0.rotor": 0.5, "joint2.offset": -2.0}
    for name in LAYOUT.names[30:]:
        np.testing.assert_equal(nominal[LAYOUT.index(name)], stated.get(name, math.nan))


def test_the_complete_nominal_takes_unstated_drives_as_absent() -> None:
    np.testing.assert_array_equal(LAYOUT.complete_nominal(), np.nan_to_num(LAYOUT.nominal, nan=0.0))


def test_the_complete_nominal_names_every_link_without_inertial() -> None:
    links = (Link("blind"), ROBOT.links[1], Link("also_blind"))
    layout = layout_of(replace(ROBOT, links=links), TERMS)
    assert np.isnan(layout.nominal[layout.of_link("blind")]).all()
    with pytest.raises(DescriptionError, match=r"no inertial is stated for blind, also_blind"):
        layout.complete_nominal()


def test_a_layout_survives_a_json_file() -> None:
    back = from_document(Layout, json.loads(json.dumps(to_document(LAYOUT), allow_nan=False)))
    assert back == LAYOUT
    np.testing.assert_array_equal(back.drive_columns, LAYOUT.drive_columns)
