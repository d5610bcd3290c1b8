"""Stages over all runs: the cloud, the run that represents it, its rescue, and the held-out motions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.audit import largest_changes, parameter_cloud, prediction_error
from steelyard.campaigns.identification.fit import AUDIT_SEED, audited, is_possible, samples_of
from steelyard.campaigns.identification.record import followed
from steelyard.campaigns.identification.robot_case import RobotCase, robot_case_of
from steelyard.campaigns.task import Failure
from steelyard.consistency import project_to_all_poses, sample_poses
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import NoSolutionError
from steelyard.estimation.closed_loop import block_means
from steelyard.recording import Recording
from steelyard.rollout import rollout

Document = Mapping[str, Any]
STAGES = ("OLS", "SDP", "CLIE")
"""Least squares, the feasible start of the refinement, and its end, as Oaki et al. (2026) call them."""


POSES = 100_000
"""Poses at which the mass matrix of the chosen run is sampled, as Oaki et al. (2026) do."""


def cloud(
    subject: Document,
    fitted: Mapping[str, Document | Failure],
    starts: Mapping[str, Document | Failure],
    refined: Mapping[str, Document | Failure],
    labels: Sequence[str],
    motions: Sequence[str],
) -> dict[str, Any]:
    """Put all runs into one table, and choose the one that represents them.

    Args:
        subject: document of the robot case.
        fitted: of every run, results of `least_squares`.
        starts: of every run, results of `start`.
        refined: results of the refinement, each of one run or of all intervals of one.
        labels: of the runs, such as `AG02@40`.
        motions: of each run, name of its motion.

    Returns:
        `runs`, a list of what is known of each; `stages`, base parameters by stage, NaN where there are none;
        `dispersion` and `apart` by stage; `representative`, its label; names and units of the parameters.
    """
    about = robot_case_of(subject)
    intervals = about.settings.intervals
    model = about.model
    ends = _by_run(refined, len(intervals), len(labels))
    values = {stage: np.full((len(labels), model.size), np.nan) for stage in STAGES}
    runs = []
    for k, (label, ols, begin, end) in enumerate(
        zip(labels, fitted.values(), starts.values(), ends, strict=True)
    ):
        row: dict[str, Any] = {"run": label, "motion": motions[k], "interval": intervals[k % len(intervals)]}
        for stage, result in zip(STAGES, (ols, begin, end), strict=True):
            if isinstance(result, Failure):
                row.setdefault("failed", f"{stage}: {result.reason}")
            elif stage != "CLIE" or result["rms"] is not None:
                values[stage][k] = result["beta"]
        if not isinstance(ols, Failure):
            row |= {"cond": ols["cond"], "cond_scaled": ols["scaled"], "rms_ols": _rms(ols["rms"])}
        if not isinstance(begin, Failure):
            row |= {key: begin[key] for key in ("route", "margin")} | {"ols": begin["audit"]}
        if not isinstance(end, Failure):
            row |= {key: end[key] for key in ("outcome", "reason", "iterations", "possible")}
            row |= {"clie": end["audit"], "rms_clie": None if end["rms"] is None else _rms(end["rms"])}
        runs.append(row)
    found = parameter_cloud(values, labels, model.names, model.units)
    candidates = [row["run"] for row in runs if row["interval"] == about.settings.representative]
    return {
        "runs": runs,
        "stages": values,
        "names": list(model.names),
        "units": list(model.units),
        "dispersion": {stage.name: stage.mean_deviation for stage in found.stages},
        "robust_dispersion": {stage.name: stage.robust_mean_deviation for stage in found.stages},
        "scaled_dispersion": {stage.name: stage.robust_dispersion for stage in found.stages},
        "apart": {
            stage.name: [labels[k] for k in np.flatnonzero(stage.apart).tolist()] for stage in found.stages
        },
        "representative": found.representative(candidates),
    }


def final(subject: Document, cloud: Document) -> dict[str, Any]:
    """The model of the campaign: the representative run, rescued where it is not proven definite.

    Args:
        subject: document of the robot case.
        cloud: the cloud.

    Returns:
        `final` and `refined`, the parameters after and before the rescue; `rescued`, whether there was one;
        `stages` and `judged`, parameters and what is known of them by stage; `changes`, the largest.
    """
    about = robot_case_of(subject)
    label = cloud["representative"]
    k = [row["run"] for row in cloud["runs"]].index(label)
    stages = {stage: cloud["stages"][stage][k] for stage in STAGES}
    judged = {stage: _judged(about, beta) for stage, beta in stages.items()}
    refined = stages["CLIE"]
    rescued = not judged["CLIE"]["audit"]["proven"]
    beta = project_to_all_poses(about.proof, refined).beta if rescued else refined
    changes = largest_changes(refined, beta, about.model.names, about.model.units)
    return {
        "run": label,
        "stages": stages | {"final": beta},
        "judged": judged | {"final": _judged(about, beta)},
        "rescued": rescued,
        "refined": refined,
        "final": beta,
        "changes": [[x.name, x.unit, x.before, x.after] for x in changes],
    }


def validate_model(
    subject: Document, motions: Document, recorded: Document, final: Document, motion: str
) -> dict[str, Any]:
    """Predict the torques of a motion that no model has seen, two ways.

    Along the measured motion by inverse dynamics, on the samples of the representative interval; and by the
    simulated closed loop, block by block, which sees nothing of the motion but its reference.

    Args:
        subject: document of the robot case.
        motions: the motions.
        recorded: the run.
        final: the model of the campaign.
        motion: name of the motion.

    Returns:
        `inverse` and `loop`, each with `rmse`, N·m or N, and `mne` for the models `refined` and `final`; the
        `time`, s, and torques `measured` and `predicted` of the closed loop, N·m or N.
    """
    about = robot_case_of(subject)
    interval = about.settings.representative
    log = followed(about, recorded, motions, motion)
    samples = samples_of(log, interval)
    q, v, a, tau = (samples.channels[name] for name in ("q", "v", "a", "tau"))
    cycles = round(interval / about.loop.cycle)
    measured = block_means(log.channels["tau"], cycles)
    answer: dict[str, Any] = {"motion": motion, "inverse": {}, "loop": {}}
    for name in ("refined", "final"):
        phi = about.model.standard(final[name])
        along = inverse_dynamics(about.robot, about.model.layout, phi, q, v, a)
        answer["inverse"][name] = _errors(tau, along)
        try:
            simulated = block_means(_simulated(about, final[name], log), cycles)
        except NoSolutionError as error:
            answer["loop"][name] = {"failed": str(error)}
            continue
        answer["loop"][name] = _errors(measured, simulated)
        answer["predicted"] = simulated
    time = interval * (np.arange(len(measured)) + 0.5)
    return answer | {"time": time, "measured": measured}


def campaign_answer(
    cloud: Document | Failure,
    final: Document | Failure,
    validated: Mapping[str, Document | Failure],
    settings: Document,
) -> dict[str, Any]:
    """All that the campaign found, for its report.

    Args:
        cloud: of all runs.
        final: the model.
        validated: predictions of the held-out motions.
        settings: what was asked.

    Returns:
        `cloud`, `final`, `validated`, `settings`.

    Raises:
        NoSolutionError: no run led to a model.
    """
    for part in (cloud, final):
        if isinstance(part, Failure):
            raise NoSolutionError(f"no model: {part.reason}", place=part.task)
    return {
        "cloud": cloud,
        "final": final,
        "validated": {
            name: {"failed": part.reason} if isinstance(part, Failure) else part
            for name, part in validated.items()
        },
        "settings": settings,
    }


def _by_run(refined: Mapping[str, Document | Failure], intervals: int, runs: int) -> list[Document | Failure]:
    """The refinement of every run, whether its task did one interval or all."""
    each = runs // len(refined)
    assert each in (1, intervals)
    return [
        part if isinstance(part, Failure) else part["refined"][k]
        for part in refined.values()
        for k in range(each)
    ]


def _judged(about: RobotCase, beta: Array) -> dict[str, Any]:
    """What is known of base parameters: mass matrix sampled, minimised and proven, and links possible."""
    model = about.model
    low = sample_poses(
        model.robot,
        model.layout,
        model.standard(beta),
        about.domain,
        POSES,
        np.random.default_rng(AUDIT_SEED),
    )
    return {
        "audit": audited(about, beta),
        "sampled": low.value,
        "poses": POSES,
        "possible": is_possible(about, beta),
    }


def _simulated(about: RobotCase, beta: Array, log: Recording) -> Array:
    """Commanded torques of the loop, at every cycle, shape (N, nv), N·m or N."""
    model = about.model
    q, v, a = (log.channels[name] for name in ("q_ref", "v_ref", "a_ref"))
    basis = np.column_stack([model.basis, model.offset])
    one = np.append(beta, 1.0)
    return rollout(model.robot, model.layout, one, q, v, a, about.loop, basis=basis).tau


def _errors(measured: Array, predicted: Array) -> dict[str, Any]:
    error = prediction_error(measured, predicted)
    return {
        "rmse": error.rmse,
        "mne": error.mne,
        "joint_rmse": np.array(error.joint_rmse),
        "joint_normalised": np.array(error.joint_normalised),
    }


def _rms(by_joint: Array) -> float:
    return float(np.sqrt(np.mean(np.asarray(by_joint) ** 2)))
