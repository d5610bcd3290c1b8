"""What has been proven of a motion at every instant, under which assumptions; or why it could not be."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.archive import write_document
from steelyard.arrays import Array, keep_checked
from steelyard.enclosure import Tracking
from steelyard.errors import InputError, NoSolutionError
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity

SCHEMA = 1
KINDS = ("position", "velocity", "acceleration", "torque", "clearance")
"""What is limited."""


@dataclass(frozen=True)
class ProvenMargin:
    """A limit that is kept at every instant.

    Attributes:
        kind: one of `KINDS`.
        name: of the joint, or of the pair that stays apart.
        margin: what is left at least, at any instant, in `unit`; zero or more.
        unit: of the margin.
        start: the stretch of time on which the least was proven starts here, s.
        end: and ends here, s.
    """

    kind: str
    name: str
    margin: float
    unit: str
    start: float
    end: float

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"is none of {', '.join(KINDS)}: '{self.kind}'.", place="kind")
        # Written so that NaN is refused too.
        if not self.margin >= 0.0:
            raise InputError(f"a margin of {self.margin} proves nothing.", place=self.name)


@dataclass(frozen=True, eq=False)
class Assumptions:
    """What a certificate rests on; arrays are read-only.

    Attributes:
        tracking: how far the robot may be from the motion, at any instant.
        lower: smallest dynamic parameters, shape (p,), SI; empty where torques were not looked at.
        upper: largest dynamic parameters, shape (p,), SI.
        parameters: names of the parameters.
        distance: how far apart every pair stays at least, m.
        excluded: pairs of shapes that were left out.
        findings: limits and shapes that were not looked at, or were made simpler.
    """

    tracking: Tracking
    lower: Array
    upper: Array
    parameters: tuple[str, ...]
    distance: float
    excluded: tuple[str, ...]
    findings: tuple[Finding, ...]

    def __post_init__(self) -> None:
        keep_checked(self, (len(self.parameters),), "lower", "upper")


@dataclass(frozen=True, eq=False)
class Certificate:
    """The proof that a motion keeps every limit at every instant from 0 to its duration.

    Attributes:
        robot: digest of the robot.
        motion: digest of the motion.
        duration: of the motion, s.
        margins: every limit that is stated, with the least that is left of it.
        stretches: how many stretches of time were looked at.
        assumptions: what it rests on.
        schema: number of this layout.
    """

    robot: str
    motion: str
    duration: float
    margins: tuple[ProvenMargin, ...]
    stretches: int
    assumptions: Assumptions
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        if self.schema != SCHEMA:
            raise InputError(f"is {self.schema}, known: {SCHEMA}.", place="schema")

    @property
    def uncovered(self) -> tuple[Finding, ...]:
        """What could hit or overload and was not looked at: the proof says nothing of it."""
        return tuple(x for x in self.assumptions.findings if x.severity is not Severity.INFO)

    def smallest(self, kind: str) -> ProvenMargin | None:
        """The limit of a kind of which least is left.

        Args:
            kind: one of `KINDS`.

        Returns:
            Its margin; None where nothing of that kind is limited.

        Raises:
            InputError: there is no such kind.
        """
        if kind not in KINDS:
            raise InputError(f"must be one of {', '.join(KINDS)}, got '{kind}'.", place="kind")
        own = [margin for margin in self.margins if margin.kind == kind]
        return min(own, key=lambda margin: margin.margin, default=None)

    def write(self, path: FilePath) -> None:
        """Write a certificate as JSON, whole or not at all.

        Args:
            path: where; an existing file is replaced.

        Raises:
            InputError: the path is a folder, or its folder does not exist or cannot be written to.
        """
        write_document(self, path)


class NotCertifiedError(NoSolutionError):
    """A motion breaks a limit, or could not be proven to keep it.

    Attributes:
        kind: which kind of limit, one of `KINDS`.
        name: of the joint or pair.
        instant: when, s.
        margin: what is left of the limit then, negative where it is broken, SI.
        broken: whether the motion breaks the limit; otherwise it may, as far as is known.
    """

    def __init__(
        self, message: str, *, kind: str, name: str, instant: float, margin: float, broken: bool, remedy: str
    ) -> None:
        self.kind, self.name, self.instant, self.margin, self.broken = kind, name, instant, margin, broken
        evidence = {"kind": kind, "name": name, "instant": instant, "margin": margin, "broken": broken}
        super().__init__(message, place=name, remedy=remedy, evidence=evidence)
