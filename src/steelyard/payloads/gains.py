r"""Drive gains from a load of known mass: how much torque an ampere is.

Currents alone tell a robot's parameters up to one factor at each joint. A load whose numbers are known adds a
torque that is known in N·m. With $k_j = 1/g_j$ the current of joint j for a unit of torque,

$$i_j = k_j\,\big(W_j\beta + s_j\big) + e_j, \qquad s = W_p\,\varphi_{known},$$

in runs with and without it. Each joint alone is linear in $(k_j\beta, k_j)$ and gives a start; then all
joints share one $\beta$, which Gauss-Newton steps find together with the gains.

Where the gains are known to some percent already, less of the load suffices: its mass alone tells the part
of their errors that it depends on. With e those errors in their deviations, $e \sim N(0, 1)$, and J how they
move the numbers z that are known of the load,

$$z = \hat z + J e + n \;\Rightarrow\; \hat e = J^T (J J^T + N)^{-1} (z - \hat z).$$
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, IntArray, checked, keep_checked
from steelyard.dynamics import torque_regressor
from steelyard.errors import InputError, NoSolutionError, RecordingError
from steelyard.identifiable import structural_identifiability
from steelyard.inertia import Body
from steelyard.layout import Layout
from steelyard.payloads.arm_model import Mount
from steelyard.payloads.systematic_errors import CONSTANTS, ConstantErrors
from steelyard.payloads.weighing import Weighing
from steelyard.recording import Recording
from steelyard.robot import Robot

FELT = 1e-6
"""Torque of the load, relative to the largest at any joint, below which a joint does not feel it."""
_STEPS, _SETTLED, _CALIBRATED = 50, 1e-10, 1e-3


@dataclass(frozen=True, eq=False)
class DriveGains:
    """Torque per current at each joint.

    Attributes:
        values: g, shape (nv,), N·m/A or N/A.
        deviations: standard deviations, noise taken as white, shape (nv,), N·m/A or N/A.
        residual: rms of the current that is left, shape (nv,), A.
    """

    values: Array
    deviations: Array
    residual: Array

    def __post_init__(self) -> None:
        keep_checked(self, ("nv",), "values", "deviations", "residual")


def fit_gains(
    robot: Robot,
    layout: Layout,
    held: Mount,
    body: Body,
    loaded: Sequence[Recording],
    empty: Sequence[Recording],
) -> DriveGains:
    """Find the gains of all joints.

    Args:
        robot: the robot.
        layout: its parameters, all free.
        held: where the load is held.
        body: the load in its frame, known.
        loaded: runs with the load, with q, v, a and current.
        empty: runs without it.

    Raises:
        RecordingError: a run has no currents or no accelerations.
        NoSolutionError: a joint feels nothing of the load.
    """
    columns = structural_identifiability(robot, layout).base.columns
    ten = held.to_link @ body.parameters
    parts = [_equations(robot, layout, run, columns, held, ten) for run in loaded]
    parts += [_equations(robot, layout, run, columns, held, np.zeros(10)) for run in empty]
    W, s, i = (np.concatenate([part[k] for part in parts]) for k in range(3))
    size = np.abs(s).max(axis=0)
    if (deaf := np.flatnonzero(size <= FELT * size.max())).size:
        names = ", ".join(robot.joint_names[j] for j in deaf)
        raise NoSolutionError(
            f"{names}: the load adds no torque there, so the gain stays unknown.",
            place="load",
            remedy="Move these joints against gravity or faster.",
        )
    k, noise = _joint_by_joint(W, s, i)
    beta = _shared(W, s, i, k, noise)
    return _refined(W, s, i, k, beta, noise)


def calibrated(
    weigh: Callable[[Array], Weighing], errors: ConstantErrors, numbers: Array, values: Array
) -> tuple[Array, ConstantErrors]:
    r"""Correct torque constants by what is known of a load.

    Args:
        weigh: weighs the known load with torques times the given factors, shape (nv,), dimensionless, and
            counts these errors of the constants.
        errors: how far the constants may be off beforehand.
        numbers: which combinations of the load's ten numbers are known, one in each row, shape (k, 10), any
            unit (SI).
        values: what they are, shape (k,), SI.

    Returns:
        The factors of the constants, shape (nv,), dimensionless, and how far they may be off still.

    Raises:
        NoSolutionError: the runs do not show what is known.
        InputError: the constants are known exactly, so that there is nothing to correct.
    """
    A, z = checked("numbers", numbers, ("k", 10)), checked("values", values, (len(numbers),))
    if not errors.root.any():
        raise InputError("are without error, so a known load has nothing to correct.", place="constants")
    C = errors.root
    e = np.zeros(C.shape[1])
    for _ in range(_STEPS):
        factors = 1.0 + C @ e
        found = weigh(factors)
        if not np.isfinite(found.deviation(A)).all():
            raise NoSolutionError(
                "the runs with the known load do not show what is known of it.",
                place="known load",
                remedy="Turn the load against gravity about several axes.",
            )
        J = A @ found.systematic[CONSTANTS]
        blind = ~np.isfinite(found.deviations)
        spread = np.where(blind[:, None] | blind, 0.0, found.covariance)
        S = A @ spread @ A.T
        gain = np.linalg.solve(S, J).T
        step = gain @ (z - A @ found.values + J @ e) - e
        e = e + step
        if np.abs(step).max() < _CALIBRATED:
            break
    values_, vectors = np.linalg.eigh(np.eye(len(e)) - gain @ J)
    left = vectors * np.sqrt(np.maximum(values_, 0.0))
    return np.asarray(1.0 + C @ e), ConstantErrors(C @ left)


def _equations(
    robot: Robot, layout: Layout, run: Recording, columns: IntArray, held: Mount, ten: Array
) -> tuple[Array, Array, Array]:
    """Base regressor (N, nv, b), torque of the load (N, nv) and currents (N, nv) of a run."""
    if run.v is None or run.a is None or run.current is None:
        raise RecordingError("needs q, v, a and current.", place="run")
    Y = torque_regressor(robot, layout, run.q, run.v, run.a)
    return Y[..., columns], Y[..., layout.of_link(held.link)] @ ten, run.current


def _joint_by_joint(W: Array, s: Array, i: Array) -> tuple[Array, Array]:
    """A gain for each joint from its own equations, and the current it leaves, each shape (nv,)."""
    k, noise = np.empty(s.shape[1]), np.empty(s.shape[1])
    for j in range(len(k)):
        A = np.column_stack([W[:, j, np.abs(W[:, j]).max(axis=0) > 0.0], s[:, j]])
        x = np.linalg.lstsq(A, i[:, j], rcond=None)[0]
        k[j], noise[j] = x[-1], np.sqrt(np.mean((i[:, j] - A @ x) ** 2))
    floor = 1e-9 * np.sqrt(np.mean(i**2))
    return k, np.maximum(noise, floor)


def _shared(W: Array, s: Array, i: Array, k: Array, noise: Array) -> Array:
    """The robot that all joints share at given gains, shape (b,)."""
    A = W * (k / noise)[:, None]
    y = (i - k * s) / noise
    return np.asarray(np.linalg.lstsq(A.reshape(-1, A.shape[-1]), y.reshape(-1), rcond=None)[0])


def _refined(W: Array, s: Array, i: Array, k: Array, beta: Array, noise: Array) -> DriveGains:
    """Gauss-Newton over gains and robot."""
    N, nv, b = W.shape
    for _ in range(_STEPS):
        torque = W @ beta + s
        left = i - k * torque
        J = np.zeros((N, nv, nv + b))
        J[:, np.arange(nv), np.arange(nv)] = torque
        J[..., nv:] = k[:, None] * W
        rows = np.concatenate([J, left[..., None]], axis=-1) / noise[:, None]
        R = np.asarray(np.linalg.qr(rows.reshape(N * nv, -1), mode="r"))
        step = np.linalg.lstsq(R[:-1, :-1], R[:-1, -1], rcond=None)[0]
        k, beta = k + step[:nv], beta + step[nv:]
        if np.abs(step[:nv] / k).max() < _SETTLED:
            break
    left = i - k * (W @ beta + s)
    inverse = np.linalg.pinv(R[:-1, :-1])
    spread = np.sqrt((inverse[:nv] ** 2).sum(axis=1)) * np.sqrt(np.mean((left / noise) ** 2))
    return DriveGains(1.0 / k, spread / k**2, np.sqrt(np.mean(left**2, axis=0)))
