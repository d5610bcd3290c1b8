"""`ReportContent`: everything a report says, as plain data, gathered from the objects of the line."""

from __future__ import annotations

import platform
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, keep_checked
from steelyard.audit import Status, TorqueError, Verdict, torque_error
from steelyard.errors import InputError, RecordingError, UnknownNameError
from steelyard.finding import Finding
from steelyard.identifiable import Class
from steelyard.problem import Estimate
from steelyard.recording import Recording, Step
from steelyard.report.arm import ArmDrawing, draw_arm
from steelyard.robot import Robot
from steelyard.signals import band_of, in_band

# `ReportContent`: everything a report says, as plain data; whoever made the numbers.


@dataclass(frozen=True, eq=False)
class TorqueTrace:
    """Measured and predicted torque along one motion.

    Attributes:
        name: what the motion is called.
        held_out: whether the model has not seen it.
        time: strictly increasing, shape (N,), s.
        measured: tau, shape (N, nv), N·m or N.
        predicted: tau_hat, shape (N, nv), N·m or N.
        unfiltered: where both are of the band of the motion, errors against torques as they were measured.
        without_links: errors of base parameters that no links need to have, in the same band; None where the
            prediction is theirs.
    """

    name: str
    held_out: bool
    time: Array
    measured: Array
    predicted: Array
    unfiltered: TorqueError | None = None
    without_links: TorqueError | None = None

    def __post_init__(self) -> None:
        n = len(checked("time", self.time, ("N",)))
        nv = checked("measured", self.measured, (n, "nv")).shape[1]
        keep_checked(self, (n,), "time")
        keep_checked(self, (n, nv), "measured", "predicted")
        if n < 2 or not (self.time[1:] > self.time[:-1]).all():
            raise InputError("must increase, over two samples at least.", place=f"trace '{self.name}', time")


@dataclass(frozen=True)
class ParameterLine:
    """One standard parameter.

    Attributes:
        name: such as `link3.mx`.
        owner: the link or joint it belongs to.
        unit: its unit.
        kind: what torques say about it; None where its value is known beforehand.
        value: the estimate, in its unit; None where there is none.
        lower: lower end of the 95 % interval, in its unit; minus infinity where torques set no bound.
        upper: upper end, in its unit; infinity where torques set no bound.
        nominal: what the description states, in its unit; None where it states nothing.
        decided_by: who decided it, such as `data` or `prior`; empty for no word.
    """

    name: str
    owner: str
    unit: str
    kind: Class | None
    value: float | None = None
    lower: float = float("-inf")
    upper: float = float("inf")
    nominal: float | None = None
    decided_by: str = ""

    @property
    def half_width(self) -> float:
        """Half the width of the interval, in the same unit; infinite where it has no end."""
        return (self.upper - self.lower) / 2.0


@dataclass(frozen=True)
class Combination:
    """One combination of parameters that torques determine, beta = Σ k φ.

    Attributes:
        terms: parameter names with their coefficients, the leading one first.
        unit: unit of the sum.
        value: the estimate, in that unit.
        lower: lower end of the 95 % interval, in that unit; minus infinity where unknown.
        upper: upper end, in that unit; infinity where unknown.
        nominal: what the description's numbers sum to, in that unit; None where some are not stated.
        random: half the width of the interval without errors of torque constants, in that unit; None where
            they add nothing.
    """

    terms: tuple[tuple[str, float], ...]
    unit: str
    value: float
    lower: float = float("-inf")
    upper: float = float("inf")
    nominal: float | None = None
    random: float | None = None

    @property
    def half_width(self) -> float:
        """Half the width of the interval, in the same unit; infinite where it has no end."""
        return (self.upper - self.lower) / 2.0


@dataclass(frozen=True)
class History:
    """How one set of data came about.

    Attributes:
        name: what it is called.
        digest: SHA-256 of the data as it was used.
        steps: what was done, oldest first.
    """

    name: str
    digest: str
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, eq=False)
class ReportContent:
    """What a report says.

    Attributes:
        robot: name of the robot.
        digest: SHA-256 of its description.
        method: name of the estimator.
        verdict: the checks and their outcome.
        joints: a name per degree of freedom.
        units: unit of the torque or force of each degree of freedom.
        traces: torque along motions; the order is the order of the page.
        parameters: the standard parameters.
        combinations: the base parameters.
        arm: the robot to draw; None to draw none.
        findings: what was noticed on the way.
        histories: how the data came about.
        facts: settings and diagnostics by name, as values JSON can hold.
        versions: versions of the software by name.
        read_back: for each model, the programs that read it back and agree, by name.
        untested: what was not tested, in sentences, besides the checks that were not run.
        made: when and by whom the report was made; empty to leave it out.
        schema: number of this layout.
    """

    robot: str
    digest: str
    method: str
    verdict: Verdict
    joints: tuple[str, ...]
    units: tuple[str, ...]
    traces: tuple[TorqueTrace, ...] = ()
    parameters: tuple[ParameterLine, ...] = ()
    combinations: tuple[Combination, ...] = ()
    arm: ArmDrawing | None = None
    findings: tuple[Finding, ...] = ()
    histories: tuple[History, ...] = ()
    facts: Mapping[str, object] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    read_back: Mapping[str, Sequence[str]] = field(default_factory=dict)
    untested: tuple[str, ...] = ()
    made: str = ""
    schema: int = 1

    def __post_init__(self) -> None:
        check_traces(self.joints, self.units, self.traces)
        for name in ("facts", "versions", "read_back"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))


