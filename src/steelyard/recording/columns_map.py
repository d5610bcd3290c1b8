"""What the columns of a log are, said by hand: a line of text, or a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from steelyard.document import read_table
from steelyard.errors import InputError, RecordingError

FORM = "NAME=MEANING, as in 'Uhr=time, Winkel 1=q_1 [deg]', or by number '1=time, 2-7=q, 8-13=v'"
_SUFFIXES = (".json", ".toml")
_RANGE = re.compile(r"(?P<first>[1-9][0-9]{0,3})\s*-\s*(?P<last>[1-9][0-9]{0,3})")
_MOST_BYTES = 1 << 20


def read_columns_map(text: str) -> dict[str, str]:
    """Read what the columns of a log mean.

    Inline, pairs `NAME=MEANING` are separated by commas; a name or meaning with a comma or an equals sign
    needs a file. A file is JSON or TOML with one table of such pairs. `MEANING` is our name of a column
    (`time`, `q_1`, `tau_elbow`), with its unit in brackets where it is not SI: `q_1 [deg]`. Columns of a file
    without a header are called by their numbers from 1, and a range `2-7=q [deg]` stands for `2=q_1 [deg]` to
    `7=q_6 [deg]`.

    Args:
        text: the pairs, or the path of a `.json` or `.toml` file.

    Returns:
        Our name of each column, by its name in the file, as `read(columns=…)` takes it.

    Raises:
        RecordingError: the text or the file has another form.
    """
    path = Path(text.strip())
    pairs = _from_file(path) if path.suffix.lower() in _SUFFIXES and "=" not in text else _inline(text)
    return expanded(pairs)


def expanded(pairs: Mapping[str, str]) -> dict[str, str]:
    """Return a map of columns with its ranges written out.

    Args:
        pairs: our name of each column or range of columns, by its name or numbers in the file.

    Returns:
        Our name of each column, by its name in the file.

    Raises:
        RecordingError: a range runs backwards, or a column is named twice.
    """
    columns: dict[str, str] = {}
    for name, meaning in pairs.items():
        for key, value in _written_out(name, meaning):
            if key in columns:
                raise RecordingError(f"column '{key}' is named twice.", place="columns")
            columns[key] = value
    return columns


def _written_out(name: str, meaning: str) -> list[tuple[str, str]]:
    match = _RANGE.fullmatch(name)
    if match is None or not isinstance(meaning, str):
        return [(name, meaning)]
    first, last = int(match["first"]), int(match["last"])
    if last < first:
        raise RecordingError(f"the range {name} runs backwards.", place="columns")
    word, blank, unit = meaning.partition(" ")
    return [(str(k), f"{word}_{k - first + 1}{blank}{unit}") for k in range(first, last + 1)]


def _inline(text: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for part in text.split(","):
        name, sign, meaning = (piece.strip() for piece in part.partition("="))
        if not (name and sign and meaning) or "=" in meaning:
            raise RecordingError(
                f"'{part.strip()[:60]}' does not say what a column is.",
                place="columns",
                remedy=f"Use {FORM}.",
            )
        if name in pairs:
            raise RecordingError(f"column '{name[:60]}' is named twice.", place="columns")
        pairs[name] = meaning
    return pairs


def _from_file(path: Path) -> dict[str, str]:
    try:
        pairs = read_table(path, most=_MOST_BYTES)
    except InputError as error:
        raise RecordingError(error.message, place=error.place, remedy=error.remedy) from error
    if not all(isinstance(value, str) for value in pairs.values()):
        raise RecordingError(
            "must be one table of names and meanings, all of them text.",
            place=str(path),
            remedy='Write {"Uhr": "time", "Winkel 1": "q_1 [deg]"} or the same in TOML.',
        )
    return pairs


def checked_columns(columns: Mapping[str, str] | str | None) -> dict[str, str]:
    """Return a map of columns, whether it was given as one or as text.

    Args:
        columns: a mapping, text as `read_columns_map` takes it, or None.

    Returns:
        Our name of each column, by its name in the file.

    Raises:
        RecordingError: it has another form.
    """
    if columns is None:
        return {}
    if isinstance(columns, str):
        return read_columns_map(columns)
    if not isinstance(columns, Mapping):
        raise InputError(f"must map names to names, got {type(columns).__name__}.", place="columns")
    return expanded(columns)
