"""The friction terms of joints that move together: which of them torque tells apart."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from steelyard.identifiability.mechanism import Block
from steelyard.layout import Layout


def friction_groupings(
    layout: Layout, block: Block, ratios: Sequence[Fraction], first: Sequence[int]
) -> dict[int, dict[int, Fraction]]:
    r"""Rows of the friction terms of a block, which no other term resembles.

    The coordinate v of the block moves a joint that follows it by $k v$, and feels k times its friction:
    $k^2 F_v\,v$, $|k| F_c \operatorname{sign} v$, $k |k| F_a\,|v|$. Stribeck terms group where they fade
    alike.

    Args:
        layout: the parameters.
        block: the block, of one degree of freedom.
        ratios: k of each body, dimensionless, rad/m or m/rad.
        first: index in phi of each body's first drive term.

    Returns:
        Rows of K by the index of each base parameter: coefficients of the parameters grouped with it.
    """
    laws = {
        "viscous": lambda k: k * k,
        "coulomb": abs,
        "asymmetric": lambda k: k * abs(k),
        "stribeck": abs,
    }
    rows: dict[int, dict[int, Fraction]] = {}
    for place, term in enumerate(layout.drive):
        heads: dict[object, tuple[int, Fraction]] = {}
        for i in block.bodies if term in laws else ():
            index, weight = first[i] + place, laws[term](ratios[i])
            head, its = heads.setdefault(_fading(layout, term, first[i], ratios[i]), (index, weight))
            rows.setdefault(head, {})[index] = weight / its
    return rows


def _fading(layout: Layout, term: str, first: int, ratio: Fraction) -> object:
    """What tells the Stribeck terms of a block apart: the speed at which they fade, and how."""
    if term != "stribeck":
        return None
    shape = layout.stribeck[(first - 10 * len(layout.links)) // len(layout.drive)]
    return Fraction(repr(shape.velocity)) / abs(ratio), shape.exponent
