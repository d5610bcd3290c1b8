"""The ways to weigh what an arm holds: each leads from runs to a `Weighing`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from steelyard.arrays import Array
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import InputError, RecordingError, UnknownNameError
from steelyard.estimation import fit_by_name, torque_aligned, without_knocks
from steelyard.finding import Finding
from steelyard.inertia import Body
from steelyard.layout import Layout
from steelyard.payloads.arm_model import CHANGES, ArmModel, Mount, load_problem, massless
from steelyard.payloads.systematic_errors import ConstantErrors, Knowledge, knowledge_of, responses
from steelyard.payloads.weighing import BLIND, SCALES, Weighing, eliminated
from steelyard.problem import problem_of
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.signals import (
    SOURCE_TIME,
    aligned,
    is_limited,
    with_rows,
    without_limited,
    without_turning,
)
from steelyard.threads import with_one_blas_thread

# Residual torques of a loaded and an empty run of the same motion (Lambert 2023, section 4.2).
#
# The empty run is brought to the positions of the loaded one by dynamic time warping, then
#
# $$\Delta\tau = \tau' - \tau = W(x')\,\varphi + \big(W_r(x') - W_r(x)\big)\,\phi_r.$$
#
# No controller follows one motion twice exactly: with a payload it lags and sags, and the second term is what
# the robot itself needs for the difference of the two states $x'$ and $x$. A description that is wrong by
# some percent still predicts that small difference to some percent of itself, so it is taken off where there
# is one.

BAND = 0.5
"""How far the two runs may be apart in time while they are aligned, s."""
SAME = 0.05
"""Largest distance in position after the alignment at which two samples count as the same, rad or m."""
MOST = 0.8
"""Share of the samples that must be the same for two runs to be of one motion; filters cut ends off."""


def residual_torque(
    loaded: Recording, empty: Recording, description: ArmModel | None, *, band: float = BAND
) -> Recording:
    """The loaded run with the torque of the empty one taken off.

    Args:
        loaded: the run with the payload, with q, v, a and tau.
        empty: the same motion without it.
        description: what the robot itself needs for the difference of the runs; None to ignore it.
        band: how far the runs may be apart in time, s.

    Returns:
        The loaded run, whose `tau` is the residual torque.

    Raises:
        RecordingError: the runs are of different motions.
    """
    beside = aligned(empty, loaded, band)
    apart = np.abs(beside.q - loaded.q).max(axis=1)
    same = apart <= SAME
    if same.mean() < MOST:
        raise RecordingError(
            f"stays over {SAME:g} rad from the loaded run in {100.0 * (1.0 - same.mean()):.0f} % of the "
            "samples after alignment, so they are different motions.",
            place="empty run",
            remedy="Run the same motion, or weigh with a model of the robot instead (--model).",
        )
    # Where the empty run's drive was at its limit its torque says nothing of what the payload adds.
    same &= ~is_limited(empty, beside.extra[SOURCE_TIME])
    loaded, beside = with_rows(loaded, same), with_rows(beside, same)
    tau = loaded.channels["tau"] - beside.channels["tau"]
    moved = np.zeros_like(tau)
    if description is not None:
        moved = _needed(description, loaded) - _needed(description, beside)
    detail = {
        "empty": empty.digest,
        "largest_difference": float(apart[same].max()),
        "dropped": int((~same).sum()),
        "corrected_by": None if description is None else description.source,
        "largest_correction": float(np.abs(moved).max()),
    }
    return loaded.revised("residual torque", detail, tau=tau - moved)


def _needed(model: ArmModel, run: Recording) -> Array:
    """Torque of the robot along a run."""
    at = run.channels
    return inverse_dynamics(model.robot, model.layout, model.parameters, at["q"], at["v"], at["a"])


METHODS = ("wls", "ols", "huber", "momentum")
"""Estimators of the equations; what can exist is decided afterwards, for all of them."""


@with_one_blas_thread
def weigh_by_residual(
    robot: Robot,
    held: Mount,
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
    r"""Residual torques of loaded and empty runs, $\Delta\tau = W_p\varphi$ (Lambert 2023, eq. (4.18)).

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
    held: Mount,
    loaded: Sequence[Recording],
    *,
    changes: Sequence[str] = CHANGES,
    method: str = "wls",
    interval: float | None = None,
    window: float | None = None,
    constants: ConstantErrors | None = None,
    way: str = "known robot",
) -> Weighing:
    r"""A known robot: only the payload is asked about, $\tau = W_p\varphi + w$ (Lambert 2023, eq. (4.16)).

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
    held: Mount,
    loaded: Sequence[Recording],
    empty: Sequence[Recording],
    *,
    gripper: Array | None = None,
    changes: Sequence[str] = CHANGES,
    interval: float | None = None,
    constants: ConstantErrors | None = None,
) -> Weighing:
    r"""The full arm estimated twice, with and without the payload, and subtracted (Lambert 2023, eq. (4.14)).

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


