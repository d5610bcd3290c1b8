"""Structured motions: which joints swing, at which posture, how fast; 40 to fit parameters to and 3 held out.

There are three postures, and of each a variant with the wrist turned by a right angle. A motion is a row of
swings of few joints that a person can read. It is after Oaki et al. (2026), section V-A, who publish how many
motions a family has and what kind of primitives, but neither the combinations nor the amplitudes. Chosen
here: swings of one joint at a time alone leave some parameters unseen at every posture, so each pattern has
adjacent joints too, and each shows all parameters.

| pattern | at the posture | at its wrist variant |
| --- | --- | --- |
| 1 | each joint alone | adjacent joints in phase |
| 2 | adjacent joints in phase | adjacent joints in opposite phase |
| 3 | adjacent joints in opposite phase | each joint alone |

- PA, PB, PC 01 to 09: patterns 1, 2 and 3, each at low, medium and high speed; 10: patterns 1 and 2 at medium
  speed; 11: pattern 3 at low and at high speed.
- AP01 to 03: adjacent joints in both phases at A, B, C, high speed; AP04 and 05: at C, low and medium speed.
- AG01: adjacent joints in turn at A, the wrist variant of B, and C, medium speed.
- AG02: at each posture every joint alone at low speed, then adjacent joints at the wrist variant at high
  speed.
- V01 to V03, held out: all joints at once at A; groups of four joints and the last one at B; both, at all
  three postures.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError
from steelyard.robot import Robot

# Primitives of structured motions (Oaki et al. 2026, Appendix B): to one side of a posture, the other, and
# back.
#
# $$\bar q \to c - \delta \to c + \delta \to \bar q$$
#
# The primitives there move one joint, $\delta = a_j e_j$, or two adjacent ones,
# $\delta = s_j a_j e_j + s_{j+1} a_{j+1} e_{j+1}$ with signs s that make them swing in phase or in opposite
# phase, about $c = \bar q$. Here any joints may move together, and the centre c of a swing moves as little as
# needed where a joint has no room for its amplitude on both sides of the posture.

GROUP = 4
"""Joints that move together in a group, besides the last one."""


@dataclass(frozen=True, eq=False)
class Primitive:
    """One swing of some joints at a posture; the others stand still.

    Attributes:
        posture: where it starts and ends, shape (nv,), rad or m.
        centre: c, the middle of the swing, the posture itself where the joints have room, shape (nv,), rad or
            m.
        offset: δ, amplitudes with their signs, zero where a joint stands still, shape (nv,), rad or m.
    """

    posture: Array
    centre: Array
    offset: Array

    def __post_init__(self) -> None:
        offset = checked("offset", self.offset, ("nv",))
        if not offset.any():
            raise InputError("moves no joint.", place="offset")
        object.__setattr__(self, "offset", read_only(offset))
        for name in ("posture", "centre"):
            object.__setattr__(self, name, read_only(checked(name, getattr(self, name), offset.shape)))
        if (self.centre != self.posture)[offset == 0.0].any():
            raise InputError("leaves the posture in a joint that stands still.", place="centre")

    @property
    def waypoints(self) -> Array:
        """The posture, one side, the other side, the posture, shape (4, nv), rad or m."""
        c, delta = self.centre, self.offset
        return np.stack((self.posture, c - delta, c + delta, self.posture))


def primitive_within(posture: ArrayLike, offset: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> Primitive:
    """The primitive at a posture within a range: joints swing less, or about another centre, where they must.

    Args:
        posture: where it starts and ends, within the range, shape (nv,), rad or m.
        offset: δ wished for, shape (nv,), rad or m.
        lower: of the range, shape (nv,), rad or m.
        upper: of the range, shape (nv,), rad or m.

    Returns:
        The primitive: amplitudes no larger than half the range, centres as near to the posture as they fit.
    """
    q = checked("posture", posture, ("nv",))
    low, high = (checked(name, x, q.shape) for name, x in (("lower", lower), ("upper", upper)))
    wanted = checked("offset", offset, q.shape)
    amplitude = np.minimum(np.abs(wanted), 0.5 * (high - low))
    centre = np.clip(q, low + amplitude, high - amplitude)
    return Primitive(q, np.where(wanted == 0.0, q, centre), np.sign(wanted) * amplitude)


def single_joint_offsets(amplitude: ArrayLike) -> Array:
    """The offsets that move each joint alone.

    Args:
        amplitude: of every joint, zero for one that is to stand still, shape (nv,), rad or m.

    Returns:
        One row for each joint that moves, shape (k, nv), rad or m.
    """
    a = checked("amplitude", amplitude, ("nv",))
    return np.asarray(np.diag(a)[a != 0.0])


def adjacent_pair_offsets(robot: Robot, amplitude: ArrayLike, phase: int = 1) -> Array:
    """The offsets that move each joint together with the one that carries it.

    Args:
        robot: the robot.
        amplitude: of every joint, shape (nv,), rad or m; a pair needs two joints that are to move.
        phase: 1 where both have the same sign, -1 where the outer one has the opposite.

    Returns:
        One row for each pair, from the base outwards, shape (k, nv), rad or m; none where no two joints are
        adjacent.
    """
    robot.require_arm()
    if phase not in (1, -1):
        raise InputError(f"must be 1 or -1, got {phase}.", place="phase")
    a = checked("amplitude", amplitude, (robot.nv,))
    rows = []
    for outer, joint in enumerate(robot.joints):
        inner = joint.parent
        if inner >= 0 and a[inner] and a[outer]:
            row = np.zeros(robot.nv)
            row[inner], row[outer] = a[inner], phase * a[outer]
            rows.append(row)
    return np.array(rows).reshape(-1, robot.nv)


def joint_group_offsets(amplitude: ArrayLike, group: int | None = None) -> Array:
    """The offsets that move many joints at once, with signs that tell each joint from every other.

    The signs are Walsh functions of the joint's number: over the rows no two joints of a group keep step.

    Args:
        amplitude: of every joint, shape (nv,), rad or m.
        group: how many joints move besides the last one: the first ones, then those next to the last; None
            for all at once.

    Returns:
        One row for each swing, shape (k, nv), rad or m.
    """
    a = checked("amplitude", amplitude, ("nv",))
    nv = len(a)
    number = np.arange(nv)
    bits = max(1, (nv - 1).bit_length())
    signs = np.array([np.where(number >> bit & 1, -1.0, 1.0) for bit in range(bits)])
    signs = np.vstack((np.ones(nv), signs)) if nv > 1 else signs
    masks = [number >= 0]
    if group is not None and group < nv - 1:
        masks = [(number < group) | (number == nv - 1), number >= nv - 1 - group]
    rows = [row * mask * a for mask in masks for row in signs]
    return np.array([row for row in rows if row.any()]).reshape(-1, nv)


POSTURES = ("A", "B", "C")
LOW, MEDIUM, HIGH = range(3)
"""Speed levels."""


class RecipeSwing(StrEnum):
    """Which joints swing together, in turn until all have."""

    SINGLE = "each joint alone"
    IN_PHASE = "adjacent joints in phase"
    OPPOSITE = "adjacent joints in opposite phase"
    GROUPS = "groups of joints"
    ALL = "all joints at once"


@dataclass(frozen=True)
class RecipeStep:
    """Primitives at one posture.

    Attributes:
        posture: number of the posture, 0 to 2.
        wrist: whether the wrist is turned.
        swing: which joints swing together.
        level: speed level, 0 to 2.
    """

    posture: int
    wrist: bool
    swing: RecipeSwing
    level: int


@dataclass(frozen=True)
class Recipe:
    """What a motion is made of.

    Attributes:
        name: such as `PA01`.
        steps: in order.
    """

    name: str
    steps: tuple[RecipeStep, ...]

    @property
    def family(self) -> str:
        """The letters of its name."""
        return self.name.rstrip("0123456789")

    @property
    def held_out(self) -> bool:
        """Whether it is kept for validation."""
        return self.family == "V"


_PATTERNS = (
    (RecipeSwing.SINGLE, RecipeSwing.IN_PHASE),
    (RecipeSwing.IN_PHASE, RecipeSwing.OPPOSITE),
    (RecipeSwing.OPPOSITE, RecipeSwing.SINGLE),
)


def structured_recipes() -> tuple[Recipe, ...]:
    """The 40 motions for identification and the 3 for validation.

    Returns:
        The recipes: families PA, PB, PC, AP, AG and V, in this order.
    """
    grids = [recipe for posture in range(len(POSTURES)) for recipe in _posture_family(posture)]
    return (*grids, *_pair_family(), *_aggregated(), *_held_out())


def _pattern(posture: int, pattern: int, level: int) -> tuple[RecipeStep, ...]:
    plain, turned = _PATTERNS[pattern]
    return RecipeStep(posture, False, plain, level), RecipeStep(posture, True, turned, level)


def _posture_family(posture: int) -> list[Recipe]:
    made = [_pattern(posture, pattern, level) for pattern in range(3) for level in (LOW, MEDIUM, HIGH)]
    made.append((*_pattern(posture, 0, MEDIUM), *_pattern(posture, 1, MEDIUM)))
    made.append((*_pattern(posture, 2, LOW), *_pattern(posture, 2, HIGH)))
    return [Recipe(f"P{POSTURES[posture]}{k:02d}", steps) for k, steps in enumerate(made, start=1)]


def _pair_family() -> list[Recipe]:
    wanted = ((0, HIGH), (1, HIGH), (2, HIGH), (2, LOW), (2, MEDIUM))
    made = [
        (
            RecipeStep(posture, False, RecipeSwing.IN_PHASE, level),
            RecipeStep(posture, False, RecipeSwing.OPPOSITE, level),
        )
        for posture, level in wanted
    ]
    return [Recipe(f"AP{k:02d}", steps) for k, steps in enumerate(made, start=1)]


def _aggregated() -> list[Recipe]:
    pairs = (RecipeSwing.IN_PHASE, RecipeSwing.OPPOSITE, RecipeSwing.IN_PHASE)
    three = tuple(RecipeStep(k, k == 1, swing, MEDIUM) for k, swing in enumerate(pairs))
    six = [
        (RecipeStep(k, False, RecipeSwing.SINGLE, LOW), RecipeStep(k, True, pairs[k], HIGH)) for k in range(3)
    ]
    return [Recipe("AG01", three), Recipe("AG02", tuple(step for both in six for step in both))]


def _held_out() -> list[Recipe]:
    everywhere = [
        (RecipeStep(k, False, RecipeSwing.ALL, MEDIUM), RecipeStep(k, True, RecipeSwing.GROUPS, MEDIUM))
        for k in range(len(POSTURES))
    ]
    made = (
        (RecipeStep(0, False, RecipeSwing.ALL, MEDIUM), RecipeStep(0, False, RecipeSwing.ALL, HIGH)),
        (RecipeStep(1, False, RecipeSwing.GROUPS, MEDIUM), RecipeStep(1, True, RecipeSwing.GROUPS, HIGH)),
        tuple(step for both in everywhere for step in both),
    )
    return [Recipe(f"V{k:02d}", steps) for k, steps in enumerate(made, start=1)]
