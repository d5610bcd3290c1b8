"""Guaranteed bounds for `steelyard payload`: what was assumed, and what follows or contradicts it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from steelyard.audit import Check, Status
from steelyard.cli.identify_request import torque_constants
from steelyard.cli.output import say
from steelyard.cli.payload_request import PayloadRequest
from steelyard.cli.theorem13_answer import theorem13_line
from steelyard.errors import InputError
from steelyard.payload import ArmModel, Held
from steelyard.recording import Recording, read
from steelyard.signals import Preparation, prepared, sampling_of
from steelyard.uncertainty import (
    ContradictionError,
    ErrorBounds,
    GuaranteedBounds,
    PayloadBox,
    guaranteed_payload,
)

NAME = "guaranteed bounds"


def guaranteed(request: PayloadRequest, held: Held, model: ArmModel) -> tuple[GuaranteedBounds | None, Check]:
    """Bounds on the payload under the stated errors, and a check that fails where these contradict the data.

    Args:
        request: what was asked.
        held: where the payload is held.
        model: the robot without payload.

    Returns:
        The bounds, None where there are none; and the check.
    """
    errors = ErrorBounds.stated(
        request.limited(model.robot),
        model.layout,
        model.parameters,
        torque=_torque_error(request.torque_error or ""),
        model=request.model_error,
        velocity=request.velocity_error,
    )
    prior = PayloadBox.in_ball(request.heaviest, request.extent)
    logs = [_whole(request, path, model) for path in request.loaded]
    try:
        arm = model.robot, model.layout, model.parameters
        bounds = guaranteed_payload(*arm, logs, held, errors, prior, possible=True, compared=True)
    except ContradictionError as alarm:
        say(f"4  no payload explains the data within the stated errors: {alarm}")
        return None, Check(NAME, Status.FAIL, str(alarm))
    low, high = bounds.lower[0], bounds.upper[0]
    words = f"{low:.4g} to {high:.4g} kg if all of {len(bounds.assumptions)} assumptions hold."
    say(f"4  guaranteed: {words}")
    if bounds.theorem13 is not None:
        say(f"   beside it, {theorem13_line(bounds.theorem13)}")
    return bounds, Check(NAME, Status.PASS, f"{words} They are: {' '.join(bounds.assumptions)}")


def _whole(request: PayloadRequest, path: str, model: ArmModel) -> Recording:
    """A log at its own rate: thinned samples would add the error of the integration rule."""
    joints = list(model.robot.joint_names)
    columns, topic = request.columns, request.topic
    log = read(Path(path), joints=joints, columns=columns, topic=topic, lenient=True).recording
    constants = torque_constants(request.torque_constant, model.robot.nv)
    how = Preparation(constants, request.cutoff, sampling_of(log).interval)
    return prepared(log, how).recording


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
