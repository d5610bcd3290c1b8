"""What data says of a payload's ten numbers, whatever the way it was asked; folded as it arrives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, keep_checked, read_only
from steelyard.compiled import dense_kernel
from steelyard.dynamics import torque_regressor
from steelyard.errors import InputError
from steelyard.finding import Finding
from steelyard.layout import Layout, layout_of
from steelyard.payloads.arm_model import CHANGES, Mount
from steelyard.robot import Robot

# `Weighing`: least-squares equations of the ten numbers
#
# Every way ends in the same place: equations for the ten numbers $\varphi$ and for nuisance parameters
# (a change of the torque offsets and of friction), of which the second are eliminated by an orthogonal
# factorisation,
#
# $$\begin{bmatrix} R_{\nu\nu} & R_{\nu\varphi} & r_\nu \\ 0 & R & r \end{bmatrix},$$
#
# so that $\lVert R\varphi - r\rVert^2$ is minus twice the logarithm of the likelihood of the ten alone.

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

    held: Mount
    factor: Array
    target: Array
    residual: Array
    samples: int
    way: str
    findings: tuple[Finding, ...] = ()
    systematic: Mapping[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        keep_checked(self, (10, 10), "factor")
        keep_checked(self, (10,), "target")
        keep_checked(self, ("nv",), "residual")

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

    def moved(self, held: Mount) -> Weighing:
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


# Equations folded into one triangle for each joint as they arrive
#
# The torque of joint k depends on the ten numbers φ and on how its own drive changed, $N_k\nu_k$, so that
# $[N_k\; A_k\; y_k]$ of any number of samples is worth its triangular factor $R_k$,
#
# $$R_k^T R_k = [N_k\; A_k\; y_k]^T\,[N_k\; A_k\; y_k],$$
#
# which Householder reflections update with each new block of rows. Nothing is squared, so no digits are lost,
# and since each joint keeps its own triangle, its noise may be stated or changed later.

TEN = 10
"""Numbers of a payload."""
WAY = "absorbed as it came"
"""What this way of weighing is called."""


@dataclass(frozen=True, eq=False)
class LoadTriangles:
    """Square-root information of each joint's equations in its changes, the ten numbers and the target.

    Attributes:
        factors: R_k, upper triangles, shape (nv, c + 11, c + 11), SI; c changes come first.
        samples: number of samples absorbed.
        weight: what they count together: their number, or less where old ones fade.
    """

    factors: Array
    samples: int = 0
    weight: float = 0.0

    def __post_init__(self) -> None:
        R = checked("factors", self.factors, ("nv", "n", "n"))
        if R.shape[1] <= TEN:
            raise InputError(f"of {R.shape[1]} columns; at least 11 are needed.", place="factors")
        object.__setattr__(self, "factors", read_only(R))

    @classmethod
    def empty(cls, joints: int, changes: int) -> LoadTriangles:
        """No equation yet.

        Args:
            joints: nv, number of joints.
            changes: c, numbers by which the drive of each joint may have changed.

        Returns:
            Triangles of zeros.
        """
        n = changes + TEN + 1
        return cls(np.zeros((joints, n, n)))

    @property
    def changes(self) -> int:
        """Number c of changes of each joint's drive."""
        return int(self.factors.shape[1]) - TEN - 1

    def absorb(self, rows: ArrayLike, *, memory: float = math.inf) -> LoadTriangles:
        r"""The triangles after further samples.

        With a memory of M samples, one counts $e^{-\text{age}/M}$: a payload that is swapped or an offset
        that drifts is followed with a lag of M samples. However long the robot runs, the estimate is then as
        noisy as one from 2 M samples, and its information, which counts M of them, errs on the safe side.

        Args:
            rows: [N_k A_k y_k] of each sample and joint, oldest first, shape (N, nv, c + 11), SI.
            memory: M, samples; infinite to forget nothing.

        Returns:
            New triangles.

        Raises:
            InputError: the memory is not positive.
        """
        joints, n, _ = self.factors.shape
        X = checked("rows", rows, ("N", joints, n))
        if not memory > 0.0:
            raise InputError(f"must be positive, got {memory}.", place="memory")
        R, weight = self.factors.copy(), self.weight + len(X)
        if math.isfinite(memory):
            fading = np.exp(np.arange(-len(X), 1) / memory)
            R *= math.sqrt(fading[0])
            X = X * np.sqrt(fading[1:, None, None])
            weight = float(fading[0] * self.weight + fading[1:].sum())
        _fold(R, np.array(X.transpose(1, 2, 0), order="C"))
        return LoadTriangles(R, self.samples + len(X), weight)

    def weighing(self, held: Mount, noise: ArrayLike) -> Weighing:
        r"""What the equations say of the ten numbers, whatever the changes were.

        Args:
            held: the frame the ten numbers are stated in.
            noise: standard deviation of each joint's torque, shape (nv,), N·m or N. Where noise has a memory
                of k samples, $\sqrt k$ times its deviation says the same.
        """
        sigma = checked("noise", noise, (len(self.factors),))
        X = self._without_changes()
        R = np.asarray(np.linalg.qr((X / sigma[:, None, None]).reshape(-1, TEN + 1), mode="r"))
        found = Weighing(held, R[:TEN, :TEN], R[:TEN, TEN], np.zeros(len(sigma)), self.samples, WAY)
        left = np.linalg.norm(X @ np.append(found.values, -1.0), axis=1)
        return replace(found, residual=left / math.sqrt(max(self.weight, 1.0)))

    def _without_changes(self) -> Array:
        """[A_k y_k] with all that changes of the drives explain taken out, shape (nv, c + 11, 11), SI."""
        N, X = self.factors[:, :, : self.changes], self.factors[:, :, self.changes :]
        if not self.changes:
            return X
        lengths = np.linalg.norm(N, axis=1, keepdims=True)
        U, s, _ = np.linalg.svd(N / np.where(lengths > 0.0, lengths, 1.0), full_matrices=False)
        U *= (s > DEPENDENT * s[:, :1])[:, None, :]
        # Twice, because once leaves round-off of what was large.
        X = X - U @ (U.swapaxes(1, 2) @ X)
        return np.asarray(X - U @ (U.swapaxes(1, 2) @ X))


