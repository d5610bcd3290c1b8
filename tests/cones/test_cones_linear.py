"""Linear programs: scipy and the optimality conditions judge solves, exact arithmetic the certificates."""

from fractions import Fraction

import highspy
import numpy as np
import pytest
from scipy.optimize import linprog

from steelyard.cones import (
    AtMost,
    ConeProgram,
    InfeasibleError,
    LinearProgram,
    LinearSeries,
    minimise_linear,
    solve,
)
from steelyard.cones.program import UnboundedError
from steelyard.errors import InputError, NoSolutionError

INF = np.inf


def random_program(seed: int, rows: int = 12, variables: int = 6) -> LinearProgram:
    """Around a known inner point; some bounds infinite, some rows equations."""
    rng = np.random.default_rng(seed)
    A, x = rng.normal(size=(rows, variables)), rng.normal(size=variables)
    width = rng.uniform(0.1, 1.0, size=(2, rows))
    width[:, 0] = 0.0
    width[0, 1] = width[1, 2] = INF
    return LinearProgram(A, A @ x - width[0], A @ x + width[1], x - 2.0, x + 2.0)


def scipy_value(program: LinearProgram, c: np.ndarray) -> float:
    upper, lower = np.isfinite(program.row_upper), np.isfinite(program.row_lower)
    result = linprog(
        c,
        A_ub=np.vstack([program.matrix[upper], -program.matrix[lower]]),
        b_ub=np.concatenate([program.row_upper[upper], -program.row_lower[lower]]),
        bounds=np.column_stack([program.lower, program.upper]),
        method="highs-ipm",
    )
    return float(result.fun)


