"""Scalars as nodes of a graph of arithmetic, and the straight-line program that computes some of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Scalars as nodes of a graph of arithmetic: the same step of the same values is one node.
#
# A constant is a plain `float`; a vector or a matrix is a NumPy array of objects, so that the usual operators
# write down what they would compute. What a zero, a one or a sign makes superfluous is left out at once,
# which is what shortens the dynamics of one robot: most entries of its placements are zeros and ones.

Expression = Any
"""A `float`, a `Scalar`, or an array of them."""
Expressions = NDArray[np.object_]
"""A vector (3,) or a matrix (3, 3) of floats and scalars."""


class ExpressionGraph:
    """The nodes made so far, each after those it uses.

    Attributes:
        kinds: of each node: `input`, `constant`, `add`, `subtract`, `multiply`, `divide` or `negate`.
        arguments: indices of the nodes it uses.
        constants: the number of a `constant`.
    """

    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.arguments: list[tuple[int, ...]] = []
        self.constants: list[float] = []
        self._known: dict[tuple[str, float, tuple[int, ...]], Scalar] = {}

    def symbols(self, count: int) -> list[Scalar]:
        """New inputs, different from all others."""
        return [self._append("input", 0.0, ()) for _ in range(count)]

    def node(self, kind: str, *operands: Expression) -> Scalar:
        """The step of a kind with these operands, of which at least one is a scalar."""
        arguments = tuple(x.index if isinstance(x, Scalar) else self._constant(x).index for x in operands)
        if kind in ("add", "multiply"):
            arguments = tuple(sorted(arguments))
        return self._known.get((kind, 0.0, arguments)) or self._append(kind, 0.0, arguments)

    def _constant(self, value: float) -> Scalar:
        return self._known.get(("constant", value, ())) or self._append("constant", value, ())

    def _append(self, kind: str, constant: float, arguments: tuple[int, ...]) -> Scalar:
        made = Scalar(self, len(self.kinds))
        self.kinds.append(kind)
        self.arguments.append(arguments)
        self.constants.append(constant)
        if kind != "input":
            self._known[kind, constant, arguments] = made
        return made


class Scalar:
    """One node; arithmetic with it and floats gives further nodes, or a float where the value is certain."""

    __slots__ = ("graph", "index")

    def __init__(self, graph: ExpressionGraph, index: int) -> None:
        self.graph = graph
        self.index = index

    @property
    def negated(self) -> Scalar | None:
        """What this node is the negative of; None where it is no negative."""
        if self.graph.kinds[self.index] != "negate":
            return None
        return Scalar(self.graph, self.graph.arguments[self.index][0])

    def __neg__(self) -> Expression:
        return self.negated or self.graph.node("negate", self)

    def __add__(self, other: Expression) -> Expression:
        if not isinstance(other, Scalar | float):
            return NotImplemented
        if isinstance(other, float):
            return self if other == 0.0 else self.graph.node("add", self, other)
        if (y := other.negated) is not None:
            return self - y
        if (x := self.negated) is not None:
            return other - x
        return self.graph.node("add", self, other)

    __radd__ = __add__

    def __sub__(self, other: Expression) -> Expression:
        if not isinstance(other, Scalar | float):
            return NotImplemented
        if isinstance(other, float):
            return self if other == 0.0 else self.graph.node("subtract", self, other)
        if self.index == other.index:
            return 0.0
        if (y := other.negated) is not None:
            return self + y
        if (x := self.negated) is not None:
            return -(x + other)
        return self.graph.node("subtract", self, other)

    def __rsub__(self, other: Expression) -> Expression:
        if not isinstance(other, float):
            return NotImplemented
        if other == 0.0:
            return -self
        return self.negated + other if self.negated is not None else self.graph.node("subtract", other, self)

    def __mul__(self, other: Expression) -> Expression:
        if not isinstance(other, Scalar | float):
            return NotImplemented
        # Signs go in front of products, where the next sum takes them in.
        if (x := self.negated) is not None:
            return -(x * other)
        if isinstance(other, float):
            if other == 0.0 or other == 1.0:
                return self if other else 0.0
            if other < 0.0:
                return -(self * -other)
            return self.graph.node("multiply", self, other)
        if (y := other.negated) is not None:
            return -(self * y)
        return self.graph.node("multiply", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Expression) -> Expression:
        if not isinstance(other, Scalar | float):
            return NotImplemented
        return self.graph.node("divide", self, other)

    def __rtruediv__(self, other: Expression) -> Expression:
        if not isinstance(other, float):
            return NotImplemented
        return 0.0 if other == 0.0 else self.graph.node("divide", other, self)


def constants(values: Any) -> Expressions:
    """Numbers as an array of floats that may meet scalars."""
    made: Expressions = np.asarray(values, dtype=np.float64).astype(object)
    return made


def is_zero(value: Expression) -> bool:
    """Whether a value is zero whatever the inputs."""
    return isinstance(value, float) and value == 0.0


def symbolic_cross(x: Expressions, y: Expressions) -> Expressions:
    """The vector product x × y, of vectors (3,)."""
    pairs = ((1, 2), (2, 0), (0, 1))
    return np.array([x[i] * y[j] - x[j] * y[i] for i, j in pairs], dtype=object)


def symmetric_matrix(
    xx: Expression, xy: Expression, yy: Expression, xz: Expression, yz: Expression, zz: Expression
) -> Expressions:
    """A symmetric matrix (3, 3) from its six numbers, in the order of the inertial parameters."""
    return np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)), dtype=object)


def turned(R: Expressions, X: Expressions) -> Expressions:
    """R X Rᵀ of a symmetric X, six numbers computed and mirrored."""
    Z = R @ X
    places = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
    return symmetric_matrix(*(Z[r] @ R[c] for r, c in places))


def weighted_gradient(
    outputs: Sequence[Expression], weights: Sequence[Expression], variables: Sequence[Scalar]
) -> list[Expression]:
    r"""$\partial \sum_k w_k y_k / \partial x_i$ by the chain rule from the outputs back to the inputs.

    Args:
        outputs: y.
        weights: w, one for each output; they count as constants.
        variables: x, inputs of the graph.

    Returns:
        One expression for each variable.
    """
    graph = variables[0].graph
    slope: dict[int, Expression] = {}

    def pass_on(node: int, share: Expression) -> None:
        slope[node] = slope[node] + share if node in slope else share

    for y, w in zip(outputs, weights, strict=True):
        if isinstance(y, Scalar):
            pass_on(y.index, w)
    for node in reversed(range(len(graph.kinds))):
        kind = graph.kinds[node]
        if node not in slope or kind in ("input", "constant"):
            continue
        share = slope[node]
        x, *rest = graph.arguments[node]
        y = rest[0] if rest else x
        if kind == "multiply":
            pass_on(x, share * Scalar(graph, y))
            pass_on(y, share * Scalar(graph, x))
        elif kind == "divide":
            pass_on(x, share / Scalar(graph, y))
            pass_on(y, -(share * Scalar(graph, node) / Scalar(graph, y)))
        else:
            pass_on(x, -share if kind == "negate" else share)
            if rest:
                pass_on(y, -share if kind == "subtract" else share)
    return [slope.get(variable.index, 0.0) for variable in variables]


# A straight-line program: the list of arithmetic steps that computes some expressions.


@dataclass(frozen=True)
class Instruction:
    """One step; its result is the value of the same index.

    Attributes:
        kind: `input`, `constant`, `add`, `subtract`, `multiply`, `divide` or `negate`.
        arguments: indices of earlier values; for an input, its place among the inputs.
        constant: the number of a `constant`.
    """

    kind: str
    arguments: tuple[int, ...] = ()
    constant: float = 0.0


@dataclass(frozen=True)
class Program:
    """Instructions in order, each value used after it is made, common parts computed once.

    Attributes:
        instructions: the steps.
        outputs: for each output, in order, the index of its value.
    """

    instructions: tuple[Instruction, ...]
    outputs: tuple[int, ...]

    @property
    def operations(self) -> int:
        """Additions, multiplications and divisions in it."""
        return sum(step.kind not in ("input", "constant") for step in self.instructions)


def program(inputs: Sequence[Scalar], outputs: Sequence[Expression]) -> Program:
    """Turn expressions into a program.

    Args:
        inputs: the symbols, in the order in which their values will be given.
        outputs: the scalars wanted.
    """
    graph = inputs[0].graph
    place = {symbol.index: k for k, symbol in enumerate(inputs)}
    steps: list[Instruction] = []
    # Steps follow each other as the outputs need them, so that values wait as briefly as they can.
    index: dict[int, int] = {}
    for output in outputs:
        waiting = [output.index] if isinstance(output, Scalar) else []
        while waiting:
            node = waiting[-1]
            missing = [x for x in reversed(graph.arguments[node]) if x not in index]
            if missing and node not in index:
                waiting += missing
                continue
            waiting.pop()
            if node in index:
                continue
            kind = graph.kinds[node]
            arguments = (place[node],) if kind == "input" else tuple(index[x] for x in graph.arguments[node])
            index[node] = len(steps)
            steps.append(Instruction(kind, arguments, graph.constants[node]))
    results = []
    for output in outputs:
        if isinstance(output, Scalar):
            results.append(index[output.index])
        else:
            results.append(len(steps))
            steps.append(Instruction("constant", constant=float(output)))
    return Program(tuple(steps), tuple(results))
