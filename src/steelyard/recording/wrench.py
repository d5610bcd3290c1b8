"""Wrenches in a log: six columns for each force-torque sensor, named after the frame that it measures in."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import RecordingError
from steelyard.recording.recording import Recording

AXES = ("fx", "fy", "fz", "mx", "my", "mz")
"""What follows the frame in the names of a wrench's columns: three forces, N, then three moments, N·m."""
_COLUMN = re.compile(rf"wrench_(?P<frame>.+)_(?:{'|'.join(AXES)})")


def wrench_columns_of(frame: str) -> tuple[str, ...]:
    """The names of a wrench's six columns, such as `wrench_tool0_fx`.

    Args:
        frame: name of the frame in whose axes it is measured, about whose origin.

    Returns:
        The names, in the order of `AXES`.
    """
    return tuple(f"wrench_{frame}_{axis}" for axis in AXES)


def wrench_frames(columns: Iterable[str]) -> tuple[str, ...]:
    """The frames of all wrenches among columns; some of their six may be missing.

    Args:
        columns: names of columns.

    Returns:
        The frames, in the order of their first column.
    """
    found = (_COLUMN.fullmatch(name) for name in columns)
    return tuple(dict.fromkeys(match["frame"] for match in found if match is not None))


def wrench_in(recording: Recording, frame: str) -> Array:
    """The wrench that a sensor measured.

    Args:
        recording: the log.
        frame: name of the sensor's frame.

    Returns:
        Forces, then moments about the frame's origin, in its axes, shape (N, 6), N and N·m.

    Raises:
        RecordingError: the log has no such wrench, or not all six columns of it; lists those it has.
    """
    columns = wrench_columns_of(frame)
    missing = [name for name in columns if name not in recording.extra]
    if not missing:
        return np.column_stack([recording.extra[name] for name in columns])
    others = [other for other in wrench_frames(recording.extra) if other != frame]
    if len(missing) < len(columns):
        why = "of the six columns these are missing, or hold cells that are no numbers"
        raise RecordingError(f"{why}: {', '.join(missing)}.", place=f"wrench of '{frame}'")
    said = f"it has those of {', '.join(others)}" if others else "it has none"
    remedy = f"Record the columns {columns[0]} to {columns[-1]}"
    if others:
        mapped = f"wrench_{others[0]}_fx={columns[0]}"
        remedy = f"Name one of those, or say by --columns what they are, as in '{mapped}, …'"
    raise RecordingError(
        f"the log has no wrench of '{frame}'; {said}.", place=f"wrench of '{frame}'", remedy=f"{remedy}."
    )
