"""Our side of the comparison with FIGAROH; nothing else is imported, so the memory of the process is ours."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from steelyard.estimation.linear import fit_least_squares
from steelyard.estimation.physical import fit_lmi
from steelyard.layout import layout_of
from steelyard.problem.problem import problem_of_blocks
from steelyard.zoo import zoo_robot
from timing import peak_memory


def identify(folder: str, repeats: int) -> dict[str, Any]:
    """Base parameters, then the possible links that fit best with each joint weighted by its noise.

    Args:
        folder: holds `log.npz` with q, v, a and tau, shape (N, nv), noise, shape (nv,), and prior, shape
            (10 nv,); all SI.
        repeats: how often to run, after one run that loads the kernels.

    Returns:
        Seconds of each run, peak memory in MB, the parameters and how many base parameters there are.
    """
    robot = zoo_robot("panda")
    layout = layout_of(robot)
    with np.load(f"{folder}/log.npz") as log:
        block, noise, prior = tuple(log[name] for name in ("q", "v", "a", "tau")), log["noise"], log["prior"]
    seconds = []
    for _ in range(1 + repeats):
        started = time.perf_counter()
        problem = problem_of_blocks(robot, layout, [block], prior=prior)
        base = fit_least_squares(problem)
        links = fit_lmi(problem, weights=1.0 / noise)
        seconds.append(time.perf_counter() - started)
    return {
        "seconds": seconds[1:],
        "megabytes": peak_memory(),
        "parameters": links.representative.tolist(),
        "base": base.values.size,
    }
