"""From the columns of a file to a recording whose history says what became of each of them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Array
from steelyard.errors import RecordingError
from steelyard.finding import Finding, Severity
from steelyard.recording.assignment import Assignment, assign
from steelyard.recording.channels import column_name, is_time
from steelyard.recording.content import checked_joints
from steelyard.recording.header import header_of
from steelyard.recording.lenient import runs, usable_rows
from steelyard.recording.recording import Recording
from steelyard.recording.table import Column, Table, refuse
from steelyard.recording.units import StatedUnit

Rows: TypeAlias = "slice | NDArray[np.intp]"


class Assembled(NamedTuple):
    """A recording made of a file's columns.

    Attributes:
        recording: the recording, without history.
        detail: what became of each column.
        findings: what was noticed, and every row left out.
    """

    recording: Recording
    detail: dict[str, object]
    findings: tuple[Finding, ...]


def assemble(
    table: Table,
    *,
    joints: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    rate: float | None = None,
    lenient: bool = False,
) -> Assembled:
    """Build a recording out of a file's columns.

    Columns that belong to no joint are kept as extra ones when every cell is a finite number; otherwise they
    are left out, and said to be.

    Args:
        table: the columns.
        joints: the joints of the recording, which numbers in the names index.
        columns: our name for a column, by its name in the file; a unit in brackets is taken into account.
        rate: sampling rate of a file that has no column of time, Hz.
        lenient: whether rows that cannot be used are left out, with a finding for each, instead of refused.

    Returns:
        The recording with what was noticed.

    Raises:
        RecordingError: the columns do not make a recording.
    """
    if not lenient:
        refuse(table.defects, table.broken_rows, "Repair or remove these rows.")
    shown, names, units = header_of(table.columns, columns or {})
    if rate is not None:
        table = _timed(table, names, rate)
        shown, names = [*shown, "(row number / rate)"], [*names, "time"]
    assignment = assign(names, shown, None if joints is None else checked_joints(joints))
    _check_columns(table, assignment)
    findings = (*table.findings, *_converted(table, units))
    rows: Rows = slice(None)
    left_out: dict[str, object] = {}
    if lenient:
        selection = usable_rows(table, assignment)
        rows, findings = selection.rows, (*findings, *selection.findings)
        left_out = {"left_out": _left_out(table, selection.rows)}
    else:
        _check_cells(table, assignment)
    factors = {index: unit.factor for index, unit in units.items()}
    recording, detail = _recording(table, names, shown, assignment, factors, rows)
    stated = {shown[index]: unit.unit for index, unit in units.items()}
    return Assembled(recording, {**detail, **({"units": stated} if stated else {}), **left_out}, findings)


def _converted(table: Table, units: Mapping[int, StatedUnit]) -> list[Finding]:
    return [
        Finding(
            Severity.INFO,
            "unit-converted",
            f"stated in {unit.unit}; multiplied by {unit.factor:.9g} to be SI.",
            f"column '{table.columns[index].name.strip()}'",
        )
        for index, unit in units.items()
        if unit.factor != 1.0
    ]


def _timed(table: Table, names: Sequence[str], rate: float) -> Table:
    if not (math.isfinite(rate) and rate > 0.0):
        raise RecordingError(f"must be positive and finite, got {rate!r}.", place="rate")
    if any(is_time(name) for name in names):
        raise RecordingError("the file has a column of time, and a rate was given as well.", place="rate")
    n = len(table.columns[0].values) if table.columns else 0
    rows = np.arange(n) if table.rows is None else table.rows
    return replace(table, columns=(*table.columns, Column.of("time", rows / rate)))


def _left_out(table: Table, kept: NDArray[np.intp]) -> list[list[int]]:
    """First and last row in the file of each run that is not in the recording."""
    n = max(len(column.values) for column in table.columns)
    gone = {table.row(int(i)) for i in np.setdiff1d(np.arange(n), kept)}
    gone |= {defect.row for defect in table.defects}
    return [[first, last] for first, last in runs(np.array(sorted(gone), dtype=np.intp))]


def _needed(assignment: Assignment) -> list[int]:
    return [assignment.time, *(index for group in assignment.channels.values() for index in group)]


def _check_columns(table: Table, assignment: Assignment) -> None:
    n = len(table.columns[assignment.time].values)
    for column in (table.columns[index] for index in _needed(assignment)):
        if column.remark:
            raise RecordingError(f"column '{column.name}' holds no numbers: {column.remark}.")
        if len(column.values) != n:
            raise RecordingError(f"column '{column.name}' has {len(column.values)} rows, but time has {n}.")


def _check_cells(table: Table, assignment: Assignment) -> None:
    needed = _needed(assignment)
    defects = [defect for index in needed for defect in table.columns[index].defects]
    count = sum(table.columns[index].unusable for index in needed)
    commas = any(re.fullmatch(r"[+-]?\d+,\d+", defect.text) for defect in defects)
    refuse(
        defects,
        count,
        "Write decimals with a point." if commas else "Repair these cells, or remove their rows.",
    )


def _recording(
    table: Table,
    names: Sequence[str],
    shown: Sequence[str],
    assignment: Assignment,
    factors: Mapping[int, float],
    rows: Rows,
) -> tuple[Recording, dict[str, object]]:
    def taken(index: int) -> Array:
        values = table.columns[index].values[rows]
        return values * factors[index] if factors.get(index, 1.0) != 1.0 else values

    n = len(table.columns[assignment.time].values)
    used = {shown[assignment.time]: "time"}
    channels: dict[str, Any] = {}
    for channel, group in assignment.channels.items():
        channels[channel] = np.column_stack([taken(index) for index in group])
        used |= {
            shown[i]: column_name(channel, joint) for i, joint in zip(group, assignment.joints, strict=True)
        }
    ignored = {shown[index]: "joint not selected" for index in assignment.unselected}
    extra: dict[str, Array] = {}
    for index in assignment.extra:
        if reason := _why_not_extra(table.columns[index], n, rows):
            ignored[shown[index]] = reason
        else:
            extra[names[index]] = taken(index)
            used[shown[index]] = names[index]
    recording = Recording(joints=assignment.joints, time=taken(assignment.time), **channels, extra=extra)
    return recording, {"columns": used, "extra": list(extra), "ignored": ignored}


def _why_not_extra(column: Column, n: int, rows: Rows) -> str:
    if column.remark:
        return column.remark
    if len(column.values) != n:
        return f"has {len(column.values)} rows, but time has {n}"
    unusable = int((~np.isfinite(column.values[rows])).sum())
    return f"{unusable} of {n} cells are not finite numbers" if unusable else ""
