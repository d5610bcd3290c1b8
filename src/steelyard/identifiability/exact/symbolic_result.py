"""Groupings as formulas in the lengths of a robot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError, MissingExtraError, UnknownNameError
from steelyard.identifiability.exact.result import ProvenIdentifiability

if TYPE_CHECKING:
    import sympy  # noqa: F401 - in a quoted type


@dataclass(frozen=True, eq=False)
class SymbolicIdentifiability(ProvenIdentifiability["sympy.Expr"]):
    """The groupings of a mechanism, true for all lengths but special ones, as SymPy expressions.

    Attributes:
        symbols: value of each symbol in the description, by name, m or m/s².
    """

    symbols: Mapping[str, Fraction]

    def matrix(self, values: Mapping[str, float] | None = None) -> Array:
        """K at given lengths.

        Args:
            values: values of symbols by name, m or m/s²; those not named have the value of the description.

        Returns:
            K, shape (b, p), SI.

        Raises:
            UnknownNameError: no such symbol; lists those that exist.
            MissingExtraError: SymPy is not installed.
            InputError: at these lengths a coefficient has no value, so that other combinations are known.
        """
        for name in values or {}:
            if name not in self.symbols:
                raise UnknownNameError("symbol", name, self.symbols, place="values")
        at = {name: float(value) for name, value in self.symbols.items()} | dict(values or {})
        entries = [
            (r, self.layout.index(name), value)
            for r, row in enumerate(self.groupings.values())
            for name, value in row.items()
        ]
        # Of the whole house only formulas need SymPy, which takes half a second and 30 MB to load.
        try:
            import sympy
        except ImportError as error:
            raise MissingExtraError("identifiability as formulas", "sympy", "symbolic") from error

        evaluate = sympy.lambdify(
            [sympy.Symbol(name) for name in at], [value for _, _, value in entries], "math", dummify=True
        )
        try:
            numbers = evaluate(*(float(value) for value in at.values()))
        except ZeroDivisionError as error:
            raise InputError(
                "a coefficient divides by a combination of lengths that is zero here, so other combinations "
                "are known at these lengths.",
                place="values",
                remedy="Describe the robot with these lengths and ask again.",
                evidence={"values": at},
            ) from error
        K = np.zeros((self.count, self.layout.size))
        for (r, k, _), number in zip(entries, numbers, strict=True):
            K[r, k] = number
        return K
