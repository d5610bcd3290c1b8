"""Runs of arms with loads, made by Pinocchio's inverse dynamics: not the code under test."""

from __future__ import annotations

import numpy as np
import pinocchio

from oracles.pinocchio_robot import pinocchio_model
from steelyard.arrays import Array
from steelyard.inertia import Body
from steelyard.motion import Motion, random_fourier
from steelyard.recording import Recording
from steelyard.robot import Robot

RATE = 100.0


def motion_of(robot: Robot, seed: int = 0, period: float = 10.0) -> Motion:
    """A random motion that shows everything."""
    return random_fourier(robot, np.random.default_rng(seed), period=period)


def run(
    robot: Robot,
    motion: Motion,
    load: Body | None = None,
    *,
    noise: float = 0.0,
    offset: Array | float = 0.0,
    rng: np.random.Generator | None = None,
    time: Array | None = None,
    driven: bool = False,
) -> Recording:
    """The log of a motion, torques by Pinocchio, load bolted to the tool frame; `driven` adds the drives."""
    held = robot if load is None else robot.with_body("load", load)
    t = np.arange(0.0, motion.duration, 1.0 / RATE) if time is None else time
    at = motion.sample(t)
    model = pinocchio_model(held, np.array([link.body.parameters for link in held.links]))
    data = model.createData()
    tau = np.array([pinocchio.rnea(model, data, *states) for states in zip(at.q, at.v, at.a, strict=True)])
    if driven:
        columns = {"viscous": at.v, "coulomb": np.sign(at.v), "offset": np.ones_like(at.v), "rotor": at.a}
        for term, column in columns.items():
            tau = tau + np.array([joint.drive.value(term) or 0.0 for joint in robot.joints]) * column
    if noise:
        tau = tau + noise * (rng or np.random.default_rng(0)).standard_normal(tau.shape)
    t = np.arange(len(t)) / RATE
    return Recording(robot.joint_names, t, at.q, at.v, at.a, tau + offset)


def body(seed: int = 0, mass: float = 1.5) -> Body:
    """A body that can exist, somewhere near the tool."""
    rng = np.random.default_rng(seed)
    points = rng.normal(0.0, 0.05, (6, 3)) + np.array([0.02, -0.03, 0.08])
    weights = rng.uniform(0.5, 1.5, 6)
    weights *= mass / weights.sum()
    com = weights @ points / mass
    away = points - com
    inertia = sum(w * ((d @ d) * np.eye(3) - np.outer(d, d)) for w, d in zip(weights, away, strict=True))
    return Body(mass, com, np.asarray(inertia))
