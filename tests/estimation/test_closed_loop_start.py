"""Least squares on a minimal model, and the possible links nearest to it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from steelyard.consistency import check_parameters
from steelyard.dynamics import inverse_dynamics, torque_regressor
from steelyard.errors import RecordingError
from steelyard.estimation.closed_loop.constraints import feasible_links
from steelyard.estimation.closed_loop.start import fit_minimal, possible_start
from steelyard.identifiable import MinimalModel, minimal_model
from steelyard.inertia import PARAMETER_NAMES
from steelyard.layout import layout_of
from steelyard.link_frames import urdf_frames
from steelyard.motion import random_fourier
from steelyard.recording import Recording
from steelyard.reduction import LinkRule, Reduction, fixed
from steelyard.zoo import zoo_robot

ROBOT = zoo_robot("two_link")
LAYOUT = layout_of(ROBOT, ["viscous", "rotor"])
FIRST, LAST = LAYOUT.links


@cache
def model() -> MinimalModel:
    """The last link is known, so that part of every torque is."""
    known = fixed(dict(zip(PARAMETER_NAMES, LAYOUT.nominal[LAYOUT.of_link(LAST)].tolist(), strict=True)))
    rules = {FIRST: LinkRule(), LAST: known}
    return minimal_model(ROBOT, LAYOUT, Reduction(LAYOUT, urdf_frames(ROBOT), rules))


def log(noise: float) -> Recording:
    rng = np.random.default_rng(2)
    at = random_fourier(ROBOT, rng, period=3.0).sample(np.arange(0.0, 3.0, 0.01))
    tau = inverse_dynamics(ROBOT, LAYOUT, LAYOUT.complete_nominal(), at.q, at.v, at.a)
    tau = tau + noise * rng.normal(size=tau.shape)
    return Recording(ROBOT.joint_names, np.arange(len(at.q)) * 0.01, q=at.q, v=at.v, a=at.a, tau=tau)


def test_what_is_left_is_orthogonal_to_every_column() -> None:
    made, m = log(0.5), model()
    assert m.offset.any()
    fit = fit_minimal(m, made)
    q, v, a, tau = (made.channels[name] for name in ("q", "v", "a", "tau"))
    Y = torque_regressor(ROBOT, LAYOUT, q, v, a).reshape(-1, LAYOUT.size)
    W, z = Y @ m.basis, tau.ravel() - Y @ m.offset
    left = z - W @ fit.values
    np.testing.assert_allclose(W.T @ left, 0.0, atol=1e-9 * np.linalg.norm(W) * np.linalg.norm(z))
    np.testing.assert_allclose(fit.residual, np.sqrt((left.reshape(-1, 2) ** 2).mean(axis=0)), rtol=1e-9)
    assert fit.condition == pytest.approx(np.linalg.cond(W), rel=1e-6)
    assert fit.scaled_condition == pytest.approx(np.linalg.cond(W / np.linalg.norm(W, axis=0)), rel=1e-6)
    # The triangle is that of the equations.
    A = np.column_stack([W, z])
    np.testing.assert_allclose(
        fit.factor.T @ fit.factor, A.T @ A, rtol=1e-9, atol=1e-9 * np.abs(A.T @ A).max()
    )
    assert fit.samples == made.n


def test_without_noise_the_possible_start_is_least_squares_itself() -> None:
    m = model()
    fit = fit_minimal(m, log(0.0))
    np.testing.assert_allclose(fit.values, m.of_standard(LAYOUT.complete_nominal()), atol=1e-8)
    found = possible_start(feasible_links(m, rotor_floor=0.0), fit.factor)
    W = fit.factor[: m.size, : m.size]
    assert np.linalg.norm(W @ (found.beta - fit.values)) < 1e-6 * np.linalg.norm(W @ fit.values)


def test_the_start_is_possible_where_least_squares_is_not() -> None:
    m, least = model(), 0.05
    fit = fit_minimal(m, log(2.0))
    rotors = [LAYOUT.index(f"{joint}.rotor") for joint in LAYOUT.joints]
    assert min(m.standard(fit.values)[rotors]) < 0.5 * least
    found = possible_start(feasible_links(m, rotor_floor=least), fit.factor)
    assert found.parameters is not None
    assert check_parameters(LAYOUT, found.parameters).consistent
    assert min(found.parameters[rotors]) >= least * (1.0 - 1e-6)
    np.testing.assert_allclose(m.of_standard(found.parameters), found.beta, rtol=1e-6, atol=1e-9)


def test_a_log_without_accelerations_is_refused() -> None:
    bare = log(0.0).with_channels(a=None)
    with pytest.raises(RecordingError, match="has no a"):
        fit_minimal(model(), bare)
