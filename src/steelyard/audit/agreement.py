"""Whether a log and the description it is read with can be of the same robot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.arrays import Array, checked
from steelyard.audit.verdict import Check, Status
from steelyard.finding import Finding, Severity

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
