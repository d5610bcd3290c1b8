"""What a reader finds in a file, before anyone has said what it means: columns of numbers, and defects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import RecordingError

SHOWN = 5


@dataclass(frozen=True)
class Defect:
    """A place in a file that cannot be used.

    Attributes:
        row: row of the data, counted from 0.
        column: name of the column; empty when the whole row is meant.
        text: what stands there, at most 40 characters of it.
        reason: what is wrong with it.
        line: line of the file, counted from 1; 0 in formats without lines.
    """

    row: int
    column: str
    text: str
    reason: str
    line: int = 0

    def __str__(self) -> str:
        row = f"row {self.row}" + (f" (line {self.line})" if self.line else "")
        column = f", column '{self.column}'" if self.column else ""
        return f"{row}{column}: {self.text[:40]!r} {self.reason}"


@dataclass(frozen=True)
class Column:
    """One column of a file.

    Attributes:
        name: its name in the file.
        values: its numbers, not finite where a cell is unusable, shape (N,), SI.
        unusable: how many cells are not finite numbers.
        defects: the first of those.
        remark: why the column as a whole holds no numbers; empty when it does.
    """

    name: str
    values: Array
    unusable: int = 0
    defects: tuple[Defect, ...] = ()
    remark: str = ""

    @classmethod
    def of(
        cls,
        name: str,
        values: Array,
        text: Callable[[int], str] | None = None,
        line: Callable[[int], int] | None = None,
        row: Callable[[int], int] | None = None,
    ) -> Column:
        """Return a column with its defects described.

        Args:
            name: its name in the file.
            values: its numbers, not finite where a cell is unusable, shape (N,), SI.
            text: gives the text of a cell by its index.
            line: gives the line of a cell by its row in the file.
            row: gives the row in the file by the index.

        Returns:
            The column.
        """
        broken = np.flatnonzero(~np.isfinite(values))
        defects = []
        for index in (int(i) for i in broken[:SHOWN]):
            cell = text(index).strip() if text else str(values[index])
            at = row(index) if row else index
            defects.append(Defect(at, name, cell[:40], _reason(cell, values[index]), line(at) if line else 0))
        return cls(name, values, len(broken), tuple(defects))

    @classmethod
    def without_numbers(cls, name: str, remark: str) -> Column:
        """Return a column that holds no numbers at all, such as text or nested values.

        Args:
            name: its name in the file.
            remark: what it holds instead.

        Returns:
            The column.
        """
        return cls(name, np.empty(0), remark=remark)


@dataclass(frozen=True)
class Table:
    """All columns of a file.

    Attributes:
        columns: the columns in the file's order; they may differ in length.
        broken_rows: how many rows could not be split into cells.
        defects: the first of those.
        stamp: what a file of our own says about itself, by the names of its entries.
    """

    columns: tuple[Column, ...]
    broken_rows: int = 0
    defects: tuple[Defect, ...] = ()
    stamp: Mapping[str, object] = field(default_factory=dict)


def refuse(defects: Sequence[Defect], count: int, remedy: str) -> None:
    """Raise an error that lists defects; do nothing when there is none.

    Args:
        defects: the first of them.
        count: how many there are.
        remedy: what to do about it.

    Raises:
        RecordingError: whenever `count` is positive.
    """
    if count:
        shown = sorted(defects, key=lambda defect: defect.row)[:SHOWN]
        listed = "; ".join(str(defect) for defect in shown)
        more = f"; and {count - len(shown)} more" if count > len(shown) else ""
        raise RecordingError(
            f"{count} {'place' if count == 1 else 'places'} cannot be used: {listed}{more}.",
            remedy=remedy,
            evidence={"defects": tuple(shown), "count": count},
        )


def _reason(cell: str, value: float) -> str:
    if not cell:
        return "is empty"
    spelled = cell.lower().strip("+-") in ("nan", "inf", "infinity")
    return "is not finite" if spelled or np.isinf(value) else "is not a number"
