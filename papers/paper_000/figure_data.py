"""What the study of the stacked dumbbells found, as far as the page shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from steelyard.arrays import Array


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
        loads: largest command over its limit in any cycle of any repetition, by experiment and method.
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
    loads: Mapping[str, Mapping[str, float]]
    step: float
