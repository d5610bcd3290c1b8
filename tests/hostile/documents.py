"""Documents in JSON and TOML that no reader should trust: deep, long, of other types, not finite."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

DIGITS = "9" * 5000
ESCAPE = "\x1b[2J\x1b]0;owned\x07"
POISONS: tuple[Any, ...] = (
    None, True, -1, 0, 10**30, 1e300, 1e-300, "", "x", "x" * 5000, "a\0b", ESCAPE, "../../etc/passwd",
    "/dev/zero", "/proc/self/mem", [], {}, [[]], [None], {"a": {}}, ["x"], [1e300] * 3, "nan", "1e400",
    [[[[1]]]],
)  # fmt: skip
"""Values that are put where another one is expected."""


def deep_json(depth: int) -> str:
    """Lists in lists."""
    return "[" * depth + "]" * depth


def json_traps(good: Mapping[str, Any]) -> dict[str, bytes]:
    """JSON that is none, or more than a reader can bear; `good` is a document that is read."""
    text = json.dumps(good)
    key = next(iter(good))
    traps = {
        "deep": deep_json(100_000),
        "deep600": json.dumps({**good, key: "@"}).replace('"@"', deep_json(600)),
        "deep900": json.dumps({**good, key: "@"}).replace('"@"', deep_json(900)),
        "deep objects": '{"a":' * 5000 + "1" + "}" * 5000,
        "bigint": json.dumps({**good, key: "@"}).replace('"@"', DIGITS),
        "not finite": json.dumps({**good, key: float("nan")}),
        "empty": "",
        "null": "null",
        "number": "3",
        "list": "[]",
        "text": '"x"',
        "cut": text[: len(text) // 2],
        "more": text + text,
        "surrogate": text.replace(key, "\\ud800", 1),
    }
    found = {name: trap.encode(errors="surrogatepass") for name, trap in traps.items()}
    return found | {
        "latin-1": text.encode()[:-1] + b"\xff}",
        "nul": text.encode() + b"\0",
        "binary": bytes(99),
    }


def toml_traps(good: str) -> dict[str, bytes]:
    """The same in TOML; `good` is a document that is read."""
    traps = {
        "deep": f"{good}\nextra = {deep_json(5000)}\n",
        "deep tables": f"{good}\n[{'.'.join(['a'] * 5000)}]\n",
        "deep inline": f"{good}\nextra = {'{a=' * 3000}1{'}' * 3000}\n",
        "int": f"{good}\nextra = {DIGITS}\n",
        "cut": good[: len(good) // 2] + '"',
        "twice": good + "\n" + good,
        "json": "{}",
        "esc key": f'{good}\n"\\u001b[2J" = 1\n',
    }
    found = {name: trap.encode() for name, trap in traps.items()}
    return found | {"latin-1": good.encode() + b'\nx = "\xff"', "binary": bytes(99)}


def places(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where values stand in a document."""
    items = (
        document.items()
        if isinstance(document, dict)
        else enumerate(document)
        if isinstance(document, list)
        else ()
    )
    return [path] * bool(path) + [place for key, item in items for place in places(item, (*path, key))]


def poisoned(document: Any, place: tuple[Any, ...], value: Any) -> Any:
    """The document with another value in one place."""
    other = copy.deepcopy(document)
    inner = other
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return other


def mutated(rng: np.random.Generator, document: Any) -> tuple[str, Any]:
    """A document with one value damaged, missing, repeated or of another type, and what was done."""
    found = places(document)
    place = found[rng.integers(len(found))]
    name = ".".join(str(key) for key in place)
    if rng.random() < 0.2:
        other = copy.deepcopy(document)
        inner = other
        for key in place[:-1]:
            inner = inner[key]
        del inner[place[-1]]
        return f"{name} left out", other
    poison = POISONS[rng.integers(len(POISONS))]
    return f"{name} = {str(poison)[:20]!r}", poisoned(document, place, poison)
