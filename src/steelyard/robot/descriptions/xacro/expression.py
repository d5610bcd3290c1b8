"""Expressions of a xacro file: allowed operations only, within a budget, never run as Python."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from steelyard.errors import SteelyardError

# What one expansion may cost: a description is input from anywhere, and must not hang or fill the memory.

MAX_ELEMENTS = 50_000
MAX_WORK = 1_000_000
MAX_DEPTH = 200
MAX_SIZE = 100_000
MAX_INTEGER_BITS = 2048


class Fault(ValueError):  # noqa: N818, it is a part of a message and never leaves this folder
    """What is wrong with a piece of text; whoever knows its line turns it into a `DescriptionError`."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


class Exhausted(Fault):
    """The file as a whole costs too much, whichever piece of it happens to be read."""


@dataclass
class ExpansionBudget:
    """Counts what an expansion has used, and refuses to go on where no robot would.

    A robot of a hundred links takes some thousands of elements and tens of thousands of units of work.

    Attributes:
        elements: elements made so far.
        work: steps of expressions made so far, tens of elements read, tenths of characters written.
        depth: how deep elements, macros, files and properties are nested at the moment.
    """

    elements: int = 0
    work: int = 0
    depth: int = 0

    def make_element(self) -> None:
        """Count one more element."""
        self.elements += 1
        if self.elements > MAX_ELEMENTS:
            raise Exhausted(f"the file expands to more than {MAX_ELEMENTS} elements.", _CHECK_LOOPS)

    def spend(self, work: int) -> None:
        """Count some more work."""
        self.work += work
        if self.work > MAX_WORK:
            raise Exhausted(f"the file takes more than {MAX_WORK} steps to expand.", _CHECK_LOOPS)

    @contextmanager
    def level(self) -> Iterator[None]:
        """Go one level deeper for a while."""
        self.depth += 1
        try:
            if self.depth > MAX_DEPTH:
                raise Exhausted(
                    f"macros, files or properties are nested deeper than {MAX_DEPTH}.", _CHECK_LOOPS
                )
            yield
        finally:
            self.depth -= 1


_CHECK_LOOPS = "Check for a macro, a file or a property that calls itself."


def bounded(value: object) -> int:
    """Check that a value is plain data of a bounded size.

    Args:
        value: a number, a text, a truth, nothing, or lists, tuples and dictionaries of these.

    Returns:
        How many numbers, characters and entries it holds, written out in full.

    Raises:
        Fault: it is too large, or something else than data.
    """
    size = 0
    waiting = [value]
    while waiting:
        item = waiting.pop()
        size += 1
        if isinstance(item, str):
            size += len(item)
        elif isinstance(item, list | tuple):
            size += len(item)
            waiting += item
        elif isinstance(item, dict):
            size += 2 * len(item)
            waiting += item.keys()
            waiting += item.values()
        elif isinstance(item, int):
            if item.bit_length() > MAX_INTEGER_BITS:
                raise Fault(f"makes an integer of more than {MAX_INTEGER_BITS} bits.")
        elif item is not None and not isinstance(item, float):
            raise Fault(f"makes {value_kind(item)}, which is no number, text, list or dictionary.")
        if size > MAX_SIZE:
            raise Fault(f"makes a value of more than {MAX_SIZE} entries and characters.")
    return size


def value_kind(value: object) -> str:
    """What a value is, in a word a message may use."""
    names: dict[type, str] = {
        str: "a text",
        int: "an integer",
        float: "a number",
        bool: "a truth",
        list: "a list",
        tuple: "a tuple",
        dict: "a dictionary",
        complex: "a complex number",
        type(None): "nothing",
    }
    return names.get(type(value), "a function" if callable(value) else "a namespace")


def shown(text: str, most: int = 60) -> str:
    """A text as a message may show it: on one line and not too long."""
    line = "".join(c if c.isprintable() else "?" for c in " ".join(text[: 2 * most].split()))
    return line if len(line) <= most else line[:most] + "…"


# The operators of expressions, refusing what would grow without bound before it does.


def _repeated(text: Any, times: Any) -> Any:
    if isinstance(text, int) and not isinstance(times, int | float):
        text, times = times, text
    repeats = isinstance(text, str | list | tuple) and isinstance(times, int)
    if repeats and len(text) * max(times, 0) > MAX_SIZE:
        raise Fault(f"repeats {value_kind(text)} to more than {MAX_SIZE} entries.")
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


# The names every expression knows: constants, functions and methods, each with a bounded result.


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


# Expressions of a xacro file, walked over a list of allowed operations instead of being run as Python.

MAX_EXPRESSION = 4000
_MAX_NESTED = 60


