r"""A payload weighed while the robot works: sample by sample, or some at a time.

$$\Delta\tau_k = A_k(q, v, a)\,\varphi + F_{v,k}\,v_k + F_{c,k}\,\mathrm{sign}(v_k) + F_{o,k} + e_k$$

The answer after each sample is the one least squares would give for all samples so far; neither the work nor
the memory grows with their number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.dynamics import torque_regressor
from steelyard.errors import InputError
from steelyard.layout import Layout, layout_of
from steelyard.payload.held import Held
from steelyard.payload.question import CHANGES
from steelyard.payload.triangle import TEN, LoadTriangles
from steelyard.payload.weighing import Weighing
from steelyard.robot import Robot


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
    held: Held
    noise: Array
    layout: Layout
    changes: tuple[str, ...]
    memory: float
    triangles: LoadTriangles

    @classmethod
    def starting(
        cls,
        robot: Robot,
        held: Held,
        noise: ArrayLike,
        *,
        changes: Sequence[str] = CHANGES,
        memory: float = math.inf,
    ) -> RecursivePayload:
        """Before the first sample.

        Args:
            robot: the robot, for its kinematics.
            held: where the payload is held, see `held_at`.
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
