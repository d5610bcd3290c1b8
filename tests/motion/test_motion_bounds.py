"""Enclosures hold at every instant, and give next to nothing away."""

from __future__ import annotations

import math

import numpy as np
import pytest

from motion.motion_families import JOINTS, NAMES, families, fourier, spline
from steelyard.errors import InputError
from steelyard.motion import (
    AnyMotion,
    FourierMotion,
    SinusoidMotion,
    SplineMotion,
    between_samples,
    enclose,
    extent,
    quintic,
)
from steelyard.motion.composition import SumMotion
from steelyard.motion.spline import bezier

STEP = 1e-4  # 10 kHz
NAMED = ("q", "v", "a")


def dense(motion: AnyMotion) -> np.ndarray:
    """Times at 10 kHz, the breaks and a random crowd."""
    T = motion.duration
    crowd = np.random.default_rng(9).uniform(0.0, T, 3000)
    return np.unique(np.concatenate((np.arange(0.0, T, STEP), [T], motion.breaks, crowd)))


def adversarial() -> dict[str, AnyMotion]:
    rng = np.random.default_rng(0)
    l = np.arange(1, 21)  # noqa: E741
    uneven = np.concatenate(([0.0], np.cumsum([1e-3, 1.0, 1e-4, 0.3, 2e-2, 1e-3])))
    one = ("j",)
    return {
        "all harmonics peak between two grid points": FourierMotion(
            one, 2.0, [0.0], [np.cos(l * math.pi / 800)], [np.sin(l * math.pi / 800)]
        ),
        "one pure high harmonic": FourierMotion(one, 2.0, [0.0], [[0.0] * 19 + [1.0]], [[0.0] * 20]),
        "a whisper on a large offset": FourierMotion(one, 1.0, [1e6], [[1e-9, 2e-9]], [[3e-9, -1e-9]]),
        "standing still": FourierMotion(one, 1.0, [0.3], [[0.0]], [[0.0]]),
        "harmonics that cancel": FourierMotion(one, 1.0, [0.0], [[1e8, -1e8, 1.0]], [[-1e8, 1e8, 1e-3]]),
        "control points that alternate": SplineMotion(
            one, np.linspace(0.0, 1.0, 12), [np.tile([1.0, -1.0], 8)]
        ),
        "control points that are all the same": SplineMotion(one, [0.0, 0.5, 1.0], np.full((1, 7), -2.7)),
        "knots crowded unevenly": SplineMotion(one, uneven, rng.standard_normal((1, 11))),
        "knots crowded unevenly, cubic": SplineMotion(one, uneven, rng.standard_normal((1, 9)), 3),
        "a Chebyshev polynomial": bezier(one, 1.0, [chebyshev_control(9)]),
        "a spline far from zero": SplineMotion(one, uneven, 1e5 + 1e-6 * rng.standard_normal((1, 11))),
        "parts that cancel": SumMotion(
            (
                fourier(1),
                FourierMotion(
                    JOINTS, 4.0, *(-fourier(1).coefficients[:, s] for s in (0, slice(1, 6), slice(6, 11)))
                ),
            )
        ),
        "many turns": SinusoidMotion(one, 60.0, [1.0], [0.5], [40.0], [0.1]),
    }


def chebyshev_control(degree: int) -> np.ndarray:
    """Bernstein coefficients of T_d on [0, 1]: all its extrema are 1 in size, its coefficients far larger."""
    i = np.arange(degree + 1)
    return np.array([(-1.0) ** (degree - k) * math.comb(2 * degree, 2 * k) / math.comb(degree, k) for k in i])


MOTIONS = {**families(), **adversarial()}


@pytest.mark.parametrize("name", MOTIONS)
def test_no_instant_is_outside_and_little_is_given_away(name: str) -> None:
    motion = MOTIONS[name]
    t = dense(motion)
    bound = enclose(motion)
    for order, letter in enumerate(NAMED):
        seen = motion.derivative(t, order)
        low, high = getattr(bound.lower, letter)[0], getattr(bound.upper, letter)[0]
        assert (seen <= high).all()
        assert (seen >= low).all()
        # What sampling may have missed, and round-off on the size of the parts.
        missed = motion.derivative_bounds(order + 2).max(axis=0) * STEP**2 / 8.0
        allowed = 1e-5 * np.ptp(seen, axis=0) + missed + 3e-12 * motion.derivative_bounds(order).max(axis=0)
        assert (high - seen.max(axis=0) <= allowed).all()
        assert (seen.min(axis=0) - low <= allowed).all()


