"""Point-to-point segments: straight, synchronised, as fast as the limits allow, at rest to the last bit."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from steelyard.errors import InputError
from steelyard.motion import SplineMotion, extent, read_motion, write_motion
from steelyard.motion.spline import RISE, through_waypoints

JOINTS = ("shoulder", "elbow", "slider")
V_MAX, A_MAX = np.array([2.0, 3.0, 0.4]), np.array([9.0, 20.0, 3.0])
NODES, WEIGHTS = np.polynomial.legendre.leggauss(3)


def waypoints(seed: int = 0, count: int = 9, size: float = 2.0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-size, size, (count, 3)) * [1.0, 1.0, 0.2]


def profile(t: np.ndarray, distance: float, v: float, a: float) -> tuple[np.ndarray, ...]:
    """Textbook rewrite for one joint: trapezoids of acceleration, integrated twice by Simpson's rule.

    The rule is exact on pieces of the grid that hold no corner, as the integrand is linear, then quadratic.
    """
    v = min(v, np.sqrt(distance * a * (1.0 - RISE)))
    ramp = v / (a * (1.0 - RISE))
    cruise = distance / v - ramp
    corners = np.cumsum([0.0, RISE, 1.0 - 2.0 * RISE, RISE, 0.0, RISE, 1.0 - 2.0 * RISE, RISE]) * ramp
    corners[4:] += cruise
    heights = np.array([0.0, a, a, 0.0, 0.0, -a, -a, 0.0])
    grid = np.unique(np.concatenate((t, corners)))

    def integrated(values: np.ndarray, middles: np.ndarray) -> np.ndarray:
        steps = np.diff(grid) / 6.0 * (values[:-1] + 4.0 * middles + values[1:])
        return np.concatenate(([0.0], np.cumsum(steps)))

    def acceleration(x: np.ndarray) -> np.ndarray:
        return np.interp(x, corners, heights)

    middle = 0.5 * (grid[1:] + grid[:-1])
    speed = integrated(acceleration(grid), acceleration(middle))
    quarter = 0.5 * (grid[:-1] + middle)
    half = speed[:-1] + np.diff(grid) / 12.0 * (
        acceleration(grid[:-1]) + 4.0 * acceleration(quarter) + acceleration(middle)
    )
    place = integrated(speed, half)
    at = np.searchsorted(grid, t)
    return place[at], speed[at], acceleration(t)


@pytest.mark.parametrize("distance", [1e-3, 0.4, 0.62, 5.0])
def test_a_segment_is_the_trapezoid_of_acceleration_integrated_twice(distance: float) -> None:
    motion = through_waypoints(("j",), [[1.0], [1.0 - distance]], [2.0], [9.0])
    t = np.linspace(0.0, motion.duration, 300)
    at = motion.sample(t)
    for found, expected in zip(
        (1.0 - at.q[:, 0], -at.v[:, 0], -at.a[:, 0]), profile(t, distance, 2.0, 9.0), strict=True
    ):
        np.testing.assert_allclose(found, expected, atol=1e-11)


def test_every_joint_follows_the_same_share_of_a_straight_line() -> None:
    way = waypoints()
    motion = through_waypoints(JOINTS, way, V_MAX, A_MAX, dwell=0.1)
    stops = rests_of(motion)
    assert len(stops) == len(way)
    for (_, start), (end, _), p, q in zip(stops, stops[1:], way, way[1:], strict=False):
        at = motion.sample(np.linspace(start, end, 50))
        s = (at.q - p) / (q - p)
        np.testing.assert_allclose(s, s[:, :1] * np.ones(3), atol=1e-12)
        assert (np.diff(s[:, 0]) > -1e-13).all()
        np.testing.assert_allclose(at.q[[0, -1]], [p, q], atol=1e-13)


def rests_of(motion: SplineMotion) -> list[tuple[float, float]]:
    """From when to when the motion stands still, to the last bit, read from its samples at breaks."""
    at = motion.sample(motion.breaks)
    still = ~(at.v.any(axis=1) | at.a.any(axis=1))
    stops: list[tuple[float, float]] = []
    for k in np.flatnonzero(still):
        t = float(motion.breaks[k])
        if k and still[k - 1]:
            stops[-1] = (stops[-1][0], t)
        else:
            stops.append((t, t))
    return stops


def test_on_every_segment_one_joint_reaches_a_limit_and_none_exceeds_it() -> None:
    for size, reaches in ((2.0, "speed"), (0.05, "acceleration")):
        way = waypoints(3, 12, size)
        for p, q in pairwise(way):
            goes = extent(through_waypoints(JOINTS, [p, q], V_MAX, A_MAX))
            speed, acceleration = goes.velocity / V_MAX, goes.acceleration / A_MAX
            assert max(speed.max(), acceleration.max()) <= 1.0 + 1e-5
            assert acceleration.max() > 0.97  # a short cruise is given to the ramps
            assert speed.max() > 1.0 - 1e-9 if reaches == "speed" else speed.max() < 0.9


def test_velocity_and_acceleration_are_the_derivatives_and_go_on_across_breaks() -> None:
    motion = through_waypoints(JOINTS, waypoints(1), V_MAX, A_MAX, dwell=0.05)
    start, width = motion.breaks[:-1], np.diff(motion.breaks)
    at = motion.sample(motion.breaks)
    for order, values in ((1, at.q), (2, at.v)):
        total = sum(
            0.5 * w * width[:, None] * motion.derivative(start + 0.5 * width * (1.0 + x), order)
            for x, w in zip(NODES, WEIGHTS, strict=True)
        )
        np.testing.assert_allclose(total, np.diff(values, axis=0), atol=1e-12)
    inner, step = motion.breaks[1:-1], 1e-7
    jump = motion.sample(inner + step).a - motion.sample(inner - step).a
    assert np.abs(jump).max() < 3.0 * step * np.abs(motion.derivative(inner, 3)).max() + 1e-9


def test_at_a_rest_and_in_joints_that_do_not_move_nothing_moves_to_the_last_bit() -> None:
    way = waypoints(2)
    way[:, 1] = 0.7
    motion = through_waypoints(JOINTS, way, V_MAX, A_MAX, dwell=0.3)
    at = motion.sample(np.linspace(0.0, motion.duration, 5000))
    assert not at.v[:, 1].any()
    np.testing.assert_allclose(at.q[:, 1], 0.7, atol=1e-15)
    stops = rests_of(motion)
    for begin, end in stops[1:-1]:
        assert end - begin == pytest.approx(0.3)
        resting = motion.sample(np.linspace(begin, end, 20))
        assert not resting.v.any()
        assert not resting.a.any()


def test_limits_may_change_from_segment_to_segment() -> None:
    way = np.array([[0.0], [3.0], [0.0]])
    motion = through_waypoints(("j",), way, [[1.0], [0.5]], [[4.0], [2.0]])
    at = motion.sample(np.linspace(0.0, motion.duration, 4001))
    assert at.v.max() == pytest.approx(1.0, rel=1e-12)
    assert at.v.min() == pytest.approx(-0.5, rel=1e-12)
    assert at.a[at.v[:, 0] > 0.0].max() == pytest.approx(4.0, rel=1e-9)


def test_a_motion_file_keeps_every_bit(tmp_path: Path) -> None:
    motion = through_waypoints(JOINTS, waypoints(4, 40), V_MAX, A_MAX, robot="5" * 64)
    write_motion(motion, tmp_path / "motion.json")
    again = read_motion(tmp_path / "motion.json")
    assert isinstance(again, SplineMotion)
    assert again.digest == motion.digest
    np.testing.assert_array_equal(again.control, motion.control)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"waypoints": [[0.0]]}, "waypoints: must be two or more, got 1"),
        ({"waypoints": [[0.0], [1.0], [1.0]]}, "waypoints: numbers 1 and 2 are the same pose"),
        ({"velocity": [0.0]}, "velocity: must be positive for joints that move, got 0.0"),
        ({"acceleration": [-1.0]}, "acceleration: must be positive"),
        ({"acceleration": [np.inf]}, "acceleration: must be finite"),
        ({"velocity": [[1.0], [1.0]]}, "velocity: expected shape"),
        ({"dwell": -1.0}, "dwell: must be zero or more"),
    ],
)
def test_what_makes_no_motion_is_refused(change: dict[str, object], words: str) -> None:
    good = {"waypoints": [[0.0], [1.0]], "velocity": [1.0], "acceleration": [1.0]}
    with pytest.raises(InputError, match=words):
        through_waypoints(("j",), **(good | change))


def test_a_joint_without_a_speed_limit_and_one_that_stands_still_are_fine() -> None:
    motion = through_waypoints(("a", "b"), [[0.0, 1.0], [2.0, 1.0]], [np.inf, 0.0], [5.0, 0.0])
    goes = extent(motion)
    assert goes.acceleration[0] == pytest.approx(5.0)
    assert goes.velocity[1] == goes.acceleration[1] == 0.0
