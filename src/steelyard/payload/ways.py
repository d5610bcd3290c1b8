"""The ways to weigh what an arm holds: each leads from runs to a `Weighing`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import UnknownNameError
from steelyard.estimation import fit_by_name, torque_aligned, without_knocks
from steelyard.finding import Finding
from steelyard.layout import Layout
from steelyard.payload.held import Held
from steelyard.payload.knowledge import Knowledge, knowledge_of
from steelyard.payload.model import ArmModel, massless
from steelyard.payload.question import CHANGES, load_problem
from steelyard.payload.residual import residual_torque
from steelyard.payload.systematic import ConstantErrors, responses
from steelyard.payload.weighing import BLIND, SCALES, Weighing, eliminated
from steelyard.problem import problem_of
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.signals import without_limited, without_turning
from steelyard.threads import with_one_blas_thread

METHODS = ("wls", "ols", "huber", "momentum")
"""Estimators of the equations; what can exist is decided afterwards, for all of them."""


@with_one_blas_thread
def weigh_by_residual(
    robot: Robot,
    held: Held,
    loaded: Sequence[Recording],
    empty: Sequence[Recording],
    *,
    description: ArmModel | None = None,
    gripper: Array | None = None,
    changes: Sequence[str] = CHANGES,
    method: str = "wls",
    interval: float | None = None,
    constants: ConstantErrors | None = None,
) -> Weighing:
    r"""Residual torques of runs with and without the payload, $\Delta\tau = W_p\varphi$ (paper 001, (4.18)).

    Args:
        robot: the robot, for its kinematics.
        held: where the payload is held.
        loaded: runs with the payload, with q, v, a and tau.
        empty: the same motions without it, in the same order.
        description: predicts what the robot itself needs where two runs differ; None to ignore that.
        gripper: what the carrying link itself gained from the empty to the loaded run, as fingers that closed
            do, in its own frame, shape (10,), SI; None for nothing.
        changes: drive terms that may differ between the runs.
        method: one of `METHODS`.
        interval: of the logs as they were recorded, s, see `weigh_with_model`.
        constants: how far the torque constants may be off; None for torques that were measured.

    Returns:
        The weighing.

    Raises:
        RecordingError: two runs are of different motions.
        UnknownNameError: no such method.
    """
    pairs = zip(loaded, empty, strict=True)
    runs = [residual_torque(full, bare, description) for full, bare in pairs]
    own = massless(robot)
    if gripper is not None:
        own = own.with_link(held.link, gripper)
    return weigh_with_model(
        own,
        held,
        runs,
        changes=changes,
        method=method,
        interval=interval,
        constants=constants,
        way="residual torques",
    )


@with_one_blas_thread
def weigh_with_model(
    model: ArmModel,
    held: Held,
    loaded: Sequence[Recording],
    *,
    changes: Sequence[str] = CHANGES,
    method: str = "wls",
    interval: float | None = None,
    window: float | None = None,
    constants: ConstantErrors | None = None,
    way: str = "known robot",
) -> Weighing:
    r"""A known robot: only the payload is asked about, $\tau = W_p\varphi + w$ (paper 001, (4.16)).

    Args:
        model: the robot without payload; its errors, where they are known, widen the answer.
        held: where the payload is held.
        loaded: runs with the payload, with q, v, a and tau; `momentum` needs no a.
        changes: drive terms that may differ from the model's.
        method: one of `METHODS`.
        interval: of the logs as they were recorded, s: torques are moved by their lag where that explains it,
            see `torque_aligned`, which needs a; None to leave them.
        window: over which `momentum` integrates, s, see `fit_by_name`; its runs are best at the logs' own
            rate.
        constants: how far the torque constants may be off; None for torques that were measured.
        way: what to call this way.

    Returns:
        The weighing.

    Raises:
        UnknownNameError: no such method.
        NoSolutionError: there are too few samples.
    """
    if method not in METHODS:
        raise UnknownNameError("method", method, METHODS, place="--method")
    runs, lag = list(loaded), None
    # Windows of the momentum method need neighbouring samples; dry friction is integrated over there.
    sharp = method != "momentum"
    if interval is not None and all(run.a is not None for run in runs):
        moved, lag = torque_aligned(load_problem(model, held, runs, changes=changes), runs, interval)
        runs = list(moved)
    if sharp:
        runs = [without_limited(without_turning(run)) for run in runs]
    problem = load_problem(model, held, runs, changes=changes, accelerations=sharp)
    knocks: tuple[Finding, ...] = ()
    if sharp:
        cleared, knocks = without_knocks(problem, runs)
        if knocks:
            problem = load_problem(model, held, cleared, changes=changes)
    estimate = fit_by_name(problem, method, window=window)
    wide = model.with_terms(changes)
    at = problem
    if not sharp and (constants is not None or wide.errors is not None):
        # Errors that repeat are smooth: how they move a fit of windows is how they move one of samples.
        at = load_problem(model, held, runs, changes=changes)
    found = knowledge_of(problem, estimate, lag, responses(at, estimate, wide, constants))
    known = wide.parameters
    weighing = _asked(found, problem.layout, held, known, _free(problem.layout, held), way)
    return replace(weighing, findings=(*knocks, *weighing.findings))


@with_one_blas_thread
def weigh_full_arm(
    robot: Robot,
    layout: Layout,
    held: Held,
    loaded: Sequence[Recording],
    empty: Sequence[Recording],
    *,
    gripper: Array | None = None,
    changes: Sequence[str] = CHANGES,
    interval: float | None = None,
    constants: ConstantErrors | None = None,
) -> Weighing:
    r"""The full arm estimated twice, with and without the payload, and subtracted (paper 001, (4.14)).

    The runs need not be of the same motion. What the arm itself is does not change with its load, and what
    did not change is not asked about: of $K\,\Delta\phi = \Delta\beta$ only the carrying link's ten numbers
    and the drive terms in `changes` may differ from zero.

    Args:
        robot: the robot.
        layout: its parameters, all free.
        held: where the payload is held.
        loaded: runs with the payload, with q, v, a and tau.
        empty: runs without it.
        gripper: what the carrying link itself gained, as in `weigh_by_residual`, shape (10,), SI.
        changes: drive terms that may differ between them.
        interval: of the logs as they were recorded, s, see `weigh_with_model`.
        constants: how far the torque constants may be off, the same in all runs; None for torques that were
            measured.

    Returns:
        The weighing.
    """
    parts: list[Knowledge] = []
    knocks: list[Finding] = []
    for group in (loaded, empty):
        runs, lag = list(group), None
        if interval is not None:
            moved, lag = torque_aligned(problem_of(robot, layout, runs), runs, interval)
            runs = list(moved)
        runs = [without_limited(without_turning(run)) for run in runs]
        problem = problem_of(robot, layout, runs)
        cleared, noticed = without_knocks(problem, runs)
        if noticed:
            problem = problem_of(robot, layout, cleared)
            knocks += noticed
        estimate = fit_by_name(problem, "wls")
        parts.append(knowledge_of(problem, estimate, lag, responses(problem, estimate, None, constants)))
    difference = parts[0].minus(parts[1])
    others = [
        layout.index(f"{joint}.{term}") for joint in layout.joints for term in changes if term in layout.drive
    ]
    known = np.zeros(layout.size)
    if gripper is not None:
        known[layout.of_link(held.link)] = gripper
    weighing = _asked(difference, layout, held, known, others, "full arm, twice")
    return replace(weighing, findings=(*knocks, *weighing.findings))


def _free(layout: Layout, held: Held) -> list[int]:
    """Free parameters other than the carrying link's ten."""
    ten = layout.of_link(held.link)
    return [int(k) for k in np.flatnonzero(layout.free) if not ten.start <= k < ten.stop]


def _asked(
    found: Knowledge, layout: Layout, held: Held, known: Array, others: Sequence[int], way: str
) -> Weighing:
    """What knowledge of base parameters says of the payload, known parts taken off, changes eliminated."""
    ten = layout.of_link(held.link)
    free = layout.free
    K = found.matrix
    L = found.root
    target = L @ (found.values - K[:, free] @ known[free])
    N, A = L @ K[:, list(others)], L @ K[:, ten] @ held.to_link
    R, r = eliminated(N, A, target)
    moved = {}
    for source, columns in found.systematic.items():
        along = np.column_stack([eliminated(N, A, L @ column)[1] for column in columns.T])
        moved[source] = SCALES[:, None] * np.linalg.lstsq(R * SCALES, along, rcond=BLIND)[0]
    return Weighing(held, R, r, found.residual, found.samples, way, found.findings, moved)
