"""How noise, filters and motions spoil the numbers of a payload: the study, its tables and its page."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.archive import to_document
from steelyard.arrays import Array
from steelyard.errors import InputError, NoSolutionError, UnknownNameError
from steelyard.files import FilePath
from steelyard.formats import record_document, require_free, versions, write_folder
from steelyard.inertia import PARAMETER_NAMES, PARAMETER_UNITS, Body
from steelyard.layout import layout_of
from steelyard.motion import Motion
from steelyard.payloads import (
    FILTERS,
    MOTIONS,
    NOISES,
    PAPERS_OBJECT,
    Noise,
    SensitivityPlan,
    SensitivityTable,
    study_motions,
    study_sensitivity,
)
from steelyard.progress import advance, say
from steelyard.report.sensitivity import sensitivity_page
from steelyard.robot import Robot, StatedLimits, read_payload
from steelyard.workflows.given import given_robot
from steelyard.workflows.record import GivenObjects, RecordedRequest, request_of, require_seed
from steelyard.workflows.sensitivity import USUAL

MOST_MOTIONS, MOST_TRIALS = 1000, 100_000
"""Most motions of a kind and most trials of each noise: more is a slip of the pen."""
FASTEST = 1e5
"""Highest rate of the samples, Hz."""
WORST = (("m, kg", [0]), ("m c, kg m", [1, 2, 3]), ("m G, kg m²", [4, 6, 9]), ("products", [5, 7, 8]))
"""Columns for people: numbers of one unit, of which the worst is shown."""
_SYMBOLS = {"q": "position", "v": "velocity", "tau": "torque"}
_NOISE = ("noise_q", "noise_v", "noise_tau")
_ERRORS = ("mean_error", "mean_squared_error", "rms_error", "deviation")


@dataclass(frozen=True)
class SensitivityRequest(RecordedRequest, StatedLimits):
    """What was asked, as a record holds it."""

    robot: str
    payload: str | None = None
    motions: str | None = None
    noise: str | None = None
    filters: str | None = None
    trials: int = 18
    count: int = 10
    rate: float = 200.0
    seed: int = 0
    gravity: str | None = None
    lock: tuple[str, ...] = ()
    tool_frame: str | None = None
    arguments: tuple[str, ...] = ()
    package_path: tuple[str, ...] = ()

    command = "sensitivity"

    @property
    def named(self) -> tuple[str | None, ...]:
        """What may be the name of a file it reads."""
        return (self.robot, self.payload, self.limits)


@dataclass(frozen=True, eq=False, repr=False)
class SensitivityStudy:
    """How noise, filters and motions change what a payload weighs.

    Attributes:
        robot: the robot that holds it.
        table: the errors of each motion, noise and filter; the motions beside each other; masses as they run.
        left_out: why usual kinds of motions are left out, by kind.
        request: what was asked.
        seconds: what it took.
        files: what was written, by name.
    """

    robot: Robot
    table: SensitivityTable
    left_out: Mapping[str, str]
    request: SensitivityRequest
    seconds: float = 0.0
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def document(self) -> dict[str, Any]:
        """Everything a script may ask for."""
        table = self.table
        return {
            "robot": self.robot.name,
            "frame": table.frame,
            "payload": _named(table.truth),
            "rate": table.rate,
            "trials": table.trials,
            "errors": [
                {
                    "motion": cell.motion,
                    "noise": {"q": cell.noise.position, "v": cell.noise.velocity, "tau": cell.noise.torque},
                    "filter": cell.filter,
                    "mean_squared_error": _named(cell.squared),
                    "mean_error": _named(cell.mean),
                    "deviation": _named(cell.deviation),
                    "answered": cell.answered,
                    "refused": cell.refused,
                    "reason": cell.reason,
                }
                for cell in table.cells
            ],
            "motions": {
                spread.motion: {
                    "count": len(spread.conditions),
                    "cond": {
                        "mean": float(spread.conditions.mean()),
                        "smallest": float(spread.conditions.min()),
                        "largest": float(spread.conditions.max()),
                    },
                    "rms_error": _named(spread.rms),
                }
                for spread in table.spreads
            },
            "left_out": dict(self.left_out),
            "running_mass": [
                {
                    "motion": running.motion,
                    "noise": running.noise.name,
                    "samples": int(running.samples[-1]),
                    "last": running.mass[:, -1].tolist(),
                }
                for running in table.running
            ],
            "seconds": self.seconds,
            "files": dict(self.files),
        }

    def save(self, folder: FilePath, *, force: bool = False) -> dict[str, str]:
        """Write tables for other programs, the page and the record: everything, or nothing.

        Args:
            folder: where to.
            force: whether an earlier result may be replaced.

        Returns:
            The paths by name.

        Raises:
            InputError: the folder is not free or cannot be written.
        """
        table, seed, out = self.table, self.request.seed, Path(folder)
        made = versions()
        files = {
            "errors.csv": _csv(
                ("motion", *_NOISE, "filter", "parameter", "unit", "truth", *_ERRORS, "answered", "refused"),
                _error_rows(table),
            ),
            "running_mass.csv": _csv(("motion", *_NOISE, "trial", "samples", "mass"), _mass_rows(table)),
            "motions.csv": _csv(
                ("motion", "number", "duration", "condition", *(f"error_{name}" for name in PARAMETER_NAMES)),
                _motion_rows(table),
            ),
            "sensitivity.json": (json.dumps(to_document(table), indent=1, allow_nan=False) + "\n").encode(),
            "report.html": sensitivity_page(
                table, robot=self.robot.name, seed=seed, version=made.get("steelyard", "")
            ).encode(),
        }
        record = record_document(
            self.robot, layout_of(self.robot), files, seed=seed, request=self.request.document()
        )
        files["record.json"] = (json.dumps(record, indent=2, ensure_ascii=False) + "\n").encode()
        write_folder(out, files, force=force)
        return {name: str(out / name) for name in files}

    def __repr__(self) -> str:
        table = self.table
        return (
            f"<SensitivityStudy of {self.robot.name}: {len(table.motions)} kinds of motions, "
            f"{len(table.noises)} noises, {len(table.filters)} filters, {table.trials} trials each>"
        )

    def __str__(self) -> str:
        table = self.table
        lines = [f"{self.robot.name}: rms errors of {table.trials} trials, the worst of a kind"]
        heads = "".join(f"  {heading:>10}" for heading, _ in WORST)
        lines.append(f"{'motion':<15}  {'noise':<30}  {'filter':<11}{heads}")
        for cell in table.cells:
            worst = "".join(f"  {cell.rms[which].max():>10.2g}" for _, which in WORST)
            lines.append(f"{cell.motion:<15}  {cell.noise.name:<30}  {cell.filter:<11}{worst}")
        return "\n".join([*lines, *self.conditions])

    @property
    def conditions(self) -> list[str]:
        """How well the motions of each kind show the numbers, a line each."""
        return [
            f"{spread.motion}: condition number {spread.conditions.mean():.3g} on average, "
            f"{spread.conditions.min():.3g} to {spread.conditions.max():.3g}, of {len(spread.conditions)}"
            for spread in self.table.spreads
        ]


def sensitivity_study(given: Mapping[str, Any]) -> SensitivityStudy:
    """Study by the arguments of `sensitivity`, by name."""
    objects, asked = GivenObjects(), dict(given)
    if asked["noise"] is not None and not isinstance(asked["noise"], str):
        asked["noise"] = ";".join(_noise_text(case) for case in asked["noise"])
    request = request_of(SensitivityRequest, asked, objects)
    return sensitivity_of_request(request, given["out"], objects=objects, force=given["force"])


def sensitivity_of_request(
    request: SensitivityRequest,
    out: FilePath | None,
    *,
    objects: GivenObjects | None = None,
    force: bool = False,
) -> SensitivityStudy:
    """Do what a request asks, as `replay` does with that of a record.

    Args:
        request: what is asked.
        out: folder for tables, page and record; None to write nothing.
        objects: those that the request names.
        force: whether an earlier result may be replaced.

    Returns:
        The errors of each motion, noise and filter.

    Raises:
        InputError: something asked for is not usable; nothing is written.
        NoSolutionError: the robot cannot do one of the motions that were asked for.
    """
    started = time.perf_counter()
    if out is not None:
        require_free(Path(out), force=force)
    require_seed(request.seed)
    for place, number, most in (
        ("--count", request.count, MOST_MOTIONS),
        ("--trials", request.trials, MOST_TRIALS),
    ):
        if not 1 <= number <= most:
            raise InputError(f"must be 1 to {most}, got {number:.4g}.", place=place)
    if not 0.0 < request.rate <= FASTEST:
        raise InputError(
            f"must be positive and at most {FASTEST:g} Hz, got {request.rate:g} Hz.", place="--rate"
        )
    done = _studied(request, objects or GivenObjects())
    files = {} if out is None else done.save(out, force=force)
    return replace(done, files=files, seconds=time.perf_counter() - started)


def _studied(request: SensitivityRequest, objects: GivenObjects) -> SensitivityStudy:
    """Choose the motions, add noise, and weigh."""
    robot = given_robot(
        objects.of(request.robot),
        request.gravity,
        request.lock,
        request.tool_frame,
        arguments=request.arguments,
        package_path=request.package_path,
        stated=request,
    )
    robot.require_arm()
    given = objects.of(request.payload)
    body = PAPERS_OBJECT if given is None else given if isinstance(given, Body) else read_payload(given)
    noises = NOISES if request.noise is None else _noises(request.noise)
    filters = tuple(FILTERS) if request.filters is None else _names(request.filters)
    kinds = _names(USUAL if request.motions is None else request.motions)
    for place, chosen, valid in (("--motions", kinds, MOTIONS), ("--filters", filters, tuple(FILTERS))):
        for name in chosen:
            if name not in valid:
                raise UnknownNameError("choice", name, valid, place=place)
    _, noise = np.random.default_rng(request.seed).spawn(2)
    say(f"1  {request.count} motions of each kind: {', '.join(kinds)}")
    motions, left_out = _motions(request, robot, kinds)
    plan = SensitivityPlan(robot, motions, body, noises, filters, request.trials, request.rate)
    weighings = len(motions) * len(noises) * len(filters) * request.trials
    say(f"2  {body.mass:.4g} kg at {robot.tool_frame.name}, weighed {weighings} times")
    table = study_sensitivity(plan, noise, lambda share: advance("weighing", share))
    return SensitivityStudy(robot, table, left_out, request)


def _motions(
    request: SensitivityRequest, robot: Robot, kinds: Sequence[str]
) -> tuple[dict[str, tuple[Motion, ...]], dict[str, str]]:
    """Motions by kind; and why a usual kind is left out that was not asked for and the robot cannot do."""
    motions: dict[str, tuple[Motion, ...]] = {}
    left_out: dict[str, NoSolutionError] = {}
    for kind in kinds:
        # A kind is the same whichever others there are, by the same source.
        paths, _ = np.random.default_rng(request.seed).spawn(2)
        try:
            motions |= study_motions(robot, (kind,), request.count, paths)
        except NoSolutionError as error:
            if request.motions is not None:
                raise
            say(f"   {kind} is left out: {error.message}")
            left_out[kind] = error
    if left_out and not motions:
        raise next(iter(left_out.values()))
    return motions, {kind: error.message for kind, error in left_out.items()}


def _noises(text: str) -> tuple[Noise, ...]:
    """The noises that the option states: `q=0.01,v=0.01;tau=0.1`."""
    return tuple(Noise(**_deviations(case)) for case in text.split(";") if case.strip())


def _noise_text(noise: Noise) -> str:
    """The same the other way round."""
    return ",".join(f"{symbol}={float(getattr(noise, name))!r}" for symbol, name in _SYMBOLS.items())


def _deviations(case: str) -> dict[str, float]:
    values: dict[str, float] = {}
    for part in case.split(","):
        symbol, _, number = part.partition("=")
        name = _SYMBOLS.get(symbol.strip())
        try:
            value = float(number)
        except ValueError:
            name = None
        if name is None or name in values:
            raise InputError(
                f"expected q, v and tau, each once and with a number, got '{case.strip()}'.",
                place="--noise",
                remedy="Write q=0.01,v=0.01;tau=0.1.",
            )
        values[name] = value
    return values


def _names(text: str) -> tuple[str, ...]:
    """Names between commas, each once."""
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))


def _named(ten: Array) -> dict[str, float]:
    return dict(zip(PARAMETER_NAMES, ten.tolist(), strict=True))


def _error_rows(table: SensitivityTable) -> Iterator[tuple[object, ...]]:
    for cell in table.cells:
        columns = zip(
            PARAMETER_NAMES,
            PARAMETER_UNITS,
            table.truth.tolist(),
            *(x.tolist() for x in (cell.mean, cell.squared, cell.rms, cell.deviation)),
            strict=True,
        )
        for row in columns:
            yield (cell.motion, *_of(cell.noise), cell.filter, *row, cell.answered, cell.refused)


def _mass_rows(table: SensitivityTable) -> Iterator[tuple[object, ...]]:
    for running in table.running:
        for trial, masses in enumerate(running.mass.tolist()):
            for count, mass in zip(running.samples.tolist(), masses, strict=True):
                yield (running.motion, *_of(running.noise), trial, count, mass)


def _motion_rows(table: SensitivityTable) -> Iterator[tuple[object, ...]]:
    for spread in table.spreads:
        columns = (spread.durations.tolist(), spread.conditions.tolist(), spread.errors.tolist())
        for number, (duration, condition, errors) in enumerate(zip(*columns, strict=True)):
            yield (spread.motion, number, duration, condition, *errors)


def _of(noise: Noise) -> tuple[float, float, float]:
    return noise.position, noise.velocity, noise.torque


def _csv(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(rows)
    return text.getvalue().encode()
