"""Structural identifiability against the counts and dimensions that Wensing et al. (2024) print."""

from __future__ import annotations

from dataclasses import replace

import pytest

from oracles.paper_mechanisms import (
    ALONG_X,
    CHEETAH_LEG,
    DOWN,
    FIG_4A,
    FIG_4B,
    NONE,
    PUMA,
    RX90,
    SCARA,
    Mechanism,
    with_spin,
)
from steelyard.identifiable import structural_identifiability
from steelyard.layout import layout_of

Gravity = tuple[float, float, float]


# Tables 2, 4 and 5, sections 4.5 and 9; without gravity and at rest checked by singular values elsewhere.
COUNTS = [
    (PUMA, DOWN, 36, 40, 10),
    (PUMA, NONE, 34, 38, 0),
    (RX90, DOWN, 36, 40, 10),
    (RX90, NONE, 34, 38, 0),
    (SCARA, DOWN, 8, 11, 1),
    (SCARA, NONE, 8, 11, 0),
    (CHEETAH_LEG, ALONG_X, 17, 18, 6),
    (CHEETAH_LEG, NONE, 13, 14, 0),
    (FIG_4A, DOWN, 4, 5, 0),
    (FIG_4A, ALONG_X, 6, 7, 4),
    (FIG_4A, NONE, 4, 5, 0),
    (FIG_4B, DOWN, 8, 8, 2),
    (FIG_4B, NONE, 8, 8, 0),
]


@pytest.mark.parametrize(("mechanism", "gravity", "rigid", "with_rotors", "static"), COUNTS)
def test_the_counts_are_those_of_the_paper(
    mechanism: Mechanism, gravity: Gravity, rigid: int, with_rotors: int, static: int
) -> None:
    mechanism = replace(mechanism, gravity=gravity)
    robot = mechanism.robot()
    layout = layout_of(robot)
    assert structural_identifiability(robot, layout).count == rigid
    assert structural_identifiability(robot, layout, static=True).count == static
    assert with_spin(mechanism.robot(rotors=True)).count == with_rotors


@pytest.mark.parametrize("gravity", [ALONG_X, NONE])
def test_a_floating_torso_shows_ten_and_21_or_24_more_per_leg(gravity: Gravity) -> None:
    leg = replace(CHEETAH_LEG, gravity=gravity)
    robot = leg.robot(floating=True)
    assert structural_identifiability(robot, layout_of(robot)).count == 10 + 21
    assert with_spin(leg.robot(floating=True, rotors=True)).count == 10 + 24


def test_gravity_along_the_first_axis_of_the_leg_shows_less() -> None:
    robot = replace(CHEETAH_LEG, gravity=DOWN).robot()
    assert structural_identifiability(robot, layout_of(robot)).count == 15


@pytest.mark.parametrize(("gravity", "armature"), [(DOWN, 11), (NONE, 10)])
def test_a_plain_armature_is_another_model_than_a_rotor(gravity: Gravity, armature: int) -> None:
    # The rotor of the prismatic joint of a SCARA spins with the arm; a plain armature does not, and without
    # gravity it cannot be told from the mass that it moves.
    mechanism = replace(SCARA, gravity=gravity)
    robot = mechanism.robot()
    assert structural_identifiability(robot, layout_of(robot, ["rotor"])).count == armature
    assert with_spin(mechanism.robot(rotors=True)).count == 11


# dim V, dim K, dim T by body; of V and K the tables print both. dim T is printed with gravity alone; of the
# PUMA without gravity it follows from the count, 34 = 60 - 26.
DIMENSIONS = [
    (PUMA, DOWN, (2, 5, 6, 6, 6, 6), (1, 8, 10, 10, 10, 10), (9, 3, 3, 3, 3, 3)),
    (PUMA, NONE, (1, 3, 6, 6, 6, 6), (1, 6, 10, 10, 10, 10), (9, 5, 3, 3, 3, 3)),
    (SCARA, DOWN, (2, 4, 4, 4), (1, 4, 4, 4), (9, 7, 9, 7)),
    (SCARA, NONE, (1, 3, 4, 4), (1, 4, 4, 4), (9, 7, 9, 7)),
    (CHEETAH_LEG, ALONG_X, (3, 6, 6), (3, 9, 10), (7, 3, 3)),
    (CHEETAH_LEG, NONE, (1, 3, 6), (1, 6, 10), (9, 5, 3)),
]


@pytest.mark.parametrize(("mechanism", "gravity", "velocity", "identifiable", "transfer"), DIMENSIONS)
def test_the_dimensions_are_those_of_the_paper(
    mechanism: Mechanism,
    gravity: Gravity,
    velocity: tuple[int, ...],
    identifiable: tuple[int, ...],
    transfer: tuple[int, ...],
) -> None:
    robot = replace(mechanism, gravity=gravity).robot()
    found = structural_identifiability(robot, layout_of(robot))
    assert tuple(body.dim_velocity for body in found.bodies) == velocity
    assert tuple(body.dim_identifiable for body in found.bodies) == identifiable
    assert tuple(body.dim_transfer for body in found.bodies) == transfer
    assert found.count == 10 * len(robot.links) - sum(transfer)


@pytest.mark.parametrize("gravity", [ALONG_X, NONE])
def test_a_free_leg_has_the_dimensions_of_bodies_that_nothing_restricts(gravity: Gravity) -> None:
    robot = replace(CHEETAH_LEG, gravity=gravity).robot(floating=True)
    found = structural_identifiability(robot, layout_of(robot))
    dimensions = [(body.dim_velocity, body.dim_identifiable, body.dim_transfer) for body in found.bodies]
    assert dimensions == [(6, 10, 0), (6, 10, 3), (6, 10, 3), (6, 10, 3)]
