"""How well a model predicts torques, above all those it has not seen."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.audit.torque import TorqueError
from steelyard.audit.verdict import Check, Status

GOOD, POOR = 10.0, 30.0
"""Overall error in percent of the torque's rms up to which a model passes, and beyond which it fails."""
POOR_JOINT = 30.0
"""Error of one joint from which on it is named."""


def check_torque(
    name: str,
    error: TorqueError,
    joints: Sequence[str],
    *,
    nominal: TorqueError | None = None,
    repeat: str = "",
) -> Check:
    """Judge the torque error of a motion.

    Args:
        name: what the motion is, such as `held-out torque`.
        error: the errors, percent.
        joints: names of the joints.
        nominal: errors of the description's own parameters on the same motion, percent, where it states them.
        repeat: why the motion is no test, such as that it repeats the training; empty if it is one.

    Returns:
        The check.
    """
    weak = {j: e for j, e in zip(joints, error.joints, strict=True) if e > POOR_JOINT}
    message = f"{error.overall:.2f} % of the torque is unexplained"
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
    if nominal is not None and nominal.overall < error.overall:
        message += "; the description was better"
        status = Status.WARN if status is Status.PASS else status
    evidence = {
        "overall": error.overall,
        "joints": dict(zip(joints, error.joints, strict=True)),
        "nominal": None if nominal is None else nominal.overall,
    }
    return Check(name, status, message + ".", evidence)
