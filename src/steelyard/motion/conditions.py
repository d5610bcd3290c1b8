"""Conditions that are linear in a motion's coefficients, and the least change that meets them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, keep_checked, read_only
from steelyard.errors import InputError
from steelyard.motion.fourier import FourierMotion
from steelyard.motion.motion import LinearMotion
from steelyard.motion.spline import SplineMotion

# Conditions that are linear in a motion's coefficients, $C\,c_j = d_j$: rest at the ends, end poses.


@dataclass(frozen=True, eq=False)
class LinearConditions:
    """Equalities for the coefficients of every joint; all motions that meet them are `free_directions` apart.

    Attributes:
        matrix: C, of full row rank, shape (m, k), SI.
        values: d, shape (nv, m), SI.
    """

    matrix: Array
    values: Array

    def __post_init__(self) -> None:
        C = checked("matrix", self.matrix, ("m", "k"))
        object.__setattr__(self, "matrix", read_only(C))
        keep_checked(self, ("nv", len(C)), "values")

    @cached_property
    def free_directions(self) -> Array:
        """Z, orthonormal directions that keep the conditions, shape (k, k - m), dimensionless.

        A designer's unknowns are $x_j$ in $c_j = c + Z x_j$, with c any vector that meets them.
        """
        complete = np.linalg.qr(self._rows.T, mode="complete")[0]
        return read_only(complete[:, len(self.matrix) :])

    def nearest(self, coefficients: ArrayLike) -> Array:
        """The nearest coefficients that meet the conditions.

        Args:
            coefficients: c_j of every joint, shape (nv, k), SI.

        Returns:
            Coefficients of the least change, shape (nv, k), SI; of zeros, the smallest that meet them.
        """
        nv, k = len(self.values), self.matrix.shape[1]
        c = checked("coefficients", coefficients, (nv, k))
        missing = (self.values - c @ self.matrix.T) / self._scale
        return c + np.linalg.lstsq(self._rows, missing.T, rcond=None)[0].T

    @property
    def _scale(self) -> Array:
        """The sizes of the rows, (m,): positions, velocities and accelerations differ by powers of time."""
        return np.asarray(np.linalg.norm(self.matrix, axis=1))

    @property
    def _rows(self) -> Array:
        return self.matrix / self._scale[:, None]


def rest_conditions(
    motion: LinearMotion, *, start: ArrayLike | None = None, end: ArrayLike | None = None
) -> LinearConditions:
    """Rest at both ends: zero velocity and acceleration, and the poses that are given.

    Args:
        motion: any motion of the family; its coefficients do not matter.
        start: q(0), shape (nv,), rad or m; None leaves it free.
        end: q at the end, shape (nv,), rad or m; None leaves it free, as it must be for a periodic motion.

    Raises:
        InputError: a periodic motion is given an end, or the motion has too few coefficients.
    """
    nv = len(motion.joints)
    rows, values = [], []
    for name, time, pose in (("start", 0.0, start), ("end", motion.duration, end)):
        if name == "end" and motion.periodic:
            if pose is not None:
                raise InputError(
                    "a periodic motion ends where it starts.", place="end", remedy="Leave it out."
                )
            break
        basis = motion.basis([time])
        rows += [basis.v[0], basis.a[0]]
        values += [np.zeros(nv), np.zeros(nv)]
        if pose is not None:
            rows.append(basis.q[0])
            values.append(checked(name, pose, (nv,)))
    conditions = LinearConditions(np.array(rows), np.array(values).T)
    if np.linalg.matrix_rank(conditions._rows) < len(rows):
        raise InputError(
            f"{len(rows)} conditions contradict or repeat each other in {len(rows[0])} coefficients.",
            place="motion",
            remedy="Use more breaks or a higher degree.",
        )
    return conditions


# Motions that start and end at rest: the least change that brings them there.

Designed = TypeVar("Designed", FourierMotion, SplineMotion)


def rest_to_rest(motion: Designed, start: ArrayLike | None = None) -> Designed:
    r"""The nearest motion that is at rest, v = 0 and a = 0, at its start and at its end.

    For a Fourier series both ends are one, and rest is linear in the coefficients of each joint:

    $$\sum_l a_l = 0, \qquad \sum_l l\,b_l = 0.$$

    (Tian et al. 2024 print (9c) with a and b exchanged, and without an offset it needs $\sum_l b_l/l = 0$ as
    well.) A spline is at rest where its three outer control points are one. The coefficients are projected
    orthogonally onto these conditions. A start pose then shifts the whole motion; to give both end poses of a
    spline, use `rest_conditions`.

    Args:
        motion: a Fourier series or a spline; of a single harmonic, or of a spline of fewer than seven control
            points, little or nothing but standing still is left.
        start: q(0), shape (nv,), rad or m; None leaves it where the projection brings it.

    Returns:
        The motion at rest.
    """
    pose = None if start is None else checked("start", start, (len(motion.joints),))
    if isinstance(motion, SplineMotion):
        c = motion.control.copy()
        # Fewer than six control points belong to both ends.
        outer = (slice(3), slice(-3, None)) if c.shape[1] >= 6 else (slice(None),)
        for end in outer:
            c[:, end] = c[:, end].mean(axis=1, keepdims=True)
        if pose is not None:
            c += (pose - c[:, 0])[:, None]
            c[:, :3] = pose[:, None]
        return replace(motion, control=c)
    l = np.arange(1.0, motion.harmonics + 1.0)  # noqa: E741  (the harmonic's letter)
    a = motion.sine - motion.sine.mean(axis=1, keepdims=True)
    b = motion.cosine - np.outer(motion.cosine @ l, l / (l @ l))
    resting = replace(motion, sine=a, cosine=b)
    if pose is None:
        return resting
    w = 2.0 * np.pi / motion.period
    return replace(resting, offset=pose + (b / (w * l)).sum(axis=1))
