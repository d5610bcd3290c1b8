"""FIGAROH's `physical_fit`: base parameters by QR, then the fit over possible links by PICOS and CVXOPT.

Nothing of Steelyard is imported here, so that the memory of the process is the peer's own.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from figaroh.identification.physical_fit import build_problem, solve_direct_effort_fit

from timing import peak_memory

TEN = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
"""Names of the ten numbers of a link, in the order of the columns that are handed over."""

ENOUGH = 3.0
"""Seconds after which the fit is not repeated."""


def physical_fit(folder: str) -> dict[str, Any]:
    """Fit the equations that `cases.figaroh` left in a folder.

    Args:
        folder: holds `regressor.npy`, stacked joint by joint as the peer wants it, shape (nv N, 10 nv), and
            `log.npz` with tau, shape (N, nv), noise, shape (nv,), and prior, shape (10 nv,); all SI.

    Returns:
        Seconds, peak memory in MB, the parameters and how many base parameters were found; the best of
        several runs where one is short.
    """
    Y = np.load(f"{folder}/regressor.npy")
    with np.load(f"{folder}/log.npz") as log:
        tau, noise, prior = log["tau"], log["noise"], log["prior"]
    N, nv = tau.shape
    joints = [f"joint{k}" for k in range(nv)]
    names = [f"{key}_{joint}" for joint in joints for key in TEN]
    weights, stacked = np.repeat(1.0 / noise, N), tau.T.ravel()
    seconds: list[float] = []
    while sum(seconds) < ENOUGH:
        started = time.perf_counter()
        problem = build_problem(Y, stacked, names, joints, prior=prior, row_weight=weights)
        record = solve_direct_effort_fit(problem, solver="cvxopt")
        seconds.append(time.perf_counter() - started)
    if not record.accepted:
        raise RuntimeError(f"FIGAROH does not accept its own fit: {record.solver_status}, {record.exception}")
    return {
        "seconds": min(seconds),
        "megabytes": peak_memory(),
        "parameters": record.theta.tolist(),
        "base": len(problem.base_indices),
    }
