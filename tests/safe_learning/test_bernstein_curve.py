"""A Bezier plan evaluated from its control points is the spline it is, derivatives and bounds included."""

from __future__ import annotations

from itertools import pairwise

import mpmath
import numpy as np
import pytest

from steelyard.motion.spline import bezier
from steelyard.safe_learning.planning.certifier import BernsteinCurve


@pytest.mark.parametrize("degree", [3, 5, 7])
@pytest.mark.parametrize("scale", [1.0, 1e-6])
def test_derivatives_are_those_of_the_curve_to_twelve_digits_of_their_bounds(
    degree: int, scale: float
) -> None:
    rng = np.random.default_rng(degree)
    plan = bezier(("a", "b"), 2.7, rng.normal(size=(2, 1)) + scale * rng.normal(size=(2, degree + 1)))
    curve, t = BernsteinCurve(plan), np.linspace(0.0, 2.7, 40)
    assert (curve.digest, curve.duration, curve.joints) == (plan.digest, plan.duration, plan.joints)
    for order in range(degree + 3):
        bound = curve.derivative_bounds(order)
        assert bound.shape == (1, 2)
        assert (np.abs(curve.derivative(t, order)) <= bound * (1.0 + 1e-13)).all()
        assert curve.derivative_bounds(order) == pytest.approx(plan.derivative_bounds(order), rel=1e-9)
        for k in (0, 13, 39):
            truth = exact_derivative(plan.control, 2.7, float(t[k]), order)
            assert (np.abs(curve.derivative(t[k : k + 1], order)[0] - truth) <= 1e-12 * bound).all()


def exact_derivative(control: np.ndarray, duration: float, t: float, order: int) -> np.ndarray:
    """De Casteljau's steps on differences, in forty digits."""
    with mpmath.workdps(40):
        T = mpmath.mpf(duration)
        s, rows = mpmath.mpf(t) / T, []
        for joint in control:
            c = [mpmath.mpf(float(x)) for x in joint]
            for _ in range(order):
                c = [(b - a) * (len(c) - 1) / T for a, b in pairwise(c)]
            while len(c) > 1:
                c = [a * (1 - s) + b * s for a, b in pairwise(c)]
            rows.append(float(c[0]) if c else 0.0)
        return np.array(rows)
