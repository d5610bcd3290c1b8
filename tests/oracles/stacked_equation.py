"""The stacked torque equation of a problem, sample by sample: what textbooks solve."""

from __future__ import annotations

from steelyard.arrays import Array
from steelyard.dynamics import torque_regressor
from steelyard.problem import Problem


def stacked_equation(problem: Problem) -> tuple[Array, Array]:
    r"""$W_1 \beta = \tau - W\phi_{known}$: W_1, shape (N nv, b), and the right side, shape (N nv,), SI."""
    at = problem.samples
    Y = torque_regressor(problem.robot, problem.layout, at.q, at.v, at.a).reshape(-1, problem.layout.size)
    return Y[:, problem.base.columns], at.tau.reshape(-1) - Y @ problem.known
