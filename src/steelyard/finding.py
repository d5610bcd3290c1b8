"""A finding: something noticed about a file, a signal or a result, with its place. Never a silent repair."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding matters."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True)
class Finding:
    """One thing noticed.

    Attributes:
        severity: how much it matters.
        code: a short stable name scripts can rely on, such as `missing-inertial`.
        message: the finding in one sentence, with its numbers.
        place: where: file and line, joint, channel; empty when it concerns the whole.
    """

    severity: Severity
    code: str
    message: str
    place: str = ""

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        return f"{self.severity.value}: {where}{self.message}"
