"""From recordings to guaranteed bounds: weigh, then weigh again with what is known of the payload.

How far velocity errors and integration can move an equation depends on how heavy the payload may be. Bounds
from a first pass say so better than the prior; nothing more is assumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from steelyard.errors import InputError
from steelyard.layout import Layout
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.uncertainty.bounded_rows import TEN, BoundedRows
from steelyard.uncertainty.contradiction import error_growth
from steelyard.uncertainty.error_bounds import ErrorBounds
from steelyard.uncertainty.guaranteed import GuaranteedBounds, guaranteed_bounds
from steelyard.uncertainty.measured_motion import require_one_motion
from steelyard.uncertainty.momentum_windows import WINDOW, Grip, bounded_rows
from steelyard.uncertainty.payload_box import PayloadBox
from steelyard.uncertainty.theorem13_both import theorem13_of

NOTHING = PayloadBox(
    np.zeros(TEN), np.zeros(TEN), np.zeros((0, TEN)), np.zeros(0), "In the empty runs the arm holds nothing."
)


def guaranteed_payload(
    robot: Robot,
    layout: Layout,
    parameters: ArrayLike,
    recordings: Sequence[Recording],
    held: Grip,
    errors: ErrorBounds,
    prior: PayloadBox,
    *,
    empty: Sequence[Recording] = (),
    window: float = WINDOW,
    possible: bool = True,
    passes: int = 2,
    compared: bool = False,
) -> GuaranteedBounds:
    """Guaranteed bounds on the payload of one or several recordings.

    Args:
        robot: the robot without the payload, an arm of turning and sliding joints.
        layout: the order of its parameters.
        parameters: phi of the robot without the payload, shape (p,), SI.
        recordings: positions, velocities and torques with the same payload, held in the same way.
        held: where the payload is held; its ten numbers are in the frame of this placement.
        errors: how far measurements and model can be off.
        prior: what the payload can be.
        empty: the same without payload. What they say of the robot's errors narrows the bounds, and where the
            robot alone contradicts them, an assumption is wrong that a payload could have hidden.
        window: length of a window, s.
        possible: whether to leave out payloads that cannot exist.
        passes: how often the equations are made; after the second little changes.
        compared: whether to ask of the equations of the last pass too what share of their errors the data
            needs, and Theorem 13 of paper 000 of those with the payload.

    Returns:
        The bounds of the last pass, with all that they assume.

    Raises:
        ContradictionError: no payload explains the data: an assumption is wrong.
        MotionContradictionError: no motion does.
        InputError: there is no pass or no recording, or the equations cannot be made, see `bounded_rows`.
    """
    if passes < 1:
        raise InputError(f"must be at least 1, got {passes}.", place="passes")
    for log in (*recordings, *empty):
        if "v" in log.channels:
            require_one_motion(log, errors)

    def rows_of(logs: Sequence[Recording], known: PayloadBox) -> list[BoundedRows]:
        return [
            bounded_rows(robot, layout, parameters, log, held, errors, known, window=window) for log in logs
        ]

    alone = [_without_load(rows) for rows in rows_of(empty, NOTHING)]
    known = prior
    for left in reversed(range(passes)):
        loaded = BoundedRows.joined(rows_of(recordings, known))
        rows = BoundedRows.joined([loaded, *alone])
        bounds = guaranteed_bounds(rows, known, possible=possible and left == 0)
        known = prior.narrowed(bounds.lower, bounds.upper)
    bounds = bounds.against(prior)
    if not compared:
        return bounds
    return replace(bounds, needed=error_growth(rows, known).factor, theorem13=theorem13_of(loaded))


def _without_load(rows: BoundedRows) -> BoundedRows:
    """Equations of the robot alone."""
    places = tuple(replace(place, run="an empty run") for place in rows.places)
    return replace(rows, load=np.zeros_like(rows.load), places=places)
