"""A sensor at the wrist weighs what MuJoCo says passes through it, and says what it cannot see."""

from __future__ import annotations

import numpy as np
import pytest

from payloads.loaded_arm import body, motion_of
from payloads.test_ways import assert_ten
from steelyard.errors import InputError
from steelyard.inertia import Body
from steelyard.payloads import WristSensor, mounted_at, weigh_by_wrench
from steelyard.recording import Recording, wrench_columns_of, wrench_in
from steelyard.robot import Robot
from steelyard.simulation.wrist import wrist_wrench
from steelyard.zoo import zoo_robot

PANDA = zoo_robot("panda")
FRAME = "panda_link8"
HAND = Body(0.73, np.array([-0.01, 0.002, 0.03]), np.diag([0.001, 0.0025, 0.0017]))
GRIPPED = PANDA.with_body("hand", HAND, frame=FRAME)


def sensed(
    robot: Robot,
    load: Body | None,
    *,
    seed: int = 0,
    duration: float = 4.0,
    zero: np.ndarray | float = 0.0,
    noise: float = 0.0,
    late: float = 0.0,
) -> Recording:
    """A run with the wrench that MuJoCo finds, at 100 Hz."""
    held = robot if load is None else robot.with_body("load", load)
    time = np.arange(0.0, duration, 0.01)
    motion = motion_of(PANDA, seed)
    at, then = motion.sample(time), motion.sample(np.maximum(time - late, 0.0))
    wrench = wrist_wrench(held, FRAME, then.q, then.v, then.a) + zero
    scale = np.repeat((1.0, 0.05), 3) * noise
    wrench = wrench + scale * np.random.default_rng(seed + 100).standard_normal(wrench.shape)
    extra = dict(zip(wrench_columns_of(FRAME), wrench.T, strict=True))
    return Recording(PANDA.joint_names, time, at.q, at.v, at.a, extra=extra)


def test_without_noise_the_sensor_gives_the_ten_numbers_whatever_its_zero() -> None:
    load, zero = body(1), np.array([3.0, -2.0, 20.0, 0.3, 0.1, -0.2])
    log = sensed(GRIPPED, load, zero=zero)
    found = weigh_by_wrench(WristSensor(GRIPPED, FRAME), mounted_at(GRIPPED), [log])
    assert found.shown == 10
    assert_ten(found.values, load.parameters, 1e-6)
    # The other side of the sensor, said so.
    turned = log.revised("turned", {}, extra={k: -x for k, x in log.extra.items()})
    found = weigh_by_wrench(WristSensor(GRIPPED, FRAME, "reaction"), mounted_at(GRIPPED), [turned])
    assert_ten(found.values, load.parameters, 1e-6)
    wrong = weigh_by_wrench(WristSensor(GRIPPED, FRAME), mounted_at(GRIPPED), [turned])
    assert "--wrench-sign reaction" in next(f.message for f in wrong.findings if f.code == "wrench-sign")


def test_an_empty_run_of_another_motion_takes_an_unknown_gripper_off() -> None:
    load, zero = body(2), np.array([3.0, -2.0, 20.0, 0.3, 0.1, -0.2])
    loaded, empty = sensed(GRIPPED, load, zero=zero), sensed(GRIPPED, None, seed=1, zero=zero)
    # The description that is trusted knows of no hand.
    found = weigh_by_wrench(WristSensor(PANDA, FRAME), mounted_at(PANDA), [loaded], [empty])
    assert_ten(found.values, load.parameters, 1e-6)
    alone = weigh_by_wrench(WristSensor(PANDA, FRAME), mounted_at(PANDA), [loaded])
    assert alone.values[0] == pytest.approx(load.mass + HAND.mass)


def held_still(log: Recording) -> Recording:
    """The first sample of a run for a second, its wrench measured again and again."""
    n = 100
    rng = np.random.default_rng(3)
    extra = {k: x[0] + 0.01 * rng.standard_normal(n) for k, x in log.extra.items()}
    still = np.zeros((n, 7))
    return Recording(log.joints, np.arange(n) / 100.0, log.q[:1] + still, still, still, extra=extra)


def test_one_pose_shows_nothing_with_an_unknown_zero_and_the_weight_beside_an_empty_run() -> None:
    load = body(2)
    robot = PANDA.with_gravity(PANDA.gravity)
    loaded, empty = (held_still(sensed(GRIPPED, each, zero=2.0)) for each in (load, None))
    sensor, held = WristSensor(robot, FRAME), mounted_at(robot)
    alone = weigh_by_wrench(sensor, held, [loaded])
    assert np.isinf(alone.deviations[0])
    both = weigh_by_wrench(sensor, held, [loaded], [empty])
    assert both.shown == 3  # the weight, and its lever across gravity
    assert both.values[0] == pytest.approx(load.mass, abs=0.01)
    assert np.isinf(both.deviations[4:]).all()


def test_a_zero_that_moved_between_the_runs_is_noticed_and_does_no_harm() -> None:
    load = body(2)
    loaded = sensed(GRIPPED, load, zero=1.0, noise=0.1)
    empty = sensed(GRIPPED, None, seed=1, zero=4.0, noise=0.1)
    sensor, held = WristSensor(PANDA, FRAME), mounted_at(PANDA)
    found = weigh_by_wrench(sensor, held, [loaded], [empty])
    assert "wrench-zero-moved" in {finding.code for finding in found.findings}
    assert abs(found.values[0] - load.mass) < 4.0 * found.deviations[0] < 0.05
    same = weigh_by_wrench(sensor, held, [loaded], [sensed(GRIPPED, None, seed=1, zero=1.0, noise=0.1)])
    assert not same.findings
    assert same.deviations[0] < found.deviations[0]


def test_a_sensor_that_is_late_is_moved_by_its_lag() -> None:
    load = body(4)
    log = sensed(GRIPPED, load, noise=0.1, late=0.012)
    found = weigh_by_wrench(WristSensor(GRIPPED, FRAME), mounted_at(GRIPPED), [log])
    assert "12 ms" in next(f.message for f in found.findings if f.code == "wrench-lag")
    off = (found.values - load.parameters) / found.deviations
    assert np.abs(off).max() < 4.5


def test_what_does_not_pass_through_the_sensor_is_not_weighed_by_it() -> None:
    sensor = WristSensor(PANDA, FRAME)
    with pytest.raises(InputError, match="does not pass through"):
        weigh_by_wrench(sensor, mounted_at(PANDA, frame="panda_link3"), [sensed(GRIPPED, body(1))])


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    load, inside = body(5), []
    exact = sensed(GRIPPED, load)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        noise = np.repeat((0.1, 0.005), 3) * rng.standard_normal((exact.n, 6))
        columns = (wrench_in(exact, FRAME) + noise).T
        extra = dict(zip(wrench_columns_of(FRAME), columns, strict=True))
        log = exact.revised("noisy", {}, extra=extra)
        found = weigh_by_wrench(WristSensor(GRIPPED, FRAME), mounted_at(GRIPPED), [log])
        inside.append(np.abs(found.values - load.parameters) < 1.96 * found.deviations)
    assert 0.88 < np.mean(inside) < 0.995