@pytest.mark.parametrize("seed", range(10))
def test_the_optimum_is_the_one_of_another_method(seed: int) -> None:
    program, c = random_program(seed), np.random.default_rng(100 + seed).normal(size=6)
    assert minimise_linear(program, c).value == pytest.approx(scipy_value(program, c), rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("seed", range(10))
def test_the_solution_meets_the_optimality_conditions(seed: int) -> None:
    program, c = random_program(seed), np.random.default_rng(100 + seed).normal(size=6)
    s = minimise_linear(program, c)
    Ax = program.matrix @ s.x
    np.testing.assert_allclose(program.matrix.T @ s.row_duals + s.reduced_costs, c, atol=1e-9)
    for value, low, high, dual in (
        (Ax, program.row_lower, program.row_upper, s.row_duals),
        (s.x, program.lower, program.upper, s.reduced_costs),
    ):
        assert (value >= low - 1e-8).all()
        assert (value <= high + 1e-8).all()
        np.testing.assert_allclose(value[dual > 1e-8], low[dual > 1e-8], atol=1e-7)
        np.testing.assert_allclose(value[dual < -1e-8], high[dual < -1e-8], atol=1e-7)


def test_a_series_gives_the_values_of_single_solves() -> None:
    program, rng = random_program(3), np.random.default_rng(0)
    series = LinearSeries(program)
    for c in rng.normal(size=(15, 6)):
        assert series.minimise(c).value == pytest.approx(
            minimise_linear(program, c).value, rel=1e-8, abs=1e-8
        )


def test_a_series_starts_where_it_ended() -> None:
    program, rng = random_program(5, rows=200, variables=20), np.random.default_rng(1)
    c0 = rng.normal(size=20)
    objectives = c0 + 0.2 * rng.normal(size=(10, 20))
    series = LinearSeries(program)
    series.minimise(c0)
    warm = [series.minimise(c).iterations for c in objectives]
    cold = [minimise_linear(program, c).iterations for c in objectives]
    assert sum(warm) < 0.6 * sum(cold)
    assert series.minimise(objectives[-1]).iterations == 0


def test_the_box_of_a_regression_takes_fewer_iterations_than_its_programs_one_by_one() -> None:
    """Correlated columns, a few unknowns with wide bounds among many nearly known ones."""
    rng = np.random.default_rng(0)
    rows, variables, wide = 400, 50, 8
    A = rng.normal(size=(rows, 10)) @ rng.normal(size=(10, variables)) + 0.3 * rng.normal(
        size=(rows, variables)
    )
    x = rng.uniform(-1.0, 1.0, variables)
    half = np.where(np.arange(variables) < wide, 2.0, 0.05)
    noise = 2.0 + 0.025 * np.abs(A @ x)
    measured = A @ x + 0.3 * noise * rng.uniform(-1.0, 1.0, rows)
    program = LinearProgram(A, measured - noise, measured + noise, x - half, x + half)
    objectives = [sign * c for sign in (1.0, -1.0) for c in np.eye(variables)[:wide]]
    cold = [minimise_linear(program, c) for c in objectives]
    series = LinearSeries(program)
    warm = [series.minimise(c) for c in objectives]
    assert sum(solution.iterations for solution in warm) < 0.9 * sum(solution.iterations for solution in cold)
    np.testing.assert_allclose([s.bound for s in warm], [s.value for s in cold], atol=1e-8)
    assert all(solution.bound <= c @ x for solution, c in zip(warm, objectives, strict=True))


def test_without_bounds_of_its_own_a_variable_reaches_an_end_but_guarantees_none() -> None:
    found = minimise_linear(LinearProgram([[3.0]], [1.0], [2.0], [-INF], [INF]), [1.0])
    assert found.value == pytest.approx(1 / 3)
    assert found.bound == -INF


def test_an_empty_polytope_raises_with_a_proof() -> None:
    program = LinearProgram([[1.0, 1.0], [1.0, -1.0]], [1.0, -INF], [INF, 3.0], [0.0, 0.0], [0.4, 0.4])
    with pytest.raises(InfeasibleError, match="proven in exact arithmetic") as caught:
        minimise_linear(program, [1.0, 2.0])
    assert isinstance(caught.value, NoSolutionError)
    y = [Fraction(v) for v in caught.value.evidence["ray"]]
    # Farkas: y'Ax is at least y'b for a feasible point, but nowhere in the box that large.
    pulled = [sum(yi * Fraction(a) for yi, a in zip(y, column, strict=True)) for column in program.matrix.T]
    most = sum(max(p * Fraction(v) for v in (0.0, 0.4)) for p in pulled)
    assert y[1] == 0
    assert y[0] * Fraction(1) > most
    assert 0.0 < caught.value.evidence["margin"] <= y[0] - most


def test_an_empty_row_that_cannot_hold_is_a_proof_too() -> None:
    with pytest.raises(InfeasibleError, match="proven") as caught:
        minimise_linear(LinearProgram([[0.0, 0.0]], [1.0], [1.0], [0, -1], [1, 1]), [1.0, 1.0])
    assert caught.value.evidence["margin"] == pytest.approx(1.0)


@pytest.mark.parametrize("A", [np.zeros((0, 2)), np.array([[1.0, -1.0]]), np.array([[-1.0, 1.0]])])
def test_an_endless_fall_raises_with_its_direction(A: np.ndarray) -> None:
    m = A.shape[0]
    program = LinearProgram(A, np.full(m, -1.0), np.full(m, 1.0), [0, 0], [INF, INF])
    with pytest.raises(UnboundedError) as caught:
        minimise_linear(program, [-1.0, -1.0])
    ray = caught.value.evidence["ray"]
    assert ray.sum() == pytest.approx(1.0)
    assert ray.min() >= -1e-12
    np.testing.assert_allclose(A @ ray, 0.0, atol=1e-12)


def test_a_series_survives_an_endless_objective() -> None:
    series = LinearSeries(LinearProgram([[1.0, 1.0]], [1.0], [INF], [0, 0], [INF, INF]))
    with pytest.raises(UnboundedError):
        series.minimise([-1.0, 0.0])
    assert series.minimise([1.0, 2.0]).value == pytest.approx(1.0)


def test_no_rows_and_one_variable_are_programs_too() -> None:
    s = minimise_linear(LinearProgram(np.zeros((0, 1)), [], [], [-3.0], [2.0]), [2.0])
    assert (s.value, s.bound) == (-6.0, pytest.approx(-6.0, rel=1e-14))
    assert s.row_duals.shape == (0,)


def test_a_matrix_the_solver_cannot_hold_is_refused_with_a_remedy() -> None:
    with pytest.raises(InputError, match="Scale rows"):
        minimise_linear(LinearProgram([[1e18]], [0.0], [1.0], [0.0], [1.0]), [1.0])


def test_solving_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    minimise_linear(random_program(0), np.ones(6))
    solve(ConeProgram.least_squares(np.eye(2), np.ones(2), [AtMost(np.eye(2), np.zeros(2))]))
    assert capfd.readouterr() == ("", "")


def test_a_solve_that_ends_undecided_is_repeated_from_scratch(monkeypatch: pytest.MonkeyPatch) -> None:
    series = LinearSeries(LinearProgram([[1.0, 1.0]], [1.0], [INF], [0, 0], [INF, INF]))
    run, ended = series._run, []

    def astray() -> object:
        run()
        ended.append(len(ended))
        return highspy.HighsModelStatus.kNotset if len(ended) == 1 else series._highs.getModelStatus()

    monkeypatch.setattr(series, "_run", astray)
    assert series.minimise([1.0, 2.0]).value == pytest.approx(1.0)
    assert len(ended) == 2
