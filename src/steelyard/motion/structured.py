"""Structured motions a person can read, for any arm, within limits and clear of everything (paper 004)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError, UnknownNameError
from steelyard.finding import Finding, Severity
from steelyard.limits import MotionLimits
from steelyard.motion.fitted_swings import FittedSwings
from steelyard.motion.postures import folding_postures, placed_postures, wrist_of
from steelyard.motion.recipe_motion import RecipeMotions
from steelyard.motion.recipes import POSTURES, Recipe, paper_recipes
from steelyard.motion.room_to_move import RoomToMove
from steelyard.motion.spline import SplineMotion
from steelyard.robot import Robot

AMPLITUDE_TURN = np.radians(45.0)
"""Amplitude of a turning joint with room enough, rad."""
AMPLITUDE_SLIDE = 0.1
"""Amplitude of a sliding joint with room enough, m."""
WRIST_TURN = np.radians(90.0)
"""How far the wrist is turned at a posture's variant, rad."""


@dataclass(frozen=True, eq=False)
class StructuredMotion:
    """One motion of a family.

    Attributes:
        recipe: what it is made of, its name and family.
        motion: the motion, from rest to rest.
    """

    recipe: Recipe
    motion: SplineMotion

    @property
    def name(self) -> str:
        """Such as `PA01`."""
        return self.recipe.name


@dataclass(frozen=True, eq=False)
class StructuredMotions:
    """The families of an arm.

    Attributes:
        motions: for identification and, held out, for validation.
        postures: A, B and C as used, shape (3, nv), rad or m.
        variants: the same with the wrist turned, or the postures where there is no wrist, shape (3, nv), rad
            or m.
        findings: what had to give way to the limits.
    """

    motions: tuple[StructuredMotion, ...]
    postures: Array
    variants: Array
    findings: tuple[Finding, ...]

    def __post_init__(self) -> None:
        for name in ("postures", "variants"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of all motions, in order."""
        return tuple(motion.name for motion in self.motions)

    @property
    def identification(self) -> tuple[StructuredMotion, ...]:
        """Those that parameters may be fitted to."""
        return tuple(item for item in self.motions if not item.recipe.held_out)

    @property
    def validation(self) -> tuple[StructuredMotion, ...]:
        """Those held out."""
        return tuple(item for item in self.motions if item.recipe.held_out)

    def __iter__(self) -> Iterator[StructuredMotion]:
        """In order."""
        return iter(self.motions)

    def __len__(self) -> int:
        """How many there are."""
        return len(self.motions)

    def __getitem__(self, name: str) -> SplineMotion:
        """A motion by its name."""
        if name not in self.names:
            raise UnknownNameError("structured motion", name, self.names)
        return self.motions[self.names.index(name)].motion


def structured_motions(
    limits: MotionLimits,
    *,
    postures: ArrayLike | None = None,
    wrist: int | None = None,
    amplitude: ArrayLike | None = None,
    recipes: tuple[Recipe, ...] | None = None,
    dwell: float = 0.0,
) -> StructuredMotions:
    """Make the families of paper 004 for an arm.

    Every motion goes from rest to rest through waypoints, from swing to swing of few joints at a posture.
    What each is made of is in `recipes`, the swings in `primitives`, the way between waypoints in
    `segments`.

    - A joint swings by its amplitude, or by half of what its position limits and the clearance leave it at
      the posture; swings that come too near to something are made smaller until they do not.
    - Speed and acceleration are shares of their limits: 0.3, 0.6 or 0.9, less for swings of the joints next
      to the base and for large ones. A swing that would need more than nine tenths of a torque limit runs
      slower. A joint without a speed or acceleration limit has those of `room_to_move`.
    - Without a wrist the variants are the postures themselves. Where no two joints are adjacent, each moves
      alone.

    Args:
        limits: what every motion must respect: the robot; and a clearance and a model of the torques where
            these are to count.
        postures: A, B and C, shape (3, nv), rad or m; moved where the limits demand; None for three that fold
            the arm more and more.
        wrist: number of the joint that turns by a right angle at the variants; None for the last one whose
            axis crosses that of the joint behind it, -1 for none.
        amplitude: largest of every joint, zero where it is to stand still, shape (nv,), rad or m; None for 45
            degrees or a tenth of a metre.
        recipes: which motions; None for the paper's 43.
        dwell: how long to rest at each waypoint, s.

    Returns:
        The motions. They keep their limits wherever that was looked at; `steelyard.limits.certify` proves it
        for all times.

    Raises:
        InputError: the robot may not stand at the postures, or cannot go between them.
        DescriptionError: the robot is no arm on a fixed base.
    """
    room = RoomToMove(limits)
    robot = limits.robot
    turns = np.array([joint.kind.rotates for joint in robot.joints])
    usual = np.where(turns, AMPLITUDE_TURN, AMPLITUDE_SLIDE)
    a = usual if amplitude is None else checked("amplitude", amplitude, (robot.nv,))
    if (a < 0.0).any() or not a.any():
        raise InputError("must be zero or more, and not zero for all joints.", place="amplitude")
    X = folding_postures(room) if postures is None else placed_postures(room, postures)
    turned = wrist_of(robot) if wrist is None else wrist
    if turned is not None and not -1 <= turned < robot.nv:
        raise InputError(f"must be -1 to {robot.nv - 1}, got {wrist}.", place="wrist")
    variants = X if turned in (None, -1) else np.array([_variant(room, x, turned) for x in X])
    swings = FittedSwings(room, X, variants, a)
    maker = RecipeMotions(swings, dwell)
    made = [StructuredMotion(recipe, maker.motion(recipe)) for recipe in recipes or paper_recipes()]
    moved = [] if postures is None else _moved(robot, np.asarray(postures, dtype=float), X)
    return StructuredMotions(tuple(made), X, variants, (*moved, *swings.findings, *maker.findings))


def _variant(room: RoomToMove, posture: Array, wrist: int) -> Array:
    """The posture with its wrist turned by a right angle, or as far as it goes, to the roomier side."""
    ends = []
    for side in (1.0, -1.0):
        goal = posture.copy()
        goal[wrist] = np.clip(posture[wrist] + side * WRIST_TURN, room.lower[wrist], room.upper[wrist])
        ends.append(room.farthest(posture, goal))
    up, down = ends
    return up if abs(up[wrist] - posture[wrist]) >= abs(down[wrist] - posture[wrist]) - 1e-9 else down


def _moved(robot: Robot, wish: Array, postures: Array) -> list[Finding]:
    return [
        Finding(
            Severity.INFO,
            "moved-posture",
            f"stands at {postures[k, j]:.4g} instead of {wish[k, j]:.4g} {robot.joints[j].position_unit} at "
            f"posture {POSTURES[k]}, to keep its limits and to stay clear.",
            f"joint '{robot.joint_names[j]}'",
        )
        for k, j in np.argwhere(np.abs(postures - wish) > 1e-9)
    ]
