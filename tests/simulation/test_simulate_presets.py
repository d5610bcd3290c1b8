"""The presets are those of the interface; what they cannot be applied to is refused by name."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import numpy as np
import pytest

from steelyard.errors import DescriptionError, InputError, UnknownNameError
from steelyard.motion import random_fourier
from steelyard.robot import Robot
from steelyard.simulation import (
    SENSORS,
    SensorPreset,
    sensor_preset,
    simulate_motion,
    torque_per_ampere,
)
from steelyard.zoo import zoo_robot


def with_effort(effort: float) -> Robot:
    """The two-link arm with another effort limit at its second joint."""
    robot = zoo_robot("two_link")
    first, second = robot.joints
    return replace(robot, joints=(first, replace(second, limits=replace(second.limits, effort=effort))))


def test_the_presets_have_the_numbers_of_the_interface() -> None:
    assert list(SENSORS) == ["ideal", "industrial", "low-cost", "crane-x7"]
    industrial = SensorPreset(
        name="industrial",
        rate=1000.0,
        encoder=1e-5,
        torque_noise=0.3e-2,
        torque_bias=0.1e-2,
        torque_quantum=0.02e-2,
        delay=1e-3,
        torque_limits=True,
        force_noise=0.1,
        moment_noise=0.005,
        force_zero=5.0,
        moment_zero=0.5,
    )
    assert SENSORS["industrial"] == industrial
    cheap = SENSORS["low-cost"]
    assert cheap.rate == 1000.0
    assert cheap.encoder == 2 * math.pi / 2**12
    assert (cheap.current_quantum, cheap.gain_error) == (2.69e-3, 0.02)
    assert (cheap.delay, cheap.jitter) == (1.5e-3, 0.3e-3)
    # CRANE-X7: limits of 4 and 10 N·m, Coulomb friction of 0.01 to 0.08 N·m, 2.3179 N·m/A (Oaki et al. 2026).
    assert (4 * cheap.coulomb_least, 10 * cheap.coulomb_most) == pytest.approx((0.01, 0.08))
    assert 4 / cheap.current_at_limit == pytest.approx(2.3179, rel=0.01)


def test_a_preset_is_found_by_its_name_and_stands_for_itself() -> None:
    for name, preset in SENSORS.items():
        assert sensor_preset(name) is preset
        assert sensor_preset(preset) is preset
    with pytest.raises(UnknownNameError, match="Did you mean 'industrial'"):
        sensor_preset("industrail")


@pytest.mark.parametrize(
    "name",
    [
        f.name
        for f in fields(SensorPreset)
        if f.name not in ("name", "truth", "torque_limits", "torque_constants")
    ],
)
@pytest.mark.parametrize("value", [-1e-3, math.nan, math.inf])
def test_no_number_of_a_preset_is_negative_or_infinite(name: str, value: float) -> None:
    with pytest.raises(InputError, match=f"{name} of sensor preset 'mine': must be finite and not negative"):
        SensorPreset(name="mine", **{name: value})


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"rate": 0.0}, "rate of .* must be positive"),
        ({"gain_error": 1.0}, "gain_error of .* less than 1"),
        ({"coulomb_least": 0.2, "coulomb_most": 0.1}, r"coulomb_least of .* 0\.2 exceeds 0\.1"),
        ({"delay": 1e-4, "jitter": 2e-4}, "jitter of .* must not exceed the delay"),
        ({"delay": 1e-3, "jitter": 5e-4}, "jitter of .* less than half a cycle"),
        ({"current_quantum": 1e-3}, "current_quantum of .* not the current that the effort limit takes"),
        ({"current_at_limit": 2.0, "torque_quantum": 1e-3}, "torque_quantum of .* ammeter"),
        ({"truth": True, "encoder": 1e-5}, "encoder of .* a preset of the truth has no imperfection"),
    ],
)
def test_numbers_that_contradict_each_other_are_refused(numbers: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        SensorPreset(name="mine", **numbers)  # type: ignore[arg-type]


@pytest.mark.parametrize(("effort", "stated"), [(math.inf, "no"), (0.0, "a zero")])
def test_a_joint_without_an_effort_limit_is_refused_by_name_where_one_is_needed(
    effort: float, stated: str
) -> None:
    robot = with_effort(effort)
    motion = random_fourier(robot, np.random.default_rng(1))
    message = f"joint 'joint2' of 'two_link': it states {stated} effort limit, which {{}} needs. State its"
    for name in ("industrial", "low-cost"):
        with pytest.raises(DescriptionError, match=message.format(f"sensor preset '{name}'")):
            simulate_motion(robot, motion, sensor=name, rng=np.random.default_rng(0))
    with pytest.raises(DescriptionError, match=message.format("a run within torque limits")):
        simulate_motion(robot, motion, torque_limits=True)
    assert simulate_motion(robot, motion, duration=0.01).n == 11
    mine = SensorPreset(name="mine", encoder=1e-4, delay=1e-3)
    assert simulate_motion(robot, motion, sensor=mine, duration=0.01).n == 11


def test_a_random_preset_asks_for_its_generator() -> None:
    robot = zoo_robot("two_link")
    motion = random_fourier(robot, np.random.default_rng(1))
    for name in ("industrial", "low-cost"):
        with pytest.raises(InputError, match=rf"rng: sensor preset '{name}' is random .*default_rng\(seed\)"):
            simulate_motion(robot, motion, sensor=name)


def test_a_log_is_as_fast_as_the_sensors_or_a_whole_number_of_times_slower() -> None:
    robot = zoo_robot("two_link")
    motion = random_fourier(robot, np.random.default_rng(1))
    for rate in (2000.0, 300.0, 999.0):
        with pytest.raises(
            InputError, match=rf"rate: is {rate:g} Hz, but the sensors of 'industrial' .* 1000"
        ):
            simulate_motion(robot, motion, sensor="industrial", rate=rate, rng=np.random.default_rng(0))
    mine = SensorPreset(name="mine", rate=500.0)
    assert simulate_motion(robot, motion, sensor=mine, duration=0.1).n == 51


def test_the_servos_of_paper_004_have_their_own_torque_constants() -> None:
    crane = zoo_robot("crane_x7_hand")
    preset = SENSORS["crane-x7"]
    constants = torque_per_ampere(preset, crane)
    assert constants is not None
    assert constants[1] == 3.1317
    assert (np.delete(constants, 1) == 2.3179).all()
    with pytest.raises(InputError, match="8 joints"):
        torque_per_ampere(preset, zoo_robot("crane_x7"))
    for wrong in ((1.0, -1.0), (1.0, math.nan)):
        with pytest.raises(InputError, match="positive"):
            replace(preset, torque_constants=wrong)
    with pytest.raises(InputError, match="effort limit"):
        replace(preset, current_at_limit=1.0)


def test_an_ampere_is_worth_its_torque_constant_in_the_log() -> None:
    crane = zoo_robot("crane_x7_hand")
    motion = random_fourier(crane, np.random.default_rng(1), period=1.0)
    log = simulate_motion(crane, motion, sensor="crane-x7", rng=np.random.default_rng(2), duration=0.2)
    counts = log.channels["current"] / SENSORS["crane-x7"].current_quantum
    np.testing.assert_allclose(counts, np.rint(counts), atol=1e-9)
    np.testing.assert_allclose(
        log.channels["tau"], log.channels["current"] * SENSORS["crane-x7"].torque_constants, rtol=1e-15
    )
