"""Arrays out of files of `torch.save`, without PyTorch and without ever unpickling.

Such a file is a zip: `data.pkl` says by a pickle which tensor is what, and `data/0`, `data/1`, … hold the
numbers (PyTorch, serialization semantics, since 1.6). A pickle is a program, which may run any other. Here
its instructions are read by a machine that knows texts, numbers, lists, tables and tensors and nothing else:
it imports nothing and calls nothing, and a file that asks for more is refused.
"""

from __future__ import annotations

import io
import math
import pickletools
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.budget import NUMBER, require_memory
from steelyard.errors import RecordingError

_MOST_PROGRAM = 8 << 20
_MOST_MEMBERS = 10_000
_MOST_STEPS = 1_000_000
_DEEPEST = 4
_COPIES = 3
_MOST_AXES = 4
_FARTHEST = 1 << 40
_MOST_COLUMNS = 10_000
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    ValueError,
    TypeError,
    LookupError,
    EOFError,
    OSError,
    RuntimeError,
    NotImplementedError,
    MemoryError,
    OverflowError,
)
_KINDS = {
    "torch FloatStorage": "f4",
    "torch DoubleStorage": "f8",
    "torch HalfStorage": "f2",
    "torch LongStorage": "i8",
    "torch IntStorage": "i4",
    "torch ShortStorage": "i2",
    "torch CharStorage": "i1",
    "torch ByteStorage": "u1",
    "torch BoolStorage": "b1",
}
_TENSOR = "torch._utils _rebuild_tensor_v2"
_PARAMETER = "torch._utils _rebuild_parameter"
_TABLE = "collections OrderedDict"
_REMEDY = "Save its tensors by name as plain arrays, with numpy.savez."


@dataclass(frozen=True)
class _Named:
    """A name that a pickle would import; here it stays a name."""

    name: str


class _Storage(NamedTuple):
    kind: str
    key: str


