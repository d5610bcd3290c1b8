"""Kernels beside Pinocchio and Drake."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pinocchio as pin
import scipy.linalg

from steelyard.dynamics import Gradient, inverse_dynamics, regressor_adjoint, torque_regressor
from steelyard.identifiable.base_parameters import numerical_base
from steelyard.layout import layout_of
from steelyard.robot import Robot
from steelyard.zoo import zoo_robot
from timing import Row, best, in_own_process, since_start

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from oracles.pinocchio_robot import pinocchio_model

SAMPLES = 20000


def rows() -> list[Row]:
    """Every comparison of this room."""
    return [*_batches(), *_drake(), *_criterion(), *_compression(), *_first_use()]


def _states(robot: Robot, samples: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(3, samples, robot.nv))


def _batches() -> Iterator[Row]:
    robot = zoo_robot("panda")
    layout = layout_of(robot)
    phi = layout.complete_nominal()
    q, v, a = _states(robot, SAMPLES)
    model = pinocchio_model(robot)
    data = model.createData()

    def their_regressor() -> np.ndarray:
        Y = np.empty((SAMPLES, 7, 70))
        for n in range(SAMPLES):
            Y[n] = pin.computeJointTorqueRegressor(model, data, q[n], v[n], a[n])
        return Y

    def their_torque() -> np.ndarray:
        tau = np.empty((SAMPLES, 7))
        for n in range(SAMPLES):
            tau[n] = pin.rnea(model, data, q[n], v[n], a[n])
        return tau

    Y = torque_regressor(robot, layout, q, v, a)
    assert np.abs(Y - their_regressor()).max() < 1e-10 * np.abs(Y).max()
    ours, theirs = best(lambda: torque_regressor(robot, layout, q, v, a), their_regressor, repeats=3)
    name = f"torque regressor, Panda, {SAMPLES} samples"
    yield Row(name, ours, "Pinocchio in a Python loop, result stored", theirs, least_ratio=10.0)
    ours, theirs = best(lambda: inverse_dynamics(robot, layout, phi, q, v, a), their_torque, repeats=3)
    name = f"inverse dynamics, Panda, {SAMPLES} samples"
    yield Row(name, ours, "Pinocchio in a Python loop, result stored", theirs)


def _drake() -> Iterator[Row]:
    try:
        from cases.drake_regressor import torque_by_parameters
    except ImportError:
        return
    robot = zoo_robot("panda")
    layout = layout_of(robot)
    few = 200
    q, v, a = _states(robot, few)
    Y = torque_regressor(robot, layout, q, v, a)
    theirs_is = torque_by_parameters(robot, q[:3], v[:3], a[:3])
    assert np.abs(Y[:3] - theirs_is).max() < 1e-9 * np.abs(Y).max()
    q20, v20, a20 = _states(robot, SAMPLES)
    (ours,) = best(lambda: torque_regressor(robot, layout, q20, v20, a20), repeats=5)
    (theirs,) = best(lambda: torque_by_parameters(robot, q, v, a), repeats=2)
    name = f"torque regressor, Panda, {SAMPLES} samples"
    note = f"Drake timed on {few} samples and scaled"
    peer = "Drake, automatic differentiation by parameters"
    yield Row(name, ours, peer, theirs * SAMPLES / few, least_ratio=100.0, note=note)


def _criterion() -> Iterator[Row]:
    """Log-determinant of the information of 200 samples, 43 rigid and 14 friction columns; its gradient."""
    robot = zoo_robot("panda")
    layout = layout_of(robot, ["viscous", "coulomb"])
    base = numerical_base(robot, layout, np.random.default_rng(0))
    q, v, a = _states(robot, 200)
    columns = base.columns
    G = np.zeros((200, 7, layout.size))

    def objective_and_gradient() -> tuple[float, Gradient]:
        Y = torque_regressor(robot, layout, q, v, a, code="straight-line")
        W = Y[..., columns].reshape(-1, columns.size)
        L = np.linalg.cholesky(W.T @ W)
        # d log det(WᵀW) / dW = 2 W (WᵀW)⁻¹
        inverse = scipy.linalg.cho_solve((L, True), np.eye(columns.size))
        G[..., columns] = (W @ (2.0 * inverse)).reshape(200, 7, -1)
        gradient = regressor_adjoint(robot, layout, G, q, v, a, code="straight-line")
        return 2.0 * float(np.log(np.diag(L)).sum()), gradient

    def their_regressors() -> None:
        for n in range(200):
            pin.computeJointTorqueRegressor(model, data, q[n], v[n], a[n])

    model = pinocchio_model(robot)
    data = model.createData()
    ours, theirs = best(objective_and_gradient, their_regressors, repeats=60)
    yield Row(
        f"log det of the information and its exact gradient, 200 samples, {columns.size} columns",
        ours,
        "Pinocchio, the 200 regressors alone",
        theirs,
        most_seconds=1.5e-3,
    )


def _first_use() -> Iterator[Row]:
    """Time to a first result in a fresh process, with an empty cache and with a filled one."""
    with tempfile.TemporaryDirectory() as folder:
        for name, most in (("nothing cached", 15.0), ("cached", 2.0)):
            seconds = in_own_process(
                "cases.dynamics", "first_regressor", environment={"STEELYARD_CACHE": folder}
            )
            yield Row(f"import and first torque regressor, {name}", seconds["seconds"], most_seconds=most)


def first_regressor() -> dict[str, float]:
    """Seconds from the start of the process to a first regressor."""
    robot = zoo_robot("panda")
    torque_regressor(robot, layout_of(robot), *_states(robot, 10))
    return {"seconds": since_start()}


def _compression() -> Iterator[Row]:
    for samples, most in ((10**6, 4.0), (10**7, None)):
        result = in_own_process("cases.long_log", "compress_synthetic", samples)
        yield Row(
            f"R factor, Panda, 91 columns, {samples:.0e} samples",
            result["seconds"],
            most_seconds=most,
            memory=result["megabytes"],
            most_memory=300.0,
            note="a process of its own; data generation not timed",
        )
