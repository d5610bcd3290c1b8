"""Base parameters and possible links of a Panda beside FIGAROH's `physical_fit`, on the same rows.

Torques and the peer's regressor come from Pinocchio, which also judges both on a motion that neither saw.
Both know the noise of every joint and the same prior; the peer is handed its stacked regressor, ours starts
from the states. Each runs in a process of its own.
"""

from __future__ import annotations

import os
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.layout import layout_of
from steelyard.motion import random_fourier
from steelyard.zoo import zoo_robot
from timing import Row, in_own_process

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from oracles.pinocchio_robot import PinocchioRobot

RATE = 200.0
"""Samples per second of the log."""
NOISE = 0.05 * np.array([1.0, 1.0, 1.0, 1.0, 0.3, 0.3, 0.3])
"""Standard deviation of the torque noise at each joint, N·m."""
MISJUDGED = 0.2
"""How far the mass of a link may be off in the prior, its shape being right, as a share of the truth."""
NO_WORSE = 1e-5
"""Relative difference of held-out errors that is none: both solve one problem, to their own accuracy."""
TRAINING, HELD_OUT = 1, 99
"""Seeds of the motions."""

Motion = tuple[np.ndarray, np.ndarray, np.ndarray]


def rows() -> list[Row]:
    """Every comparison of this room."""
    return [_beside_figaroh(20.0, 15.0), _beside_figaroh(100.0, 20.0, memory_share=1.0 / 3.0)]


def _beside_figaroh(seconds: float, least_ratio: float, memory_share: float | None = None) -> Row:
    samples = round(seconds * RATE)
    name = f"base parameters and possible links of a Panda, {7 * samples} rows"
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder), samples)
        ours = in_own_process("cases.figaroh_ours", "identify", folder, 20)
        best, memory = min(ours["seconds"]), ours["megabytes"]
        if not (find_spec("figaroh") and find_spec("cvxopt")):
            return Row(name, best, memory=memory, note="FIGAROH did not run: it is not installed")
        theirs = min(
            (_figaroh(folder, threads) for threads in (1, os.cpu_count())), key=lambda x: x["seconds"]
        )
    error, their_error = (_held_out(np.array(side["parameters"])) for side in (ours, theirs))
    assert error <= (1.0 + NO_WORSE) * their_error, f"held out, {error:.4e} N·m against {their_error:.4e}"
    return Row(
        name,
        best,
        "FIGAROH 1.0.2, `build_problem` and `solve_direct_effort_fit`, regressor given",
        theirs["seconds"],
        least_ratio=least_ratio,
        memory=memory,
        most_memory=None if memory_share is None else round(memory_share * theirs["megabytes"]),
        note=f"held-out error {1e3 * error:.3g} mN·m, theirs {1e3 * their_error:.3g}; their memory "
        f"{theirs['megabytes']:.0f} MB; median of ours {1e3 * np.median(ours['seconds']):.3g} ms; "
        f"{ours['base']} base parameters, theirs {theirs['base']}; their BLAS on one or all cores, whichever "
        "was faster",
    )


def _figaroh(folder: str, threads: int | None) -> dict[str, Any]:
    """The peer with a number of threads for its linear algebra: more are faster only on idle cores."""
    few = {"OPENBLAS_NUM_THREADS": str(threads or 1)}
    return in_own_process("peers.figaroh_fit", "physical_fit", folder, environment=few)


def _write(folder: Path, samples: int) -> None:
    """What both sides read: the log with the prior, and the peer's regressor stacked joint by joint."""
    rng = np.random.default_rng(7)
    truth = _truth()
    q, v, a = _motion(TRAINING, samples)
    Y = _regressor(q, v, a)
    tau = Y @ truth + NOISE * rng.standard_normal(q.shape)
    scales = 1.0 + MISJUDGED * rng.uniform(-1.0, 1.0, size=q.shape[1])
    np.savez(folder / "log.npz", q=q, v=v, a=a, tau=tau, noise=NOISE, prior=np.repeat(scales, 10) * truth)
    np.save(folder / "regressor.npy", Y.transpose(1, 0, 2).reshape(-1, truth.size))


def _truth() -> np.ndarray:
    return layout_of(zoo_robot("panda")).complete_nominal()


def _motion(seed: int, samples: int) -> Motion:
    motion = random_fourier(zoo_robot("panda"), np.random.default_rng(seed))
    sample = motion.sample(np.arange(samples) / RATE % motion.duration)
    return sample.q, sample.v, sample.a


def _regressor(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    judge = PinocchioRobot.of(zoo_robot("panda"))
    return np.array([judge.regressor(*state) for state in zip(q, v, a, strict=True)])


def _held_out(parameters: np.ndarray) -> float:
    """Largest rms error of a joint's torque along another motion, against the truth without noise, N·m."""
    Y = _regressor(*_motion(HELD_OUT, 4000))
    return float(np.sqrt(np.mean((Y @ (parameters - _truth())) ** 2, axis=0)).max())
