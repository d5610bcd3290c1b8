r"""The torque equations of friction that grows with the load: $\tau = r + D\delta + F_l\,|r|\,s_v$.

With $s_v = \operatorname{sign}(v)$ and $s = \operatorname{sign}(r)\,s_v$, which is 1 where the gear drives
its load and -1 where it is driven by it, they read

$$\tau = (1 + F_l\,s)\,r + D\,\delta, \qquad r = Y\phi_{links}.$$
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.dynamics import torque_regressor
from steelyard.errors import InputError
from steelyard.estimation.weighted_rows import Rows, RowSource, kept_if_small, pieces
from steelyard.problem import Problem

LoadPieces = Callable[[], Iterable[tuple[slice, Array]]]
"""Gives, each time it is called, runs of samples with their regressor, see `load_pieces`."""


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


def load_pieces(problem: Problem) -> LoadPieces:
    """The columns of all parameters but F_l, in pieces of a few thousand samples.

    Args:
        problem: the question, with its samples.

    Returns:
        Gives the samples of each piece and their regressor with zeros at F_l, shape (n, nv, p), SI; it is not
        to be written to, because a log that is not long is worked out once.
    """
    at = problem.samples

    def made() -> Iterator[tuple[slice, Array]]:
        for part in pieces(problem):
            q, v, a = at.q[part], at.v[part], at.a[part]
            yield part, torque_regressor(problem.robot, problem.layout, q, v, a, load=np.zeros_like(v))

    return kept_if_small(made, at.tau.size * problem.layout.size)


def tangent_rows(
    problem: Problem, parameters: Array, columns: IntArray | None = None, *, given: LoadPieces | None = None
) -> RowSource:
    r"""The equations linearised at φ: $J\phi' = \tau + F_l\,|r| \operatorname{sign}(v)$, $J = \partial\tau$.

    Args:
        problem: the question, with its samples.
        parameters: φ, shape (p,), SI.
        columns: the parameters asked about, shape (b,), dimensionless; the torque of what the layout fixes is
            then taken off the right side. None for all parameters.
        given: the pieces of the problem, where they are at hand.

    Returns:
        The source of the equations.
    """
    places, links = load_places(problem), 10 * len(problem.layout.links)
    loaded = np.flatnonzero(places >= 0)
    F_l = np.zeros(len(places))
    F_l[loaded] = parameters[places[loaded]]
    regressors = load_pieces(problem) if given is None else given

    def rows() -> Iterator[Rows]:
        for part, Y in regressors():
            J, v = np.array(Y), problem.samples.v[part]
            r = J[..., :links] @ parameters[:links]
            column = np.abs(r) * np.sign(v)
            J[..., :links] *= (1.0 + F_l * np.sign(r) * np.sign(v))[..., None]
            J[:, loaded, places[loaded]] = column[:, loaded]
            y = problem.samples.tau[part] + F_l * column
            if columns is not None:
                y, J = y - J @ problem.known, np.ascontiguousarray(J[..., columns])
            yield Rows(J, J, y)

    asked = problem.layout.size if columns is None else len(columns)
    return kept_if_small(rows, problem.samples.tau.size * asked)
