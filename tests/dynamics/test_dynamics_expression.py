"""Expressions say what their arithmetic would compute, with as few steps as zeros, ones and signs allow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from steelyard.dynamics.straight_line.expression import (
    ExpressionGraph,
    Program,
    constants,
    program,
    symbolic_cross,
    turned,
    weighted_gradient,
)


def run(made: Program, inputs: Sequence[float]) -> list[float]:
    values: list[float] = []
    for step in made.instructions:
        x = [values[k] for k in step.arguments] if step.kind not in ("input", "constant") else []
        values.append(
            {
                "input": lambda: inputs[step.arguments[0]],  # noqa: B023
                "constant": lambda: step.constant,  # noqa: B023
                "add": lambda: x[0] + x[1],  # noqa: B023
                "subtract": lambda: x[0] - x[1],  # noqa: B023
                "multiply": lambda: x[0] * x[1],  # noqa: B023
                "divide": lambda: x[0] / x[1],  # noqa: B023
                "negate": lambda: -x[0],  # noqa: B023
            }[step.kind]()
        )
    return [values[k] for k in made.outputs]


def mixed(x: Any, y: Any, z: Any) -> list[Any]:
    """Every operation, with floats on either side, and signs that meet."""
    u, v = -x, 2.0 - y
    return [
        u * v + z / x - (-3.0) * (x * u),
        (u - v) - (-z) + 1.0 / (v + 4.0),
        -(u * -v) * (0.5 - u) + (z - 1.5) + (-v + u),
        0.0 * x + 1.0 * z - 0.0,
        0.0 - x * -1.0,
        (x - y) * (y - x) / z,
        0.0 / x + 7.0,
    ]


POINTS = np.random.default_rng(0).uniform(0.5, 3.0, (20, 3)) * np.where(
    np.arange(60).reshape(20, 3) % 7, 1, -1
)


@pytest.mark.parametrize("point", POINTS)
def test_a_program_computes_what_python_computes(point: np.ndarray) -> None:
    graph = ExpressionGraph()
    symbols = graph.symbols(3)
    made = program(symbols, mixed(*symbols))
    np.testing.assert_allclose(run(made, point), mixed(*point.tolist()), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("point", POINTS[:5])
def test_the_gradient_is_that_of_central_differences(point: np.ndarray) -> None:
    graph = ExpressionGraph()
    symbols, weights = graph.symbols(3), graph.symbols(7)
    gradient = weighted_gradient(mixed(*symbols), weights, symbols)
    w = np.random.default_rng(1).standard_normal(7)
    found = run(program([*symbols, *weights], gradient), [*point.tolist(), *w.tolist()])

    def value(at: np.ndarray) -> float:
        return float(np.dot(w, mixed(*at.tolist())))

    step = 1e-6
    wanted = [(value(point + step * e) - value(point - step * e)) / (2.0 * step) for e in np.eye(3)]
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("write", "operations"),
    [
        (lambda x, y: [x * 0.0, y + 0.0, 1.0 * x, x - x], 0),
        (lambda x, y: [(x + y) * (y + x)], 2),
        (lambda x, y: [x * y + 1.0, y * x + 1.0], 2),
        (lambda x, y: [x + -y, -1.0 * (-x)], 1),
        (lambda x, y: [y - 0.5 * x, y + -0.5 * x], 2),
    ],
)
def test_what_is_certain_or_known_costs_no_step(
    write: Callable[[Any, Any], list[Any]], operations: int
) -> None:
    graph = ExpressionGraph()
    symbols = graph.symbols(2)
    # A negative that only a sum uses is taken in by it, so what is not reached is not counted.
    assert program(symbols, write(*symbols)).operations == operations


def test_vectors_and_matrices_are_those_of_numpy() -> None:
    rng = np.random.default_rng(2)
    graph = ExpressionGraph()
    symbols = graph.symbols(9)
    M = np.array(symbols, dtype=object).reshape(3, 3)
    R, X = rng.standard_normal((3, 3)), rng.standard_normal((3, 3))
    X = X + X.T
    outputs = [
        *symbolic_cross(M[0], constants(R[1])),
        *(M @ constants(R)).ravel(),
        *turned(M, constants(X)).ravel(),
    ]
    given = rng.standard_normal((3, 3))
    wanted = [*np.cross(given[0], R[1]), *(given @ R).ravel(), *(given @ X @ given.T).ravel()]
    found = run(program(symbols, outputs), given.ravel().tolist())
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
