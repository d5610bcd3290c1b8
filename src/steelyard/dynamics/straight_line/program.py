"""A straight-line program: the list of arithmetic steps that computes some expressions, free of CasADi."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi

from steelyard.dynamics.straight_line.model import Expression

_TWO = {casadi.OP_ADD: "add", casadi.OP_SUB: "subtract", casadi.OP_MUL: "multiply", casadi.OP_DIV: "divide"}


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


def program(inputs: Sequence[Expression], outputs: Sequence[Expression]) -> Program:
    """Turn expressions into a program.

    Args:
        inputs: the symbols, in the order in which their values will be given.
        outputs: the scalars wanted.

    Returns:
        The program.
    """
    wanted = casadi.densify(casadi.cse(casadi.vertcat(*outputs)))
    function = casadi.Function("f", [casadi.vertcat(*inputs)], [wanted])
    steps: list[Instruction] = []
    results: dict[int, int] = {}
    # CasADi reuses the slots of its work vector; here each value keeps its own index.
    slot: dict[int, int] = {}
    for k in range(function.n_instructions()):
        kind, source, target = (
            function.instruction_id(k),
            function.instruction_input(k),
            function.instruction_output(k),
        )
        if kind == casadi.OP_OUTPUT:
            results[target[1]] = slot[source[0]]
            continue
        if kind == casadi.OP_INPUT:
            steps.append(Instruction("input", (source[1],)))
        elif kind == casadi.OP_CONST:
            steps.append(Instruction("constant", constant=float(function.instruction_constant(k))))
        else:
            _append(steps, kind, [slot[s] for s in source])
        slot[target[0]] = len(steps) - 1
    return Program(tuple(steps), tuple(results[k] for k in range(len(outputs))))


def _append(steps: list[Instruction], kind: int, arguments: list[int]) -> None:
    """Write one arithmetic step with the few operations a `Program` has."""
    x = arguments[0]
    if kind in _TWO:
        steps.append(Instruction(_TWO[kind], (x, arguments[1])))
    elif kind == casadi.OP_NEG:
        steps.append(Instruction("negate", (x,)))
    elif kind == casadi.OP_SQ:
        steps.append(Instruction("multiply", (x, x)))
    elif kind == casadi.OP_TWICE:
        steps.append(Instruction("add", (x, x)))
    elif kind == casadi.OP_INV:
        steps.append(Instruction("constant", constant=1.0))
        steps.append(Instruction("divide", (len(steps) - 1, x)))
    else:
        raise NotImplementedError(f"operation {kind} of CasADi has no place in a straight-line program")
