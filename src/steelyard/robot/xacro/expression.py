"""Expressions of a xacro file, walked over a list of allowed operations instead of being run as Python."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from steelyard.errors import SteelyardError
from steelyard.robot.xacro.budget import Budget, Exhausted, Fault, bounded, kind_of, shown
from steelyard.robot.xacro.functions import METHODS, Members, mapped
from steelyard.robot.xacro.operators import BINARY, COMPARE, UNARY

MAX_EXPRESSION = 4000
_MAX_NESTED = 60


def evaluate(source: str, lookup: Callable[[str], object], budget: Budget) -> object:
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

    def __init__(self, lookup: Callable[[str], object], budget: Budget) -> None:
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
            raise Fault(f"goes through {kind_of(value)} as if it were a list.")
        return list(value)

    def _part(self, whole: Any, index: ast.expr) -> object:
        if not isinstance(whole, str | list | tuple | dict):
            raise Fault(f"asks for a part of {kind_of(whole)}.")
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
        raise Fault(f"asks for '.{shown(name)}' of {kind_of(whole)}.")

    def _call(self, function: ast.expr, given: Sequence[ast.expr], named: Sequence[ast.keyword]) -> object:
        called = self.value(function)
        if not callable(called):
            raise Fault(f"calls {kind_of(called)} as if it were a function.")
        values = [self.value(node) for node in given]
        options = {keyword.arg: self.value(keyword.value) for keyword in named if keyword.arg is not None}
        if len(options) != len(named):
            raise Fault("passes arguments by '**', which is not supported.")
        for value in values[1:] if called is mapped else (*values, *options.values()):
            self.new(value)
        return self.new(called(*values, **options))
