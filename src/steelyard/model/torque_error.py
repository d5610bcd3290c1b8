"""How far predicted torques are from measured ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, checked
from steelyard.errors import InputError


@dataclass(frozen=True)
class TorqueError:
    """How far predicted torques are from measured ones, in percent of the measured rms.

    Attributes:
        overall: over all joints together.
        joints: per joint.
        shares: rms torque of each joint over that of all together, dimensionless; empty where not known.
    """

    overall: float
    joints: tuple[float, ...]
    shares: tuple[float, ...] = ()


def torque_error(measured: Array, predicted: Array) -> TorqueError:
    r"""Relative torque error, $100\,\mathrm{rms}(\tau - \hat\tau) / \mathrm{rms}(\tau)$.

    Args:
        measured: tau, shape (N, nv), N·m or N.
        predicted: tau_hat, shape (N, nv), N·m or N.

    Returns:
        Percentages per joint and over all; infinite for a joint that carries no torque at all.

    Raises:
        InputError: the shapes differ.
    """
    tau = checked("measured", measured, ("N", "nv"))
    tau_hat = checked("predicted", predicted, ("N", "nv"))
    if tau.shape != tau_hat.shape:
        raise InputError(f"shapes differ: {tau.shape} and {tau_hat.shape}.", place="measured, predicted")
    error = np.sqrt(((tau - tau_hat) ** 2).mean(axis=0))
    size = np.sqrt((tau**2).mean(axis=0))
    return TorqueError(
        overall=_percent(float(np.linalg.norm(error)), float(np.linalg.norm(size))),
        joints=tuple(_percent(float(e), float(s)) for e, s in zip(error, size, strict=True)),
        shares=tuple((size / (float(np.linalg.norm(size)) or 1.0)).tolist()),
    )


def _percent(error: float, size: float) -> float:
    if size == 0.0:
        return 0.0 if error == 0.0 else float("inf")
    return 100.0 * error / size
