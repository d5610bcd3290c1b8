"""A straight-line program: the list of arithmetic steps that computes some expressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.dynamics.straight_line.expression import Expression, Scalar


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

    Returns:
        The program.
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
