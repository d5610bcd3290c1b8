"""Every family: derivatives in time and in coefficients are exact, and shapes are the textbook's."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from motion.motion_families import JOINTS, NAMES, families, fourier, sinusoid, spline
from steelyard.errors import InputError
from steelyard.motion import AnyMotion, LinearMotion, SinusoidMotion, SplineMotion
from steelyard.motion.spline import bezier

# Central differences of eighth order: f' ≈ Σ w_k (f(t + k h) - f(t - k h)) / h.
WEIGHTS = [float(Fraction(n, d)) for n, d in ((4, 5), (-1, 5), (4, 105), (-1, 280))]


def differences(motion: AnyMotion, t: np.ndarray, order: int, h: float) -> np.ndarray:
    total = np.zeros((len(t), len(JOINTS)))
    for k, weight in enumerate(WEIGHTS, start=1):
        total += weight * (motion.derivative(t + k * h, order) - motion.derivative(t - k * h, order))
    return total / h


@pytest.mark.parametrize("name", NAMES)
def test_each_derivative_is_that_of_the_one_before(name: str) -> None:
    motion, h = families()[name], 2e-3
    t = np.random.default_rng(1).uniform(5 * h, motion.duration - 5 * h, 400)
    breaks = motion.breaks[1:-1]
    if len(breaks):  # a polynomial piece is differentiated within itself
        t = t[np.abs(t[:, None] - breaks).min(axis=1) > 5 * h]
    assert len(t) > 20
    for order in range(4):
        exact = motion.derivative(t, order + 1)
        size = 1.0 + np.abs(motion.derivative(t, order)).max() / h
        np.testing.assert_allclose(differences(motion, t, order, h), exact, rtol=0, atol=2e-12 * size)


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_is_the_first_three_derivatives(name: str) -> None:
    motion = families()[name]
    t = np.linspace(0.0, motion.duration, 50)
    at = motion.sample(t)
    for order, values in enumerate((at.q, at.v, at.a)):
        np.testing.assert_array_equal(values, motion.derivative(t, order))
        assert not values.flags.writeable


@pytest.mark.parametrize("name", NAMES)
def test_acceleration_is_continuous(name: str) -> None:
    motion = families()[name]
    inner, step = motion.breaks[1:-1], 1e-9
    if len(inner) == 0:
        return
    for order in range(3):
        jump = motion.derivative(inner + step, order) - motion.derivative(inner - step, order)
        slope = motion.derivative_bounds(order + 1).max(axis=0)
        assert (np.abs(jump) <= 2.001 * step * slope + 1e-9).all()


@pytest.mark.parametrize(
    "motion", [fourier(4), spline(4, 3), spline(4, 5)], ids=["fourier", "cubic", "quintic"]
)
def test_the_basis_is_the_derivative_in_the_coefficients(motion: LinearMotion) -> None:
    t = np.linspace(0.0, motion.duration, 23)
    basis = motion.basis(t)
    columns = (basis.q, basis.v, basis.a, basis.jerk)
    x = np.array(motion.coefficients)
    for order, B in enumerate(columns):
        assert B.shape == (23, x.shape[1])
        size = np.abs(B).max()
        np.testing.assert_allclose(B @ x.T, motion.derivative(t, order), rtol=0, atol=1e-12 * size)
        for j, k in ((0, 0), (1, 3), (2, x.shape[1] - 1)):
            moved = x.copy()
            moved[j, k] += 0.25  # linear, so any step will do
            change = motion.with_coefficients(moved).derivative(t, order) - motion.derivative(t, order)
            np.testing.assert_allclose(change[:, j] / 0.25, B[:, k], rtol=0, atol=1e-12 * size)
            assert not np.delete(change, j, axis=1).any()


def cox_de_boor(knots: list[float], i: int, degree: int, t: float) -> float:
    """The textbook's recursion."""
    if degree == 0:
        return 1.0 if knots[i] <= t < knots[i + 1] else 0.0
    value = 0.0
    if knots[i + degree] > knots[i]:
        value += (t - knots[i]) / (knots[i + degree] - knots[i]) * cox_de_boor(knots, i, degree - 1, t)
    if knots[i + degree + 1] > knots[i + 1]:
        share = (knots[i + degree + 1] - t) / (knots[i + degree + 1] - knots[i + 1])
        value += share * cox_de_boor(knots, i + 1, degree - 1, t)
    return value


