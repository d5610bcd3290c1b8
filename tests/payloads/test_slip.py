"""A load that slips in its grasp is noticed, when and how far; one that stays is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from payloads.loaded_arm import body, motion_of, run
from payloads.test_wrench import FRAME, GRIPPED, sensed
from steelyard.inertia import Body
from steelyard.payloads import GraspSlip, LoadRows, WristSensor, described, grasp_slip, mounted_at
from steelyard.pose import Pose
from steelyard.recording import Recording
from steelyard.zoo import zoo_robot

PANDA = zoo_robot("panda")
LOAD = body(1)
WAY = np.array([0.009, -0.012, 0.0])  # 15 mm
MOVED = LOAD.moved(Pose(np.eye(3), WAY))
MOTION = motion_of(PANDA, 1)


def switched(before: LoadRows, after: LoadRows, time: float) -> LoadRows:
    """The rows of one run until a time, then those of another of the same motion."""
    late = (before.time >= time)[:, None]
    return replace(before, target=np.where(late, after.target, before.target))


def torque_rows(load: Body) -> LoadRows:
    return LoadRows.of_torques(described(PANDA), mounted_at(PANDA), run(PANDA, MOTION, load, driven=True))


def wrench_rows(load: Body) -> LoadRows:
    log: Recording = sensed(GRIPPED, load, seed=1, duration=10.0)
    return LoadRows.of_wrench(WristSensor(GRIPPED, FRAME), mounted_at(GRIPPED), log)


def with_memory(rows: LoadRows, size: np.ndarray, seed: int) -> LoadRows:
    """Noise of which 0.9 is remembered from sample to sample, of that standard deviation."""
    rng = np.random.default_rng(seed)
    e = rng.standard_normal(rows.target.shape)
    for k in range(1, len(e)):
        e[k] = 0.9 * e[k - 1] + np.sqrt(1.0 - 0.81) * e[k]
    return replace(rows, target=rows.target + size * e)


WAYS = [(torque_rows, np.full(7, 0.05)), (wrench_rows, np.repeat((0.1, 0.005), 3))]


@pytest.mark.parametrize(("rows", "size"), WAYS, ids=["torque", "wrench"])
def test_fifteen_millimetres_are_noticed_with_their_time_and_way(rows, size) -> None:
    slips = with_memory(switched(rows(LOAD), rows(MOVED), 6.0), size, 0)
    found = grasp_slip([slips], LOAD.mass)
    assert found is not None
    assert found.noticed
    assert found.time == pytest.approx(6.0, abs=0.25)
    assert np.abs(found.way - WAY).max() < 0.003


@pytest.mark.parametrize(("rows", "size"), WAYS, ids=["torque", "wrench"])
def test_a_load_that_stays_is_not_called_one_that_slips(rows, size) -> None:
    exact = rows(LOAD)
    found = [grasp_slip([with_memory(exact, size, seed)], LOAD.mass) for seed in range(12)]
    assert sum(each is not None and each.noticed for each in found) <= 1
    assert np.median([each.chance for each in found if each is not None]) > 0.05


def test_a_slip_between_two_runs_is_told_of_the_later_one() -> None:
    first, second = torque_rows(LOAD), torque_rows(MOVED)
    size = np.full(7, 0.05)
    found = grasp_slip([with_memory(first, size, 0), with_memory(second, size, 1)], LOAD.mass)
    assert found is not None
    assert found.noticed
    told = found.time + (10.0 if found.run else 0.0)
    assert told == pytest.approx(10.0, abs=0.25)


def test_a_short_run_says_nothing() -> None:
    rows = torque_rows(LOAD)
    few = LoadRows(rows.time[:50], rows.ten[:50], rows.others[:50], rows.target[:50])
    assert grasp_slip([few], LOAD.mass) is None


def test_a_way_less_sure_than_three_deviations_is_no_slip() -> None:
    told = GraspSlip(1e-6, 0, 2.0, np.array([0.004, 0.0, 0.0]), 0.002)
    assert not told.noticed
    assert replace(told, deviation=0.001).noticed
