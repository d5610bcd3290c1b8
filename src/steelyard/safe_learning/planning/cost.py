"""Cost of a plan: eq. (28) of Zhang et al. (2025), and how well the plan shows what a link carries."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from steelyard.arrays import Array, checked, keep_checked
from steelyard.dynamics import Gradient, regressor_adjoint, torque_regressor
from steelyard.errors import InputError, UnknownNameError
from steelyard.layout import Layout, layout_of
from steelyard.motion import Motion, RecedingPlans
from steelyard.robot import Robot
from steelyard.safe_learning.planning.margins import SampledPlans

# The cost as a function of the plan's parameter k


class FamilyCost(Protocol):
    """The cost of the plans of one family."""

    def values(self, parameters: Array) -> Array:
        """The costs of K plans.

        Args:
            parameters: k of each, shape (K, nv), dimensionless.

        Returns:
            Their costs, shape (K,), dimensionless.
        """
        ...

    def gradient(self, parameter: Array) -> Array:
        """The derivative of the cost of one plan.

        Args:
            parameter: k, shape (nv,), dimensionless.

        Returns:
            The derivative in k, shape (nv,), dimensionless.
        """
        ...


class PlanCost(Protocol):
    """What is asked of plans, whatever state they start from."""

    def of(self, plans: RecedingPlans) -> FamilyCost:
        """The cost of a family's plans.

        Args:
            plans: the family.

        Returns:
            Its cost, ready for many plans.
        """
        ...


@dataclass(frozen=True, eq=False)
class GoalCost:
    r"""How far from a goal a plan ends, $\|q(T) - q_{goal}\|^2$ in rad² or m².

    Attributes:
        goal: the pose to be reached, shape (nv,), rad or m.
    """

    goal: Array

    def __post_init__(self) -> None:
        keep_checked(self, ("nv",), "goal")

    def of(self, plans: RecedingPlans) -> FamilyCost:
        """The cost of a family's plans.

        Args:
            plans: the family.

        Raises:
            ShapeError: the goal is not a pose of the plans' joints.
        """
        checked("goal", self.goal, (len(plans.joints),))
        return _EndCost(plans, self.goal)


@dataclass(frozen=True, eq=False)
class _EndCost:
    plans: RecedingPlans
    goal: Array

    def _missed(self, parameters: Array) -> Array:
        low, high = self.plans.lowest, self.plans.highest
        missed: Array = 0.5 * (low + high + parameters * (high - low)) - self.goal
        return missed

    def values(self, parameters: Array) -> Array:
        squares: Array = (self._missed(parameters) ** 2).sum(axis=1)
        return squares

    def gradient(self, parameter: Array) -> Array:
        slope: Array = self._missed(parameter) * (self.plans.highest - self.plans.lowest)
        return slope


@dataclass(frozen=True, eq=False)
class WeightedCosts:
    """Several costs at once.

    Attributes:
        parts: each cost with its weight, zero or more, dimensionless.
    """

    parts: tuple[tuple[float, PlanCost], ...]

    def __post_init__(self) -> None:
        if not self.parts or not all(0.0 <= weight < np.inf for weight, _ in self.parts):
            raise InputError("needs a part, and weights of zero or more.", place="parts")

    def of(self, plans: RecedingPlans) -> FamilyCost:
        """The cost of a family's plans.

        Args:
            plans: the family.

        Returns:
            The weighted sum of the costs.
        """
        return _SumCost(tuple((weight, cost.of(plans)) for weight, cost in self.parts))


@dataclass(frozen=True, eq=False)
class _SumCost:
    parts: tuple[tuple[float, FamilyCost], ...]

    def values(self, parameters: Array) -> Array:
        sums: Array = np.sum([weight * cost.values(parameters) for weight, cost in self.parts], axis=0)
        return sums

    def gradient(self, parameter: Array) -> Array:
        sums: Array = np.sum([weight * cost.gradient(parameter) for weight, cost in self.parts], axis=0)
        return sums


# How well a plan shows what a link carries: the logarithm of the condition number of eq. (30) of Zhang et al.
# (2025).
#
# With $W_e$ the ten columns of the carrying link at N samples of a plan, in the payload's coordinates, and
# what earlier plans have shown already, the information is
#
# $$G = \frac{T}{N} W_e^T W_e + G_0, \qquad
#   \log\operatorname{cond} = \tfrac12\,(\log\lambda_{max}(G) - \log\lambda_{min}(G)),$$
#
# and its derivative in $W_e$ is $\tfrac{T}{N} W_e\,(u u^T/\lambda_{max} - z z^T/\lambda_{min})$ with the two
# eigenvectors u and z, which the adjoint of the regressor takes to the motion.

SAMPLES = 32
"""Of a plan, while searching: the condition number differs by a few percent from that of more."""
JUDGED_SAMPLES = 128
"""Of a plan, for the condition number it is judged by (Zhang et al. 2025, section VI-D2)."""
_BLIND = 1e-16
"""Smallest eigenvalue over the largest that is told from zero."""


@dataclass(frozen=True, eq=False)
class PayloadExcitation:
    """Plans that show the ten numbers of what a link carries; arrays are read-only.

    Attributes:
        robot: the robot.
        link: the moving link that carries the payload.
        frame: T with φ_link = T φ_payload (`change_of_frame`), shape (10, 10), SI; the identity by default.
        shown: G_0, the information of earlier plans as `information` counts it, shape (10, 10), SI; none by
            default.
        driven: whether the part before the switch counts alone, which is what the next plan follows.
    """

    robot: Robot
    link: str
    frame: Array = field(default_factory=lambda: np.eye(10))
    shown: Array = field(default_factory=lambda: np.zeros((10, 10)))
    driven: bool = False

    def __post_init__(self) -> None:
        if self.link not in self.robot.link_names:
            raise UnknownNameError("link", self.link, self.robot.link_names, place="link")
        keep_checked(self, (10, 10), "frame", "shown")

    @cached_property
    def layout(self) -> Layout:
        """The links alone."""
        return layout_of(self.robot)

    @cached_property
    def columns(self) -> slice:
        """Of the carrying link."""
        return self.layout.of_link(self.link)

    def of(self, plans: RecedingPlans) -> FamilyCost:
        """The cost of a family's plans.

        Args:
            plans: the family.

        Returns:
            Its log cond, at `SAMPLES` instants.
        """
        end = plans.switch if self.driven else plans.duration
        return _LogCondition(self, SampledPlans(plans, _instants(end, SAMPLES)), end)

    def information(self, motion: Motion, samples: int = JUDGED_SAMPLES) -> Array:
        """What a motion shows of the payload: the integral of WᵀW over its duration.

        Args:
            motion: the motion, such as the driven part of a plan.
            samples: how many instants to look at.

        Returns:
            The information, shape (10, 10), SI; that of several motions is the sum.
        """
        at = motion.sample(_instants(motion.duration, samples))
        W = self.rows(at.q, at.v, at.a).reshape(-1, 10)
        G: Array = motion.duration / samples * (W.T @ W)
        return G

    def condition(self, motion: Motion) -> float:
        """The condition number of a motion's regressor, together with what was shown before.

        Returns:
            cond W, dimensionless; infinite where a combination is not seen.
        """
        lowest, *_, highest = np.linalg.eigvalsh(self.information(motion) + self.shown)
        return float(np.sqrt(highest / lowest)) if lowest > _BLIND * highest else np.inf

    def rows(self, q: Array, v: Array, a: Array) -> Array:
        """W_e of every sample.

        Args:
            q: positions, shape (N, nv), rad or m.
            v: velocities, shape (N, nv), rad/s or m/s.
            a: accelerations, shape (N, nv), rad/s² or m/s².

        Returns:
            The rows, shape (N, nv, 10), SI.
        """
        Y = torque_regressor(self.robot, self.layout, q, v, a)
        W: Array = Y[:, :, self.columns] @ self.frame
        return W


@dataclass(eq=False)
class _LogCondition:
    """The log cond of one family's plans; a gradient is mostly asked for where the value just was."""

    excitation: PayloadExcitation
    samples: SampledPlans
    duration: float
    _last: tuple[bytes, tuple[Array, Array, Array], Array] | None = None

    @property
    def _step(self) -> float:
        return self.duration / len(self.samples.time)

    def values(self, parameters: Array) -> Array:
        W = self._rows(parameters)[1].reshape(len(parameters), -1, 10)
        eigenvalues = np.linalg.eigvalsh(self._gram(W))
        highest = eigenvalues[:, -1]
        lowest = np.maximum(eigenvalues[:, 0], _BLIND * highest)
        values: Array = 0.5 * np.log(highest / lowest)
        return values

    def gradient(self, parameter: Array) -> Array:
        x = self.excitation
        (q, v, a), W = self._rows(parameter[None])
        eigenvalues, vectors = np.linalg.eigh(self._gram(W.reshape(1, -1, 10))[0])
        if eigenvalues[0] <= _BLIND * eigenvalues[-1]:
            return np.zeros_like(parameter)
        z, u = vectors[:, 0], vectors[:, -1]
        S = np.outer(u, u) / eigenvalues[-1] - np.outer(z, z) / eigenvalues[0]
        weights = np.zeros((*q.shape, x.layout.size))
        weights[:, :, x.columns] = W @ (self._step * S @ x.frame.T)
        slope: Gradient = regressor_adjoint(x.robot, x.layout, weights, q, v, a)
        total: Array = self.samples.in_parameter(slope).sum(axis=0)
        return total

    def _rows(self, parameters: Array) -> tuple[tuple[Array, Array, Array], Array]:
        """States and regressor of K plans."""
        key = parameters.tobytes()
        if self._last is None or self._last[0] != key:
            states = self.samples.at(parameters)
            self._last = key, states, self.excitation.rows(*states)
        return self._last[1:]

    def _gram(self, W: Array) -> Array:
        """Of K plans, (K, 10, 10)."""
        G: Array = self._step * (np.swapaxes(W, 1, 2) @ W) + self.excitation.shown
        return G


def _instants(duration: float, count: int) -> Array:
    """Evenly spread, both ends included, as `np.linspace`."""
    return np.linspace(0.0, duration, count)
