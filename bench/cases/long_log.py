"""A long synthetic log compressed in a process of its own: nothing else is loaded, so its memory is ours."""

from __future__ import annotations

import time

import numpy as np

from steelyard.dynamics import compress
from steelyard.layout import layout_of
from steelyard.zoo import zoo_robot
from timing import peak_memory

BLOCK = 50000


def compress_synthetic(samples: int) -> dict[str, float]:
    """Seconds and peak memory of compressing a log block by block."""
    robot = zoo_robot("panda")
    layout = layout_of(robot, ["viscous", "coulomb", "rotor"])
    q, v, a, tau = np.random.default_rng(0).normal(size=(4, BLOCK, 7))
    compress(robot, layout, [(q[:1000], v[:1000], a[:1000], tau[:1000])])
    started = time.perf_counter()
    compress(robot, layout, ((q, v, a, tau) for _ in range(samples // BLOCK)))
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "megabytes": peak_memory()}
