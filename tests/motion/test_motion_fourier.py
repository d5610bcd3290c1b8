"""Fourier motions: exact derivatives in time and coefficients, rest, bounds that hold for all time."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from steelyard.errors import InputError
from steelyard.motion import FourierMotion, extent
from steelyard.motion.conditions import rest_to_rest
from steelyard.motion.fourier import fourier_basis

JOINTS = ("shoulder", "elbow", "slider")


def drawn(seed: int, harmonics: int = 5, period: float = 10.0) -> FourierMotion:
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((2, len(JOINTS), harmonics))
    return FourierMotion(JOINTS, period, rng.standard_normal(len(JOINTS)), a, b)


@pytest.mark.parametrize("harmonics", [1, 2, 5, 9])
def test_the_series_is_the_sum_the_paper_writes_down(harmonics: int) -> None:
    motion = drawn(harmonics, harmonics, period=7.3)
    times = np.random.default_rng(0).uniform(-3.0, 20.0, 12)
    sample = motion.sample(times)
    w = 2 * math.pi / 7.3
    for n, t in enumerate(times):
        for j in range(len(JOINTS)):
            q, v, acc = float(motion.offset[j]), 0.0, 0.0
            for k in range(harmonics):
                l, a, b = k + 1, motion.sine[j, k], motion.cosine[j, k]  # noqa: E741
                q += a / (w * l) * math.sin(w * l * t) - b / (w * l) * math.cos(w * l * t)
                v += a * math.cos(w * l * t) + b * math.sin(w * l * t)
                acc += w * l * (b * math.cos(w * l * t) - a * math.sin(w * l * t))
            assert sample.q[n, j] == pytest.approx(q, rel=1e-12, abs=1e-12)
            assert sample.v[n, j] == pytest.approx(v, rel=1e-12, abs=1e-12)
            assert sample.a[n, j] == pytest.approx(acc, rel=1e-12, abs=1e-12)


def test_velocity_and_acceleration_are_the_derivatives_of_position() -> None:
    motion, h = drawn(3), 1e-5
    t = np.linspace(0.0, 10.0, 40)
    before, at, after = (motion.sample(t + s * h) for s in (-1, 0, 1))
    np.testing.assert_allclose((after.q - before.q) / (2 * h), at.v, rtol=0, atol=1e-8)
    np.testing.assert_allclose((after.v - before.v) / (2 * h), at.a, rtol=0, atol=1e-8)


def test_the_basis_is_the_derivative_in_the_coefficients() -> None:
    motion = drawn(4)
    t = np.linspace(0.0, 9.0, 11)
    basis, at = motion.basis(t), motion.sample(t)
    step = 0.25  # the motion is linear in them, so any step will do
    for column in range(2 * motion.harmonics + 1):
        for j in range(len(JOINTS)):
            x = motion.coefficients
            x[j, column] += step
            moved = replace(motion, offset=x[:, 0], sine=x[:, 1:6], cosine=x[:, 6:]).sample(t)
            for name in ("q", "v", "a"):
                change = (getattr(moved, name) - getattr(at, name)) / step
                np.testing.assert_allclose(change[:, j], getattr(basis, name)[:, column], atol=1e-12)
                assert not np.delete(change, j, axis=1).any()


@pytest.mark.parametrize("harmonics", [2, 3, 5, 12])
def test_a_projected_motion_rests_at_both_ends_in_the_start_pose(harmonics: int) -> None:
    start = np.array([0.3, -1.2, 0.05])
    motion = rest_to_rest(drawn(harmonics, harmonics), start)
    ends = motion.sample([0.0, motion.period])
    np.testing.assert_allclose(ends.q, [start, start], atol=1e-13)
    np.testing.assert_allclose(ends.v, 0.0, atol=1e-12)
    np.testing.assert_allclose(ends.a, 0.0, atol=1e-11)
    assert np.abs(motion.sample([0.37 * motion.period]).v).max() > 0.1


def test_the_projection_changes_the_coefficients_least() -> None:
    motion = drawn(8)
    projected = rest_to_rest(motion)
    np.testing.assert_array_equal(projected.offset, motion.offset)
    # Judge: the minimum-norm solution of the two rest conditions, by least squares.
    basis = fourier_basis([0.0], motion.period, motion.harmonics)
    C = np.vstack((basis.v[:, 1:], basis.a[:, 1:]))
    x = motion.coefficients[:, 1:]
    least = x - np.linalg.lstsq(C, C @ x.T, rcond=None)[0].T
    np.testing.assert_allclose(projected.coefficients[:, 1:], least, atol=1e-13)
    again = rest_to_rest(projected)
    np.testing.assert_allclose(again.coefficients, projected.coefficients, atol=1e-14)


@pytest.mark.parametrize("harmonics", [1, 2, 3, 5, 10, 20])
def test_nothing_is_ever_beyond_the_extent_and_little_is_given_away(harmonics: int) -> None:
    t = np.linspace(0.0, 1.0, 20_001)
    for seed in range(12):
        motion = drawn(seed, harmonics, period=1.0)
        bound, seen = extent(motion), motion.sample(t)
        assert (seen.q.max(axis=0) <= bound.upper).all()
        assert (seen.q.min(axis=0) >= bound.lower).all()
        assert (np.abs(seen.v).max(axis=0) <= bound.velocity).all()
        assert (np.abs(seen.a).max(axis=0) <= bound.acceleration).all()
        assert (bound.velocity <= 1.0032 * np.abs(seen.v).max(axis=0)).all()
        assert (bound.upper - bound.lower <= 1.0032 * np.ptp(seen.q, axis=0)).all()


def test_plain_sampling_would_have_missed_the_peak() -> None:
    # A peak halfway between the points of the grid: the law above is not satisfied by luck.
    grid = 40 * 5
    l = np.arange(1, 6)  # noqa: E741
    shift = math.pi / grid
    motion = FourierMotion(("j",), 1.0, np.zeros(1), np.cos(l * shift)[None], np.sin(l * shift)[None])
    on_grid = np.abs(motion.sample(np.arange(grid) / grid).v).max()
    peak = motion.sample([shift / (2 * math.pi)]).v[0, 0]
    assert peak == pytest.approx(5.0)
    assert on_grid < peak <= extent(motion).velocity[0]


def test_a_motion_cannot_be_changed() -> None:
    motion = drawn(0)
    with pytest.raises(FrozenInstanceError):
        motion.period = 2.0  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        motion.sine[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        motion.sample([0.0]).q[0, 0] = 1.0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"period": 0.0}, "period: must be positive"),
        ({"period": math.nan}, "period: must be positive"),
        ({"joints": ("a", "a", "b")}, "joints: joint names must be there and differ"),
        ({"offset": np.zeros(2)}, "offset: expected shape"),
        ({"sine": np.full((3, 5), np.nan)}, "sine: must be finite"),
        ({"cosine": np.zeros((3, 4))}, "cosine: expected shape"),
        ({"sine": np.zeros((3, 0)), "cosine": np.zeros((3, 0))}, "at least one harmonic"),
        ({"schema": 7}, "layout 7 is unknown"),
    ],
)
def test_nonsense_is_refused_by_name(change: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        replace(drawn(0), **change)
