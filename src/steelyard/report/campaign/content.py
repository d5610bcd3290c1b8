"""`CampaignContent`: everything the page of a campaign says, as plain data; whoever ran it."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from steelyard import __version__
from steelyard.arrays import Array, checked, read_only
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
from steelyard.campaigns import (
    CampaignOutcome,
    CampaignReference,
    Spec,
    campaign_reference,
    motion_of,
    robot_case_of,
)
from steelyard.errors import InputError, UnknownNameError
from steelyard.report.content import TorqueTrace
from steelyard.report.html import MINUS, Typeset, numeral

# What the page of a campaign is made of: a run, a stage of the chosen model, a parameter, a motion.


@dataclass(frozen=True, eq=False)
class CampaignRun:
    """One motion at one sampling interval, through all stages.

    Attributes:
        motion: its name.
        interval: between samples, s.
        condition: of the regressor, dimensionless; None where there was none.
        passed: whether least squares gave a positive definite inertia matrix; None where it gave nothing.
        route: the stages it went through, such as `O-S-C`.
        margin: smallest eigenvalue the projection asked for, kg·m²; None where nothing was projected.
        rms: of the torque left after each stage, by its name, N·m.
        iterations: of the refinement; None where there was none.
        outcome: how it ended, in a word or two, such as `converged`.
        proven: whether the result is proven positive definite at every pose; None where that was not asked.
        seconds: it took, s of one core; NaN where that is not known.
        reason: why it failed, in a sentence; empty where it did not.
    """

    motion: str
    interval: float
    condition: float | None
    passed: bool | None
    route: str
    margin: float | None
    rms: Mapping[str, float]
    iterations: int | None
    outcome: str
    proven: bool | None
    seconds: float
    reason: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rms", MappingProxyType(dict(self.rms)))

    @property
    def label(self) -> str:
        """Motion and interval, such as `AG02 @ 40 ms`; as in the labels of the cloud."""
        return f"{self.motion} @ {1e3 * self.interval:g} ms"

    @property
    def family(self) -> str:
        """The letters its motion's name begins with, such as `AG`."""
        return self.motion.rstrip("0123456789") or self.motion

    @property
    def failed(self) -> bool:
        """Whether it ended without a result."""
        return bool(self.reason)


@dataclass(frozen=True)
class StageJudgement:
    """What is known of the chosen model after one stage.

    Attributes:
        stage: its name.
        sampled: smallest eigenvalue of the inertia matrix over sampled poses, kg·m²; None where not asked.
        poses: number of those poses.
        minimised: the smallest that local minimisation found, kg·m²; None where not asked.
        proven: whether it is proven positive at every pose; None where not asked.
        bound: the proven lower bound of the smallest eigenvalue, kg·m²; None without one.
        possible: whether links of real mass can have these parameters; None where not asked.
        margin: what this stage asked of the smallest eigenvalue, kg·m²; None where it asked nothing.
        remark: what the stage is, in a few words.
    """

    stage: str
    sampled: float | None = None
    poses: int = 0
    minimised: float | None = None
    proven: bool | None = None
    bound: float | None = None
    possible: bool | None = None
    margin: float | None = None
    remark: str = ""


@dataclass(frozen=True)
class AcceptedParameter:
    """One parameter of the accepted model.

    Attributes:
        name: of the parameter.
        unit: its unit.
        value: accepted, in its unit.
    """

    name: str
    unit: str
    value: float


@dataclass(frozen=True)
class HeldOutMotion:
    """How well two models predict a motion that neither has seen.

    Attributes:
        motion: its name.
        refined: errors of the refined model.
        final: errors of the accepted model.
    """

    motion: str
    refined: PredictionError
    final: PredictionError


@dataclass(frozen=True, eq=False)
class CommandCurves:
    """What the joints were told to do along a motion; arrays are read-only.

    Attributes:
        motion: its name.
        told: what the motion is for, in a few words.
        joints: names of those shown.
        units: their units.
        time: increasing, shape (N,), s.
        values: commanded positions, shape (N, n), rad or m.
    """

    motion: str
    told: str
    joints: tuple[str, ...]
    units: tuple[str, ...]
    time: Array
    values: Array

    def __post_init__(self) -> None:
        time = checked("time", self.time, ("N",))
        values = checked("values", self.values, (len(time), len(self.joints)))
        if len(self.units) != len(self.joints):
            raise InputError(f"{len(self.units)} units for {len(self.joints)} joints.", place="units")
        if len(time) < 2 or not (time[1:] > time[:-1]).all():
            raise InputError("must increase, over two samples at least.", place=f"commands '{self.motion}'")
        object.__setattr__(self, "time", read_only(time))
        object.__setattr__(self, "values", read_only(values))


# Numbers and answers of a campaign as the page says them.

THIN = "\u202f"
Cell = str | Mapping[str, str]
"""Of a table: plain text; or by name what is `strong`, a `number` with a `small` one, a `name` from a file,
with the `measure` before it where there is one."""


