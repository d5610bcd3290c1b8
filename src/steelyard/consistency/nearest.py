"""The nearest possible vector, data aside."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.consistency.possible import PossibleSet
from steelyard.consistency.possible_fit import fit_possible


def nearest_possible(parameters: ArrayLike, possible: PossibleSet) -> Array:
    r"""Project a full vector onto the possible ones, in the distance d of `PossibleSet`.

    It ignores what data says: to keep the torques, use `full_set`; to fit data, an estimator.

    Args:
        parameters: phi, shape (p,), SI.
        possible: what is possible; its scales are the measure.

    Returns:
        The nearest possible vector, shape (p,), SI; the vector itself where it is possible.

    Raises:
        NoSolutionError: fixed parameters or bounds leave no room for possible links.
    """
    phi, s = checked("parameters", parameters, (possible.layout.size,)), possible.scales
    known = ~possible.layout.free
    inside = bool((possible.constraints.value(phi / s).lowest >= 0).all())
    if inside and np.array_equal(phi[known], possible.reference[known]):
        return np.asarray(read_only(phi))
    return fit_possible(possible.metric / s, possible.metric @ (phi / s), possible).parameters
