"""Recordings as CSV, npz and Parquet: read with every cell accounted for, written exactly."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Array, IntArray
from steelyard.budget import NUMBER, require_memory
from steelyard.errors import InputError, MissingExtraError, RecordingError
from steelyard.npz import arrays_of
from steelyard.recording.channels import CHANNELS, column_name
from steelyard.recording.joint_arrays import columns_of, joint_table
from steelyard.recording.recording import KEY, Recording, stamped
from steelyard.recording.table import KEPT, MOST_COLUMNS, Column, Defect, Table
from steelyard.recording.tensors import tensors_of

if TYPE_CHECKING:
    import pyarrow as pa

# CSV

_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_NUMBER = re.compile(r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|inf(inity)?|nan)", re.IGNORECASE)
_WHOLE = re.compile(r"\.0(?=[,\n]|$)")
_BREAK = re.compile(r"\r\n|\r|\n")
# What a file may hold for NumPy to take it as it stands: no quotes, and nothing that Python alone calls a
# number, such as 1_000.
_PLAIN = re.compile(r'[^"_\x80-\U0010ffff]*')
_LINE = re.compile(r"[^\r\n]*")
_LONGEST_LINE = 1 << 20
EXAMPLE = "time,q_1,q_2,v_1,v_2,tau_1,tau_2"


def encode_csv(recording: Recording) -> bytes:
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
    rows = "\n".join([",".join(map(repr, row)) for row in np.column_stack(arrays).tolist()])
    return f"{header}\n{_WHOLE.sub('', rows)}\n".encode()


def decode_csv(data: bytes, *, headless: bool = False, lenient: bool = False) -> Table:
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
    if all(_NUMBER.fullmatch(name.strip()) for name in names):
        if not headless:
            _refuse_headless(len(names))
        body = f"{header}\n{body}"
        names = [str(number) for number in range(1, len(names) + 1)]
        lines_before -= 1
    if not body:
        raise RecordingError("has a header but no rows.")
    return _table(body, delimiter, names, lines_before)


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


def _table(body: str, delimiter: str, names: list[str], lines_before: int) -> Table:
    lines: list[tuple[int, str]] = []

    def rows() -> list[tuple[int, str]]:
        """Line in the file and text of every row; blank lines are none."""
        if not lines:
            lines.extend((i, text) for i, text in enumerate(_BREAK.split(body), lines_before + 1) if text)
        return lines

    def line(row: int) -> int:
        return rows()[row][0] if row < len(rows()) else 0

    values = _plain_numbers(body, delimiter, len(names))
    if values is not None:
        kept = np.arange(len(values))
        cells: Sequence[Callable[[int], str]] = [
            lambda i, k=k: _cells(rows()[i][1], delimiter)[k]  # type: ignore[misc]
            for k in range(len(names))
        ]
        return _assembled(names, list(values.T), cells, kept, line, [], ())
    split = [_cells(text, delimiter) for _, text in rows()]
    whole = [row for row, found in enumerate(split) if len(found) == len(names)]
    broken = [row for row, found in enumerate(split) if len(found) != len(names)]
    columns = list(zip(*(split[row] for row in whole), strict=True)) or [()] * len(names)
    defects = tuple(
        Defect(
            row,
            "",
            rows()[row][1][:40],
            f"has {len(split[row])} cells where the header has {len(names)}",
            line(row),
        )
        for row in broken[:KEPT]
    )
    plain = _PLAIN.fullmatch(body) is not None
    numbers = [_numbers(column, plain) for column in columns]
    texts = [column.__getitem__ for column in columns]
    return _assembled(names, numbers, texts, np.array(whole, dtype=np.int64), line, broken, defects)


def _assembled(
    names: Sequence[str],
    numbers: Sequence[Array],
    texts: Sequence[Callable[[int], str]],
    kept: IntArray,
    line: Callable[[int], int],
    broken: Sequence[int],
    defects: tuple[Defect, ...],
) -> Table:
    columns = tuple(
        Column.of(name, np.ascontiguousarray(values), text, line, lambda i: int(kept[i]))
        for name, values, text in zip(names, numbers, texts, strict=True)
    )
    return Table(columns, len(broken), defects, rows=kept, line=line)


def _plain_numbers(body: str, delimiter: str, width: int) -> Array | None:
    """All cells of a file that holds numbers and nothing else, shape (N, width); None of any other."""
    if not _PLAIN.fullmatch(body):
        return None
    try:
        values: Array = np.loadtxt(
            io.StringIO(body, newline=None), delimiter=delimiter, comments=None, ndmin=2, encoding=None
        )
    except ValueError:
        return None
    return values if values.shape[1] == width else None


def _cells(line: str, delimiter: str) -> list[str]:
    if '"' not in line:
        return line.split(delimiter)
    try:
        return next(csv.reader([line], delimiter=delimiter))
    except csv.Error as error:
        raise RecordingError(f"cannot be split into rows and cells: {error}.") from error


def _numbers(texts: Sequence[str], plain: bool) -> Array:
    """The numbers that the cells hold, NaN where they hold none; plain where Python reads no others."""
    if plain:
        try:
            return np.array(list(map(float, texts)), dtype=np.float64)
        except ValueError:
            pass
    cells = (text.strip() for text in texts)
    found = [float(cell) if _NUMBER.fullmatch(cell) else np.nan for cell in cells]
    return np.array(found, dtype=np.float64)


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"' if re.search(r'[\s,;"#]', name) else name


# npz: plain arrays under the names of their channels, never a pickle


def encode_npz(recording: Recording) -> bytes:
    """Return a recording as an npz file with `joints`, `time`, the channels, and `extra` with `extra_names`.

    Args:
        recording: what to write.

    Returns:
        The bytes of the file.
    """
    # The stamp comes first: a damaged directory loses the entries that follow, and the stamp then tells.
    arrays: dict[str, NDArray[Any]] = {KEY: np.array(stamped(recording))}
    arrays |= {"joints": np.array(recording.joints), "time": recording.time, **recording.channels}
    if recording.extra:
        arrays["extra_names"] = np.array(list(recording.extra))
        arrays["extra"] = np.column_stack(list(recording.extra.values()))
    sink = io.BytesIO()
    np.savez(sink, **arrays)  # type: ignore[arg-type]
    return sink.getvalue()


def decode_npz(data: bytes) -> Table:
    """Split an npz file into columns; of other tools' files, a matrix `x` gives columns `x_1`, `x_2`, ….

    Args:
        data: the bytes of the file.

    Returns:
        The columns, and the stamp of a file of our own.

    Raises:
        RecordingError: the file is damaged, not npz, or holds pickled objects.
    """
    try:
        arrays = arrays_of(data)
    except InputError as error:
        raise RecordingError(error.message, place=error.place, remedy=error.remedy) from error
    if KEY not in arrays:
        return joint_table(arrays)
    return Table(tuple(_own(arrays)), stamp={KEY: str(arrays[KEY])})


def _own(arrays: dict[str, NDArray[Any]]) -> Iterator[Column]:
    joints = [str(name) for name in np.atleast_1d(arrays.get("joints", np.array([], dtype=str)))]
    labels = {"time": ["time"]} | {name: [column_name(name, joint) for joint in joints] for name in CHANNELS}
    if "extra" in arrays:
        names = arrays.get("extra_names", np.array([], dtype=str))
        labels["extra"] = [str(name) for name in np.atleast_1d(names)]
    for name, array in arrays.items():
        if name in (KEY, "joints", "extra_names"):
            continue
        if name not in labels:
            yield from columns_of(name, array)
            continue
        columns = labels[name]
        matrix = array[:, None] if name == "time" and array.ndim == 1 else array
        if matrix.dtype.kind not in "biuf" or matrix.ndim != 2 or matrix.shape[1] != len(columns):
            raise RecordingError(
                f"array '{name}' has type {array.dtype} and shape {array.shape}; "
                f"expected numbers of shape (N, {len(columns)}).",
                evidence={"array": name, "shape": array.shape},
            )
        for label, column in zip(columns, matrix.T, strict=True):
            yield Column.of(label, column.astype(np.float64))


# pt: what `torch.save` writes, read only


def decode_tensors(data: bytes) -> Table:
    """Split a file of `torch.save` into columns; a matrix `x` gives columns `x_1`, `x_2`, ….

    Args:
        data: the bytes of the file.

    Returns:
        The columns.

    Raises:
        RecordingError: the file is damaged, or holds more than tensors, numbers, texts, lists and tables.
    """
    return joint_table(tensors_of(data))


# Parquet: units on the columns, the history in the file's metadata
#
# Arrow, which reads and writes it, comes with the extra `parquet`.

_COPIES = 3
"""How often the numbers are held at a time, until they are a recording."""
_DAMAGE = (OSError, ValueError, TypeError, KeyError, MemoryError, OverflowError)


def arrow() -> tuple[ModuleType, ModuleType]:
    """Arrow and its Parquet.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("a Parquet file", "pyarrow", "parquet") from error
    return pyarrow, pyarrow.parquet


