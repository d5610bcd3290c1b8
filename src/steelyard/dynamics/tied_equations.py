"""The triangles of a log's torque equations where joints mimic others, block by block."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from steelyard.arrays import Array, IntArray, read_only
from steelyard.dynamics.batch import efforts
from steelyard.dynamics.equations import Block, equations_of
from steelyard.dynamics.regressor import torque_regressor
from steelyard.errors import InputError
from steelyard.layout import Layout
from steelyard.robot import Robot

ROWS = 4096
"""Samples whose regressor is stored at a time."""


def tied_triangles(
    robot: Robot, layout: Layout, blocks: Iterable[Block]
) -> tuple[int, int, tuple[IntArray, ...], tuple[Array, ...]]:
    """Samples, parameters, columns and triangles as `Compressed` holds them.

    A leader's equation is a sum of those of all joints it moves, so it is formed first and folded after.

    Args:
        robot: a robot in which joints mimic others.
        layout: the order of the parameters.
        blocks: pieces of the log, each (q, v, a, tau) of shape (N, nq) or (N, nv), SI; read one at a time.

    Returns:
        Number of samples, p, the columns of each degree of freedom, shape (n_k,), dimensionless, and its
        triangle, shape (n_k + 1, n_k + 1), SI.

    Raises:
        InputError: there is no sample, or an array does not fit.
    """
    columns = _columns(robot, layout)
    triangles = [np.zeros((len(mine) + 1, len(mine) + 1)) for mine in columns]
    samples = 0
    for q, v, a, tau in blocks:
        q, v, a, tau = np.atleast_2d(q), np.atleast_2d(v), np.atleast_2d(a), efforts(robot, tau=tau)
        if not len(q) == len(v) == len(a) == len(tau):
            counts = {"q": len(q), "v": len(v), "a": len(a), "tau": len(tau)}
            raise InputError(f"the numbers of samples differ: {counts}.", place="q, v, a, tau")
        for first in range(0, len(q), ROWS):
            rows = slice(first, first + ROWS)
            Y = torque_regressor(robot, layout, q[rows], v[rows], a[rows])
            for k, mine in enumerate(columns):
                block = np.column_stack([Y[:, k, mine], tau[rows, k]])
                R = np.linalg.qr(np.vstack([triangles[k], block]), mode="r")
                triangles[k] = np.where(np.diag(R) < 0, -1.0, 1.0)[:, None] * R
        samples += len(q)
    if samples == 0:
        raise InputError("hold no sample.", place="blocks")
    return samples, layout.size, columns, tuple(read_only(T) for T in triangles)


def _columns(robot: Robot, layout: Layout) -> tuple[IntArray, ...]:
    """For each degree of freedom, the columns of all joints that move with it."""
    assert robot.ties is not None
    each = equations_of(robot.untied, layout)
    columns = []
    for k in range(robot.nv):
        followers = np.flatnonzero(robot.ties.rates[:, k])
        runs = [each.columns[each.start[d] : each.start[d + 1]] for d in followers]
        columns.append(read_only(np.unique(np.concatenate(runs))))
    return tuple(columns)
