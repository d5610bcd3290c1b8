"""Every way to the payload ends in the same numbers, those that were put in."""

from __future__ import annotations

import numpy as np
import pytest

from payloads.loaded_arm import RATE, body, motion_of, run
from steelyard.errors import RecordingError, UnknownNameError
from steelyard.inertia import Body
from steelyard.layout import layout_of
from steelyard.payloads import (
    NOTHING,
    LoadedRuns,
    described,
    fit_gains,
    mounted_at,
    residual_torque,
    weigh_by_residual,
    weigh_full_arm,
    weigh_several,
    weigh_with_model,
)
from steelyard.payloads.arm_model import load_problem
from steelyard.pose import Pose
from steelyard.recording import Recording
from steelyard.zoo import zoo_robot

PANDA = zoo_robot("panda")
MODEL = described(PANDA, ())
DRIVE = ("viscous", "coulomb", "offset")


def assert_ten(values: np.ndarray, truth: np.ndarray, within: float) -> None:
    scales = np.array([1.0, 0.1, 0.1, 0.1, *(6 * [0.01])])
    assert np.abs((values - truth) / scales).max() < within


def test_residual_torques_give_the_load_without_a_model() -> None:
    load, motion = body(), motion_of(PANDA)
    found = weigh_by_residual(PANDA, mounted_at(PANDA), [run(PANDA, motion, load)], [run(PANDA, motion)])
    assert_ten(found.values, load.parameters, 1e-9)
    assert found.shown == 10


def test_a_known_robot_gives_the_load_without_an_empty_run() -> None:
    load = body(1)
    found = weigh_with_model(MODEL, mounted_at(PANDA), [run(PANDA, motion_of(PANDA), load)])
    assert_ten(found.values, load.parameters, 1e-9)


def test_momentum_gives_the_load_without_accelerations() -> None:
    load = body(2)
    log = run(PANDA, motion_of(PANDA), load)
    bare = log.with_channels(a=None)
    found = weigh_with_model(MODEL, mounted_at(PANDA), [bare], method="momentum")
    # The trapezoidal rule at 100 Hz is what is left.
    assert_ten(found.values, load.parameters, 2e-3)


def test_momentum_windows_do_not_shrink_with_the_interval_of_the_log() -> None:
    load, motion = body(2), motion_of(PANDA)
    time = np.arange(0.0, motion.duration, 1e-3)
    made = run(PANDA, motion, load, time=time)
    log = Recording(made.joints, time, made.q, v=made.v, tau=made.tau)
    rng = np.random.default_rng(0)
    # Known links turn noise of the velocity into noise of their momentum, which the load's regressor shares.
    noisy = log.with_channels(v=log.v + 4e-3 * rng.standard_normal(log.v.shape))
    found = weigh_with_model(MODEL, mounted_at(PANDA), [noisy], method="momentum")
    assert found.values[0] == pytest.approx(load.mass, rel=0.02)
    asked = weigh_with_model(MODEL, mounted_at(PANDA), [noisy], method="momentum", window=0.005)
    assert abs(asked.values[0] - load.mass) > 0.05 * load.mass


def test_a_lag_of_the_torque_is_taken_out_before_momentum_is_integrated() -> None:
    load, motion = body(3), motion_of(PANDA)
    log = run(PANDA, motion, load)
    late = log.with_channels(tau=np.vstack([log.tau[:1], log.tau[:-1]]))
    found = weigh_with_model(MODEL, mounted_at(PANDA), [late], method="momentum", interval=0.012)
    left = weigh_with_model(MODEL, mounted_at(PANDA), [late], method="momentum")
    wrong, right = (np.abs(each.values - load.parameters)[4:].max() for each in (left, found))
    assert right < 0.2 * wrong


def test_the_full_arm_estimated_twice_gives_the_load_from_different_motions() -> None:
    load, layout = body(3), layout_of(PANDA, DRIVE)
    loaded, empty = run(PANDA, motion_of(PANDA, 0), load), run(PANDA, motion_of(PANDA, 1))
    found = weigh_full_arm(PANDA, layout, mounted_at(PANDA), [loaded], [empty])
    assert_ten(found.values, load.parameters, 1e-6)


def test_offsets_and_friction_that_differ_between_runs_do_not_touch_the_load() -> None:
    load, motion = body(4), motion_of(PANDA)
    shift = np.linspace(-1.0, 1.0, 7)
    loaded = run(PANDA, motion, load, offset=shift)
    rubbing = loaded.with_channels(tau=loaded.tau + 0.3 * np.sign(loaded.v) + 0.2 * loaded.v)
    found = weigh_by_residual(PANDA, mounted_at(PANDA), [rubbing], [run(PANDA, motion)])
    assert_ten(found.values, load.parameters, 1e-9)
    blind = weigh_by_residual(PANDA, mounted_at(PANDA), [rubbing], [run(PANDA, motion)], changes=())
    assert np.abs(blind.values[0] - load.mass) > 1e-3


