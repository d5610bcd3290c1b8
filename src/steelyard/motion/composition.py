"""Motions made of motions: added up, one after another, with ways in and out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.errors import InputError
from steelyard.motion.fourier import FourierMotion, SinusoidMotion
from steelyard.motion.motion import MotionFamily, check_order, check_schema
from steelyard.motion.spline import SplineMotion

# What motions made of motions share.


SCHEMA = 1


@dataclass(frozen=True, eq=False)
class ComposedMotion(MotionFamily):
    """What sums and sequences share: parts for the same joints, and standing still beyond the ends.

    Attributes:
        parts: the motions.
        schema: number of this layout.
    """

    parts: tuple[AnyMotion, ...]
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        check_schema(self.schema, SCHEMA)
        object.__setattr__(self, "parts", tuple(self.parts))
        self._check_parts()

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the nv joints."""
        return self.parts[0].joints

    @property
    def robot(self) -> str:
        """Digest of the robot it was made for; empty where none is known."""
        return next((part.robot for part in self.parts if part.robot), "")

    @property
    @abstractmethod
    def duration(self) -> float:
        """How long it lasts, s."""

    def derivative(self, time: ArrayLike, order: int) -> Array:
        """A derivative of the position in time; zero beyond the ends, unless it is the position.

        Args:
            time: when, shape (N,), s.
            order: 0 for the position, 1 for the velocity, 3 for the jerk, and so on.

        Returns:
            The derivative, shape (N, nv), rad or m over the order's power of s.
        """
        check_order(order)
        t = checked("time", time, ("N",))
        inside = np.clip(t, 0.0, self.duration)
        values = self._inside(inside, order)
        if order > 0:
            values[t != inside] = 0.0
        return values

    @abstractmethod
    def _inside(self, t: Array, order: int) -> Array:
        """A derivative at times between 0 and the duration, (N, nv)."""

    def _check_parts(self) -> None:
        if not self.parts:
            raise InputError("there must be at least one.", place="parts")
        joints, robot = self.joints, self.robot
        for k, part in enumerate(self.parts):
            if part.joints != joints:
                raise InputError(
                    f"moves the joints {list(part.joints)}, the first part {list(joints)}.",
                    place=f"parts[{k}]",
                )
            if part.robot not in ("", robot):
                raise InputError("was made for another robot than the parts before.", place=f"parts[{k}]")


# Sums and sequences of motions

SEAM = 1e-9
"""Largest jump where two parts of a sequence meet, in SI units, and as a share of the quantity's size."""


@dataclass(frozen=True, eq=False)
class SumMotion(ComposedMotion):
    r"""Motions that run at the same time, $q(t) = \sum_i q_i(t)$; all last equally long.

    Attributes:
        parts: the motions.
        schema: number of this layout.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        for k, part in enumerate(self.parts):
            if part.duration != self.parts[0].duration:
                raise InputError(
                    f"lasts {part.duration!r} s, the first part {self.parts[0].duration!r} s.",
                    place=f"parts[{k}]",
                    remedy="Slow one down, or put a rest behind it.",
                )

    @property
    def duration(self) -> float:
        """How long every part lasts, s."""
        return self.parts[0].duration

    @property
    def breaks(self) -> Array:
        """Those of all parts, shape (K + 1,), s."""
        return np.unique(np.concatenate([part.breaks for part in self.parts]))

    def derivative_bounds(self, order: int) -> Array:
        """The sum of the parts' bounds.

        Args:
            order: of the derivative.

        Returns:
            A bound for each piece, shape (K, nv), rad or m over the order's power of s.
        """
        breaks = self.breaks
        bounds = np.zeros((len(breaks) - 1, len(self.joints)))
        for part in self.parts:
            within = np.searchsorted(part.breaks, breaks[:-1], side="right") - 1
            bounds += part.derivative_bounds(order)[within]
        return bounds

    def _inside(self, t: Array, order: int) -> Array:
        return np.asarray(np.sum([part.derivative(t, order) for part in self.parts], axis=0))


@dataclass(frozen=True, eq=False)
class SequenceMotion(ComposedMotion):
    """Motions that run one after another; position, velocity and acceleration go on across the seams.

    Attributes:
        parts: the motions.
        schema: number of this layout.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        for k, (before, after) in enumerate(zip(self.parts, self.parts[1:], strict=False), start=1):
            _check_seam(before, after, k)

    @property
    def duration(self) -> float:
        """The sum of the parts' durations, s."""
        return float(self._starts[-1])

    @property
    def breaks(self) -> Array:
        """Those of the parts in turn, shape (K + 1,), s."""
        later = [start + part.breaks[1:] for start, part in zip(self._starts, self.parts, strict=False)]
        breaks = np.concatenate([[0.0], *later])
        breaks[-1] = self.duration
        return breaks

    def derivative_bounds(self, order: int) -> Array:
        """The parts' bounds in turn.

        Args:
            order: of the derivative.

        Returns:
            A bound for each piece, shape (K, nv), rad or m over the order's power of s.
        """
        return np.concatenate([part.derivative_bounds(order) for part in self.parts])

    @cached_property
    def _starts(self) -> Array:
        """When each part starts and the last one ends, (n + 1,), s."""
        return np.concatenate(([0.0], np.cumsum([part.duration for part in self.parts])))

    def _inside(self, t: Array, order: int) -> Array:
        values = np.empty((len(t), len(self.joints)))
        running = np.minimum(np.searchsorted(self._starts, t, side="right"), len(self.parts)) - 1
        for k, part in enumerate(self.parts):
            # A rounded difference may lie a hair outside the part, where it would stand still or repeat.
            own = np.clip(t[running == k] - self._starts[k], 0.0, part.duration)
            values[running == k] = part.derivative(own, order)
        return values


AnyMotion: TypeAlias = FourierMotion | SplineMotion | SinusoidMotion | SumMotion | SequenceMotion
"""Every kind of motion that has a file."""


def in_sequence(parts: Sequence[AnyMotion]) -> SequenceMotion:
    """Put motions one after another; sequences among them give their parts.

    Args:
        parts: the motions, for the same joints, each going on where the one before ends.

    Raises:
        InputError: there is none, or two do not fit together.
    """
    flat: list[AnyMotion] = []
    for part in parts:
        flat += part.parts if isinstance(part, SequenceMotion) else [part]
    return SequenceMotion(tuple(flat))


def _check_seam(before: AnyMotion, after: AnyMotion, k: int) -> None:
    for order, quantity in enumerate(("position", "velocity", "acceleration")):
        jump = after.derivative([0.0], order)[0] - before.derivative([before.duration], order)[0]
        size = np.maximum(*(part.derivative_bounds(order).max(axis=0) for part in (before, after)))
        # Round-off grows with the size of what is compared.
        wide = np.abs(jump) > SEAM * (1.0 + size)
        if wide.any():
            j = int(wide.argmax())
            raise InputError(
                f"the {quantity} of joint '{before.joints[j]}' jumps by {jump[j]:.3g} where it starts.",
                place=f"parts[{k}]",
                remedy="Join the two by a ramp.",
                evidence={"jump": jump},
            )