def encode_parquet(recording: Recording) -> bytes:
    """Return a recording as a Parquet file.

    Args:
        recording: what to write.

    Returns:
        The bytes of the file.

    Raises:
        MissingExtraError: Arrow is not installed.
    """
    pa, pq = arrow()
    fields = [_field("time", "s")]
    arrays = [recording.time]
    for channel, values in recording.channels.items():
        fields += [_field(column_name(channel, joint), CHANNELS[channel].unit) for joint in recording.joints]
        arrays += list(values.T)
    fields += [_field(name, "SI") for name in recording.extra]
    arrays += list(recording.extra.values())
    schema = pa.schema(fields, metadata={KEY: stamped(recording)})
    sink = pa.BufferOutputStream()
    table = pa.table([pa.array(array) for array in arrays], schema=schema)
    # Measured doubles hardly repeat, so a dictionary only costs; checksums reveal damaged pages.
    pq.write_table(table, sink, compression="zstd", use_dictionary=False, write_page_checksum=True)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def decode_parquet(data: bytes) -> Table:
    """Split a Parquet file into columns.

    Args:
        data: the bytes of the file.

    Returns:
        The columns with their defects, and the stamp of a file of our own.

    Raises:
        RecordingError: the file is damaged or not Parquet.
        MissingExtraError: Arrow is not installed.
    """
    with reading_parquet(""):
        pa, pq = arrow()
        file = pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True)
        # Rows that repeat take no room in the file, and all of it in memory.
        rows, names = file.metadata.num_rows, file.metadata.num_columns
        require_memory(
            _COPIES * NUMBER * rows * names,
            f"{rows} rows of {names} columns",
            place="",
            remedy="Split the log into shorter ones.",
        )
        table = file.read(use_threads=False)
        table.validate(full=True)
        columns = tuple(
            _column(name, cells) for name, cells in zip(table.schema.names, table.columns, strict=True)
        )
        metadata = table.schema.metadata or {}
        stamp = {key.decode(): value.decode() for key, value in metadata.items() if key == KEY.encode()}
    return Table(columns, stamp=stamp)


@contextmanager
def reading_parquet(place: str) -> Iterator[None]:
    """Arrow's errors as ours.

    Args:
        place: what to call the file in messages.
    """
    pa, _ = arrow()
    try:
        yield
    except InputError:
        raise
    except (pa.ArrowException, *_DAMAGE) as error:
        raise RecordingError(
            f"is damaged or not a Parquet file: {str(error)[:300]}",
            place=place,
            remedy="Export or copy it again.",
        ) from error


def _field(name: str, unit: str) -> pa.Field:
    pa, _ = arrow()
    return pa.field(name, pa.float64(), nullable=False, metadata={"unit": unit})


def _column(name: str, cells: pa.ChunkedArray) -> Column:
    pa, _ = arrow()
    kind = cells.type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        return Column.without_numbers(name, f"is of type {kind}")
    if pa.types.is_boolean(kind):
        cells = cells.cast(pa.int8())
    values: Array = cells.to_numpy(zero_copy_only=False).astype(np.float64)
    return Column.of(name, values, lambda i: "" if cells[i].as_py() is None else str(cells[i].as_py()))