def duration(seconds: float) -> Typeset:
    """A time for people: in seconds, and in minutes or hours where it is long.

    Args:
        seconds: s; NaN where it is not known.

    Returns:
        Plain text.
    """
    if math.isnan(seconds):
        return Typeset("–")
    if seconds >= 1e4:
        return Typeset(f"{_grouped(seconds)}{THIN}s ({seconds / 3600.0:.0f}{THIN}h)")
    if seconds >= 120.0:
        return Typeset(f"{_grouped(seconds)}{THIN}s ({seconds / 60.0:.0f}{THIN}min)")
    return Typeset(f"{numeral(seconds, digits=3)}{THIN}s")


def milliseconds(seconds: float) -> Typeset:
    """A sampling interval.

    Args:
        seconds: s.

    Returns:
        Plain text, in ms.
    """
    return Typeset(f"{1e3 * seconds:g}{THIN}ms")


def number(value: float | None, unit: str = "", *, digits: int = 3) -> Typeset:
    """A number with its unit; a dash for none.

    Args:
        value: in the unit; None or NaN for none.
        unit: as it is read; empty for a dimensionless number.
        digits: significant ones.

    Returns:
        Plain text.
    """
    if value is None or math.isnan(value):
        return Typeset("–")
    return Typeset(f"{numeral(value, digits=digits)}{THIN + unit if unit else ''}")


def stated_number(value: float | None) -> str:
    """A number that somebody chose, with the digits it was chosen with; a dash for none.

    Args:
        value: any unit; None for none.

    Returns:
        Plain text.
    """
    return "–" if value is None else f"{value:g}".replace("-", MINUS)


def counted(count: int, what: str) -> str:
    """A count with its noun, in the plural where it is not one.

    Args:
        count: how many.
        what: the noun, which takes an s.

    Returns:
        Text.
    """
    return f"{count} {what}{'' if count == 1 else 's'}"


def campaign_table(told: str, heads: Sequence[str], *groups: Sequence[Sequence[Cell]]) -> dict[str, Any]:
    """A table as the macro `cells` of `campaign_parts.html` writes it.

    Args:
        told: what it shows.
        heads: a heading for each column; the first is that of the rows' own headings.
        groups: rows that belong together, each with as many cells as there are heads.

    Returns:
        What the template tells.
    """
    return {"told": told, "heads": heads, "groups": groups}


def _grouped(value: float) -> str:
    return f"{value:,.0f}".replace(",", THIN)


