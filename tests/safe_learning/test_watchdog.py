"""What the watchdog lets pass, and what it does not."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.arrays import Array
from steelyard.control import Tube
from steelyard.safe_learning import JointReading
from steelyard.safe_learning.watchdog import Alarm, Watchdog

TUBE = Tube.of_radius(0.02, 8.0, 5.0)
CYCLE, N = 1e-3, 3
DQ, DV, MOST = np.full(N, 1e-5), np.full(N, 5e-4), np.full(N, 4.0)


def watchdog() -> Watchdog:
    dog = Watchdog(TUBE, DQ, DV, CYCLE)
    dog.expect(MOST)
    return dog


def swing(count: int) -> tuple[Array, Array, Array]:
    """Times, positions and velocities of a motion with accelerations up to 3 rad/s²."""
    t = CYCLE * np.arange(count)
    w, phase = 2.5, np.array([0.0, 1.0, 2.0])
    return t, 0.48 * np.sin(w * t[:, None] + phase), 0.48 * w * np.cos(w * t[:, None] + phase)


def watched(t: Array, q: Array, v: Array, q_ref: Array, v_ref: Array) -> Alarm | None:
    dog, none = watchdog(), np.zeros(N)
    for k, at in enumerate(t):
        alarm = dog.alarm(JointReading(float(at), q[k], v[k], none), q_ref[k], v_ref[k])
        if alarm is not None:
            return alarm
    return None


@pytest.mark.parametrize("seed", range(5))
def test_sensors_within_their_errors_and_an_arm_within_its_tube_pass(seed: int) -> None:
    rng = np.random.default_rng(seed)
    t, q, v = swing(2000)
    e = rng.normal(size=(1, N))
    e *= 0.99 * TUBE.position / np.linalg.norm(e)
    sign_q, sign_v = rng.choice((-1.0, 1.0), (2, len(t), N))
    # An error that stays has r = K_r e, on the edge of the tube.
    assert watched(t, q + sign_q * DQ, v + sign_v * DV, q + e, v) is None


def test_an_arm_that_leaves_its_tube_is_seen_in_that_cycle() -> None:
    t, q, v = swing(100)
    off = np.zeros((100, N))
    off[60:, 1] = TUBE.radius + np.linalg.norm(DV) + TUBE.kr * np.linalg.norm(DQ) + 1e-9
    found = watched(t, q, v, q, v + off)
    assert found is not None
    assert (found.kind, found.time) == ("tube", t[60])
    far = off / off.max() * (TUBE.position + np.linalg.norm(DQ) + 1e-9)
    found = watched(t, q, v, q + far, v - TUBE.kr * far)
    assert found is not None
    assert (found.kind, found.time) == ("tube", t[60])


@pytest.mark.parametrize("what", ["q", "v", "both"])
def test_a_frozen_sensor_is_seen_before_the_tube_would_show_it(what: str) -> None:
    t, q, v = swing(400)
    stuck_q, stuck_v = q.copy(), v.copy()
    if what in ("q", "both"):
        stuck_q[200:] = q[200]
    if what in ("v", "both"):
        stuck_v[200:] = v[200]
    # References that follow the sensor: the tube sees nothing.
    found = watched(t, stuck_q, stuck_v, stuck_q, stuck_v)
    assert found is not None
    assert found.kind == "sensors"
    assert found.time - t[200] <= 0.05


@pytest.mark.parametrize("gap", [0.0, -1e-3, 2e-3])
def test_a_clock_that_stands_still_turns_back_or_jumps_is_seen(gap: float) -> None:
    t, q, v = swing(50)
    t[30:] += gap - CYCLE
    found = watched(t, q, v, q, v)
    assert found is not None
    assert found.kind == "late"


def test_what_is_no_number_is_seen() -> None:
    t, q, v = swing(10)
    v[5, 2] = np.nan
    found = watched(t, q, v, q, v)
    assert found is not None
    assert (found.kind, found.time) == ("not-finite", t[5])
