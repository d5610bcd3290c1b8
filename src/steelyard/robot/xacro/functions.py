"""The names every expression knows: constants, functions and methods, each with a bounded result."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from steelyard.robot.xacro.budget import MAX_SIZE, Fault, bounded


@dataclass(frozen=True)
class Members:
    """Something whose parts are reached by a dot: a module of functions, or the namespace of a file.

    Attributes:
        get: the member of a name; raises `KeyError` where there is none.
    """

    get: Callable[[str], object]


def _string(value: object = "") -> str:
    bounded(value)
    return str(value)


def _range(*limits: int) -> list[int]:
    numbers = range(*limits)
    if len(numbers) > MAX_SIZE:
        raise Fault(f"counts over more than {MAX_SIZE} numbers.")
    return list(numbers)


def _round(number: float, ndigits: int | None = None) -> float:
    if ndigits is not None and abs(ndigits) > 400:
        raise Fault(f"rounds to {ndigits} digits.")
    return round(number, ndigits)


def _sum(numbers: Iterable[float], start: float = 0) -> float:
    terms = [start, *numbers]
    if not all(isinstance(term, int | float) for term in terms):
        raise Fault("sum() adds numbers only.")
    return sum(terms[1:], start)


def mapped(function: Callable[[Any], Any], given: Iterable[Any]) -> list[Any]:
    """A function of every item; the results together are bounded, not only each of them.

    Args:
        function: one of the functions an expression may call.
        given: the items.

    Returns:
        The results in the same order.
    """
    results: list[Any] = []
    size = 0
    for item in given:
        results.append(function(item))
        size += bounded(results[-1])
        if size > MAX_SIZE:
            raise Fault(f"makes a value of more than {MAX_SIZE} entries and characters.")
    return results


def _tokenize(text: str, sep: str = ",; ", skip_empty: bool = True) -> list[str]:
    words = [""]
    for character in text:
        if character in sep:
            words.append("")
        else:
            words[-1] += character
    return [word for word in words if word or not skip_empty]


def _fatal(*words: object) -> object:
    raise Fault(" ".join(_string(word) for word in words))


def _silent(*_words: object, **_options: object) -> str:
    """Messages to whoever runs xacro by hand; a library does not print."""
    return ""


# Left out: what grows without bound (factorial, comb, perm, prod, ldexp) and what no description needs.
_MATH_NAMES = """
    acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh degrees dist e exp expm1 fabs floor
    fmod fsum gcd hypot inf isclose isfinite isinf isnan log log10 log1p log2 nan pi pow radians sin
    sinh sqrt tan tanh tau trunc
"""
_MATH: dict[str, object] = {name: getattr(math, name) for name in _MATH_NAMES.split()}
_PYTHON: dict[str, object] = {
    "True": True,
    "False": False,
    "abs": abs,
    "all": all,
    "any": any,
    "bool": bool,
    "dict": dict,
    "enumerate": lambda *given: [list(pair) for pair in enumerate(*given)],
    "float": float,
    "int": int,
    "len": len,
    "list": list,
    "map": mapped,
    "max": max,
    "min": min,
    "range": _range,
    "reversed": lambda given: list(reversed(given)),
    "round": _round,
    "sorted": sorted,
    "str": _string,
    "sum": _sum,
    "tuple": tuple,
    "zip": lambda *given: list(zip(*given, strict=False)),
}
XACRO: dict[str, object] = {
    "dotify": lambda given: given,
    "tokenize": _tokenize,
    "fatal": _fatal,
    "message": _silent,
    "warning": _silent,
    "error": _silent,
}


_UNQUALIFIED = ("load_yaml", "abs_filename", "dotify")


def known_names(xacro: Mapping[str, object]) -> dict[str, object]:
    """Every name an expression may use without defining it.

    Args:
        xacro: functions of the module `xacro` that depend on the file being read.

    Returns:
        Constants, functions and modules by name.
    """
    module = {**XACRO, **xacro}
    modules = {
        "math": Members(_MATH.__getitem__),
        "python": Members(_PYTHON.__getitem__),
        "xacro": Members(module.__getitem__),
    }
    direct: dict[str, object] = {name: module[name] for name in _UNQUALIFIED if name in module}
    return {**_MATH, **_PYTHON, **direct, **modules}


def _join(text: str, parts: Iterable[str]) -> str:
    words = list(parts)
    if sum(len(word) + len(text) for word in words) > MAX_SIZE:
        raise Fault(f"joins to more than {MAX_SIZE} characters.")
    return text.join(words)


def _replace(text: str, old: str, new: str) -> str:
    if len(text) + text.count(old) * len(new) > MAX_SIZE:
        raise Fault(f"makes a text of more than {MAX_SIZE} characters.")
    return text.replace(old, new)


METHODS: dict[type, dict[str, Callable[..., Any]]] = {
    str: {
        "endswith": str.endswith,
        "join": _join,
        "lower": str.lower,
        "lstrip": str.lstrip,
        "replace": _replace,
        "rstrip": str.rstrip,
        "split": str.split,
        "startswith": str.startswith,
        "strip": str.strip,
        "title": str.title,
        "upper": str.upper,
    },
    dict: {
        "get": dict.get,
        "items": lambda given: [list(pair) for pair in given.items()],
        "keys": lambda given: list(given.keys()),
        "values": lambda given: list(given.values()),
    },
    list: {"count": list.count, "index": list.index},
}
"""What may be called on a text, a dictionary and a list."""
