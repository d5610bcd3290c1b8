r"""Motions that are linear in their coefficients, $q_j(t) = B(t)\,c_j$, with one basis for every joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

from numpy.typing import ArrayLike

from steelyard.arrays import Array, read_only
from steelyard.motion.motion import SmoothMotion


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
        for name in ("q", "v", "a", "jerk"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


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
