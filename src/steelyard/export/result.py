"""The result folder: models, parameters, code and record, compared and written as one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steelyard.errors import DescriptionError
from steelyard.export.feedforward import feedforward_c, feedforward_python
from steelyard.export.folder import require_free, write_folder
from steelyard.export.model_files import mjcf_model, urdf_model
from steelyard.export.model_text import ModelText
from steelyard.export.parameters_file import parameters_document
from steelyard.export.record_file import record_document
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.identifiability import Identifiability
from steelyard.layout import Layout
from steelyard.problem import Estimate
from steelyard.recording import Step
from steelyard.robot import Robot


@dataclass(frozen=True)
class Written:
    """What stands in a result folder.

    Attributes:
        folder: where it is.
        files: names of the files in it, in alphabetical order.
        findings: what had to be decided, and what could not be written.
        judges: for each model, the programs that read it back and agree, by name.
    """

    folder: Path
    files: tuple[str, ...]
    findings: tuple[Finding, ...]
    judges: Mapping[str, tuple[str, ...]]


def write_result(
    folder: FilePath,
    robot: Robot,
    layout: Layout,
    parameters: ArrayLike,
    *,
    description: bytes | None = None,
    estimate: Estimate | None = None,
    structure: Identifiability | None = None,
    intervals: ArrayLike | None = None,
    base_ends: ArrayLike | None = None,
    decided_by: Sequence[str] = (),
    draws: ArrayLike | None = None,
    steps: Sequence[Step] = (),
    seed: int | None = None,
    request: Mapping[str, object] | None = None,
    verdict: Mapping[str, object] | None = None,
    report: Callable[[Mapping[str, tuple[str, ...]]], str] | None = None,
    force: bool = False,
) -> Written:
    """Write `model.urdf`, `model.xml`, `parameters.json`, `feedforward.py`, `.c` and `.h`, and `record.json`.

    Every model is read back and compared first; the folder appears only when all of it is there. A format
    that cannot state one of the robot's joints is left out, with a finding.

    Args:
        folder: where to; it must not exist or be empty.
        robot: the robot.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI; every link must be possible.
        description: the URDF the robot was read from, to be edited in place.
        estimate: where the values come from.
        structure: what torques could tell, for the class of each parameter.
        intervals: lower and upper end of each parameter's 95 % interval, shape (p, 2), SI; None for those of
            the estimate's covariance.
        base_ends: the same of each base parameter, shape (b, 2), SI.
        decided_by: for each parameter who decided it, such as `data` or `prior`; empty for no word.
        draws: phi of models to write into `models/`, both formats each, shape (n, p), SI.
        steps: what was done, oldest first, for the record.
        seed: of everything random, for the record.
        request: what was asked for and the digests of its inputs, for the record.
        verdict: what is to be thought of it, for the record, as values JSON can hold.
        report: makes the page `report.html`, given for each model the programs that read it back and agree.
        force: whether an earlier result may be replaced.

    Returns:
        What was written.

    Raises:
        InputError: the folder is not free, or a link or a drive is impossible.
        ReadBackError: a model does not say what it should; nothing is left behind.
    """
    folder = Path(folder)
    require_free(folder, force=force)
    findings: list[Finding] = []
    files: dict[str, bytes] = {}
    judges: dict[str, tuple[str, ...]] = {}

    def models(stem: str, phi: ArrayLike) -> None:
        urdf = _stated("URDF", lambda: urdf_model(robot, layout, phi, description=description), findings)
        mjcf = _stated("MJCF", lambda: mjcf_model(robot, layout, phi), findings)
        for suffix, model in (("urdf", urdf), ("xml", mjcf)):
            if model is not None:
                files[f"{stem}.{suffix}"] = model.content
                judges[f"{stem}.{suffix}"] = model.judges
                findings.extend(finding for finding in model.findings if finding not in findings)

    models("model", parameters)
    for k, phi in enumerate(() if draws is None else np.asarray(draws), start=1):
        models(f"models/model-{k:04d}", phi)
    try:
        source, header = feedforward_c(robot, layout, parameters)
        module = feedforward_python(robot, layout, parameters)
    except DescriptionError as error:
        findings.append(Finding(Severity.WARNING, "no-feedforward", error.message, error.place))
    else:
        code = {"feedforward.py": module, "feedforward.c": source, "feedforward.h": header}
        files |= {name: text.encode() for name, text in code.items()}
    if report is not None:
        files["report.html"] = report(judges).encode()
    files["parameters.json"] = _json(
        parameters_document(
            robot,
            layout,
            parameters,
            estimate=estimate,
            structure=structure,
            intervals=intervals,
            decided_by=decided_by,
            base_ends=base_ends,
            findings=tuple(findings),
        )
    )
    files["record.json"] = _json(
        record_document(
            robot,
            layout,
            files,
            estimate=estimate,
            steps=steps,
            seed=seed,
            request=request,
            verdict=verdict,
            judges=judges,
        )
    )
    write_folder(folder, files, force=force)
    return Written(folder, tuple(sorted(files)), tuple(findings), judges)


def _stated(kind: str, build: Callable[[], ModelText], findings: list[Finding]) -> ModelText | None:
    try:
        return build()
    except DescriptionError as error:
        finding = Finding(Severity.WARNING, f"no-{kind.lower()}", error.message, error.place)
        if finding not in findings:
            findings.append(finding)
        return None


def _json(document: dict[str, Any]) -> bytes:
    return (json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n").encode()