def check_traces(joints: Sequence[str], units: Sequence[str], traces: Sequence[TorqueTrace]) -> None:
    """Refuse units and torques of other joints than those a page is about.

    Args:
        joints: a name per degree of freedom.
        units: unit of the torque or force of each.
        traces: torque along motions.

    Raises:
        InputError: their numbers differ.
    """
    nv = len(joints)
    if len(units) != nv:
        raise InputError(f"{len(units)} units for {nv} joints.", place="units")
    for trace in traces:
        if trace.measured.shape[1] != nv:
            raise InputError(
                f"has {trace.measured.shape[1]} columns of torque for {nv} joints.",
                place=f"trace '{trace.name}'",
            )


# The verdict in plain words, and the errors it rests on.

SYMBOLS = {Status.PASS: "✓", Status.WARN: "!", Status.FAIL: "✗", Status.NOT_RUN: "–"}


def headline(verdict: Verdict, judged: str = "this model", be: str = "is") -> str:
    """What is to be thought of a model or an answer, in a sentence.

    Args:
        verdict: the checks.
        judged: what was judged.
        be: the verb that goes with it.

    Returns:
        The sentence.
    """
    count = {status: sum(check.status is status for check in verdict.checks) for status in Status}
    if verdict.status is Status.FAIL:
        return f"Do not rely on {judged}: {_checks(count[Status.FAIL])} failed."
    if verdict.status is Status.WARN:
        warned = count[Status.WARN]
        return f"Use {judged} with care: {_checks(warned)} {'warns' if warned == 1 else 'warn'}."
    if verdict.status is Status.PASS:
        ran = count[Status.PASS]
        return "The one check that was run passed." if ran == 1 else f"All {ran} checks that were run passed."
    return f"Nothing is known about how good {judged} {be}: no check was run."


def torque_error_words(content: ReportContent) -> list[tuple[TorqueTrace, TorqueError]]:
    """How far predictions are off, motion by motion.

    Args:
        content: what the report says.

    Returns:
        Each motion with its errors in percent.
    """
    return [(trace, torque_error(trace.measured, trace.predicted)) for trace in content.traces]


def _checks(count: int) -> str:
    return "one check" if count == 1 else f"{count} checks"


# What an estimate says about each parameter, and about each combination torques determine.

WITHIN = 1.959963984540054
"""Standard deviations to either side that hold 95 % of a normal distribution."""


def combinations(estimate: Estimate) -> tuple[Combination, ...]:
    """The base parameters of an estimate as formulas, with the intervals of its covariance.

    Returns:
        One combination per base parameter.
    """
    layout, base = estimate.layout, estimate.base
    half = WITHIN * np.hypot(estimate.deviations, estimate.systematic_deviations)
    random = WITHIN * estimate.deviations
    found = []
    for row, column, beta, h, r in zip(base.matrix, base.columns, estimate.values, half, random, strict=True):
        order = [int(column), *(int(k) for k in np.flatnonzero(row) if k != column)]
        nominal = float(row[order] @ layout.nominal[order])
        found.append(
            Combination(
                terms=tuple((layout.names[k], float(row[k])) for k in order),
                unit=layout.parameters[column].unit,
                value=float(beta),
                lower=float(beta - h),
                upper=float(beta + h),
                nominal=None if np.isnan(nominal) else nominal,
                random=None if estimate.systematic is None else float(r),
            )
        )
    return tuple(found)


def parameter_lines(
    estimate: Estimate, intervals: ArrayLike | None = None, decided_by: Sequence[str] = ()
) -> tuple[ParameterLine, ...]:
    """The standard parameters of an estimate.

    A parameter that torques tell only in a sum has a value where the estimate is a full one: that value is
    one choice of many, and no interval bounds it unless one is given.

    Args:
        estimate: the estimate.
        intervals: 95 % intervals of phi, lower and upper ends, shape (p, 2), SI; None for those of the
            covariance, around what the data says alone.
        decided_by: for each parameter who decided it; empty for no word.

    Returns:
        One line per parameter, in the order of the layout.
    """
    layout = estimate.layout
    kinds = _kinds(estimate)
    phi = np.full(layout.size, np.nan) if estimate.parameters is None else estimate.parameters.copy()
    known = ~layout.free
    phi[known] = layout.nominal[known]
    if intervals is not None:
        ends = checked("intervals", intervals, (layout.size, 2), finite=False)
    else:
        ends = np.tile([-np.inf, np.inf], (layout.size, 1))
        half = WITHIN * np.hypot(estimate.deviations, estimate.systematic_deviations)
        for column, beta, h in zip(estimate.base.columns, estimate.values, half, strict=True):
            if kinds[column] is Class.ALONE:
                phi[column] = beta
                ends[column] = beta - h, beta + h
    words = decided_by or [""] * layout.size
    return tuple(
        ParameterLine(x.name, x.owner, x.unit, kind, _stated(value), float(low), float(high), x.nominal, word)
        for x, kind, value, (low, high), word in zip(layout.parameters, kinds, phi, ends, words, strict=True)
    )


