"""Positions and velocities within their stated errors are of one motion, and every breach is seen."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.recording import Recording
from steelyard.uncertainty import ErrorBounds, MotionContradictionError, with_velocities
from steelyard.uncertainty.error_bounds import require_one_motion

POSITION, VELOCITY = np.array([2e-5, 0.0]), np.array([1e-3, 2e-4])
AMPLITUDE, FREQUENCY = np.array([0.5, 0.2]), np.array([3.0, 9.0])


def motion(time: Array) -> tuple[Array, Array]:
    x = FREQUENCY * time[:, None]
    return AMPLITUDE * np.sin(x), AMPLITUDE * FREQUENCY * np.cos(x)


def errors() -> ErrorBounds:
    return ErrorBounds(
        ("a", "b"), *np.zeros((2, 2)), VELOCITY, POSITION, AMPLITUDE * FREQUENCY**2, np.zeros(1)
    )


def log(rng: np.random.Generator, pattern: str = "drawn") -> Recording:
    """A motion at uneven times, off by all that is stated."""
    time = np.cumsum(rng.uniform(0.5e-3, 2e-3, 1500))
    q, v = motion(time)
    signs = rng.choice([-1.0, 1.0], (2, *q.shape)) if pattern == "drawn" else np.ones((2, *q.shape))
    if pattern == "turning":
        signs[:, len(time) // 2 :] = -1.0
    return Recording(("a", "b"), time, q + POSITION * signs[0], v=v + VELOCITY * signs[1])


@pytest.mark.parametrize("pattern", ["drawn", "constant", "turning"])
def test_a_motion_within_its_errors_is_one_motion(pattern: str) -> None:
    for seed in range(5):
        require_one_motion(log(np.random.default_rng(seed), pattern), errors())


def smoothed(x: Array) -> Array:
    """A moving mean over 25 samples that looks back: late, as velocities from drives are."""
    total = np.cumsum(np.vstack([np.repeat(x[:1], 25, axis=0), x]), axis=0)
    return np.asarray((total[25:] - total[:-25]) / 25.0)


@pytest.mark.parametrize(
    ("spoilt", "said"),
    [
        (lambda r: r.with_channels(v=1.01 * r.v), "velocities add up"),
        (lambda r: r.with_channels(v=smoothed(r.v)), "velocities add up"),
        (lambda r: r.with_channels(q=np.rad2deg(r.q)), "velocities add up"),
        (lambda r: r.with_channels(q=np.round(r.q, 3)), "--position-error"),
        (lambda r: replace(r, time=1.01 * r.time), "velocities add up"),
        (lambda r: replace(r, time=0.5 * r.time, v=2.0 * motion(r.time)[1]), "--acceleration"),
    ],
)
def test_a_motion_beyond_its_errors_is_named_with_what_would_explain_it(
    spoilt: Callable[[Recording], Recording], said: str
) -> None:
    wrong = spoilt(log(np.random.default_rng(0)))
    with pytest.raises(MotionContradictionError) as caught:
        require_one_motion(wrong, errors())
    error = caught.value
    assert said in str(error)
    assert error.joint in ("a", "b")
    assert wrong.time[0] <= error.begin < error.end <= wrong.time[-1]


def test_errors_as_large_as_the_message_says_are_no_contradiction() -> None:
    rounded = log(np.random.default_rng(0))
    rounded = rounded.with_channels(q=np.round(rounded.q, 3))
    with pytest.raises(MotionContradictionError) as caught:
        require_one_motion(rounded, errors())
    least = float(re.search(r"off by (\S+) \(--position-error\)", str(caught.value)).group(1))  # type: ignore[union-attr]
    assert 4e-4 < least <= 5.3e-4  # rounded by half a step of 1e-3, and off before
    require_one_motion(rounded, replace(errors(), position=np.full(2, 1.1 * least)))


@pytest.mark.parametrize("position", [0.0, 1e-5, 1e-3])
def test_velocities_from_positions_are_off_by_no_more_than_they_say(position: float) -> None:
    rng = np.random.default_rng(1)
    exact = log(rng)
    q = motion(exact.time)[0]
    stated = replace(errors(), position=np.full(2, position))
    for signs in (
        rng.choice([-1.0, 1.0], q.shape),
        np.where(np.arange(len(q))[:, None] % 40 < 20, 1.0, -1.0),
    ):
        made, found = with_velocities(Recording(("a", "b"), exact.time, q + position * signs), stated)
        off = np.abs(made.channels["v"] - motion(made.time)[1])
        assert (off <= found.velocity).all()
        # About the square root of twice acceleration times error; no less where samples are farther apart.
        best = np.sqrt(2.0 * position * stated.acceleration) + 1e-3 * stated.acceleration
        assert (found.velocity < 2.0 * best).all()
    with pytest.raises(InputError, match="too short"):
        with_velocities(exact.rows(slice(0, 2)), stated)