@dataclass(frozen=True)
class _Tensor:
    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def tensors_of(data: bytes) -> dict[str, NDArray[Any]]:
    """Read the tensors, numbers and names of a table that `torch.save` wrote.

    Args:
        data: the bytes of the file.

    Returns:
        The arrays by name, of any shape and unit; of a table inside the table, by both names with a dot.

    Raises:
        RecordingError: the file is damaged, no such file, holds more than such values, or unpacks to more
            than the budget.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return dict(_arrays(archive))
    except RecordingError:
        raise
    except zipfile.BadZipFile as error:
        raise RecordingError(
            "is not a file of torch.save since PyTorch 1.6: it is no zip.", remedy=_REMEDY
        ) from error
    except _DAMAGE as error:
        raise RecordingError(
            f"is damaged, or no file of torch.save: {str(error)[:200].rstrip('.')}.", remedy=_REMEDY
        ) from error


def _arrays(archive: zipfile.ZipFile) -> Iterator[tuple[str, NDArray[Any]]]:
    members = {member.filename: member for member in archive.infolist()}
    programs = [name for name in members if name == "data.pkl" or name.endswith("/data.pkl")]
    if len(members) > _MOST_MEMBERS or len(programs) != 1:
        raise RecordingError(f"holds {len(programs)} files 'data.pkl' among {len(members)}.", remedy=_REMEDY)
    root = programs[0].removesuffix("data.pkl")
    program = _content(archive, members[programs[0]], _MOST_PROGRAM)
    order = ">" if _text(archive, members, f"{root}byteorder") == "big" else "<"
    budget = _Budget()
    for name, value in _entries(_run(program), ()):
        if isinstance(value, _Tensor):
            budget.take(name, math.prod(value.shape))
            member = members.get(f"{root}data/{value.storage.key}")
            if member is None:
                raise RecordingError(f"holds no numbers of tensor '{name[:80]}'.", remedy=_REMEDY)
            budget.take(name, member.file_size // NUMBER)
            yield name, _filled(name, value, _content(archive, member, member.file_size), order)
        else:
            yield name, np.asarray(value)


class _Budget:
    """What all arrays so far take together."""

    def __init__(self) -> None:
        self.numbers = 0

    def take(self, name: str, numbers: int) -> None:
        self.numbers += numbers
        require_memory(
            _COPIES * NUMBER * self.numbers,
            f"tensor '{name[:80]}' and those before it",
            place="",
            remedy="Split the log into shorter ones.",
        )


def _content(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> bytes:
    if member.file_size > most:
        raise RecordingError(f"'{member.filename[:80]}' is larger than {most / 2**20:g} MiB.", remedy=_REMEDY)
    with archive.open(member) as stream:
        return stream.read(member.file_size)


def _text(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], name: str) -> str:
    member = members.get(name)
    return "" if member is None else _content(archive, member, 100).decode("ascii", "replace")


def _filled(name: str, tensor: _Tensor, content: bytes, order: str) -> NDArray[Any]:
    """The numbers of a tensor, which must all lie in its storage."""
    numbers = np.frombuffer(content, np.dtype(order + _KINDS[tensor.storage.kind]))
    last = tensor.offset + sum((n - 1) * step for n, step in zip(tensor.shape, tensor.strides, strict=True))
    if math.prod(tensor.shape) and last >= len(numbers):
        raise RecordingError(
            f"tensor '{name[:80]}' states the shape {tensor.shape}, more than the file holds.", remedy=_REMEDY
        )
    if max(tensor.shape[1:], default=0) > _MOST_COLUMNS:
        raise RecordingError(
            f"tensor '{name[:80]}' has {tensor.shape[1]} columns; at most {_MOST_COLUMNS} are read.",
            remedy=_REMEDY,
        )
    if not math.prod(tensor.shape):
        return np.empty(tensor.shape, numbers.dtype)
    size = numbers.itemsize
    view = np.lib.stride_tricks.as_strided(
        numbers[tensor.offset :], tensor.shape, tuple(step * size for step in tensor.strides), writeable=False
    )
    return np.array(view)


def _entries(value: object, path: tuple[str, ...]) -> Iterator[tuple[str, object]]:
    """What a table holds that can be an array: tensors, numbers, texts, and lists of either."""
    if not isinstance(value, dict) or len(path) > _DEEPEST:
        raise RecordingError(
            f"holds {_what(value)}{' in ' + '.'.join(path)[:80] if path else ''}, expected tensors by name.",
            remedy=_REMEDY,
        )
    for key, item in value.items():
        if not isinstance(key, str):
            raise RecordingError(f"holds a table by {_what(key)}, expected names.", remedy=_REMEDY)
        name = ".".join((*path, key))
        if isinstance(item, dict):
            yield from _entries(item, (*path, key))
        elif isinstance(item, _Tensor | bool | int | float | str):
            yield name, item
        elif isinstance(item, list | tuple) and item:
            kind = str if isinstance(item[0], str) else (int, float)
            if all(isinstance(one, kind) for one in item):
                yield name, item


def _what(value: object) -> str:
    words: dict[type, str] = {_Tensor: "a tensor", _Named: "an object", dict: "a table"}
    return words.get(type(value), f"a {type(value).__name__}")


# The machine that reads the instructions

_MARK: Any = object()
_VALUES = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_LITERALS = frozenset(["BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE"])
_EMPTY = {"EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_TUPLE": tuple}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_IGNORED = frozenset(("PROTO", "FRAME"))


def _run(program: bytes) -> object:
    """What the instructions of a pickle put together."""
    machine = _Machine()
    for step, (code, argument, _) in enumerate(pickletools.genops(program)):
        if step > _MOST_STEPS:
            raise RecordingError(f"is put together by more than {_MOST_STEPS} steps.", remedy=_REMEDY)
        if code.name == "STOP":
            return machine.pop()
        machine.do(code.name, argument)
    raise RecordingError("ends early.", remedy=_REMEDY)


class _Machine:
    """A stack of plain values, and what was put aside to be used again."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.kept: dict[int, Any] = {}

    def do(self, name: str, argument: Any) -> None:
        """Carry out an instruction."""
        if name in _IGNORED:
            return
        if name in _VALUES:
            self.stack.append(_VALUES[name])
        elif name in _LITERALS:
            self.stack.append(argument)
        elif name in _EMPTY:
            self.stack.append(_EMPTY[name]())
        elif name == "MARK":
            self.stack.append(_MARK)
        elif name in ("BINPUT", "LONG_BINPUT"):
            self.kept[argument] = self.stack[-1]
        elif name == "MEMOIZE":
            self.kept[len(self.kept)] = self.stack[-1]
        elif name in ("BINGET", "LONG_BINGET"):
            self.stack.append(self.kept[argument])
        elif name in _TUPLES:
            self.stack.append(tuple(self.pop() for _ in range(_TUPLES[name]))[::-1])
        elif name == "TUPLE":
            self.stack.append(tuple(self.marked()))
        elif name == "GLOBAL":
            self.stack.append(_Named(argument))
        elif name == "STACK_GLOBAL":
            attribute, module = self.pop(), self.pop()
            self.stack.append(_Named(f"{module} {attribute}"))
        elif name == "BINPERSID":
            self.stack.append(_storage(self.pop()))
        elif name == "REDUCE":
            arguments, made_by = self.pop(), self.pop()
            self.stack.append(_made(made_by, arguments))
        elif name in ("SETITEM", "SETITEMS", "APPEND", "APPENDS"):
            self.extend(name)
        else:
            raise _refused(f"an instruction '{name}'")

    def extend(self, name: str) -> None:
        """Put values into the list or table below them."""
        if name.endswith("S"):
            items = self.marked()
        else:
            items = [self.pop() for _ in range(2 if name == "SETITEM" else 1)][::-1]
        into = self.stack[-1]
        if name.startswith("SETITEM") and type(into) is dict:
            into |= dict(zip(items[::2], items[1::2], strict=True))
        elif name.startswith("APPEND") and type(into) is list:
            into.extend(items)
        else:
            raise _refused(f"an instruction '{name}' on {_what(into)}")

    def pop(self) -> Any:
        """The last value."""
        value = self.stack.pop()
        if value is _MARK:
            raise _refused("a mark in the wrong place")
        return value

    def marked(self) -> list[Any]:
        """The values since the last mark."""
        at = max(k for k, value in enumerate(self.stack) if value is _MARK)
        values = self.stack[at + 1 :]
        del self.stack[at:]
        return values