def _kinds(estimate: Estimate) -> list[Class | None]:
    """The classes by K, which is the identity at the base parameters' columns."""
    K, heads = estimate.base.matrix, set(estimate.base.columns.tolist())
    alone = {int(c) for row, c in zip(K, estimate.base.columns, strict=True) if np.count_nonzero(row) == 1}
    kinds: list[Class | None] = []
    for k, free in enumerate(estimate.layout.free):
        if not free:
            kinds.append(None)
        elif k in heads:
            kinds.append(Class.ALONE if k in alone else Class.BASE)
        else:
            kinds.append(Class.GROUPED if K[:, k].any() else Class.UNIDENTIFIABLE)
    return kinds


def _stated(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


# A report's content from the objects of the line: robot, estimate, recordings and verdict.

POSES = 60
"""Poses of a motion the arm is drawn in."""


def identification_content_of(
    robot: Robot,
    estimate: Estimate,
    verdict: Verdict,
    recordings: Mapping[str, Recording],
    *,
    held_out: Collection[str] = (),
    intervals: ArrayLike | None = None,
    decided_by: Sequence[str] = (),
    findings: Sequence[Finding] = (),
    untested: Sequence[str] = (),
    read_back: Mapping[str, Sequence[str]] | None = None,
    made: str = "",
) -> ReportContent:
    """Gather what a report says.

    Args:
        robot: the robot.
        estimate: what was found out about it.
        verdict: what is to be thought of that.
        recordings: the motions to show by name, with q, v, a and tau; those held out come first on the page.
        held_out: names of the motions the estimate has not seen.
        intervals: 95 % intervals of phi, lower and upper ends, shape (p, 2), SI; None for those of the
            estimate's covariance, which bound what torques determine alone and nothing else.
        decided_by: for each parameter who decided it, such as `data` or `prior`; empty for no word.
        findings: what was noticed besides the estimate's own findings, oldest first.
        untested: what was not tested, in sentences, besides the checks that were not run.
        read_back: for each model, the programs that read it back and agree, by name.
        made: when and by whom the report is made.

    Raises:
        UnknownNameError: a name in `held_out` is no recording.
        RecordingError: a recording lacks a channel.
    """
    for name in held_out:
        if name not in recordings:
            raise UnknownNameError("recording", name, recordings)
    ordered = sorted(recordings, key=lambda name: name not in held_out)
    traces = [_trace(robot, estimate, name, recordings[name], name in held_out) for name in ordered]
    joints = [joint for joint in robot.joints for _ in range(joint.nv)]
    return ReportContent(
        robot=robot.name,
        digest=robot.digest,
        method=estimate.method,
        verdict=verdict,
        joints=tuple(joint.name for joint in joints),
        units=tuple(joint.effort_unit for joint in joints),
        traces=tuple(traces),
        parameters=parameter_lines(estimate, intervals, decided_by),
        combinations=combinations(estimate),
        arm=_arm(robot, estimate, ordered[0] if ordered else "", recordings),
        findings=(*findings, *estimate.findings),
        histories=tuple(History(n, recordings[n].digest, recordings[n].provenance) for n in ordered),
        facts={"samples": estimate.samples, "condition number": estimate.condition, **estimate.detail},
        versions={
            "steelyard": version("steelyard"),
            "numpy": version("numpy"),
            "scipy": version("scipy"),
            "python": platform.python_version(),
        },
        read_back=read_back or {},
        untested=tuple(untested),
        made=made,
    )


def _trace(robot: Robot, estimate: Estimate, name: str, recording: Recording, held_out: bool) -> TorqueTrace:
    if recording.tau is None:
        raise RecordingError("has no tau.", place=f"recording '{name}'", remedy="Leave it out of the report.")
    # As they are judged: in the band of the motion, above which no torque is to be predicted.
    modelled = estimate.torque(robot, recording)
    measured, predicted = in_band(recording, recording.tau), in_band(recording, modelled)
    plain = None if band_of(recording) is None else torque_error(recording.tau, modelled)
    alone = None
    if estimate.parameters is not None:
        base = replace(estimate, parameters=None).torque(robot, recording)
        alone = torque_error(measured, in_band(recording, base))
    return TorqueTrace(name, held_out, recording.time, measured, predicted, plain, alone)


def _arm(robot: Robot, estimate: Estimate, name: str, recordings: Mapping[str, Recording]) -> ArmDrawing:
    q: Array = robot.rest_pose[None]
    time: Array | None = None
    if name:
        shown = np.unique(np.linspace(0, recordings[name].n - 1, POSES).astype(int))
        q, time = recordings[name].q[shown], recordings[name].time[shown]
    return draw_arm(robot, estimate.layout, q, time=time, motion=name, parameters=estimate.parameters)