@pytest.mark.parametrize("degree", [3, 5])
def test_a_spline_is_what_the_textbook_recursion_gives(degree: int) -> None:
    motion = spline(2, degree, pieces=4)
    inner = motion.breaks.tolist()
    knots = [inner[0]] * degree + inner + [inner[-1]] * degree
    for t in np.random.default_rng(3).uniform(0.0, motion.duration, 8):
        row = [cox_de_boor(knots, i, degree, float(t)) for i in range(4 + degree)]
        np.testing.assert_allclose(motion.basis([t]).q[0], row, atol=1e-14)
        np.testing.assert_allclose(motion.sample([t]).q[0], motion.control @ row, atol=1e-13)


def test_a_bezier_curve_is_the_sum_of_bernstein_polynomials() -> None:
    control = np.random.default_rng(5).standard_normal((3, 6))
    motion = bezier(JOINTS, 2.5, control)
    for t in (0.0, 0.4, 1.9, 2.5):
        s = t / 2.5
        row = [math.comb(5, i) * s**i * (1 - s) ** (5 - i) for i in range(6)]
        np.testing.assert_allclose(motion.sample([t]).q[0], control @ row, atol=1e-14)
    np.testing.assert_allclose(
        motion.sample([0.0]).v[0], 5 / 2.5 * (control[:, 1] - control[:, 0]), atol=1e-13
    )


def test_a_sinusoid_is_the_one_the_paper_writes_down() -> None:
    frequency = np.array([1.0, 2.5, 5.0])
    motion = SinusoidMotion(JOINTS, 3.0, np.zeros(3), np.full(3, 0.3), frequency, np.zeros(3))
    for t in (0.0, 0.3, 2.9):
        np.testing.assert_allclose(
            motion.sample([t]).q[0], [0.3 * math.sin(f * t) for f in frequency], atol=1e-15
        )


def test_beyond_its_ends_a_spline_stands_still_and_a_series_goes_on() -> None:
    motion = spline(1)
    at = motion.sample([-1.0, motion.duration + 1.0])
    np.testing.assert_array_equal(at.q, motion.sample([0.0, motion.duration]).q)
    assert not at.v.any()
    assert not at.a.any()
    series = fourier(1)
    once, again = series.sample([0.7]).q, series.sample([0.7 + series.period]).q
    np.testing.assert_allclose(once, again, atol=1e-13)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"degree": 2}, "degree: must be 3 to 9, got 2"),
        ({"breaks": [0.0]}, "breaks: must be two or more"),
        ({"breaks": [0.1, 1.0]}, "start at 0 s"),
        ({"breaks": [0.0, 1.0, 1.0]}, "breaks: must be two or more, increase"),
        ({"control": np.zeros((1, 5))}, r"control: expected shape \(1, 6\), got \(1, 5\)"),
        ({"control": np.full((1, 6), np.nan)}, "control: must be finite"),
        ({"joints": ()}, "joints: joint names must be there"),
        ({"schema": 3}, "schema: layout 3 is unknown"),
    ],
)
def test_splines_that_are_none_are_refused_by_name(change: dict[str, object], words: str) -> None:
    good = {"joints": ("a",), "breaks": [0.0, 1.0], "control": np.zeros((1, 6))}
    with pytest.raises(InputError, match=words):
        SplineMotion(**(good | change))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"duration": 0.0}, "duration: must be positive"),
        ({"frequency": [-1.0]}, "frequency: must be zero or more"),
        ({"amplitude": [1.0, 2.0]}, "amplitude: expected shape"),
        ({"joints": ("a", "a")}, "joints: joint names must be there and differ"),
        ({"schema": 0}, "schema: layout 0"),
    ],
)
def test_sinusoids_that_are_none_are_refused_by_name(change: dict[str, object], words: str) -> None:
    one = [1.0]
    good = {
        "joints": ("a",),
        "duration": 1.0,
        "centre": one,
        "amplitude": one,
        "frequency": one,
        "phase": one,
    }
    with pytest.raises(InputError, match=words):
        SinusoidMotion(**(good | change))


def test_a_negative_order_is_refused() -> None:
    for motion in (fourier(0), spline(0), sinusoid(0), families()["sum"]):
        with pytest.raises(InputError, match="order: must be zero or more"):
            motion.derivative([0.0], -1)
