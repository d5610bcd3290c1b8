"""What a search needs to know of things that must stay apart, whichever way they are measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from numpy.typing import ArrayLike

from steelyard.arrays import Array
from steelyard.robot import Robot


class NamedPair(Protocol):
    """Two things that must stay apart."""

    @property
    def name(self) -> str:
        """What messages call the pair."""
        ...

    @property
    def owners(self) -> frozenset[str]:
        """The names of both links or obstacles."""
        ...


class KeptApart(Protocol):
    """Pairs with signed distances: of shapes (`Clearance`), or of points and ellipsoids."""

    @property
    def robot(self) -> Robot:
        """The robot."""
        ...

    @property
    def pairs(self) -> Sequence[NamedPair]:
        """What is measured, in the order of every result."""
        ...

    @property
    def excluded(self) -> Sequence[NamedPair]:
        """Shapes that are not measured because they overlap at rest or always."""
        ...

    def distances(self, q: ArrayLike) -> Array:
        """The signed distance of every pair.

        Args:
            q: joint positions, shape (N, nq), rad or m.

        Returns:
            Distances, positive where a pair is apart, shape (N, P), m.
        """
        ...

    def gradients(self, q: ArrayLike) -> tuple[Array, Array]:
        """The signed distance of every pair and its gradient.

        Args:
            q: joint positions, shape (N, nq), rad or m.

        Returns:
            Distances, shape (N, P), m; gradients, shape (N, P, nv), m/rad or dimensionless.
        """
        ...

    def adjoint(self, q: ArrayLike, weights: ArrayLike) -> Array:
        """Gradient of the sum of distances with weights.

        Args:
            q: joint positions, shape (N, nq), rad or m.
            weights: of every distance, shape (N, P), SI.

        Returns:
            The gradient, shape (N, nv), SI.
        """
        ...


K = TypeVar("K", bound=KeptApart)


def some_pairs(apart: K, chosen: Iterable[int]) -> K:
    """The same with some of its pairs.

    Args:
        apart: a frozen dataclass with a field `pairs`.
        chosen: indices of the pairs to keep, in their new order.

    Returns:
        A new one, which measures nothing else.
    """
    whole: Any = apart
    fewer: K = replace(whole, pairs=tuple(apart.pairs[k] for k in chosen))
    return fewer
