"""From recordings to guaranteed bounds: weigh, then weigh again with what is known of the payload.

How far velocity errors and integration can move an equation depends on how heavy the payload may be. Bounds
from a first pass say so better than the prior; nothing more is assumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from numpy.typing import ArrayLike

from steelyard.errors import InputError
from steelyard.layout import Layout
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.uncertainty.bounded_rows import BoundedRows
from steelyard.uncertainty.error_bounds import ErrorBounds
from steelyard.uncertainty.guaranteed import GuaranteedBounds, guaranteed_bounds
from steelyard.uncertainty.momentum_windows import WINDOW, Grip, bounded_rows
from steelyard.uncertainty.payload_box import PayloadBox
from steelyard.uncertainty.theorem13_both import theorem13_of


def guaranteed_payload(
    robot: Robot,
    layout: Layout,
    parameters: ArrayLike,
    recordings: Sequence[Recording],
    held: Grip,
    errors: ErrorBounds,
    prior: PayloadBox,
    *,
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
        window: length of a window, s.
        possible: whether to leave out payloads that cannot exist.
        passes: how often the equations are made; after the second little changes.
        compared: whether to ask Theorem 13 of paper 000 too, of the equations of the last pass.

    Returns:
        The bounds of the last pass, with all that they assume.

    Raises:
        ContradictionError: no payload explains the data: an assumption is wrong.
        InputError: there is no pass or no recording, or the equations cannot be made, see `bounded_rows`.
    """
    if passes < 1:
        raise InputError(f"must be at least 1, got {passes}.", place="passes")
    known = prior
    for left in reversed(range(passes)):
        rows = BoundedRows.joined(
            [
                bounded_rows(robot, layout, parameters, log, held, errors, known, window=window)
                for log in recordings
            ]
        )
        bounds = guaranteed_bounds(rows, known, possible=possible and left == 0)
        known = prior.narrowed(bounds.lower, bounds.upper)
    bounds = bounds.against(prior)
    return replace(bounds, theorem13=theorem13_of(rows)) if compared else bounds
