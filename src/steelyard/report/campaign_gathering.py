"""What the page of an identification campaign says, gathered from the results of its tasks."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from steelyard import __version__
from steelyard.audit import (
    Check,
    ParameterChange,
    ParameterCloud,
    PredictionError,
    Status,
    Verdict,
    check_cloud,
    check_prediction_kept,
    parameter_cloud,
)
from steelyard.campaign import Outcome, Spec, motion_of, subject_of
from steelyard.report.campaign_content import CampaignContent
from steelyard.report.campaign_parts import (
    AcceptedParameter,
    CampaignRun,
    CommandCurves,
    HeldOutMotion,
    StageJudgement,
)
from steelyard.report.content import TorqueTrace

_SETTINGS = {
    "shared": "The sampling intervals of a motion share the start of the refinement and its Jacobian.",
    "independent": "Every motion at every sampling interval is refined from its own start.",
}
_STARTS = {
    "possible": "It starts at the links that can exist and fit the log best.",
    "projected": "It starts at least squares, changed as little as makes the mass matrix definite.",
}
_STEPS = {"possible": "Every step keeps the links possible.", "free": "Steps are not constrained."}
_REMARKS = {
    "OLS": "least squares",
    "SDP": "where the refinement starts",
    "CLIE": "closed-loop input error",
    "final": "accepted",
}
_CURVE = 2000  # samples of a drawn command


def campaign_content_of(spec: Spec, outcome: Outcome, answer: Mapping[str, Any]) -> CampaignContent:
    """Gather what the page says.

    Args:
        spec: what was asked.
        outcome: how the tasks ended.
        answer: result of the last one.

    Returns:
        The content.
    """
    settings, cloud, final = answer["settings"], answer["cloud"], answer["final"]
    about = subject_of(outcome.result("subject"))
    runs = tuple(_run_of(row, outcome) for row in cloud["runs"])
    labels = [run.label for run in runs]
    found = parameter_cloud(
        {stage: np.asarray(values) for stage, values in cloud["stages"].items()},
        labels,
        cloud["names"],
        cloud["units"],
    )
    by_name = dict(zip([row["run"] for row in cloud["runs"]], labels, strict=True))
    held_out = tuple(_held_out_of(part) for part in answer["validated"].values() if "failed" not in part)
    joints = [k - 1 for k in settings["traced"]] or list(range(about.robot.nv))
    published = settings["published"]
    return CampaignContent(
        name=spec.name,
        robot=about.robot.name,
        digest=about.robot.digest,
        setting="shared starts" if settings["sharing"] == "shared" else "runs on their own",
        setting_words=" ".join(
            (_SETTINGS[settings["sharing"]], _STARTS[settings["start"]], _STEPS[settings["steps"]])
        ),
        simulated=True,
        runs=runs,
        verdict=_verdict(runs, found, final, held_out),
        wall_seconds=outcome.seconds,
        cpu_seconds=_total_seconds(outcome),
        cores=os.cpu_count() or 1,
        cloud=found,
        compared=tuple(name for name in settings["compared"] if any(run.motion == name for run in runs)),
        representative=by_name[final["run"]],
        candidates=tuple(run.label for run in runs if run.interval == settings["representative"]),
        stages=tuple(_stage_of(name, final["judged"][name]) for name in final["judged"]),
        changes=tuple(ParameterChange(*change) for change in final["changes"]) if final["rescued"] else (),
        changed_from="CLIE",
        parameters=_parameters_of(cloud, final["final"], published),
        held_out=held_out,
        joints=tuple(about.robot.joint_names[j] for j in joints),
        units=tuple(about.robot.joints[j].effort_unit for j in joints),
        traces=_traces_of(answer["validated"], joints),
        commands=_commands_of(outcome, settings, joints),
        beside_paper=bool(published),
        assumptions=_assumptions(settings),
        digests={"robot": about.robot.digest},
        versions={"steelyard": __version__, "python": platform.python_version(), "numpy": np.__version__},
        spec=spec.path.read_text(encoding="utf-8"),
    )


def _verdict(
    runs: Sequence[CampaignRun], cloud: ParameterCloud, final: Any, held_out: Sequence[HeldOutMotion]
) -> Verdict:
    failed = sum(run.failed for run in runs)
    proven = sum(run.proven is True and not run.failed for run in runs)
    accepted = final["judged"]["final"]
    definite = accepted["audit"]["proven"]
    return Verdict(
        (
            Check(
                "runs",
                Status.FAIL if failed else Status.PASS,
                f"{len(runs) - failed} of {len(runs)} runs were refined; {proven} are proven definite.",
            ),
            check_cloud(cloud),
            Check(
                "accepted model, every pose",
                Status.PASS if definite else Status.FAIL,
                f"proven: its mass matrix has no eigenvalue below {accepted['audit']['bound']:.3g} anywhere."
                if definite
                else "not proven positive definite at every pose.",
            ),
            Check(
                "accepted model, links",
                Status.PASS if accepted["possible"] else Status.WARN,
                "links that can exist have its torques."
                if accepted["possible"]
                else "no links that can exist have its torques.",
            ),
            check_prediction_kept(
                {item.motion: item.refined for item in held_out},
                {item.motion: item.final for item in held_out},
            ),
        )
    )


def _assumptions(settings: Mapping[str, Any]) -> tuple[str, ...]:
    said = [
        f"The robot is simulated: MuJoCo with the sensors of preset '{settings['sensor']}'.",
        "Measured and simulated torques are compared as means over blocks of one sampling interval.",
        "Proofs for every pose take the kinematics of the description as exact.",
    ]
    if settings["reduce"] == "products":
        said.append(f"Products of inertia are zero in the frames '{settings['frames']}' of the links.")
    if settings["lumped"]:
        said.append(f"These links count as part of the one before: {', '.join(settings['lumped'])}.")
    return tuple(said)


def _run_of(row: Mapping[str, Any], outcome: Outcome) -> CampaignRun:
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
        seconds=_seconds(row["run"], name, outcome),
        reason=reason,
    )


def _seconds(run: str, name: str, outcome: Outcome) -> float:
    """What a run took after its log was there; a task that refines all intervals is shared among them."""
    ends = outcome.ends
    together = f"refine.{name}" in ends
    mates = sum(task.startswith(f"ols.{name}@") for task in ends)
    refined = ends[f"refine.{name}"].seconds / mates if together else ends[f"refine.{run}"].seconds
    return float(ends[f"ols.{run}"].seconds + ends[f"start.{run}"].seconds + refined)


def _total_seconds(outcome: Outcome) -> float:
    """Processor time of all tasks, s; those that came from the store count as they were computed."""
    known = [end.seconds for end in outcome.ends.values() if math.isfinite(end.seconds)]
    return float(sum(known))


def _stage_of(name: str, judged: Mapping[str, Any]) -> StageJudgement:
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


def _parameters_of(cloud: Any, values: Any, published: Mapping[str, Any]) -> tuple[AcceptedParameter, ...]:
    """The accepted parameters, beside those of a paper where it states as many."""
    names, units = cloud["names"], cloud["units"]
    other = list(published.items()) if len(published) == len(names) else [("", None)] * len(names)
    return tuple(
        AcceptedParameter(name, unit, float(value), *theirs)
        for name, unit, value, theirs in zip(names, units, values, other, strict=True)
    )


def _held_out_of(part: Mapping[str, Any]) -> HeldOutMotion:
    """How well the refined and the accepted model predict one motion, by the closed loop where it ran."""
    errors = {
        name: PredictionError(np.asarray(found["joint_rmse"]), np.asarray(found["joint_normalised"]))
        for name, found in part["loop" if "failed" not in part["loop"]["final"] else "inverse"].items()
    }
    return HeldOutMotion(part["motion"], errors["refined"], errors["final"])


def _traces_of(validated: Mapping[str, Any], joints: Sequence[int]) -> tuple[TorqueTrace, ...]:
    """Torques of the last motion that was predicted."""
    parts = [part for part in validated.values() if "predicted" in part]
    return tuple(
        TorqueTrace(
            part["motion"], True, part["time"], part["measured"][:, joints], part["predicted"][:, joints]
        )
        for part in parts[-1:]
    )


def _commands_of(
    outcome: Outcome, settings: Mapping[str, Any], joints: Sequence[int]
) -> tuple[CommandCurves, ...]:
    """References of the last motion compared and of the last held out."""
    motions = outcome.result("motions")
    shown = [(name, "identification") for name in settings["compared"][-1:] if name in motions["motions"]] + [
        (name, "held out") for name in motions["held_out"][-1:]
    ]
    robot = subject_of(outcome.result("subject")).robot
    curves = []
    for name, told in shown:
        motion = motion_of(motions, name)
        time = np.linspace(0.0, motion.duration, _CURVE)
        names = tuple(robot.joint_names[j] for j in joints)
        units = tuple(robot.joints[j].position_unit for j in joints)
        curves.append(CommandCurves(name, told, names, units, time, motion.sample(time).q[:, joints]))
    return tuple(curves)
