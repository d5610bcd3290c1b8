"""Two models of one robot side by side: what moved between them beyond what their intervals explain."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from steelyard.audit import Status
from steelyard.files import FilePath
from steelyard.finding import Finding
from steelyard.model import Comparison, Difference, Model, ModelComparison, TorqueError, compare_models
from steelyard.robot import Robot
from steelyard.workflows.given import given_model
from steelyard.workflows.identification import Identification
from steelyard.workflows.options import path_of

SHOWN = 12
"""Differences listed for people of those the intervals explain; all are in the JSON."""

Compared = Identification | Model | Robot | FilePath
"""A result, or a description of its robot."""


@dataclass(frozen=True, eq=False, repr=False)
class ResultComparison:
    """What moved between two results.

    Attributes:
        found: parameter by parameter and torque by torque.
        first: what the first is called.
        second: what the second is called.
        seconds: what it took.
        files: nothing is written.
    """

    found: ModelComparison
    first: str
    second: str
    seconds: float = 0.0
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def parameters(self) -> Comparison:
        """Base parameter by base parameter; those that stand alone are parameters by themselves."""
        return self.found.parameters

    @property
    def moved(self) -> tuple[Difference, ...]:
        """What moved beyond the intervals, the clearest first."""
        return self.found.parameters.moved

    @property
    def within(self) -> tuple[Difference, ...]:
        """What the intervals explain, the largest in deviations first."""
        return self.found.parameters.within

    @property
    def torque(self) -> TorqueError | None:
        """How far the torques are apart, percent of the first one's; None where no states are drawn."""
        return self.found.torque

    @property
    def joints(self) -> tuple[str, ...]:
        """A name per degree of freedom."""
        return self.found.joints

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was noticed on the way."""
        return self.found.findings

    @property
    def status(self) -> Status:
        """A change is worth a word; where nothing could be compared, nothing is said."""
        if self.moved:
            return Status.WARN
        return Status.PASS if self.within else Status.NOT_RUN

    @property
    def document(self) -> dict[str, Any]:
        """Everything a script may ask for."""
        torque = self.torque
        return {
            "verdict": self.status,
            "moved": [self._line(difference) for difference in self.moved],
            "within": [self._line(difference) for difference in self.within],
            "unknown": self.parameters.unknown,
            "level": self.parameters.level,
            "correction": "Holm",
            "torque": None
            if torque is None
            else {"overall": torque.overall, "joints": dict(zip(self.joints, torque.joints, strict=True))},
            "findings": [
                {"severity": f.severity, "code": f.code, "message": f.message, "place": f.place}
                for f in self.findings
            ],
        }

    def _line(self, difference: Difference) -> dict[str, Any]:
        return {
            "name": difference.name,
            "class": "base" if difference.name.endswith("+") else "alone",
            "unit": self.found.units[difference.name],
            "first": difference.first,
            "second": difference.second,
            "change": difference.change,
            "deviation": difference.deviation,
            "score": difference.score,
            "chance": difference.chance,
        }

    @property
    def sentence(self) -> str:
        """How many parameters moved."""
        found = self.parameters
        count = len(found.moved) + len(found.within)
        return (
            f"{len(found.moved)} of {count} parameters moved from {self.first} to {self.second} "
            f"(Holm's correction for {count} at {100 * found.level:g} %)"
        )

    def __repr__(self) -> str:
        return f"<ResultComparison: {self.status}, {len(self.moved)} moved, {len(self.within)} within>"

    def __str__(self) -> str:
        lines = [f"{self.status}: {self.sentence}"]
        for title, rows in (("moved", self.moved), ("explained by the intervals", self.within[:SHOWN])):
            if rows:
                width = max(len(row.name) for row in rows)
                lines += ["", title]
                lines += [
                    f"{row.name:<{width}}  {row.first:12.5g}  {row.second:12.5g}  {row.score:8.2f} deviations"
                    for row in rows
                ]
        return "\n".join(lines)


def result_comparison(
    first: Compared,
    second: Compared,
    *,
    level: float,
) -> ResultComparison:
    """Compare two results, by the arguments of `compare`."""
    started = time.perf_counter()
    found = compare_models(_model(first), _model(second), level)
    return ResultComparison(found, _name(first), _name(second), time.perf_counter() - started)


def _model(given: Compared) -> Model:
    return given.model if isinstance(given, Identification) else given_model(given)


def _name(given: Compared) -> str:
    if isinstance(given, Identification | Model | Robot):
        return repr(given) if not isinstance(given, Robot) else given.name
    return path_of(given) or ""
