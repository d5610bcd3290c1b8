"""The study's file, read and checked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from paper_000.figure_data import Course, Courses, FinalBounds, MassHistory, Outcomes, StackingResult
from paper_000.figure_part import REMEDY, Part
from paper_000.figure_styles import STROKES, stroke_of
from steelyard.arrays import read_only
from steelyard.errors import InputError
from steelyard.inertia import PARAMETER_NAMES

EXCITATIONS = {"ours": "optimised", "random": "random"}
"""The motions that each method of Figs. 6 to 10 and of Table V identifies with, as the file calls them."""
STACKING = ("a", "b")
"""Experiments that Figs. 11 and 12 show."""
LEARNING = ("ours", "random", "adap-1", "adap-1-excit")
"""Methods that Fig. 5 shows."""


def stacking_result(path: Path) -> StackingResult:
    """Read the study's file.

    Args:
        path: such as `docs/results/safe_stacking-DATE.json`.

    Returns:
        What it holds.

    Raises:
        InputError: it is not the file of this study, or something in it is missing or wrong.
    """
    file = Part.of_file(path)
    found = file["extra"]
    pounds = tuple(each.whole() for each in found["Table V"]["pounds"].parts())
    masses = {name: _history(found["Fig. 5"][name]) for name in LEARNING}
    methods = _methods(found["Table III"])
    names = [name for name, _ in found["Table III"]["ours"].items()]
    bounds = tuple(_bounds(each) for each in found["Figs. 6 to 10"].parts())
    if tuple(each.pounds for each in bounds) != pounds:
        place = found["Figs. 6 to 10"].place
        raise InputError("must be of the dumbbells of Table V, in their order.", place=place, remedy=REMEDY)
    return StackingResult(
        date=file["date"].text(),
        description=file["description"].text(),
        outcomes=_outcomes(found["Table III"], methods, names),
        printed=_outcomes(found["Table III as printed"], methods, names),
        reasons={
            method: {name: {why: count.whole() for why, count in each.items()} for name, each in row.items()}
            for method, row in found["reasons"].items()
        },
        pounds=pounds,
        conditions={
            method: read_only(
                np.stack([found["Table V"][key].array(len(pounds)) for key in (name, f"{name}, as printed")])
            )
            for method, name in EXCITATIONS.items()
        },
        masses=masses,
        bounds=bounds,
        courses={name: _courses(found["Figs. 11 and 12"], methods, name, pounds) for name in STACKING},
        loads={name: _loads(found["verdicts"], methods, name, pounds) for name in STACKING},
        # The courses bear no times: the study takes them as often as the masses that are learnt on the way.
        step=float(masses["adap-1"].time[1] - masses["adap-1"].time[0]),
    )


def _methods(table: Part) -> list[str]:
    """All of Table II, and no other."""
    for name in STROKES:
        table[name]
    for name, _ in table.items():
        stroke_of(name)
    return list(STROKES)


def _outcomes(table: Part, methods: Sequence[str], names: Sequence[str]) -> Outcomes:
    return {method: {name: table[method][name].text() for name in names} for method in methods}


def _history(part: Part) -> MassHistory:
    names = [name for name, _ in part.items()]
    time = part["time, s"].array("k")
    if time.size < 2 or (np.diff(time) < 0.0).any():
        raise InputError(
            "must have two times or more, none before its last.", place=part.place, remedy=REMEDY
        )
    if "mass, kg" in names:
        return MassHistory(time, part["mass, kg"].array(time.size), None)
    masses = part["lowest, middle, highest mass, kg"].array(time.size, 3)
    return MassHistory(time, masses[:, 1], masses[:, ::2])


def _bounds(part: Part) -> FinalBounds:
    n = len(PARAMETER_NAMES)
    intervals = {}
    for method, name in EXCITATIONS.items():
        ends = np.stack([part[name][end].array(n) for end in ("lower", "upper")])
        if (ends[0] > ends[1]).any():
            raise InputError("has a lower end above its upper one.", place=part[name].place, remedy=REMEDY)
        intervals[method] = read_only(ends)
    return FinalBounds(part["pounds"].whole(), part["truth"].array(n), intervals)


def _courses(part: Part, methods: Sequence[str], experiment: str, pounds: Sequence[int]) -> Courses:
    return {
        each: {method: _course(part[f"{experiment}, {each} lb"][method]) for method in methods}
        for each in pounds
    }


def _course(part: Part) -> Course:
    error = part["error, mrad"].array("N")
    if not error.size:
        raise InputError("has no sample.", place=part.place, remedy=REMEDY)
    return Course(error, part["torque over limit"].array(error.size))


def _loads(part: Part, methods: Sequence[str], experiment: str, pounds: Sequence[int]) -> dict[str, float]:
    what = "largest command over its limit"
    return {
        method: max(float(part[method][f"{experiment}, {each} lb"][what].array()) for each in pounds)
        for method in methods
    }
