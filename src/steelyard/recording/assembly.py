"""From the columns of a file to a recording whose history says what became of each of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import RecordingError, UnknownNameError
from steelyard.recording.assignment import Assignment, assign
from steelyard.recording.channels import column_name
from steelyard.recording.content import checked_joints
from steelyard.recording.recording import Recording
from steelyard.recording.table import Column, Table, refuse

MOST_COLUMNS = 4096


def assemble(
    table: Table,
    *,
    joints: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
) -> tuple[Recording, dict[str, object]]:
    """Build a recording out of a file's columns.

    Columns that belong to no joint are kept as extra ones when every cell is a finite number; otherwise they
    are left out, and said to be.

    Args:
        table: the columns.
        joints: the joints of the recording, which numbers in the names index.
        columns: our name for a column, by its name in the file.

    Returns:
        The recording without history, and what became of each column.

    Raises:
        RecordingError: the columns do not make a recording.
    """
    refuse(table.defects, table.broken_rows, "Repair or remove these rows.")
    shown = [column.name.strip() or f"column {i + 1}" for i, column in enumerate(table.columns)]
    _check_header(shown)
    names = _mapped(shown, columns or {})
    assignment = assign(names, shown, None if joints is None else checked_joints(joints))
    _check_cells(table, assignment)
    return _recording(table, names, shown, assignment)


def _check_header(shown: Sequence[str]) -> None:
    if len(shown) > MOST_COLUMNS:
        raise RecordingError(f"has {len(shown)} columns; at most {MOST_COLUMNS} are read.")
    seen: dict[str, int] = {}
    for index, name in enumerate(shown):
        if seen.setdefault(name, index) != index:
            raise RecordingError(
                f"columns {seen[name] + 1} and {index + 1} have the same name '{name[:60]}'.",
                remedy="Rename one of them in the file.",
            )


def _mapped(shown: Sequence[str], columns: Mapping[str, str]) -> list[str]:
    for name, target in columns.items():
        if name not in shown:
            raise UnknownNameError("column", name, shown)
        if not isinstance(target, str):
            raise RecordingError(f"column '{name}' is mapped to {target!r}, which is not a name.")
    names = [columns.get(name, name) for name in shown]
    seen: dict[str, int] = {}
    for index, name in enumerate(names):
        if seen.setdefault(name, index) != index:
            raise RecordingError(
                f"columns '{shown[seen[name]]}' and '{shown[index]}' both claim to be '{name}'."
            )
    return names


def _check_cells(table: Table, assignment: Assignment) -> None:
    needed = [assignment.time, *(index for group in assignment.channels.values() for index in group)]
    n = len(table.columns[assignment.time].values)
    for column in (table.columns[index] for index in needed):
        if column.remark:
            raise RecordingError(f"column '{column.name}' holds no numbers: {column.remark}.")
        if len(column.values) != n:
            raise RecordingError(f"column '{column.name}' has {len(column.values)} rows, but time has {n}.")
    defects = [defect for index in needed for defect in table.columns[index].defects]
    count = sum(table.columns[index].unusable for index in needed)
    commas = any(re.fullmatch(r"[+-]?\d+,\d+", defect.text) for defect in defects)
    refuse(
        defects,
        count,
        "Write decimals with a point." if commas else "Repair these cells, or remove their rows.",
    )


def _recording(
    table: Table, names: Sequence[str], shown: Sequence[str], assignment: Assignment
) -> tuple[Recording, dict[str, object]]:
    time = table.columns[assignment.time].values
    used = {shown[assignment.time]: "time"}
    channels: dict[str, Any] = {}
    for channel, group in assignment.channels.items():
        channels[channel] = np.column_stack([table.columns[index].values for index in group])
        used |= {
            shown[i]: column_name(channel, joint) for i, joint in zip(group, assignment.joints, strict=True)
        }
    ignored = {shown[index]: "joint not selected" for index in assignment.unselected}
    extra: dict[str, Array] = {}
    for index in assignment.extra:
        column = table.columns[index]
        if reason := _why_not_extra(column, len(time)):
            ignored[shown[index]] = reason
        else:
            extra[names[index]] = column.values
            used[shown[index]] = names[index]
    recording = Recording(joints=assignment.joints, time=time, **channels, extra=extra)
    return recording, {"columns": used, "extra": list(extra), "ignored": ignored}


def _why_not_extra(column: Column, n: int) -> str:
    if column.remark:
        return column.remark
    if len(column.values) != n:
        return f"has {len(column.values)} rows, but time has {n}"
    if column.unusable:
        return f"{column.unusable} of {n} cells are not finite numbers"
    return ""
