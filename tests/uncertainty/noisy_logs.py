"""Logs by inverse dynamics along random Fourier motions, with torque noise of a known colour."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.signal

from steelyard.arrays import Array
from steelyard.dynamics import compress, inverse_dynamics
from steelyard.layout import Layout, layout_of
from steelyard.motion import random_fourier
from steelyard.problem import Estimate, Problem, problem_of
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.zoo import zoo_robot

DRIVE = ("viscous", "coulomb", "offset", "rotor")


def exact_log(
    robot: Robot, layout: Layout, phi: Array, seed: int = 1, samples: int = 400, period: float = 10.0
) -> Recording:
    """A log without noise."""
    motion = random_fourier(robot, np.random.default_rng(seed), period=period)
    time = np.linspace(0.0, motion.duration, samples, endpoint=False)
    s = motion.sample(time)
    return Recording(
        robot.joint_names, time, s.q, v=s.v, a=s.a, tau=inverse_dynamics(robot, layout, phi, s.q, s.v, s.a)
    )


def exact_problem(name: str, samples: int = 400, seed: int = 1) -> tuple[Problem, Array]:
    """A problem without noise, its prior the truth, and its true base parameters."""
    robot = zoo_robot(name)
    layout = layout_of(robot, DRIVE)
    phi = layout.complete_nominal()
    problem = problem_of(robot, layout, [exact_log(robot, layout, phi, seed, samples)], prior=phi)
    return problem, problem.base.matrix @ phi


def with_torque(problem: Problem, tau: Array) -> Problem:
    """The same problem with other torques."""
    evidence = replace(problem.samples, tau=tau)
    return replace(
        problem, evidence=evidence, compressed=compress(problem.robot, problem.layout, evidence.blocks)
    )


def coloured(rng: np.random.Generator, samples: int, deviations: Array, memory: float) -> Array:
    """A stationary first-order autoregression per joint."""
    e = rng.normal(size=(samples + 200, len(deviations))) * np.sqrt(1.0 - memory**2)
    return deviations * scipy.signal.lfilter([1.0], [1.0, -memory], e, axis=0)[200:]


def noisy(problem: Problem, seed: int, memory: float = 0.0, level: float = 0.3) -> Problem:
    """The problem with noise that differs from joint to joint."""
    deviations = level * np.linspace(0.2, 2.0, problem.robot.nv)
    noise = coloured(np.random.default_rng(seed), problem.samples.n, deviations, memory)
    return with_torque(problem, problem.samples.tau + noise)


def errors_in_deviations(
    problem: Problem, truth: Array, fit: Callable[[Problem], Estimate], seeds: range, memory: float
) -> Array:
    """Error of each base parameter over its claimed deviation, shape (seeds, b)."""
    estimates = [fit(noisy(problem, seed, memory)) for seed in seeds]
    return np.array([(e.values - truth) / e.deviations for e in estimates])