@pytest.mark.parametrize("name", MOTIONS)
def test_every_stretch_of_time_has_its_own_bounds(name: str) -> None:
    motion = MOTIONS[name]
    T = motion.duration
    edges = np.concatenate(([0.0], np.sort(np.random.default_rng(4).uniform(0.0, T, 30)), [T]))
    bound = enclose(motion, edges)
    t = dense(motion)
    k = np.clip(np.searchsorted(edges, t, side="right") - 1, 0, 30)
    for order, letter in enumerate(NAMED):
        seen = motion.derivative(t, order)
        assert (seen <= getattr(bound.upper, letter)[k]).all()
        assert (seen >= getattr(bound.lower, letter)[k]).all()
        # At the edges both neighbours hold the value.
        at = motion.derivative(edges[1:-1], order)
        for side in (slice(None, -1), slice(1, None)):
            assert (at <= getattr(bound.upper, letter)[side]).all()
            assert (at >= getattr(bound.lower, letter)[side]).all()
        whole = enclose(motion)
        widest = np.ptp(seen, axis=0) * 1e-5 + 1e-9 * (1.0 + np.abs(seen).max(axis=0))
        assert (getattr(bound.upper, letter).max(axis=0) <= getattr(whole.upper, letter)[0] + widest).all()


def test_random_splines_and_series_never_escape() -> None:
    rng = np.random.default_rng(21)
    for seed in range(25):
        duration = float(10 ** rng.uniform(-2, 1))
        made = (
            spline(seed, 3 + seed % 4, 1 + seed % 6, duration),
            fourier(seed, 1 + seed % 12, duration),
        )
        for motion in made:
            t = rng.uniform(0.0, duration, 4000)
            bound, goes = enclose(motion), extent(motion)
            for order, letter in enumerate(NAMED):
                seen = motion.derivative(t, order)
                assert (seen <= getattr(bound.upper, letter)[0]).all()
                assert (seen >= getattr(bound.lower, letter)[0]).all()
            at = motion.sample(t)
            assert (at.q <= goes.upper).all()
            assert (at.q >= goes.lower).all()
            assert (np.abs(at.v) <= goes.velocity).all()
            assert (np.abs(at.a) <= goes.acceleration).all()


def test_the_extrema_of_a_quintic_between_two_poses_are_the_textbooks() -> None:
    # Minimum jerk over distance D in time T: peak speed 15/8 D/T, peak acceleration 10/√3 D/T².
    distance, T = np.array([1.0, -0.4, 2.5]), 0.8
    motion = quintic(JOINTS, T, np.zeros(3), distance)
    goes = extent(motion)
    np.testing.assert_allclose(goes.velocity, 15 / 8 * np.abs(distance) / T, rtol=1e-5)
    np.testing.assert_allclose(goes.acceleration, 10 / math.sqrt(3) * np.abs(distance) / T**2, rtol=1e-5)
    assert (goes.velocity >= 15 / 8 * np.abs(distance) / T).all()
    np.testing.assert_allclose(goes.upper, np.maximum(distance, 0.0), atol=1e-6)
    np.testing.assert_allclose(goes.lower, np.minimum(distance, 0.0), atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_derivative_bounds_hold_piece_by_piece(name: str) -> None:
    motion = families(3)[name]
    breaks = motion.breaks
    assert breaks[0] == 0.0
    assert breaks[-1] == motion.duration
    assert (np.diff(breaks) > 0.0).all()
    t = np.random.default_rng(2).uniform(0.0, motion.duration, 5000)
    piece = np.searchsorted(breaks, t, side="right") - 1
    for order in (0, 1, 2, 3, 5, 10):
        bounds = motion.derivative_bounds(order)
        assert bounds.shape == (len(breaks) - 1, len(JOINTS))
        assert (np.abs(motion.derivative(t, order)) <= bounds[piece] * (1 + 1e-9)).all()


def test_the_factor_between_samples_is_reached_and_not_exceeded() -> None:
    for harmonics, samples in ((1, 3), (2, 9), (5, 60), (5, 200)):
        factor = between_samples(harmonics, samples)
        # cos(ω L t) with its peak halfway between two samples attains the bound.
        t = (np.arange(samples) + 0.5) / samples
        seen = np.abs(np.cos(2 * math.pi * harmonics * t)).max()
        assert seen * factor >= 1.0 - 1e-12
        rng = np.random.default_rng(harmonics)
        grid, fine = np.arange(samples) / samples, np.linspace(0.0, 1.0, 4001)
        for _ in range(50):
            a, b = rng.standard_normal((2, 1, harmonics))
            motion = FourierMotion(("j",), 1.0, [0.0], a, b)
            on_grid = np.abs(motion.sample(grid).v).max()
            assert np.abs(motion.sample(fine).v).max() <= factor * on_grid
    with pytest.raises(InputError, match="samples: must be more than 10, got 10"):
        between_samples(5, 10)


@pytest.mark.parametrize("edges", [[0.0], [0.0, 0.0], [1.0, 0.5], [-0.1, 1.0], [0.0, 4.1]])
def test_edges_that_are_none_are_refused(edges: list[float]) -> None:
    with pytest.raises(InputError, match="edges: must be two or more times that increase"):
        enclose(spline(0), edges)
