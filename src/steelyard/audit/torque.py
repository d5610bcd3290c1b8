"""Judgement of an estimate on data it has not seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, BoolArray, checked
from steelyard.errors import InputError

OWN, ARM = 0.1, 0.01
"""Shares of a joint's own torque, and of the arm's, beyond which a part of it is felt."""


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


def felt(part: Array, torque: Array) -> BoolArray:
    r"""Which joints feel a part of the torque: more than a tenth of their own and a hundredth of the arm's.

    $$\mathrm{rms}(p_j) > 0.1\,\mathrm{rms}(\tau_j), \qquad
      \mathrm{rms}(p_j)^2 > 0.01^2 \sum_i \mathrm{rms}(\tau_i)^2$$

    The first leaves out what is small at its joint; the second what is small in the arm, such as a fifth of
    the torque of a wrist that carries nothing.

    Args:
        part: rms of the part of each joint, shape (nv,), N·m or N.
        torque: rms torque of each joint, shape (nv,), N·m or N.

    Returns:
        Whether it is felt, shape (nv,), dimensionless.
    """
    return np.asarray((part > OWN * torque) & (part > ARM * float(np.linalg.norm(torque))))


def _percent(error: float, size: float) -> float:
    if size == 0.0:
        return 0.0 if error == 0.0 else float("inf")
    return 100.0 * error / size
