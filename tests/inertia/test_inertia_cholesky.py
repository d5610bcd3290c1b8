"""Log-Cholesky parameters: a bijection onto the strictly possible bodies, with exact derivatives."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from steelyard.errors import InputError
from steelyard.inertia import (
    check_body,
    from_log_cholesky,
    log_cholesky,
    log_cholesky_hessian,
    log_cholesky_jacobian,
    nearest_consistent,
    pseudo_inertia,
)
from steelyard.inertia.body import random_body
from steelyard.inertia.cholesky import LOG_CHOLESKY_NAMES

ETA = arrays(np.float64, 10, elements=st.floats(-2.0, 2.0))
deterministic = settings(derandomize=True, max_examples=60, deadline=None)


def paper_000_equation_16(eta):
    """The ten rows as printed, in the paper's order, put into Pinocchio's by name."""
    a, d1, d2, d3, s12, s13, s23, s14, s24, s34 = eta
    e1, e2, e3 = np.exp([d1, d2, d3])
    row = {
        "m": s14**2 + s24**2 + s34**2 + 1,
        "mx": s14 * e1,
        "my": s14 * s12 + s24 * e2,
        "mz": s14 * s13 + s24 * s23 + s34 * e3,
        "Ixx": s12**2 + s13**2 + s23**2 + e2**2 + e3**2,
        "Iyy": s13**2 + s23**2 + e1**2 + e3**2,
        "Izz": s12**2 + e1**2 + e2**2,
        "Ixy": -s12 * e1,
        "Iyz": -s12 * s13 - s23 * e2,
        "Ixz": -s13 * e1,
    }
    order = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
    return np.exp(2 * a) * np.array([row[name] for name in order])


def factor(eta):
    a, d1, d2, d3, s12, s13, s23, s14, s24, s34 = eta
    U = [[np.exp(d1), s12, s13, s14], [0, np.exp(d2), s23, s24], [0, 0, np.exp(d3), s34], [0, 0, 0, 1]]
    return np.exp(a) * np.array(U)


@deterministic
@given(ETA)
def test_the_map_is_equation_16_of_paper_000(eta):
    np.testing.assert_allclose(from_log_cholesky(eta), paper_000_equation_16(eta), rtol=1e-12, atol=1e-13)


def test_the_transposed_factor_comes_first_where_pinocchio_has_it_last():
    eta = np.random.default_rng(0).normal(size=10)
    M = factor(eta)
    np.testing.assert_allclose(pseudo_inertia(from_log_cholesky(eta)), M.T @ M, atol=1e-12)
    theirs = pin.LogCholeskyParameters(eta[[0, 1, 2, 3, 4, 6, 5, 7, 8, 9]]).toDynamicParameters()
    np.testing.assert_allclose(pseudo_inertia(theirs), M @ M.T, atol=1e-12)


@deterministic
@given(ETA)
def test_any_ten_numbers_give_a_strictly_possible_body_and_come_back(eta):
    phi = from_log_cholesky(eta)
    assert np.linalg.eigvalsh(pseudo_inertia(phi))[0] > 0
    if check_body(phi).strict:
        # The way back loses digits with the condition of the pseudo-inertia.
        loss = np.linalg.cond(pseudo_inertia(phi))
        np.testing.assert_allclose(log_cholesky(phi), eta, atol=1e-14 * loss + 1e-13)


def test_every_solid_body_has_log_cholesky_parameters():
    rng = np.random.default_rng(1)
    phi = np.array([random_body(rng, size=size).parameters for size in (1e-3, 0.1, 1.0) for _ in range(30)])
    np.testing.assert_allclose(from_log_cholesky(log_cholesky(phi)), phi, rtol=1e-11, atol=1e-18)


@deterministic
@given(ETA)
def test_jacobian_matches_finite_differences(eta):
    h = 1e-6
    steps = h * np.eye(10)
    numeric = (from_log_cholesky(eta + steps) - from_log_cholesky(eta - steps)).T / (2 * h)
    exact = log_cholesky_jacobian(eta)
    np.testing.assert_allclose(exact, numeric, atol=1e-8 * max(1.0, np.abs(exact).max()))


@deterministic
@given(ETA)
def test_hessian_matches_finite_differences_of_the_jacobian(eta):
    h = 1e-6
    steps = h * np.eye(10)
    difference = log_cholesky_jacobian(eta + steps) - log_cholesky_jacobian(eta - steps)
    numeric = np.moveaxis(difference, 0, -1) / (2 * h)
    exact = log_cholesky_hessian(eta)
    np.testing.assert_allclose(exact, numeric, atol=1e-8 * max(1.0, np.abs(exact).max()))


@deterministic
@given(ETA)
def test_hessian_is_symmetric(eta):
    H = log_cholesky_hessian(eta)
    np.testing.assert_allclose(H, np.swapaxes(H, -1, -2), rtol=1e-13, atol=1e-13)


@deterministic
@given(ETA)
def test_scaling_the_body_is_the_first_derivative_by_alpha(eta):
    """The numbers scale with exp(2 alpha), so differentiating by alpha is doubling, in every derivative."""
    J, H = log_cholesky_jacobian(eta), log_cholesky_hessian(eta)
    alpha = LOG_CHOLESKY_NAMES.index("alpha")
    np.testing.assert_allclose(J[:, alpha], 2 * from_log_cholesky(eta), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(H[:, alpha, :], 2 * J, rtol=1e-12, atol=1e-13)


def test_the_map_is_regular_everywhere_it_is_sampled():
    J = log_cholesky_jacobian(np.random.default_rng(2).normal(size=(200, 10)))
    assert (np.linalg.svd(J, compute_uv=False)[:, -1] > 0).all()


def test_stacks_are_treated_row_by_row():
    eta = np.random.default_rng(3).normal(size=(2, 3, 10))
    for function in (from_log_cholesky, log_cholesky_jacobian, log_cholesky_hessian):
        whole = function(eta)
        assert whole.shape[:2] == (2, 3)
        np.testing.assert_allclose(whole[1, 2], function(eta[1, 2]), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(log_cholesky(from_log_cholesky(eta)), eta, atol=1e-9)


@pytest.mark.parametrize("shape", ["planar", "rod", "point", "massless"])
def test_bodies_on_the_edge_are_refused_as_such(shape):
    body = random_body(np.random.default_rng(4), shape=shape)
    with pytest.raises(InputError, match="edge of the possible"):
        log_cholesky(body.parameters)


def test_impossible_bodies_are_refused_with_the_reason_and_their_place():
    good = from_log_cholesky(np.zeros(10))
    bad = good.copy()
    bad[4] = 9.0
    with pytest.raises(InputError, match=r"body \[1\] is not\. .*triangle inequality.*nearest_consistent"):
        log_cholesky([good, bad])
    assert np.isfinite(log_cholesky(nearest_consistent(bad, margin=1e-3))).all()