@dense_kernel
def _fold(R: Array, X: Array) -> None:
    """Reflect the columns X[k, j, :] of new rows into the triangles R[k]; X is used up."""
    joints, n, count = X.shape
    for k in range(joints):
        for j in range(n):
            squares = 0.0
            for i in range(count):
                squares += X[k, j, i] * X[k, j, i]
            if squares == 0.0:
                continue
            corner = R[k, j, j]
            length = math.sqrt(corner * corner + squares)
            # Away from the corner, so that nothing cancels.
            R[k, j, j] = -length if corner > 0.0 else length
            head = corner - R[k, j, j]
            share = 1.0 / (length * abs(head))
            for m in range(j + 1, n):
                along = head * R[k, j, m]
                for i in range(count):
                    along += X[k, j, i] * X[k, m, i]
                along *= share
                R[k, j, m] -= along * head
                for i in range(count):
                    X[k, m, i] -= along * X[k, j, i]


# A payload weighed while the robot works: sample by sample, or some at a time.
#
# $$\Delta\tau_k = A_k(q, v, a)\,\varphi + F_{v,k}\,v_k + F_{c,k}\,\mathrm{sign}(v_k) + F_{o,k} + e_k$$
#
# The answer after each sample is the one least squares would give for all samples so far; neither the work
# nor the memory grows with their number.


