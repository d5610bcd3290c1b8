"""The limits of Tian et al. (2024) on coefficients: corrected, sufficient, and stricter than need be."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from motion.motion_families import JOINTS, fourier
from paper_003.coefficient_limits import coefficient_margins
from steelyard.motion import FourierMotion, extent
from steelyard.motion.conditions import rest_to_rest

LOWER, UPPER = np.array([-2.0, -0.5, -3.0]), np.array([1.0, 2.5, 3.0])
SPEED = np.array([1.5, 2.0, 1.0])


def scaled(motion: FourierMotion, factor: float) -> FourierMotion:
    return replace(motion, sine=factor * motion.sine, cosine=factor * motion.cosine)


def largest_scale(motion: FourierMotion) -> float:
    """By bisection, with nothing but the sign of the margins."""
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        fits = coefficient_margins(scaled(motion, middle), LOWER, UPPER, SPEED).smallest >= 0.0
        low, high = (middle, high) if fits else (low, middle)
    return low


@pytest.mark.parametrize("seed", range(20))
def test_coefficients_within_the_paper_s_limits_keep_the_limits_at_all_times(seed: int) -> None:
    motion = replace(fourier(seed, 1 + seed % 6), offset=np.array([-0.4, 0.9, 0.0]))
    motion = scaled(motion, largest_scale(motion))
    seen = motion.sample(np.linspace(0.0, motion.period, 20_001))
    assert (seen.q >= LOWER - 1e-12).all()
    assert (seen.q <= UPPER + 1e-12).all()
    assert (np.abs(seen.v) <= SPEED + 1e-12).all()


def test_limits_in_time_allow_more_motion_than_limits_on_coefficients() -> None:
    gained = []
    for seed in range(20):
        motion = replace(fourier(seed), offset=np.zeros(3))
        paper = scaled(motion, largest_scale(motion))
        goes = extent(paper)
        room = [UPPER / goes.upper, LOWER / goes.lower, SPEED / goes.velocity]
        gained.append(float(np.min(room)))
    assert min(gained) >= 1.0
    assert np.median(gained) > 1.2


def test_rest_as_corrected_is_rest_at_zero() -> None:
    # (9c): with zero offset the motion starts at zero, at rest; judged by the motion itself.
    motion = rest_to_rest(fourier(2), np.zeros(3))
    assert not np.allclose(motion.offset, 0.0)
    rest = coefficient_margins(motion, LOWER, UPPER, SPEED).rest
    np.testing.assert_allclose(rest[:, 1:], 0.0, atol=1e-14)
    w = 2 * math.pi / motion.period
    np.testing.assert_allclose(rest[:, 0] / w, motion.offset, atol=1e-14)
    anything = fourier(7)
    at, rest = anything.sample([0.0]), coefficient_margins(anything, LOWER, UPPER, SPEED).rest
    w = 2 * math.pi / anything.period
    np.testing.assert_allclose(rest[:, 0], w * (anything.offset - at.q[0]), atol=1e-13)
    np.testing.assert_allclose(rest[:, 1], at.v[0], atol=1e-13)
    np.testing.assert_allclose(rest[:, 2], at.a[0] / w, atol=1e-13)


def test_the_margins_are_the_paper_s_sums() -> None:
    a, b = np.array([[0.3, -0.4]]), np.array([[0.4, 0.3]])
    motion = FourierMotion(("j",), math.pi, np.zeros(1), a, b)  # ω = 2
    margins = coefficient_margins(motion, [-1.5], [1.0], [2.0])
    # amplitudes 0.5 and 0.5: Σ 1/l = 0.75 against ω·min(1, 1.5) = 2; Σ = 1 against 2
    np.testing.assert_allclose(margins.position, [1.25])
    np.testing.assert_allclose(margins.velocity, [1.0])
    # (9f): min(ω l q_max / L, v_max) = 1, 2; (9g): max(ω l q_min / L, -v_max) = -1.5, -2
    np.testing.assert_allclose(margins.upper, [[0.7, 2.4, 0.6, 1.7]])
    np.testing.assert_allclose(margins.lower, [[1.8, 1.6, 1.9, 2.3]])
    assert margins.smallest == pytest.approx(0.6)
    # The nearer limit counts, on either side and from the offset: ω·min(0.8, 0.7) and ω·min(0.5, 1.3).
    raised = replace(motion, offset=np.array([0.2]))
    np.testing.assert_allclose(coefficient_margins(raised, [-0.5], [1.0], [2.0]).position, [0.65])
    np.testing.assert_allclose(coefficient_margins(raised, [-1.1], [0.7], [2.0]).position, [0.25])


def test_joints_without_limits_have_infinite_margins() -> None:
    far = np.full(3, np.inf)
    margins = coefficient_margins(fourier(1), -far, far, far)
    assert len(JOINTS) == len(margins.position)
    assert margins.smallest == math.inf
