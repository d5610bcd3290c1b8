"""Logs of an arm that holds a payload, by inverse dynamics, with errors that stay within stated bounds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from steelyard.arrays import Array
from steelyard.dynamics import inverse_dynamics
from steelyard.inertia import change_of_frame
from steelyard.inertia.body import random_body
from steelyard.layout import Layout, layout_of
from steelyard.motion import random_fourier
from steelyard.pose import Pose
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.uncertainty.error_bounds import ErrorBounds
from steelyard.uncertainty.momentum_windows import bounded_rows
from steelyard.uncertainty.payload_polytope import BoundedRows, PayloadBox
from steelyard.zoo import zoo_robot

DRIVE = ("viscous", "coulomb", "offset", "rotor")
HEAVIEST, EXTENT = 4.0, 0.3
FINER = 4
"""How much finer than the log the motion is looked at for its largest acceleration and torque rate."""


@dataclass(frozen=True)
class Grip:
    """The tool frame of a robot."""

    link: str
    placement: Pose


@dataclass(frozen=True, eq=False)
class Run:
    """What is true of a run, and the log without errors."""

    robot: Robot
    layout: Layout
    truth: Array
    ten: Array
    log: Recording
    errors: ErrorBounds
    bare: Recording
    """The log of the same motion without payload."""

    @cached_property
    def held(self) -> Grip:
        tool = self.robot.tool_frame
        return Grip(self.robot.link_names[tool.link], tool.placement)

    @property
    def prior(self) -> PayloadBox:
        return PayloadBox.in_ball(HEAVIEST, EXTENT)

    def rows(self, log: Recording | None = None, window: float = 0.1) -> BoundedRows:
        phi = self.layout.complete_nominal()
        log = self.log if log is None else log
        return bounded_rows(
            self.robot, self.layout, phi, log, self.held, self.errors, self.prior, window=window
        )


def loaded(layout: Layout, phi: Array, held: Grip, ten: Array) -> Array:
    """The parameters of the arm with its payload."""
    full = phi.copy()
    full[layout.of_link(held.link)] += change_of_frame(held.placement) @ ten
    return full


@cache
def run_of(
    name: str,
    seed: int,
    *,
    duration: float = 1.0,
    rate: float = 1000.0,
    torque: tuple[float, float] = (0.025, 0.1),
    velocity: float = 5e-4,
    position: float = 1e-5,
    model: float = 0.05,
    drive: tuple[str, ...] = DRIVE,
) -> Run:
    """A random payload on a robot whose parameters are at a random corner of their box."""
    rng = np.random.default_rng([20260118, seed])
    robot = zoo_robot(name)
    layout = layout_of(robot, drive)
    phi = layout.complete_nominal()
    truth = phi + model * np.abs(phi) * rng.choice([-1.0, 1.0], phi.shape)
    tool = robot.tool_frame
    held = Grip(robot.link_names[tool.link], tool.placement)
    ten = random_body(rng, mass=(0.3, HEAVIEST), size=0.1).parameters
    full = loaded(layout, truth, held, ten)
    motion = random_fourier(robot, rng, period=max(duration, 5.0))
    smooth = layout_of(robot, [term for term in drive if term != "coulomb"])
    fine = np.linspace(0.0, duration, round(FINER * rate * duration) + 1)
    s = motion.sample(fine)
    kept = [layout.index(name) for name in smooth.names]
    tau = inverse_dynamics(robot, smooth, full[kept], s.q, s.v, s.a)
    rate_of_torque = np.abs(np.diff(tau, axis=0)).max(axis=0) / (fine[1] - fine[0])
    errors = ErrorBounds.stated(
        robot,
        layout,
        phi,
        torque=torque,
        model=model,
        velocity=velocity,
        position=position,
        acceleration=1.01 * np.abs(s.a).max(axis=0),
        torque_rate=1.01 * rate_of_torque,
    )
    time, at = fine[::FINER], slice(None, None, FINER)
    exact = inverse_dynamics(robot, layout, full, s.q[at], s.v[at], s.a[at])
    log = Recording(robot.joint_names, time, s.q[at], v=s.v[at], tau=exact)
    bare = log.with_channels(tau=inverse_dynamics(robot, layout, truth, s.q[at], s.v[at], s.a[at]))
    return Run(robot, layout, truth, ten, log, errors, bare)


def with_errors(run: Run, pattern: str, rng: np.random.Generator, *, torque_times: float = 1.0) -> Recording:
    """The log with errors of a pattern, each as large as its bound allows.

    `uniform` draws each, `bias` keeps one sign per joint, `adversarial` takes the signs that move a least-
    squares estimate of one random combination of the ten numbers most.
    """
    v, tau, e = run.log.channels["v"], run.log.channels["tau"], run.errors
    most = torque_times * (e.torque_relative * np.abs(tau) + e.torque_absolute)
    q_off, v_off, tau_off = (_errors(run, pattern, rng) for _ in range(3))
    return run.log.with_channels(
        q=run.log.q + e.position * q_off, v=v + e.velocity * v_off, tau=tau + most * tau_off
    )


def _errors(run: Run, pattern: str, rng: np.random.Generator) -> Array:
    """Errors in parts of their bound, shape (N, nv)."""
    shape = run.log.q.shape
    if pattern == "uniform":
        return rng.uniform(-1.0, 1.0, shape)
    if pattern == "bias":
        return np.broadcast_to(rng.choice([-1.0, 1.0], shape[1]), shape)
    if pattern == "adversarial":
        pull = np.sign(rng.standard_normal(10) @ np.linalg.pinv(run.rows().load)).reshape(-1, shape[1])
        window = np.minimum((run.log.time / 0.1).astype(int), len(pull) - 1)
        return pull[window]
    raise ValueError(pattern)
