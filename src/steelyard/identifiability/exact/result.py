"""What is proven of a robot's parameters: identifiable combinations with exact coefficients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from steelyard.arrays import Array, IntArray, read_only
from steelyard.identifiability.structure import BodyKnowledge
from steelyard.layout import Class, Layout

Coefficient = TypeVar("Coefficient")


@dataclass(frozen=True, eq=False)
class ProvenIdentifiability(Generic[Coefficient]):
    r"""What can be known of a robot's parameters from its torques, found without a tolerance.

    Attributes:
        robot: name of the robot.
        layout: the parameters asked about.
        static: whether only poses at rest were considered.
        bodies: what can be known of each body, in the order of the links.
        groupings: by the name of each base parameter, the names and coefficients of the parameters that
            torques show only together with it, its own coefficient one first. These are the rows of K in
            $\beta = K \phi$, in reduced row echelon form with columns in the order of the tie-break.
    """

    robot: str
    layout: Layout
    static: bool
    bodies: tuple[BodyKnowledge, ...]
    groupings: Mapping[str, Mapping[str, Coefficient]]

    @property
    def count(self) -> int:
        """Number of identifiable combinations."""
        return len(self.groupings)

    @cached_property
    def classes(self) -> tuple[Class, ...]:
        """The class of every parameter, in the order of the layout."""
        by_name = {name: kind for body in self.bodies for name, kind in body.classes.items()}
        return tuple(by_name[name] for name in self.layout.names)

    @cached_property
    def pivots(self) -> IntArray:
        """Indices of the base parameters in phi, in the order of the tie-break, shape (b,), dimensionless."""
        return read_only(np.array([self.layout.index(name) for name in self.groupings], dtype=np.int64))


@dataclass(frozen=True, eq=False)
class ExactIdentifiability(ProvenIdentifiability[Fraction]):
    """The groupings of a robot of rational geometry; coefficients are fractions in SI."""

    @cached_property
    def matrix(self) -> Array:
        """K with each coefficient rounded once, shape (b, p), SI."""
        K = np.zeros((self.count, self.layout.size))
        for r, row in enumerate(self.groupings.values()):
            for name, value in row.items():
                K[r, self.layout.index(name)] = float(value)
        return read_only(K)
