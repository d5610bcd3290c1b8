"""Refinement of the CRANE-X7 with the 39 parameters of Oaki et al. (2026), every step consistent."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

import cvxpy as cp
import numpy as np
import pytest

from steelyard.consistency import check_parameters
from steelyard.control import FeedforwardPD
from steelyard.dynamics import inverse_dynamics
from steelyard.estimation.closed_loop.constraints import ROTOR_FLOOR, FeasibleLinks, Point, feasible_links
from steelyard.estimation.closed_loop.fit import fit_closed_loop_input
from steelyard.estimation.closed_loop.response import LoopComparison
from steelyard.estimation.closed_loop.run import LoopRun, block_means
from steelyard.estimation.closed_loop.search import RefinementOutcome
from steelyard.identifiable import MinimalModel, minimal_model
from steelyard.inertia import PARAMETER_NAMES, Body, change_of_frame
from steelyard.layout import layout_of
from steelyard.link_frames import modified_dh_frames
from steelyard.motion import random_fourier
from steelyard.pose import Pose
from steelyard.reduction import SYMMETRIC, Reduction, fixed
from steelyard.rollout import ClosedLoop, rollout
from steelyard.zoo import zoo_robot

CYCLE, AVERAGE, SECONDS = 1e-3, 20, 6.0
ROBOT = zoo_robot("crane_x7_hand")
LAYOUT = layout_of(ROBOT, ["viscous", "rotor"])
PLANT = layout_of(ROBOT, ["viscous", "coulomb", "rotor"])
HAND = ROBOT.link_names[-1]


@cache
def model() -> MinimalModel:
    frames = modified_dh_frames(ROBOT)
    hand = change_of_frame(frames.pose(HAND).inverse()) @ LAYOUT.nominal[LAYOUT.of_link(HAND)]
    known = fixed(dict(zip(PARAMETER_NAMES, hand.tolist(), strict=True)))
    rules = dict.fromkeys(ROBOT.link_names[:-1], SYMMETRIC) | {HAND: known}
    return minimal_model(ROBOT, LAYOUT, Reduction(LAYOUT, frames, rules))


@cache
def possible() -> FeasibleLinks:
    return feasible_links(model())


@cache
def loop() -> ClosedLoop:
    inertia = [0.05, 0.1, 0.02, 0.05, 0.008, 0.008, 0.006, 0.005]
    viscous = [LAYOUT.nominal[LAYOUT.index(f"{joint}.viscous")] for joint in LAYOUT.joints]
    law = FeedforwardPD(ROBOT, inertia, viscous, 400.0, 32.0, cycle=CYCLE)
    return ClosedLoop(law, CYCLE, CYCLE)


def plant(seed: int = 0) -> np.ndarray:
    """Bodies turned and shifted, so that they have products of inertia, and Coulomb friction."""
    rng, phi = np.random.default_rng(seed), np.array(PLANT.complete_nominal())
    for link in PLANT.links[:-1]:
        at = PLANT.of_link(link)
        move = Pose.from_rpy(0.1 * rng.normal(size=3), 0.004 * rng.normal(size=3))
        phi[at] = Body.from_parameters(phi[at]).moved(move).parameters
    for joint in PLANT.joints:
        phi[PLANT.index(f"{joint}.coulomb")] *= 0.3
    return phi


@cache
def log() -> LoopRun:
    sample = random_fourier(ROBOT, np.random.default_rng(1), period=SECONDS).sample(
        np.arange(0.0, SECONDS - 0.5 * CYCLE, CYCLE)
    )
    refs = (sample.q, sample.v, sample.a)
    made = rollout(ROBOT, PLANT, plant(), *refs, loop())
    tau = np.round(made.tau / 0.00623) * 0.00623  # the steps of the current sensor
    return LoopRun(*refs, AVERAGE, block_means(tau, AVERAGE))


def nominal() -> np.ndarray:
    return model().of_standard(LAYOUT.complete_nominal())


@dataclass
class Watched:
    """A constraint that remembers where it let the search go."""

    inner: FeasibleLinks
    points: list[Point] = field(default_factory=list)
    name: str = "watched"

    def begin(self, beta: np.ndarray, metric: np.ndarray) -> Point:
        self.points.append(self.inner.begin(beta, metric))
        return self.points[-1]

    def best(self, matrix: np.ndarray, target: np.ndarray, at: Point) -> Point:
        self.points.append(self.inner.best(matrix, target, at))
        return self.points[-1]


def smallest_eigenvalue(ten: np.ndarray) -> float:
    """Of the pseudo-inertia of a link, written out here; lengths in the link's own size."""
    m, x, y, z, xx, xy, yy, xz, yz, zz = ten
    s = 0.5 * (xx + yy + zz)
    J = np.array([[s - xx, -xy, -xz, x], [-xy, s - yy, -yz, y], [-xz, -yz, s - zz, z], [x, y, z, m]])
    scale = np.diag([1.0 / np.sqrt(s)] * 3 + [1.0 / np.sqrt(m)])
    return float(np.linalg.eigvalsh(scale @ J @ scale)[0])


