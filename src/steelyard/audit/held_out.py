"""How well a model predicts torques, above all those it has not seen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.arrays import Array
from steelyard.audit.torque import ARM
from steelyard.audit.verdict import Check, Status
from steelyard.errors import RecordingError
from steelyard.model import TorqueError, torque_error
from steelyard.recording import Recording
from steelyard.signals import in_band

GOOD, POOR = 10.0, 30.0
"""Overall error in percent of the torque's rms up to which a model passes, and beyond which it fails."""
POOR_JOINT = 30.0
"""Error of one joint from which on it is named, if it is felt in the arm."""


def error_along(recordings: Sequence[Recording], predicted: Sequence[Array]) -> TorqueError:
    """The torque error along recorded motions, of all of them together.

    Measured and predicted torques are compared in the band of the motion, see `signals.in_band`: above it a
    prediction is not to be had, and the measured torque is noise.

    Args:
        recordings: motions with torques, as `signals.prepared` made them; others are compared as they are.
        predicted: the torques of a model along each, shape (N, nv), N·m or N.

    Returns:
        Percentages per joint and over all.

    Raises:
        RecordingError: a recording has no torques.
    """
    measured, modelled = [], []
    for recording, tau_hat in zip(recordings, predicted, strict=True):
        if recording.tau is None:
            raise RecordingError("has no torques.", place="recording", remedy="Record joint torques.")
        measured.append(in_band(recording, recording.tau))
        modelled.append(in_band(recording, tau_hat))
    return torque_error(np.vstack(measured), np.vstack(modelled))


def check_torque(
    name: str,
    error: TorqueError,
    joints: Sequence[str],
    *,
    nominal: TorqueError | None = None,
    unfiltered: TorqueError | None = None,
    repeat: str = "",
) -> Check:
    """Judge the torque error of a motion.

    Args:
        name: what the motion is, such as `held-out torque`.
        error: the errors, percent.
        joints: names of the joints.
        nominal: errors of the description's own parameters on the same motion, percent, where it states them.
        unfiltered: errors of the same prediction against torques as they were measured, percent, where the
            others are of the band of the motion.
        repeat: why the motion is no test, such as that it repeats the training; empty if it is one.

    Returns:
        The check.
    """
    shares = error.shares or (1.0,) * len(error.joints)
    weak = {
        joint: e
        for joint, e, share in zip(joints, error.joints, shares, strict=True)
        if e > POOR_JOINT and e * share > 100.0 * ARM
    }
    message = f"{error.overall:.2f} % of the torque is unexplained"
    if unfiltered is not None:
        message += f" in the motion's band ({unfiltered.overall:.2f} % unfiltered)"
    if nominal is not None:
        message += f", {nominal.overall:.2f} % by the description's own numbers"
    if weak:
        message += "; worst at " + ", ".join(f"{joint} ({e:.0f} %)" for joint, e in weak.items())
    status = Status.PASS if error.overall <= GOOD else Status.WARN if error.overall <= POOR else Status.FAIL
    if weak and status is Status.PASS:
        status = Status.WARN
    if repeat:
        message += f"; {repeat}, so this is no held-out test"
        status = Status.WARN if status is Status.PASS else status
    if nominal is not None and error.overall**2 - nominal.overall**2 > (100.0 * ARM) ** 2:
        message += "; the description was better"
        status = Status.WARN if status is Status.PASS else status
    evidence = {
        "overall": error.overall,
        "joints": dict(zip(joints, error.joints, strict=True)),
        "nominal": None if nominal is None else nominal.overall,
        "unfiltered": None if unfiltered is None else unfiltered.overall,
    }
    return Check(name, status, message + ".", evidence)
