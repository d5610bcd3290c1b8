"""The torque equations with columns for a change in the shape of Stribeck friction."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.drive import StribeckShape, stribeck_shape_slopes
from steelyard.dynamics import torque_regressor
from steelyard.errors import InputError
from steelyard.estimation.weighted_rows import Rows, RowSource, pieces
from steelyard.layout import Layout
from steelyard.problem import Problem


def stribeck_places(problem: Problem) -> tuple[IntArray, IntArray]:
    """Where Stribeck friction acts.

    Args:
        problem: the question.

    Returns:
        Degrees of freedom that have it, shape (n,), and their base parameters, shape (n,); dimensionless.

    Raises:
        InputError: what the layout fixes leaves a coefficient that is not one of the base parameters.
    """
    columns = problem.layout.friction_columns[:, 0]
    dofs = np.flatnonzero(columns >= 0)
    where = {int(column): k for k, column in enumerate(problem.base.columns)}
    if any(int(column) not in where for column in columns[dofs]):
        raise InputError("fixes a coefficient of Stribeck friction whose shape is asked for.", place="layout")
    return dofs, np.array([where[int(column)] for column in columns[dofs]], dtype=np.int64)


def shape_names(problem: Problem) -> tuple[str, ...]:
    """Names of the shapes: the velocities of all joints, then their exponents.

    Args:
        problem: the question.

    Returns:
        The names.
    """
    joints = problem.layout.joints
    return tuple(f"{joint}.{word}" for word in ("stribeck_velocity", "stribeck_exponent") for joint in joints)


def friction_layout(problem: Problem, shapes: Array) -> Layout:
    """The problem's layout with other shapes.

    Args:
        problem: the question.
        shapes: v_s and δ of each joint, shape (n, 2), rad/s or m/s and dimensionless.

    Returns:
        The layout.
    """
    return problem.layout.with_stribeck([StribeckShape(float(v), float(d)) for v, d in shapes])


def shaped_rows(problem: Problem, shapes: Array, beta: Array | None) -> RowSource:
    r"""The equations $W_1\beta + D\,\delta\theta = \tau$ with $\theta = (\ln v_s, \ln\delta)$.

    Args:
        problem: the question, with its samples.
        shapes: v_s and δ of each joint, shape (n, 2), rad/s or m/s and dimensionless.
        beta: base parameters at which D is taken, shape (b,), SI; None makes D zero.

    Returns:
        The source of the equations; their columns are those of the base parameters, then those of θ.
    """
    at, layout = problem.samples, friction_layout(problem, shapes)
    dofs, places = stribeck_places(problem)
    n, b = len(dofs), problem.base.count

    def rows() -> Iterator[Rows]:
        for part in pieces(problem):
            Y = torque_regressor(problem.robot, layout, at.q[part], at.v[part], at.a[part])
            W = np.zeros((*Y.shape[:2], b + 2 * n))
            W[..., :b] = Y[..., problem.base.columns]
            if beta is not None:
                velocity, exponent = stribeck_shape_slopes(at.v[part][:, dofs], *shapes.T)
                W[:, dofs, b + np.arange(n)] = beta[places] * velocity * shapes[:, 0]
                W[:, dofs, b + n + np.arange(n)] = beta[places] * exponent * shapes[:, 1]
            yield Rows(W, W, at.tau[part] - Y @ problem.known)

    return rows
