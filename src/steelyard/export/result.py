"""The result folder: models, parameters, code and record, compared and written as one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steelyard.archive import to_document
from steelyard.arrays import Array, checked
from steelyard.errors import DescriptionError
from steelyard.export.feedforward import feedforward_c, feedforward_python
from steelyard.export.folder import record_document, require_free, write_folder
from steelyard.export.model_files import mjcf_model, urdf_model
from steelyard.export.xml_text import ModelText
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.identifiable import Identifiability
from steelyard.layout import Layout
from steelyard.model import PARAMETERS_SCHEMA
from steelyard.problem import Estimate
from steelyard.recording import Step
from steelyard.robot import Robot
from steelyard.uncertainty import base_intervals, parameter_intervals

# `parameters.json`: every parameter with value, interval, unit and class, and the combinations behind it.

TWO_SIDED_95 = 1.959963984540054
"""Half the width of a 95 % interval in standard deviations: the quantile 0.975 of the normal distribution."""


def parameters_document(
    robot: Robot,
    layout: Layout,
    parameters: ArrayLike,
    *,
    estimate: Estimate | None = None,
    structure: Identifiability | None = None,
    intervals: ArrayLike | None = None,
    decided_by: Sequence[str] = (),
    base_ends: ArrayLike | None = None,
    findings: tuple[Finding, ...] = (),
) -> dict[str, Any]:
    """What was found about each parameter, as values JSON can hold; infinity is the text `inf`.

    Where intervals are not given they are those of the estimate's covariance, see `uncertainty`, with what
    errors of torque constants add: finite for what torques determine, the value itself where the layout fixes
    it, and infinite otherwise.

    Args:
        robot: the robot.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI.
        estimate: where the values come from: base parameters, covariance, method, findings.
        structure: what torques could tell, for the class of each parameter.
        intervals: lower and upper end of each parameter's 95 % interval, shape (p, 2), SI.
        decided_by: for each parameter who decided it, such as `data` or `prior`; empty for no word.
        base_ends: lower and upper end of each base parameter's 95 % interval, shape (b, 2), SI; needs an
            estimate.
        findings: what was noticed on the way.

    Returns:
        The document.
    """
    phi = checked("parameters", parameters, (layout.size,))
    if intervals is not None:
        ends = checked("intervals", intervals, (layout.size, 2), finite=False)
    else:
        ends = _ends(layout, phi, estimate)
    # With load friction the structure is that of all other terms; by name, since it then has fewer.
    classes = {}
    if structure is not None:
        classes = {n: c.value for n, c in zip(structure.layout.names, structure.classes, strict=True)}
    entries = [
        {
            "name": parameter.name,
            "owner": parameter.owner,
            "term": parameter.term,
            "unit": parameter.unit,
            "value": float(phi[k]),
            "interval95": ends[k],
            **({"decided_by": decided_by[k]} if decided_by else {}),
            "class": classes.get(parameter.name),
            "fixed": parameter.fixed,
            "nominal": parameter.nominal,
        }
        for k, parameter in enumerate(layout.parameters)
    ]
    document = {
        "schema": PARAMETERS_SCHEMA,
        "robot": robot.name,
        "robot_digest": robot.digest,
        "gravity": robot.gravity,
        "drive": layout.drive,
        "stribeck": {
            joint: {"velocity": shape.velocity, "exponent": shape.exponent}
            for joint, shape in zip(layout.joints, layout.stribeck, strict=False)
        },
        "torque": "viscous*v + coulomb*sign(v) + offset + rotor*a + stribeck*sign(v)*exp(-(|v|/velocity)"
        "^exponent) + asymmetric*|v| + load*|rigid|*sign(v), with sign(0) = 0, added to the rigid torque",
        "parameters": entries,
        "findings": findings if estimate is None else (*findings, *estimate.findings),
    }
    if estimate is not None:
        if base_ends is not None:
            beta_ends = checked("base_ends", base_ends, (estimate.base.count, 2), finite=False)
        else:
            beta_ends = _base_ends(estimate, systematic=True)
        base = _base(estimate, beta_ends, _base_ends(estimate) if base_ends is None else beta_ends)
        document |= {"method": estimate.method, "samples": estimate.samples, "base": base}
        if estimate.covariance is not None:
            document["base_covariance"] = _base_covariance(estimate.covariance, beta_ends)
    plain: dict[str, Any] = to_document(document)
    return plain


def _ends(layout: Layout, phi: Array, estimate: Estimate | None) -> Array:
    if estimate is None or estimate.covariance is None:
        ends = np.column_stack((np.full(layout.size, -np.inf), np.full(layout.size, np.inf)))
    else:
        found = parameter_intervals(estimate, systematic=True)
        ends = np.column_stack((found.lower, found.upper))
    fixed = ~layout.free
    ends[fixed] = phi[fixed, None]
    return ends


def _base_ends(estimate: Estimate, *, systematic: bool = False) -> Array:
    if estimate.covariance is None:
        return np.tile([-np.inf, np.inf], (estimate.base.count, 1))
    found = base_intervals(estimate, systematic=systematic)
    return np.column_stack((found.lower, found.upper))


def _base(estimate: Estimate, ends: Array, random: Array) -> list[dict[str, object]]:
    """Combinations with their intervals; `deviation` is of the data alone, as results are compared by it."""
    base, names = estimate.base, estimate.layout.names
    systematic = estimate.systematic_deviations
    return [
        {
            "name": base.names[k],
            "value": float(estimate.values[k]),
            "deviation": float(random[k, 1] - random[k, 0]) / (2.0 * TWO_SIDED_95),
            "deviation_systematic": float(systematic[k]),
            "interval95": ends[k],
            "combination": {names[j]: float(base.matrix[k, j]) for j in np.flatnonzero(base.matrix[k])},
        }
        for k in range(base.count)
    ]


def _base_covariance(covariance: Array, ends: Array) -> Array:
    """The covariance of base parameters with the deviations that their intervals state, shape (b, b)."""
    own = np.sqrt(np.diag(covariance))
    stated = (ends[:, 1] - ends[:, 0]) / (2.0 * TWO_SIDED_95)
    known = np.isfinite(own) & np.isfinite(stated)
    ratio = np.where(known & (own > 0.0), stated, 1.0) / np.where(known & (own > 0.0), own, 1.0)
    scaled = np.where(known[:, None] & known, covariance * np.outer(ratio, ratio), 0.0)
    scaled[~known, ~known] = np.inf
    return scaled


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
