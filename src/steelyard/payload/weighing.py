r"""What data says of a payload's ten numbers, whatever the way it was asked.

Every way ends in the same place: equations for the ten numbers $\varphi$ and for things nobody asked about
(a change of the torque offsets and of friction), of which the second are eliminated by an orthogonal
factorisation,

$$\begin{bmatrix} R_{\nu\nu} & R_{\nu\varphi} & r_\nu \\ 0 & R & r \end{bmatrix},$$

so that $\lVert R\varphi - r\rVert^2$ is minus twice the logarithm of the likelihood of the ten alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.finding import Finding
from steelyard.payload.held import Held

SIZE = (1.0, 0.1)
"""Mass in kg and length in m by which the ten numbers are made comparable."""
SCALES = read_only(SIZE[0] * SIZE[1] ** np.array([0.0, 1, 1, 1, 2, 2, 2, 2, 2, 2]))
"""Sizes of the ten numbers, shape (10,), SI."""
DEPENDENT = 1e-10
"""Columns of what is eliminated depend on each other below this share of the largest singular value."""
NOISE = "noise"
"""What is not systematic: it differs from sample to sample, and a longer log has less of it."""
BLIND = 1e-7
"""A direction of the scaled numbers with less than this share of the largest weight is not shown."""


@dataclass(frozen=True, eq=False)
class Weighing:
    """What data says of the ten numbers.

    Attributes:
        held: the frame they are stated in.
        factor: R, one over the noise of combinations of the numbers, shape (10, 10), SI.
        target: r, shape (10,), SI.
        residual: rms of the torque it leaves, shape (nv,), N·m or N.
        samples: number of samples used.
        way: how it was weighed.
        findings: what was noticed.
        systematic: changes of the ten numbers by errors that repeat in every sample, of one deviation each,
            by source, each shape (10, k), SI. The factor counts them beside the noise.
    """

    held: Held
    factor: Array
    target: Array
    residual: Array
    samples: int
    way: str
    findings: tuple[Finding, ...] = ()
    systematic: Mapping[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shapes: dict[str, tuple[int | str, ...]] = {
            "factor": (10, 10),
            "target": (10,),
            "residual": ("nv",),
        }
        for name, shape in shapes.items():
            object.__setattr__(self, name, read_only(checked(name, getattr(self, name), shape)))

    @cached_property
    def _parts(self) -> tuple[Array, Array, Array]:
        """Singular values and right directions of R in scaled numbers, and the solution along them."""
        U, s, Vt = np.linalg.svd(self.factor * SCALES)
        along = np.where(s > BLIND * s[0], (U.T @ self.target) / np.where(s > 0.0, s, 1.0), 0.0)
        return s, Vt, along

    @cached_property
    def shown(self) -> int:
        """Number of combinations of the ten that the data shows."""
        s = self._parts[0]
        return int((s > BLIND * s[0]).sum())

    @cached_property
    def values(self) -> Array:
        """Least squares, shape (10,), SI; zero along what the data does not show."""
        _, Vt, along = self._parts
        return read_only(SCALES * (Vt.T @ along))

    @cached_property
    def blind(self) -> Array:
        """Directions that the data does not show, as columns, shape (10, k), SI."""
        return read_only(SCALES[:, None] * self._parts[1][self.shown :].T)

    @cached_property
    def deviations(self) -> Array:
        """Standard deviations of the ten numbers by the data alone, shape (10,), SI; infinite where blind."""
        return self.deviation(np.eye(10))

    @property
    def covariance(self) -> Array:
        """Of the ten numbers by the data alone, shape (10, 10), SI.

        A number that a hidden direction moves has an infinite variance and no covariance with others.
        """
        s, Vt, _ = self._parts
        root = SCALES[:, None] * Vt[: self.shown].T / s[: self.shown]
        hidden = np.isinf(self.deviations)
        dense = np.where(hidden[:, None] | hidden, 0.0, root @ root.T)
        dense[hidden, hidden] = np.inf
        return dense

    def deviation(self, combinations: Array) -> Array:
        """Standard deviations of combinations of the ten numbers by the data alone.

        Args:
            combinations: one in each row, shape (k, 10), any unit.

        Returns:
            Deviations, shape (k,), units of the combinations; infinite where the data is blind, SI.
        """
        s, Vt, _ = self._parts
        c = (combinations * SCALES) @ Vt.T
        seen = c[:, : self.shown] / s[: self.shown]
        hidden = np.linalg.norm(c[:, self.shown :], axis=1) > BLIND * np.linalg.norm(c, axis=1)
        return np.where(hidden, np.inf, np.linalg.norm(seen, axis=1))

    def parts(self, combinations: Array) -> dict[str, Array]:
        """Standard deviations of combinations of the ten numbers, by what they come from.

        Args:
            combinations: one in each row, shape (k, 10), any unit.

        Returns:
            Deviations by noise and by every source of systematic error, each shape (k,), units of the
            combinations (SI); their squares add up to those of `deviation`.
        """
        sources = {
            source: np.linalg.norm(combinations @ columns, axis=1)
            for source, columns in self.systematic.items()
        }
        rest = self.deviation(combinations) ** 2 - sum(x**2 for x in sources.values())
        return {NOISE: np.sqrt(np.maximum(rest, 0.0)), **sources}

    @property
    def condition(self) -> float:
        """Condition number of the ten scaled numbers, dimensionless; infinite where the data is blind."""
        s = self._parts[0]
        return float(s[0] / s[-1]) if self.shown == 10 else np.inf

    def moved(self, held: Held) -> Weighing:
        """The same knowledge in another frame of the same link.

        Args:
            held: the other frame.

        Returns:
            A new weighing.
        """
        Q, R = np.linalg.qr(self.factor @ self.held.to_frame @ held.to_link)
        T = held.to_frame @ self.held.to_link
        moved = {source: T @ columns for source, columns in self.systematic.items()}
        return replace(self, held=held, factor=R, target=Q.T @ self.target, systematic=moved)


def eliminated(others: Array, ten: Array, target: Array) -> tuple[Array, Array]:
    r"""The equations $N\nu + A\varphi = y$ without $\nu$, as a triangle.

    Args:
        others: N, of what nobody asked about; its columns may depend on each other, shape (m, k), SI.
        ten: A, shape (m, 10), SI.
        target: y, shape (m,), SI.

    Returns:
        R, shape (10, 10), SI, and r, shape (10,), SI.
    """
    A = np.column_stack([ten, target])
    lengths = np.linalg.norm(others, axis=0)
    kept = others[:, lengths > 0.0] / lengths[lengths > 0.0]
    if kept.shape[1]:
        U, s, _ = np.linalg.svd(kept, full_matrices=False)
        U = U[:, s > DEPENDENT * s[0]]
        # Twice, because once leaves round-off of what was large.
        A = A - U @ (U.T @ A)
        A -= U @ (U.T @ A)
    R = np.asarray(np.linalg.qr(np.vstack([A, np.zeros((11, 11))]), mode="r"))
    return R[:10, :10], R[:10, 10]
