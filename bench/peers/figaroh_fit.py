"""FIGAROH's `physical_fit`: base parameters by QR, then the fit over possible links by PICOS and CVXOPT.

Nothing of Steelyard is imported here, so that the memory of the process is the peer's own.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from figaroh.identification.physical_fit import PhysicalPolicy, build_problem, solve_direct_effort_fit

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


def links(folder: str, bounds: list[float] | None) -> dict[str, Any]:
    """Fit a real log that `studies.real_peers` left in a folder, with friction, offset and rotors left free.

    Args:
        folder: as for `physical_fit`, with columns of the drive behind those of the links and `names` of all
            columns in `log.npz`; prior has the length of these columns.
        bounds: least and largest mass of a link over the prior's; None for none.

    Returns:
        Seconds of one core, the parameters or None, and what the solver said.
    """
    Y = np.load(f"{folder}/regressor.npy")
    with np.load(f"{folder}/log.npz") as log:
        tau, noise, prior, names = log["tau"], log["noise"], log["prior"], log["names"].tolist()
    N, nv = tau.shape
    joints = [f"joint{k}" for k in range(nv)]
    policy = PhysicalPolicy(mass_ratio_bounds=None if bounds is None else (bounds[0], bounds[1]))
    started = time.process_time()
    problem = build_problem(
        Y,
        tau.T.ravel(),
        names,
        joints,
        prior=prior,
        row_weight=np.repeat(1.0 / noise, N),
        policy=policy,
    )
    record = solve_direct_effort_fit(problem, solver="cvxopt")
    return {
        "seconds": time.process_time() - started,
        "parameters": None if record.theta is None else record.theta.tolist(),
        "accepted": bool(record.accepted),
        "said": f"{record.solver_status}, {record.exception}" if record.exception else record.solver_status,
    }
