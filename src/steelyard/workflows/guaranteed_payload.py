"""Guaranteed bounds of a payload: what was assumed, and what follows or contradicts it.

They rest on samples as they were logged. A filter, a new rate or a derivative has errors that nobody stated,
so nothing of what is done for the estimate is done here: `--cutoff` does not touch them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from steelyard.arrays import Array
from steelyard.audit import Check, Status
from steelyard.errors import InputError, RecordingError
from steelyard.payloads import ArmModel, Mount
from steelyard.progress import say
from steelyard.recording import Recording, read
from steelyard.signals import split_at_gaps, torque_from_current
from steelyard.uncertainty import (
    ContradictionError,
    ErrorBounds,
    GuaranteedBounds,
    MotionContradictionError,
    PayloadBox,
    guaranteed_payload,
    with_velocities,
)
from steelyard.workflows.logs import log_units, torque_constants
from steelyard.workflows.record import GivenObjects
from steelyard.workflows.weighed_payload import ALONE, PayloadRequest

NAME = "guaranteed bounds"
WINDOW = 0.1
"""Time over which momentum is balanced, s."""
MISSING = 1.5
"""An interval longer than this many median ones has lost a sample, of whose torque nothing is known."""
NEAR = 0.9
"""Share of the stated errors that the data may need before this is a warning."""
SAME = 1e-9
"""Positions that are nearer to each other than this are one, rad or m."""


def guaranteed(
    request: PayloadRequest, objects: GivenObjects, held: Mount, model: ArmModel
) -> tuple[GuaranteedBounds | None, Check]:
    """Bounds on the payload under the stated errors, and a check that fails where these contradict the data.

    Args:
        request: what was asked.
        objects: those that it names.
        held: where the payload is held.
        model: the robot without payload.

    Returns:
        The bounds, None where there are none; and the check.
    """
    # Fingers that moved make the empty robot another one.
    bare = () if request.empty_lock else request.empty
    loaded, empty = (
        [part for path in paths for part in _measured(request, objects, path, model)]
        for paths in (request.loaded, bare)
    )
    errors = ErrorBounds.stated(
        request.limited(model.robot),
        model.layout,
        model.parameters,
        torque=_torque_error(request.torque_error or ""),
        model=request.model_error,
        velocity=request.velocity_error,
        position=_step([*loaded, *empty]) if request.position_error is None else request.position_error,
        delay=request.torque_delay,
        torque_holds=False,
        delay_steady=True,
    )
    logs, errors = _moving(request, [*loaded, *empty], errors)
    loaded, empty = logs[: len(loaded)], logs[len(loaded) :]
    prior = PayloadBox.in_ball(request.heaviest, request.extent)
    try:
        arm = model.robot, model.layout, model.parameters
        bounds = guaranteed_payload(
            *arm, loaded, held, errors, prior, empty=empty, window=WINDOW, needed=True
        )
    except (ContradictionError, MotionContradictionError) as alarm:
        say(f"4  the data contradicts what was stated: {alarm}")
        return None, Check(NAME, Status.FAIL, str(alarm))
    low, high = bounds.lower[0], bounds.upper[0]
    words = f"{low:.4g} to {high:.4g} kg if all of {len(bounds.assumptions)} assumptions hold."
    say(f"4  guaranteed: {words} The data cannot show whether these do, unless they are far off:")
    for sentence in bounds.untested:
        say(f"   - {sentence}")
    if not empty:
        say(f"   {ALONE}")
    return bounds, _judged(words if empty else f"{words} {ALONE}", bounds)


def _judged(words: str, bounds: GuaranteedBounds) -> Check:
    """The bounds with all that they rest on; a warning where the stated errors barely explain the data."""
    tested = [sentence for sentence in bounds.assumptions if sentence not in bounds.untested]
    need = bounds.needed or 0.0
    message = (
        f"{words} The data needs {100.0 * need:.0f} % of the stated errors, so it does not contradict: "
        f"{' '.join(tested)} It cannot show, unless they are far off, whether these hold: "
        f"{' '.join(bounds.untested)}"
    )
    if need > NEAR:
        message += " With so little room left, one of all these may well be wrong."
    if bounds.prior_decides[0]:
        message += " An end of the mass is the prior's own: there the data excludes nothing."
    passed = need <= NEAR and not bounds.prior_decides[0]
    return Check(NAME, Status.PASS if passed else Status.WARN, message)


def _measured(request: PayloadRequest, objects: GivenObjects, path: str, model: ArmModel) -> list[Recording]:
    """The parts of a log between samples that are missing, as it was logged."""
    joints = list(model.robot.joint_names)
    columns, topic = request.columns, request.topic
    units = log_units(request.units, request.calibration, model.robot)
    log = read(
        objects.of(path), joints=joints, columns=columns, topic=topic, units=units, lenient=True
    ).recording
    constants = torque_constants(request.torque_constant, model.robot.nv)
    if constants is not None:
        log = torque_from_current(log, constants)
    if log.tau is None:
        raise RecordingError(
            "has no torques to bound a payload with.",
            place=path,
            remedy="Record joint torques, or state the torque constants by --torque-constant.",
        )
    longest = MISSING * float(np.median(np.diff(log.time)))
    parts = [part for part in split_at_gaps(log, longest) if part.duration >= _least(request)]
    if not parts:
        raise RecordingError(
            f"has no {_least(request):.3g} s without a missing sample: no interval may be longer than "
            f"{longest:.3g} s.",
            place=path,
            remedy="Record at an even rate for guaranteed bounds, or leave --torque-error out.",
        )
    return parts


def _least(request: PayloadRequest) -> float:
    """Length of a log that holds a window and what stays free before and after it, s."""
    return WINDOW + 2.0 * request.torque_delay


def _step(logs: Sequence[Recording]) -> Array:
    """The least difference of two logged positions of each joint: one step where they are in steps."""
    found = []
    for column in np.concatenate([log.q for log in logs]).T:
        apart = np.diff(np.unique(column))
        found.append(float(min(apart[apart > SAME], default=0.0)))
    return np.array(found)


def _moving(
    request: PayloadRequest, logs: Sequence[Recording], errors: ErrorBounds
) -> tuple[list[Recording], ErrorBounds]:
    """Logs with velocities, as measured or from positions with all that these can be off by."""
    if all(log.v is not None for log in logs):
        return list(logs), errors
    if request.position_error is None:
        raise InputError(
            "is needed where a log has no velocities, which then come from positions.",
            place="--position-error",
            remedy="State how far positions can be off, rad, or record velocities.",
        )
    made = [with_velocities(log, errors) for log in logs]
    velocity = np.max([of.velocity for _, of in made], axis=0)
    return [log for log, _ in made], replace(errors, velocity=velocity)


def _torque_error(text: str) -> tuple[float, float]:
    try:
        values = [float(word) for word in text.split(",")]
    except ValueError:
        values = []
    if len(values) != 2 or not np.isfinite(values).all():
        raise InputError(
            f"expected a share and a torque in N·m, got '{text}'.",
            place="--torque-error",
            remedy="Write 0.025,0.3 for 2.5 % and 0.3 N·m.",
        )
    return values[0], values[1]
