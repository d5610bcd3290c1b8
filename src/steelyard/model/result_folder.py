"""A result folder, read again: what was found, and whether its files are still those that were written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.arrays import Array, checked
from steelyard.document import read_json
from steelyard.errors import InputError
from steelyard.files import FilePath, file_digest, is_regular
from steelyard.finding import Finding, Severity
from steelyard.layout import Layout, layout_of
from steelyard.model.stored_parameters import StoredBase, StoredParameters, stored_base, stored_parameters
from steelyard.robot import Robot, load_robot

KIND = "steelyard-result"
"""What a record says it is; a folder with such a record may be replaced."""
RECORD_SCHEMA = 1
PARAMETERS_SCHEMA = 1
RECORD = "record.json"
PARAMETERS = "parameters.json"
MODELS = ("model.urdf", "model.xml")
"""The models of a result, the one that is read first."""
LARGEST_FILE = 1 << 30
"""Largest file of a result, bytes."""
SAME = 1e-9
"""Difference of a link's numbers that reading them from text explains, relative to the largest."""


@dataclass(frozen=True, eq=False)
class ResultFolder:
    """What a result folder says.

    Attributes:
        folder: where it is.
        model: the description that was read.
        robot: the robot of that model, under the gravity the parameters were found with.
        layout: the order of the parameters; `nominal` is what the first description stated.
        parameters: every parameter with interval and class.
        base: the combinations that torques determine; none where no estimate was written.
        record: how it came about, as `record_document` says it.
        findings: files that are missing or not as they were written.
    """

    folder: Path
    model: Path
    robot: Robot
    layout: Layout
    parameters: StoredParameters
    base: StoredBase
    record: Mapping[str, Any]
    findings: tuple[Finding, ...]

    @property
    def locks(self) -> dict[str, Array]:
        """Where the joints were held that the model has no more, each of shape (nq,), rad or m, by name."""
        about = self.record.get("robot")
        stated = about.get("locks") if isinstance(about, dict) else None
        place = str(self.folder / RECORD)
        if not isinstance(stated, dict):
            return {}
        return {name: checked(f"{place}: lock of '{name}'", q, ("nq",)) for name, q in stated.items()}


def is_result(path: FilePath) -> bool:
    """Whether a path is a folder with the record of a result.

    Args:
        path: any path.

    Returns:
        Whether `read_result` is the one to read it.
    """
    return (Path(path) / RECORD).is_file()


def read_record(path: FilePath) -> dict[str, Any]:
    """Read the record of a result.

    Args:
        path: a `record.json`.

    Returns:
        The document.

    Raises:
        InputError: it is missing, damaged, of another kind, or of a layout this version does not know.
    """
    record = _document(Path(path), RECORD_SCHEMA)
    if record.get("kind") != KIND:
        raise InputError("is not the record of a result.", place=str(path))
    if not isinstance(record.get("files"), dict):
        raise InputError("does not list the files of the result.", place=str(path))
    return record


def read_result(folder: FilePath) -> ResultFolder:
    """Read a result folder.

    A file that was changed since, or a model whose links differ from `parameters.json`, is a finding: the
    numbers of `parameters.json` count.

    Args:
        folder: what `write_result` wrote.

    Returns:
        What it says.

    Raises:
        InputError: the folder is no result, a file cannot be understood, or its parts contradict each other.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError("is no folder.", place=str(folder), remedy="Give the folder of a result.")
    record = read_record(folder / RECORD)
    findings = _changed(folder, record["files"])
    place = str(folder / PARAMETERS)
    document = _document(folder / PARAMETERS, PARAMETERS_SCHEMA)
    model = next((folder / name for name in MODELS if (folder / name).is_file()), None)
    if model is None:
        raise InputError("holds no model.", place=str(folder), remedy=f"It needs {' or '.join(MODELS)}.")
    # The parameters were found for the joints as the description means them, not as it rounds them.
    described = load_robot(model, snap=True)
    parameters = stored_parameters(document, place)
    robot = described.with_gravity(parameters.gravity)
    layout = parameters.layout(layout_of(robot, parameters.drive, stribeck=parameters.stribeck), place)
    findings += _model_findings(layout_of(robot), parameters.values, model.name)
    base = stored_base(document, layout, place)
    return ResultFolder(folder, model, robot, layout, parameters, base, record, tuple(findings))


def _document(path: Path, schema: int) -> dict[str, Any]:
    if not path.is_file():
        raise InputError("there is no such file.", place=str(path), remedy="Give the folder of a result.")
    document = read_json(path)
    if not isinstance(document, dict):
        raise InputError("holds no JSON object.", place=str(path))
    if document.get("schema") != schema:
        raise InputError(
            f"layout {document.get('schema')!r} is unknown; this version knows {schema}.",
            place=str(path),
            remedy="Read it with the version that wrote it, or a newer one.",
        )
    return document


def _changed(folder: Path, files: Mapping[str, object]) -> list[Finding]:
    findings = []
    for name, digest in files.items():
        path = folder / name
        if not _lies_in(folder, path):
            raise InputError(f"lists '{name[:80]}', which is outside the folder.", place=str(folder / RECORD))
        if not is_regular(path):
            findings.append(Finding(Severity.WARNING, "file-missing", "was written and is gone.", str(path)))
        elif file_digest(path, most=LARGEST_FILE) != digest:
            message = "is not as it was written: its digest differs from the record's."
            findings.append(Finding(Severity.WARNING, "file-changed", message, str(path)))
    return findings


def _lies_in(folder: Path, path: Path) -> bool:
    """Whether a path leads to somewhere in a folder; one that no file can have leads nowhere."""
    try:
        path.lstat()
    except FileNotFoundError:
        pass
    except (OSError, ValueError):
        return False
    return path.resolve().is_relative_to(folder.resolve())


def _model_findings(model: Layout, values: Array, name: str) -> list[Finding]:
    count = 10 * len(model.links)
    stated, found = (np.nan_to_num(x[:count]).reshape(-1, 10) for x in (model.nominal, values))
    tolerance = SAME * np.maximum(np.abs(found).max(axis=1), SAME)
    off = np.abs(stated - found).max(axis=1) > tolerance
    if not off.any():
        return []
    links = ", ".join(link for link, differs in zip(model.links, off, strict=True) if differs)
    message = f"states other inertias than {PARAMETERS} for {links}; those of {PARAMETERS} count."
    return [Finding(Severity.WARNING, "model-differs", message, name)]
