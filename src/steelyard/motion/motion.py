"""What a motion is: named joints, a duration, exact derivatives; and motions linear in coefficients."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, Self

from numpy.typing import ArrayLike

from steelyard.archive import digest
from steelyard.arrays import Array, keep_read_only
from steelyard.errors import InputError

# The motion: position, velocity and acceleration at any time


@dataclass(frozen=True, eq=False)
class MotionSample:
    """A motion at chosen times.

    Attributes:
        q: joint positions, shape (N, nv), rad or m.
        v: joint velocities, shape (N, nv), rad/s or m/s.
        a: joint accelerations, shape (N, nv), rad/s² or m/s².
    """

    q: Array
    v: Array
    a: Array

    def __post_init__(self) -> None:
        keep_read_only(self, "q", "v", "a")


class Motion(Protocol):
    """A reference for every joint over time; `v` and `a` are the exact derivatives of `q`."""

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the nv joints it moves."""
        ...

    @property
    def duration(self) -> float:
        """How long it lasts, s; positive."""
        ...

    @property
    def digest(self) -> str:
        """SHA-256 of its content."""
        ...

    def sample(self, time: ArrayLike) -> MotionSample:
        """Evaluate it.

        Args:
            time: when, shape (N,), s; beyond the duration a periodic motion repeats and another one rests.

        Returns:
            Position, velocity and acceleration, each shape (N, nv), SI.
        """
        ...


class SmoothMotion(Motion, Protocol):
    """A motion whose derivatives of every order are known and bounded, so that it can be enclosed."""

    @property
    def breaks(self) -> Array:
        """Times from 0 to the duration, increasing, shape (K + 1,), s.

        Between neighbours the motion is analytic and its Taylor series about the middle converges fast.
        """
        ...

    def derivative(self, time: ArrayLike, order: int) -> Array:
        """A derivative of the position in time.

        Args:
            time: when, shape (N,), s.
            order: 0 for the position, 1 for the velocity, 3 for the jerk, and so on.

        Returns:
            The derivative, shape (N, nv), rad or m over the order's power of s.
        """
        ...

    def derivative_bounds(self, order: int) -> Array:
        """What the size of a derivative exceeds at no time between two breaks.

        Args:
            order: of the derivative.

        Returns:
            A bound for each piece, shape (K, nv), rad or m over the order's power of s.
        """
        ...


# What every family of motions shares: its digest, its samples, and the checks of its fields.


class MotionFamily(ABC):
    """A family of motions: frozen dataclasses that state their derivatives of every order."""

    @cached_property
    def digest(self) -> str:
        """SHA-256 of its content."""
        return digest(self)

    @abstractmethod
    def derivative(self, time: ArrayLike, order: int) -> Array:
        """See `SmoothMotion.derivative`."""

    def sample(self, time: ArrayLike) -> MotionSample:
        """Evaluate it by its derivatives.

        Args:
            time: when, shape (N,), s.

        Returns:
            Position, velocity and acceleration, each shape (N, nv), SI.
        """
        return MotionSample(*(self.derivative(time, order) for order in range(3)))


def check_schema(schema: int, known: int) -> None:
    """Refuse a layout of another version.

    Args:
        schema: the number found.
        known: the number this version writes.

    Raises:
        InputError: they differ.
    """
    if schema != known:
        raise InputError(f"layout {schema!r} is unknown; this version knows {known}.", place="schema")


def checked_motion_joints(joints: Sequence[str]) -> tuple[str, ...]:
    """The names of a motion's joints, at least one and all different.

    Args:
        joints: the names.

    Returns:
        The names.

    Raises:
        InputError: there are none, or one is there twice.
    """
    if not joints or len(set(joints)) != len(joints):
        raise InputError(f"joint names must be there and differ, got {list(joints)}.", place="joints")
    return tuple(joints)


def checked_seconds(name: str, value: float) -> float:
    """A length of time, positive and finite.

    Args:
        name: what to call it in the message.
        value: the length, s.

    Returns:
        The length, s.

    Raises:
        InputError: it is not positive and finite.
    """
    if not (math.isfinite(value) and value > 0.0):
        raise InputError(f"must be positive and finite, got {value} s.", place=name)
    return float(value)


def check_order(order: int) -> None:
    """Refuse an order of differentiation below zero.

    Raises:
        InputError: it is negative.
    """
    if order < 0:
        raise InputError(f"must be zero or more, got {order}.", place="order")


# Motions that are linear in their coefficients, $q_j(t) = B(t)\,c_j$, with one basis for every joint.


@dataclass(frozen=True, eq=False)
class Basis:
    """The functions of time a motion is made of, and their derivatives; one column for each coefficient.

    The position of joint j is `basis.q @ coefficients[j]`, and likewise for the derivatives. It is linear, so
    the rows are also the exact derivatives of position, velocity, acceleration and jerk in the coefficients.

    Attributes:
        q: of the position, shape (N, k), SI.
        v: of the velocity, shape (N, k), SI.
        a: of the acceleration, shape (N, k), SI.
        jerk: of the jerk, shape (N, k), SI.
    """

    q: Array
    v: Array
    a: Array
    jerk: Array

    def __post_init__(self) -> None:
        keep_read_only(self, "q", "v", "a", "jerk")


class LinearMotion(SmoothMotion, Protocol):
    """A motion that is linear in its coefficients: what a designer moves."""

    @property
    def periodic(self) -> bool:
        """Whether its end is its start for any coefficients, so that one end needs no conditions."""
        ...

    @property
    def coefficients(self) -> Array:
        """c_j of every joint, shape (nv, k), SI."""
        ...

    def with_coefficients(self, coefficients: ArrayLike) -> Self:
        """The same motion with other coefficients.

        Args:
            coefficients: c_j of every joint, shape (nv, k), SI.

        Returns:
            The motion.
        """
        ...

    def basis(self, time: ArrayLike) -> Basis:
        """The derivatives of the motion with respect to its coefficients.

        Args:
            time: when, shape (N,), s.

        Returns:
            The basis, in the column order of `coefficients`; the same for every joint.
        """
        ...
