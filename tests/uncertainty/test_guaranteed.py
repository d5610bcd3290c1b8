"""The interval hull against other people's solvers, and what a result says of itself."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np
import pytest
import scipy.optimize

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.inertia.body import random_body
from steelyard.uncertainty.guaranteed import CAN_EXIST, guaranteed_bounds
from steelyard.uncertainty.payload_polytope import BoundedRows, PayloadBox, Place

from .payload_logs import EXTENT, HEAVIEST, run_of

SIZES = np.array([1.0, *3 * [0.1], *6 * [0.01]])


def random_rows(seed: int, m: int = 60, p: int = 6, noise: float = 0.02) -> tuple[BoundedRows, Array]:
    """Equations of a body that can exist, some columns of the robot empty or exact."""
    rng = np.random.default_rng(seed)
    ten = random_body(rng, mass=(0.5, 3.0), size=0.1).parameters
    A = rng.normal(size=(m, 10)) / SIZES
    A[:, 6] = A[:, 4] + 1e-3 * A[:, 6]
    B = rng.normal(size=(m, p))
    B[:, 1] = 0.0
    d = np.full(p, 0.01)
    d[2] = 0.0
    b = noise * rng.uniform(0.1, 1.0, m)
    y = A @ ten + B @ rng.uniform(-d, d) + rng.uniform(-b, b)
    places = tuple(Place(f"joint {k % 7 + 1}", 0.1 * (k // 7), 0.1 * (k // 7) + 0.1) for k in range(m))
    return BoundedRows(A, B, y, b, d, places), ten


def by_linprog(rows: BoundedRows, prior: PayloadBox) -> tuple[Array, Array]:
    """The hull, each end by a program of its own."""
    W = np.hstack([rows.load, rows.robot])
    G = np.hstack([prior.conditions, np.zeros((len(prior.limits), rows.robot.shape[1]))])
    box = [*zip(prior.lower, prior.upper, strict=True), *zip(-rows.spread, rows.spread, strict=True)]
    ends = []
    for sign in (1.0, -1.0):
        for k in range(10):
            c = np.zeros(W.shape[1])
            c[k] = sign / SIZES[k]
            found = scipy.optimize.linprog(
                c,
                np.vstack([W, -W, G]),
                np.concatenate([rows.target + rows.error, rows.error - rows.target, prior.limits]),
                bounds=box,
                method="highs-ipm",
            )
            assert found.status == 0
            ends.append(sign * found.fun * SIZES[k])
    return np.array(ends[:10]), np.array(ends[10:])


def by_cvxpy(rows: BoundedRows, prior: PayloadBox) -> tuple[Array, Array]:
    """The hull of bodies that can exist, the condition written out by hand."""
    x, delta = cp.Variable(10), cp.Variable(rows.robot.shape[1])
    m, hx, hy, hz, xx, xy, yy, xz, yz, zz = (x[k] for k in range(10))
    J = cp.bmat(
        [
            [(yy + zz - xx) / 2, -xy, -xz, hx],
            [-xy, (xx + zz - yy) / 2, -yz, hy],
            [-xz, -yz, (xx + yy - zz) / 2, hz],
            [hx, hy, hz, m],
        ]
    )
    theta = cp.multiply(SIZES, x)
    scaled = [
        cp.abs(rows.target - rows.load @ theta - rows.robot @ delta) <= rows.error,
        cp.abs(delta) <= rows.spread,
        theta >= prior.lower,
        theta <= prior.upper,
        # In units of 1 kg and 0.1 m the pseudo-inertia has the same form.
        J >> 0,
        *([prior.conditions @ theta <= prior.limits] if len(prior.limits) else []),
    ]
    ends = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sign in (1.0, -1.0):
            for k in range(10):
                problem = cp.Problem(cp.Minimize(sign * x[k]), scaled)
                ends.append(sign * problem.solve(solver=cp.CLARABEL) * SIZES[k])
    return np.array(ends[:10]), np.array(ends[10:])


@pytest.mark.parametrize("seed", range(4))
def test_the_hull_is_that_of_another_solver_and_never_inside_it(seed: int) -> None:
    rows, ten = random_rows(seed)
    prior = PayloadBox.in_ball(4.0, 0.3)
    bounds = guaranteed_bounds(rows, prior)
    lower, upper = by_linprog(rows, prior)
    assert np.abs((bounds.lower - lower) / SIZES).max() < 1e-7
    assert np.abs((bounds.upper - upper) / SIZES).max() < 1e-7
    assert (bounds.lower <= bounds.lower_reached + 1e-9 * SIZES).all()
    assert (bounds.upper >= bounds.upper_reached - 1e-9 * SIZES).all()
    assert bounds.contains(ten)


@pytest.mark.parametrize("seed", range(2))
def test_bodies_that_can_exist_have_the_hull_that_cvxpy_finds(seed: int) -> None:
    rows, ten = random_rows(seed, m=40, noise=0.3)
    prior = PayloadBox.in_ball(4.0, 0.3)
    plain, possible = guaranteed_bounds(rows, prior), guaranteed_bounds(rows, prior, possible=True)
    lower, upper = by_cvxpy(rows, prior)
    assert np.abs((possible.lower - lower) / SIZES).max() < 1e-5
    assert np.abs((possible.upper - upper) / SIZES).max() < 1e-5
    assert (possible.half_width <= plain.half_width + 1e-12).all()
    assert (possible.half_width < 0.95 * plain.half_width).any()
    assert possible.contains(ten)


def test_the_hull_of_a_real_arm_is_that_of_another_solver() -> None:
    run = run_of("kinova_gen3", 3, duration=0.6)
    rows = run.rows()
    bounds = guaranteed_bounds(rows, run.prior)
    lower, upper = by_linprog(rows, run.prior)
    assert np.abs((bounds.lower - lower) / SIZES).max() < 1e-6
    assert np.abs((bounds.upper - upper) / SIZES).max() < 1e-6


def test_more_rows_never_widen_and_smaller_priors_never_widen() -> None:
    rows, _ = random_rows(5)
    prior = PayloadBox.in_ball(4.0, 0.3)
    few, many = guaranteed_bounds(rows.chosen(range(30)), prior), guaranteed_bounds(rows, prior)
    small = guaranteed_bounds(rows, prior.narrowed(few.lower, few.upper))
    assert (few.half_width >= many.half_width - 1e-12).all()
    assert np.abs(small.half_width - many.half_width).max() < 1e-9


def test_without_data_the_prior_decides() -> None:
    rows, _ = random_rows(0)
    prior = PayloadBox.between(-5.0 * np.ones(10), 5.0 * np.ones(10))
    bounds = guaranteed_bounds(rows.chosen([]), prior)
    assert np.array_equal(bounds.lower, prior.lower)
    assert np.array_equal(bounds.upper, prior.upper)
    assert bounds.prior_decides.all()
    assert not guaranteed_bounds(rows, prior).prior_decides.any()


def test_exact_rows_leave_exact_numbers() -> None:
    rng = np.random.default_rng(0)
    ten = np.array([2.0, 0.25, 0.0, -0.125, 0.5, 0.0, 0.5, 0.0, 0.0, 0.25])
    A = np.round(rng.normal(size=(20, 10)) * 8.0)
    places = tuple(Place("j", float(k), k + 1.0) for k in range(20))
    rows = BoundedRows(A, np.zeros((20, 1)), A @ ten, np.zeros(20), np.zeros(1), places)
    bounds = guaranteed_bounds(rows, PayloadBox.between(-5.0 * np.ones(10), 5.0 * np.ones(10)))
    assert bounds.contains(ten)
    assert bounds.half_width.max() < 1e-12


def test_a_guarantee_lists_all_it_assumes() -> None:
    run = run_of("panda", 3, duration=0.4)
    rows = run.rows()
    bounds = guaranteed_bounds(rows, run.prior, possible=True)
    assert set(run.errors.assumptions) <= set(bounds.assumptions)
    said = " ".join(bounds.assumptions)
    for word in ("2.5 %", "0.1 N·m", "0.0005 rad/s", "1e-05 rad", "accelerates", "spread", "4 kg", "rigid"):
        assert word in said, word
    assert CAN_EXIST in bounds.assumptions
    assert CAN_EXIST not in guaranteed_bounds(rows, run.prior).assumptions
    assert len(set(bounds.assumptions)) == len(bounds.assumptions)


@pytest.mark.parametrize("centre", [(0.0, 0.0, 0.0), (0.2, -0.1, 0.4)])
def test_every_heap_of_points_in_the_ball_is_in_the_box(centre: tuple[float, float, float]) -> None:
    rng = np.random.default_rng(1)
    prior = PayloadBox.in_ball(HEAVIEST, EXTENT, centre)
    largest = np.full(10, -np.inf)
    for count in rng.integers(1, 5, 2000):
        points = rng.normal(size=(count, 3))
        points *= EXTENT / np.linalg.norm(points, axis=1, keepdims=True)
        points += centre
        masses = HEAVIEST * rng.dirichlet(np.ones(count))
        second = (masses[:, None, None] * points[:, :, None] * points[:, None, :]).sum(axis=0)
        I = np.trace(second) * np.eye(3) - second  # noqa: E741
        ten = np.array(
            [masses.sum(), *(masses @ points), I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]]
        )
        assert (prior.lower - 1e-12 <= ten).all()
        assert (ten <= prior.upper + 1e-12).all()
        assert (prior.conditions @ ten <= prior.limits + 1e-12).all()
        largest = np.maximum(largest, ten)
    # and the box is not much larger than it must be
    assert (largest[[0, 1, 2, 3, 4, 6, 9]] > 0.9 * prior.upper[[0, 1, 2, 3, 4, 6, 9]]).all()


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_centre_of_mass_beyond_the_ball_on_any_axis_is_excluded(axis: int, side: float) -> None:
    centre, extent = np.array([0.02, -0.05, 0.1]), 0.3
    prior = PayloadBox.in_ball(4.0, extent, centre)
    for share, inside in ((0.99, True), (1.01, False)):
        theta = np.zeros(10)
        theta[0], theta[1:4] = 2.0, 2.0 * centre
        theta[1 + axis] += 2.0 * side * share * extent
        assert bool((prior.conditions @ theta <= prior.limits).all()) is inside


def test_a_prior_must_be_a_body_of_some_size() -> None:
    with pytest.raises(InputError, match="heaviest: must be positive"):
        PayloadBox.in_ball(0.0, 0.3)
    with pytest.raises(InputError, match="extent: must be positive"):
        PayloadBox.in_ball(1.0, np.inf)
    with pytest.raises(InputError, match="lies above"):
        PayloadBox.between(np.ones(10), np.zeros(10))
