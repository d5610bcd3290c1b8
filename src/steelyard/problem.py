"""`Problem`, the question, and `Estimate`, the answer: what every estimator takes and returns."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.arrays import Array, checked, read_only
from steelyard.dynamics import torque_regressor
from steelyard.errors import InputError, RecordingError
from steelyard.identifiability import BaseParameters, Criterion, Information, score
from steelyard.layout import Layout
from steelyard.recording import Recording
from steelyard.robot import Robot


@dataclass(frozen=True, eq=False)
class Problem:
    """Which base parameters explain the torques of a recording?

    Attributes:
        robot: the robot that moved.
        layout: its standard parameters.
        base: the combinations that torques can determine.
        recording: the evidence; needs q, v, a and tau.
    """

    robot: Robot
    layout: Layout
    base: BaseParameters
    recording: Recording

    def __post_init__(self) -> None:
        if self.recording.joints != self.robot.joint_names:
            raise InputError(
                f"the recording has joints {list(self.recording.joints)}, "
                f"the robot {list(self.robot.joint_names)}.",
                place="recording",
                remedy="Rename or reorder the recording's joints.",
            )

    def regression(self) -> tuple[Array, Array]:
        r"""The stacked equation $W_1 \beta = \tau$.

        Returns:
            W_1, shape (N nv, b), SI, and tau, shape (N nv,), N·m or N; both stacked by sample.
        """
        q, v, a, tau = evidence(self.recording)
        Y = torque_regressor(self.robot, self.layout, q, v, a)
        return Y.reshape(-1, self.layout.size)[:, self.base.columns], tau.reshape(-1)


@dataclass(frozen=True, eq=False)
class Estimate:
    """What a recording says about the base parameters.

    Attributes:
        method: name of the estimator.
        base: the combinations estimated.
        values: beta, shape (b,), SI.
        condition: condition number of the regressor with columns scaled to unit norm, dimensionless.
        residual: rms of tau minus its prediction on the data used, shape (nv,), N·m or N.
        recording: digest of the data used.
    """

    method: str
    base: BaseParameters
    values: Array
    condition: float
    residual: Array
    recording: str
    schema: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", read_only(checked("values", self.values, (self.base.count,))))
        object.__setattr__(self, "residual", read_only(checked("residual", self.residual, ("nv",))))

    def torque(self, robot: Robot, layout: Layout, recording: Recording) -> Array:
        """Torques the estimate predicts along a recorded motion.

        Args:
            robot: the robot.
            layout: the layout the base was found for.
            recording: a motion with q, v and a.

        Returns:
            Torques, shape (N, nv), N·m or N.
        """
        q, v, a, _ = evidence(recording)
        prediction: Array = torque_regressor(robot, layout, q, v, a)[..., self.base.columns] @ self.values
        return prediction


def evidence(recording: Recording) -> tuple[Array, Array, Array, Array]:
    """The channels torque identification needs.

    Args:
        recording: a recording with q, v, a and tau.

    Returns:
        q, v, a and tau, each shape (N, nv), rad or m and their derivatives, N·m or N.

    Raises:
        RecordingError: a channel was not recorded.
    """
    channels = {"v": recording.v, "a": recording.a, "tau": recording.tau}
    missing = [name for name, value in channels.items() if value is None]
    if recording.v is None or recording.a is None or recording.tau is None:
        raise RecordingError(
            f"has no {', '.join(missing)}.",
            place="recording",
            remedy="These channels are needed to identify.",
        )
    return recording.q, recording.v, recording.a, recording.tau


def condition_of(W: Array) -> float:
    """Condition number of a regressor with its columns scaled to unit norm.

    Args:
        W: regressor, shape (M, b), SI.

    Returns:
        Largest over smallest singular value, dimensionless; infinite where a column is zero.
    """
    return score(Criterion.COND_NORMALISED, Information.of_regressor(W)).value
