"""A drive at its limit and a knock do not weigh: their samples are found, named and left out."""

from __future__ import annotations

import numpy as np
import pytest

from payloads.loaded_arm import body, motion_of, run
from steelyard.payloads import described, mounted_at, weigh_by_residual, weigh_with_model
from steelyard.payloads.methods import residual_torque
from steelyard.recording import Recording, saturated
from steelyard.signals import Preparation, is_limited, prepared, without_limited
from steelyard.zoo import zoo_robot

PANDA = zoo_robot("panda")
HELD = mounted_at(PANDA)
LOAD = body(3, 1.5)
MODEL = described(PANDA, ())


def limited(log, joint: int, limit: float, noise: float = 0.02):
    tau = np.array(log.tau)
    tau[:, joint] = np.clip(tau[:, joint], -limit, limit)
    tau += noise * np.random.default_rng(5).standard_normal(tau.shape)
    return log.with_channels(tau=tau, a=None)


def test_a_drive_at_its_limit_is_found_although_noise_comes_on_top() -> None:
    log = run(PANDA, motion_of(PANDA), LOAD)
    limit = 0.7 * np.abs(log.tau[:, 1]).max()
    short = limited(log, 1, limit)
    limits = np.full(7, np.inf)
    limits[1] = limit
    at = saturated(short, limits)
    beyond = np.abs(log.tau[:, 1]) > limit
    assert beyond.mean() > 0.03
    assert at[beyond, 1].mean() > 0.9
    assert not at[:, [0, 2, 3, 4, 5, 6]].any()
    # A limit that torques exceed does not bind, whatever the description says.
    assert not saturated(limited(log, 1, np.inf), limits).any()


def test_samples_at_the_limit_are_left_out_and_the_load_is_right() -> None:
    log = run(PANDA, motion_of(PANDA), LOAD)
    limit = 0.7 * np.abs(log.tau[:, 1]).max()
    limits = np.full(7, np.inf)
    limits[1] = limit
    short = limited(log, 1, limit)
    told = prepared(short, Preparation(torque_limit=limits))
    (finding,) = [x for x in told.findings if x.code == "torque-limit"]
    assert PANDA.joint_names[1] in finding.message
    assert is_limited(told.recording, told.recording.time).any()
    assert without_limited(told.recording).n < told.recording.n
    right = weigh_with_model(MODEL, HELD, [told.recording], method="ols")
    wrong = weigh_with_model(MODEL, HELD, [prepared(short).recording], method="ols")
    assert abs(right.values[0] - LOAD.mass) < 0.02
    assert abs(wrong.values[0] - LOAD.mass) > 5.0 * abs(right.values[0] - LOAD.mass)


def test_an_empty_run_at_its_limit_is_left_out_of_the_difference() -> None:
    motion = motion_of(PANDA)
    loaded, empty = run(PANDA, motion, LOAD), run(PANDA, motion)
    limit = 0.7 * np.abs(empty.tau[:, 1]).max()
    limits = np.full(7, np.inf)
    limits[1] = limit
    full = prepared(limited(loaded, 1, np.inf)).recording
    bare = prepared(limited(empty, 1, limit), Preparation(torque_limit=limits)).recording
    found = weigh_by_residual(PANDA, HELD, [full], [bare])
    assert abs(found.values[0] - LOAD.mass) < 0.02


def knocked(log, start: int, samples: int, size: float):
    tau = np.array(log.tau)
    bump = size * np.sin(np.pi * (np.arange(samples) + 0.5) / samples)
    tau[start : start + samples, :4] += bump[:, None] * np.array([1.0, -2.0, 1.5, 1.0])
    return log.with_channels(tau=tau)


def test_a_knock_is_a_finding_and_does_not_weigh() -> None:
    log = run(PANDA, motion_of(PANDA), LOAD, noise=0.1)
    hit = knocked(log, 400, 12, 30.0)
    found, clean = (weigh_with_model(MODEL, HELD, [x]) for x in (hit, log))
    (finding,) = [x for x in found.findings if x.code == "knock"]
    assert "4." in finding.message
    assert "touched" in finding.message
    assert 12 <= clean.samples - found.samples <= 30
    assert abs(found.values[0] - clean.values[0]) < clean.deviations[0]
    assert not [x for x in clean.findings if x.code == "knock"]


@pytest.mark.parametrize(("size", "samples"), [(0.5, 12), (30.0, 90)])
def test_what_is_small_or_lasts_is_no_knock(size: float, samples: int) -> None:
    log = knocked(run(PANDA, motion_of(PANDA), LOAD, noise=0.5), 400, samples, size)
    found = weigh_with_model(MODEL, HELD, [log])
    assert not [x for x in found.findings if x.code == "knock"]


def test_what_two_runs_differ_by_is_written_down() -> None:
    time = np.arange(400) / 100.0
    q = np.column_stack([np.sin(time), np.cos(time)])
    joints = ("joint1", "joint2")
    bare = Recording(joints, time, q, v=0.0 * q, a=0.0 * q, tau=0.0 * q)
    off = np.where(np.arange(400)[:, None] == 150, [0.0, 0.02], 0.0)
    full = Recording(joints, time, q + off, v=0.0 * q, a=0.0 * q, tau=np.ones_like(q))
    detail = residual_torque(full, bare, None).provenance[-1].detail
    assert 0.005 < detail["largest_difference"] <= 0.0201
    assert detail["dropped"] == 0
