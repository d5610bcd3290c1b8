"""The names of a file's columns: as they stand there, as they are meant, and the units they state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from steelyard.errors import RecordingError, UnknownNameError
from steelyard.recording.table import Column
from steelyard.recording.units import StatedUnit, stated_unit

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
