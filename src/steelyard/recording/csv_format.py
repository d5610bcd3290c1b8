"""Recordings as CSV: read through Arrow with every cell accounted for, written exactly."""

from __future__ import annotations

import csv
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from steelyard.arrays import Array
from steelyard.errors import RecordingError
from steelyard.recording.channels import column_name
from steelyard.recording.header import MOST_COLUMNS
from steelyard.recording.recording import Recording
from steelyard.recording.table import KEPT, Column, Defect, Table

_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_LINE = re.compile(r"[^\r\n]*")
_LONGEST_LINE = 1 << 20
EXAMPLE = "time,q_1,q_2,v_1,v_2,tau_1,tau_2"


def encode(recording: Recording) -> bytes:
    """Return a recording as CSV; each number is the shortest text that reads back as the same float64.

    Args:
        recording: what to write.

    Returns:
        The bytes of the file; the history is not in them.
    """
    names = ["time"]
    arrays = [recording.time]
    for channel, values in recording.channels.items():
        names += [column_name(channel, joint) for joint in recording.joints]
        arrays += list(values.T)
    names += list(recording.extra)
    arrays += list(recording.extra.values())
    header = ",".join(_quoted(name) for name in names)
    table = pa.table([pa.array(array) for array in arrays], names=[str(i) for i in range(len(names))])
    sink = pa.BufferOutputStream()
    sink.write(f"{header}\n".encode())
    arrow_csv.write_csv(table, sink, arrow_csv.WriteOptions(include_header=False))
    data: bytes = sink.getvalue().to_pybytes()
    return data


def decode(data: bytes, *, headless: bool = False, lenient: bool = False) -> Table:
    """Split a CSV file into columns.

    A byte-order mark, blank lines, `#` lines before the header, either line ending, and comma, semicolon, tab
    or blanks between the cells are accepted.

    Args:
        data: the bytes of the file.
        headless: whether a file that starts with numbers is read; its columns are then called `1`, `2`, ….
        lenient: whether bytes that are no text are taken for cells that are no numbers.

    Returns:
        The columns with their defects.

    Raises:
        RecordingError: the file is not text, or has no header or no rows.
    """
    text = _text(data, lenient)
    header, start, lines_before = _header(text)
    delimiter = _delimiter(header)
    body = text[start:].rstrip()
    if delimiter == " ":
        header = " ".join(header.split())
        body = re.sub(r"(?m)^ +| +$", "", re.sub(r"[ \t]+", " ", body.replace("\r\n", "\n")))
    names = _names(header, delimiter)
    if all(re.match(_NUMBER, name.strip()) for name in names):
        if not headless:
            _refuse_headless(len(names))
        body = f"{header}\n{body}"
        names = [str(number) for number in range(1, len(names) + 1)]
        lines_before -= 1
    if not body:
        raise RecordingError("has a header but no rows.")
    return _table(body.encode(), delimiter, names, lines_before)


def _text(data: bytes, lenient: bool) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise RecordingError("is UTF-16 text.", remedy="Save it as UTF-8.")
    if lenient:
        return data.decode("utf-8-sig", "replace").replace("\0", "\ufffd")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RecordingError(
            f"is not UTF-8 text: byte {error.start} is 0x{data[error.start]:02x}.", remedy="Save it as UTF-8."
        ) from error
    if (index := text.find("\0")) >= 0:
        line = text.count("\n", 0, index) + 1
        raise RecordingError(f"is not text: line {line} holds a NUL byte.")
    return text


def _header(text: str) -> tuple[str, int, int]:
    """The header line, where what follows it starts, and how many lines that is from the top."""
    lines = 0
    start = 0
    while start < len(text):
        match = _LINE.match(text, start)
        line = match.group() if match else ""
        start += len(line)
        start += 2 if text.startswith("\r\n", start) else 1
        lines += 1
        if len(line) > _LONGEST_LINE:
            raise RecordingError(
                f"line {lines} has {len(line)} characters; at most {_LONGEST_LINE} are read."
            )
        if line.strip() and not line.lstrip().startswith("#"):
            return line.strip(" "), start, lines
    raise RecordingError(
        "holds no header and no rows.", remedy=f"A log starts with a line such as {EXAMPLE}."
    )


def _delimiter(header: str) -> str:
    bare = _QUOTED.sub("", header)
    best = max(",;\t", key=bare.count)
    if bare.count(best):
        return best
    return " " if " " in bare else ","


def _names(header: str, delimiter: str) -> list[str]:
    try:
        names = next(csv.reader([header], delimiter=delimiter, skipinitialspace=True))
    except csv.Error as error:
        raise RecordingError(f"the header cannot be read: {error}.") from error
    if len(names) > MOST_COLUMNS:
        raise RecordingError(f"has {len(names)} columns; at most {MOST_COLUMNS} are read.")
    return names


def _refuse_headless(count: int) -> None:
    raise RecordingError(
        f"starts with a row of {count} numbers; a header is needed.",
        remedy=f"Put a line with the names of the columns on top, such as {EXAMPLE}, or say what they are by "
        "their numbers, as in --columns '1=time, 2-7=q, 8-13=v'.",
        evidence={"columns": count},
    )


def _table(body: bytes, delimiter: str, names: list[str], lines_before: int) -> Table:
    broken: list[Any] = []

    def note(row: Any) -> str:
        broken.append(row)
        return "skip"

    keys = [str(index) for index in range(len(names))]
    try:
        cells = arrow_csv.read_csv(
            pa.BufferReader(body),
            # Without threads Arrow numbers the broken rows.
            read_options=arrow_csv.ReadOptions(column_names=keys, use_threads=False),
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter, invalid_row_handler=note),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(keys, pa.string()), null_values=[], strings_can_be_null=False
            ),
        )
    except pa.ArrowException as error:
        raise RecordingError(f"cannot be split into rows and cells: {error}.") from error

    kept = np.delete(np.arange(cells.num_rows + len(broken)), [row.number - 1 for row in broken])
    lines: list[int] = []

    def line(row: int) -> int:
        if not lines:
            lines.extend(i for i, content in enumerate(body.splitlines(), lines_before + 1) if content)
        return lines[row] if row < len(lines) else 0

    def column(index: int) -> Column:
        texts = cells.column(index)
        return Column.of(
            names[index], _numbers(texts), lambda i: str(texts[i].as_py()), line, lambda i: int(kept[i])
        )

    reason = "has {} cells where the header has {}"
    defects = tuple(
        Defect(
            row.number - 1,
            "",
            row.text[:40],
            reason.format(row.actual_columns, len(names)),
            line(row.number - 1),
        )
        for row in broken[:KEPT]
    )
    columns = tuple(column(index) for index in range(len(names)))
    return Table(columns, len(broken), defects, rows=kept, line=line)


def _numbers(texts: pa.ChunkedArray) -> Array:
    """The numbers that the cells hold, NaN where they hold none."""
    try:
        numbers = pc.cast(texts, pa.float64())
    except pa.ArrowInvalid:
        trimmed = pc.utf8_trim_whitespace(texts)
        good = pc.match_substring_regex(trimmed, _NUMBER)
        numbers = pc.cast(pc.if_else(good, trimmed, pa.scalar(None, pa.string())), pa.float64())
    values: Array = numbers.to_numpy(zero_copy_only=False).astype(np.float64)
    return values


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"' if re.search(r'[\s,;"#]', name) else name
