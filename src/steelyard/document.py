"""The one reader of JSON and TOML: sizes and depth are checked before anything is parsed.

What it gives is plain data within bounds; `archive.from_document` checks the types against those of a
dataclass. Parsers call themselves for each bracket, so a few kilobytes of brackets end a program that did not
count them first.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from steelyard.errors import InputError
from steelyard.files import FilePath, read_bytes

LARGEST = 32 << 20
"""Largest document, bytes: a list of nothing takes thirty times its text in memory."""
DEEPEST = 64
"""Most brackets or names inside each other."""
# An end of text closes what was left open, so that neither pattern ever goes back: both take linear time.
_JSON_TEXT = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_TOML_TEXT = re.compile(
    rb'"""(?:[^"\\]++|\\.|"(?!""))*+(?:"""|\\?\Z)'
    rb"|'''(?:[^']++|'(?!''))*+(?:'''|\Z)"
    rb'|"(?:[^"\\\n]++|\\.)*+"?'
    rb"|'[^'\n]*+'?"
    rb"|#[^\n]*+",
    re.DOTALL,
)
_BETWEEN_KEYS = re.compile(rb"[,=\n{}\[\]]")
_STEPS = np.zeros(256, dtype=np.int64)
_STEPS[list(b"[{")], _STEPS[list(b"]}")] = 1, -1


def read_text(path: FilePath, *, most: int = LARGEST) -> str:
    """Read a text file.

    Args:
        path: the file.
        most: largest size, bytes.

    Raises:
        InputError: it is no regular file, too large, not UTF-8, or cannot be read.
    """
    return _decoded(read_bytes(path, most=most), str(path))


def read_json(path: FilePath, *, most: int = LARGEST) -> Any:
    """Read a JSON file.

    Args:
        path: the file.
        most: largest size, bytes.

    Returns:
        What it holds.

    Raises:
        InputError: it cannot be read, is too large or too deep, or is no JSON.
    """
    return parse_json(read_bytes(path, most=most), place=str(path))


def read_table(path: FilePath, *, most: int = LARGEST) -> dict[str, Any]:
    """Read a table: JSON where the file's name ends in `.json`, TOML otherwise.

    Args:
        path: the file.
        most: largest size, bytes.

    Raises:
        InputError: it cannot be read, is too large or too deep, or holds no table.
    """
    content, place = read_bytes(path, most=most), str(path)
    if Path(path).suffix.lower() != ".json":
        return parse_toml(content, place=place)
    table = parse_json(content, place=place)
    if not isinstance(table, dict):
        raise InputError(
            f"holds {kind_of(table)}, expected a table.", place=place, remedy='Write {"name": value, …}.'
        )
    return table


def parse_json(content: bytes | str, *, place: str) -> Any:
    """Read JSON.

    Args:
        content: the text, in UTF-8 where it is bytes.
        place: what to call it in messages.

    Returns:
        What it holds: tables, lists, texts, finite numbers, truths, nothing.

    Raises:
        InputError: it is too deep or no JSON; says where.
    """
    raw = content.encode(errors="surrogatepass") if isinstance(content, str) else content
    _require_shallow(_JSON_TEXT.sub(b"", raw), place)
    text = content if isinstance(content, str) else _decoded(content, place)
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        where = f"{place}:{error.lineno}"
        raise InputError(f"is not JSON: {error.msg}, column {error.colno}.", place=where) from error
    except _NotANumberError as error:
        raise InputError(
            f"holds {error}, which is not a number of JSON.", place=place, remedy="Leave out what is unknown."
        ) from error
    except ValueError as error:
        raise _too_many_digits(place) from error


def parse_toml(content: bytes | str, *, place: str) -> dict[str, Any]:
    """Read TOML.

    Args:
        content: the text, in UTF-8 where it is bytes.
        place: what to call it in messages.

    Returns:
        The table.

    Raises:
        InputError: it is too deep or no TOML; says where.
    """
    raw = content.encode(errors="surrogatepass") if isinstance(content, str) else content
    bare = _TOML_TEXT.sub(b"x", raw)
    _require_shallow(bare, place)
    if max(part.count(b".") for part in _BETWEEN_KEYS.split(bare)) > DEEPEST:
        raise _too_deep(place)
    text = content if isinstance(content, str) else _decoded(content, place)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"is not TOML: {error}.", place=place) from error
    except ValueError as error:
        raise _too_many_digits(place) from error


def kind_of(value: object) -> str:
    """What a value of a document is, in words.

    Args:
        value: any value.

    Returns:
        The words, as in "a number".
    """
    match value:
        case None:
            return "nothing"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list() | tuple():
            return "a list"
        case dict():
            return "a table"
    return f"a {type(value).__name__}"


def _decoded(content: bytes, place: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            "is not text in UTF-8.", place=f"{place}:{line}", remedy="Save it as UTF-8."
        ) from error


def _require_shallow(bare: bytes, place: str) -> None:
    """Refuse too many brackets inside each other, of a text without its quoted parts."""
    depth = np.cumsum(_STEPS[np.frombuffer(bare, np.uint8)])
    if depth.size and int(depth.max()) > DEEPEST:
        raise _too_deep(place)


def _too_deep(place: str) -> InputError:
    return InputError(
        f"is nested too deeply: at most {DEEPEST} levels are read.", place=place, remedy="Make it flatter."
    )


def _too_many_digits(place: str) -> InputError:
    return InputError(
        "holds an integer too large for a number.", place=place, remedy="Write it with fewer digits."
    )


class _NotANumberError(ValueError):
    """A constant that Python's reader takes but JSON does not have."""


def _refuse_constant(text: str) -> NoReturn:
    raise _NotANumberError(text)
