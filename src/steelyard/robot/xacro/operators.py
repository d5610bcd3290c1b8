"""The operators of expressions, refusing what would grow without bound before it does."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from steelyard.robot.xacro.budget import MAX_INTEGER_BITS, MAX_SIZE, Fault, kind_of


def _repeated(text: Any, times: Any) -> Any:
    if isinstance(text, int) and not isinstance(times, int | float):
        text, times = times, text
    repeats = isinstance(text, str | list | tuple) and isinstance(times, int)
    if repeats and len(text) * max(times, 0) > MAX_SIZE:
        raise Fault(f"repeats {kind_of(text)} to more than {MAX_SIZE} entries.")
    return text * times


def _power(base: Any, exponent: Any) -> Any:
    integer = isinstance(base, int) and isinstance(exponent, int)
    if integer and base.bit_length() * exponent > MAX_INTEGER_BITS:
        raise Fault(f"makes an integer of more than {MAX_INTEGER_BITS} bits.")
    return base**exponent


def _remainder(value: Any, divisor: Any) -> Any:
    if isinstance(value, str):
        raise Fault("formats a text with '%', which is not supported.", "Join texts with '+' and str().")
    return value % divisor


BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: _repeated,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: _remainder,
    ast.Pow: _power,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda part, whole: part in whole,
    ast.NotIn: lambda part, whole: part not in whole,
}
