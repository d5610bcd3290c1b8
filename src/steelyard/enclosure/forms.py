r"""Numbers known up to shared unknowns, as arrays: $x = c + \sum_s g_s\,\varepsilon_s + r\,\eta$."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only_view
from steelyard.errors import InputError

_EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Forms:
    r"""An array of affine forms: each number is $c + \sum_s g_s\,\varepsilon_s + r\,\eta$.

    The symbols $\varepsilon_s \in [-1, 1]$ are shared by all forms made together; $\eta \in [-1, 1]$ is each
    form's own. Arrays are read-only.

    Attributes:
        centre: c, any shape (...), SI.
        generators: g, shape (..., S), SI.
        radius: r, zero or more, shape (...), SI.
    """

    centre: Array
    generators: Array
    radius: Array

    def __post_init__(self) -> None:
        c = checked("centre", self.centre, ("...",), finite=False)
        g = checked("generators", self.generators, (*c.shape, "S"), finite=False)
        r = checked("radius", self.radius, c.shape, finite=False)
        if (r < 0.0).any():
            raise InputError(f"must be zero or more, got {r.min()}.", place="radius")
        for name, array in (("centre", c), ("generators", g), ("radius", r)):
            object.__setattr__(self, name, read_only_view(array))

    @classmethod
    def between(cls, lower: ArrayLike, upper: ArrayLike) -> Forms:
        """Intervals, of which nothing is shared.

        Args:
            lower: ends, any shape (...), SI.
            upper: the other ends, not below, shape (...), SI.

        Returns:
            The forms, without symbols.

        Raises:
            InputError: an upper end lies below the lower one.
        """
        low = checked("lower", lower, ("...",))
        high = checked("upper", upper, low.shape)
        if (high < low).any():
            raise InputError("an upper end lies below the lower one.", place="upper")
        c = 0.5 * low + 0.5 * high
        r = np.maximum(high - c, c - low) * (1.0 + 2.0 * _EPSILON)
        return cls(c, np.zeros((*c.shape, 0)), np.where(low == high, 0.0, r))

    @property
    def symbols(self) -> int:
        """S, the number of shared unknowns."""
        return int(self.generators.shape[-1])

    @property
    def deviation(self) -> Array:
        """How far a number can be from its centre, rounded up, shape (...), SI."""
        total = np.abs(self.generators).sum(axis=-1) + self.radius
        return np.asarray(total * (1.0 + (self.symbols + 4) * _EPSILON))

    @property
    def lower(self) -> Array:
        """What no number is below, rounded down, shape (...), SI."""
        return np.nextafter(self.centre - self.deviation, -np.inf)

    @property
    def upper(self) -> Array:
        """What no number is above, rounded up, shape (...), SI."""
        return np.nextafter(self.centre + self.deviation, np.inf)

    def mapped(self, matrix: ArrayLike, offset: ArrayLike | None = None) -> Forms:
        r"""The forms $A x + b$ along the last axis.

        Args:
            matrix: A, shape (m, n), SI.
            offset: b, shape (m,), SI; zero where it is not given.

        Returns:
            The forms, shape (..., m), widened by what rounding may cost.
        """
        A = checked("matrix", matrix, ("m", self.centre.shape[-1]))
        b = np.zeros(len(A)) if offset is None else checked("offset", offset, (len(A),))
        bulk = (np.abs(self.centre) + self.deviation) @ np.abs(A).T + np.abs(b)
        return Forms(
            self.centre @ A.T + b,
            np.swapaxes(np.swapaxes(self.generators, -1, -2) @ A.T, -1, -2),
            self.radius @ np.abs(A).T + 2.0 * (len(A.T) + self.symbols + 4) * _EPSILON * bulk,
        )


@dataclass(frozen=True, eq=False)
class MotionForms:
    """Joint positions, velocities and accelerations over K stretches, with common symbols.

    Attributes:
        q: joint positions, shape (K, nv), rad or m.
        v: joint velocities, shape (K, nv), rad/s or m/s.
        a: joint accelerations, shape (K, nv), rad/s² or m/s².
    """

    q: Forms
    v: Forms
    a: Forms

    def __post_init__(self) -> None:
        shapes = {x.generators.shape for x in (self.q, self.v, self.a)}
        if len(shapes) != 1 or self.q.centre.ndim != 2:
            raise InputError(
                f"must be of one shape (K, nv) with the same symbols, got {sorted(shapes)}.", place="q, v, a"
            )

    @classmethod
    def between(cls, q: tuple[Array, Array], v: tuple[Array, Array], a: tuple[Array, Array]) -> MotionForms:
        """Boxes of positions, velocities and accelerations: each number has a symbol of its own.

        Args:
            q: lower and upper joint positions, each shape (K, nv), rad or m.
            v: lower and upper joint velocities, each shape (K, nv), rad/s or m/s.
            a: lower and upper joint accelerations, each shape (K, nv), rad/s² or m/s².

        Returns:
            The forms, with 3 nv symbols. Where the numbers depend on time together, forms that say so are
            far tighter: see `motion_forms`.
        """
        made = []
        for k, box in enumerate((q, v, a)):
            x = Forms.between(*box)
            K, nv = x.centre.shape
            g = np.zeros((K, nv, 3 * nv))
            g[:, np.arange(nv), k * nv + np.arange(nv)] = x.radius
            made.append(Forms(x.centre, g, np.zeros((K, nv))))
        return cls(*made)
