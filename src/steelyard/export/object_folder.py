"""The asset folder of an object: models for every simulator, meshes and numbers, written as one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from numpy.typing import ArrayLike

from steelyard.audit import Check
from steelyard.export.folder import require_free, write_folder
from steelyard.export.object_description import COLLISION, VISUAL, described_object
from steelyard.export.object_mesh import ObjectMesh, fit_findings, obj_content
from steelyard.export.object_mjcf import object_mjcf
from steelyard.export.object_parameters import Ends, object_document
from steelyard.export.object_read_back import MJCF, SDF, URDF, check_object
from steelyard.export.object_sdf import object_sdf
from steelyard.export.object_urdf import object_urdf
from steelyard.export.result import Written
from steelyard.files import FilePath
from steelyard.finding import Finding
from steelyard.inertia import Body


def write_object(
    folder: FilePath,
    body: Body,
    *,
    name: str = "object",
    frame: str = "",
    mesh: ObjectMesh | None = None,
    intervals: Mapping[str, Ends] | None = None,
    bounds: Mapping[str, Ends] | None = None,
    decided_by: Mapping[str, str] | None = None,
    covariance: ArrayLike | None = None,
    checks: Sequence[Check] = (),
    findings: Sequence[Finding] = (),
    extra: Mapping[str, bytes] | None = None,
    record: Callable[[Mapping[str, bytes]], Mapping[str, object]] | None = None,
    force: bool = False,
) -> Written:
    """Write `object.urdf`, `object.xml` (MJCF), `object.sdf`, the meshes and `parameters.json`.

    With a mesh, `visual.obj` is what is seen and `collision.obj` its convex hull; without one, the box that
    the inertia is worth stands in the models. Every model is read back and compared first; the folder appears
    only when all of it is there.

    Args:
        folder: where to; it must not exist or be empty.
        body: the inertia in the object's frame; a possible one, with mass.
        name: of the model and of its only link.
        frame: which frame the object's is, in words.
        mesh: what it looks like, see `object_mesh`.
        intervals: 95 % interval of a number by its name in `OBJECT_NAMES`, SI.
        bounds: its guaranteed bounds, SI.
        decided_by: what decided it.
        covariance: of the ten numbers about the frame, shape (10, 10), SI.
        checks: what was asked about the object.
        findings: what was noticed before.
        extra: further files by name, such as a report.
        record: makes the document of `record.json` from the content of all other files by name.
        force: whether what stands there may be replaced, see `require_free`.

    Returns:
        What was written.

    Raises:
        InputError: the folder is not free, the body is impossible or has no mass, or a name is unknown.
        ReadBackError: a model does not say what it should; nothing is left behind.
    """
    folder = Path(folder)
    require_free(folder, force=force)
    description, decided = described_object(name, body, mesh)
    mjcf = object_mjcf(description)
    files = {URDF: object_urdf(description), MJCF: mjcf.content, SDF: object_sdf(description)}
    noticed = [*findings, *decided, *mjcf.findings]
    if mesh is not None:
        files |= {VISUAL: mesh.content, COLLISION: obj_content(mesh.hull)}
        noticed += [*mesh.findings, *fit_findings(body, mesh)]
    read = check_object(description, files)
    noticed += read.findings
    document = object_document(
        name,
        body,
        frame=frame,
        intervals=intervals,
        bounds=bounds,
        decided_by=decided_by,
        covariance=covariance,
        mesh=mesh,
        checks=checks,
        findings=noticed,
    )
    text = json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    files = {**(extra or {}), **files, "parameters.json": text.encode()}
    if record is not None:
        told = {**record(files), "read_back": {file: list(by) for file, by in read.judges.items()}}
        files["record.json"] = (json.dumps(told, indent=1, ensure_ascii=False) + "\n").encode()
    write_folder(folder, files, force=force)
    return Written(folder, tuple(sorted(files)), tuple(noticed), read.judges)
