"""Tables beside a parameter cloud: what a stage changed most, and which runs needed a projection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, checked
from steelyard.errors import InputError


@dataclass(frozen=True)
class ParameterChange:
    """One parameter before and after a stage.

    Attributes:
        name: of the parameter.
        unit: its unit.
        before: its value, in its unit.
        after: its value, in its unit.
    """

    name: str
    unit: str
    before: float
    after: float

    @property
    def change(self) -> float:
        """After minus before, in its unit."""
        return self.after - self.before


def largest_changes(
    before: Array,
    after: Array,
    names: Sequence[str],
    units: Sequence[str],
    count: int = 5,
    *,
    scales: Array | None = None,
) -> tuple[ParameterChange, ...]:
    """The parameters that a stage changed most (paper 004, Table VI).

    Args:
        before: values, shape (b,), SI.
        after: values, shape (b,), SI.
        names: of the b parameters.
        units: of the b parameters.
        count: how many to name at most.
        scales: what a change of each parameter is compared with, shape (b,), SI; plain SI numbers, whatever
            their units, when not given, as in the paper.

    Returns:
        The changes, the largest first; equal ones in the order of the parameters.

    Raises:
        InputError: there is not one unit for each name, or a scale is not positive.
    """
    b = len(names)
    if len(units) != b:
        raise InputError(f"{len(units)} units for {b} parameters.", place="units")
    first, second = checked("before", before, (b,)), checked("after", after, (b,))
    s = np.ones(b) if scales is None else checked("scales", scales, (b,))
    if not (s > 0.0).all():
        raise InputError("must be positive.", place="scales")
    order = np.argsort(-np.abs((second - first) / s), kind="stable")[:count]
    return tuple(ParameterChange(names[k], units[k], float(first[k]), float(second[k])) for k in order)


@dataclass(frozen=True)
class RoutingRow:
    """How the runs of one sampling interval went on after least squares.

    Attributes:
        interval: between samples, s.
        passed: runs whose least-squares answer was positive definite and went straight to refinement.
        projected: runs that were projected first.
        unanswered: runs without a least-squares answer.
    """

    interval: float
    passed: int
    projected: int
    unanswered: int = 0

    @property
    def total(self) -> int:
        """All runs of this interval."""
        return self.passed + self.projected + self.unanswered


def routing_table(intervals: Sequence[float], passed: Sequence[bool | None]) -> tuple[RoutingRow, ...]:
    """Count, for each sampling interval, how many least-squares answers passed (paper 004, Table III).

    Args:
        intervals: between samples of each run, s.
        passed: whether its least-squares answer was positive definite; None where there is none.

    Returns:
        One row for each interval, the shortest first.

    Raises:
        InputError: there is not one outcome for each run.
    """
    if len(passed) != len(intervals):
        raise InputError(f"{len(passed)} outcomes for {len(intervals)} runs.", place="passed")
    found: dict[float, list[bool | None]] = {}
    for interval, outcome in zip(intervals, passed, strict=True):
        found.setdefault(interval, []).append(outcome)
    return tuple(
        RoutingRow(interval, outcomes.count(True), outcomes.count(False), outcomes.count(None))
        for interval, outcomes in sorted(found.items())
    )
