"""A model as a folder: descriptions, `parameters.json`, code and record, compared and written as one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from steelyard.archive import to_document
from steelyard.arrays import Array
from steelyard.errors import DescriptionError
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.formats import (
    ModelText,
    RecordedStep,
    Written,
    feedforward_c,
    feedforward_python,
    mjcf_model,
    record_document,
    require_free,
    urdf_model,
    write_folder,
)
from steelyard.model.result_folder import PARAMETERS_SCHEMA, StoredBase

if TYPE_CHECKING:
    from steelyard.drive import Servo
    from steelyard.model.model import Model

# `parameters.json`: every parameter with value, interval, unit and class, and the combinations behind it.


def parameters_document(
    model: Model, *, estimate: Mapping[str, Any] | None = None, findings: Sequence[Finding] = ()
) -> dict[str, Any]:
    """What is known of each parameter of a model, as values JSON can hold; infinity is the text `inf`.

    Where a model states no intervals they are infinite, and the value itself where the layout fixes it.

    Args:
        model: the model.
        estimate: where the values come from: its `method` and the number of its `samples` are stated.
        findings: what was noticed on the way.

    Returns:
        The document, which `result_folder` reads.
    """
    robot, layout, phi = model.robot, model.layout, model.parameters
    ends = _unknown(model) if model.intervals is None else model.intervals
    classes = model.classes or (None,) * layout.size
    entries = [
        {
            "name": parameter.name,
            "owner": parameter.owner,
            "term": parameter.term,
            "unit": parameter.unit,
            "value": float(phi[k]),
            "interval95": ends[k],
            **({"decided_by": model.decided_by[k]} if model.decided_by else {}),
            "class": None if (kind := classes[k]) is None else kind.value,
            "fixed": parameter.fixed,
            "nominal": parameter.nominal,
        }
        for k, parameter in enumerate(layout.parameters)
    ]
    document = {
        "schema": PARAMETERS_SCHEMA,
        "robot": robot.name,
        "robot_digest": robot.digest if model.stored is None else model.stored.parameters.robot_digest,
        "gravity": robot.gravity,
        "drive": layout.drive,
        "stribeck": {
            joint: {"velocity": shape.velocity, "exponent": shape.exponent}
            for joint, shape in zip(layout.joints, layout.stribeck, strict=False)
        },
        "torque": "viscous*v + coulomb*sign(v) + offset + rotor*a + stribeck*sign(v)*exp(-(|v|/velocity)"
        "^exponent) + asymmetric*|v| + load*|rigid|*sign(v), with sign(0) = 0, added to the rigid torque",
        "parameters": entries,
        "findings": findings,
    }
    if estimate is not None:
        document |= {name: estimate[name] for name in ("method", "samples") if name in estimate}
    if model.base is not None:
        document["base"] = _base(model.base, layout.names)
        if np.isfinite(np.diag(model.base.covariance)).any():
            document["base_covariance"] = model.base.covariance
    if model.spreads:
        document["links"] = [
            {
                "name": link,
                "interval95": {"com": spread.com, "inertia": spread.inertia},
                "decided_by": {"com": spread.com_decided_by, "inertia": spread.inertia_decided_by},
            }
            for link, spread in zip(layout.links, model.spreads, strict=True)
        ]
    plain: dict[str, Any] = to_document(document)
    return plain


def _unknown(model: Model) -> Array:
    ends = np.tile([-np.inf, np.inf], (model.layout.size, 1))
    fixed = ~model.layout.free
    ends[fixed] = model.parameters[fixed, None]
    return ends


def _base(base: StoredBase, names: Sequence[str]) -> list[dict[str, object]]:
    """Combinations with their intervals; `deviation` is of the data alone, as results are compared by it."""
    return [
        {
            "name": name,
            "value": float(base.values[k]),
            "deviation": float(base.deviations[k]),
            "deviation_systematic": float(base.systematic[k]),
            "interval95": base.intervals[k],
            "combination": {
                names[j]: float(base.matrix[k, j]) for j in np.flatnonzero(base.matrix[k]).tolist()
            },
        }
        for k, name in enumerate(base.names)
    ]


# The folder


def write_model(
    folder: FilePath,
    model: Model,
    *,
    description: bytes | None = None,
    estimate: Mapping[str, Any] | None = None,
    draws: ArrayLike | None = None,
    steps: Sequence[RecordedStep] = (),
    seed: int | None = None,
    request: Mapping[str, object] | None = None,
    verdict: Mapping[str, object] | None = None,
    report: Callable[[Mapping[str, tuple[str, ...]]], str] | None = None,
    servos: Mapping[str, Servo] | None = None,
    beside: Mapping[str, bytes] | None = None,
    force: bool = False,
) -> Written:
    """Write `model.urdf`, `model.xml`, `parameters.json`, `feedforward.py`, `.c` and `.h`, and `record.json`.

    Every description is read back and compared first; the folder appears only when all of it is there. A
    format that cannot state one of the robot's joints is left out, with a finding.

    Args:
        folder: where to; it must not exist or be empty.
        model: the model; every link must be possible. Its findings are stated after those of the writing.
        description: the URDF the robot was read from, to be edited in place.
        estimate: where the values come from, for the record: method, samples, recordings and detail.
        draws: phi of models to write into `models/`, both formats each, shape (n, p), SI.
        steps: what was done, oldest first, for the record.
        seed: of everything random, for the record.
        request: what was asked for and the digests of its inputs, for the record.
        verdict: what is to be thought of it, for the record, as values JSON can hold.
        report: makes the page `report.html`, given for each model the programs that read it back and agree.
        servos: position servos by joint, which the MJCF has in place of motors.
        beside: further files, by name.
        force: whether an earlier result may be replaced.

    Returns:
        What was written.

    Raises:
        InputError: the folder is not free, or a link or a drive is impossible.
        ReadBackError: a description does not say what it should; nothing is left behind.
    """
    folder = Path(folder)
    require_free(folder, force=force)
    robot, layout = model.robot, model.layout
    findings: list[Finding] = []
    files: dict[str, bytes] = {}
    judges: dict[str, tuple[str, ...]] = {}

    def descriptions(stem: str, phi: ArrayLike) -> None:
        urdf = _stated("URDF", lambda: urdf_model(robot, layout, phi, description=description), findings)
        mjcf = _stated("MJCF", lambda: mjcf_model(robot, layout, phi, servos), findings)
        for suffix, written in (("urdf", urdf), ("xml", mjcf)):
            if written is not None:
                files[f"{stem}.{suffix}"] = written.content
                judges[f"{stem}.{suffix}"] = written.judges
                findings.extend(finding for finding in written.findings if finding not in findings)

    descriptions("model", model.parameters)
    for k, phi in enumerate(() if draws is None else np.asarray(draws), start=1):
        descriptions(f"models/model-{k:04d}", phi)
    try:
        source, header = feedforward_c(robot, layout, model.parameters)
        module = feedforward_python(robot, layout, model.parameters)
    except DescriptionError as error:
        findings.append(Finding(Severity.WARNING, "no-feedforward", error.message, error.place))
    else:
        code = {"feedforward.py": module, "feedforward.c": source, "feedforward.h": header}
        files |= {name: text.encode() for name, text in code.items()}
    files |= beside or {}
    if report is not None:
        files["report.html"] = report(judges).encode()
    told = (*findings, *model.findings)
    files["parameters.json"] = _json(parameters_document(model, estimate=estimate, findings=told))
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
            # A description that was written does not say any more at which place a joint was locked.
            locks=None if model.stored is None or robot.locks else model.stored.locks,
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
