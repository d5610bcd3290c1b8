r"""Does the believable fit settle, and at the optimum, on problems no one would call well posed?

Random robots of the zoo, torques noisy by a millionth to a third, motions of a few samples or of one joint,
priors up to five times off. The judge is a conic solver: the objective is written once more, with cvxpy, and
the optimum is Clarabel's. Its own point is asked for the objective as well, so that what a solver rounds off
is not held against the fit.
"""

from __future__ import annotations

import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache

import cvxpy as cp
import numpy as np

from steelyard.consistency import Prior, check_parameters, prior_of
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import SteelyardError
from steelyard.estimation.entropic import fit_entropic
from steelyard.identifiable import Identifiability, structural_identifiability
from steelyard.inertia import pseudo_inertia
from steelyard.inertia.body import random_body
from steelyard.layout import Layout, layout_of
from steelyard.motion import random_fourier
from steelyard.problem import Problem
from steelyard.problem.problem import Evidence
from steelyard.robot import Robot
from steelyard.zoo import ZOO, zoo_robot
from tables import Bound, Study

PROBLEMS = 1000
DRIVE = ("viscous", "coulomb", "offset", "rotor")
CHOSEN = 10
"""Every so manyth strength is chosen by left-out blocks; the others are drawn."""
TIGHT = 1e-6
JUDGED_LINKS = 4
"""Robots of at most so many links are all judged by the conic solver, larger ones every tenth time."""
WORKERS = 2


@dataclass(frozen=True)
class Posed:
    """A random problem.

    Attributes:
        robot: name in the zoo.
        problem: the question.
        prior: what is believed.
        weights: one over the noise of each degree of freedom, shape (nv,).
        strength: of the pull; None lets left-out blocks choose.
        kind: how the motion is weak.
    """

    robot: str
    problem: Problem
    prior: Prior
    weights: np.ndarray
    strength: float | None
    kind: str


@dataclass(frozen=True)
class Settled:
    """What became of it.

    Attributes:
        robot: name in the zoo.
        kind: how the motion was weak.
        failure: what the fit said, empty where it settled.
        strict: whether every link is strictly possible.
        excess: objective over the best that the conic solver finds, minus one; NaN where it finds none.
        steps: Newton steps of the last fit.
    """

    robot: str
    kind: str
    failure: str
    strict: bool
    excess: float
    steps: int


def run() -> Study:
    """Fit a thousand random problems."""
    with ProcessPoolExecutor(WORKERS) as workers:
        done = list(workers.map(_number, range(PROBLEMS), chunksize=10))
    judged = [x.excess for x in done if np.isfinite(x.excess)]
    failures = [x for x in done if x.failure]
    return Study(
        "The believable fit settles",
        f"{PROBLEMS} random problems over all {len(ZOO)} robots of the zoo: noise of 1e-6 to 0.3 of the "
        "torque, motions of a second or two, of a few samples, or of one joint; priors whose links are up "
        "to five times too heavy or too light, a third of them with another centre of mass and inertia, half "
        f"of them without drive terms; strengths of 0.1 to 1e6, every {CHOSEN}th chosen by left-out blocks. "
        f"All robots of up to {JUDGED_LINKS} links and every tenth of the others are judged by the same "
        "objective in cvxpy, solved by Clarabel: the lesser of its optimum and the objective at its point. "
        "Problems on which it reaches no optimum are not judged.",
        (
            Bound("fits that do not settle", len(failures), 0, note="; ".join(x.failure for x in failures)),
            Bound("fits with links on the edge", sum(not x.strict for x in done), 0),
            Bound("problems judged by the conic solver", len(judged), 400, atmost=False),
            Bound(
                "largest excess over the conic optimum",
                max(judged),
                TIGHT,
                note=f"median {np.median(judged):.1e}, least {min(judged):.1e}",
            ),
            Bound("most Newton steps of a fit", max(x.steps for x in done), 200),
        ),
        {
            "problems by robot": dict(Counter(x.robot for x in done)),
            "problems by motion": dict(Counter(x.kind for x in done)),
        },
    )


def _number(number: int) -> Settled:
    case = posed(number)
    return settled(case, judge=len(case.problem.layout.links) <= JUDGED_LINKS or number % 10 == 1)


