"""A report's content from the objects of the line: robot, estimate, recordings and verdict."""

from __future__ import annotations

import platform
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array
from steelyard.audit import Verdict, torque_error
from steelyard.errors import RecordingError, UnknownNameError
from steelyard.finding import Finding
from steelyard.limits import rest_pose
from steelyard.problem import Estimate
from steelyard.recording import Recording
from steelyard.report.arm_drawing import ArmDrawing, draw_arm
from steelyard.report.content import History, ReportContent, TorqueTrace
from steelyard.report.parameter_lines import combinations, parameter_lines
from steelyard.robot import Robot
from steelyard.signals import band_of, in_band

POSES = 60
"""Poses of a motion the arm is drawn in."""


def content_of(
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

    Returns:
        The content.

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
    q: Array = rest_pose(robot)[None]
    time: Array | None = None
    if name:
        shown = np.unique(np.linspace(0, recordings[name].n - 1, POSES).astype(int))
        q, time = recordings[name].q[shown], recordings[name].time[shown]
    return draw_arm(robot, estimate.layout, q, time=time, motion=name, parameters=estimate.parameters)