def test_every_step_ends_at_links_that_can_exist_and_predict_the_torques_of_beta() -> None:
    watched = Watched(possible())
    fit = fit_closed_loop_input(model(), [log()], loop(), nominal(), constraint=watched)
    assert fit.outcome is RefinementOutcome.CONVERGED, fit.reason
    assert len(watched.points) >= 3
    q, v, a = np.random.default_rng(0).normal(size=(3, 20, ROBOT.nv))
    for point in watched.points:
        phi = point.parameters
        assert phi is not None
        assert check_parameters(LAYOUT, phi), check_parameters(LAYOUT, phi).reasons
        for link in LAYOUT.links:
            assert smallest_eigenvalue(phi[LAYOUT.of_link(link)]) > -1e-12
        rotors = [phi[LAYOUT.index(f"{joint}.rotor")] for joint in LAYOUT.joints]
        assert min(rotors) >= ROTOR_FLOOR * (1 - 1e-9)
        hand = LAYOUT.of_link(HAND)
        np.testing.assert_allclose(phi[hand], LAYOUT.complete_nominal()[hand], atol=1e-12)
        told, full = (
            inverse_dynamics(ROBOT, LAYOUT, x, q, v, a) for x in (model().standard(point.beta), phi)
        )
        np.testing.assert_allclose(full, told, atol=1e-9 * np.abs(told).max())


def test_without_the_constraint_the_same_search_leaves_the_possible() -> None:
    fit = fit_closed_loop_input(model(), [log()], loop(), nominal())
    assert fit.converged
    nearest = possible().begin(fit.values, np.diag(1.0 / np.maximum(fit.deviations, 1e-12)))
    assert (np.abs(nearest.beta - fit.values) / fit.deviations).max() > 1.0


def test_the_possible_optimum_is_cvxpys() -> None:
    """At the end no possible vector lowers the linearised squares, by an independent formulation."""
    fit = fit_closed_loop_input(model(), [log()], loop(), nominal(), constraint=possible(), tolerance=1e-5)
    assert fit.converged
    comparison = LoopComparison(model(), [log()], loop(), {"tau": np.ones(ROBOT.nv)})
    at = comparison.at(fit.values, "exact")
    R = np.linalg.qr(np.column_stack([at.jacobian, at.residual]), mode="r")
    b, n = model().size, len(LAYOUT.links) - 1
    s, N = possible().possible.scales, possible().unseen
    beta, y = cp.Variable(b), cp.Variable(N.shape[1])
    unit = np.sqrt(np.diag(np.linalg.inv(R[:b, :b].T @ R[:b, :b])))
    phi = model().standard(fit.values) + model().basis @ cp.multiply(unit, beta) + N @ y
    constraints = []
    for k in range(n):
        m, x, yy_, z, xx, xy, yy, xz, yz, zz = (phi[10 * k + i] / s[10 * k + i] for i in range(10))
        rows = [
            [(yy + zz - xx) / 2, -xy, -xz, x],
            [-xy, (xx + zz - yy) / 2, -yz, yy_],
            [-xz, -yz, (xx + yy - zz) / 2, z],
            [x, yy_, z, m],
        ]
        constraints.append(cp.bmat(rows) >> 0)
    for k, parameter in enumerate(LAYOUT.parameters[10 * (n + 1) :], 10 * (n + 1)):
        constraints.append(phi[k] / s[k] >= (ROTOR_FLOOR / s[k] if parameter.term == "rotor" else 0.0))
    left = cp.Problem(cp.Minimize(cp.sum_squares(R[:b, :b] * unit @ beta - R[:b, b])), constraints)
    left.solve(solver=cp.CLARABEL)
    ours, theirs = float(R[:b, b] @ R[:b, b]), float(left.value)
    rest = float(R[b, b] ** 2)
    assert ours + rest <= (theirs + rest) * (1 + 1e-6)


def test_exact_didim_and_differences_end_in_one_place() -> None:
    fits = {
        way: fit_closed_loop_input(model(), [log()], loop(), nominal(), jacobian=way)
        for way in ("exact", "didim", "differences")
    }
    assert all(fit.converged for fit in fits.values())
    np.testing.assert_allclose(fits["exact"].values, fits["differences"].values, atol=2e-4)
    np.testing.assert_allclose(fits["exact"].values, fits["didim"].values, atol=2e-4)
    assert fits["differences"].simulations > 20 * fits["exact"].sensitivity_runs


def test_an_impossible_start_is_moved_to_the_possible_point_of_least_change_of_torque() -> None:
    start = nominal()
    start[[k for k, name in enumerate(model().names) if name.endswith(".rotor")]] = 1e-6
    fit = fit_closed_loop_input(model(), [log()], loop(), start, constraint=possible(), budget=1)
    assert fit.detail["start_moved"]
    at = possible().begin(start, np.diag(1.0 / np.maximum(np.abs(nominal()), 1e-3)))
    assert at.parameters is not None
    assert check_parameters(LAYOUT, at.parameters)


def test_floors_below_zero_are_refused() -> None:
    with pytest.raises(ValueError, match="rotor_floor"):
        feasible_links(model(), rotor_floor=-1.0)
