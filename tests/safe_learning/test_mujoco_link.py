"""The simulated robot behind a link: it errs as far as it may, and not farther."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.errors import InputError
from steelyard.robot import Robot
from steelyard.safe_learning import MuJoCoDriver, SensorErrors
from steelyard.safe_learning.driver import PATTERNS
from steelyard.zoo import zoo_robot

ROBOT: Robot = zoo_robot("two_link")
START = np.array([0.4, -0.7])
ERRORS = {"torque_relative": 0.03, "torque_absolute": 0.2, "velocity": 2e-3, "position": 1e-4}


def driven(link: MuJoCoDriver, cycles: int = 200) -> tuple[np.ndarray, ...]:
    rows = []
    for k in range(cycles):
        reading = link.read()
        rows.append(np.concatenate(((reading.time,), reading.q, reading.v, reading.tau)))
        link.send(np.array([2.0 * np.sin(0.1 * k), -1.0]))
    read = np.array(rows)
    return read[:, 0], read[:, 1:3], read[:, 3:5], read[:, 5:]


def test_without_errors_it_says_what_is_and_time_goes_on_by_cycles() -> None:
    link = MuJoCoDriver(ROBOT, START, cycle=1e-3)
    t, q, v, tau = driven(link)
    true_q, true_v, sent = link.truth
    assert t == pytest.approx(1e-3 * np.arange(200), abs=1e-12)
    assert np.array_equal(q, true_q)
    assert np.array_equal(v, true_v)
    assert np.array_equal(q[0], START)
    # The torque of a reading is that of the cycle before it.
    assert np.array_equal(tau[1:], sent[:-1])
    assert not tau[0].any()


@pytest.mark.parametrize("pattern", [pattern for pattern in PATTERNS if pattern != "none"])
def test_readings_err_within_their_bounds_and_come_near_them(pattern: str) -> None:
    link = MuJoCoDriver(
        ROBOT, START, cycle=1e-3, errors=SensorErrors(**ERRORS, pattern=pattern), rng=np.random.default_rng(1)
    )
    _, q, v, tau = driven(link)
    true_q, true_v, sent = link.truth
    acted = np.vstack((np.zeros((1, 2)), sent[:-1]))
    for read, true, most in (
        (q, true_q, 1e-4),
        (v, true_v, 2e-3),
        (tau, acted, 0.03 * np.abs(acted) + 0.2),
    ):
        share = np.abs(read - true) / most
        assert share.max() <= 1.0 + 1e-9
        assert share.max() > 0.95


def test_a_seed_gives_the_same_run_and_the_arm_does_not_feel_its_sensors() -> None:
    def run(seed: int) -> MuJoCoDriver:
        errors = SensorErrors(**ERRORS, pattern="even")
        link = MuJoCoDriver(ROBOT, START, cycle=1e-3, errors=errors, rng=np.random.default_rng(seed))
        driven(link)
        return link

    assert np.array_equal(run(3).truth[0], run(4).truth[0])
    one, two = (
        driven(
            MuJoCoDriver(
                ROBOT, START, cycle=1e-3, errors=SensorErrors(**ERRORS), rng=np.random.default_rng(5)
            )
        )
        for _ in range(2)
    )
    assert np.array_equal(one[1], two[1])


def test_brakes_hold_the_arm_where_it_is() -> None:
    link = MuJoCoDriver(ROBOT, START, cycle=1e-3)
    driven(link)
    before = link.read()
    link.stop()
    link.send(np.array([50.0, 50.0]))
    after = link.read()
    assert np.array_equal(after.q, before.q)
    assert not after.v.any()
    assert after.time > before.time


def test_errors_that_nothing_draws_are_refused() -> None:
    with pytest.raises(InputError, match="rng"):
        MuJoCoDriver(ROBOT, START, cycle=1e-3, errors=SensorErrors(velocity=1e-3))
