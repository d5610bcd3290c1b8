"""A small call of every kernel, which compiles it: `steelyard compile` and its helpers go through them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from steelyard import dynamics
from steelyard.compiled import never_interpreted
from steelyard.control import (
    PD,
    Admittance,
    ComputedTorque,
    Controller,
    FeedforwardPD,
    GravityPID,
    RobustTracking,
)
from steelyard.drive import DRIVE_TERMS
from steelyard.identifiable import structural_identifiability
from steelyard.layout import layout_of
from steelyard.limits import MotionLimits, certify, clearance_of
from steelyard.motion import random_fourier
from steelyard.simulation import simulate_motion
from steelyard.zoo import zoo_robot

_ROBOT = zoo_robot("two_link")
_LAYOUT = layout_of(_ROBOT, [term.name for term in DRIVE_TERMS])
_PHI = _LAYOUT.complete_nominal()
_X = np.ones((1, 2))
_TOOL = _ROBOT.tool_frame.name


def _certify(name: str) -> object:
    robot = zoo_robot(name)
    layout = layout_of(robot, [term.name for term in DRIVE_TERMS])
    limits = MotionLimits(robot, clearance_of(robot), layout, layout.complete_nominal())
    return certify(limits, random_fourier(robot, np.random.default_rng(0), fraction=0.01), sharpness=0.0)


def _simulate(sensor: str) -> object:
    motion = random_fourier(_ROBOT, np.random.default_rng(0), fraction=0.01)
    return simulate_motion(_ROBOT, motion, sensor=sensor, rng=np.random.default_rng(0), duration=0.01)


def _torque(controller: Controller) -> object:
    return controller.torque(*np.ones((5, 2)))


KERNELS: dict[str, Callable[[], object]] = {
    "inverse dynamics": lambda: dynamics.inverse_dynamics(_ROBOT, _LAYOUT, _PHI, _X, _X, _X),
    "rigid torque": lambda: dynamics.rigid_torque(_ROBOT, _LAYOUT, _PHI, _X, _X, _X),
    "forward dynamics": lambda: dynamics.forward_dynamics(_ROBOT, _LAYOUT, _PHI, _X, _X, _X),
    "mass matrix": lambda: dynamics.mass_matrix(_ROBOT, _LAYOUT, _PHI, _X),
    "torque regressor": lambda: dynamics.torque_regressor(_ROBOT, _LAYOUT, _X, _X, _X),
    "its adjoint": lambda: dynamics.regressor_adjoint(
        _ROBOT, _LAYOUT, np.ones((1, 2, _LAYOUT.size)), _X, _X, _X
    ),
    "its triangular factor": lambda: dynamics.compress(_ROBOT, _LAYOUT, [(_X, _X, _X, _X)]),
    "its Gram matrix": lambda: dynamics.torque_gram(_ROBOT, _LAYOUT, [(_X, _X, _X, _X)]),
    "momentum regressor": lambda: dynamics.momentum_regressor(_ROBOT, _LAYOUT, _X, _X),
    "momentum rate regressor": lambda: dynamics.momentum_rate_regressor(_ROBOT, _LAYOUT, _X, _X),
    "base wrench regressor": lambda: dynamics.base_wrench_regressor(_ROBOT, _LAYOUT, _X, _X, _X),
    "forward kinematics": lambda: dynamics.forward_kinematics(_ROBOT, _X),
    "frame Jacobian": lambda: dynamics.frame_jacobian(_ROBOT, _X, _TOOL),
    "identifiability": lambda: structural_identifiability(_ROBOT, _LAYOUT),
    "clearance": lambda: clearance_of(zoo_robot("panda")).gradients(np.ones((1, 7))),
    "certificate": lambda: certify(
        MotionLimits(_ROBOT, None, _LAYOUT, _PHI), random_fourier(_ROBOT, np.random.default_rng(0))
    ),
    "certificate of clearance": lambda: _certify("panda"),
    "simulated robot": lambda: _simulate("industrial"),
    "simulated robot without noise": lambda: _simulate("ideal"),
    "PD": lambda: _torque(PD(_ROBOT, _X[0], _X[0])),
    "feedforward PD": lambda: _torque(FeedforwardPD(_ROBOT, _X[0], _X[0], _X[0], _X[0], cycle=1e-3)),
    "computed torque": lambda: _torque(ComputedTorque.nominal(_ROBOT, 1.0, 1.0)),
    "gravity PID": lambda: _torque(GravityPID.nominal(_ROBOT, 1.0, 1.0, 1.0, 1.0, cycle=1e-3)),
    "robust tracking": lambda: _torque(RobustTracking.nominal(_ROBOT, 0.1, 1.0, 1.0, 1.0, alpha=1.0)),
    "admittance": lambda: _torque(
        Admittance.nominal(
            _ROBOT, 1.0, 1.0, 1.0, np.ones(6), np.ones(6), cycle=1e-3, tool=_TOOL, components=("x", "z")
        )
    ),
}
"""A call of every kernel, by name."""


def warm_up(name: str) -> None:
    """Compile one kernel, also one that would be interpreted, or load it."""
    with never_interpreted():
        KERNELS[name]()
