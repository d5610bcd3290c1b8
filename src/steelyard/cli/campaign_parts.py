"""Parts of the page of an identification campaign, made from the results of its tasks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from steelyard.audit import PredictionError
from steelyard.campaign import motion_of, subject_of
from steelyard.cli.campaign_line import Carried
from steelyard.report import (
    AcceptedParameter,
    CampaignRun,
    CommandCurves,
    HeldOutMotion,
    StageJudgement,
    TorqueTrace,
)

_REMARKS = {
    "OLS": "least squares",
    "SDP": "where the refinement starts",
    "CLIE": "closed-loop input error",
    "final": "accepted",
}
_CURVE = 2000  # samples of a drawn command


def run_of(row: Mapping[str, Any], done: Carried) -> CampaignRun:
    """One motion at one sampling interval."""
    name = row["run"].split("@")[0]
    rms = {stage: row.get(key) for stage, key in (("OLS", "rms_ols"), ("CLIE", "rms_clie"))}
    reason = row.get("failed", "")
    if not reason and row.get("rms_clie") is None:
        reason = f"{row.get('outcome', 'no refinement')}: {row.get('reason', '')}".rstrip(": ")
    return CampaignRun(
        motion=name,
        interval=row["interval"],
        condition=row.get("cond"),
        passed=row["ols"]["definite"] if "ols" in row else None,
        route=row.get("route", ""),
        margin=row.get("margin"),
        rms={stage: value for stage, value in rms.items() if value is not None},
        iterations=row.get("iterations"),
        outcome=row.get("outcome", "failed"),
        proven=row["clie"]["proven"] if "clie" in row and row.get("rms_clie") is not None else None,
        seconds=_seconds(row["run"], name, done),
        reason=reason,
    )


def _seconds(run: str, name: str, done: Carried) -> float:
    """What a run took after its log was there; a task that refines all intervals is shared among them."""
    ends = done.outcome.ends
    together = f"refine.{name}" in ends
    mates = sum(task.startswith(f"ols.{name}@") for task in ends)
    refined = ends[f"refine.{name}"].seconds / mates if together else ends[f"refine.{run}"].seconds
    return float(ends[f"ols.{run}"].seconds + ends[f"start.{run}"].seconds + refined)


def total_seconds(done: Carried) -> float:
    """Processor time of all tasks, s; those that came from the store count as they were computed."""
    known = [end.seconds for end in done.outcome.ends.values() if math.isfinite(end.seconds)]
    return float(sum(known))


def stage_of(name: str, judged: Mapping[str, Any]) -> StageJudgement:
    """What is known of the chosen run after one stage."""
    audit = judged["audit"]
    return StageJudgement(
        stage=name,
        sampled=judged["sampled"],
        poses=judged["poses"],
        minimised=audit["in_domain"] if audit["smallest"] is None else audit["smallest"],
        proven=audit["proven"],
        bound=audit["bound"],
        possible=judged["possible"],
        remark=_REMARKS[name],
    )


def parameters_of(cloud: Any, values: Any, published: Mapping[str, Any]) -> tuple[AcceptedParameter, ...]:
    """The accepted parameters, beside those of a paper where it states as many."""
    names, units = cloud["names"], cloud["units"]
    other = list(published.items()) if len(published) == len(names) else [("", None)] * len(names)
    return tuple(
        AcceptedParameter(name, unit, float(value), *theirs)
        for name, unit, value, theirs in zip(names, units, values, other, strict=True)
    )


def held_out_of(part: Mapping[str, Any]) -> HeldOutMotion:
    """How well the refined and the accepted model predict one motion, by the closed loop where it ran."""
    errors = {
        name: PredictionError(np.asarray(found["joint_rmse"]), np.asarray(found["joint_normalised"]))
        for name, found in part["loop" if "failed" not in part["loop"]["final"] else "inverse"].items()
    }
    return HeldOutMotion(part["motion"], errors["refined"], errors["final"])


def traces_of(validated: Mapping[str, Any], joints: Sequence[int]) -> tuple[TorqueTrace, ...]:
    """Torques of the last motion that was predicted."""
    parts = [part for part in validated.values() if "predicted" in part]
    return tuple(
        TorqueTrace(
            part["motion"], True, part["time"], part["measured"][:, joints], part["predicted"][:, joints]
        )
        for part in parts[-1:]
    )


def commands_of(
    done: Carried, settings: Mapping[str, Any], joints: Sequence[int]
) -> tuple[CommandCurves, ...]:
    """References of the last motion compared and of the last held out."""
    motions = done.outcome.result("motions")
    shown = [(name, "identification") for name in settings["compared"][-1:] if name in motions["motions"]] + [
        (name, "held out") for name in motions["held_out"][-1:]
    ]
    robot = subject_of(done.outcome.result("subject")).robot
    curves = []
    for name, told in shown:
        motion = motion_of(motions, name)
        time = np.linspace(0.0, motion.duration, _CURVE)
        names = tuple(robot.joint_names[j] for j in joints)
        units = tuple(robot.joints[j].position_unit for j in joints)
        curves.append(CommandCurves(name, told, names, units, time, motion.sample(time).q[:, joints]))
    return tuple(curves)
