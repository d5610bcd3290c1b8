"""A simulated wrist sensor shows what a short Newton-Euler of the carried body alone says."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest

from oracles.pinocchio_robot import pinocchio_model
from payloads.loaded_arm import body, motion_of
from steelyard.errors import DescriptionError, InputError
from steelyard.recording import wrench_in
from steelyard.simulation import simulate_motion
from steelyard.simulation.sensor import INDUSTRIAL
from steelyard.simulation.wrist import read_wrist
from steelyard.zoo import zoo_robot

PANDA = zoo_robot("panda")
FRAME = "panda_link8"


def carried_wrench(load, q, v, a) -> np.ndarray:
    """Newton and Euler for the load alone, carried by a frame whose motion Pinocchio gives."""
    robot = PANDA
    model = pinocchio_model(robot, np.array([link.body.parameters for link in robot.links]))
    place = robot.frame(FRAME)
    pose = pinocchio.SE3(place.placement.rotation, place.placement.translation)
    at = model.addFrame(pinocchio.Frame("ft", model.njoints - 1, 0, pose, pinocchio.FrameType.OP_FRAME))
    data = model.createData()
    wrenches = []
    for k in range(len(q)):
        pinocchio.forwardKinematics(model, data, q[k], v[k], a[k])
        pinocchio.updateFramePlacements(model, data)
        local = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
        w = pinocchio.getFrameVelocity(model, data, at, local).angular
        moved = pinocchio.getFrameClassicalAcceleration(model, data, at, local)
        R = data.oMf[at].rotation
        c, J = R @ load.com, R @ load.inertia @ R.T
        centre = moved.linear + np.cross(moved.angular, c) + np.cross(w, np.cross(w, c))
        force = load.mass * (robot.gravity - centre)
        moment = np.cross(c, force) - J @ moved.angular - np.cross(w, J @ w)
        wrenches.append(np.concatenate([R.T @ force, R.T @ moment]))
    return np.array(wrenches)


def test_the_sensor_shows_the_load_s_own_newton_and_euler() -> None:
    load = body(3)
    held = PANDA.with_body("load", load)
    log = simulate_motion(held, motion_of(held), rate=50.0, duration=2.0, wrench=FRAME)
    expected = carried_wrench(load, log.q, log.v, log.a)
    assert np.abs(wrench_in(log, FRAME) - expected).max() < 1e-9


def test_the_sensor_shows_noise_and_zero_of_the_preset_and_leaves_the_other_signals_alone() -> None:
    held, rng = PANDA.with_body("load", body(3)), np.random.default_rng
    told = {"sensor": "industrial", "duration": 0.5}
    log, other, bare = (
        simulate_motion(held, motion_of(held), rng=rng(5), wrench=wrench, **told)
        for wrench in (FRAME, "panda_link7", None)
    )
    assert np.array_equal(log.tau, bare.tau)
    # Link 7 and link 8 are turned about z and 0.107 m apart, and carry the same; noise and zero are the same.
    both = wrench_in(log, FRAME) - wrench_in(other, "panda_link7")
    assert np.abs(both[:, 2]).max() < 1e-9
    shown = np.column_stack(list(read_wrist(INDUSTRIAL, "x", np.zeros((4000, 6)), rng(1)).values()))
    assert shown.std(axis=0) == pytest.approx(np.repeat((0.1, 0.005), 3), rel=0.05)
    zero = np.abs(shown.mean(axis=0))
    assert (zero[:3] < 5.0).all()
    assert (zero[3:] < 0.5).all()
    assert (zero > 1e-3).all()


def test_a_sensor_that_carries_nothing_or_does_not_move_is_refused() -> None:
    with pytest.raises(DescriptionError, match="carries"):
        simulate_motion(PANDA, motion_of(PANDA), wrench=FRAME)
    with pytest.raises(InputError, match="base"):
        simulate_motion(PANDA, motion_of(PANDA), wrench="panda_link0")