@dataclass(frozen=True, eq=False)
class CampaignContent:
    """What the page says.

    Attributes:
        name: of the campaign.
        robot: name of the robot.
        digest: SHA-256 of its description.
        setting: name of the protocol, such as `shared starts`.
        setting_words: what that protocol does, in a sentence or two.
        simulated: whether the logs come from a simulated plant.
        runs: every motion at every sampling interval.
        verdict: the checks and their outcome.
        wall_seconds: from start to end, s.
        cpu_seconds: of all cores together, s; NaN where that is not known.
        cores: that worked.
        cloud: the answers after every stage, its labels those of the runs; None where there is none.
        compared: motions that are set beside each other.
        representative: label of the run whose answer was chosen; empty for none.
        candidates: labels it was chosen from; empty for all.
        stages: what is known of the chosen answer, stage by stage.
        changes: parameters that the last stage changed most.
        changed_from: name of the stage before the last, with which the changes are compared.
        parameters: of the accepted model.
        held_out: errors of prediction on motions not used.
        joints: names of those whose torque is shown.
        units: units of their torque.
        traces: their torque along motions, measured and predicted by the accepted model.
        commands: reference commands of motions.
        reference: figures of somebody else that stand beside these; None for none.
        assumptions: what the results rest on, in sentences.
        digests: SHA-256 by what was read.
        versions: of the software, by name.
        spec: the description of the campaign, as it was read.
        untested: what was not tested, in sentences.
        made: when and by whom the page was made; empty to leave it out.
        schema: number of this layout.
    """

    name: str
    robot: str
    digest: str
    setting: str
    setting_words: str
    simulated: bool
    runs: tuple[CampaignRun, ...]
    verdict: Verdict
    wall_seconds: float
    cpu_seconds: float
    cores: int
    cloud: ParameterCloud | None = None
    compared: tuple[str, ...] = ()
    representative: str = ""
    candidates: tuple[str, ...] = ()
    stages: tuple[StageJudgement, ...] = ()
    changes: tuple[ParameterChange, ...] = ()
    changed_from: str = ""
    parameters: tuple[AcceptedParameter, ...] = ()
    held_out: tuple[HeldOutMotion, ...] = ()
    joints: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    traces: tuple[TorqueTrace, ...] = ()
    commands: tuple[CommandCurves, ...] = ()
    reference: CampaignReference | None = None
    assumptions: tuple[str, ...] = ()
    digests: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    spec: str = ""
    untested: tuple[str, ...] = ()
    made: str = ""
    schema: int = 1

    def __post_init__(self) -> None:
        labels = [run.label for run in self.runs]
        if len(set(labels)) != len(labels):
            raise InputError("must hold every motion at every interval once.", place="runs")
        if self.cloud is not None and not set(self.cloud.labels) <= set(labels):
            other = next(label for label in self.cloud.labels if label not in labels)
            raise UnknownNameError("run", other, labels, place="cloud")
        for label in (*self.candidates, *([self.representative] if self.representative else ())):
            if label not in labels:
                raise UnknownNameError("run", label, labels, place="representative, candidates")
        for motion in self.compared:
            if motion not in self.motions:
                raise UnknownNameError("motion", motion, self.motions, place="compared")
        stated = len(self.reference.parameters) if self.reference is not None else 0
        if stated and self.parameters and stated != len(self.parameters):
            raise InputError(
                f"states {stated} parameters for {len(self.parameters)}.", place="reference.parameters"
            )
        for name in ("digests", "versions"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def motions(self) -> tuple[str, ...]:
        """Names of the motions, in their order."""
        return tuple(dict.fromkeys(run.motion for run in self.runs))

    @property
    def intervals(self) -> tuple[float, ...]:
        """Sampling intervals, increasing, s."""
        return tuple(sorted({run.interval for run in self.runs}))

    @property
    def failures(self) -> tuple[CampaignRun, ...]:
        """Runs without a result."""
        return tuple(run for run in self.runs if run.failed)

    @property
    def proven(self) -> int:
        """Number of runs whose result is proven positive definite at every pose."""
        return sum(run.proven is True and not run.failed for run in self.runs)

    @property
    def median_seconds(self) -> float:
        """Median time of a run, s of one core; NaN where no time is known."""
        known = [run.seconds for run in self.runs if np.isfinite(run.seconds)]
        return float(np.median(known)) if known else float("nan")

    def run(self, motion: str, interval: float) -> CampaignRun | None:
        """The run of a motion at an interval (s), or None."""
        return next((run for run in self.runs if (run.motion, run.interval) == (motion, interval)), None)


# What the page of an identification campaign says, gathered from the results of its tasks.

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


def campaign_content_of(spec: Spec, outcome: CampaignOutcome, answer: Mapping[str, Any]) -> CampaignContent:
    """Gather what the page says.

    Args:
        spec: what was asked.
        outcome: how the tasks ended.
        answer: result of the last one.
    """
    settings, cloud, final = answer["settings"], answer["cloud"], answer["final"]
    about = robot_case_of(outcome.result("subject"))
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
    reference = campaign_reference(spec)
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
        parameters=tuple(
            AcceptedParameter(name, unit, float(value))
            for name, unit, value in zip(cloud["names"], cloud["units"], final["final"], strict=True)
        ),
        held_out=held_out,
        joints=tuple(about.robot.joint_names[j] for j in joints),
        units=tuple(about.robot.joints[j].effort_unit for j in joints),
        traces=_traces_of(answer["validated"], joints),
        commands=_commands_of(outcome, settings, joints),
        reference=reference,
        assumptions=_assumptions(settings),
        digests={"robot": about.robot.digest, "reference": reference.digest if reference else ""},
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


def _run_of(row: Mapping[str, Any], outcome: CampaignOutcome) -> CampaignRun:
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


def _seconds(run: str, name: str, outcome: CampaignOutcome) -> float:
    """What a run took after its log was there; a task that refines all intervals is shared among them."""
    ends = outcome.ends
    together = f"refine.{name}" in ends
    mates = sum(task.startswith(f"ols.{name}@") for task in ends)
    refined = ends[f"refine.{name}"].seconds / mates if together else ends[f"refine.{run}"].seconds
    return float(ends[f"ols.{run}"].seconds + ends[f"start.{run}"].seconds + refined)


def _total_seconds(outcome: CampaignOutcome) -> float:
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
    outcome: CampaignOutcome, settings: Mapping[str, Any], joints: Sequence[int]
) -> tuple[CommandCurves, ...]:
    """References of the last motion compared and of the last held out."""
    motions = outcome.result("motions")
    shown = [(name, "identification") for name in settings["compared"][-1:] if name in motions["motions"]] + [
        (name, "held out") for name in motions["held_out"][-1:]
    ]
    robot = robot_case_of(outcome.result("subject")).robot
    curves = []
    for name, told in shown:
        motion = motion_of(motions, name)
        time = np.linspace(0.0, motion.duration, _CURVE)
        names = tuple(robot.joint_names[j] for j in joints)
        units = tuple(robot.joints[j].position_unit for j in joints)
        curves.append(CommandCurves(name, told, names, units, time, motion.sample(time).q[:, joints]))
    return tuple(curves)
