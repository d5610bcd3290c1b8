"""Stages that refine: closed-loop input error from the start found, and what is proven of its end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.campaign.identification.fit import audited
from steelyard.campaign.identification.record import followed
from steelyard.campaign.identification.subject import Subject, subject_of
from steelyard.consistency import FullSet, check_parameters, full_set, possible_set
from steelyard.estimation import (
    Refinement,
    fit_closed_loop_input,
    loop_run,
    refine_intervals,
)

Document = Mapping[str, Any]


def refine_together(
    subject: Document, recorded: Document, motions: Document, starts: Mapping[str, Document], motion: str
) -> dict[str, Any]:
    """Refine one run at all sampling intervals, which share start and Jacobian.

    Args:
        subject: document of the subject.
        recorded: the run.
        motions: the motions.
        starts: where the refinement may start, by task; that of the representative interval is taken.
        motion: name of the motion.

    Returns:
        `refined`, one entry for each interval, see `_entry`.
    """
    about = subject_of(subject)
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
    """Refine one run at one sampling interval from its own start, as paper 004 does.

    Args:
        subject: document of the subject.
        recorded: the run.
        motions: the motions.
        start: result of `start`.
        motion: name of the motion.
        interval: of the samples, s.

    Returns:
        `refined`, with one entry.
    """
    about = subject_of(subject)
    run = loop_run(followed(about, recorded, motions, motion), interval)
    refinement = fit_closed_loop_input(
        about.model, [run], about.loop, start["beta"], constraint=_constraint(about)
    )
    return {"refined": [_entry(about, refinement)]}


def _constraint(about: Subject) -> Any:
    return about.links if about.settings.steps == "possible" else None


def _entry(about: Subject, refinement: Refinement) -> dict[str, Any]:
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


def is_possible(about: Subject, beta: Array, links: Array | None = None) -> bool:
    """Whether links that can exist have the torques of base parameters: the stronger claim.

    Args:
        about: the subject.
        beta: base parameters, shape (b,), SI.
        links: a full vector behind them that should be possible, shape (p,), SI; None to look for one.

    Returns:
        Whether there are such links.
    """
    model = about.model
    if links is not None:
        return bool(check_parameters(model.layout, links).consistent)
    return bool(links_behind(about, beta).same)


def links_behind(about: Subject, beta: Array) -> FullSet:
    """Links that can exist and have the torques of base parameters, or change them least.

    Args:
        about: the subject.
        beta: base parameters, shape (b,), SI.

    Returns:
        The full vector nearest to the description's, in the order of the model's layout.
    """
    whole, model = about.proof.whole_base, about.model
    return full_set(whole, whole.matrix @ model.standard(beta), possible_set(model.layout))
