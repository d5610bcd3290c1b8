r"""Equations of a payload's ten numbers, folded into one triangle for each joint as they arrive.

The torque of joint k depends on the ten numbers φ and on how its own drive changed, $N_k\nu_k$, so that
$[N_k\; A_k\; y_k]$ of any number of samples is worth its triangular factor $R_k$,

$$R_k^T R_k = [N_k\; A_k\; y_k]^T\,[N_k\; A_k\; y_k],$$

which Householder reflections update with each new block of rows. Nothing is squared, so no digits are lost,
and since each joint keeps its own triangle, its noise may be stated or changed later.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.compiled import dense_kernel
from steelyard.errors import InputError
from steelyard.payload.held import Held
from steelyard.payload.weighing import DEPENDENT, Weighing

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

    def weighing(self, held: Held, noise: ArrayLike) -> Weighing:
        r"""What the equations say of the ten numbers, whatever the changes were.

        Args:
            held: the frame the ten numbers are stated in.
            noise: standard deviation of each joint's torque, shape (nv,), N·m or N. Where noise has a memory
                of k samples, $\sqrt k$ times its deviation says the same.

        Returns:
            The weighing.
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
