"""What is worth saying of estimated load friction."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.estimation.load_groups import LoadGroups
from steelyard.finding import Finding, Severity
from steelyard.problem import Problem

SURE = 3.0
"""Deviations from zero at which a coefficient is taken for real."""
MOST = 0.5
"""Friction per load of a joint beyond which something else is taken for it; gears have 0.02 to 0.3."""

_REMEDIES = {
    "hidden-load-friction": "move the joint both ways under loads that differ",
    "load-friction-near-zero": "leave 'load' out, or record heavier loads",
    "impossible-load-friction": "another effect is mistaken for friction that grows with the load",
}


def left_out_finding(name: str, value: float) -> Finding:
    """Say that a joint is taken to have no friction that grows with the load.

    Args:
        name: of the coefficient.
        value: which the data alone would give it, dimensionless.

    Returns:
        The finding.
    """
    message = (
        f"the data alone gives {value:.3g}, which no gear has (0.02 to 0.3): the joint carries too little to "
        "show friction that grows with its load, and something else would be taken for it. It is taken as 0."
    )
    return Finding(Severity.WARNING, "load-friction-left-out", message, name)


def load_findings(
    problem: Problem, groups: LoadGroups, beta: Array, deviations: Array
) -> tuple[Finding, ...]:
    """Name the coefficients that the motion hides, that may as well be zero, or that no gear has.

    Args:
        problem: the question.
        groups: its compressed samples.
        beta: base parameters, shape (b,), SI.
        deviations: of beta, infinite where unknown, shape (b,), SI.

    Returns:
        One finding for each such coefficient.
    """
    found = []
    for place in groups.loads[groups.loads >= 0]:
        name, value, sd = problem.base.names[place], beta[place], deviations[place]
        if np.isinf(sd):
            code, text = "hidden-load-friction", "the motion does not show it"
        elif abs(value) <= SURE * sd:
            code, text = "load-friction-near-zero", f"{value:.3g} ± {sd:.2g} cannot be told from zero"
        elif value < 0.0 or value >= 1.0:
            code, text = "impossible-load-friction", f"{value:.3g} ± {sd:.2g} is outside of [0, 1)"
        else:
            continue
        severity = Severity.WARNING if code == "impossible-load-friction" else Severity.INFO
        found.append(Finding(severity, code, f"{text}: {_REMEDIES[code]}.", name))
    return tuple(found)
