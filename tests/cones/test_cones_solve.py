"""Solutions judged by cvxpy on the same data, by the optimality conditions, and by optima known exactly."""

import cvxpy as cp
import numpy as np
import pytest

from steelyard.cones import AtMost, ConeProgram, Constraint, Semidefinite, solve
from steelyard.cones.program import Equal, Exponential, LogDet, SecondOrder, minus_log_dets

SEEDS = range(4)


def symmetric(rng: np.random.Generator, *shape: int) -> np.ndarray:
    M = rng.normal(size=(*shape, shape[-1]))
    return 0.5 * (M + np.swapaxes(M, -1, -2))


def cvxpy_value(program: ConeProgram) -> float:
    x = cp.Variable(program.variables)
    objective = program.linear @ x
    if program.target.size:
        objective += 0.5 * cp.sum_squares(program.matrix @ x - program.target)
    stated = []
    for constraint in program.constraints:
        match constraint:
            case Equal():
                stated.append(constraint.matrix @ x == constraint.vector)
            case AtMost():
                stated.append(constraint.matrix @ x <= constraint.vector)
            case SecondOrder():
                slack = constraint.vector - constraint.matrix @ x
                stated.append(cp.norm(slack[1:]) <= slack[0])
            case Semidefinite():
                F = constraint.constant + sum(x[k] * M for k, M in enumerate(constraint.coefficients))
                stated.append(F >> 0)
            case Exponential():
                for A, b in zip(constraint.matrix, constraint.vector, strict=True):
                    u, v, w = (b[i] - A[i] @ x for i in range(3))
                    stated.append(cp.ExpCone(u, v, w))
    problem = cp.Problem(cp.Minimize(objective), stated)
    return float(problem.solve(solver=cp.CLARABEL))


def assert_optimal(program: ConeProgram, tolerance: float = 1e-6) -> None:
    """The conditions of Karush, Kuhn and Tucker, each evaluated here from the program's own data."""
    solution = solve(program)
    x = solution.x
    gradient = program.linear + program.matrix.T @ (program.matrix @ x - program.target)
    for constraint, z in zip(program.constraints, solution.multipliers, strict=True):
        s = constraint.slack(x)
        assert z.shape == s.shape
        match constraint:
            case Equal():
                assert np.abs(s).max(initial=0.0) < tolerance
                gradient = gradient + constraint.matrix.T @ z
            case AtMost():
                assert s.min(initial=0.0) > -tolerance
                assert z.min(initial=0.0) > -tolerance
                gradient = gradient + constraint.matrix.T @ z
            case SecondOrder():
                assert np.linalg.norm(s[1:]) - s[0] < tolerance
                assert np.linalg.norm(z[1:]) - z[0] < tolerance
                gradient = gradient + constraint.matrix.T @ z
            case Semidefinite():
                assert np.linalg.eigvalsh(s)[0] > -tolerance
                assert np.linalg.eigvalsh(z)[0] > -tolerance
                gradient = gradient - np.einsum("kij,ij->k", constraint.coefficients, z)
            case Exponential():
                u, v, w = s.T
                p, q, r = z.T
                assert (v * np.exp(u / v) - w).max(initial=0.0) < tolerance
                assert (-p * np.exp(q / p - 1.0) - r).max(initial=0.0) < tolerance
                gradient = gradient + np.einsum("kin,ki->n", constraint.matrix, z)
        assert abs(np.vdot(s, z)) < 10 * tolerance
    assert np.abs(gradient).max() < tolerance
    assert solution.accuracy == "full"
    assert solution.dual_residual < tolerance
    assert solution.primal_residual < tolerance
    assert abs(solution.gap) < 10 * tolerance * (1.0 + abs(solution.value))


def box(n: int, size: float = 1.0) -> AtMost:
    return AtMost(np.vstack([np.eye(n), -np.eye(n)]), np.full(2 * n, size))


def linear(rng: np.random.Generator) -> ConeProgram:
    return ConeProgram.minimise_linear(
        rng.normal(size=5), [box(5), AtMost(rng.normal(size=(8, 5)), rng.uniform(0.2, 1, 8))]
    )


