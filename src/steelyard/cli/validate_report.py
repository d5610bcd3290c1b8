"""The page of `steelyard validate`: verdict, torques, the arm and the findings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from steelyard.cli.validate_line import Validation
from steelyard.cli.validate_model import GivenModel
from steelyard.export import record_document, versions, write_folder
from steelyard.finding import Finding
from steelyard.recording import Recording
from steelyard.report import History, ReportContent, TorqueTrace, draw_arm, report_page
from steelyard.signals import in_band

POSES = 60
"""Poses of the first log the arm is drawn in."""


def write_report(
    out: Path,
    given: GivenModel,
    done: Validation,
    logs: Mapping[str, Recording],
    findings: Sequence[Finding],
    *,
    force: bool = False,
) -> None:
    """Write the page and its record into a new folder."""
    model = given.model
    joints = [joint for joint in model.robot.joints for _ in range(joint.nv)]
    name, first = next(iter(logs.items()))
    shown = np.unique(np.linspace(0, first.n - 1, POSES).astype(int))
    content = ReportContent(
        robot=model.robot.name,
        digest=model.robot.digest,
        method="none, the model was given",
        verdict=done.verdict,
        joints=done.joints,
        units=tuple(joint.effort_unit for joint in joints),
        traces=tuple(_trace(given, Path(name).name, log, done) for name, log in logs.items()),
        arm=draw_arm(
            model.robot,
            model.layout,
            first.q[shown],
            time=first.time[shown],
            motion=Path(name).name,
            parameters=model.parameters,
        ),
        findings=tuple(findings),
        histories=tuple(History(Path(name).name, log.digest, log.provenance) for name, log in logs.items()),
        versions=versions(),
    )
    files = {"report.html": report_page(content).encode()}
    # By its record a later run knows that the folder may be replaced.
    record = record_document(model.robot, model.layout, files)
    files["record.json"] = (json.dumps(record, indent=2, ensure_ascii=False) + "\n").encode()
    write_folder(out, files, force=force)


def _trace(given: GivenModel, name: str, log: Recording, done: Validation) -> TorqueTrace:
    channels = log.channels
    predicted = given.model.torque(channels["q"], channels["v"], channels["a"])
    measured, modelled = in_band(log, channels["tau"]), in_band(log, predicted)
    return TorqueTrace(name, not done.repeat, log.time, measured, modelled)
