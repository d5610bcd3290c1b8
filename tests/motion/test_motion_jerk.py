"""The bound of the jerk holds at every instant, gives little away, and is kept by slowing."""

from __future__ import annotations

import numpy as np
import pytest

from motion.motion_families import NAMES, families
from steelyard.errors import InputError
from steelyard.motion import AnyMotion, largest_jerk, slowdown_within_jerk, slowed_within_jerk

STEP = 1e-4  # 10 kHz


def seen(motion: AnyMotion) -> np.ndarray:
    """Differences of the acceleration at 10 kHz: the mean jerk over each step, shape (nv,)."""
    a = motion.sample(np.arange(0.0, motion.duration, STEP)).a
    return np.abs(np.diff(a, axis=0)).max(axis=0) / STEP


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", NAMES)
def test_no_difference_of_the_acceleration_exceeds_the_bound_and_it_is_nearly_reached(
    name: str, seed: int
) -> None:
    motion = families(seed)[name]
    bound, differences = largest_jerk(motion), seen(motion)
    noise = 1e-14 / STEP * (1.0 + np.abs(motion.derivative_bounds(2)).max(axis=0))
    assert (differences <= bound + noise).all()
    # A jump of the jerk lies between two samples, and the ends of steep pieces are not sampled.
    assert (bound <= 1.01 * differences + noise).all()
    between = np.linspace(0.0, motion.duration, 20_011)
    assert (np.abs(motion.derivative(between, 3)) <= bound * (1.0 + 1e-12)).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_slowed_motion_keeps_the_limit_and_is_no_slower_than_it_must_be(name: str) -> None:
    motion = families()[name]
    limit = np.array([np.inf, 0.3, 1.0]) * np.maximum(largest_jerk(motion), 1.0)
    kept = slowed_within_jerk(motion, limit)
    assert (largest_jerk(kept) <= limit).all()
    assert (seen(kept) <= limit * (1.0 + 1e-9)).all()
    share = (largest_jerk(motion) / limit).max()
    assert kept.duration / motion.duration == pytest.approx(max(1.0, np.cbrt(share)), rel=1e-5)
    assert slowdown_within_jerk(kept, limit) == 1.0
    assert slowed_within_jerk(kept, limit) is kept


@pytest.mark.parametrize("limit", [0.0, -1.0, np.nan])
def test_a_limit_must_be_positive(limit: float) -> None:
    with pytest.raises(InputError):
        slowdown_within_jerk(families()["fourier"], [1.0, limit, 1.0])
