"""What the room is built for: least squares for a seven-link arm whose links must be physically possible."""

import cvxpy as cp
import numpy as np
import pytest

from steelyard.cones import ConeProgram, Semidefinite, safe_conic_bound, solve
from steelyard.cones.program import LogDet, minus_log_dets

LINKS, PARAMETERS = 7, 70


def pseudo_inertia_basis() -> np.ndarray:
    """The 4 x 4 matrices of (m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz)."""
    F = np.zeros((10, 4, 4))
    F[0, 3, 3] = 1.0
    for i in range(3):
        F[1 + i, i, 3] = F[1 + i, 3, i] = 1.0
    for k, (i, j) in enumerate([(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)], start=4):
        inertia = np.zeros((3, 3))
        inertia[i, j] = inertia[j, i] = 1.0
        F[k, :3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    return F


def point_masses(rng: np.random.Generator) -> np.ndarray:
    p, m = 0.1 * rng.normal(size=(6, 3)), rng.uniform(0.1, 1.0, 6)
    second = (p.T * m) @ p
    inertia = np.trace(second) * np.eye(3) - second
    return np.array([m.sum(), *(m @ p), *inertia[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]])


@pytest.fixture(scope="module")
def regression() -> tuple[np.ndarray, np.ndarray]:
    """One link is hardly seen in the noise, so that plain least squares makes it physically impossible."""
    rng = np.random.default_rng(0)
    phi = np.concatenate([point_masses(rng) for _ in range(LINKS)])
    W = rng.normal(size=(2000, PARAMETERS)) * np.tile([5, 3, 3, 3, 1, 1, 1, 1, 1, 1], LINKS)
    W[:, 20:30] *= 1e-2
    return W, W @ phi + rng.normal(size=2000)


def links() -> list[Semidefinite]:
    blocks = []
    for link in range(LINKS):
        F = np.zeros((PARAMETERS, 4, 4))
        F[10 * link : 10 * link + 10] = pseudo_inertia_basis()
        blocks.append(Semidefinite(np.zeros((4, 4)), F))
    return blocks


def compressed(W: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    triangle = np.linalg.qr(np.column_stack([W, tau]), mode="r")
    return triangle[:-1, :-1], triangle[:-1, -1], float(triangle[-1, -1])


def cvxpy_matrices(x: cp.Variable) -> list[cp.Expression]:
    basis = pseudo_inertia_basis()
    return [sum(x[10 * link + k] * M for k, M in enumerate(basis)) for link in range(LINKS)]


def test_the_constrained_fit_is_the_one_cvxpy_finds_where_plain_least_squares_is_impossible(
    regression,
) -> None:
    R, r, _ = compressed(*regression)
    plain = np.linalg.solve(R, r)
    assert min(np.linalg.eigvalsh(block.slack(plain))[0] for block in links()) < -0.1

    program = ConeProgram.least_squares(R, r, links())
    solution = solve(program)
    x = cp.Variable(PARAMETERS)
    stated = [F >> 0 for F in cvxpy_matrices(x)]
    expected = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(R @ x - r)), stated).solve(solver=cp.CLARABEL)
    assert solution.value == pytest.approx(expected, rel=1e-6)
    assert min(np.linalg.eigvalsh(block.slack(solution.x))[0] for block in links()) > -1e-9
    bound = safe_conic_bound(program, solution.x, solution.multipliers, np.full(70, -20.0), np.full(70, 20.0))
    assert solution.value * (1.0 - 1e-6) < bound <= solution.value


def test_compressing_the_rows_beforehand_changes_nothing(regression) -> None:
    W, tau = regression
    R, r, rest = compressed(W, tau)
    tall, small = (solve(ConeProgram.least_squares(*rows, links())) for rows in ((W, tau), (R, r)))
    assert tall.value == pytest.approx(small.value + 0.5 * rest**2, rel=1e-9)
    assert tall.gap == pytest.approx(0.0, abs=1e-6)


def test_the_entropic_prior_is_the_one_cvxpy_finds(regression) -> None:
    """Add ω Σ (-log det P_i + tr P_i / s), the divergence from a common prior body, up to a constant."""
    R, r, _ = compressed(*regression)
    weight, size = 0.5, 0.2
    traces = np.concatenate([np.einsum("kii->k", pseudo_inertia_basis())] * LINKS)
    base = ConeProgram(R, r, weight / size * traces)
    solution = solve(minus_log_dets(base, [LogDet(weight, block) for block in links()]))

    x = cp.Variable(PARAMETERS)
    prior = weight * sum(cp.trace(P) / size - cp.log_det(P) for P in cvxpy_matrices(x))
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(R @ x - r) + prior))
    assert solution.value == pytest.approx(problem.solve(solver=cp.CLARABEL), rel=1e-6)
    for block, log_det in zip(links(), solution.x[PARAMETERS : PARAMETERS + LINKS], strict=True):
        sign, value = np.linalg.slogdet(block.slack(solution.x[:PARAMETERS]))
        assert (sign, value) == (1.0, pytest.approx(log_det, abs=1e-4))
