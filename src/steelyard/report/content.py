"""`ReportContent`: everything a report says, as plain data; whoever made the numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from steelyard.arrays import Array, checked, read_only
from steelyard.audit import TorqueError, Verdict
from steelyard.errors import InputError
from steelyard.finding import Finding
from steelyard.identifiability import Class
from steelyard.recording import Step
from steelyard.report.arm_drawing import ArmDrawing


@dataclass(frozen=True, eq=False)
class TorqueTrace:
    """Measured and predicted torque along one motion.

    Attributes:
        name: what the motion is called.
        held_out: whether the model has not seen it.
        time: strictly increasing, shape (N,), s.
        measured: tau, shape (N, nv), N·m or N.
        predicted: tau_hat, shape (N, nv), N·m or N.
        unfiltered: where both are of the band of the motion, errors against torques as they were measured.
        without_links: errors of base parameters that no links need to have, in the same band; None where the
            prediction is theirs.
    """

    name: str
    held_out: bool
    time: Array
    measured: Array
    predicted: Array
    unfiltered: TorqueError | None = None
    without_links: TorqueError | None = None

    def __post_init__(self) -> None:
        n = len(checked("time", self.time, ("N",)))
        nv = checked("measured", self.measured, (n, "nv")).shape[1]
        for name, shape in (("time", (n,)), ("measured", (n, nv)), ("predicted", (n, nv))):
            array = checked(name, getattr(self, name), shape)
            object.__setattr__(self, name, read_only(array))
        if n < 2 or not (self.time[1:] > self.time[:-1]).all():
            raise InputError("must increase, over two samples at least.", place=f"trace '{self.name}', time")


@dataclass(frozen=True)
class ParameterLine:
    """One standard parameter.

    Attributes:
        name: such as `link3.mx`.
        owner: the link or joint it belongs to.
        unit: its unit.
        kind: what torques say about it; None where its value is known beforehand.
        value: the estimate, in its unit; None where there is none.
        lower: lower end of the 95 % interval, in its unit; minus infinity where torques set no bound.
        upper: upper end, in its unit; infinity where torques set no bound.
        nominal: what the description states, in its unit; None where it states nothing.
        decided_by: who decided it, such as `data` or `prior`; empty for no word.
    """

    name: str
    owner: str
    unit: str
    kind: Class | None
    value: float | None = None
    lower: float = float("-inf")
    upper: float = float("inf")
    nominal: float | None = None
    decided_by: str = ""

    @property
    def half_width(self) -> float:
        """Half the width of the interval, in the same unit; infinite where it has no end."""
        return (self.upper - self.lower) / 2.0


@dataclass(frozen=True)
class Combination:
    """One combination of parameters that torques determine, beta = Σ k φ.

    Attributes:
        terms: parameter names with their coefficients, the leading one first.
        unit: unit of the sum.
        value: the estimate, in that unit.
        lower: lower end of the 95 % interval, in that unit; minus infinity where unknown.
        upper: upper end, in that unit; infinity where unknown.
        nominal: what the description's numbers sum to, in that unit; None where some are not stated.
        random: half the width of the interval without errors of torque constants, in that unit; None where
            they add nothing.
    """

    terms: tuple[tuple[str, float], ...]
    unit: str
    value: float
    lower: float = float("-inf")
    upper: float = float("inf")
    nominal: float | None = None
    random: float | None = None

    @property
    def half_width(self) -> float:
        """Half the width of the interval, in the same unit; infinite where it has no end."""
        return (self.upper - self.lower) / 2.0


@dataclass(frozen=True)
class History:
    """How one set of data came about.

    Attributes:
        name: what it is called.
        digest: SHA-256 of the data as it was used.
        steps: what was done, oldest first.
    """

    name: str
    digest: str
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, eq=False)
class ReportContent:
    """What a report says.

    Attributes:
        robot: name of the robot.
        digest: SHA-256 of its description.
        method: name of the estimator.
        verdict: the checks and their outcome.
        joints: a name per degree of freedom.
        units: unit of the torque or force of each degree of freedom.
        traces: torque along motions; the order is the order of the page.
        parameters: the standard parameters.
        combinations: the base parameters.
        arm: the robot to draw; None to draw none.
        findings: what was noticed on the way.
        histories: how the data came about.
        facts: settings and diagnostics by name, as values JSON can hold.
        versions: versions of the software by name.
        read_back: for each model, the programs that read it back and agree, by name.
        untested: what was not tested, in sentences, besides the checks that were not run.
        made: when and by whom the report was made; empty to leave it out.
        schema: number of this layout.
    """

    robot: str
    digest: str
    method: str
    verdict: Verdict
    joints: tuple[str, ...]
    units: tuple[str, ...]
    traces: tuple[TorqueTrace, ...] = ()
    parameters: tuple[ParameterLine, ...] = ()
    combinations: tuple[Combination, ...] = ()
    arm: ArmDrawing | None = None
    findings: tuple[Finding, ...] = ()
    histories: tuple[History, ...] = ()
    facts: Mapping[str, object] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    read_back: Mapping[str, Sequence[str]] = field(default_factory=dict)
    untested: tuple[str, ...] = ()
    made: str = ""
    schema: int = 1

    def __post_init__(self) -> None:
        nv = len(self.joints)
        if len(self.units) != nv:
            raise InputError(f"{len(self.units)} units for {nv} joints.", place="units")
        for trace in self.traces:
            if trace.measured.shape[1] != nv:
                raise InputError(
                    f"has {trace.measured.shape[1]} columns of torque for {nv} joints.",
                    place=f"trace '{trace.name}'",
                )
        for name in ("facts", "versions", "read_back"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
