"""A log of hours identified in a process of its own: read in pieces, never kept."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from steelyard.dynamics import inverse_dynamics
from steelyard.estimation import with_full_set
from steelyard.estimation.linear import fit_weighted
from steelyard.estimation.physical import fit_lmi
from steelyard.layout import Layout, layout_of
from steelyard.motion import random_fourier
from steelyard.problem.problem import problem_of_blocks
from steelyard.robot import Robot
from steelyard.zoo import zoo_robot
from timing import Row, in_own_process, peak_memory

BLOCK = 50_000
RATE = 1000.0
"""Samples per second of the log."""
NOISE = 0.3
"""Standard deviation of the torque noise, N·m."""
Block = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def rows() -> list[Row]:
    """A log of 1e7 samples, and the memory of one a tenth as long."""
    short, long = (in_own_process("cases.long_log_identified", "identify", n) for n in (10**6, 10**7))
    return [
        Row(
            "1e7 samples of a Panda identified: base parameters with intervals, possible links",
            long["seconds"],
            most_seconds=60.0,
            memory=long["megabytes"],
            most_memory=round(1.05 * short["megabytes"]),
            note=f"{short['megabytes']:.0f} MB for 1e6 samples; {long['base']} base parameters, "
            f"{long['covered']} of their 95 % intervals hold the truth; "
            f"{long['processor_seconds']:.0f} s of processor time; data generation not timed",
        )
    ]


def identify(samples: int) -> dict[str, Any]:
    """Compress a log piece by piece, then fit base parameters and possible links.

    Args:
        samples: how long the log is.

    Returns:
        Seconds by clock and processor without the making of data, peak memory in MB, how many base parameters
        there are, and how many of their 95 % intervals hold the truth.
    """
    robot = zoo_robot("panda")
    layout = layout_of(robot, ["viscous", "coulomb", "rotor"])
    problem_of_blocks(robot, layout, _Log(robot, layout, 1000))
    log = _Log(robot, layout, samples)
    started, busy = time.perf_counter(), time.process_time()
    problem = problem_of_blocks(robot, layout, log)
    base = fit_weighted(problem, colour="white")
    with_full_set(problem, base)
    fit_lmi(problem, weights=base.weights)
    seconds, busy = time.perf_counter() - started - log.seconds, time.process_time() - busy - log.busy
    truth = problem.base.matrix @ layout.complete_nominal()
    covered = np.abs(base.values - truth) <= 1.96 * base.deviations
    return {
        "seconds": seconds,
        "processor_seconds": busy,
        "megabytes": peak_memory(),
        "base": base.base.count,
        "covered": int(covered.sum()),
    }


class _Log:
    """A log made while it is read, a new motion every block; counts the time this takes."""

    def __init__(self, robot: Robot, layout: Layout, samples: int) -> None:
        self.robot, self.layout, self.samples = robot, layout, samples
        self.seconds = self.busy = 0.0

    def __iter__(self) -> Iterator[Block]:
        rng = np.random.default_rng(0)
        for start in range(0, self.samples, BLOCK):
            started, busy = time.perf_counter(), time.process_time()
            block = self._block(rng, min(BLOCK, self.samples - start))
            self.seconds += time.perf_counter() - started
            self.busy += time.process_time() - busy
            yield block

    def _block(self, rng: np.random.Generator, samples: int) -> Block:
        motion = random_fourier(self.robot, rng)
        s = motion.sample(np.arange(samples) / RATE % motion.duration)
        tau = inverse_dynamics(self.robot, self.layout, self.layout.complete_nominal(), s.q, s.v, s.a)
        return s.q, s.v, s.a, tau + NOISE * rng.standard_normal(tau.shape)
