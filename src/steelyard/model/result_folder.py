"""The content of `parameters.json` as checked objects: values, intervals, classes and combinations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from steelyard.archive import from_document
from steelyard.arrays import Array, checked, keep_checked
from steelyard.document import read_json
from steelyard.drive import StribeckShape
from steelyard.errors import InputError, leading_to
from steelyard.files import FilePath, file_digest, is_regular
from steelyard.finding import Finding, Severity
from steelyard.formats import KIND, RECORD_SCHEMA
from steelyard.layout import Class, Layout, layout_of
from steelyard.robot import Robot, load_robot

T = TypeVar("T")
TWO_SIDED_95 = 1.959963984540054
"""Half the width of a 95 % interval in standard deviations: the quantile 0.975 of the normal distribution."""


@dataclass(frozen=True, eq=False)
class LinkSpread:
    """How sure the centre of mass and the inertia of a link are.

    Attributes:
        com: lower and upper end of the 95 % interval of each coordinate, shape (3, 2), m.
        inertia: the same of the inertia about the centre of mass, Ixx, Ixy, Iyy, Ixz, Iyz, Izz, shape (6, 2),
            kg·m².
        com_decided_by: who decided each coordinate.
        inertia_decided_by: who decided each entry.
    """

    com: Array
    inertia: Array
    com_decided_by: tuple[str, ...]
    inertia_decided_by: tuple[str, ...]

    def __post_init__(self) -> None:
        for name, count in (("com", 3), ("inertia", 6)):
            keep_checked(self, (count, 2), name, finite=False)
            if len(getattr(self, f"{name}_decided_by")) != count:
                raise InputError(f"expected {count} words.", place=f"{name}_decided_by")


@dataclass(frozen=True, eq=False)
class StoredParameters:
    """Every parameter of a result.

    Attributes:
        names: `<owner>.<term>`, in the order of the layout.
        values: phi, shape (p,), SI.
        intervals: lower and upper end of each 95 % interval, infinite where unknown, shape (p, 2), SI.
        classes: what torques say about each; None where that was not asked.
        fixed: which were taken as known.
        nominal: what the description stated of each, None where it stated nothing, in its unit.
        drive: names of the drive terms.
        stribeck: shapes of Stribeck friction by joint.
        gravity: free fall in the base frame, shape (3,), m/s².
        robot_digest: SHA-256 of the description that was identified.
        decided_by: for each who decided it, such as `data` or `prior`; empty where that is not said.
        spreads: how sure centre of mass and inertia of each link are; empty where that is not said, as in a
            folder of an earlier version.
    """

    names: tuple[str, ...]
    values: Array
    intervals: Array
    classes: tuple[Class | None, ...]
    fixed: tuple[bool, ...]
    nominal: tuple[float | None, ...]
    drive: tuple[str, ...]
    stribeck: Mapping[str, StribeckShape]
    gravity: Array
    robot_digest: str
    decided_by: tuple[str, ...] = ()
    spreads: tuple[LinkSpread, ...] = ()

    def __post_init__(self) -> None:
        p = len(self.names)
        keep_checked(self, (p,), "values")
        keep_checked(self, (p, 2), "intervals", finite=False)
        keep_checked(self, (3,), "gravity")

    def layout(self, model: Layout, place: str) -> Layout:
        """The layout the parameters were found with: that of the model, with what was stated and fixed.

        Args:
            model: the layout of the result's model.
            place: what to call the file in a message.

        Raises:
            InputError: the model has other parameters.
        """
        if model.names != self.names:
            other = sorted(set(model.names) ^ set(self.names))
            raise InputError(
                f"the model beside it has other parameters: {', '.join(other[:5]) or 'their order'}.",
                place=place,
                remedy="Both must be of one result.",
            )
        stated = zip(model.parameters, self.nominal, self.fixed, strict=True)
        parameters = [replace(x, nominal=nominal, fixed=fixed) for x, nominal, fixed in stated]
        return replace(model, parameters=tuple(parameters))


@dataclass(frozen=True, eq=False)
class StoredBase:
    """The combinations of parameters that torques determine, beta = K phi.

    Attributes:
        names: one each: the leading parameter, with "+" where others join it.
        matrix: K, shape (b, p), SI.
        values: beta as it was estimated, shape (b,), SI.
        deviations: standard deviations, infinite where unknown, shape (b,), SI.
        covariance: of beta, variances infinite where unknown, shape (b, b), SI; a folder of an earlier
            version that does not hold it gives the deviations alone.
        intervals: lower and upper end of each 95 % interval, shape (b, 2), SI.
        systematic: deviations that errors of torque constants add, shape (b,), SI.
    """

    names: tuple[str, ...]
    matrix: Array
    values: Array
    deviations: Array
    covariance: Array
    intervals: Array
    systematic: Array

    def __post_init__(self) -> None:
        b = len(self.names)
        keep_checked(self, (b, "p"), "matrix")
        keep_checked(self, (b,), "values")
        keep_checked(self, (b,), "deviations", "systematic", finite=False)
        keep_checked(self, (b, b), "covariance", finite=False)
        keep_checked(self, (b, 2), "intervals", finite=False)


@dataclass(frozen=True, eq=False)
class _Head:
    drive: tuple[str, ...]
    stribeck: Mapping[str, StribeckShape]
    gravity: Array
    robot_digest: str


@dataclass(frozen=True, eq=False)
class _Entry:
    name: str
    value: float
    interval95: tuple[float, float]
    fixed: bool
    nominal: float | None
    decided_by: str = ""


@dataclass(frozen=True, eq=False)
class _Combination:
    name: str
    value: float
    deviation: float
    combination: Mapping[str, float]
    interval95: tuple[float, float] | None = None
    deviation_systematic: float = 0.0

    @property
    def ends(self) -> tuple[float, float]:
        """Of the interval; where none is stated that of the deviation."""
        if self.interval95 is not None:
            return self.interval95
        half = TWO_SIDED_95 * self.deviation
        return (self.value - half, self.value + half) if np.isfinite(half) else (-half, half)


def stored_parameters(document: Mapping[str, Any], place: str) -> StoredParameters:
    """Read the parameters of the document.

    Args:
        document: what `saving.parameters_document` made.
        place: what to call it in a message.

    Raises:
        InputError: a part is missing or of the wrong kind; names it.
    """
    head = _part(_Head, document, place)
    listed = _list(document, "parameters", place)
    entries = [_part(_Entry, item, f"{place}: parameters[{k}]") for k, item in enumerate(listed)]
    classes = [_class(item.get("class"), f"{place}: parameters[{k}].class") for k, item in enumerate(listed)]
    words = tuple(entry.decided_by for entry in entries)
    return StoredParameters(
        tuple(entry.name for entry in entries),
        np.array([entry.value for entry in entries]),
        np.array([entry.interval95 for entry in entries]).reshape(-1, 2),
        tuple(classes),
        tuple(entry.fixed for entry in entries),
        tuple(entry.nominal for entry in entries),
        head.drive,
        head.stribeck,
        head.gravity,
        head.robot_digest,
        words if all(words) else (),
        _spreads(document, place),
    )


@dataclass(frozen=True, eq=False)
class _Ends:
    com: Array
    inertia: Array


@dataclass(frozen=True, eq=False)
class _Deciders:
    com: tuple[str, ...]
    inertia: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Link:
    name: str
    interval95: _Ends
    decided_by: _Deciders


def _spreads(document: Mapping[str, Any], place: str) -> tuple[LinkSpread, ...]:
    """Intervals of centres of mass and inertias, link by link; none where the document has none."""
    found = []
    for k, item in enumerate(_list(document, "links", place) if "links" in document else []):
        link = _part(_Link, item, f"{place}: links[{k}]")
        ends, by = link.interval95, link.decided_by
        with leading_to(f"{place}: links[{k}]"):
            found.append(LinkSpread(ends.com, ends.inertia, by.com, by.inertia))
    return tuple(found)


def stored_base(document: Mapping[str, Any], layout: Layout, place: str) -> StoredBase:
    """Read the base parameters of the document.

    Args:
        document: what `saving.parameters_document` made.
        layout: the order of the parameters.
        place: what to call it in a message.

    Returns:
        The base parameters; none where there was no estimate.

    Raises:
        InputError: a part is missing or of the wrong kind, or a combination has an unknown parameter.
    """
    listed = _list(document, "base", place) if "base" in document else []
    entries = [_part(_Combination, item, f"{place}: base[{k}]") for k, item in enumerate(listed)]
    K = np.zeros((len(entries), layout.size))
    for k, entry in enumerate(entries):
        for name, factor in entry.combination.items():
            K[k, layout.index(name)] = factor
    deviations = np.array([entry.deviation for entry in entries])
    if "base_covariance" in document:
        covariance = _part(_Covariance, document, place).base_covariance
    else:
        covariance = np.zeros((len(entries), len(entries)))
        np.fill_diagonal(covariance, deviations**2)
    return StoredBase(
        tuple(entry.name for entry in entries),
        K,
        np.array([entry.value for entry in entries]),
        deviations,
        covariance,
        np.array([entry.ends for entry in entries]).reshape(-1, 2),
        np.array([entry.deviation_systematic for entry in entries]),
    )


@dataclass(frozen=True, eq=False)
class _Covariance:
    base_covariance: Array


def _part(cls: type[T], document: object, place: str) -> T:
    """The fields of a class out of a document that may say more."""
    if not isinstance(document, Mapping):
        raise InputError(f"expected a JSON object, got {type(document).__name__}.", place=place)
    known = {field.name for field in fields(cls)}  # type: ignore[arg-type]
    return from_document(cls, {name: item for name, item in document.items() if name in known}, place=place)


def _list(document: Mapping[str, Any], name: str, place: str) -> Sequence[Mapping[str, Any]]:
    items = document.get(name)
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise InputError(f"'{name}' is no list of JSON objects.", place=place)
    return items


def _class(word: object, place: str) -> Class | None:
    if word is None:
        return None
    try:
        return Class(str(word))
    except ValueError:
        raise InputError(f"'{word}' is not one of {', '.join(Class)}.", place=place) from None


# A result folder, read again: what was found, and whether its files are still those that were written.

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

    @classmethod
    def read(cls, folder: FilePath) -> ResultFolder:
        """Read a result folder.

        A file that was changed since, or a model whose links differ from `parameters.json`, is a finding: the
        numbers of `parameters.json` count.

        Args:
            folder: what `write_model` wrote.

        Returns:
            What it says.

        Raises:
            InputError: the folder is no result, a file cannot be understood, or its parts contradict each
                other.
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
        if parameters.spreads and len(parameters.spreads) != len(layout.links):
            raise InputError(
                f"states {len(parameters.spreads)} links, the model beside it has {len(layout.links)}.",
                place=place,
                remedy="Both must be of one result.",
            )
        findings += _model_findings(layout_of(robot), parameters.values, model.name)
        base = stored_base(document, layout, place)
        return cls(folder, model, robot, layout, parameters, base, record, tuple(findings))


def is_result(path: FilePath) -> bool:
    """Whether a path is a folder with the record of a result.

    Args:
        path: any path.

    Returns:
        Whether `ResultFolder.read` is the one to read it.
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
