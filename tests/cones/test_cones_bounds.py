"""Safe bounds against optima that are known exactly, in rational arithmetic.

Programs are built backwards: choose an integer point, integer multipliers and integer slacks that meet the
optimality conditions, then derive the data from them. Weak duality makes the value at that point the optimum.
"""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from steelyard.cones import (
    AtMost,
    ConeProgram,
    Constraint,
    LinearProgram,
    Semidefinite,
    minimise_linear,
    safe_conic_bound,
    solve,
)
from steelyard.cones.dual_bounds import (
    least_eigenvalue_below,
    least_over_box,
    repaired,
    rounded_product,
    safe_linear_bound,
    total_below,
)
from steelyard.cones.program import Equal, Exponential, SecondOrder


def exact(array: np.ndarray) -> np.ndarray:
    return np.vectorize(Fraction, otypes=[object])(np.asarray(array, dtype=float))


def is_exactly_semidefinite(matrix: np.ndarray) -> bool:
    """Gaussian elimination in rationals: no negative pivot, and a zero pivot only in a zero column."""
    M = np.array(matrix) if matrix.dtype == object else exact(matrix)
    for k in range(len(M)):
        if M[k, k] < 0 or (M[k, k] == 0 and any(v != 0 for v in M[k + 1 :, k])):
            return False
        if M[k, k] > 0:
            column = M[k + 1 :, k] / M[k, k]
            M[k + 1 :, k + 1 :] -= np.outer(column, M[k, k + 1 :])
    return True


def exact_linear_dual(program: LinearProgram, c: np.ndarray, y: np.ndarray) -> Fraction:
    d = exact(c) - exact(program.matrix).T @ exact(y) if y.size else exact(c)
    value = Fraction(0)
    for yi, low, high in zip(y, program.row_lower, program.row_upper, strict=True):
        side = low if yi > 0 else high
        assert yi == 0 or np.isfinite(side)
        value += Fraction(yi) * Fraction(side) if yi else 0
    for dj, low, high in zip(d, program.lower, program.upper, strict=True):
        value += min(dj * Fraction(low), dj * Fraction(high))
    return value


def linear_with_known_optimum(seed: int) -> tuple[LinearProgram, np.ndarray, Fraction]:
    rng = np.random.default_rng(seed)
    m, n = 15, 8
    A, x = rng.integers(-5, 6, (m, n)).astype(float), rng.integers(-3, 4, n).astype(float)
    y, d = rng.integers(-3, 4, m) * rng.integers(0, 2, m), rng.integers(-3, 4, n) * rng.integers(0, 2, n)
    loose = rng.integers(1, 9, (4, max(m, n))).astype(float)
    Ax = A @ x
    low, high = Ax - loose[0, :m], Ax + loose[1, :m]
    low[y > 0], high[y < 0] = Ax[y > 0], Ax[y < 0]
    left, right = x - loose[2, :n], x + loose[3, :n]
    left[d > 0], right[d < 0] = x[d > 0], x[d < 0]
    c = A.T @ y + d
    return LinearProgram(A, low, high, left, right), c, sum(exact(c) * exact(x))


@pytest.mark.parametrize("seed", range(60))
def test_a_linear_bound_is_below_the_exact_optimum_and_close_to_it(seed: int) -> None:
    program, c, optimum = linear_with_known_optimum(seed)
    solution = minimise_linear(program, c)
    assert Fraction(solution.bound) <= optimum
    assert float(optimum - Fraction(solution.bound)) <= 1e-9 * (1.0 + abs(float(optimum)))


@pytest.mark.parametrize("size", [1e-12, 1e-6, 1e-2, 1.0, 1e6])
@pytest.mark.parametrize("seed", range(10))
def test_a_linear_bound_from_wrong_duals_is_weak_but_never_wrong(seed: int, size: float) -> None:
    program, c, optimum = linear_with_known_optimum(seed)
    y = minimise_linear(program, c).row_duals
    rng = np.random.default_rng(1000 + seed)
    for _ in range(5):
        wrong = y + size * rng.normal(size=y.size)
        bound = safe_linear_bound(program, c, wrong)
        dual = exact_linear_dual(program, c, wrong)
        assert Fraction(bound) <= dual <= optimum
        assert float(dual - Fraction(bound)) <= 1e-12 * (1.0 + size) * 1e3