def quadratic(rng: np.random.Generator) -> ConeProgram:
    rows = AtMost(rng.normal(size=(10, 6)), rng.uniform(0.1, 0.5, 10))
    return ConeProgram(rng.normal(size=(4, 6)), rng.normal(size=4), rng.normal(size=6), (rows, box(6)))


def tall_squares(rng: np.random.Generator) -> ConeProgram:
    return ConeProgram.least_squares(
        rng.normal(size=(50, 4)), 5 * rng.normal(size=50), [AtMost(-np.eye(4), np.zeros(4))]
    )


def equality(rng: np.random.Generator) -> ConeProgram:
    A = rng.normal(size=(3, 6))
    return ConeProgram.least_squares(
        np.eye(6),
        rng.normal(size=6),
        [Equal(A, A @ rng.normal(size=6)), Equal(np.zeros((0, 6)), np.zeros(0))],
    )


def second_order(rng: np.random.Generator) -> ConeProgram:
    balls = [
        SecondOrder(np.vstack([np.zeros(5), -np.eye(5)]), np.concatenate([[2.0], rng.normal(size=5) * 0.5])),
        SecondOrder(rng.normal(size=(4, 5)), np.concatenate([[3.0], rng.normal(size=3)])),
    ]
    return ConeProgram.minimise_linear(rng.normal(size=5), balls)


def semidefinite(rng: np.random.Generator) -> ConeProgram:
    blocks = [Semidefinite(2 * np.eye(d), symmetric(rng, 4, d)) for d in (1, 2, 4)]
    return ConeProgram.minimise_linear(rng.normal(size=4), [*blocks, box(4, 3.0)])


def exponential(rng: np.random.Generator) -> ConeProgram:
    """Minimise Σ w_k + cᵀx with w_k ≥ exp(a_kᵀ x): smooth, strictly convex."""
    k, n = 4, 3
    A = np.zeros((k, 3, n + k))
    A[:, 0, :n] = rng.normal(size=(k, n))
    A[np.arange(k), 2, n + np.arange(k)] = -1.0
    c = np.concatenate([0.1 * rng.normal(size=n), np.ones(k)])
    rows = np.hstack([np.vstack([np.eye(n), -np.eye(n)]), np.zeros((2 * n, k))])
    limits = AtMost(rows, np.full(2 * n, 2.0))
    return ConeProgram.minimise_linear(c, [Exponential(A, np.tile([0.0, 1.0, 0.0], (k, 1))), limits])


def mixed(rng: np.random.Generator) -> ConeProgram:
    n = 5
    triple = np.zeros((1, 3, n))
    triple[0, 0], triple[0, 2] = rng.normal(size=n), rng.normal(size=n)
    constraints: list[Constraint] = [
        Equal(rng.normal(size=(1, n)), [0.1]),
        SecondOrder(np.vstack([np.zeros(n), np.eye(n)]), np.concatenate([[1.0], np.zeros(n)])),
        Semidefinite(np.eye(3), symmetric(rng, n, 3)),
        Exponential(triple, [[0.0, 1.0, 3.0]]),
        AtMost(rng.normal(size=(3, n)), np.ones(3)),
    ]
    return ConeProgram(
        rng.normal(size=(3, n)), 3 * rng.normal(size=3), rng.normal(size=n), tuple(constraints)
    )