def _robot_of(number: int) -> str:
    return list(ZOO)[number % len(ZOO)]


@cache
def _parts(name: str) -> tuple[Robot, Layout, Identifiability]:
    robot = zoo_robot(name)
    layout = layout_of(robot, DRIVE)
    return robot, layout, structural_identifiability(robot, layout)


def posed(number: int) -> Posed:
    """A random problem.

    Args:
        number: which; the same one each time.
    """
    rng = np.random.default_rng([17, number])
    name = _robot_of(number)
    robot, layout, structure = _parts(name)
    n = 10 * len(layout.links)
    truth = np.array(layout.complete_nominal())
    truth[n:] = np.where(rng.random(layout.size - n) < 0.3, 0.0, rng.uniform(0.01, 1.0, layout.size - n))
    kind = ("full", "few samples", "one joint")[int(rng.integers(3))]
    count = int(rng.integers(2, 12)) if kind == "few samples" else int(rng.integers(30, 300))
    motion = random_fourier(robot, rng)
    time = np.linspace(0.0, rng.uniform(0.05, 0.3) * motion.duration, count)
    s = motion.sample(time)
    q, v, a = np.array(s.q), np.array(s.v), np.array(s.a)
    if kind == "one joint":
        still = np.arange(robot.nv) != rng.integers(robot.nv)
        q[:, still], v[:, still], a[:, still] = q[0, still], 0.0, 0.0
    tau = inverse_dynamics(robot, layout, truth, q, v, a)
    size = np.sqrt((tau**2).mean(axis=0))
    noise = 10.0 ** rng.uniform(-6.0, np.log10(0.3)) * np.maximum(size, 1e-3 * size.max())
    tau = tau + noise * rng.normal(size=tau.shape)
    evidence = Evidence(time, q, v, a, tau, (0,), ("",))
    problem = Problem(robot, layout, structure, None, None, evidence)
    prior = prior_of(robot, layout, _believed(rng, layout), torque=np.abs(tau).max(axis=0))
    strength = None if number % CHOSEN == 0 else float(10.0 ** rng.uniform(-1.0, 6.0))
    return Posed(name, problem, prior, 1.0 / noise, strength, kind)


def _believed(rng: np.random.Generator, layout: Layout) -> np.ndarray:
    """The description, up to five times off."""
    n = 10 * len(layout.links)
    phi = np.array(layout.nominal)
    for k in range(0, n, 10):
        if rng.random() < 1 / 3:
            body = random_body(rng).parameters
            phi[k : k + 10] = body * phi[k] / body[0]
        phi[k : k + 10] *= 5.0 ** rng.uniform(-1.0, 1.0)
    unknown = rng.random() < 0.5
    phi[n:] = np.nan if unknown else rng.uniform(0.0, 1.0, layout.size - n)
    return phi


def settled(case: Posed, *, judge: bool = True) -> Settled:
    """Fit a problem, and compare with the conic solver.

    Args:
        case: the problem.
        judge: whether the conic solver is asked.
    """
    answer = Settled(case.robot, case.kind, "", strict=True, excess=np.nan, steps=0)
    try:
        estimate = fit_entropic(case.problem, case.prior, case.strength, weights=case.weights)
    except SteelyardError as failed:
        return replace(answer, failure=str(failed))
    phi, strength = estimate.parameters, float(estimate.detail["strength"])
    assert phi is not None
    verdict = check_parameters(case.problem.layout, phi)
    excess = np.nan
    if judge:
        R = case.problem.compressed.factor(case.weights)
        ours = objective(phi, R, case.prior, strength)
        excess = ours / conic_optimum(R, case.prior, strength, unit=ours) - 1.0
    return replace(
        answer,
        strict=all(link.strict for link in verdict.links),
        excess=float(excess),
        steps=int(estimate.detail["iterations"]),
    )


