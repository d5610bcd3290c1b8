"""What a reader finds in a file, before anyone has said what it means: columns of numbers, and defects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Array
from steelyard.errors import RecordingError, UnknownNameError
from steelyard.finding import Finding
from steelyard.recording.channels import StatedUnit, stated_unit

SHOWN = 5
"""Defects listed in an error message."""
KEPT = 1000
"""Defects described one by one; further ones are counted."""


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

    @property
    def place(self) -> str:
        """The row and its line, in words."""
        return f"row {self.row}" + (f" (line {self.line})" if self.line else "")

    def __str__(self) -> str:
        column = f", column '{self.column}'" if self.column else ""
        return f"{self.place}{column}: {self.text[:40]!r} {self.reason}"


@dataclass(frozen=True)
class Column:
    """One column of a file.

    Attributes:
        name: its name in the file.
        values: its numbers, not finite where a cell is unusable, shape (N,), SI.
        unusable: how many cells are not finite numbers.
        defects: the first of those, at most `KEPT`.
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
        """
        broken = np.flatnonzero(~np.isfinite(values))
        defects = []
        for index in (int(i) for i in broken[:KEPT]):
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
        """
        return cls(name, np.empty(0), remark=remark)


@dataclass(frozen=True)
class Table:
    """All columns of a file.

    Attributes:
        columns: the columns in the file's order; they may differ in length.
        broken_rows: how many rows could not be split into cells.
        defects: the first of those, at most `KEPT`.
        stamp: what a file of our own says about itself, by the names of its entries.
        findings: what else was noticed, none of which keeps the file from being used.
        rows: the row in the file of each row kept, shape (N,), dimensionless; None when all were kept.
        line: gives the line of the file by the row in it; None in formats without lines.
        word: what a row of the file is called.
        meanings: our name for a column, by its name in the file, where the format itself says it.
        unit_unknown: whether the format leaves open in which unit positions are.
    """

    columns: tuple[Column, ...]
    broken_rows: int = 0
    defects: tuple[Defect, ...] = ()
    stamp: Mapping[str, object] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    rows: NDArray[np.integer[Any]] | None = None
    line: Callable[[int], int] | None = None
    word: str = "row"
    meanings: Mapping[str, str] = field(default_factory=dict)
    unit_unknown: bool = False

    def row(self, index: int) -> int:
        """Return where in the file a row of the columns stands.

        Args:
            index: the row of the columns.

        Returns:
            The row of the file, counted from 0.
        """
        return index if self.rows is None else int(self.rows[index])

    def place(self, first: int, last: int | None = None) -> str:
        """Return the place of one row, or of several that follow each other, in words.

        Args:
            first: a row of the columns.
            last: the last of several.

        Returns:
            Text such as `row 3 (line 5)` or `rows 3 to 7 (lines 5 to 9)`.
        """
        row = self.row(first)
        if last is None or last == first:
            return f"{self.word} {row}" + (f" (line {self.line(row)})" if self.line else "")
        end = self.row(last)
        lines = f" (lines {self.line(row)} to {self.line(end)})" if self.line else ""
        return f"{self.word}s {row} to {end}{lines}"


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


# The names of a file's columns: as they stand there, as they are meant, and the units they state.

MOST_COLUMNS = 4096


class Header(NamedTuple):
    """What the columns are called.

    Attributes:
        shown: their names in the file.
        names: their names after mapping, without units.
        units: the units stated, by the index of the column.
    """

    shown: list[str]
    names: list[str]
    units: dict[int, StatedUnit]


def header_of(columns: Sequence[Column], meanings: Mapping[str, str]) -> Header:
    """Return what a file's columns are called.

    Args:
        columns: the columns.
        meanings: our name for a column, by its name in the file.

    Returns:
        The names and units.

    Raises:
        RecordingError: names repeat, are too many, or a unit does not belong to its quantity.
    """
    shown = [column.name.strip() or f"column {i + 1}" for i, column in enumerate(columns)]
    _check_header(shown)
    names, units = _units(shown, _mapped(shown, meanings))
    _check_distinct(shown, names)
    return Header(shown, names, units)


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
    return [columns.get(name, name) for name in shown]


def _check_distinct(shown: Sequence[str], names: Sequence[str]) -> None:
    seen: dict[str, int] = {}
    for index, name in enumerate(names):
        if seen.setdefault(name, index) != index:
            raise RecordingError(
                f"columns '{shown[seen[name]]}' and '{shown[index]}' both claim to be '{name}'."
            )


def _units(shown: Sequence[str], names: Sequence[str]) -> tuple[list[str], dict[int, StatedUnit]]:
    """The names without their units, and the units by column; a map's unit comes before the header's."""
    bare = list(names)
    units: dict[int, StatedUnit] = {}
    for index, (original, name) in enumerate(zip(shown, names, strict=True)):
        unit = stated_unit(name)
        if unit is not None:
            bare[index] = unit.name
        elif original != name:
            unit = stated_unit(original, meaning=name)
        if unit is not None:
            units[index] = unit
    return bare, units
