"""The fit over possible links: on the compressed problem, and beside the same problem written plainly."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator

import cvxpy as cp
import numpy as np

from steelyard.cones import AtMost, ConeProgram, Semidefinite, solve
from steelyard.cones.solve import ConeSolution
from steelyard.consistency import FeasibleSet, feasible_set, fit_feasible
from steelyard.dynamics import inverse_dynamics, torque_regressor
from steelyard.estimation.entropic import BLOCKS, STRENGTHS, fit_entropic
from steelyard.estimation.physical import fit_lmi, fit_log_cholesky
from steelyard.inertia import pseudo_inertia
from steelyard.layout import Layout, layout_of
from steelyard.motion import random_fourier
from steelyard.problem import Problem, problem_of, structure_of
from steelyard.problem.problem import problem_of_blocks
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.zoo import zoo_robot
from timing import Row, best

SAMPLES = 10_000
NOISE = 0.3
"""Standard deviation of the torque noise, N·m: enough for links to end on the edge of the possible."""
SAME = 1e-6
"""Relative difference of squared residuals that counts as the same optimum."""
States = tuple[np.ndarray, np.ndarray, np.ndarray]


def rows() -> list[Row]:
    """Every comparison of this room."""
    robot = zoo_robot("panda")
    layout = layout_of(robot, ["viscous", "coulomb", "offset"])
    states, tau = _log(robot, layout)
    problem = problem_of_blocks(robot, layout, [(*states, tau)])
    return [
        *_compressed(problem),
        *_beside_cones(problem),
        *_believable(robot, layout, states, tau),
        *_beside_cvxpy(problem, states, tau),
    ]


def _log(robot: Robot, layout: Layout) -> tuple[States, np.ndarray]:
    rng = np.random.default_rng(0)
    motion = random_fourier(robot, rng)
    s = motion.sample(np.linspace(0, motion.duration, SAMPLES, endpoint=False))
    tau = inverse_dynamics(robot, layout, layout.complete_nominal(), s.q, s.v, s.a)
    return (s.q, s.v, s.a), tau + NOISE * rng.normal(size=tau.shape)


def _compressed(problem: Problem) -> Iterator[Row]:
    R = problem.factor()
    fit, theirs, entropic, free = best(
        lambda: fit_lmi(problem),
        lambda: _plain(R[:, :-1], R[:, -1], problem.layout),
        lambda: fit_entropic(problem, strength=NOISE**2),
        lambda: fit_log_cholesky(problem),
    )
    note = f"{problem.layout.size} parameters, {problem.base.count} of them visible"
    peer = "cvxpy on the same triangle, Clarabel"
    yield Row("LMI fit of a Panda, compressed", fit, peer, theirs, most_seconds=15e-3, note=note)
    yield Row("entropic fit of a Panda, compressed", entropic, note="strength given")
    yield Row("log-Cholesky fit of a Panda, compressed", free, note="LMI fit included")


def _beside_cones(problem: Problem) -> Iterator[Row]:
    """Our interior-point method beside Clarabel through our own door, on the same triangle and tie-break."""
    R, possible = problem.factor(), feasible_set(problem.layout)
    fit = fit_feasible(R[:, :-1], R[:, -1], possible)
    weight = fit.tie_break / fit.distance**2
    ours, theirs = best(
        lambda: fit_feasible(R[:, :-1], R[:, -1], possible),
        lambda: _by_cones(R, weight, possible),
    )
    value = 2.0 * _by_cones(R, weight, possible).value
    apart = value / (fit.squares + fit.tie_break) - 1.0
    note = f"ours solves twice, to find the weight of the tie-break; optima {apart:+.0e} apart"
    yield Row("possible fit of a Panda", ours, "one program through `cones`, Clarabel", theirs, note=note)


def _by_cones(R: np.ndarray, weight: float, possible: FeasibleSet) -> ConeSolution:
    """The fit of possible links, with its tie-break, as one program in x = phi / s less the reference."""
    s, maps = possible.scales, possible.constraints
    slack, J, one = maps.value(possible.reference / s), pseudo_inertia(np.eye(10)), np.eye(s.size)
    links = [
        Semidefinite(S, np.tensordot(one[k].T, J, 1)) for k, S in zip(maps.links, slack.matrices, strict=True)
    ]
    bounds = AtMost(-maps.signs[:, None] * one[maps.bounded], slack.numbers)
    A = np.vstack([R[:, :-1] * s, np.sqrt(weight) * possible.metric])
    b = np.concatenate([R[:, -1] - R[:, :-1] @ possible.reference, np.zeros(s.size)])
    program = ConeProgram.least_squares(A, b, [*links, bounds])
    return solve(program, tolerance=1e-10, accept_reduced=True)


def _believable(robot: Robot, layout: Layout, states: States, tau: np.ndarray) -> Iterator[Row]:
    """The default fit: the strength by left-out blocks of the samples, their compression included."""
    joints = tuple(joint.name for joint in robot.joints)
    log = Recording(joints, np.arange(SAMPLES) * 1e-3, *states, tau)
    problem = problem_of(robot, layout, [log], prior=layout.nominal)
    weights = np.full(robot.nv, 1.0 / NOISE)
    R = problem.factor(weights)
    ours, theirs = best(
        lambda: fit_entropic(problem, weights=weights),
        lambda: _plain(R[:, :-1], R[:, -1], layout),
    )
    yield Row(
        "believable fit with cross-validation",
        ours,
        "one LMI fit by cvxpy on the same triangle, Clarabel",
        theirs,
        most_seconds=1.0,
        note=f"a Panda, {BLOCKS} left-out blocks of {SAMPLES} samples, {len(STRENGTHS)} strengths each",
    )


def _beside_cvxpy(problem: Problem, states: States, tau: np.ndarray) -> Iterator[Row]:
    """Compression and fit, beside the stacked regressor; the peer's own regressor costs it nothing."""
    robot, layout = problem.robot, problem.layout
    W = torque_regressor(robot, layout, *states).reshape(-1, layout.size)
    started = time.perf_counter()
    least, status = _plain(W, tau.ravel(), layout)
    theirs = time.perf_counter() - started

    def anew() -> object:
        structure_of.cache_clear()
        return fit_lmi(problem_of_blocks(robot, layout, [(*states, tau)]))

    (ours,) = best(anew)
    squares = float(np.sum((W @ fit_lmi(problem).representative - tau.ravel()) ** 2))
    apart = squares / least - 1.0
    assert abs(apart) < SAME, f"the optima differ by {apart:.1e}"
    yield Row(
        f"compression and LMI fit, {SAMPLES} samples of a Panda",
        ours,
        "cvxpy on the stacked regressor, Clarabel",
        theirs,
        least_ratio=50.0,
        note=f"our squared residual is {apart:+.0e} of theirs apart (promised within {SAME:.0e}); the peer "
        f"ran once and says `{status}`",
    )


def _plain(W: np.ndarray, tau: np.ndarray, layout: Layout) -> tuple[float, str]:
    """The least squared residual of possible links as cvxpy states it, and what it says of its solution."""
    phi = cp.Variable(layout.size)
    constraints = []
    for k in range(len(layout.links)):
        m, x, y, z, xx, xy, yy, xz, yz, zz = (phi[10 * k + i] for i in range(10))
        constraints.append(
            cp.bmat(
                [
                    [(yy + zz - xx) / 2, -xy, -xz, x],
                    [-xy, (xx + zz - yy) / 2, -yz, y],
                    [-xz, -yz, (xx + yy - zz) / 2, z],
                    [x, y, z, m],
                ]
            )
            >> 0
        )
    signs = [k for k, p in enumerate(layout.parameters) if p.term in ("viscous", "coulomb")]
    constraints.append(phi[signs] >= 0)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(W @ phi - tau)), constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Of an inaccurate solution; the status says so too.
        return float(problem.solve(solver=cp.CLARABEL)), str(problem.status)