def evaluate_expression(source: str, lookup: Callable[[str], object], budget: ExpansionBudget) -> object:
    """The value of an expression.

    Args:
        source: its text, in the syntax of Python.
        lookup: the value of a name; raises `Fault` where there is none.
        budget: what the expansion may cost.

    Returns:
        Plain data: a number, a text, a truth, nothing, or lists and dictionaries of these.

    Raises:
        Fault: the text is no expression, uses what is not allowed, or has no value.
    """
    if len(source) > MAX_EXPRESSION:
        raise Fault(f"an expression is longer than {MAX_EXPRESSION} characters.")
    try:
        tree = ast.parse(source.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else "it cannot be parsed"
        raise Fault(f"'{shown(source)}' is no expression: {reason}.") from None
    try:
        walk = _Walk(lookup, budget)
        return walk.new(walk.value(tree.body))
    except (SteelyardError, Exhausted):
        # The first comes from a property that the expression asks for, and names that property's line.
        raise
    except Fault as fault:
        raise Fault(f"'{shown(source)}': {fault.message}", fault.remedy) from None
    except KeyError as error:
        raise Fault(f"'{shown(source)}' asks for {shown(str(error))}, which is not there.") from None
    except (TypeError, ValueError, ArithmeticError, IndexError) as error:
        raise Fault(f"'{shown(source)}' has no value: {shown(str(error), 120)}.") from None


class _Walk:
    """Evaluates the nodes of one expression; what is not listed here cannot be asked for."""

    def __init__(self, lookup: Callable[[str], object], budget: ExpansionBudget) -> None:
        self._lookup = lookup
        self._budget = budget
        self._local: dict[str, object] = {}
        self._depth = 0

    def value(self, node: ast.AST) -> Any:
        """The value of a node: data, or a function or namespace that is only called or asked."""
        self._budget.spend(1)
        self._depth += 1
        if self._depth > _MAX_NESTED:
            raise Fault(f"is nested deeper than {_MAX_NESTED}.", "Split it with properties.")
        found = self._value(node)
        self._depth -= 1
        return found

    def _value(self, node: ast.AST) -> Any:
        match node:
            case ast.Constant(value=None | bool() | int() | float() | str() as value):
                return value
            case ast.Name(id=name):
                return self._local[name] if name in self._local else self._lookup(name)
            case ast.UnaryOp(op=op, operand=operand):
                return self.new(UNARY[type(op)](self.value(operand)))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in BINARY:
                return self.new(BINARY[type(op)](self.value(left), self.value(right)))
            case ast.BoolOp(op=op, values=values):
                return self._either(isinstance(op, ast.Or), values)
            case ast.Compare():
                return self._compare(node)
            case ast.IfExp(test=test, body=body, orelse=other):
                return self.value(body) if self.value(test) else self.value(other)
            case ast.List(elts=items):
                return self.new([self.value(item) for item in items])
            case ast.Tuple(elts=items):
                return self.new(tuple(self.value(item) for item in items))
            case ast.Dict(keys=keys, values=values) if None not in keys:
                pairs = zip(keys, values, strict=True)
                return self.new({self.value(key): self.value(item) for key, item in pairs if key})
            case ast.ListComp(elt=item, generators=loops) | ast.GeneratorExp(elt=item, generators=loops):
                return self.new([self.value(item) for _ in self._turns(loops)])
            case ast.Subscript(value=whole, slice=index):
                return self._part(self.value(whole), index)
            case ast.Attribute(value=whole, attr=name):
                return self._member(self.value(whole), name)
            case ast.Call(func=function, args=given, keywords=named):
                return self._call(function, given, named)
        raise Fault(f"uses {type(node).__name__}, which expressions of a description may not.")

    def new(self, value: object) -> object:
        """Check that a value is bounded data, and charge what it takes to make or to go through it."""
        self._budget.spend(1 + bounded(value) // 2)
        return value

    def _either(self, wanted: bool, nodes: Sequence[ast.expr]) -> object:
        value: object = None
        for node in nodes:
            value = self.value(node)
            if bool(value) is wanted:
                break
        return value

    def _compare(self, node: ast.Compare) -> object:
        left = self.value(node.left)
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.value(comparator)
            self.new(left)
            if not isinstance(right, dict):  # whose size costs nothing to look a key up in
                self.new(right)
            if not COMPARE[type(op)](left, right):
                return False
            left = right
        return True

    def _turns(self, loops: Sequence[ast.comprehension]) -> Iterator[None]:
        """Go through the turns of the loops of a comprehension, with their variables set."""
        if not loops:
            yield
            return
        loop, *inner = loops
        if not isinstance(loop.target, ast.Name) or loop.is_async:
            raise Fault("has a loop over more than one name, which is not supported.")
        name = loop.target.id
        before = dict(self._local)
        for item in self._listed(self.value(loop.iter)):
            self._local[name] = item
            if all(self.value(condition) for condition in loop.ifs):
                yield from self._turns(inner)
        self._local = before

    def _listed(self, value: object) -> list[object]:
        if not isinstance(value, list | tuple | dict | str):
            raise Fault(f"goes through {value_kind(value)} as if it were a list.")
        return list(value)

    def _part(self, whole: Any, index: ast.expr) -> object:
        if not isinstance(whole, str | list | tuple | dict):
            raise Fault(f"asks for a part of {value_kind(whole)}.")
        if isinstance(index, ast.Slice):
            ends = (index.lower, index.upper, index.step)
            return self.new(whole[slice(*(None if end is None else self.value(end) for end in ends))])
        return whole[self.value(index)]

    def _member(self, whole: object, name: str) -> object:
        if isinstance(whole, Members):
            return whole.get(name)
        method = METHODS.get(type(whole), {}).get(name)
        if method is not None:
            return partial(method, whole)
        if isinstance(whole, dict):
            return whole[name]
        raise Fault(f"asks for '.{shown(name)}' of {value_kind(whole)}.")

    def _call(self, function: ast.expr, given: Sequence[ast.expr], named: Sequence[ast.keyword]) -> object:
        called = self.value(function)
        if not callable(called):
            raise Fault(f"calls {value_kind(called)} as if it were a function.")
        values = [self.value(node) for node in given]
        options = {keyword.arg: self.value(keyword.value) for keyword in named if keyword.arg is not None}
        if len(options) != len(named):
            raise Fault("passes arguments by '**', which is not supported.")
        for value in values[1:] if called is mapped else (*values, *options.values()):
            self.new(value)
        return self.new(called(*values, **options))
