"""The families of paper 004 (V-A, Table II, Appendix B): which primitives, at which posture, how fast.

There are three postures, and of each a variant with the wrist turned by a right angle. The paper publishes
how many motions a family has and what kind of primitives, but neither the combinations nor the amplitudes.
Chosen here: swings of one joint at a time alone leave some parameters of the paper's arm unseen at every
posture, so each pattern has adjacent joints too, and each shows all parameters.

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

POSTURES = ("A", "B", "C")
LOW, MEDIUM, HIGH = range(3)
"""Speed levels."""


class Swing(StrEnum):
    """Which joints swing together, in turn until all have."""

    SINGLE = "each joint alone"
    IN_PHASE = "adjacent joints in phase"
    OPPOSITE = "adjacent joints in opposite phase"
    GROUPS = "groups of joints"
    ALL = "all joints at once"


@dataclass(frozen=True)
class Step:
    """Primitives at one posture.

    Attributes:
        posture: number of the posture, 0 to 2.
        wrist: whether the wrist is turned.
        swing: which joints swing together.
        level: speed level, 0 to 2.
    """

    posture: int
    wrist: bool
    swing: Swing
    level: int


@dataclass(frozen=True)
class Recipe:
    """What a motion is made of.

    Attributes:
        name: such as `PA01`.
        steps: in order.
    """

    name: str
    steps: tuple[Step, ...]

    @property
    def family(self) -> str:
        """The letters of its name."""
        return self.name.rstrip("0123456789")

    @property
    def held_out(self) -> bool:
        """Whether it is kept for validation."""
        return self.family == "V"


_PATTERNS = (
    (Swing.SINGLE, Swing.IN_PHASE),
    (Swing.IN_PHASE, Swing.OPPOSITE),
    (Swing.OPPOSITE, Swing.SINGLE),
)


def paper_recipes() -> tuple[Recipe, ...]:
    """The 40 motions for identification and the 3 for validation.

    Returns:
        The recipes, families in the paper's order.
    """
    grids = [recipe for posture in range(len(POSTURES)) for recipe in _posture_family(posture)]
    return (*grids, *_pair_family(), *_aggregated(), *_held_out())


def _pattern(posture: int, pattern: int, level: int) -> tuple[Step, ...]:
    plain, turned = _PATTERNS[pattern]
    return Step(posture, False, plain, level), Step(posture, True, turned, level)


def _posture_family(posture: int) -> list[Recipe]:
    made = [_pattern(posture, pattern, level) for pattern in range(3) for level in (LOW, MEDIUM, HIGH)]
    made.append((*_pattern(posture, 0, MEDIUM), *_pattern(posture, 1, MEDIUM)))
    made.append((*_pattern(posture, 2, LOW), *_pattern(posture, 2, HIGH)))
    return [Recipe(f"P{POSTURES[posture]}{k:02d}", steps) for k, steps in enumerate(made, start=1)]


def _pair_family() -> list[Recipe]:
    wanted = ((0, HIGH), (1, HIGH), (2, HIGH), (2, LOW), (2, MEDIUM))
    made = [
        (Step(posture, False, Swing.IN_PHASE, level), Step(posture, False, Swing.OPPOSITE, level))
        for posture, level in wanted
    ]
    return [Recipe(f"AP{k:02d}", steps) for k, steps in enumerate(made, start=1)]


def _aggregated() -> list[Recipe]:
    pairs = (Swing.IN_PHASE, Swing.OPPOSITE, Swing.IN_PHASE)
    three = tuple(Step(k, k == 1, swing, MEDIUM) for k, swing in enumerate(pairs))
    six = [(Step(k, False, Swing.SINGLE, LOW), Step(k, True, pairs[k], HIGH)) for k in range(3)]
    return [Recipe("AG01", three), Recipe("AG02", tuple(step for both in six for step in both))]


def _held_out() -> list[Recipe]:
    everywhere = [
        (Step(k, False, Swing.ALL, MEDIUM), Step(k, True, Swing.GROUPS, MEDIUM)) for k in range(len(POSTURES))
    ]
    made = (
        (Step(0, False, Swing.ALL, MEDIUM), Step(0, False, Swing.ALL, HIGH)),
        (Step(1, False, Swing.GROUPS, MEDIUM), Step(1, True, Swing.GROUPS, HIGH)),
        tuple(step for both in everywhere for step in both),
    )
    return [Recipe(f"V{k:02d}", steps) for k, steps in enumerate(made, start=1)]
