"""How far noise in the measured motion bends least squares: its distance from instrumental variables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array
from steelyard.estimation.instrumental import instrumental_solution, instrumented_rows
from steelyard.estimation.noise_covariance import covariance_under, linear_covariance
from steelyard.estimation.weighted import settled_weights
from steelyard.estimation.weighted_rows import Rows, base_rows, residuals
from steelyard.problem import Problem


@dataclass(frozen=True, eq=False)
class Shift:
    """The instrumental estimate minus the weighted least-squares one.

    Attributes:
        values: the difference, zero where the motion is blind, shape (b,), SI.
        covariance: of the difference if the motion is exact, shape (b, b), SI.
        deviations: of the weighted least-squares estimate, shape (b,), SI.
        weakest: smallest canonical correlation of instruments and regressor, dimensionless.
    """

    values: Array
    covariance: Array
    deviations: Array
    weakest: float


def instrumental_shift(problem: Problem, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Shift:
    r"""Compare both estimates on the same data (Durbin, Wu and Hausman).

    Both are linear in the torques, so what torque noise does to their difference is known without assuming
    that one of them is efficient:
    $\hat\beta_Z - \hat\beta_W = \sum_k w_k^2\,(B_Z Z_k^T - B_W W_k^T)\,e_k$.

    Args:
        problem: the question, with its samples.
        q: positions of the instruments, shape (N, nq), rad or m.
        v: their velocities, shape (N, nv), rad/s or m/s.
        a: their accelerations, shape (N, nv), rad/s² or m/s².

    Returns:
        The difference.

    Raises:
        InputError: the instruments do not fit the samples, or these were not kept.
        NoSolutionError: the instruments do not show a combination of parameters.
    """
    weights, plain = settled_weights(problem, "infinite")
    measured, instrumented = base_rows(problem), instrumented_rows(problem, q, v, a)
    values, gain, weakest = instrumental_solution(instrumented, weights, plain)
    left = residuals(measured, plain.values)
    own, noise = linear_covariance(measured, weights, plain.inverse, left, "autoregressive")

    def both() -> Iterator[Rows]:
        for rows in instrumented():
            joined = np.concatenate([rows.instruments, rows.regressor], axis=-1)
            yield Rows(rows.regressor, joined, rows.target)

    covariance = covariance_under(both, weights, np.hstack([gain, -plain.inverse]), noise)
    return Shift(values - plain.values, covariance, np.sqrt(np.diag(own)), weakest)
