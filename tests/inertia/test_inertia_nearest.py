"""The nearest consistent body is the projection: KKT conditions, invariances, and cvxpy as judge."""

import cvxpy as cp
import numpy as np
import pytest

from steelyard.errors import InputError
from steelyard.inertia import (
    characteristic_length,
    check_body,
    from_log_cholesky,
    nearest_consistent,
    relative_eigenvalue,
    scaled_pseudo_inertia,
)
from steelyard.inertia.body import random_body

SHAPES = ("solid", "planar", "rod", "point", "massless")


def impossible(rng, n):
    """Bodies pushed off by their own size, and pure noise with negative masses."""
    pushed = np.array([random_body(rng, size=0.3).parameters for _ in range(n)])
    pushed += rng.normal(size=(n, 10)) * np.array([1.0, *[0.3] * 3, *[0.1] * 6])
    return np.concatenate([pushed, rng.normal(size=(n, 10))])


@pytest.mark.parametrize("margin", [0.0, 0.02])
def test_the_optimality_conditions_hold(margin):
    """A* - mu is positive, A* - A is positive, and the two are orthogonal: the KKT conditions."""
    phi = impossible(np.random.default_rng(0), 40)
    length = characteristic_length(phi)
    psi = nearest_consistent(phi, margin=margin)
    A, A_star = scaled_pseudo_inertia(phi, length), scaled_pseudo_inertia(psi, length)
    size = np.abs(A).max(axis=(1, 2))
    slack = A_star - margin * np.eye(4)
    multiplier = A_star - A
    assert (np.linalg.eigvalsh(slack)[:, 0] >= -1e-12 * size).all()
    assert (np.linalg.eigvalsh(multiplier)[:, 0] >= -1e-12 * size).all()
    assert (np.abs(np.einsum("bij,bij->b", slack, multiplier)) <= 1e-12 * size**2).all()


def test_no_consistent_body_is_nearer():
    """The variational inequality against bodies drawn elsewhere in the cone."""
    rng = np.random.default_rng(1)
    others = from_log_cholesky(rng.normal(size=(200, 10)))
    for phi in impossible(rng, 10):
        length = float(characteristic_length(phi))
        A, A_star, B = (scaled_pseudo_inertia(p, length) for p in (phi, nearest_consistent(phi), others))
        products = np.einsum("ij,bij->b", A - A_star, B - A_star)
        assert (products <= 1e-10 * np.abs(A).max() * np.abs(B).max()).all()


@pytest.mark.parametrize(("seed", "margin"), [(0, 0.0), (1, 0.0), (2, 0.05)])
def test_cvxpy_finds_the_same_body(seed, margin):
    rng = np.random.default_rng(seed)
    phi = impossible(rng, 1)[seed % 2]
    length = 0.3
    m, h, I6 = cp.Variable(), cp.Variable(3), cp.Variable((3, 3), symmetric=True)
    S = cp.trace(I6) / 2 * np.eye(3) - I6
    column = cp.reshape(h / length, (3, 1), order="C")
    A = cp.bmat([[S / length**2, column], [column.T, cp.reshape(m, (1, 1), order="C")]])
    target = scaled_pseudo_inertia(phi, length)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(A - target)), [A - margin * np.eye(4) >> 0])
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    T = I6.value
    judged = np.array([m.value, *h.value, T[0, 0], T[0, 1], T[1, 1], T[0, 2], T[1, 2], T[2, 2]])
    psi = nearest_consistent(phi, margin=margin, length=length)
    distance = np.linalg.norm(scaled_pseudo_inertia(psi, length) - target)
    assert distance**2 == pytest.approx(problem.value, rel=1e-8)
    np.testing.assert_allclose(psi, judged, atol=1e-5)


def test_the_result_is_consistent_and_projecting_again_changes_no_bit():
    phi = impossible(np.random.default_rng(2), 100)
    once = nearest_consistent(phi)
    assert all(check_body(row).consistent for row in once)
    np.testing.assert_array_equal(nearest_consistent(once), once)


def test_with_a_margin_and_a_length_projecting_again_changes_no_bit_and_the_result_is_strict():
    phi = impossible(np.random.default_rng(3), 50)
    once = nearest_consistent(phi, margin=0.1, length=0.2)
    assert (relative_eigenvalue(once) > 0).all()
    np.testing.assert_array_equal(nearest_consistent(once, margin=0.1, length=0.2), once)


@pytest.mark.parametrize("shape", SHAPES)
def test_bodies_that_exist_come_back_untouched(shape):
    rng = np.random.default_rng(4)
    phi = np.array([random_body(rng, shape=shape).parameters for _ in range(50)])
    np.testing.assert_array_equal(nearest_consistent(phi), phi)


def test_projection_brings_no_two_bodies_further_apart():
    phi = impossible(np.random.default_rng(5), 40)
    A = scaled_pseudo_inertia(phi, 0.3)
    P = scaled_pseudo_inertia(nearest_consistent(phi, length=0.3), 0.3)
    before = np.linalg.norm(A[:, None] - A[None], axis=(-2, -1))
    after = np.linalg.norm(P[:, None] - P[None], axis=(-2, -1))
    assert (after <= before + 1e-12).all()


def test_the_result_scales_with_the_units_of_mass_and_length():
    phi = impossible(np.random.default_rng(6), 20)
    units = 1e-3 * 50.0 ** np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
    np.testing.assert_allclose(nearest_consistent(phi * units), nearest_consistent(phi) * units, rtol=1e-9)


def test_unusable_options_are_refused():
    with pytest.raises(InputError, match="margin: must be a finite mass of at least 0"):
        nearest_consistent(np.zeros(10), margin=-1.0)
    with pytest.raises(InputError, match="length: must be positive"):
        nearest_consistent(np.zeros(10), length=0.0)
