"""Questions that are not about linear torque equations, put as if they were."""

from __future__ import annotations

from dataclasses import replace

from steelyard.estimation.load_rows import tangent_rows
from steelyard.estimation.momentum_rows import integrated_equations
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


def integrated(problem: Problem, window: float) -> Problem:
    r"""The question without accelerations as a linear one about impulses over windows, see `fit_momentum`.

    $$\Big[ W_m \big|_{t_i}^{t_{i+h}} - \int_{t_i}^{t_{i+h}} W_c\,dt \Big]\,\phi
      = \int_{t_i}^{t_{i+h}} \tau\,dt$$

    `with_full_set` and every estimator that takes compressed equations can be asked; residuals are impulses
    in N·m·s or N·s, and weights one over that.

    Args:
        problem: the question, with its samples; their accelerations are not looked at.
        window: length of a window, s; at least one interval of the log.

    Returns:
        The problem with compressed equations, one for each window.

    Raises:
        InputError: the window is shorter than an interval or longer than a motion, the layout has a load
            term, or the samples were not kept.
    """
    return replace(problem, compressed=row_triangles(integrated_equations(problem, window)))
