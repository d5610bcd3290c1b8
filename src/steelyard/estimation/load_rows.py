r"""The torque equations of friction that grows with the load: $\tau = r + D\delta + F_l\,|r|\,s_v$.

With $s_v = \operatorname{sign}(v)$ and $s = \operatorname{sign}(r)\,s_v$, which is 1 where the gear drives
its load and -1 where it is driven by it, they read

$$\tau = (1 + F_l\,s)\,r + D\,\delta, \qquad r = Y\phi_{links}.$$
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.dynamics import torque_regressor
from steelyard.errors import InputError
from steelyard.estimation.weighted_rows import Rows, RowSource, pieces
from steelyard.problem import Problem


def load_places(problem: Problem) -> IntArray:
    """The parameters F_l.

    Args:
        problem: the question.

    Returns:
        Their index in phi by degree of freedom, shape (nv,), dimensionless; -1 where there is none.

    Raises:
        InputError: the layout has no load term, or joints mimic others.
    """
    if "load" not in problem.layout.drive:
        raise InputError(
            "has no term 'load'.", place="layout", remedy="Ask about 'load' among the drive terms."
        )
    if problem.robot.ties is not None:
        raise InputError("has joints that mimic others, which share their friction.", place="robot")
    return problem.layout.friction_columns[:, 2]


def load_pieces(problem: Problem) -> Iterator[tuple[slice, Array]]:
    """The columns of all parameters but F_l, in pieces of a few thousand samples.

    Args:
        problem: the question, with its samples.

    Yields:
        The samples of a piece, and their regressor with zeros at F_l, shape (n, nv, p), SI.
    """
    at = problem.samples
    for part in pieces(problem):
        q, v, a = at.q[part], at.v[part], at.a[part]
        yield part, torque_regressor(problem.robot, problem.layout, q, v, a, load=np.zeros_like(v))


def tangent_rows(problem: Problem, parameters: Array, columns: IntArray | None = None) -> RowSource:
    r"""The equations linearised at φ: $J\phi' = \tau + F_l\,|r| \operatorname{sign}(v)$, $J = \partial\tau$.

    Args:
        problem: the question, with its samples.
        parameters: φ, shape (p,), SI.
        columns: the parameters asked about, shape (b,), dimensionless; the torque of what the layout fixes is
            then taken off the right side. None for all parameters.

    Returns:
        The source of the equations.
    """
    places, links = load_places(problem), 10 * len(problem.layout.links)
    loaded = np.flatnonzero(places >= 0)
    F_l = np.zeros(len(places))
    F_l[loaded] = parameters[places[loaded]]

    def rows() -> Iterator[Rows]:
        for part, J in load_pieces(problem):
            v = problem.samples.v[part]
            r = J[..., :links] @ parameters[:links]
            column = np.abs(r) * np.sign(v)
            J[..., :links] *= (1.0 + F_l * np.sign(r) * np.sign(v))[..., None]
            J[:, loaded, places[loaded]] = column[:, loaded]
            y = problem.samples.tau[part] + F_l * column
            if columns is not None:
                y, J = y - J @ problem.known, np.ascontiguousarray(J[..., columns])
            yield Rows(J, J, y)

    return rows