def test_rounding_is_paid_even_where_plain_arithmetic_would_overshoot() -> None:
    """Sums that cancel: the naive float evaluation lies above the exact dual value in some of these cases."""
    rng = np.random.default_rng(0)
    naive_overshoots = 0
    for _ in range(200):
        A = rng.normal(size=(40, 3)) * 10.0 ** rng.integers(-8, 9, (40, 3))
        y = rng.normal(size=40)
        program = LinearProgram(A, np.full(40, -1e3), np.full(40, 1e3), np.full(3, -1.0), np.full(3, 1.0))
        c = A.T @ y
        dual = exact_linear_dual(program, c, y)
        d = c - A.T @ y
        naive = np.sum(-1e3 * np.abs(y)) - np.abs(d).sum()
        naive_overshoots += Fraction(float(naive)) > dual
        assert Fraction(safe_linear_bound(program, c, y)) <= dual
    assert naive_overshoots > 20


def test_each_product_is_rounded_down() -> None:
    """With one variable fixed at zero nothing but the products is left, and they are not exact."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        b, y = rng.normal(size=(2, 30))
        rows = np.zeros((30, 1))
        linear = safe_linear_bound(LinearProgram(rows, b, b, [0.0], [0.0]), [0.0], y)
        assert Fraction(linear) <= sum(exact(y) * exact(b))
        equations = ConeProgram.minimise_linear([0.0], [Equal(rows, b)])
        assert Fraction(safe_conic_bound(equations, [0.0], [y], [0.0], [0.0])) <= -sum(exact(y) * exact(b))
        squares = ConeProgram.least_squares(b[:, None], np.zeros(30))
        assert Fraction(safe_conic_bound(squares, [1.0], [], [0.0], [0.0])) <= -sum(exact(b) ** 2) / 2


def test_the_least_product_over_a_box_is_not_missed() -> None:
    rng = np.random.default_rng(0)
    centre, radius = rng.normal(size=500), rng.choice([0.0, 1e-17, 0.3], 500)
    ends = np.sort(rng.normal(size=(2, 500)), axis=0)
    computed = least_over_box(centre, radius, ends[0], ends[1])
    for value, m, r, low, high in zip(computed, centre, radius, *ends, strict=True):
        corners = [(Fraction(m) + s * Fraction(r)) * Fraction(x) for s in (-1, 1) for x in (low, high)]
        assert Fraction(value) <= min(corners)
        assert value == pytest.approx(float(min(corners)), rel=1e-13, abs=1e-15)
    unbounded = least_over_box(np.array([0.0, 1.0, 1.0, -1.0]), np.zeros(4), np.full(4, -np.inf), np.ones(4))
    np.testing.assert_array_equal(unbounded[:3], [0.0, -np.inf, -np.inf])
    assert unbounded[3] == pytest.approx(-1.0)


def test_a_dual_that_leans_on_a_missing_row_bound_is_ignored() -> None:
    program = LinearProgram([[1.0]], [-np.inf], [5.0], [-2.0], [2.0])
    assert safe_linear_bound(program, [1.0], [1.0]) == pytest.approx(-2.0)
    free = LinearProgram([[1.0]], [1.0], [5.0], [-np.inf], [np.inf])
    assert safe_linear_bound(free, [1.0], [0.5]) == -np.inf
    assert safe_linear_bound(free, [0.0], [0.0]) <= 0.0


def conic_with_known_optimum(seed: int, quadratic: bool) -> tuple[ConeProgram, np.ndarray, Fraction]:
    rng = np.random.default_rng(seed)
    n = 5
    x = rng.integers(-2, 3, n).astype(float)

    def integers(*shape: int) -> np.ndarray:
        return rng.integers(-3, 4, shape).astype(float)

    gradient = np.zeros(n)
    constraints: list[Constraint] = []
    # Orthogonal integer vectors give a slack and a multiplier of rank one with product zero.
    for d, a, b in ((4, [1, 2, -1, 0], [2, -1, 0, 3]), (3, [1, 1, 1], [1, -2, 1]), (1, [0], [2])):
        F = integers(n, d, d)
        F = F + np.swapaxes(F, 1, 2)
        S, Z = np.outer(a, a).astype(float), np.outer(b, b).astype(float)
        constraints.append(Semidefinite(S - np.tensordot(x, F, 1), F))
        gradient -= np.einsum("kij,ij->k", F, Z)
    for kind, s, z in (
        (AtMost, [0, 2, 0], [3, 0, 1]),
        (Equal, [0, 0], [2, -1]),
        (SecondOrder, [5, 3, 4], [5, -3, -4]),
        (Exponential, [0, 1, 1], [-1, -1, 1]),
    ):
        A = integers(len(s), n)
        b = np.array(s) + A @ x
        constraints.append(kind(A[None], b[None]) if kind is Exponential else kind(A, b))
        gradient += A.T @ np.array(z)
    R = integers(3, n) if quadratic else np.zeros((0, n))
    r = integers(R.shape[0])
    c = -gradient - R.T @ (R @ x - r)
    v = exact(R @ x - r)
    optimum = sum(v * v, Fraction(0)) / 2 + sum(exact(c) * exact(x))
    return ConeProgram(R, r, c, tuple(constraints)), x, optimum


@pytest.mark.parametrize("quadratic", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_a_conic_bound_is_below_the_exact_optimum_and_close_to_it(seed: int, quadratic: bool) -> None:
    program, x, optimum = conic_with_known_optimum(seed, quadratic)
    solution = solve(program, tolerance=1e-9, accept_reduced=True)
    assert solution.value == pytest.approx(float(optimum), rel=1e-6, abs=1e-5)
    bound = safe_conic_bound(program, solution.x, solution.multipliers, x - 3.0, x + 3.0)
    assert Fraction(bound) <= optimum
    assert float(optimum - Fraction(bound)) <= 1e-6 * (1.0 + abs(float(optimum)))


@pytest.mark.parametrize("size", [1e-12, 1e-6, 1e-2, 1.0])
@pytest.mark.parametrize("seed", range(12))
def test_a_conic_bound_from_wrong_multipliers_is_weak_but_never_wrong(seed: int, size: float) -> None:
    program, x, optimum = conic_with_known_optimum(seed, quadratic=True)
    solution = solve(program, accept_reduced=True)
    rng = np.random.default_rng(seed)
    for _ in range(5):
        wrong = [z + size * rng.normal(size=z.shape) for z in solution.multipliers]
        point = solution.x + size * rng.normal(size=x.size)
        assert Fraction(safe_conic_bound(program, point, wrong, x - 3.0, x + 3.0)) <= optimum
        # The box may touch the optimum: then its own corner is the worst case.
        assert Fraction(safe_conic_bound(program, point, wrong, x, x + 1.0)) <= optimum
        assert Fraction(safe_conic_bound(program, point, wrong, x, x)) <= optimum


def test_a_conic_bound_without_a_box_is_minus_infinity() -> None:
    program, x, _ = conic_with_known_optimum(0, quadratic=False)
    solution = solve(program, accept_reduced=True)
    nowhere = np.full(x.size, np.inf)
    assert safe_conic_bound(program, solution.x, solution.multipliers, -nowhere, nowhere) == -np.inf


@pytest.mark.parametrize("order", [1, 2, 5])
@pytest.mark.parametrize("kind", ["random", "singular", "zero", "tiny", "huge"])
def test_no_eigenvalue_lies_below_the_bound(kind: str, order: int) -> None:
    rng = np.random.default_rng(order)
    for _ in range(10):
        M = rng.normal(size=(order, order))
        M = M + M.T
        if kind == "singular":
            v = rng.normal(size=order)
            M = np.outer(v, v)
        M = M * {"zero": 0.0, "tiny": 1e-150, "huge": 1e12}.get(kind, 1.0)
        least = least_eigenvalue_below(M)
        shifted = exact(M)
        shifted[np.diag_indices(order)] -= Fraction(least)
        assert is_exactly_semidefinite(shifted)
        assert least == pytest.approx(np.linalg.eigvalsh(M)[0], abs=1e-13 * np.abs(M).max() + 1e-300)


def test_the_eigenvalue_bound_does_not_trust_the_eigenvalues(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    good = np.linalg.eigh

    def sloppy(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, vectors = good(matrix)
        return values + 1e-3 * rng.normal(size=values.shape), vectors + 1e-3 * rng.normal(size=vectors.shape)

    monkeypatch.setattr(np.linalg, "eigh", sloppy)
    for _ in range(20):
        M = rng.normal(size=(4, 4))
        M = M + M.T
        least = least_eigenvalue_below(M)
        shifted = exact(M)
        shifted[np.diag_indices(4)] -= Fraction(least)
        assert is_exactly_semidefinite(shifted)


def test_repaired_multipliers_are_exactly_in_the_dual_cone_and_close() -> None:
    rng = np.random.default_rng(0)
    block = Semidefinite(np.eye(4), np.zeros((1, 4, 4)))
    ball = SecondOrder(np.zeros((4, 1)), np.ones(4))
    triples = Exponential(np.zeros((3, 3, 1)), np.ones((3, 3)))
    mpmath.mp.dps = 60
    for _ in range(50):
        v = rng.normal(size=(4, 2))
        Z = v @ v.T + 1e-9 * rng.normal(size=(4, 4))
        W = repaired(block, Z)
        assert is_exactly_semidefinite(W)
        assert np.abs(W - Z).max() < 1e-7

        z = rng.normal(size=4)
        z[0] = np.linalg.norm(z[1:]) * (1.0 - 1e-12)
        t, *u = exact(repaired(ball, z))
        assert t * t >= sum(value * value for value in u)
        assert float(t) == pytest.approx(z[0], rel=1e-10)

        p, q = -rng.uniform(0.1, 3.0, 3), rng.normal(size=3)
        near = np.column_stack([p, q, -p * np.exp(q / p - 1.0) * (1.0 - 1e-12)])
        for (p1, q1, r1), given in zip(repaired(triples, near), near, strict=True):
            assert -mpmath.mpf(p1) * mpmath.exp(mpmath.mpf(q1) / mpmath.mpf(p1) - 1) <= mpmath.mpf(r1)
            np.testing.assert_allclose([p1, q1, r1], given, rtol=1e-10)
    np.testing.assert_array_equal(repaired(triples, np.tile([1e-9, -1e-9, 0.5], (3, 1)))[0], [0.0, 0.0, 0.5])
    np.testing.assert_array_equal(
        repaired(triples, np.tile([-1e-300, -9.0, 0.5], (3, 1)))[0], [0.0, 0.0, 0.5]
    )
    np.testing.assert_array_equal(repaired(AtMost(np.eye(2), [0, 0]), np.array([-1.0, 2.0])), [0.0, 2.0])


def test_the_exact_product_lies_within_its_radius() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        A = rng.normal(size=(4, 30)) * 10.0 ** rng.integers(-9, 9, (4, 30))
        b = rng.normal(size=30)
        A[:, -1] = -(A[:, :-1] @ b[:-1]) / b[-1]
        A[0] = 0.0
        centre, radius = rounded_product(A, b)
        truth = exact(A) @ exact(b)
        assert all(abs(t - Fraction(m)) <= Fraction(r) for t, m, r in zip(truth, centre, radius, strict=True))
        assert radius[0] == 0.0
        assert (radius <= 1e-13 * (np.abs(A) @ np.abs(b))).all()


def test_a_total_is_below_the_exact_sum() -> None:
    values = np.random.default_rng(0).normal(size=1000) * 1e8
    total = Fraction(total_below(values[:400], values[400:]))
    truth = sum(exact(values))
    assert truth - Fraction(1, 10**5) < total < truth
    assert total_below(np.array([1.0, -np.inf])) == -np.inf
    assert total_below(np.array([1.0, np.nan])) == -np.inf
    assert total_below(np.array([1e308, 1e308])) == -np.inf
