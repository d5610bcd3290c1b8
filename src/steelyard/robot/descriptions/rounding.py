"""Numbers of a description that were rounded when they were written, and what they mean.

`1.5708` for a quarter turn is 3.7e-6 rad off. That tilts a joint axis by no amount anyone could measure, yet
it makes parameters appear identifiable that are not. The literal itself shows the rounding: a number is taken
for a multiple of π/2 when it is within ten units of its own last place, so `1.57` is recognised and
`3.14148426` is believed. Nothing here changes a number; the reader reports each one and uses what it means
only on request.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.finding import Finding, Severity
from steelyard.pose import Pose

UNITS_OF_LAST_PLACE = 10.0
LARGEST_ANGLE_ERROR = 2e-3
ZERO_ANGLE = 1e-6
ZERO_OFFSET = 1e-7
ZERO_COMPONENT = 1e-6
MOST_QUARTER_TURNS = 8
"""Beyond two turns an angle is no rounding: 355 is 226 quarter turns to 3e-5 rad by chance."""
ROUND_OFF = 1e-14
"""Errors up to this size, in rad or m, are those of float64 itself and are not reported."""
NEGLIGIBLE = 1e-10
"""Errors up to this size are reported for information: no rank decision can see them."""

_COSINE_AND_SINE = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))


@dataclass(frozen=True)
class Rounding:
    """One number that stands for another.

    Attributes:
        code: name of the finding it makes.
        part: which number it is, such as `roll`.
        literal: as the file writes it.
        meaning: the exact value it stands for, in words.
        error: how far the literal is from it, in `unit`.
        unit: `rad`, `m`, or empty for a direction.
        place: file and line.
    """

    code: str
    part: str
    literal: str
    meaning: str
    error: float
    unit: str
    place: str

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        literal = self.literal if len(self.literal) <= 40 else self.literal[:40] + "…"
        return f"{self.part} '{literal}' stands for {self.meaning}, off by {self.error:.2g}{unit}"


def quarter_turns(literal: str) -> int | None:
    """The number of quarter turns an angle stands for.

    Args:
        literal: a finite decimal number as written, rad.

    Returns:
        k where the angle is kπ/2, exactly or rounded; `None` where it is another angle.
    """
    a = float(literal)
    if abs(a) > (MOST_QUARTER_TURNS + 0.5) * math.pi / 2:
        return None
    k = round(a / (math.pi / 2))
    allowed = min(UNITS_OF_LAST_PLACE * _last_place(literal), LARGEST_ANGLE_ERROR) if k else ZERO_ANGLE
    return k if abs(a - k * math.pi / 2) <= allowed else None


def _last_place(literal: str) -> float:
    """The unit of the last digit: `1.57` → 0.01, `157e-2` → 0.01."""
    mantissa, _, exponent = literal.lower().lstrip("+-").partition("e")
    zeros = re.sub(r"\d", "0", mantissa.rstrip("."))
    return float(f"{zeros[:-1]}1e{exponent or '0'}")


def meant_placement(xyz: Sequence[str], rpy: Sequence[str], place: str) -> tuple[Pose, list[Rounding]]:
    r"""The placement an origin stands for: $R = R_z(\text{yaw})\,R_y(\text{pitch})\,R_x(\text{roll})$.

    Quarter turns enter with the cosines and sines 0 and ±1, so a rotation made of them alone is exact.

    Args:
        xyz: three literals, m.
        rpy: three literals, rad.
        place: file and line of the origin.

    Returns:
        The placement, and the numbers that were rounded.
    """
    roundings: list[Rounding] = []
    (cr, sr), (cp, sp), (cy, sy) = (
        _cosine_and_sine(part, literal, place, roundings)
        for part, literal in zip(("roll", "pitch", "yaw"), rpy, strict=True)
    )
    R_x = np.array([[1.0, 0.0, 0.0], [0.0, cr, -sr], [0.0, sr, cr]])
    R_y = np.array([[cp, 0.0, sp], [0.0, 1.0, 0.0], [-sp, 0.0, cp]])
    R_z = np.array([[cy, -sy, 0.0], [sy, cy, 0.0], [0.0, 0.0, 1.0]])
    p = np.array([float(literal) for literal in xyz])
    for k, (part, literal) in enumerate(zip("xyz", xyz, strict=True)):
        if abs(p[k]) <= ZERO_OFFSET:
            _note(roundings, Rounding("rounded-offset", part, literal, "0", abs(float(p[k])), "m", place))
            p[k] = 0.0
    return Pose(R_z @ R_y @ R_x, p), roundings


def _cosine_and_sine(part: str, literal: str, place: str, roundings: list[Rounding]) -> tuple[float, float]:
    angle, k = float(literal), quarter_turns(literal)
    if k is None:
        return math.cos(angle), math.sin(angle)
    error = abs(angle - k * math.pi / 2)
    _note(roundings, Rounding("rounded-angle", part, literal, _in_words(k), error, "rad", place))
    return _COSINE_AND_SINE[k % 4]


def _in_words(k: int) -> str:
    if k == 0:
        return "0"
    count = k // 2 if k % 2 == 0 else k
    factor = {1: "", -1: "-"}.get(count, str(count))
    return f"{factor}π{'' if k % 2 == 0 else '/2'} = {k * math.pi / 2!r}"


def meant_axis(axis: Array, literal: str, place: str) -> tuple[Array, list[Rounding]]:
    """The axis a direction stands for: a coordinate axis where the other two components are next to nothing.

    Args:
        axis: unit vector, shape (3,), dimensionless.
        literal: as the file writes it.
        place: file and line.

    Returns:
        The axis, shape (3,), dimensionless, and the rounding if there was one.
    """
    main = int(np.argmax(np.abs(axis)))
    error = float(np.delete(np.abs(axis), main).max())
    if error >= ZERO_COMPONENT:
        return axis, []
    exact = np.zeros(3)
    exact[main] = math.copysign(1.0, axis[main])
    roundings: list[Rounding] = []
    meaning = f"{'-' if exact[main] < 0 else ''}{'xyz'[main]}"
    _note(roundings, Rounding("rounded-axis", "direction", literal, meaning, error, "", place))
    return exact, roundings


def _note(roundings: list[Rounding], rounding: Rounding) -> None:
    if rounding.error > ROUND_OFF:
        roundings.append(rounding)


def rounding_findings(joint: str, roundings: Sequence[Rounding]) -> list[Finding]:
    """What to say about the rounded numbers of one joint: one finding per kind.

    Args:
        joint: the joint's name.
        roundings: its rounded numbers.

    Returns:
        Warnings, or information where the errors are too small to be seen by anything.
    """
    findings = []
    for code in dict.fromkeys(rounding.code for rounding in roundings):
        alike = [rounding for rounding in roundings if rounding.code == code]
        visible = max(rounding.error for rounding in alike) > NEGLIGIBLE
        message = f"joint '{joint}': {'; '.join(str(rounding) for rounding in alike)}."
        severity = Severity.WARNING if visible else Severity.INFO
        findings.append(Finding(severity, code, message, alike[0].place))
    return findings


def snapping_findings(roundings: Sequence[Rounding]) -> list[Finding]:
    """What to say about a description whose rounded numbers were replaced by what they mean.

    Args:
        roundings: every number replaced.

    Returns:
        One finding per kind, with the count and the largest change, at the place of that change.
    """
    findings = []
    for code in dict.fromkeys(rounding.code for rounding in roundings):
        alike = [rounding for rounding in roundings if rounding.code == code]
        largest = max(alike, key=lambda rounding: rounding.error)
        kind = code.removeprefix("rounded-")
        message = (
            f"read {len(alike)} rounded {kind} value(s) as what they mean; the largest change: {largest}."
        )
        findings.append(Finding(Severity.INFO, f"snapped-{kind}", message, largest.place))
    return findings