def test_a_grasp_moves_the_numbers_as_the_body_moves() -> None:
    load, motion = body(5), motion_of(PANDA)
    grasp = Pose.from_rpy((0.3, -0.7, 1.1), (0.02, 0.05, -0.1))
    log = run(PANDA, motion, load)
    found = weigh_with_model(MODEL, mounted_at(PANDA, grasp=grasp), [log])
    assert_ten(found.values, load.moved(grasp.inverse()).parameters, 1e-9)
    again = weigh_with_model(MODEL, mounted_at(PANDA), [log]).moved(mounted_at(PANDA, grasp=grasp))
    assert_ten(again.values, found.values, 1e-9)
    assert np.allclose(again.deviations, found.deviations, rtol=1e-3)


def test_a_run_that_lags_is_aligned_and_its_difference_taken_off() -> None:
    load, motion = body(6), motion_of(PANDA)
    t = np.arange(0.0, motion.duration - 0.2, 1.0 / RATE)
    # The loaded run lags by a tenth of a second that comes and goes.
    late = t + 0.1 * np.sin(2 * np.pi * t / t[-1]) ** 2
    loaded, empty = run(PANDA, motion, load, time=late), run(PANDA, motion, time=t)
    found = weigh_by_residual(PANDA, mounted_at(PANDA), [loaded], [empty], description=MODEL)
    assert_ten(found.values, load.parameters, 1e-3)


def test_another_motion_is_not_taken_for_an_empty_run() -> None:
    with pytest.raises(RecordingError, match="different motions"):
        residual_torque(run(PANDA, motion_of(PANDA, 0), body()), run(PANDA, motion_of(PANDA, 1)), None)


def test_fingers_that_closed_are_not_part_of_the_load() -> None:
    load, motion, held = body(7), motion_of(PANDA), mounted_at(PANDA)
    fingers = Body(0.03, np.array([0.0, 0.04, 0.06]), 1e-5 * np.eye(3))
    opened = PANDA.with_body("fingers", fingers)
    closed = PANDA.with_body("fingers", fingers.moved(Pose(np.eye(3), np.array([0.0, -0.03, 0.0]))))
    gained = held.to_link @ (
        fingers.moved(Pose(np.eye(3), np.array([0.0, -0.03, 0.0]))).parameters - fingers.parameters
    )
    logs = [run(closed, motion, load)], [run(opened, motion)]
    told = weigh_by_residual(PANDA, held, *logs, gripper=gained)
    assert_ten(told.values, load.parameters, 1e-9)
    untold = weigh_by_residual(PANDA, held, *logs)
    assert abs(untold.values[2] - load.parameters[2]) > 5e-4


def test_several_loads_share_one_robot() -> None:
    layout, held = layout_of(PANDA, DRIVE), mounted_at(PANDA)
    first, second, known = body(8), body(9, 0.7), body(10, 2.0)
    groups = [
        LoadedRuns("empty", (run(PANDA, motion_of(PANDA, 0)),), held, NOTHING),
        LoadedRuns("weight", (run(PANDA, motion_of(PANDA, 1), known),), held, known),
        LoadedRuns("first", (run(PANDA, motion_of(PANDA, 2), first),), held, None),
        LoadedRuns("second", (run(PANDA, motion_of(PANDA, 3), second),), held, None),
    ]
    found = weigh_several(PANDA, layout, groups)
    assert_ten(found["first"].values, first.parameters, 1e-6)
    assert_ten(found["second"].values, second.parameters, 1e-6)


def test_a_known_load_tells_how_much_torque_an_ampere_is() -> None:
    layout, held, known = layout_of(PANDA, DRIVE), mounted_at(PANDA), body(11, 3.0)
    gains = np.array([14.0, 13.0, 11.0, 10.5, 11.0, 11.5, 9.0])
    rng = np.random.default_rng(0)

    def currents(seed: int, load: Body | None) -> object:
        log = run(PANDA, motion_of(PANDA, seed), load)
        noise = 0.01 * rng.standard_normal(log.q.shape)
        return log.with_channels(tau=None, current=log.tau / gains + noise)

    found = fit_gains(PANDA, layout, held, known, [currents(0, known)], [currents(1, None)])
    off = (found.values - gains) / found.deviations
    assert np.abs(off).max() < 4.0
    assert np.abs(found.values / gains - 1.0).max() < 0.02


def test_a_method_that_does_not_exist_is_refused_by_name() -> None:
    with pytest.raises(UnknownNameError):
        weigh_with_model(MODEL, mounted_at(PANDA), [], method="guess")


def test_only_the_load_and_the_changes_are_asked_about() -> None:
    held = mounted_at(PANDA)
    problem = load_problem(MODEL, held, [run(PANDA, motion_of(PANDA))])
    free = [name for name, is_free in zip(problem.layout.names, problem.layout.free, strict=True) if is_free]
    assert len(free) == 10 + 3 * 7
    assert all(name.startswith(held.link + ".") for name in free[:10])
