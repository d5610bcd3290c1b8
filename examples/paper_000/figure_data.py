"""What the study of the stacked dumbbells found, read from its file and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from paper_000.figure_part import REMEDY, Part
from steelyard.arrays import Array, read_only
from steelyard.errors import InputError
from steelyard.inertia import PARAMETER_NAMES

EXCITATIONS = {"ours": "optimised", "random": "random"}
"""The motions that each method of Figs. 6 to 10 and of Table V identifies with, as the file calls them."""
STACKING = ("a", "b")
"""Experiments that Figs. 11 and 12 show."""
LEARNING = ("ours", "random", "adap-1", "adap-1-excit")
"""Methods that Fig. 5 shows."""


@dataclass(frozen=True, eq=False)
class MassHistory:
    """The mass of the end effector as a method believes it. Arrays are read-only.

    Attributes:
        time: shape (k,), s.
        mass: shape (k,), kg.
        bounds: what it is guaranteed to lie between, shape (k, 2), kg; None where nothing is guaranteed. A
            mass with bounds stays until the next.
    """

    time: Array
    mass: Array
    bounds: Array | None


@dataclass(frozen=True, eq=False)
class FinalBounds:
    """What is known of the ten numbers when a dumbbell has been identified. Arrays are read-only.

    Attributes:
        pounds: of the dumbbell.
        truth: shape (10,), SI.
        intervals: by method, lower above upper ends, shape (2, 10), SI.
    """

    pounds: int
    truth: Array
    intervals: Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class Course:
    """How a method carried a dumbbell, at equal steps of time. Arrays are read-only.

    Attributes:
        error: norm of the joints' tracking errors, shape (N,), mrad.
        load: command over its limit, of the worst joint, shape (N,), dimensionless.
    """

    error: Array
    load: Array


Outcomes = Mapping[str, Mapping[str, str]]
"""What stands in Table III, by method and experiment."""
Courses = Mapping[int, Mapping[str, Course]]
"""Of one experiment, by pounds and method."""


@dataclass(frozen=True, eq=False)
class StackingResult:
    """All that the page shows.

    Attributes:
        date: of the study.
        description: its own words, paragraphs of Markdown.
        outcomes: Table III.
        printed: Table III of the paper.
        reasons: how often a first failure had which reason, by method and experiment.
        pounds: dumbbells of Table V.
        conditions: Table V by method, here above printed, shape (2, len(pounds)), dimensionless.
        masses: Fig. 5 by method.
        bounds: Figs. 6 to 10.
        courses: Figs. 11 and 12 by experiment.
        step: time between the samples of a course, s.
    """

    date: str
    description: str
    outcomes: Outcomes
    printed: Outcomes
    reasons: Mapping[str, Mapping[str, Mapping[str, int]]]
    pounds: tuple[int, ...]
    conditions: Mapping[str, Array]
    masses: Mapping[str, MassHistory]
    bounds: tuple[FinalBounds, ...]
    courses: Mapping[str, Courses]
    step: float


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
    outcomes = _outcomes(found["Table III"])
    return StackingResult(
        date=file["date"].text(),
        description=file["description"].text(),
        outcomes=outcomes,
        printed={
            method: {name: found["Table III as printed"][method][name].text() for name in row}
            for method, row in outcomes.items()
        },
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
        bounds=tuple(_bounds(each) for each in found["Figs. 6 to 10"].parts()),
        courses={name: _courses(found["Figs. 11 and 12"], name, pounds) for name in STACKING},
        # The courses bear no times: the study takes them as often as the masses that are learnt on the way.
        step=float(masses["adap-1"].time[1]),
    )


def _outcomes(table: Part) -> Outcomes:
    return {method: {name: each.text() for name, each in row.items()} for method, row in table.items()}


def _history(part: Part) -> MassHistory:
    names = [name for name, _ in part.items()]
    time = part["time, s"].array("k")
    if time.size < 2 or (np.diff(time) < 0.0).any():
        raise InputError("must have two times at least, none before another.", place=part.place)
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


def _courses(part: Part, experiment: str, pounds: tuple[int, ...]) -> Courses:
    return {
        each: {
            method: Course(
                (error := course["error, mrad"].array("N")), course["torque over limit"].array(error.size)
            )
            for method, course in part[f"{experiment}, {each} lb"].items()
        }
        for each in pounds
    }
