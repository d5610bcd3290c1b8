"""From what the data says to a body that can exist: judged by rejection sampling, cvxpy and physics."""

from __future__ import annotations

import itertools

import cvxpy
import numpy as np
import pytest

from payloads.loaded_arm import body, motion_of, run
from steelyard.errors import UnknownNameError
from steelyard.inertia import Body, check_body, pseudo_inertia
from steelyard.payloads import (
    QUANTITIES,
    DecidedBy,
    PayloadPrior,
    Weighing,
    described,
    mounted_at,
    payload_of,
    posterior,
    quantities,
    weigh_with_model,
)
from steelyard.payloads.posterior import best_body, moved_inside, posterior_of
from steelyard.payloads.weighing import SCALES, eliminated
from steelyard.zoo import zoo_robot

PANDA = zoo_robot("panda")
HELD = mounted_at(PANDA)


def weighing(centre: np.ndarray, spread: float, seed: int = 0, shown: int = 10) -> Weighing:
    """Data that says `centre` within `spread` of the sizes of the ten numbers, in random directions."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((10, 10)))[0]
    s = np.where(np.arange(10) < shown, rng.uniform(0.5, 2.0, 10) / spread, 0.0)
    R = (s[:, None] * Q) / SCALES
    return Weighing(HELD, R, R @ centre, np.ones(7), 100, "test")


def ball(mass: float = 1.0, radius: float = 0.1) -> np.ndarray:
    return Body(mass, np.array([0.02, 0.0, 0.05]), 0.4 * mass * radius**2 * np.eye(3)).parameters


def test_draws_agree_with_rejection_sampling() -> None:
    truth = ball()
    said = weighing(truth, 0.08)
    rng = np.random.default_rng(0)
    noise = np.linalg.solve(said.factor, rng.standard_normal((10, 400_000))).T
    tried = truth + noise
    prior = PayloadPrior()
    A, b = prior.rows
    able = (np.linalg.eigvalsh(pseudo_inertia(tried / SCALES)).min(axis=1) > 0) & (tried @ A.T < b).all(
        axis=1
    )
    assert 0.01 < able.mean() < 0.9
    kept = tried[able]
    found = posterior_of(said, prior, truth, rng)
    assert found.mixing < 1.05
    error = np.abs(found.mean - kept.mean(axis=0)) / kept.std(axis=0)
    assert error.max() < 0.1
    for share in (0.025, 0.5, 0.975):
        gap = np.quantile(found.draws, share, axis=0) - np.quantile(kept, share, axis=0)
        assert np.abs(gap / kept.std(axis=0)).max() < 0.15


def test_a_step_that_rounding_ends_outside_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    inside, calls = posterior._inside, itertools.count(1)

    def now_and_then(*where: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if next(calls) % 50 == 0:
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        return inside(*where)

    monkeypatch.setattr(posterior, "_inside", now_and_then)
    found = posterior_of(weighing(ball(), 0.08), PayloadPrior(), ball(), np.random.default_rng(0))
    assert np.linalg.eigvalsh(pseudo_inertia(found.draws / SCALES)).min() > 0.0
    assert found.mixing < 1.1


def test_every_draw_and_the_mean_can_exist() -> None:
    impossible = ball()
    impossible[4] = -0.01
    found = payload_of(weighing(impossible, 0.02), np.random.default_rng(0))
    smallest = np.linalg.eigvalsh(pseudo_inertia(found.draws / SCALES)).min(axis=1)
    assert smallest.min() > 0.0
    for point in ("mean", "lmi", "cholesky"):
        assert check_body(payload_of(weighing(impossible, 0.02), np.random.default_rng(0), point=point).ten)
    assert any(finding.code == "impossible-payload" for finding in found.findings)


def test_the_best_body_is_that_of_an_independent_solver() -> None:
    impossible = ball()
    impossible[4] = -0.01
    said = weighing(impossible, 0.05)
    x = cvxpy.Variable(10)
    basis = pseudo_inertia(np.eye(10))
    J = sum(x[k] * basis[k] for k in range(10))
    R = said.factor * SCALES
    cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(R @ x - said.target)), [J >> 0]).solve(solver="CLARABEL")
    ours = best_body(said, PayloadPrior())
    left = [np.linalg.norm(said.factor @ y - said.target) for y in (ours, x.value * SCALES)]
    assert left[0] <= left[1] * (1.0 + 1e-5)
    assert np.abs(ours / SCALES - x.value).max() < 1e-3


def test_log_cholesky_coordinates_end_where_the_cone_program_does_when_the_best_is_inside() -> None:
    truth = ball()
    said = weighing(truth, 1e-3)
    points = [payload_of(said, np.random.default_rng(0), point=p).ten for p in ("lmi", "cholesky", "mean")]
    assert np.abs((points[0] - points[1]) / SCALES).max() < 1e-6
    assert np.abs((points[0] - points[2]) / SCALES).max() < 1e-3


def test_what_the_data_hides_is_decided_by_the_prior_and_bounded_by_it() -> None:
    log = run(PANDA, motion_of(PANDA), body(), noise=0.05)
    still = log.with_channels(v=np.zeros_like(log.v), a=np.zeros_like(log.a))
    found = payload_of(
        weigh_with_model(described(PANDA, ()), HELD, [still], changes=()),
        np.random.default_rng(0),
        prior=PayloadPrior(10.0, 0.3),
    )
    # Statics show mass and first moments, never inertia.
    assert found.weighing.shown == 4
    assert np.isinf(found.weighing.deviations[4:]).all()
    assert all(found.decided[name] is DecidedBy.PRIOR for name in ("moment_1", "moment_2", "moment_3"))
    largest = found.upper[QUANTITIES.index("moment_3")]
    assert largest < 10.0 * 0.3**2


def test_intervals_cover_and_what_the_data_decides_is_close() -> None:
    load, motion = body(3, 2.0), motion_of(PANDA, 5)
    covered = []
    for seed in range(15):
        log = run(PANDA, motion, load, noise=0.1, rng=np.random.default_rng(seed))
        found = payload_of(weigh_with_model(described(PANDA, ()), HELD, [log]), np.random.default_rng(seed))
        truth = quantities(load.parameters)
        covered.append((found.lower <= truth) & (truth <= found.upper))
        assert abs(found.body.mass / load.mass - 1.0) < 0.01
    assert np.mean(covered) > 0.88


def test_the_same_seed_gives_the_same_bits() -> None:
    said = weighing(ball(), 0.05)
    one, other = (payload_of(said, np.random.default_rng(4)) for _ in range(2))
    assert np.array_equal(one.ten, other.ten)
    assert np.array_equal(one.lower, other.lower)


def test_quantities_are_those_of_the_body() -> None:
    held = body(6)
    found = dict(zip(QUANTITIES, quantities(held.parameters), strict=True))
    assert found["mass"] == pytest.approx(held.mass)
    assert [found[f"com_{axis}"] for axis in "xyz"] == pytest.approx(held.com.tolist())
    assert found["I_xz"] == pytest.approx(held.inertia[0, 2])
    moments = np.linalg.eigvalsh(held.inertia)
    assert [found[f"moment_{k}"] for k in (1, 2, 3)] == pytest.approx(moments.tolist())


def test_what_is_eliminated_may_depend_on_itself() -> None:
    rng = np.random.default_rng(0)
    N = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 6))
    A, truth = rng.standard_normal((40, 10)), rng.standard_normal(10)
    R, r = eliminated(N, A, A @ truth + N @ rng.standard_normal(6))
    assert np.allclose(np.linalg.solve(R, r), truth)
    # The information is that of the part of A that N does not span.
    P = np.eye(40) - N @ np.linalg.pinv(N)
    assert np.allclose(R.T @ R, A.T @ P @ A)


def test_a_start_on_the_edge_is_moved_inside() -> None:
    point_mass = Body(1.0, np.array([0.0, 0.0, 0.1]), np.zeros((3, 3))).parameters
    inside = moved_inside(point_mass, PayloadPrior())
    assert np.linalg.eigvalsh(pseudo_inertia(inside / SCALES)).min() > 0.0
    assert np.abs((inside - point_mass) / SCALES).max() < 0.05


def test_a_point_that_does_not_exist_is_refused_by_name() -> None:
    with pytest.raises(UnknownNameError):
        payload_of(weighing(ball(), 0.05), np.random.default_rng(0), point="median")
