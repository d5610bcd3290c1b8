"""`Estimate`: what the data says about the parameters, and how sure it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from steelyard.arrays import Array, keep_checked
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import RecordingError
from steelyard.finding import Finding
from steelyard.identifiable import BaseParameters
from steelyard.layout import Layout
from steelyard.recording import Recording
from steelyard.robot import Robot


@dataclass(frozen=True, eq=False)
class Estimate:
    """What the data says about the parameters of a robot.

    Attributes:
        method: name of the estimator.
        layout: the standard parameters.
        base: the combinations that torques could determine.
        values: beta, shape (b,), SI.
        residual: rms of tau minus its prediction on the data used, by the full vector where there is one,
            shape (nv,), N·m or N.
        samples: number of samples used.
        condition: condition number of the base regressor with columns scaled to unit norm, dimensionless;
            infinite where the data is blind.
        covariance: of beta, shape (b, b), SI; infinite variances along what the data does not show; None
            where the method gives none. What the data says, without the errors of torque constants.
        drift: the part of it that a drift of friction has, see `friction_drift`, shape (b, b), SI; None where
            none was looked for.
        systematic: what errors of torque constants add to it, shape (b, b), SI; None where they add nothing.
            Logs made with the same constants share it.
        parameters: a full parameter vector, shape (p,), SI; None where none was asked for. K phi is beta
            unless a prior, or bodies that can exist, hold it away: beta is what the data says alone.
        weights: one over the noise assumed at each degree of freedom, shape (nv,), 1/(N·m) or 1/N.
        findings: what was noticed while estimating.
        recordings: digests of the data used.
        detail: settings and diagnostics of the method, as values JSON can hold.
    """

    method: str
    layout: Layout
    base: BaseParameters
    values: Array
    residual: Array
    samples: int
    condition: float
    covariance: Array | None = None
    parameters: Array | None = None
    weights: Array | None = None
    findings: tuple[Finding, ...] = ()
    recordings: tuple[str, ...] = ()
    detail: Mapping[str, object] = field(default_factory=dict)
    drift: Array | None = None
    systematic: Array | None = None
    schema: int = 2

    def __post_init__(self) -> None:
        b, p = self.base.count, self.layout.size
        keep_checked(self, (b,), "values")
        keep_checked(self, ("nv",), "residual")
        keep_checked(self, (b, b), "covariance", finite=False, optional=True)
        keep_checked(self, (b, b), "drift", "systematic", optional=True)
        keep_checked(self, (p,), "parameters", optional=True)
        keep_checked(self, ("nv",), "weights", optional=True)
        object.__setattr__(self, "detail", MappingProxyType(dict(self.detail)))

    @property
    def deviations(self) -> Array:
        """Standard deviations of beta, shape (b,), SI; infinite where the method gives none."""
        if self.covariance is None:
            return np.full(self.base.count, np.inf)
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def systematic_deviations(self) -> Array:
        """Standard deviations of beta by errors of torque constants alone, shape (b,), SI."""
        if self.systematic is None:
            return np.zeros(self.base.count)
        return np.asarray(np.sqrt(np.maximum(np.diag(self.systematic), 0.0)))

    @property
    def representative(self) -> Array:
        """A parameter vector that predicts what the estimate predicts, shape (p,), SI.

        The full one where there is one, otherwise the base parameters in their own places and zeros beside
        them.
        """
        if self.parameters is not None:
            return self.parameters
        phi = np.zeros(self.layout.size)
        phi[self.base.columns] = self.values
        fixed = ~self.layout.free
        phi[fixed] = np.nan_to_num(self.layout.nominal[fixed])
        return phi

    def torque(self, robot: Robot, recording: Recording) -> Array:
        """Torques the estimate predicts along a recorded motion.

        Args:
            robot: the robot.
            recording: a motion with q, v and a.

        Returns:
            Torques, shape (N, nv), N·m or N.

        Raises:
            RecordingError: the recording has no velocities or accelerations.
        """
        if recording.v is None or recording.a is None:
            raise RecordingError("has no v or no a.", place="recording", remedy="Differentiate it first.")
        return inverse_dynamics(
            robot, self.layout, self.representative, recording.q, recording.v, recording.a
        )
