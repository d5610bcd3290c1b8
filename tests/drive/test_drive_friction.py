"""Friction beyond the linear drive: its formula, its slopes, and that it never creates energy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from steelyard.drive import (
    Drive,
    StribeckShape,
    asymmetric_column,
    load_column,
    stribeck_column,
    stribeck_shape_slopes,
    stribeck_velocity_slope,
)
from steelyard.errors import InputError

SPEEDS = np.array([-3.0, -0.4, -1e-3, 1e-9, 0.02, 0.7, 2.5])
SHAPES = [(0.1, 2.0), (0.5, 1.0), (0.3, 0.5), (1.5, 4.0)]


def by_hand(v: float, velocity: float, exponent: float) -> float:
    return 0.0 if v == 0 else math.copysign(math.exp(-((abs(v) / velocity) ** exponent)), v)


@pytest.mark.parametrize(("velocity", "exponent"), SHAPES)
def test_the_stribeck_column_is_its_formula_and_odd(velocity: float, exponent: float) -> None:
    shape = np.array([velocity]), np.array([exponent])
    v = SPEEDS[:, None]
    expected = [[by_hand(x, velocity, exponent)] for x in SPEEDS]
    np.testing.assert_allclose(stribeck_column(v, *shape), expected, rtol=1e-14)
    np.testing.assert_array_equal(stribeck_column(-v, *shape), -stribeck_column(v, *shape))


def test_static_friction_is_all_there_at_creep_and_gone_at_speed() -> None:
    shape = np.array([0.1]), np.array([2.0])
    assert stribeck_column([1e-12], *shape)[0] == pytest.approx(1.0, abs=1e-15)
    assert stribeck_column([0.1], *shape)[0] == pytest.approx(1 / math.e)
    assert stribeck_column([10.0], *shape)[0] < 1e-300


@pytest.mark.parametrize(("velocity", "exponent"), SHAPES)
def test_the_slopes_are_those_of_differences(velocity: float, exponent: float) -> None:
    def central(f: object, x: float) -> float:
        h = 1e-6 * abs(x)
        return (f(x + h) - f(x - h)) / (2 * h)  # type: ignore[operator]

    shape = np.array([velocity]), np.array([exponent])
    in_velocity, in_exponent = stribeck_shape_slopes(SPEEDS[:, None], *shape)
    in_v = stribeck_velocity_slope(SPEEDS[:, None], *shape)
    for n, v in enumerate(SPEEDS):
        expected = [
            central(lambda x: by_hand(x, velocity, exponent), v),
            central(lambda x, v=v: by_hand(v, x, exponent), velocity),
            central(lambda x, v=v: by_hand(v, velocity, x), exponent),
        ]
        got = [in_v[n, 0], in_velocity[n, 0], in_exponent[n, 0]]
        # The difference of two numbers near one loses what lies below 1e-16 over its step.
        steps = 1e-6 * np.abs([v, velocity, exponent])
        np.testing.assert_allclose(got, expected, rtol=1e-7, atol=float((1e-15 / steps).max()))


def test_at_rest_and_at_any_speed_every_number_is_finite() -> None:
    v = np.array([[0.0, -0.0, 5e-324, 1e300, -1e300]])
    shape = np.full(5, 1e-3), np.array([0.5, 1.0, 2.0, 9.0, 0.1])
    everything = [stribeck_column(v, *shape), stribeck_velocity_slope(v, *shape)]
    everything += stribeck_shape_slopes(v, *shape)
    for numbers in everything:
        assert np.isfinite(numbers).all()
        assert not numbers[0, :2].any()


@pytest.mark.parametrize("seed", range(20))
def test_friction_without_offset_only_takes_energy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    viscous, coulomb, stribeck = rng.uniform(0, 3, 3)
    asymmetric, load = rng.uniform(-viscous, viscous), rng.uniform(0, 0.99)
    shape = StribeckShape(rng.uniform(0.01, 1), rng.uniform(0.3, 4))
    Drive(viscous, coulomb, None, None, stribeck, asymmetric, load, shape)
    v, rigid = rng.uniform(-5, 5, (500, 1)), rng.uniform(-50, 50, (500, 1))
    fade = stribeck_column(v, np.array([shape.velocity]), np.array([shape.exponent]))
    tau = viscous * v + coulomb * np.sign(v) + stribeck * fade
    tau = tau + asymmetric * asymmetric_column(v) + load * load_column(rigid, v)
    assert (tau * v >= 0).all()


def test_levels_and_slopes_by_direction_are_coulomb_offset_viscous_and_asymmetric() -> None:
    forwards, backwards = (0.9, 2.0), (0.5, 1.2)  # level, slope
    v = np.linspace(-2, 2, 40)
    expected = np.where(v > 0, forwards[0] + forwards[1] * v, -backwards[0] + backwards[1] * v)
    Fc, Fo = (forwards[0] + backwards[0]) / 2, (forwards[0] - backwards[0]) / 2
    Fv, Fa = (forwards[1] + backwards[1]) / 2, (forwards[1] - backwards[1]) / 2
    got = Fv * v + Fc * np.sign(v) + Fo + Fa * asymmetric_column(v)
    np.testing.assert_allclose(got, expected, rtol=1e-14)


def test_the_columns_of_a_joint_that_moves_both_ways_are_independent() -> None:
    v = np.linspace(-2, 2, 60)
    fade = stribeck_column(v[:, None], np.array([0.3]), np.array([2.0]))[:, 0]
    columns = np.column_stack([v, np.sign(v), np.ones(60), fade, asymmetric_column(v)])
    assert np.linalg.matrix_rank(columns) == 5
    assert np.linalg.matrix_rank(columns[v > 0]) == 3  # one way, |v| is v and the sign is the offset
    assert np.linalg.matrix_rank(np.column_stack([columns, np.abs(np.sign(v))])) == 5


def test_friction_of_a_load_has_the_size_of_the_load_and_the_sign_of_the_motion() -> None:
    np.testing.assert_array_equal(load_column([3.0, -3.0, 3.0, -3.0], [1.0, 2.0, -1.0, 0.0]), [3, 3, -3, 0])


@pytest.mark.parametrize(
    ("velocity", "exponent"), [(0.0, 2.0), (-1.0, 2.0), (math.nan, 2.0), (0.1, math.inf)]
)
def test_an_impossible_shape_is_refused(velocity: float, exponent: float) -> None:
    with pytest.raises(InputError, match=r"^Stribeck (velocity|exponent): must be positive and finite"):
        StribeckShape(velocity, exponent)


def test_what_would_create_energy_or_lock_the_gear_is_refused() -> None:
    with pytest.raises(InputError, match=r"^asymmetric: of -0\.4 exceeds the viscous friction of 0\.3"):
        Drive(viscous=0.3, asymmetric=-0.4)
    with pytest.raises(InputError, match=r"^load: must be less than 1, got 1\. At 1 the gear locks itself"):
        Drive(load=1.0)
    with pytest.raises(InputError, match=r"^stribeck: cannot be negative"):
        Drive(stribeck=-0.1, stribeck_shape=StribeckShape(0.1, 2.0))
    with pytest.raises(InputError, match=r"^stribeck: is 0\.1 N·m, but no shape says over which speeds"):
        Drive(stribeck=0.1)
