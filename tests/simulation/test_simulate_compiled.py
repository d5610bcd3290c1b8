"""The compiled loop does what plain Python does with MuJoCo's own integrator, to round-off."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oracles.plain_plant import PlainPlant, plain_run
from oracles.random_robots import random_robot
from steelyard.arrays import Array
from steelyard.control import PD, ComputedTorque, Controller
from steelyard.drive import Drive, StribeckShape
from steelyard.errors import InputError, NoSolutionError
from steelyard.motion import random_fourier
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.simulation import (
    SENSORS,
    Plant,
    SensorPreset,
    closed_loop,
    mujoco_model,
    simulate_motion,
)
from steelyard.zoo import zoo_robot

JITTER_AND_NOISE = SensorPreset(
    name="both", encoder=1e-5, torque_noise=0.003, torque_quantum=0.0002, delay=1.2e-3, jitter=0.3e-3
)
DRY = Drive(viscous=0.3, coulomb=0.4, offset=0.1, rotor=0.05)
STRIBECK = replace(DRY, stribeck=0.3, asymmetric=-0.2, stribeck_shape=StribeckShape(0.1, 1.5))
LOADED = replace(STRIBECK, load=0.1)


def driven(robot: Robot, drive: Drive) -> Robot:
    return replace(robot, joints=tuple(replace(joint, drive=drive) for joint in robot.joints))


def computed_torque(robot: Robot) -> Controller:
    return ComputedTorque.nominal(robot, kp=400.0, kd=40.0)


def run(
    robot: Robot, sensor: str | SensorPreset, cycles: int, law: Controller, **options: object
) -> Recording:
    motion = random_fourier(robot, np.random.default_rng(1), period=1.0)
    given: Any = {"rng": np.random.default_rng(5), "duration": cycles * 1e-3, **options}
    return simulate_motion(robot, motion, controller=law, sensor=sensor, **given)


def plain(
    robot: Robot, sensor: str | SensorPreset, cycles: int, law: Controller, gap: float = 0.0
) -> dict[str, Array]:
    preset = SENSORS[sensor] if isinstance(sensor, str) else sensor
    rng = np.random.default_rng(5)
    specimen = preset.drawn(robot, rng)
    motion = random_fourier(robot, np.random.default_rng(1), period=1.0)
    effort = np.array([joint.limits.effort for joint in robot.joints])
    limits = effort if preset.torque_limits else np.full(robot.nv, np.inf)
    turning = np.array([joint.kind.rotates for joint in robot.joints])
    plant, reference = PlainPlant(specimen.robot, gap), motion.sample(np.arange(cycles + 1) * 1e-3)
    return plain_run(plant, law, reference, limits, preset, specimen, rng, turning, effort)


def assert_same(log: Recording, judge: dict[str, Array]) -> None:
    # Round-off of a position is divided by the cycle in a velocity, and by a step and an inertia in an
    # acceleration.
    for name, tolerance in (("q", 1e-11), ("v", 1e-9), ("tau", 1e-9), ("a", 1e-8), ("current", 1e-9)):
        ours = getattr(log, name)
        assert (ours is None) == (name not in judge)
        if ours is not None:
            scale = np.abs(judge[name]).max()
            np.testing.assert_allclose(ours, judge[name], rtol=0, atol=tolerance * scale, err_msg=name)


@pytest.mark.parametrize("name", ["crane_x7", "panda"])
@pytest.mark.parametrize("sensor", ["ideal", "industrial", "low-cost", JITTER_AND_NOISE], ids=str)
def test_every_preset_logs_what_the_plain_loop_logs(name: str, sensor: str | SensorPreset) -> None:
    robot = zoo_robot(name)
    law = computed_torque(robot)
    assert_same(run(robot, sensor, 25, law), plain(robot, sensor, 25, law))


@pytest.mark.parametrize("drive", [Drive(rotor=0.1), DRY, STRIBECK, LOADED])
@pytest.mark.parametrize("sensor", ["ideal", "low-cost"])
def test_every_kind_of_friction_is_that_of_the_plain_plant(drive: Drive, sensor: str) -> None:
    robot = driven(zoo_robot("two_link"), drive)
    law = PD(robot, 80.0, 8.0)
    assert_same(run(robot, sensor, 60, law), plain(robot, sensor, 60, law))


def test_play_at_the_encoders_is_that_of_the_plain_plant() -> None:
    robot = zoo_robot("two_link")
    law = PD(robot, 80.0, 8.0)
    log = run(robot, "industrial", 120, law, backlash=2e-3)
    assert_same(log, plain(robot, "industrial", 120, law, gap=2e-3))


@pytest.mark.parametrize("seed", range(6))
def test_branching_robots_whose_joints_mujoco_orders_otherwise_move_as_the_plain_plant(seed: int) -> None:
    robot = driven(random_robot(np.random.default_rng(seed), bodies=6), STRIBECK)
    plant, judge = Plant(robot), PlainPlant(robot)
    rng = np.random.default_rng(seed)
    plant.place(start := rng.uniform(-1.0, 1.0, robot.nv), np.zeros(robot.nv))
    judge.place(start)
    for _ in range(20):
        tau = 3.0 * rng.standard_normal(robot.nv)
        plant.advance(tau, 1e-3)
        judge.advance(tau, 1e-3)
        np.testing.assert_allclose(plant.q, judge.q, rtol=0, atol=1e-10)
        np.testing.assert_allclose(plant.v, judge.v, rtol=0, atol=1e-8)
        np.testing.assert_allclose(plant.acceleration(tau), judge.acceleration(tau), rtol=1e-6, atol=1e-6)


def test_some_of_these_robots_are_ordered_otherwise() -> None:
    orders = [Plant(driven(random_robot(np.random.default_rng(s), bodies=6), DRY)).dof for s in range(6)]
    assert any((order != np.arange(len(order))).any() for order in orders)


def test_no_compiled_call_lasts_longer_than_a_stretch_and_stretches_leave_no_trace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    robot = zoo_robot("two_link")
    law = PD(robot, 80.0, 8.0)
    call: Callable[..., object] = closed_loop.call
    lengths: list[int] = []

    def counted(*given: Any) -> object:
        lengths.append(given[-1] - given[-2])
        return call(*given)

    monkeypatch.setattr(closed_loop, "call", counted)
    whole = run(robot, "low-cost", 1200, law)
    assert lengths == [500, 500, 201]
    monkeypatch.setattr(closed_loop, "STRETCH", 7e-3)
    for name in ("q", "v", "tau", "current"):
        np.testing.assert_array_equal(getattr(run(robot, "low-cost", 1200, law), name), getattr(whole, name))


def test_a_run_that_diverges_names_joint_and_time() -> None:
    robot = zoo_robot("two_link")
    with pytest.raises(
        NoSolutionError, match=r"diverged at 0\.\d{4} s: joint 'joint\d' would reach -?[\d.e+]+ rad/s"
    ):
        run(robot, "low-cost", 900, PD(robot, 1e9, 0.0), torque_limits=False)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes_give_the_same_bits(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system cannot start processes by '{method}'")
    robot = zoo_robot("two_link")
    motion = random_fourier(robot, np.random.default_rng(1))
    given = {"sensor": "low-cost", "rng": np.random.default_rng(4), "duration": 0.2}
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        there = pool.submit(simulate_motion, robot, motion, **given).result(timeout=120)  # type: ignore[arg-type]
    here = simulate_motion(robot, motion, **given)  # type: ignore[arg-type]
    np.testing.assert_array_equal(there.q, here.q)
    np.testing.assert_array_equal(there.tau, here.tau)


def test_a_missing_library_is_named_with_its_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(mujoco_model.mujoco, "__file__", str(tmp_path / "__init__.py"))
    with pytest.raises(InputError, match=f"^{tmp_path}: the library libmujoco is not in this folder"):
        mujoco_model.link_mujoco.__wrapped__()
