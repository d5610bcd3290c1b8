"""Logs of real robots: what their notes say is found by the signals themselves."""

import numpy as np
import pytest

from shared_material import DATA, needs_shared
from steelyard.recording import read
from steelyard.signals import (
    Butterworth,
    aligned,
    differentiated,
    evenly_timed,
    resampled,
    sampling_of,
    split_at_gaps,
    torque_from_current,
)
from steelyard.signals.cutoff import cutoff_of
from steelyard.signals.periodic import period_of
from steelyard.signals.selection import main_motion

pytestmark = needs_shared

LOGS = (
    "kuka_lwr4/measurements_1.csv",
    "panda_gaz/trajectory_1.csv",
    "ur10_panda_unisa/ur10_exciting_trajectory.csv",
    "ur10_panda_unisa/panda_exciting_trajectory.csv",
    "ur10e/ur-20_02_12-50sec_12harm.csv",
    "xmate7p/traj1.csv",
)


def even(name):
    return evenly_timed(read(DATA / name), longest_gap=10.0)


@pytest.mark.parametrize("name", LOGS)
def test_differentiated_positions_agree_with_the_velocities_the_robot_reports(name):
    log = even(name)
    cutoff = cutoff_of(log)
    assert 1.0 < cutoff.frequency < 15.0, cutoff.reason
    done = differentiated(log, Butterworth(cutoff.frequency))
    v = log.v[np.isin(log.time, done.time)]
    assert np.linalg.norm(done.v - v) < 0.08 * np.linalg.norm(v)


@pytest.mark.parametrize(
    ("name", "cure"),
    [
        ("kuka_lwr4/measurements_1.csv", "restamped"),
        ("kuka_lwr4/measurements_2.csv", "restamped"),
        ("ur10e/ur-20_02_12-50sec_12harm.csv", "to_uniform_time"),
        ("ur10e/ur-20_02_12-40sec_12harm.csv", "to_uniform_time"),
    ],
)
def test_the_kind_of_jitter_of_a_log_is_beyond_doubt(name, cure):
    detail = even(name).provenance[-1].detail
    roughness = detail["rms_third_difference"]
    assert detail["chosen"] == cure
    assert roughness[cure] < 0.2 * max(roughness.values())


def test_the_period_of_the_panda_log_is_that_of_its_notes():
    assert period_of(even("panda_gaz/trajectory_1.csv")) == pytest.approx(13.34, abs=0.01)


def test_the_gaps_of_the_panda_log_are_found_and_split():
    log = read(DATA / "panda_gaz/trajectory_1.csv")
    sampling = sampling_of(log)
    assert sampling.longest == pytest.approx(0.0088, abs=1e-4)
    parts = split_at_gaps(log, longest=0.002)
    assert len(parts) == 9  # the notes count 8 gaps above 2 ms
    assert sum(part.n for part in parts) + parts[0].provenance[-1].detail["lone_samples_dropped"] == log.n


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("ur10e/ur-20_02_12-50sec_12harm.csv", 355, 5090),
        ("ur10e/ur-20_02_12-40sec_12harm.csv", 500, 4460),
        ("ur10e/ur-20_02_10-30sec_12harm.csv", 635, 3510),
    ],
)
def test_the_approach_phase_ends_where_the_authors_of_the_log_cut_it(name, first, last):
    log = read(DATA / name)
    motion = main_motion(log, 0.005)
    rows = np.searchsorted(log.time, motion.time[[0, -1]])
    assert rows == pytest.approx([first, last], abs=40)


def test_two_runs_of_the_kuka_come_closer_by_warping():
    first, second = (even(f"kuka_lwr4/measurements_{k}.csv") for k in (1, 2))
    back = aligned(second, first, band=0.1)
    before, after = (np.sqrt(np.mean((x.q - first.q) ** 2)) for x in (second, back))
    assert after < 0.7 * before
    assert np.sqrt(np.mean((back.tau - first.tau) ** 2)) < 0.3


def test_a_log_of_currents_goes_through_the_whole_chain():
    log = main_motion(even("ur10e/ur-20_02_12-50sec_12harm.csv"), 0.005)
    gains = (14.87, 13.26, 11.13, 10.62, 11.03, 11.47)  # from the notes beside the log
    done = resampled(
        differentiated(torque_from_current(log, gains), Butterworth(cutoff_of(log).frequency)), 0.04
    )
    actions = [step.action for step in done.provenance if step.action != "rows"]
    assert actions[-5:] == [
        "evenly_timed", "main_motion", "torque_from_current", "differentiated", "resampled"
    ]  # fmt: skip
    assert set(done.channels) == {"q", "v", "a", "tau", "current"}
    assert done.rate == pytest.approx(25.0)
