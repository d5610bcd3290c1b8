"""The asset folder of `steelyard payload`: models for simulators, numbers, record and report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from steelyard.cli.payload_line import Weighed
from steelyard.cli.payload_request import PayloadRequest, pose_of
from steelyard.cli.payload_trials import beside_the_truth
from steelyard.errors import RecordingError
from steelyard.export import record_document, write_object
from steelyard.inertia import PARAMETER_NAMES, Body
from steelyard.layout import layout_of
from steelyard.payload import QUANTITIES
from steelyard.recording import Recording
from steelyard.report import (
    GainAnswer,
    TorqueTrace,
    TrialOutcome,
    payload_content_of,
    payload_page,
    payload_trace,
)

OF_OBJECT = {
    "mass": "m",
    **{f"com_{axis}": axis for axis in "xyz"},
    **{f"I_{axes}": f"I{axes}_com" for axes in ("xx", "xy", "yy", "xz", "yz", "zz")},
}
"""Names of the quantities in the asset's `parameters.json`."""
REPORT = "report.html"


def write_asset(
    done: Weighed, request: PayloadRequest, out: Path, *, truth: Body | None = None, force: bool = False
) -> dict[str, str]:
    """Write everything, or nothing; returns the paths by name."""
    estimate, bounds = done.estimate, done.bounds
    intervals = {
        OF_OBJECT[name]: (float(low), float(high))
        for name, low, high in zip(QUANTITIES, estimate.lower, estimate.upper, strict=True)
        if name in OF_OBJECT
    }
    sure = None
    if bounds is not None:
        ends = zip(bounds.lower.tolist(), bounds.upper.tolist(), strict=True)
        sure = dict(zip(PARAMETER_NAMES, ends, strict=True))
    told: dict[str, Any] = {
        "name": "payload",
        "frame": done.held.frame,
        "mesh": done.mesh,
        "intervals": intervals,
        "bounds": sure,
        "decided_by": {OF_OBJECT[name]: by for name, by in estimate.decided.items() if name in OF_OBJECT},
        "covariance": estimate.covariance,
        "checks": done.verdict.checks,
        "findings": done.findings,
    }
    steps = [step for log in (*done.runs.loaded, *done.runs.empty) for step in log.provenance]

    def record(files: Mapping[str, bytes]) -> dict[str, Any]:
        asked = request.document()
        return record_document(
            done.robot, layout_of(done.robot), files, steps=steps, seed=request.seed, request=asked
        )

    with TemporaryDirectory() as scratch:
        # The trials load the models as a simulator would, so these are written once before the report.
        first = write_object(Path(scratch) / "object", estimate.body, **told)
        trials: tuple[TrialOutcome, ...] = ()
        if truth is not None:
            grasp = pose_of(request.grasp, "--grasp")
            body = truth if grasp is None else truth.moved(grasp.inverse())
            trials = beside_the_truth(Path(scratch) / "object" / "object.xml", body)
    page = _page(done, request, trials, [*first.files, "record.json", REPORT], first.judges)
    written = write_object(
        out, estimate.body, **told, extra={REPORT: page.encode()}, record=record, force=force
    )
    return {name: str(out / name) for name in written.files}


def _page(
    done: Weighed,
    request: PayloadRequest,
    trials: Sequence[TrialOutcome],
    files: Sequence[str],
    judges: Mapping[str, Sequence[str]],
) -> str:
    density = [check for check in done.verdict.checks if check.name == "uniform density"]
    return payload_page(
        payload_content_of(
            done.robot,
            done.estimate,
            done.verdict,
            _runs(done, request),
            why=done.why,
            traces=_traces(done, request),
            bounds=done.bounds,
            published=None if done.bounds is None else done.bounds.theorem13,
            gains=request.torque_constant or "",
            others=[GainAnswer(name, other.body.mass, other.body.com) for name, other in done.others.items()],
            mesh=None if done.mesh is None else done.mesh.surface,
            density=density[0] if density else None,
            trials=trials,
            findings=done.findings,
            inputs=request.document()["inputs"],
            files=files,
            read_back=judges,
            seed=request.seed,
        )
    )


def _runs(done: Weighed, request: PayloadRequest) -> dict[str, Recording]:
    logs = zip((*request.loaded, *request.empty), (*done.runs.loaded, *done.runs.empty), strict=True)
    return {Path(name).name: log for name, log in logs}


def _traces(done: Weighed, request: PayloadRequest) -> list[TorqueTrace]:
    """What each loaded run measured beyond the arm; none where the arm itself was estimated twice."""
    empty: list[Recording | None] = [None] * len(done.runs.loaded)
    if len(done.runs.empty) == len(done.runs.loaded) and done.model is not None and request.model is None:
        empty = list(done.runs.empty)
    if done.model is None and None in empty:
        return []
    traces = []
    for name, loaded, bare in zip(request.loaded, done.runs.loaded, empty, strict=True):
        try:
            traces.append(
                payload_trace(
                    done.robot,
                    done.estimate,
                    Path(name).name,
                    loaded,
                    empty=bare,
                    model=done.model,
                    gripper=done.gripper,
                )
            )
        except RecordingError:
            continue
    return traces
