"""The folder of `steelyard sensitivity`: tables for other programs, the page, and the record."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from steelyard.archive import to_document
from steelyard.cli.sensitivity_line import Studied
from steelyard.export import record_document, versions, write_folder
from steelyard.inertia import PARAMETER_NAMES, PARAMETER_UNITS
from steelyard.layout import layout_of
from steelyard.payload import Noise, SensitivityTable
from steelyard.report import sensitivity_page

_NOISE = ("noise_q", "noise_v", "noise_tau")
_ERRORS = ("mean_error", "mean_squared_error", "rms_error", "deviation")


def write_study(done: Studied, out: Path, *, force: bool = False) -> dict[str, str]:
    """Write everything, or nothing; returns the paths by name."""
    table, seed = done.table, done.request.seed
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
            table, robot=done.robot.name, seed=seed, version=made.get("steelyard", "")
        ).encode(),
    }
    record = record_document(
        done.robot, layout_of(done.robot), files, seed=seed, request=done.request.document()
    )
    files["record.json"] = (json.dumps(record, indent=2, ensure_ascii=False) + "\n").encode()
    write_folder(out, files, force=force)
    return {name: str(out / name) for name in files}


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
