"""From the columns of a file to a recording whose history says what became of each of them."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Array
from steelyard.errors import RecordingError
from steelyard.finding import Finding, Severity
from steelyard.recording.channels import StatedUnit, column_name, is_time, spelling
from steelyard.recording.columns import Assignment, assign
from steelyard.recording.inspection.garbage import garbage_rows
from steelyard.recording.recording import Recording, checked_joints
from steelyard.recording.servo_units import Units, converted
from steelyard.recording.table import Column, Table, header_of, refuse

# Reading on past what cannot be used: which rows are left out, each of them named.


@dataclass(frozen=True)
class Selection:
    """The rows of a file that can be used.

    Attributes:
        rows: their indices among the rows of the columns, increasing, shape (n,), dimensionless.
        findings: one for each row or run of rows that is left out.
    """

    rows: NDArray[np.intp]
    findings: tuple[Finding, ...]


def usable_rows(table: Table, assignment: Assignment) -> Selection:
    """Choose the rows that make a recording.

    Left out are, in this order: rows that could not be split into cells; rows with a cell that is no finite
    number in a column that is needed; the fewest rows that keep time from increasing; rows of garbage
    (`garbage_rows`).

    Args:
        table: the columns.
        assignment: what they are.

    Returns:
        The rows, and what is wrong with the others.

    Raises:
        RecordingError: fewer than two rows remain.
    """
    needed = [table.columns[i] for i in (assignment.time, *_flat(assignment))]
    findings = list(_split_defects(table))
    broken, described = _cell_defects(table, needed)
    findings += described
    rows = np.flatnonzero(~broken)

    time = table.columns[assignment.time].values
    in_order = rows[increasing(time[rows])]
    findings += _left_out_findings(
        table, np.setdiff1d(rows, in_order), "time-order", "time does not increase here; left out."
    )
    rows = in_order
    if len(rows) > 1:
        channels = {
            name: np.column_stack([table.columns[i].values[rows] for i in group])
            for name, group in assignment.channels.items()
        }
        garbage = garbage_rows(time[rows], channels)
        reason = "holds numbers that do not follow from the rows around it; left out."
        findings += _left_out_findings(table, rows[garbage], "garbage-row", reason)
        rows = rows[~garbage]
    if len(rows) < 2:
        first = f" The first: {findings[0]}" if findings else ""
        raise RecordingError(f"only {len(rows)} of its rows can be used.{first}")
    return Selection(rows, tuple(findings))


def increasing(time: Array) -> NDArray[np.intp]:
    """Return the longest choice of samples whose times increase.

    Args:
        time: sample times in any order, finite, shape (N,), s.

    Returns:
        Indices of the samples, increasing, shape (n,), dimensionless.
    """
    if len(time) < 2 or (np.diff(time) > 0).all():
        return np.arange(len(time))
    # Patience sorting: `tails[k]` is the smallest time that ends an increasing choice of k + 1 samples.
    tails: list[float] = []
    last: list[int] = []
    before = np.full(len(time), -1)
    for index, t in enumerate(time.tolist()):
        place = bisect_left(tails, t)
        if place:
            before[index] = last[place - 1]
        if place == len(tails):
            tails.append(t)
            last.append(index)
        else:
            tails[place] = t
            last[place] = index
    chain = [last[-1]]
    while before[chain[-1]] >= 0:
        chain.append(int(before[chain[-1]]))
    return np.array(chain[::-1])


def _flat(assignment: Assignment) -> list[int]:
    return [index for group in assignment.channels.values() for index in group]


def _split_defects(table: Table) -> Iterator[Finding]:
    for defect in table.defects:
        yield Finding(
            Severity.WARNING, "broken-row", f"{defect.text!r} {defect.reason}; left out.", defect.place
        )
    if table.broken_rows > len(table.defects):
        more = table.broken_rows - len(table.defects)
        yield Finding(Severity.WARNING, "broken-row", f"{more} further rows cannot be split; left out.")


def _cell_defects(table: Table, needed: Sequence[Column]) -> tuple[NDArray[np.bool_], list[Finding]]:
    broken = np.zeros(len(needed[0].values), dtype=bool)
    described = []
    for column in needed:
        bad = ~np.isfinite(column.values)
        described += [
            (
                defect.row,
                Finding(
                    Severity.WARNING,
                    "bad-cell",
                    f"{defect.text!r} {defect.reason}; row left out.",
                    f"{defect.place}, column '{defect.column}'",
                ),
            )
            for defect in column.defects
        ]
        if column.unusable > len(column.defects):
            rest = np.flatnonzero(bad)[len(column.defects) :]
            described += [
                (table.row(int(rest[0])), finding)
                for finding in _left_out_findings(
                    table, rest, "bad-cell", f"column '{column.name}' has no numbers here; left out."
                )
            ]
        broken |= bad
    return broken, [finding for _, finding in sorted(described, key=lambda item: item[0])]


def _left_out_findings(table: Table, rows: NDArray[np.intp], code: str, message: str) -> Iterator[Finding]:
    """One finding for each run of rows that follow each other."""
    for first, last in row_runs(rows):
        yield Finding(Severity.WARNING, code, message, table.place(first, last))


def row_runs(rows: NDArray[np.intp]) -> list[tuple[int, int]]:
    """Return the first and last of each run of rows that follow each other.

    Args:
        rows: row numbers, increasing, shape (n,), dimensionless.

    Returns:
        Pairs of rows.
    """
    if not len(rows):
        return []
    cuts = np.flatnonzero(np.diff(rows) > 1)
    firsts = rows[np.concatenate(([0], cuts + 1))]
    lasts = rows[np.concatenate((cuts, [len(rows) - 1]))]
    return [(int(a), int(b)) for a, b in zip(firsts, lasts, strict=True)]


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


def assemble_recording(
    table: Table,
    *,
    joints: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    rate: float | None = None,
    units: Units | None = None,
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
        units: in which units columns are whose names state none; None for SI.
        lenient: whether rows that cannot be used are left out, with a finding for each, instead of refused.

    Returns:
        The recording with what was noticed.

    Raises:
        RecordingError: the columns do not make a recording.
    """
    if not lenient:
        refuse(table.defects, table.broken_rows, "Repair or remove these rows.")
    shown, names, stated = header_of(table.columns, {**table.meanings, **(columns or {})})
    if rate is not None:
        table = _timed(table, names, rate)
        shown, names = [*shown, "(row number / rate)"], [*names, "time"]
    assignment = assign(names, shown, None if joints is None else checked_joints(joints))
    _check_columns(table, assignment)
    factors = {index: unit.factor for index, unit in stated.items()}
    made = converted(table, assignment, units, factors, _joints_of(names, assignment.unselected))
    findings = (*table.findings, *_of_names(table, stated), *made.findings)
    table, assignment = made.table, made.assignment
    rows: Rows = slice(None)
    left_out: dict[str, object] = {}
    if lenient:
        selection = usable_rows(table, assignment)
        rows, findings = selection.rows, (*findings, *selection.findings)
        left_out = {"left_out": _left_out(table, selection.rows)}
    else:
        _check_cells(table, assignment)
    recording, detail = _recording(table, names, shown, assignment, factors, rows)
    detail["ignored"] |= made.ignored
    said = {"units": {shown[index]: unit.unit for index, unit in stated.items()}} if stated else {}
    return Assembled(recording, {**detail, **said, **made.detail, **left_out}, findings)


def _joints_of(names: Sequence[str], indices: Sequence[int]) -> list[str]:
    """The joints that columns are of."""
    readings = (spelling(names[index]) for index in indices)
    return sorted({str(reading.joint) for reading in readings if reading is not None})


def _of_names(table: Table, units: Mapping[int, StatedUnit]) -> list[Finding]:
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
    return [[first, last] for first, last in row_runs(np.array(sorted(gone), dtype=np.intp))]


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
) -> tuple[Recording, dict[str, Any]]:
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
