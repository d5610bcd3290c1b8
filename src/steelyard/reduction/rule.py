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

from steelyard.arrays import Array
from steelyard.errors import InputError, UnknownNameError
from steelyard.inertia import PARAMETER_NAMES


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


SYMMETRIC = fixed({"Ixy": 0.0, "Ixz": 0.0, "Iyz": 0.0})
"""No products of inertia: the planes of D mirror the link, or nearly so (paper 004)."""
