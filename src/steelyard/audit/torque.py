"""How well a model predicts torques, above all those it has not seen, and what the rest looks like."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.arrays import Array, BoolArray, checked
from steelyard.audit.verdict import Check, Status
from steelyard.errors import RecordingError
from steelyard.finding import Finding, Severity
from steelyard.model import TorqueError, torque_error
from steelyard.recording import Recording
from steelyard.signals import in_band

# Which joints feel a part of the torque.

OWN, ARM = 0.1, 0.01
"""Shares of a joint's own torque, and of the arm's, beyond which a part of it is felt."""


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


# Prediction of torques, above all held-out ones

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


# What the residual torque looks like: noise, or something the model lacks.

COLOURED = 0.9
"""Lag-one autocorrelation from which on a residual is no noise at the rate of the log."""
EXPLAINED = 0.1
"""Share of a residual's power that a function of velocity may explain before it is named."""


def check_colour(residual: Array, joints: Sequence[str], torque: Array | None = None) -> Check:
    r"""Ask whether the residual is white: $\rho_1 = \sum r_k r_{k+1} / \sum r_k^2$.

    Args:
        residual: measured minus predicted torque, in the order of time, shape (N, nv), N·m or N.
        joints: names of the joints.
        torque: measured torque, shape (N, nv), N·m or N, to leave out joints whose residual is not `felt`;
            None names every joint.
    """
    r = checked("residual", residual, ("N", len(joints)))
    r = r - r.mean(axis=0)
    power = (r**2).sum(axis=0)
    rho = np.where(power > 0, (r[1:] * r[:-1]).sum(axis=0) / np.where(power > 0, power, 1.0), 0.0)
    evidence = {"lag_one": dict(zip(joints, rho.tolist(), strict=True))}
    named = _felt(np.sqrt((r**2).mean(axis=0)), torque)
    coloured = [j for j, x, say in zip(joints, rho, named, strict=True) if x > COLOURED and say]
    if coloured:
        message = (
            f"the residual of {', '.join(coloured)} is coloured (lag-one autocorrelation up to "
            f"{rho.max():.3f}): it is model error or filtering, not noise."
        )
        return Check("residual colour", Status.WARN, message, evidence)
    message = f"the residual's lag-one autocorrelation is at most {rho.max():.3f}"
    message += "." if rho.max() <= COLOURED else ", where it is too small a part of the torque to matter."
    return Check("residual colour", Status.PASS, message, evidence)


def check_friction(residual: Array, v: Array, joints: Sequence[str], torque: Array | None = None) -> Check:
    """Ask whether the residual still depends on the joint's own velocity, as unmodelled friction would.

    The share of its power that sign(v), v, |v| and 1 explain together is reported.

    Args:
        residual: measured minus predicted torque, shape (N, nv), N·m or N.
        v: joint velocities, shape (N, nv), rad/s or m/s.
        joints: names of the joints.
        torque: measured torque, shape (N, nv), N·m or N, to leave out joints at which what velocity explains
            is not `felt`; None names every joint.
    """
    r = checked("residual", residual, ("N", len(joints)))
    speed = checked("v", v, r.shape)
    shares = {}
    for k, joint in enumerate(joints):
        columns = np.column_stack([np.sign(speed[:, k]), speed[:, k], np.abs(speed[:, k]), np.ones(len(r))])
        power = float(r[:, k] @ r[:, k])
        left = r[:, k] - columns @ np.linalg.lstsq(columns, r[:, k], rcond=None)[0]
        shares[joint] = 1.0 - float(left @ left) / power if power > 0 else 0.0
    part = np.sqrt(np.maximum(list(shares.values()), 0.0) * (r**2).mean(axis=0))
    said = dict(zip(joints, _felt(part, torque), strict=True))
    named = {joint: share for joint, share in shares.items() if share > EXPLAINED and said[joint]}
    evidence = {"explained": shares}
    if named:
        listed = ", ".join(f"{joint} ({100 * share:.0f} %)" for joint, share in named.items())
        message = f"friction explains a part of the residual that the model lacks: {listed}."
        return Check("velocity dependence", Status.WARN, message, evidence)
    message = f"velocity explains at most {100 * max(shares.values()):.1f} % of the residual's power"
    most = max(shares.values())
    message += "." if most <= EXPLAINED else ", where that is too small a part of the torque to matter."
    return Check("velocity dependence", Status.PASS, message, evidence)