def objective(phi: np.ndarray, R: np.ndarray, prior: Prior, strength: float) -> float:
    """Squared residual and divergence, term by term; infinite outside.

    Args:
        phi: parameters, shape (p,), SI.
        R: the factor of the equations, shape (p + 1, p + 1).
        prior: what is believed.
        strength: of the pull.
    """
    D, links, free = 0.0, 10 * len(prior.layout.links), prior.layout.free
    for k in range(0, links, 10):
        if not free[k : k + 10].any():
            continue
        ratio = np.linalg.solve(pseudo_inertia(prior.centre[k : k + 10]), pseudo_inertia(phi[k : k + 10]))
        if (np.linalg.eigvals(ratio).real <= 0.0).any():
            return np.inf
        D += prior.trust[k] * (np.trace(ratio) - np.linalg.slogdet(ratio)[1] - 4.0)
    positive = [k for k in range(links, len(phi)) if free[k] and not prior.signed[k]]
    pulls = [(phi[k] / prior.centre[k], prior.trust[k]) for k in positive]
    pulls += zip((prior.walls @ phi + prior.wall_offsets) / prior.wall_sizes, prior.wall_trust, strict=True)
    for x, w in pulls:
        if x <= 0.0:
            return np.inf
        D += w * (x - np.log(x) - 1.0)
    for k in np.flatnonzero(prior.signed & free):
        D += 0.5 * prior.trust[k] * ((phi[k] - prior.centre[k]) / prior.sizes[k]) ** 2
    return float(np.sum((R @ np.r_[phi, -1.0]) ** 2) + strength * D)


def conic_optimum(R: np.ndarray, prior: Prior, strength: float, unit: float = 1.0) -> float:
    """The least objective that cvxpy and Clarabel find, in its own words or at its own point.

    Sums of the prior and what the layout fixes hold. NaN where the solver reaches no optimum.

    Args:
        R: the factor of the equations, shape (p + 1, p + 1).
        prior: what is believed.
        strength: of the pull.
        unit: about the optimum, so that the solver's tolerances, which are absolute too, mean something.
    """
    layout, parts, D = prior.layout, [], 0.0
    links, free = 10 * len(layout.links), layout.free
    for k in range(0, links, 10):
        if not free[k : k + 10].any():
            parts += layout.nominal[k : k + 10].tolist()
            continue
        L = np.linalg.cholesky(pseudo_inertia(prior.centre[k : k + 10]))
        M = cp.Variable((4, 4), symmetric=True)
        J = L @ M @ L.T
        S, h = J[:3, :3], J[:3, 3]
        tensor = [S[1, 1] + S[2, 2], -S[0, 1], S[0, 0] + S[2, 2], -S[0, 2], -S[1, 2], S[0, 0] + S[1, 1]]
        parts += [J[3, 3], h[0], h[1], h[2], *tensor]
        D += prior.trust[k] * (cp.trace(M) - cp.log_det(M) - 4.0)
    for k in range(links, layout.size):
        if not free[k]:
            parts.append(float(layout.nominal[k]))
            continue
        x = cp.Variable()
        parts.append(prior.sizes[k] * x)
        away = x - prior.centre[k] / prior.sizes[k]
        ratio = x * (prior.sizes[k] / prior.centre[k]) if not prior.signed[k] else x
        D += prior.trust[k] * (0.5 * cp.square(away) if prior.signed[k] else ratio - cp.log(ratio) - 1.0)
    phi = cp.hstack(parts)
    if len(prior.walls):
        ratio = cp.multiply(prior.walls @ phi + prior.wall_offsets, 1.0 / prior.wall_sizes)
        D += prior.wall_trust @ (ratio - cp.log(ratio) - 1.0)
    known = [prior.sums @ phi == prior.totals] if len(prior.sums) else []
    partly = [k for k in range(links) if not free[k] and free[k - k % 10 : k - k % 10 + 10].any()]
    known += [phi[k] == float(layout.nominal[k]) for k in partly]
    squares = cp.sum_squares((R[:, :-1] @ phi - R[:, -1]) / np.sqrt(unit))
    problem = cp.Problem(cp.Minimize(squares + (strength / unit) * D), known)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Of an inaccurate solution; the status says so too.
            value = problem.solve(solver=cp.CLARABEL, tol_gap_rel=1e-10, tol_gap_abs=1e-12, tol_feas=1e-10)
    except cp.SolverError:
        return np.nan
    if phi.value is None:
        return np.nan
    at_point = objective(np.asarray(phi.value), R, prior, strength)
    if problem.status != cp.OPTIMAL:
        return at_point if np.isfinite(at_point) else np.nan
    return min(unit * float(value), at_point)
