"""`MotionContent`: everything the page of a motion says, as plain data; whoever designed the motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError
from steelyard.finding import Finding
from steelyard.report.motion_curves import ClearanceCurve, JointCurves
from steelyard.report.motion_proof import Proof
from steelyard.report.motion_skeleton import Skeleton


@dataclass(frozen=True)
class Measure:
    """A figure of merit of a motion, and what it was before.

    Attributes:
        name: such as `condition number`.
        after: of the motion, in `unit`.
        before: of what it is compared with, in `unit`; None where it is compared with nothing.
        unit: empty where dimensionless.
    """

    name: str
    after: float
    before: float | None = None
    unit: str = ""


@dataclass(frozen=True, eq=False)
class SearchRecord:
    """How a motion was found; arrays are read-only.

    Attributes:
        criterion: name of what was sought.
        seconds: when the search stood there, increasing, shape (R,), s.
        best: value of the criterion then, NaN while there was none, shape (R,), SI.
        measures: what the motion is worth.
        compared: what the measures are compared with, in a few words.
        columns: names of the parameters, or their combinations, it is to show.
        facts: settings by name, as values JSON can hold.
    """

    criterion: str
    seconds: Array
    best: Array
    measures: tuple[Measure, ...] = ()
    compared: str = "before"
    columns: tuple[str, ...] = ()
    facts: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        seconds = checked("seconds", self.seconds, ("R",))
        if (seconds[1:] < seconds[:-1]).any():
            raise InputError("must not decrease.", place="seconds")
        object.__setattr__(self, "seconds", read_only(seconds))
        object.__setattr__(self, "best", read_only(checked("best", self.best, seconds.shape, finite=False)))
        object.__setattr__(self, "facts", MappingProxyType(dict(self.facts)))


@dataclass(frozen=True, eq=False)
class MotionContent:
    """What the page of a motion says; arrays are read-only.

    Attributes:
        robot: name of the robot.
        digest: SHA-256 of its description.
        motion: SHA-256 of the motion.
        joints: names of the joints.
        time: of all samples, from 0 to the duration, increasing, shape (N,), s.
        curves: position, velocity, acceleration, and torque where a model predicts it.
        torque_model: which model that is, in a sentence; empty where there is none.
        clearance: how far apart things stay; None where that was not looked at.
        skeleton: the arm to draw; None to draw none.
        proof: what is proven for every instant, or why nothing is; None where no proof was sought.
        search: how it was found; None where that is not known.
        broken: limits that are broken at the samples.
        findings: what was noticed besides.
        versions: versions of the software by name.
        made: when and by whom the page was made; empty to leave it out.
        schema: number of this layout.
    """

    robot: str
    digest: str
    motion: str
    joints: tuple[str, ...]
    time: Array
    curves: tuple[JointCurves, ...]
    torque_model: str = ""
    clearance: ClearanceCurve | None = None
    skeleton: Skeleton | None = None
    proof: Proof | None = None
    search: SearchRecord | None = None
    broken: tuple[Finding, ...] = ()
    findings: tuple[Finding, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    made: str = ""
    schema: int = 1

    def __post_init__(self) -> None:
        time = checked("time", self.time, ("N",))
        if len(time) < 2 or time[0] != 0.0 or not (time[1:] > time[:-1]).all():
            raise InputError("must start at 0 and increase, over two samples at least.", place="time")
        for curves in self.curves:
            checked(f"{curves.name}, values", curves.values, (len(time), len(self.joints)))
        if self.clearance is not None:
            checked("clearance, smallest", self.clearance.smallest, (len(time),))
        object.__setattr__(self, "time", read_only(time))
        object.__setattr__(self, "versions", MappingProxyType(dict(self.versions)))
