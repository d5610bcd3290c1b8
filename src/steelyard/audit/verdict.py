"""`Verdict`: the checks a model went through, and the worst of their outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType


class Status(StrEnum):
    """The outcome of a check."""

    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"
    NOT_RUN = "not run"


@dataclass(frozen=True, eq=False)
class Check:
    """One question put to a model.

    Attributes:
        name: what was asked, in a few words.
        status: the outcome.
        message: the outcome in a sentence, with its numbers.
        evidence: the numbers, as values JSON can hold.
    """

    name: str
    status: Status
    message: str
    evidence: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "evidence", MappingProxyType(dict(self.evidence)))


@dataclass(frozen=True, eq=False)
class Verdict:
    """What is to be thought of a model.

    Attributes:
        checks: every check, those that were not run included.
    """

    checks: tuple[Check, ...]
    schema: int = 1

    @property
    def status(self) -> Status:
        """The worst outcome; a check that was not run does not count against a model, but is said."""
        outcomes = {check.status for check in self.checks}
        for status in (Status.FAIL, Status.WARN, Status.PASS):
            if status in outcomes:
                return status
        return Status.NOT_RUN

    @property
    def untested(self) -> tuple[str, ...]:
        """Names of the checks that were not run."""
        return tuple(check.name for check in self.checks if check.status is Status.NOT_RUN)

    def check(self, name: str) -> Check:
        """A check by its name.

        Raises:
            KeyError: there is none of that name.
        """
        return {check.name: check for check in self.checks}[name]
