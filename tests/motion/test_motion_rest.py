"""Rest at the ends: as conditions on coefficients, as a projection, and between waypoints."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, make_interp_spline

from motion.motion_families import JOINTS, fourier, sinusoid, spline, with_ramps
from steelyard.errors import InputError
from steelyard.motion import (
    AnyMotion,
    FourierMotion,
    LinearConditions,
    SplineMotion,
    extent,
    pick_and_place,
    quintic,
    rest_conditions,
    slowdown_within,
    slowed,
)
from steelyard.motion.conditions import rest_to_rest
from steelyard.motion.spline import bezier

HOME = np.array([0.3, -1.2, 0.05])
AWAY = np.array([-0.5, 0.4, 2.0])
LINEAR = {
    "fourier": fourier(1),
    "fourier, many": fourier(1, 12),
    "cubic": spline(1, 3),
    "quintic": spline(1, 5),
    "degree 7": spline(1, 7, 4),
}


def assert_rests(motion: AnyMotion, *, tolerance: float = 1e-12) -> None:
    ends = motion.sample([0.0, motion.duration])
    np.testing.assert_allclose(ends.v, 0.0, atol=tolerance)
    np.testing.assert_allclose(ends.a, 0.0, atol=tolerance)


@pytest.mark.parametrize("name", LINEAR)
def test_what_meets_the_conditions_rests_at_both_ends(name: str) -> None:
    motion = LINEAR[name]
    where = {"start": HOME} if motion.periodic else {"start": HOME, "end": AWAY}
    for poses in ({}, {"start": HOME}, where):
        conditions = rest_conditions(motion, **poses)
        Z = conditions.free_directions
        m, k = conditions.matrix.shape
        assert Z.shape == (k, k - m)
        np.testing.assert_allclose(Z.T @ Z, np.eye(k - m), atol=1e-13)
        x = np.random.default_rng(3).standard_normal((3, k - m))
        met = motion.with_coefficients(conditions.nearest(motion.coefficients) + x @ Z.T)
        # The fast end of a motion sets the size of what rounds off.
        assert_rests(met, tolerance=1e-14 * float(met.derivative_bounds(2).max()) + 1e-12)
        if "start" in poses:
            np.testing.assert_allclose(met.sample([0.0]).q[0], HOME, atol=1e-13)
        if "end" in poses:
            np.testing.assert_allclose(met.sample([met.duration]).q[0], AWAY, atol=1e-13)
        assert np.abs(met.sample([0.37 * met.duration]).v).max() > 0.01


@pytest.mark.parametrize("name", LINEAR)
def test_the_nearest_coefficients_differ_along_the_conditions_only(name: str) -> None:
    motion = LINEAR[name]
    conditions = rest_conditions(motion, start=HOME)
    x = np.array(motion.coefficients)
    change = conditions.nearest(x) - x
    np.testing.assert_allclose(change @ conditions.free_directions, 0.0, atol=1e-12)
    again = conditions.nearest(x + change)
    np.testing.assert_allclose(again, x + change, atol=1e-12)


@pytest.mark.parametrize("name", LINEAR)
def test_the_projection_is_the_nearest_motion_at_rest(name: str) -> None:
    motion = LINEAR[name]
    resting = rest_to_rest(motion)
    nearest = rest_conditions(motion).nearest(motion.coefficients)
    np.testing.assert_allclose(resting.coefficients, nearest, atol=1e-12)
    moved = rest_to_rest(motion, HOME)
    np.testing.assert_allclose(moved.sample([0.0]).q[0], HOME, atol=1e-14)
    assert_rests(moved, tolerance=1e-14 * float(moved.derivative_bounds(2).max()) + 1e-12)
    t = np.linspace(0.0, motion.duration, 17)
    shift = moved.sample(t).q - resting.sample(t).q
    np.testing.assert_allclose(shift, shift[:1].repeat(17, axis=0), atol=1e-13)


def test_splines_rest_to_the_last_bit() -> None:
    for motion in (rest_to_rest(spline(2, 3), HOME), rest_to_rest(spline(2, 5))):
        ends = motion.sample([0.0, motion.duration])
        assert not ends.v.any()
        assert not ends.a.any()


def test_a_spline_too_short_to_move_stands_still() -> None:
    still = rest_to_rest(SplineMotion(JOINTS, [0.0, 1.0], np.arange(12.0).reshape(3, 4), 3), HOME)
    np.testing.assert_allclose(still.sample(np.linspace(0.0, 1.0, 5)).q, [HOME] * 5, atol=1e-15)
    with pytest.raises(InputError, match="4 conditions contradict or repeat each other in 4 coefficients"):
        rest_conditions(still)


def test_a_periodic_motion_takes_no_end_pose() -> None:
    with pytest.raises(InputError, match="end: a periodic motion ends where it starts"):
        rest_conditions(fourier(0), end=HOME)
    with pytest.raises(InputError, match="values: expected shape"):
        LinearConditions(np.eye(3), np.zeros((2, 4)))


def test_a_quintic_joins_any_two_states() -> None:
    rng = np.random.default_rng(8)
    q0, v0, a0, q1, v1, a1 = rng.standard_normal((6, 3))
    motion = quintic(
        JOINTS,
        0.7,
        q0,
        q1,
        start_velocity=v0,
        start_acceleration=a0,
        end_velocity=v1,
        end_acceleration=a1,
    )
    ends = motion.sample([0.0, 0.7])
    np.testing.assert_allclose(ends.q, [q0, q1], atol=1e-14)
    np.testing.assert_allclose(ends.v, [v0, v1], atol=1e-13)
    np.testing.assert_allclose(ends.a, [a0, a1], atol=1e-12)


@pytest.mark.parametrize("degree", [3, 5])
@pytest.mark.parametrize("count", [2, 3, 4, 7])
def test_pick_and_place_passes_its_waypoints_and_rests_at_the_outer_ones(degree: int, count: int) -> None:
    rng = np.random.default_rng(count)
    poses = rng.standard_normal((count, 3))
    times = np.concatenate(([0.0], np.cumsum(rng.uniform(0.5, 1.5, count - 1))))
    motion = pick_and_place(JOINTS, poses, times, degree=degree)
    np.testing.assert_allclose(motion.sample(times).q, poses, atol=1e-12)
    assert_rests(motion)
    assert motion.degree == degree
    assert motion.duration == times[-1]


def test_quintic_pick_and_place_is_the_interpolating_spline_at_rest() -> None:
    rng = np.random.default_rng(6)
    poses, times = rng.standard_normal((5, 3)), np.array([0.0, 0.6, 1.7, 2.0, 3.3])
    rest = [(1, np.zeros(3)), (2, np.zeros(3))]
    judge = make_interp_spline(times, poses, k=5, bc_type=(rest, rest))
    t = np.linspace(0.0, 3.3, 200)
    np.testing.assert_allclose(pick_and_place(JOINTS, poses, times).sample(t).q, judge(t), atol=1e-11)


def test_cubic_pick_and_place_is_the_cubic_spline_of_its_breaks() -> None:
    # Judge: SciPy's clamped cubic spline through the motion's own values at its breaks.
    poses, times = np.random.default_rng(7).standard_normal((4, 3)), np.array([0.0, 1.0, 1.8, 3.0])
    motion = pick_and_place(JOINTS, poses, times, degree=3)
    assert len(motion.breaks) == len(times) + 2
    judge = CubicSpline(motion.breaks, motion.sample(motion.breaks).q, bc_type="clamped")
    t = np.linspace(0.0, 3.0, 100)
    np.testing.assert_allclose(motion.sample(t).a, judge(t, 2), atol=1e-9)


def test_two_waypoints_are_joined_by_the_motion_of_least_jerk() -> None:
    motion = pick_and_place(JOINTS, [HOME, AWAY], [0.0, 1.4])
    t = np.linspace(0.0, 1.4, 50)
    np.testing.assert_allclose(motion.sample(t).q, quintic(JOINTS, 1.4, HOME, AWAY).sample(t).q, atol=1e-13)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"degree": 4}, "degree: must be 3 or 5"),
        ({"times": [0.0, 1.0]}, "times: expected shape"),
        ({"times": [0.0, 1.0, 1.0]}, "times: must be two or more, increase"),
        ({"times": [0.1, 1.0, 2.0]}, "times: .*start at 0 s"),
        ({"waypoints": [[0.0]], "times": [0.0]}, "times: must be two or more"),
    ],
)
def test_waypoints_that_make_no_motion_are_refused(change: dict[str, object], words: str) -> None:
    good = {"joints": ("a",), "waypoints": [[0.0], [1.0], [0.5]], "times": [0.0, 1.0, 2.0]}
    with pytest.raises(InputError, match=words):
        pick_and_place(**(good | change))


def test_a_slowed_motion_takes_the_same_path_with_less_speed() -> None:
    motions = (fourier(1), spline(1), sinusoid(1), with_ramps(sinusoid(1), 0.5))
    for motion in motions:
        slow = slowed(motion, 3.0)
        assert type(slow) is type(motion)
        assert slow.duration == pytest.approx(3.0 * motion.duration, rel=1e-15)
        t = np.linspace(0.0, motion.duration, 40)[:-1]
        fast, at = motion.sample(t), slow.sample(3.0 * t)
        np.testing.assert_allclose(at.q, fast.q, atol=1e-12)
        np.testing.assert_allclose(3.0 * at.v, fast.v, atol=1e-11)
        np.testing.assert_allclose(9.0 * at.a, fast.a, atol=1e-10)
    for factor in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="factor: must be positive and finite"):
            slowed(fourier(0), factor)


def test_the_slowdown_is_the_least_that_keeps_the_limits() -> None:
    v_max, a_max = np.array([0.5, 1.0, np.inf]), np.array([2.0, 0.3, np.inf])
    for motion in (fourier(2), spline(2), with_ramps(sinusoid(2), 1.0)):
        factor = slowdown_within(motion, v_max, a_max)
        goes = extent(slowed(motion, factor))
        assert (goes.velocity <= v_max).all()
        assert (goes.acceleration <= a_max).all()
        nearly = max((goes.velocity / v_max).max(), (goes.acceleration / a_max).max())
        assert nearly > 1.0 - 1e-6
    with pytest.raises(InputError, match="acceleration: must be positive"):
        slowdown_within(fourier(2), v_max, [1.0, 0.0, 1.0])
    still = FourierMotion(JOINTS, 1.0, HOME, np.zeros((3, 1)), np.zeros((3, 1)))
    assert slowdown_within(still, v_max, a_max) == 0.0
    assert slowdown_within(bezier(JOINTS, 1.0, np.ones((3, 6))), v_max, a_max) == 0.0
