"""Structural identifiability with named lengths: what holds for a mechanism whatever its size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError, MissingExtraError, UnknownNameError
from steelyard.identifiable.exact.identifiability import ProvenIdentifiability, exact_knowledge
from steelyard.identifiable.exact.mechanism import Numbers, rational_mechanism
from steelyard.identifiable.exact.vectors import Number
from steelyard.identifiable.mechanism import check_question
from steelyard.layout import Layout
from steelyard.robot import Robot

if TYPE_CHECKING:
    import sympy

# Groupings as formulas in the lengths of a robot.


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


def symbolic_identifiability(
    robot: Robot, layout: Layout, *, symbols: Mapping[str, str] | None = None, static: bool = False
) -> SymbolicIdentifiability:
    """Prove what torques could say about the parameters of any robot of this shape, with formulas.

    Every offset that is not zero becomes a symbol, as does every component of gravity; those that are zero
    stay so. The symbol of joint j's offset along x of its parent's frame is called `p_j_x`, that of gravity
    along z of the base `g_z`; each stands for the number with its sign. Axes, pitches and ratios stay as
    they are.

    Args:
        robot: the robot; joints that mimic others must hang on the same link as their leader.
        layout: the parameters asked about; those it fixes are asked about too.
        symbols: other names for symbols, by the names above. Two that get the same name become one symbol,
            which stands for the first of them; their numbers must be equal but for the sign.
        static: whether the robot is only ever measured at rest.

    Returns:
        The answer, true for all values of the symbols but special ones, in SI.

    Raises:
        InputError: the layout is another robot's or has friction that grows with the load, a placement is no
            quarter turn, an axis has no rational length, a joint follows one on another link, or numbers of
            different size share a symbol.
        MissingExtraError: SymPy, which writes the formulas, is not installed.
        UnknownNameError: a name in `symbols` is not that of a symbol; lists those that are.
    """
    try:
        import sympy
    except ImportError as error:
        raise MissingExtraError("identifiability as formulas", "sympy", "symbolic") from error

    check_question(robot, layout)
    rational = rational_mechanism(robot)
    names = _Names(symbols or {})
    offsets = [
        names.of([f"p_{joint.name}_{axis}" for axis in "xyz"], p)
        for joint, p in zip(robot.joints, rational.offsets, strict=True)
    ]
    gravity = names.of([f"g_{axis}" for axis in "xyz"], rational.gravity)
    names.check()
    field = sympy.QQ.frac_field(*map(sympy.Symbol, names.values)) if names.values else sympy.QQ
    letters = dict(zip(names.values, field.gens if names.values else (), strict=True))

    def number(value: Fraction) -> Number:
        return field.convert(sympy.QQ(value.numerator, value.denominator))

    def lettered(signs: list[tuple[int, str]]) -> Numbers:
        return tuple(sign * letters[name] if sign else field.zero for sign, name in signs)

    def written(value: Number) -> sympy.Expr:
        return sympy.Rational(value) if isinstance(value, Fraction) else field.to_sympy(value)

    mechanism = replace(
        rational.over(number),
        offsets=tuple(lettered(signs) for signs in offsets),
        gravity=lettered(gravity),
    )
    bodies, groupings = exact_knowledge(rational, mechanism, layout, static, written)
    return SymbolicIdentifiability(robot.name, layout, static, bodies, groupings, names.values)


class _Names:
    """The symbols in use, by name, with the number each stands for."""

    def __init__(self, chosen: Mapping[str, str]) -> None:
        self.chosen = chosen
        self.values: dict[str, Fraction] = {}
        self.usual: list[str] = []

    def of(self, usual: list[str], numbers: Numbers) -> list[tuple[int, str]]:
        """The sign and the symbol of each number; no sign where it is zero."""
        signs: list[tuple[int, str]] = []
        for name, value in zip(usual, numbers, strict=True):
            if not value:
                signs.append((0, ""))
                continue
            self.usual.append(name)
            symbol = self.chosen.get(name, name)
            meant = self.values.setdefault(symbol, value)
            if abs(meant) != abs(value):
                raise InputError(
                    f"'{symbol}' would stand for {float(meant):g} and, as '{name}', for {float(value):g}.",
                    place="symbols",
                    remedy="Numbers share a symbol only where they are equal but for the sign.",
                )
            signs.append((1 if meant == value else -1, symbol))
        return signs

    def check(self) -> None:
        """Refuse names that no number has."""
        for name in self.chosen:
            if name not in self.usual:
                raise UnknownNameError("symbol", name, self.usual, place="symbols")
