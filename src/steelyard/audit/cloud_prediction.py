r"""Torque prediction on held-out motions in the figures of paper 004, Table VII: RMSE and MNE.

The paper does not define its mean normalised error. Here it is

$$\mathrm{MNE} = \frac{1}{n_v} \sum_j
\frac{\operatorname{mean}_k |\tau_{kj} - \hat\tau_{kj}|}{\max_k |\tau_{kj}|},$$

the mean absolute error of each joint over the largest torque it measured, averaged over the joints.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, checked, read_only

MNE_DEFINITION = (
    "of each joint, the mean absolute error of torque over the largest torque measured; then the mean over "
    "the joints"
)


@dataclass(frozen=True, eq=False)
class PredictionError:
    """How far predicted torques are off along one motion; arrays are read-only.

    Attributes:
        joint_rmse: root mean squared error of each joint, shape (nv,), N·m or N.
        joint_normalised: mean absolute error of each joint over its largest measured torque, shape (nv,),
            dimensionless; infinite for a joint that carries no torque but is predicted to.
    """

    joint_rmse: Array
    joint_normalised: Array

    def __post_init__(self) -> None:
        for name in ("joint_rmse", "joint_normalised"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def rmse(self) -> float:
        """Root mean squared error over all samples and joints, N·m or N."""
        return float(np.sqrt((self.joint_rmse**2).mean()))

    @property
    def mne(self) -> float:
        """Mean normalised error, dimensionless."""
        return float(self.joint_normalised.mean())


def prediction_error(measured: Array, predicted: Array) -> PredictionError:
    """Compare predicted with measured torques.

    Args:
        measured: tau, shape (N, nv), N·m or N.
        predicted: tau_hat, shape (N, nv), N·m or N.

    Returns:
        The errors.

    Raises:
        ShapeError: the shapes differ.
    """
    tau = checked("measured", measured, ("N", "nv"))
    error = tau - checked("predicted", predicted, tau.shape)
    mean, largest = np.abs(error).mean(axis=0), np.abs(tau).max(axis=0)
    silent = np.where(mean > 0.0, np.inf, 0.0)
    share = np.divide(mean, largest, out=silent, where=largest > 0.0)
    return PredictionError(np.sqrt((error**2).mean(axis=0)), share)
