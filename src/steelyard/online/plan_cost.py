"""What a plan is chosen for: the cost of paper 000's (28), as a function of the parameter k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError
from steelyard.motion import RecedingPlans


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
        object.__setattr__(self, "goal", read_only(checked("goal", self.goal, ("nv",))))

    def of(self, plans: RecedingPlans) -> FamilyCost:
        """The cost of a family's plans.

        Args:
            plans: the family.

        Returns:
            Its cost.

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
