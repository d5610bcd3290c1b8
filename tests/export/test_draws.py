"""Drawn models can exist, and their base parameters are spread as the posterior says."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from export.material import EVERY, LINEAR, full_layout, nominal_estimate, random_estimate
from steelyard.errors import InputError
from steelyard.export import draw_models
from steelyard.formats import robot_with_parameters
from steelyard.identifiable import BaseParameters, structural_identifiability
from steelyard.inertia import characteristic_length, check_body, pseudo_inertia
from steelyard.layout import Layout
from steelyard.robot import Robot
from steelyard.zoo import zoo_robot


def _posed(name: str, drive: tuple[str, ...] = LINEAR) -> tuple[Robot, Layout, np.ndarray, BaseParameters]:
    robot = zoo_robot(name)
    layout = full_layout(robot, drive)
    phi = nominal_estimate(np.random.default_rng(0), robot, layout)
    return robot, layout, phi, structural_identifiability(robot, layout).base


def _covariance(rng: np.random.Generator, beta: np.ndarray, relative: float) -> np.ndarray:
    """A correlated covariance with deviations relative to the values."""
    A = rng.standard_normal((beta.size, beta.size)) + 2.0 * np.eye(beta.size)
    C = A @ A.T
    deviations = relative * (np.abs(beta) + 1e-3) / np.sqrt(np.diag(C))
    return C * np.outer(deviations, deviations)


@pytest.mark.parametrize("name", ["two_link", "panda", "ur10e", "so101", "scara"])
@pytest.mark.parametrize("relative", [0.01, 0.3])
def test_every_drawn_robot_can_exist(name: str, relative: float) -> None:
    robot, layout, phi, base = _posed(name)
    rng = np.random.default_rng(1)
    C = _covariance(rng, base.matrix @ phi, relative)
    draws = draw_models(robot, layout, phi, C, base, 5, rng)
    for model in draws.parameters:
        robot_with_parameters(robot, layout, model)
        assert all(check_body(model[layout.of_link(link)]).consistent for link in layout.links)


def test_every_drive_of_a_drawn_robot_can_exist() -> None:
    # No base parameters exist for friction that depends on the load: it is not linear.
    robot, layout, phi, base = _posed("two_link", tuple(term for term in EVERY if term != "load"))
    rng = np.random.default_rng(2)
    C = _covariance(rng, base.matrix @ phi, 2.0)
    draws = draw_models(robot, layout, phi, C, base, 20, rng)
    drives = base.columns >= 10 * len(robot.links)
    assert (draws.values[:, drives] < 0).any(), "some draws must need correcting"
    for model in draws.parameters:
        robot_with_parameters(robot, layout, model)


def test_base_parameters_are_met_where_they_are_possible() -> None:
    robot, layout, phi, base = _posed("panda")
    rng = np.random.default_rng(3)
    C = _covariance(rng, base.matrix @ phi, 1e-3)
    draws = draw_models(robot, layout, phi, C, base, 10, rng)
    met = draws.shift < 1e-9
    assert met.mean() > 0.5
    deviations = np.sqrt(np.diag(C))
    off = (draws.parameters @ base.matrix.T - draws.values) / deviations
    assert np.abs(off[met]).max() < 1e-6
    assert np.allclose(np.sqrt((off**2).mean(axis=1)), draws.shift, atol=1e-9)


def test_drawn_base_parameters_have_the_given_covariance() -> None:
    robot, layout, phi, base = _posed("two_link")
    rng = np.random.default_rng(4)
    C = _covariance(rng, base.matrix @ phi, 1e-4)
    draws = draw_models(robot, layout, phi, C, base, 4000, rng)
    found = draws.parameters @ base.matrix.T
    s = np.sqrt(np.diag(C))
    assert draws.shift.max() < 1e-6
    assert np.abs((found.mean(axis=0) - base.matrix @ phi) / s).max() < 5 / np.sqrt(4000)
    assert np.abs(np.cov(found.T) / np.outer(s, s) - C / np.outer(s, s)).max() < 0.12


def test_an_impossible_draw_becomes_the_likeliest_possible_model() -> None:
    robot, layout, phi, base = _posed("two_link", ())
    rng = np.random.default_rng(5)
    C = _covariance(rng, base.matrix @ phi, 1.0)
    draws = draw_models(robot, layout, phi, C, base, 12, rng)
    W = np.linalg.inv(np.linalg.cholesky(C))
    moved = np.flatnonzero(draws.shift > 1e-3)
    assert moved.size >= 3
    tens = phi.reshape(-1, 10)
    scale = np.ones((len(tens), 4))
    scale[:, :3] /= characteristic_length(tens)[:, None]
    # Each link's pseudo-inertia in units of its mass and size, for each of its ten numbers.
    unit = np.array([pseudo_inertia(one) for one in np.eye(10)])
    basis = [unit * np.outer(s, s) / ten[0] for s, ten in zip(scale, tens, strict=True)]
    for k in moved[:3]:
        x = cp.Variable((len(tens), 10))
        J = [sum(x[i, j] * basis[i][j] for j in range(10)) for i in range(len(tens))]
        change = [sum((x[i, j] - tens[i, j]) * basis[i][j] for j in range(10)) for i in range(len(tens))]
        unlikely = cp.sum_squares(W @ (base.matrix @ cp.reshape(x, layout.size, order="C") - draws.values[k]))
        far = 1e-4 * sum(cp.sum_squares(one) for one in change)
        best = cp.Problem(cp.Minimize(unlikely + far), [one >> 0 for one in J])
        best.solve(solver=cp.CLARABEL)
        x.value = draws.parameters[k].reshape(-1, 10)
        assert float((unlikely + far).value) == pytest.approx(best.value, rel=1e-3)


def test_what_the_data_is_blind_to_stays_at_the_estimate() -> None:
    robot, layout, phi, base = _posed("panda")
    rng = np.random.default_rng(6)
    C = _covariance(rng, base.matrix @ phi, 1e-4)
    C[3, :] = C[:, 3] = 0.0
    C[3, 3] = np.inf
    draws = draw_models(robot, layout, phi, C, base, 3, rng)
    assert (draws.values[:, 3] == (base.matrix @ phi)[3]).all()
    blind = draw_models(robot, layout, phi, np.diag(np.full(base.count, np.inf)), base, 2, rng)
    assert np.allclose(blind.parameters, phi, rtol=1e-12)


def test_what_is_known_does_not_move() -> None:
    robot = zoo_robot("panda")
    layout = full_layout(robot)
    phi = random_estimate(np.random.default_rng(0), robot, layout)
    known = {name: float(phi[layout.index(name)]) for name in ("panda_link2.m", "panda_link4.Ixy")}
    fixed = layout.fixing(known)
    base = structural_identifiability(robot, layout).base
    C = np.diag((0.3 * np.abs(base.matrix @ phi) + 1e-3) ** 2)
    draws = draw_models(robot, fixed, phi, C, base, 4, np.random.default_rng(0))
    for name, value in known.items():
        assert np.allclose(draws.parameters[:, layout.index(name)], value, rtol=1e-12)


def test_the_same_seed_gives_the_same_models() -> None:
    robot, layout, phi, base = _posed("ur10e")
    C = np.diag((0.05 * np.abs(base.matrix @ phi)) ** 2)
    one, other = (draw_models(robot, layout, phi, C, base, 3, np.random.default_rng(9)) for _ in range(2))
    assert np.array_equal(one.parameters, other.parameters)


def test_no_variance_gives_the_estimate() -> None:
    robot, layout, phi, base = _posed("panda")
    draws = draw_models(
        robot, layout, phi, np.zeros((base.count, base.count)), base, 1, np.random.default_rng(0)
    )
    assert np.allclose(draws.parameters[0], phi, rtol=1e-12)


def test_what_is_no_covariance_is_refused() -> None:
    robot, layout, phi, base = _posed("two_link")
    rng = np.random.default_rng(0)
    bad = -np.eye(base.count)
    with pytest.raises(InputError, match="negative"):
        draw_models(robot, layout, phi, bad, base, 1, rng)
    bad = np.eye(base.count)
    bad[0, 1] = bad[1, 0] = 2.0
    with pytest.raises(InputError, match="no covariance"):
        draw_models(robot, layout, phi, bad, base, 1, rng)
    bad[1, 0] = 0.0
    with pytest.raises(InputError, match="not symmetric"):
        draw_models(robot, layout, phi, bad, base, 1, rng)
    with pytest.raises(InputError, match="at least 1"):
        draw_models(robot, layout, phi, np.eye(base.count), base, 0, rng)


def test_an_impossible_estimate_is_refused_by_name() -> None:
    robot, layout, phi, base = _posed("two_link")
    phi[0] = -1.0
    with pytest.raises(InputError, match=f"link '{robot.link_names[0]}'"):
        draw_models(robot, layout, phi, np.eye(base.count), base, 1, np.random.default_rng(0))
