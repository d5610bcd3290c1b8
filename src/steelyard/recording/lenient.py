"""Reading on past what cannot be used: which rows are left out, each of them named."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Array
from steelyard.errors import RecordingError
from steelyard.finding import Finding, Severity
from steelyard.recording.assignment import Assignment
from steelyard.recording.inspection.garbage import garbage_rows
from steelyard.recording.table import Column, Table


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
    findings += _left_out(
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
        findings += _left_out(table, rows[garbage], "garbage-row", reason)
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
                for finding in _left_out(
                    table, rest, "bad-cell", f"column '{column.name}' has no numbers here; left out."
                )
            ]
        broken |= bad
    return broken, [finding for _, finding in sorted(described, key=lambda item: item[0])]


def _left_out(table: Table, rows: NDArray[np.intp], code: str, message: str) -> Iterator[Finding]:
    """One finding for each run of rows that follow each other."""
    for first, last in runs(rows):
        yield Finding(Severity.WARNING, code, message, table.place(first, last))


def runs(rows: NDArray[np.intp]) -> list[tuple[int, int]]:
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
