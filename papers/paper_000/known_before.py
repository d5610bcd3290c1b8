"""What is known before a dumbbell is lifted, and the equations that a log adds to it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from paper_000.arm import END_EFFECTOR_LOWER, END_EFFECTOR_UPPER, SPREAD, arm, layout
from paper_000.knowledge import Identified
from paper_000.methods import CYCLE
from paper_000.trial import VELOCITY_ERROR
from steelyard.arrays import Array
from steelyard.payloads import Mount
from steelyard.pose import Pose
from steelyard.recording import Recording
from steelyard.safe_learning import LoadModel
from steelyard.uncertainty import ErrorBounds, PayloadBox, bounded_rows
from steelyard.uncertainty.payload_polytope import BoundedRows

TORQUE_ERROR = (0.025, 0.1)
"""Of the measured torque: a part of it (VI-D1), and N·m on top, since no torque near zero is exact."""


def load_model() -> LoadModel:
    """The arm within its spread, and nothing of the last link."""
    held = Mount(arm().link_names[-1], Pose.identity(), "the last link")
    return LoadModel.stated(arm(), layout(), held, model_error=SPREAD, whole_link=True)


def prior() -> PayloadBox:
    """Table I."""
    return PayloadBox.between(END_EFFECTOR_LOWER, END_EFFECTOR_UPPER)


def error_bounds() -> ErrorBounds:
    """How far readings and model are off at most."""
    known = load_model()
    return ErrorBounds.stated(
        known.robot,
        known.layout,
        known.parameters,
        torque=TORQUE_ERROR,
        model=known.spread,
        velocity=VELOCITY_ERROR,
    )


def momentum_rows(log: Recording, v: Array | None = None) -> BoundedRows:
    """The momentum rows Y of a log, their errors bounded.

    Args:
        log: positions, velocities and torques as they were measured.
        v: true velocities, shape (N, nv), rad/s: their steps bound the acceleration where no plan does; None
            for the robot's limits.

    Returns:
        The rows.
    """
    known, errors = load_model(), error_bounds()
    if v is not None:
        errors = replace(errors, acceleration=1.1 * np.abs(np.diff(v, axis=0)).max(axis=0) / CYCLE)
    return bounded_rows(known.robot, known.layout, known.parameters, log, known.held, errors, prior())


def identified(boxes: list[tuple[float, PayloadBox]], rows: BoundedRows, unsafe: str) -> Identified:
    """What a phase has found.

    Args:
        boxes: what the end effector could be from some time on, s.
        rows: the momentum rows of the whole phase.
        unsafe: what went wrong.

    Returns:
        The knowledge.
    """
    last = boxes[-1][1]
    return Identified(
        last.lower,
        last.upper,
        np.array([time for time, _ in boxes]),
        np.array([(box.lower[0], box.centre[0], box.upper[0]) for _, box in boxes]),
        float(np.linalg.cond(rows.load)),
        unsafe,
    )
