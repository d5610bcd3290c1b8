r"""What is assumed of one link: linear conditions on its ten numbers, stated in a frame D of its own.

A term is fixed, $\varphi_k = c$, or tied to others, $\varphi_k = \sum_j w_j\,\varphi_j$. "This product of
inertia is zero" says nothing before the frame is named: about another point or in turned axes the same body
has another product.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.errors import InputError, UnknownNameError
from steelyard.inertia import PARAMETER_NAMES, Body, change_of_frame
from steelyard.layout import Layout
from steelyard.link_frames import LinkFrames

_AXES = ("x", "y", "z")


@dataclass(frozen=True)
class Condition:
    r"""One linear equation $\sum_k w_k\,\varphi_k = c$ on the ten numbers of a link.

    Attributes:
        weights: w by term of `PARAMETER_NAMES`; terms not named have none.
        value: c, in the unit of the weighted terms.
    """

    weights: Mapping[str, float]
    value: float = 0.0

    def __post_init__(self) -> None:
        for term in self.weights:
            if term not in PARAMETER_NAMES:
                raise UnknownNameError("inertial term", term, PARAMETER_NAMES, place="condition")
        if not all(math.isfinite(x) for x in (*self.weights.values(), self.value)):
            raise InputError("weights and value must be finite.", place="condition")
        if not any(self.weights.values()):
            raise InputError("must weigh at least one term.", place="condition")
        object.__setattr__(self, "weights", MappingProxyType(dict(self.weights)))

    @property
    def row(self) -> Array:
        """The weights of all ten terms, shape (10,), SI."""
        return np.array([self.weights.get(term, 0.0) for term in PARAMETER_NAMES])


@dataclass(frozen=True)
class LinkRule:
    """Everything that is assumed of one link; `rule & other` assumes both.

    Attributes:
        conditions: the equations, in any order.
    """

    conditions: tuple[Condition, ...] = ()

    def __and__(self, other: LinkRule) -> LinkRule:
        """Both rules at once."""
        return LinkRule((*self.conditions, *other.conditions))


def fixed(values: Mapping[str, float]) -> LinkRule:
    """Terms with known values.

    Args:
        values: by term, in the term's unit.

    Returns:
        The rule.

    Raises:
        UnknownNameError: there is no such term; lists those that exist.
    """
    return LinkRule(tuple(Condition({term: 1.0}, value) for term, value in values.items()))


def tied(term: str, others: Mapping[str, float]) -> LinkRule:
    """A term that is a combination of others.

    Args:
        term: the term.
        others: weights by term, in the unit of `term` over theirs.

    Returns:
        The rule.

    Raises:
        InputError: the term is tied to itself.
        UnknownNameError: there is no such term; lists those that exist.
    """
    if term in others:
        raise InputError(f"'{term}' cannot be tied to itself.", place="others")
    return LinkRule((Condition({term: 1.0} | {name: -weight for name, weight in others.items()}),))


SYMMETRIC = fixed({"Ixy": 0.0, "Ixz": 0.0, "Iyz": 0.0})
"""No products of inertia: the planes of D mirror the link, or nearly so (paper 004)."""


def centred(*axes: str) -> LinkRule:
    """A centre of mass whose coordinates along some axes are zero.

    Args:
        axes: some of `x`, `y`, `z`.

    Returns:
        The rule.

    Raises:
        UnknownNameError: there is no such axis.
    """
    return fixed({f"m{_axis(axis)}": 0.0 for axis in axes})


def axisymmetric(axis: str = "z") -> LinkRule:
    """A body of revolution about one axis of D: centred on it, no products, two equal moments.

    Args:
        axis: `x`, `y` or `z`.

    Returns:
        The rule, which leaves four terms free.

    Raises:
        UnknownNameError: there is no such axis.
    """
    u, w = (other for other in _AXES if other != _axis(axis))
    return SYMMETRIC & centred(u, w) & tied(f"I{w}{w}", {f"I{u}{u}": 1.0})


def point_mass(at: ArrayLike = (0.0, 0.0, 0.0)) -> LinkRule:
    r"""A mass in one known point c: $h = m\,c$ and $I = m\,(|c|^2\,\mathbb 1 - c\,c^T)$.

    Args:
        at: c in D, shape (3,), m.

    Returns:
        The rule, which leaves the mass free.
    """
    unit = Body(1.0, checked("at", at, (3,)), np.zeros((3, 3))).parameters
    rule = LinkRule()
    for term, weight in zip(PARAMETER_NAMES[1:], unit[1:], strict=True):
        rule &= tied(term, {"m": float(weight)})
    return rule


def known_link(layout: Layout, frames: LinkFrames, link: str) -> LinkRule:
    """A link of which nothing is asked: all ten numbers are the nominal ones.

    Args:
        layout: where the nominal numbers stand.
        frames: the frames the rule is for.
        link: name of the link.

    Returns:
        The rule, which leaves nothing free.

    Raises:
        UnknownNameError: there is no such link; lists those that exist.
        InputError: its description states no inertial.
    """
    phi = layout.nominal[layout.of_link(link)]
    if np.isnan(phi).any():
        raise InputError("states no inertial, so it is not known.", place=f"link '{link}'")
    T = change_of_frame(frames.pose(link).inverse())
    return fixed(dict(zip(PARAMETER_NAMES, (T @ phi).tolist(), strict=True)))


def _axis(axis: str) -> str:
    if axis not in _AXES:
        raise UnknownNameError("axis", axis, _AXES)
    return axis
