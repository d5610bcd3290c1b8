"""Stages on one motion: least squares, where the refinement starts, and the refinement in closed loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.campaigns.identification.record import followed, measured
from steelyard.campaigns.identification.robot_case import RobotCase, robot_case_of
from steelyard.consistency import (
    FullSet,
    check_parameters,
    feasible_set,
    full_set,
    judge_all_poses,
    lowest_pose,
    project_to_all_poses_by_ladder,
)
from steelyard.estimation.closed_loop import (
    Refinement,
    fit_closed_loop_input,
    fit_minimal,
    loop_run,
    possible_start,
    refine_intervals,
)
from steelyard.recording import Recording
from steelyard.signals import CentralDifferences, differentiated, resampled

# Least squares at one sampling interval, and the start of the refinement

Document = Mapping[str, Any]
AUDIT_SEED = 4
"""Of the poses from which an audit searches: the same for every model."""


def samples_of(log: Recording, interval: float) -> Recording:
    """A log on the target grid: anti-aliased, every sample used once, differentiated on that grid (V-B).

    Args:
        log: at the control cycle, with q and tau.
        interval: of the grid, s.

    Returns:
        The log with q, v, a and tau.
    """
    return differentiated(resampled(log, interval), CentralDifferences())


def least_squares(subject: Document, recorded: Document, interval: float) -> dict[str, Any]:
    """OLS of the base parameters on the samples of one run.

    Args:
        subject: document of the robot case.
        recorded: the run.
        interval: of the samples, s.

    Returns:
        `factor`, the triangle of the equations; `beta`; `cond` of the regressor as it is and `scaled` with
        columns of unit norm; `rms` of the residual by joint, N·m or N; `samples`.
    """
    about = robot_case_of(subject)
    fit = fit_minimal(about.model, samples_of(measured(about, recorded), interval))
    return {
        "factor": fit.factor,
        "beta": fit.values,
        "cond": fit.condition,
        "scaled": fit.scaled_condition,
        "rms": fit.residual,
        "samples": fit.samples,
    }


def start(subject: Document, fitted: Document) -> dict[str, Any]:
    """Audit the OLS estimate, and find where the refinement starts (Algorithm 1, lines 4 to 15).

    Args:
        subject: document of the robot case.
        fitted: result of `least_squares`.

    Returns:
        `audit` of the OLS estimate; `route`; `margin` of the projection, None without; `beta` of the start;
        `phi` behind it where it is possible.
    """
    about = robot_case_of(subject)
    beta = fitted["beta"]
    audit = audited(about, beta)
    definite = audit["definite"]
    route = "O-C" if definite else "O-S-C"
    if about.settings.start == "possible":
        found = possible_start(about.links, fitted["factor"])
        return {"audit": audit, "route": route, "margin": None, "beta": found.beta, "phi": found.parameters}
    if definite:
        return {"audit": audit, "route": route, "margin": None, "beta": beta, "phi": None}
    projected = project_to_all_poses_by_ladder(about.proof, beta, margins=about.settings.margins)
    return {"audit": audit, "route": route, "margin": projected.margin, "beta": projected.beta, "phi": None}


def audited(about: RobotCase, beta: Array) -> dict[str, Any]:
    """What is known of the mass matrix of base parameters, as plain values.

    Args:
        about: the robot case.
        beta: base parameters, shape (b,), SI.

    Returns:
        `proven`, whether it is positive definite at every pose, with the `bound` of its eigenvalues, kg·m² or
        kg; otherwise `smallest`, the lowest eigenvalue met at any pose, and `in_domain`, the lowest met in
        the audited box; `definite`, whether none was found in that box that is not positive.
    """
    rng = np.random.default_rng(AUDIT_SEED)
    verdict = judge_all_poses(about.proof, beta, rng)
    if verdict.proven:
        return {"definite": True, "proven": True, "bound": verdict.bound, "smallest": None, "in_domain": None}
    model = about.model
    low = lowest_pose(model.robot, model.layout, model.standard(beta), about.domain, rng)
    return {
        "definite": not low.refutes,
        "proven": False,
        "bound": None,
        "smallest": None if verdict.low is None else verdict.low.value,
        "in_domain": low.value,
    }


# Stages that refine: closed-loop input error from the start found, and what is proven of its end.


def refine_together(
    subject: Document, recorded: Document, motions: Document, starts: Mapping[str, Document], motion: str
) -> dict[str, Any]:
    """Refine one run at all sampling intervals, which share start and Jacobian.

    Args:
        subject: document of the robot case.
        recorded: the run.
        motions: the motions.
        starts: where the refinement may start, by task; that of the representative interval is taken.
        motion: name of the motion.

    Returns:
        `refined`, one entry for each interval, see `_entry`.
    """
    about = robot_case_of(subject)
    intervals = about.settings.intervals
    chosen = list(starts.values())[intervals.index(about.settings.representative)]
    log = followed(about, recorded, motions, motion)
    found = refine_intervals(
        about.model,
        [loop_run(log, intervals[0])],
        about.loop,
        [chosen["beta"]] * len(intervals),
        factors=[round(interval / intervals[0]) for interval in intervals],
        constraint=_constraint(about),
    )
    return {"refined": [_entry(about, refinement) for refinement in found]}


def refine_alone(
    subject: Document, recorded: Document, motions: Document, start: Document, motion: str, interval: float
) -> dict[str, Any]:
    """Refine one run at one sampling interval from its own start, as Oaki et al. (2026) do.

    Args:
        subject: document of the robot case.
        recorded: the run.
        motions: the motions.
        start: result of `start`.
        motion: name of the motion.
        interval: of the samples, s.

    Returns:
        `refined`, with one entry.
    """
    about = robot_case_of(subject)
    run = loop_run(followed(about, recorded, motions, motion), interval)
    refinement = fit_closed_loop_input(
        about.model, [run], about.loop, start["beta"], constraint=_constraint(about)
    )
    return {"refined": [_entry(about, refinement)]}


def _constraint(about: RobotCase) -> Any:
    return about.links if about.settings.steps == "possible" else None


def _entry(about: RobotCase, refinement: Refinement) -> dict[str, Any]:
    """A refinement with the proofs of its end, as plain values; no times, which differ from run to run.

    `beta`, `start`, `outcome`, `reason`, `rms` by joint, `iterations`, `simulations`, `sensitivity_runs`;
    `audit` of the mass matrix; `possible`, whether links exist behind it.
    """
    beta = np.array(refinement.values)
    return {
        "beta": beta,
        "start": np.array(refinement.start),
        "outcome": refinement.outcome.value,
        "reason": refinement.reason,
        "rms": np.array(refinement.residual["tau"]) if "tau" in refinement.residual else None,
        "history": np.array(refinement.history),
        "iterations": refinement.iterations,
        "simulations": refinement.simulations,
        "sensitivity_runs": refinement.sensitivity_runs,
        "audit": audited(about, beta),
        "possible": is_possible(about, beta, refinement.parameters),
    }


def is_possible(about: RobotCase, beta: Array, links: Array | None = None) -> bool:
    """Whether links that can exist have the torques of base parameters: the stronger claim.

    Args:
        about: the robot case.
        beta: base parameters, shape (b,), SI.
        links: a full vector behind them that should be possible, shape (p,), SI; None to look for one.

    Returns:
        Whether there are such links.
    """
    model = about.model
    if links is not None:
        return bool(check_parameters(model.layout, links).consistent)
    return bool(links_behind(about, beta).same)


def links_behind(about: RobotCase, beta: Array) -> FullSet:
    """Links that can exist and have the torques of base parameters, or change them least.

    Args:
        about: the robot case.
        beta: base parameters, shape (b,), SI.

    Returns:
        The full vector nearest to the description's, in the order of the model's layout.
    """
    whole, model = about.proof.whole_base, about.model
    return full_set(whole, whole.matrix @ model.standard(beta), feasible_set(model.layout))