def _free(layout: Layout, held: Mount) -> list[int]:
    """Free parameters other than the carrying link's ten."""
    ten = layout.of_link(held.link)
    return [int(k) for k in np.flatnonzero(layout.free) if not ten.start <= k < ten.stop]


def _asked(
    found: Knowledge, layout: Layout, held: Mount, known: Array, others: Sequence[int], way: str
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


# Robot and payloads together, from runs with different loads, some known and some not.
#
# Every run k says $L_k\,K(\phi_r + S\varphi_k) = L_k\hat\beta_k$ of the robot it shares with the others and
# of its own load $\varphi_k$. Stacked, they are one least-squares question for the robot's base parameters
# and all unknown loads. A known load in one run helps every other: it separates what the arm weighs from how
# its torques are scaled, see `gains`.


@dataclass(frozen=True, eq=False)
class LoadedRuns:
    """Runs with one load.

    Attributes:
        name: of the load.
        recordings: the runs, with q, v, a and tau.
        held: where it is held.
        body: the load in its frame where it is known; None where it is asked about. No load at all is
            `NOTHING`.
    """

    name: str
    recordings: tuple[Recording, ...]
    held: Mount
    body: Body | None


NOTHING = Body(0.0, np.zeros(3), np.zeros((3, 3)))
"""The load of an empty hand."""


def weigh_several(
    robot: Robot, layout: Layout, groups: Sequence[LoadedRuns], *, changes: Sequence[str] = CHANGES
) -> Mapping[str, Weighing]:
    """Weigh every unknown load with a robot that is estimated from all runs.

    Args:
        robot: the robot.
        layout: its parameters, all free.
        groups: runs by load; at least one load must be known, an empty hand for instance.
        changes: drive terms that may differ from group to group.

    Returns:
        A weighing for each unknown load, by name.

    Raises:
        InputError: no load is known, or none is asked about.
    """
    known = [group for group in groups if group.body is not None]
    asked = [group for group in groups if group.body is None]
    if not known or not asked:
        raise InputError(
            f"{len(known)} loads are known and {len(asked)} are asked about; one of each is needed.",
            place="groups",
            remedy="Add a run with an empty hand or with a load of known inertia.",
        )
    found = [_known(robot, layout, group) for group in groups]
    terms = [
        layout.index(f"{joint}.{term}") for joint in layout.joints for term in changes if term in layout.drive
    ]
    return {group.name: _one(groups, found, group, layout, terms) for group in asked}


def _known(robot: Robot, layout: Layout, group: LoadedRuns) -> Knowledge:
    problem = problem_of(robot, layout, [without_limited(without_turning(run)) for run in group.recordings])
    return knowledge_of(problem, fit_by_name(problem, "wls"))


def _one(
    groups: Sequence[LoadedRuns],
    found: Sequence[Knowledge],
    asked: LoadedRuns,
    layout: Layout,
    terms: Sequence[int],
) -> Weighing:
    """One load, the robot, the other unknown loads and the changes of every other group eliminated."""
    others = [group for group in groups if group.body is None and group is not asked]
    b, t = len(found[0].values), len(terms)
    width = b + 10 * len(others) + t * (len(groups) - 1)
    nuisance, ten, target = [], [], []
    for k, (group, knows) in enumerate(zip(groups, found, strict=True)):
        L, K = knows.root, knows.matrix
        load = L @ K[:, layout.of_link(group.held.link)] @ group.held.to_link
        N = np.zeros((len(L), width))
        N[:, :b] = L
        if group in others:
            place = b + 10 * others.index(group)
            N[:, place : place + 10] = load
        # Changes are counted from the first group's drives, which are the robot's.
        if k and t:
            place = b + 10 * len(others) + t * (k - 1)
            N[:, place : place + t] = L @ K[:, list(terms)]
        nuisance.append(N)
        ten.append(load if group is asked else np.zeros_like(load))
        carried = np.zeros(10) if group.body is None else group.body.parameters
        target.append(L @ knows.values - load @ carried)
    R, r = eliminated(np.vstack(nuisance), np.vstack(ten), np.concatenate(target))
    mine = found[[group is asked for group in groups].index(True)]
    return Weighing(asked.held, R, r, mine.residual, mine.samples, "several loads", mine.findings)
