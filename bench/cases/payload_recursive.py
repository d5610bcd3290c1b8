"""A payload weighed at 1 kHz: work for each second of data, beside Pinocchio and a recursion in NumPy."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pinocchio as pin

from steelyard.dynamics import inverse_dynamics
from steelyard.inertia.body import random_body
from steelyard.layout import layout_of
from steelyard.motion import random_fourier
from steelyard.payloads import mounted_at
from steelyard.payloads.weighing import RecursivePayload
from steelyard.robot import Robot
from steelyard.zoo import zoo_robot
from timing import Row, best

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from oracles.pinocchio_robot import pinocchio_model

RATE = 1000
"""Samples of one second."""
NOISE = 0.1
"""Standard deviation of every joint's torque, N·m."""
VAGUE = 100.0
"""Variance of every unknown before the first sample, for the peer: from 1e6 its recursion diverges."""
SAME = 1e-3
"""Largest difference of the two answers: the peer starts from a prior, and its recursion squares."""
States = tuple[np.ndarray, np.ndarray, np.ndarray]


def rows() -> list[Row]:
    """Every comparison of this room."""
    robot = zoo_robot("panda")
    states, tau = _second(robot)
    apart = np.abs(_ours(robot, states, tau, 100) - _theirs(robot, states, tau)).max()
    assert apart < SAME, f"the answers differ by {apart:.1e}"
    note = "ten numbers and 21 changes of the drives; the answer is read once every 100 samples"
    peer = "Pinocchio's regressor for each sample, recursive least squares in NumPy"
    *ours, theirs = best(
        lambda: _ours(robot, states, tau, 100),
        lambda: _ours(robot, states, tau, 10),
        lambda: _ours(robot, states, tau, 1),
        lambda: _theirs(robot, states, tau),
        repeats=5,
    )
    name = "a payload on a Panda, one second at 1 kHz"
    pieces = ("100 samples at a time", "10 samples at a time", "sample by sample")
    return [
        Row(f"{name}, {piece}", time, peer, theirs, most_seconds=most, note=note)
        for piece, time, most in zip(pieces, ours, (0.05, 0.1, 0.5), strict=True)
    ]


def _second(robot: Robot) -> tuple[States, np.ndarray]:
    """States of a quick motion, and the torque of a payload with noise."""
    rng = np.random.default_rng(0)
    motion = random_fourier(robot, rng)
    s = motion.sample(np.linspace(0, motion.duration, RATE, endpoint=False))
    loaded = robot.with_body("payload", random_body(rng, mass=(1.0, 2.0)))
    tau = [
        inverse_dynamics(arm, layout_of(arm), layout_of(arm).complete_nominal(), s.q, s.v, s.a)
        for arm in (loaded, robot)
    ]
    return (s.q, s.v, s.a), tau[0] - tau[1] + NOISE * rng.normal(size=tau[0].shape)


def _ours(robot: Robot, states: States, tau: np.ndarray, size: int) -> np.ndarray:
    payload = RecursivePayload.starting(robot, mounted_at(robot), np.full(robot.nv, NOISE))
    for first in range(0, len(tau), size):
        block = slice(first, first + size)
        payload = payload.absorb(*(x[block] for x in states), tau[block])
        if (first + size) % 100 == 0:
            answer = payload.values
    return answer


def _theirs(robot: Robot, states: States, tau: np.ndarray) -> np.ndarray:
    """The recursion of textbooks: a covariance and an estimate, corrected by each sample's seven rows."""
    model = pinocchio_model(robot)
    data = model.createData()
    nv = robot.nv
    to_link = mounted_at(robot).to_link
    H = np.zeros((nv, 10 + 3 * nv))
    own = 10 + 3 * np.arange(nv)
    joints = np.arange(nv)
    x, P = np.zeros(H.shape[1]), VAGUE * np.eye(H.shape[1])
    R = NOISE**2 * np.eye(nv)
    for q, v, a, t in zip(*states, tau, strict=True):
        H[:, :10] = pin.computeJointTorqueRegressor(model, data, q, v, a)[:, -10:] @ to_link
        H[joints, own], H[joints, own + 1], H[joints, own + 2] = v, np.sign(v), 1.0
        PH = P @ H.T
        K = np.linalg.solve(H @ PH + R, PH.T).T
        x = x + K @ (t - H @ x)
        P = P - K @ PH.T
    return x[:10]