def _storage(given: Any) -> _Storage:
    """The storage that a persistent identifier names: its word, kind, key, device and size."""
    if isinstance(given, tuple) and len(given) == 5 and given[0] == "storage":
        kind, key = given[1], given[2]
        if isinstance(kind, _Named) and kind.name in _KINDS and isinstance(key, str) and key.isdigit():
            return _Storage(kind.name, key)
        if isinstance(kind, _Named):
            raise _refused(f"numbers of the kind {kind.name[:60]}")
    raise _refused("a storage of another form")


def _made(made_by: Any, arguments: Any) -> Any:
    """What PyTorch would make of some arguments: a tensor, or an empty ordered table."""
    name = made_by.name if isinstance(made_by, _Named) else ""
    if name == _TABLE and arguments == ():
        return {}
    if (
        name == _PARAMETER
        and isinstance(arguments, tuple)
        and arguments
        and isinstance(arguments[0], _Tensor)
    ):
        return arguments[0]
    if name == _TENSOR and isinstance(arguments, tuple) and len(arguments) >= 4:
        storage, offset, shape, strides = arguments[:4]
        whole = isinstance(shape, tuple) and isinstance(strides, tuple) and len(shape) == len(strides)
        if isinstance(storage, _Storage) and whole and len(shape) <= _MOST_AXES:
            numbers = (offset, *shape, *strides)
            if all(type(n) is int and 0 <= n < _FARTHEST for n in numbers):
                return _Tensor(storage, offset, shape, strides)
    raise _refused(f"{name[:80].replace(' ', '.') or 'an object'}")


def _refused(what: str) -> RecordingError:
    return RecordingError(
        f"asks for {what}, and only tensors, numbers, texts, lists and tables are read; nothing was run.",
        remedy=_REMEDY,
    )
