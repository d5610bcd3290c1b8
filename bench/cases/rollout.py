"""The closed loop beside Pinocchio's forward dynamics called from Python."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pinocchio as pin

from steelyard.control import PD
from steelyard.dynamics import forward_dynamics
from steelyard.identifiable.base_parameters import numerical_base
from steelyard.layout import Layout, layout_of
from steelyard.motion import random_fourier
from steelyard.robot import Robot
from steelyard.rollout import ClosedLoop, rollout, sensitivities
from steelyard.zoo import zoo_robot
from timing import Row, best, in_own_process, since_start

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from oracles.pinocchio_robot import pinocchio_model

CYCLE = 1e-3
DRIVE = ["viscous", "rotor"]


def rows() -> list[Row]:
    """Every comparison of this room."""
    return [*_forward(), *_closed_loop(), *_sensitivities(), *_first_use()]


def _arm() -> tuple[Robot, Layout, np.ndarray]:
    robot = zoo_robot("panda")
    layout = layout_of(robot, DRIVE)
    return robot, layout, layout.complete_nominal()


def _references(robot: Robot, seconds: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    motion = random_fourier(robot, np.random.default_rng(1))
    sample = motion.sample(np.arange(0.0, seconds, CYCLE))
    return sample.q, sample.v, sample.a


def _law(robot: Robot) -> PD:
    return PD(robot, np.full(7, 400.0), np.full(7, 40.0))


def _one_aba(robot: Robot) -> float:
    """Seconds of one call of Pinocchio's forward dynamics from Python."""
    model = pinocchio_model(robot)
    data = model.createData()
    q, v, tau = np.random.default_rng(0).normal(size=(3, 7))

    def thousand() -> None:
        for _ in range(1000):
            pin.aba(model, data, q, v, tau)

    return best(thousand)[0] / 1000


def _forward() -> Iterator[Row]:
    robot, layout, phi = _arm()
    q, v, tau = np.random.default_rng(0).normal(size=(3, 20000, 7))
    (ours,) = best(lambda: forward_dynamics(robot, layout, phi, q, v, tau))
    yield Row(
        "forward dynamics, one sample of a batch of 20000",
        ours / 20000,
        "Pinocchio aba, one call from Python",
        _one_aba(robot),
    )


def _closed_loop() -> Iterator[Row]:
    robot, layout, phi = _arm()
    peer, aba = "Pinocchio aba, one call from Python", _one_aba(robot)
    refs = _references(robot, 110.0)
    euler = ClosedLoop(_law(robot), CYCLE, scheme="euler-trapezoid")
    (ours,) = best(lambda: rollout(robot, layout, phi, *refs, euler))
    yield Row(
        "closed-loop step, 7 joints, PD, one evaluation of the dynamics",
        ours / len(refs[0]),
        peer,
        aba,
        most_seconds=0.6e-6,
    )
    heun = ClosedLoop(_law(robot), CYCLE, scheme="heun")
    fine = ClosedLoop(_law(robot), CYCLE, scheme="rk4", steps_per_cycle=8)
    exact = rollout(robot, layout, phi, *refs, fine).tau
    error = np.linalg.norm(rollout(robot, layout, phi, *refs, heun).tau - exact) / np.linalg.norm(exact)
    (ours,) = best(lambda: rollout(robot, layout, phi, *refs, heun))
    yield Row(
        "110 s of closed loop at 1 ms, Heun",
        ours,
        "Pinocchio aba, two calls from Python per step and nothing else",
        2 * aba * len(refs[0]),
        most_seconds=0.2,
        note=f"torque within {error:.1e} of RK4 at 0.125 ms (promised 2e-6)",
    )


def _sensitivities() -> Iterator[Row]:
    robot, layout, phi = _arm()
    base = numerical_base(robot, layout, np.random.default_rng(0))
    refs = _references(robot, 20.0)
    loop = ClosedLoop(_law(robot), CYCLE)
    keep = np.zeros((layout.size, base.count))
    keep[base.columns, np.arange(base.count)] = 1.0
    theta = base.matrix @ phi

    def ours() -> None:
        sensitivities(robot, layout, theta, *refs, loop, basis=keep, average=40)

    (seconds,) = best(ours, repeats=3)
    yield Row(
        f"exact sensitivities, one step, {base.count} base parameters",
        seconds / len(refs[0]),
        "Pinocchio aba, finite differences: one call from Python per parameter",
        2 * base.count * _one_aba(robot),
        note="Heun; averaged over 40 cycles while integrating",
    )


def _first_use() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        cache = {"STEELYARD_CACHE": folder}
        for name, most in (("nothing cached", 15.0), ("cached", 2.0)):
            result = in_own_process("cases.rollout", "first_rollout", environment=cache)
            yield Row(f"import and first rollout, {name}", result["seconds"], most_seconds=most)


def first_rollout() -> dict[str, float]:
    """Seconds from the start of the process to a first rollout."""
    robot, layout, phi = _arm()
    rollout(robot, layout, phi, *_references(robot, 0.1), ClosedLoop(_law(robot), CYCLE))
    return {"seconds": since_start()}
