r"""What a motion is worth, with the exact gradient in the unknowns.

With the base regressor $W$ of all samples, rows over the torque noise, the information is
$G = W^T W + G_0$ and a criterion F has the gradient $\partial F/\partial W = 2 W S$, which the adjoint of the
regressor takes to position, velocity and acceleration of every sample, and the basis of the family to the
unknowns. While searching, Coulomb friction counts with tanh(v/w) in place of sign(v), which has no slope.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.dynamics import regressor_adjoint, torque_regressor
from steelyard.excitation.barrier import barrier
from steelyard.excitation.problem import DesignProblem
from steelyard.excitation.surrogate import surrogate
from steelyard.excitation.unknowns import Unknowns
from steelyard.identifiability import Criterion, Information
from steelyard.motion import Motion
from steelyard.robot import Robot

SIGN_WIDTH = 0.03
"""w of tanh(v/w), rad/s or m/s."""
TORQUE_RANGE = 0.1
"""Share of a torque limit within which its barrier acts."""


class Stage(NamedTuple):
    """How sharp the search looks.

    Attributes:
        power: of the power means in place of largest and smallest eigenvalues.
        barrier: weight of the limits' barriers.
    """

    power: float
    barrier: float


@dataclass(frozen=True, eq=False)
class Objective:
    """The criterion, and the torque limits where they count, as a function of the unknowns.

    Attributes:
        problem: the question.
        unknowns: in which coordinates.
        code: of the dynamics' kernels, see `torque_regressor`.
    """

    problem: DesignProblem
    unknowns: Unknowns
    code: str = "generic"

    @cached_property
    def _bases(self) -> tuple[Array, Array, Array]:
        """Of position, velocity and acceleration in the unknowns, each (N, n)."""
        basis, D = self.unknowns.family.basis(self.problem.times), self.unknowns.directions
        return basis.q @ D, basis.v @ D, basis.a @ D

    @cached_property
    def _still(self) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration at x = 0, each (N, nv)."""
        basis, c = self.unknowns.family.basis(self.problem.times), self.unknowns.middle
        return basis.q @ c.T, basis.v @ c.T, basis.a @ c.T

    @cached_property
    def _coulomb(self) -> tuple[IntArray, IntArray]:
        """Degrees of freedom with Coulomb friction, and its column for each."""
        columns = self.problem.layout.drive_columns[:, 1]
        dofs = np.flatnonzero(columns >= 0)
        return dofs, columns[dofs]

    @cached_property
    def _rows(self) -> tuple[tuple[IntArray, IntArray], ...]:
        """For each joint the base columns its torque can depend on: their places in the base and in Y."""
        robot, layout, columns = self.problem.robot, self.problem.layout, self.problem.base.columns
        owners = [layout.parameters[c].owner for c in columns]
        rows = []
        for k, joint in enumerate(robot.joints):
            moved = {joint.name, *(robot.link_names[i] for i in range(robot.nv) if _carries(robot, k, i))}
            places = np.array([b for b, owner in enumerate(owners) if owner in moved], dtype=np.int64)
            rows.append((places, columns[places]))
        return tuple(rows)

    @cached_property
    def recorded(self) -> Array | None:
        """G_0 in the columns of the base parameters, (b, b)."""
        if self.problem.recorded is None:
            return None
        columns = self.problem.base.columns
        return self.problem.recorded[np.ix_(columns, columns)]

    @cached_property
    def coordinates(self) -> Array | None:
        """L of the orthonormal basis, (b, b), where the criterion asks for it."""
        if self.problem.criterion is not Criterion.COND_ORTHONORMAL:
            return None
        return np.asarray(np.linalg.qr(self.problem.base.matrix.T, mode="r")).T

    def sampled(self, x: Array) -> tuple[Array, Array, Array]:
        """The motion at the samples.

        Args:
            x: unknowns, shape (nv, n), dimensionless.

        Returns:
            q, v and a, each shape (N, nv), SI.
        """
        c = (self.unknowns.scales[:, None] * x).T
        q, v, a = (still + B @ c for still, B in zip(self._still, self._bases, strict=True))
        return q, v, a

    def gradient(self, x: Array, stage: Stage) -> tuple[float, Array]:
        """The surrogate and its gradient.

        Args:
            x: unknowns, shape (nv, n), dimensionless.
            stage: how sharp to look.

        Returns:
            The value, infinite where the motion is blind or a torque is over its limit, and the gradient,
            shape (nv, n), dimensionless.
        """
        problem = self.problem
        q, v, a = self.sampled(x)
        Y = torque_regressor(problem.robot, problem.layout, q, v, a, code=self.code)
        dofs, coulomb = self._coulomb
        smooth_sign = np.tanh(v[:, dofs] / SIGN_WIDTH)
        Y[:, dofs, coulomb] = smooth_sign
        G, W = self._gram(Y)
        judged = surrogate(problem.criterion, G, stage.power, self.coordinates)
        value = judged.value
        if not np.isfinite(value):
            return np.inf, np.zeros_like(x)
        weights = np.zeros_like(Y)
        for k, (places, columns) in enumerate(self._rows):
            S = judged.gradient[np.ix_(places, places)]
            weights[:, k, columns] = W[k] @ (2.0 * self._precision[k] * S)
        if problem.parameters is not None:
            over, pull = self._torque_barrier(Y @ problem.parameters)
            if not np.isfinite(over):
                return np.inf, np.zeros_like(x)
            value += stage.barrier * over
            weights += (stage.barrier * pull)[:, :, None] * problem.parameters
        slope = regressor_adjoint(problem.robot, problem.layout, weights, q, v, a, code=self.code)
        v_bar = slope.v.copy()
        v_bar[:, dofs] += weights[:, dofs, coulomb] * (1.0 - smooth_sign**2) / SIGN_WIDTH
        return value, self._in_unknowns(slope.q, v_bar, slope.a)

    def information(self, motion: Motion) -> Information:
        """What a motion will have shown, together with what is recorded; Coulomb friction with sign(v).

        Args:
            motion: any motion of the robot.

        Returns:
            The information about the base parameters.
        """
        problem = self.problem
        at = motion.sample(problem.times)
        Y = torque_regressor(problem.robot, problem.layout, at.q, at.v, at.a)
        return Information(self._gram(Y)[0], squared=True)

    @cached_property
    def _precision(self) -> Array:
        """One over the variance of each joint's torque noise, (nv,)."""
        noise = self.problem.noise
        return np.ones(self.problem.robot.nv) if noise is None else noise**-2.0

    def _gram(self, Y: Array) -> tuple[Array, list[Array]]:
        """G, and for each joint its equations in the columns they can depend on."""
        b = self.problem.base.count
        G = np.zeros((b, b)) if self.recorded is None else self.recorded.copy()
        W = [Y[:, k, columns] for k, (_, columns) in enumerate(self._rows)]
        for k, (places, _) in enumerate(self._rows):
            G[np.ix_(places, places)] += self._precision[k] * (W[k].T @ W[k])
        return G, W

    def _in_unknowns(self, q_bar: Array, v_bar: Array, a_bar: Array) -> Array:
        B_q, B_v, B_a = self._bases
        return self.unknowns.scales[:, None] * (q_bar.T @ B_q + v_bar.T @ B_v + a_bar.T @ B_a)

    def _torque_barrier(self, torque: Array) -> tuple[float, Array]:
        """The barrier of all torques and its slope in them, (N, nv)."""
        limit = self.problem.torque_share * self.problem.robot.limit_array("effort")
        free = 1.0 - np.abs(torque) / limit
        value, slope = barrier(free / TORQUE_RANGE)
        return value, -slope * np.sign(torque) / (TORQUE_RANGE * limit)


def _carries(robot: Robot, joint: int, link: int) -> bool:
    """Whether a joint moves a link."""
    while link > joint:
        link = robot.joints[link].parent
    return link == joint
