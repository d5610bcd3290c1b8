"""Limits that a motion breaks or comes close to, in words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.finding import Finding, Severity
from steelyard.limits.margins import Margins, MotionLimits


def violations(
    limits: MotionLimits,
    margins: Margins,
    time: ArrayLike | None = None,
    *,
    near: float = 0.0,
    near_distance: float = 0.0,
) -> tuple[Finding, ...]:
    """Every limit a motion breaks, and on request those it nearly reaches, each once, at its worst sample.

    Args:
        limits: what the motion must respect.
        margins: its margins.
        time: when the samples are, shape (N,), s; samples are counted from 0 where it is not given.
        near: fraction of a joint's limit (of the range of a position) within which it counts as nearly
            reached, dimensionless.
        near_distance: margin of clearance within which a pair counts as near, m.

    Returns:
        Errors for broken limits, codes `position-limit`, `velocity-limit`, `acceleration-limit`,
        `torque-limit` and `clearance`; the same as information where a limit is only nearly reached.
    """
    stamps = None if time is None else checked("time", time, (len(margins.clearance),))
    found = [*_joints(limits, margins, stamps, near), *_pairs(limits, margins, stamps, near_distance)]
    return tuple(found)


def _joints(limits: MotionLimits, margins: Margins, time: Array | None, near: float) -> Iterator[Finding]:
    b = limits.bounds
    joints = {joint.name: joint for joint in limits.robot.joints}
    driven = [joint.name for joint in limits.robot.joints for _ in range(joint.nv)]
    for what, names, lower, upper in (
        ("position", b.joints, b.lower, b.upper),
        ("velocity", b.joints, -b.velocity, b.velocity),
        ("acceleration", b.joints, -b.acceleration, b.acceleration),
        ("torque", driven, -b.effort, b.effort),
    ):
        values: Array = getattr(margins, what)
        if not values.size:
            continue
        for k, name in enumerate(names):
            sample, side = np.unravel_index(int(values[:, k].argmin()), values[:, k].shape)
            margin = float(values[sample, k, side])
            span = upper[k] - lower[k] if what == "position" else upper[k]
            if margin >= 0.0 and not (np.isfinite(span) and margin < near * span):
                continue
            joint = joints[name]
            unit = joint.effort_unit if what == "torque" else joint.position_unit + _PER[what]
            limit = float(upper[k] if side else lower[k])
            how = (
                f"exceeds its limit of {limit:g} {unit} by"
                if margin < 0.0
                else f"reaches {limit:g} {unit} but for"
            )
            message = f"{what} {how} {abs(margin):.3g} {unit} {_when(time, int(sample))}."
            yield _finding(margin, f"{what}-limit", message, f"joint '{name}'")


_PER = {"position": "", "velocity": "/s", "acceleration": "/s²"}


def _pairs(limits: MotionLimits, margins: Margins, time: Array | None, near: float) -> Iterator[Finding]:
    if limits.clearance is None or not len(margins.clearance):
        return
    for k, pair in enumerate(limits.clearance.pairs):
        sample = int(margins.clearance[:, k].argmin())
        margin = float(margins.clearance[sample, k])
        if margin >= near and margin >= 0.0:
            continue
        distance = margin + limits.distance
        if distance < 0.0:
            message = f"overlaps {pair.second.title} by {-1e3 * distance:.3g} mm"
        else:
            message = f"is {1e3 * distance:.3g} mm from {pair.second.title}"
        if margin < 0.0 < limits.distance:
            message += f", less than the {1e3 * limits.distance:g} mm required,"
        yield _finding(margin, "clearance", f"{message} {_when(time, sample)}.", pair.first.title)


def _finding(margin: float, code: str, message: str, place: str) -> Finding:
    return Finding(Severity.ERROR if margin < 0.0 else Severity.INFO, code, message, place)


def _when(time: Array | None, sample: int) -> str:
    return f"in sample {sample}" if time is None else f"at t = {time[sample]:.6g} s"