@dataclass(frozen=True, eq=False)
class RecursivePayload:
    """What all samples so far say of the payload; `absorb` gives the next one.

    Attributes:
        robot: the robot, for its kinematics.
        held: where the payload is held.
        noise: standard deviation of each joint's torque, shape (nv,), N·m or N.
        layout: the columns of its regressor.
        changes: drive terms that may differ from those already taken off, of `CHANGES`.
        memory: samples after which one counts 1/e; infinite where nothing is forgotten.
        triangles: the samples so far.
    """

    robot: Robot
    held: Mount
    noise: Array
    layout: Layout
    changes: tuple[str, ...]
    memory: float
    triangles: LoadTriangles

    @classmethod
    def starting(
        cls,
        robot: Robot,
        held: Mount,
        noise: ArrayLike,
        *,
        changes: Sequence[str] = CHANGES,
        memory: float = math.inf,
    ) -> RecursivePayload:
        """Before the first sample.

        Args:
            robot: the robot, for its kinematics.
            held: where the payload is held, see `mounted_at`.
            noise: standard deviation of each joint's torque, shape (nv,), N·m or N; see
                `LoadTriangles.weighing` for noise that is not white.
            changes: drive terms that may differ from those already taken off.
            memory: samples after which one counts 1/e, see `LoadTriangles.absorb`.

        Returns:
            A payload of which nothing is known.

        Raises:
            InputError: a change is none of `CHANGES`, or a noise or the memory is not positive.
        """
        unknown = [term for term in changes if term not in CHANGES]
        if unknown or len(set(changes)) != len(changes):
            raise InputError(
                f"{list(changes)} is not a choice, each once.", place="changes", remedy=f"Valid: {CHANGES}."
            )
        sigma = checked("noise", noise, (robot.nv,))
        if not (sigma > 0.0).all():
            raise InputError(
                "must be positive.", place="noise", remedy="Leave a joint out by a deviation of 1e6 N·m."
            )
        if not memory > 0.0:
            raise InputError(f"must be positive, got {memory}.", place="memory")
        none = LoadTriangles.empty(robot.nv, len(changes))
        return cls(robot, held, read_only(sigma), layout_of(robot), tuple(changes), memory, none)

    def absorb(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, residual: ArrayLike) -> RecursivePayload:
        """The payload after further samples.

        Args:
            q: joint positions, shape (N, nq) or (nq,), rad or m.
            v: joint velocities, shape (N, nv) or (nv,), rad/s or m/s.
            a: joint accelerations, shape (N, nv) or (nv,), rad/s² or m/s².
            residual: measured torques less those of the robot without payload, shape (N, nv) or (nv,), N·m
                or N.

        Returns:
            What is known now.

        Raises:
            InputError: an array does not fit.
        """
        Y = torque_regressor(self.robot, self.layout, q, v, a, code="generic")
        N, nv, _ = Y.shape
        single = np.ndim(residual) == 1
        tau = checked("residual", residual, (nv,) if single else (N, nv))
        c = len(self.changes)
        rows = np.empty((N, nv, c + TEN + 1))
        for column, term in enumerate(self.changes):
            rows[:, :, column] = _column(term, np.asarray(v, dtype=np.float64))
        np.matmul(Y[:, :, self.layout.of_link(self.held.link)], self.held.to_link, out=rows[:, :, c:-1])
        rows[:, :, -1] = tau
        return replace(self, triangles=self.triangles.absorb(rows, memory=self.memory))

    @property
    def samples(self) -> int:
        """Number of samples absorbed."""
        return self.triangles.samples

    @cached_property
    def weighing(self) -> Weighing:
        """The ten numbers with what the data says of them, in the form of every other way to weigh."""
        return self.triangles.weighing(self.held, self.noise)

    @property
    def values(self) -> Array:
        """The ten numbers, shape (10,), SI; zero along what no sample has shown yet."""
        return self.weighing.values

    @property
    def information(self) -> Array:
        """One over their covariance, changes of the drives eliminated, shape (10, 10), SI."""
        R = self.weighing.factor
        return R.T @ R


def _column(term: str, v: Array) -> Array | float:
    """The column of a change in the equations of its own joint, shape of v, SI."""
    if term == "viscous":
        return v
    return np.sign(v) if term == "coulomb" else 1.0
