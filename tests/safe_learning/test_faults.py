"""Whatever goes wrong ends in a proven stop or an announced broken assumption, judged by the true states.

A short version of bench/studies/safe_faults.py, with shorter plans.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from steelyard.safe_learning import Replanner

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from studies.online_arms import World, drawn_world
from studies.online_faults import FAULTS, Trial
from studies.safe_faults import SOON, Outcome, driven, faulty_run, judge

PLANS = 2
SEEDS = {"planner late": 2, "planner hung": 1}
"""Of faults that would miss the change of plans."""
SAID = {
    "planner late": "stops as it was proven to",
    "planner hung": "stops as it was proven to",
    "planner dead": "stops as it was proven to",
    "planner stale": "left its tube",
    "sensor frozen": "a sensor is frozen or wrong",
    "torque sensor frozen": "no payload explains the data",
    "state not a number": "a reading is no number",
    "torque not a number": "a reading is no number",
    "clock wrong": "after the last",
    "payload dropped": "no payload explains the data",
    "load outside the box": "no payload explains the data",
}


@cache
def world() -> World:
    return drawn_world(
        np.random.default_rng(5),
        form="clamped",
        pattern="edge",
        cycle=1e-3,
        velocity_error=5e-4,
        obstacles=2,
        duration=1.2,
        reach=0.3,
    )


def trial(fault: str, seed: int | None = None) -> Trial:
    replanner = Replanner.exciting(world().setting, budget=None, evaluations=40, random=True)
    k = SEEDS.get(fault, 0) if seed is None else seed
    return Trial(world(), replanner, np.random.default_rng([list(FAULTS).index(fault), k]))


@cache
def outcome(fault: str) -> Outcome:
    found = faulty_run(fault, trial(fault), PLANS, 0)
    assert found is not None  # the world has a first plan
    return found


@pytest.mark.parametrize("fault", FAULTS)
def test_no_fault_is_silent_and_none_ends_the_loop(fault: str) -> None:
    found = outcome(fault)
    assert found.ending in ("announced", "stopped", "harmless"), found


@pytest.mark.parametrize("fault", SAID)
def test_what_is_said_names_the_fault(fault: str) -> None:
    assert SAID[fault] in outcome(fault).said


@pytest.mark.parametrize("fault", ["planner late", "planner hung", "planner dead"])
def test_without_a_planner_the_arm_stops_as_proven(fault: str) -> None:
    assert outcome(fault).ending == "stopped"
    assert outcome(fault).broken == ()


@pytest.mark.parametrize("fault", ["sensor frozen", "state not a number", "clock wrong", "planner stale"])
def test_what_a_reading_shows_is_announced_at_once(fault: str) -> None:
    found = outcome(fault)
    assert found.ending == "announced"
    assert found.delay is not None
    assert found.delay < 0.05


def test_the_judge_tells_a_silent_violation_from_one_that_is_announced_in_time() -> None:
    what = trial("arm pushed", 1)
    rig = FAULTS["arm pushed"](what)
    done = driven(what, rig, PLANS, 0)
    assert done.record.alarm is not None
    assert done.record.alarm.kind == "tube"
    log = done.cycles

    def left(cycles: int, *, alarm: bool) -> str:
        """How a run is judged whose tube was left so many cycles before its end."""
        q_ref = np.array(log.q_ref)
        q_ref[-cycles:] += 0.01
        record = done.record if alarm else replace(done.record, alarm=None)
        return judge(what, rig, replace(done, cycles=replace(log, q_ref=q_ref), record=record)).ending

    assert left(round(0.5 * SOON / 1e-3), alarm=True) == "announced"
    assert left(round(1.5 * SOON / 1e-3), alarm=True) == "silent"
    assert left(round(0.5 * SOON / 1e-3), alarm=False) == "silent"


def test_a_load_that_the_last_bounds_exclude_unannounced_is_misled() -> None:
    what = trial("planner late")
    rig = FAULTS["planner late"](what)
    done = driven(what, rig, PLANS, 0)
    assert judge(what, rig, done).ending == "stopped"
    rig.ten = rig.ten + np.eye(10)[0] * 2.0
    assert judge(what, rig, done).ending == "misled"
