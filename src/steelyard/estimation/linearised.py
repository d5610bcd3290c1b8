"""Questions that are not about linear torque equations, put as if they were."""

from __future__ import annotations

from dataclasses import replace

from steelyard.estimation.load_rows import tangent_rows
from steelyard.estimation.row_triangles import row_triangles
from steelyard.problem import Estimate, Problem


def linearised(problem: Problem, estimate: Estimate) -> Problem:
    r"""The question with load friction as a linear one near an estimate: $J\phi = \tau + F_l\,|r|\,s_v$.

    Its equations are those of a Gauss-Newton step, which the estimate solves, so `with_full_set` and every
    estimator that takes compressed equations can be asked. The answer of another estimator holds near the
    estimate: linearise there again.

    Args:
        problem: the question, with its samples.
        estimate: its answer by `fit_load_friction`.

    Returns:
        The problem with compressed equations.
    """
    return replace(problem, compressed=row_triangles(tangent_rows(problem, estimate.representative)))
