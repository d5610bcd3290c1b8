"""Frozen objects as plain JSON documents and back, exact to the last bit, and their digests.

A document is what the dataclass says: its fields by name, arrays as nested lists, an object of a union tagged
with its class under `"is"`. Python writes floats with the shortest text that reads back to the same bits, so
the round trip is exact. The types of the fields drive the reading; nothing is executed, unlike a pickle.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import json
import math
import types
import typing
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from steelyard.document import kind_of, read_json
from steelyard.errors import InputError
from steelyard.files import FilePath, write_text

T = TypeVar("T")
_WORDS = {
    str: "a text",
    int: "a whole number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
    type(None): "nothing",
}
_SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def to_document(value: object) -> Any:
    """Turn a frozen object into lists, dicts, numbers and text that JSON can carry.

    Args:
        value: a dataclass instance, or anything its fields may hold: numbers, text, arrays, tuples, mappings
            with text keys, enums, None.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        hints = _hints(type(value))
        fields = {
            f.name: _field_document(getattr(value, f.name), hints[f.name])
            for f in dataclasses.fields(value)
            if _kept(f)
        }
        return {"is": _name_of(type(value)), **fields}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, np.ndarray):
        plain = value.dtype.kind in "biu" or (value.dtype.kind == "f" and bool(np.isfinite(value).all()))
        return value.tolist() if plain else to_document(value.tolist())
    if isinstance(value, (np.floating, np.integer, np.bool_)):
        return to_document(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): to_document(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_document(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"a {type(value).__name__} has no place in a document")


def _kept(field: dataclasses.Field[Any]) -> bool:
    """Whether a field belongs into documents; `metadata={"kept": False}` says that it does not.

    So is what holds on one machine only, as the folder a robot was read from.
    """
    return field.init and bool(field.metadata.get("kept", True))


def _name_of(cls: Any) -> str:
    """What a class is called in documents: `stored_as` where it was written under another name before."""
    return str(vars(cls).get("stored_as", cls.__name__))


@cache
def _hints(cls: type) -> dict[str, Any]:
    """The types of a class's fields, worked out once: a robot of a thousand links asks thousands of times."""
    return get_type_hints(cls)


def _field_document(value: object, kind: Any) -> Any:
    """A field's document; an integer given where the field is a float is that float, also in the digest."""
    if isinstance(value, int) and not isinstance(value, bool) and float in (kind, *get_args(kind)):
        value = float(value)
    return to_document(value)


def from_document(cls: type[T], document: Any, *, place: str = "document") -> T:
    """Rebuild a frozen object from its document; the constructor validates it again.

    Args:
        cls: the dataclass expected.
        document: what `to_document` gave, possibly after a trip through a JSON file.
        place: what to call the document in an error message.

    Returns:
        An object equal to the original in every bit.

    Raises:
        InputError: a field is missing, unknown or of the wrong kind; the message names it.
    """
    return typing.cast(T, _read(cls, document, place))


def write_document(value: object, path: FilePath, *, indent: int | None = 1) -> None:
    """Write a frozen object's document as a JSON file, whole or not at all.

    Args:
        value: the object.
        path: where; an existing file is replaced.
        indent: spaces before each level; None for one long line.

    Raises:
        InputError: the path is a folder, or its folder does not exist or cannot be written to.
    """
    text = json.dumps(to_document(value), indent=indent, ensure_ascii=False, allow_nan=False)
    write_text(Path(path), text + "\n")


def read_document(cls: type[T], path: FilePath) -> T:
    """Read a frozen object from its file.

    Args:
        cls: the dataclass expected.
        path: the file.

    Returns:
        The object, equal in every bit to the one written.

    Raises:
        InputError: the file cannot be read, or holds something else.
    """
    return from_document(cls, read_json(path), place=str(path))


def digest(value: object) -> str:
    """The SHA-256 of a value's document: equal content gives an equal digest on every machine.

    Args:
        value: anything `to_document` takes.

    Returns:
        64 hexadecimal digits.
    """
    text = json.dumps(to_document(value), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _read(kind: Any, document: Any, place: str) -> Any:
    origin = get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return _read_union(get_args(kind), document, place)
    if origin is np.ndarray:
        rows = _numbers(document, place)
        try:
            return np.array(rows, dtype=np.float64)
        except ValueError as error:
            raise InputError("is not an array: its rows differ in length.", place=place) from error
    if origin is tuple:
        return _read_tuple(get_args(kind), document, place)
    if origin is not None and issubclass(origin, Mapping):
        value_kind = get_args(kind)[1]
        return {
            key: _read(value_kind, item, f"{place}.{key}") for key, item in _a(dict, document, place).items()
        }
    if dataclasses.is_dataclass(kind):
        return _read_dataclass(typing.cast(type, kind), document, place)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        try:
            return kind(document)
        except ValueError:
            choices = ", ".join(str(member.value) for member in kind)
            raise InputError(f"{str(document)[:80]!r} is not one of {choices}.", place=place) from None
    if kind is float:
        return _number(document, place)
    if kind is Any or kind is object:
        return document
    if kind is type(None):
        return _a(type(None), document, place)
    return _a(kind, document, place)


def _read_dataclass(cls: type, document: Any, place: str) -> Any:
    content = dict(_a(dict, document, place))
    stated = content.pop("is", _name_of(cls))
    if stated != _name_of(cls):
        raise InputError(f"holds a {stated}, expected a {_name_of(cls)}.", place=place)
    hints = _hints(cls)
    names = {f.name for f in dataclasses.fields(cls) if _kept(f)}
    needed = {
        f.name
        for f in dataclasses.fields(cls)
        if _kept(f) and f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    }
    if unknown := sorted(set(content) - names):
        listed = [name[:80] for name in unknown[:12]]
        raise InputError(f"has unknown fields {listed}; known: {sorted(names)}.", place=place)
    if missing := sorted(needed - set(content)):
        raise InputError(f"lacks the fields {missing}.", place=place)
    return cls(**{name: _read(hints[name], item, f"{place}.{name}") for name, item in content.items()})


def _read_union(kinds: tuple[Any, ...], document: Any, place: str) -> Any:
    if document is None and type(None) in kinds:
        return None
    members = [kind for kind in kinds if kind is not type(None)]
    if isinstance(document, dict) and "is" in document:
        for kind in members:
            if dataclasses.is_dataclass(kind) and _name_of(kind) == document["is"]:
                return _read(kind, document, place)
    for kind in members:
        if not dataclasses.is_dataclass(kind):
            return _read(kind, document, place)
    if len(members) == 1:
        return _read(members[0], document, place)
    names = ", ".join(getattr(kind, "__name__", str(kind)) for kind in members)
    raise InputError(f"expected one of {names}.", place=place)


def _read_tuple(kinds: tuple[Any, ...], document: Any, place: str) -> tuple[Any, ...]:
    items = _a(list, document, place)
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        return tuple(_read(kinds[0], item, f"{place}[{k}]") for k, item in enumerate(items))
    if len(items) != len(kinds):
        raise InputError(f"expected {len(kinds)} entries, got {len(items)}.", place=place)
    return tuple(
        _read(kind, item, f"{place}[{k}]") for k, (kind, item) in enumerate(zip(kinds, items, strict=True))
    )


def _numbers(document: Any, place: str) -> Any:
    if isinstance(document, list):
        return [_numbers(item, place) for item in document]
    return _number(document, place)


def _number(document: Any, place: str) -> float:
    if isinstance(document, str) and document in _SPECIAL:
        return _SPECIAL[document]
    if isinstance(document, bool) or not isinstance(document, (int, float)):
        raise InputError(f"expected a number, got {_shown(document)}.", place=place)
    try:
        return float(document)
    except OverflowError as error:
        raise InputError("holds an integer too large for a number.", place=place) from error


def _a(kind: type, document: Any, place: str) -> Any:
    if not isinstance(document, kind) or (kind is int and isinstance(document, bool)):
        wanted = _WORDS.get(kind, kind.__name__)
        raise InputError(f"expected {wanted}, got {_shown(document)}.", place=place)
    return document


def _shown(document: Any) -> str:
    """What stands in a document where something else was expected; a text is quoted as far as it helps."""
    return repr(document[:40]) if isinstance(document, str) else kind_of(document)
