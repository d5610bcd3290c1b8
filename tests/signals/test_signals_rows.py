"""Rows that are removed are named; torque comes from current by the constants that were stated."""

import numpy as np
import pytest

from signals.periodic_motion import JOINTS, motion, series, uniform_time
from steelyard.errors import InputError, RecordingError
from steelyard.recording import Recording
from steelyard.signals import torque_from_current, with_rows
from steelyard.signals.selection import is_moving, main_motion


def test_a_joint_moves_where_its_own_speed_exceeds_its_own_threshold():
    log = motion(uniform_time(0.01, 8.0))
    assert np.array_equal(is_moving(log, (0.1, 0.2)), np.abs(log.v) > (0.1, 0.2))


def test_the_intervals_removed_are_exactly_what_is_missing():
    log = motion(uniform_time(0.01, 8.0))
    kept = with_rows(log, is_moving(log, 0.3).all(axis=1))
    detail = kept.provenance[-1].detail
    missing = np.zeros(log.n, dtype=bool)
    for start, end in detail["intervals_removed"]:
        missing |= (log.time >= start) & (log.time <= end)
    assert np.array_equal(log.time[~missing], kept.time)
    assert detail["samples_removed"] == missing.sum() == log.n - kept.n


def test_the_main_motion_is_left_when_the_approach_is_cut():
    t = uniform_time(0.01, 20.0)
    speed = np.zeros((len(t), 2))
    speed[(t > 1.0) & (t < 3.0), 0] = 0.4  # the approach
    main = (t > 4.0) & (t < 18.0)
    speed[main] = series(t[main], 1)
    speed[(t > 10.0) & (t < 10.1)] = 0.0  # a turning point, not a pause
    log = Recording(JOINTS, t, np.cumsum(speed, axis=0) * 0.01, v=speed)
    motion_only = main_motion(log, 0.01)
    assert motion_only.time[0] == pytest.approx(4.0, abs=0.03)
    assert motion_only.time[-1] == pytest.approx(18.0, abs=0.03)
    assert np.diff(motion_only.time) == pytest.approx(0.01)
    assert motion_only.provenance[-1].detail["motions_found"] == 2


def test_rows_that_leave_nothing_or_thresholds_that_fit_nothing_are_refused():
    log = motion(uniform_time(0.01, 8.0))
    with pytest.raises(RecordingError, match="0 of 801 samples are left"):
        with_rows(log, is_moving(log, 1e3).all(axis=1))
    with pytest.raises(RecordingError, match="no joint moves faster"):
        main_motion(log, 1e3)
    with pytest.raises(RecordingError, match=r"there are no velocities.*Differentiate"):
        is_moving(log.with_channels(v=None), 0.1)
    with pytest.raises(InputError, match="must be one number or 2, none negative"):
        is_moving(log, (0.1, 0.1, 0.1))
    with pytest.raises(InputError, match="801 answers of yes or no"):
        with_rows(log, np.ones(3, dtype=bool))


def test_torque_is_current_times_the_constant_of_its_joint():
    log = motion(uniform_time(0.01, 2.0), tau=None, current=np.ones((201, 2)) * (2.0, -3.0))
    done = torque_from_current(log, (10.0, 0.5))
    assert (done.tau == (20.0, -1.5)).all()
    assert np.array_equal(done.current, log.current)
    assert done.provenance[-1].detail["torque_constant"] == (10.0, 0.5)


def test_torque_is_never_invented_or_overwritten():
    t = uniform_time(0.01, 2.0)
    both = motion(t, current=np.ones((201, 2)))
    with pytest.raises(RecordingError, match=r"there are torques already.*--torque-constant"):
        torque_from_current(both, (1.0, 1.0))
    bare = both.with_channels(tau=None)
    with pytest.raises(InputError, match="torque constant of joint 'elbow': must not be zero"):
        torque_from_current(bare, (1.0, 0.0))
    with pytest.raises(RecordingError, match="there are no currents"):
        torque_from_current(bare.with_channels(current=None), (1.0, 1.0))