def _felt(part: Array, torque: Array | None) -> BoolArray:
    """Which joints feel a part of rms `part`, shape (nv,); all where the torque is not given."""
    if torque is None:
        return np.ones(len(part), dtype=np.bool_)
    tau = checked("torque", torque, ("N", len(part)))
    return felt(part, np.sqrt((tau**2).mean(axis=0)))


# Whether a log and the description it is read with can be of the same robot.

ODD, WRONG = 5.0, 10.0
"""Structured torque, percent of the rms, from which on a description is doubted, and on which it fails."""
_SLOW = 0.1
"""Speed within which friction falls from its value at rest, rad/s or m/s."""


def structured_torque(residual: Array, v: Array, predicted: Array, torque: Array) -> float:
    r"""How much torque is left that is neither noise nor friction, in percent of the torque's rms.

    What friction could explain is taken off first: functions of the joint's own speed, friction that grows
    with the load, and friction that changes in the course of the log,

    $$r_k \perp \{1,\ v,\ |v|,\ |v|\,v,\ s,\ s\,e^{-|v|/0.1},\ s\,|\hat\tau_k|,\ t,\ s\,t\},
      \qquad s = \operatorname{sign} v.$$

    White noise has no covariance from one sample to the next, so of what is left that covariance counts,

    $$100 \sqrt{\textstyle\sum_k \max(\operatorname{mean}_t r_k(t)\,r_k(t+1),\,0) \,/
      \sum_k \operatorname{mean}_t \tau_k^2}.$$

    Args:
        residual: measured minus predicted torque, in the order of time, shape (N, nv), N·m or N.
        v: joint velocities, shape (N, nv), rad/s or m/s.
        predicted: predicted torque, shape (N, nv), N·m or N.
        torque: measured torque, shape (N, nv), N·m or N.

    Returns:
        The percentage; zero where there is no torque.
    """
    r = checked("residual", residual, ("N", "nv"))
    speed, load = checked("v", v, r.shape), np.abs(checked("predicted", predicted, r.shape))
    t, one = np.linspace(-1.0, 1.0, len(r)), np.ones(len(r))
    power = 0.0
    for k in range(r.shape[1]):
        x, s = speed[:, k], np.sign(speed[:, k])
        slow = s * np.exp(-np.abs(x) / _SLOW)
        friction = np.column_stack([one, x, np.abs(x), np.abs(x) * x, s, slow, s * load[:, k], t, s * t])
        left = r[:, k] - friction @ np.linalg.lstsq(friction, r[:, k], rcond=None)[0]
        power += max(float(left[1:] @ left[:-1]) / len(left), 0.0)
    whole = float((checked("torque", torque, r.shape) ** 2).mean(axis=0).sum())
    return 100.0 * float(np.sqrt(power / whole)) if whole > 0.0 else 0.0


def check_agreement(findings: Sequence[Finding], left: float, repaired: float, structured: float) -> Check:
    """Ask whether description and log contradict each other.

    Args:
        findings: what a diagnosis names; an error contradicts the description, a warning costs little.
        left: unexplained torque as the log stands, percent of its rms.
        repaired: the same if what is named were undone, percent.
        structured: torque held out that is neither noise nor friction, see `structured_torque`, percent.

    Returns:
        The check; its message is the cause and what to do about it.
    """
    name = "description and log"
    evidence = {
        "left": left,
        "repaired": repaired,
        "structured": structured,
        "causes": [f"{finding.code}: {finding.place}" for finding in findings],
    }
    if findings:
        wrong = any(finding.severity is Severity.ERROR for finding in findings)
        said = " ".join(_sentence(finding) for finding in findings)
        return Check(name, Status.FAIL if wrong else Status.WARN, said, evidence)
    if structured > ODD:
        message = (
            f"{structured:.2g} % of the torque held out is neither noise nor friction, and no single mistake "
            "explains it: the description may be wrong in several ways, the arm may carry or touch something "
            "that it does not state, or the log is of another robot."
        )
        return Check(name, Status.FAIL if structured > WRONG else Status.WARN, message, evidence)
    message = (
        "no sign, order, unit, factor, zero, delay, gravity or axis explains the torques clearly better; "
        f"{structured:.2g} % of the torque held out is neither noise nor friction."
    )
    return Check(name, Status.PASS, message, evidence)


def _sentence(finding: Finding) -> str:
    """What a finding says, with its place where its words do not have it."""
    words = finding.message.replace(",", " ").replace(":", " ").replace(". ", " ").split()
    named = not finding.place or all(place in words for place in finding.place.split(", "))
    return finding.message if named else f"{finding.place}: {finding.message}"