KINDS = [linear, quadratic, tall_squares, equality, second_order, semidefinite, exponential, mixed]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_optimum_is_the_one_cvxpy_finds(kind, seed: int) -> None:
    program = kind(np.random.default_rng(seed))
    assert solve(program).value == pytest.approx(cvxpy_value(program), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_solution_meets_the_optimality_conditions(kind, seed: int) -> None:
    assert_optimal(kind(np.random.default_rng(seed)))


@pytest.mark.parametrize("seed", SEEDS)
def test_minus_log_det_is_what_cvxpy_calls_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 4
    F1 = Semidefinite(np.eye(3), symmetric(rng, n, 3))
    F2 = Semidefinite(2 * np.eye(2), symmetric(rng, n, 2))
    base = ConeProgram(rng.normal(size=(6, n)), rng.normal(size=6), rng.normal(size=n), (box(n, 2.0),))
    lifted = minus_log_dets(base, [LogDet(0.5, F1), LogDet(2.0, F2)])
    solution = solve(lifted)

    x = cp.Variable(n)
    X1 = F1.constant + sum(x[k] * M for k, M in enumerate(F1.coefficients))
    X2 = F2.constant + sum(x[k] * M for k, M in enumerate(F2.coefficients))
    objective = 0.5 * cp.sum_squares(base.matrix @ x - base.target) + base.linear @ x
    objective -= 0.5 * cp.log_det(X1) + 2.0 * cp.log_det(X2)
    expected = cp.Problem(cp.Minimize(objective), [x <= 2, x >= -2]).solve(solver=cp.CLARABEL)
    assert solution.value == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(solution.x[:n], x.value, atol=1e-4)
    assert_optimal(lifted)


def test_the_first_lifted_variables_are_the_log_dets_themselves() -> None:
    F = np.array([[[1.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 1.0]]])
    base = ConeProgram.minimise_linear([0.0, 0.0], [AtMost([[1.0, 1.0]], [4.0])])
    x = solve(minus_log_dets(base, [LogDet(1.0, Semidefinite(np.zeros((2, 2)), F))])).x
    np.testing.assert_allclose(x[:2], [2.0, 2.0], atol=1e-4)
    assert x[2] == pytest.approx(np.log(4.0), abs=1e-7)


def test_rows_of_a_sum_of_squares_beyond_the_variables_count_in_the_value() -> None:
    program = ConeProgram.least_squares([[1.0], [1.0]], [1.0, 3.0])
    solution = solve(program)
    assert solution.x == pytest.approx([2.0])
    assert solution.value == pytest.approx(1.0)
    assert solution.dual_value == pytest.approx(1.0)


def test_the_same_program_gives_the_same_bits() -> None:
    first, second = (solve(mixed(np.random.default_rng(3))) for _ in range(2))
    np.testing.assert_array_equal(first.x, second.x)


def test_a_program_without_constraints_is_plain_least_squares() -> None:
    rng = np.random.default_rng(0)
    R, r = rng.normal(size=(9, 3)), rng.normal(size=9)
    solution = solve(ConeProgram.least_squares(R, r))
    np.testing.assert_allclose(solution.x, np.linalg.lstsq(R, r)[0], rtol=1e-9)
    assert solution.multipliers == ()


def test_one_by_one_cones_are_sign_conditions() -> None:
    shift = ConeProgram.least_squares([[1.0]], [-3.0], [Semidefinite([[1.0]], [[[1.0]]])])
    assert solve(shift).x == pytest.approx([-1.0], abs=1e-6)
    norm = ConeProgram.least_squares([[1.0]], [-3.0], [SecondOrder([[-1.0]], [2.0])])
    solution = solve(norm)
    assert solution.x == pytest.approx([-2.0], abs=1e-6)
    assert solution.multipliers[0] == pytest.approx([1.0], abs=1e-6)


def test_results_cannot_be_written_into() -> None:
    solution = solve(linear(np.random.default_rng(0)))
    with pytest.raises(ValueError, match="read-only"):
        solution.x[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        solution.multipliers[0][0] = 1.0


@pytest.mark.parametrize("kind", [Equal, AtMost, SecondOrder, Semidefinite, Exponential])
def test_a_constraint_keeps_numbers_of_its_own(kind: type) -> None:
    shapes = {Semidefinite: ((2, 2), (3, 2, 2)), Exponential: ((4, 3, 2), (4, 3))}.get(kind, ((3, 2), (3,)))
    given = [np.ones(shape) for shape in shapes]
    constraint = kind(*given)
    for array, name in zip(given, kind.__dataclass_fields__, strict=True):
        array[...] = 7.0
        kept = getattr(constraint, name)
        assert np.all(kept == 1.0)
        with pytest.raises(ValueError, match="read-only"):
            kept[...] = 2.0
