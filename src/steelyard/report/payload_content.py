"""`PayloadContent`: everything the page of a weighed payload says, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from steelyard.audit import Check, Verdict
from steelyard.errors import InputError
from steelyard.finding import Finding
from steelyard.inertia import PARAMETER_NAMES, Body, Mesh
from steelyard.payload import QUANTITIES
from steelyard.report.arm_drawing import ArmDrawing
from steelyard.report.content import History, TorqueTrace
from steelyard.report.payload_parts import GainAnswer, PayloadNumber, TrialOutcome
from steelyard.uncertainty import GuaranteedBounds, Theorem13


@dataclass(frozen=True, eq=False)
class PayloadContent:
    """What the page says.

    Attributes:
        robot: name of the robot.
        digest: SHA-256 of its description.
        frame: what the payload's frame is called.
        link: name of the link that carries it.
        way: how it was weighed.
        why: why that way was taken, in a clause.
        prior: what a payload could be beforehand, in a sentence.
        body: the payload in its frame; it has mass.
        numbers: what people ask for, by `payload.QUANTITIES`.
        ten: the ten numbers about the frame, by `inertia.PARAMETER_NAMES`.
        verdict: the checks and their outcome.
        joints: a name per degree of freedom.
        units: unit of the torque or force of each degree of freedom.
        traces: torque that the arm itself does not need, measured and explained by the payload.
        bounds: bounds of the ten numbers with what they assume; None where none were asked for.
        published: what Theorem 13 says beside them; None to say nothing of it.
        gains: whose drive gains the answer rests on; empty where that is no question.
        others: the answers under other drive gains.
        mesh: the payload's surface in its frame; None for none.
        uniform: the solid of one density that fills the mesh, with the measured mass; None for none.
        density: whether the payload can be that solid; None where it was not asked.
        trials: how the asset moves beside another object.
        arm: the robot with the payload in its hand; None to draw none.
        findings: what was noticed on the way.
        histories: how the runs came about.
        inputs: SHA-256 of each file that was read, by its name.
        files: names of the files beside the page.
        facts: settings and diagnostics by name, as values JSON can hold.
        versions: versions of the software by name.
        read_back: for each model, the programs that read it back and agree, by name.
        untested: what was not tested, in sentences, besides the checks that were not run.
        made: when and by whom the page was made; empty to leave it out.
        schema: number of this layout.
    """

    robot: str
    digest: str
    frame: str
    link: str
    way: str
    why: str
    prior: str
    body: Body
    numbers: tuple[PayloadNumber, ...]
    ten: tuple[PayloadNumber, ...]
    verdict: Verdict
    joints: tuple[str, ...]
    units: tuple[str, ...]
    traces: tuple[TorqueTrace, ...] = ()
    bounds: GuaranteedBounds | None = None
    published: Theorem13 | None = None
    gains: str = ""
    others: tuple[GainAnswer, ...] = ()
    mesh: Mesh | None = None
    uniform: Body | None = None
    density: Check | None = None
    trials: tuple[TrialOutcome, ...] = ()
    arm: ArmDrawing | None = None
    findings: tuple[Finding, ...] = ()
    histories: tuple[History, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    facts: Mapping[str, object] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    read_back: Mapping[str, Sequence[str]] = field(default_factory=dict)
    untested: tuple[str, ...] = ()
    made: str = ""
    schema: int = 1

    def __post_init__(self) -> None:
        if not self.body.mass > 0.0:
            raise InputError("has no mass.", place="body", remedy="A page is about something that is held.")
        for name, valid in (("numbers", QUANTITIES), ("ten", PARAMETER_NAMES)):
            if tuple(number.name for number in getattr(self, name)) != valid:
                raise InputError(f"must be, in this order: {', '.join(valid)}.", place=name)
        if self.bounds is not None and not self.bounds.assumptions:
            raise InputError("do not say what they assume.", place="bounds", remedy="Leave them out.")
        nv = len(self.joints)
        if len(self.units) != nv:
            raise InputError(f"{len(self.units)} units for {nv} joints.", place="units")
        for trace in self.traces:
            if trace.measured.shape[1] != nv:
                raise InputError(
                    f"has {trace.measured.shape[1]} columns of torque for {nv} joints.",
                    place=f"trace '{trace.name}'",
                )
        for name in ("inputs", "facts", "versions", "read_back"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def number(self, name: str) -> PayloadNumber:
        """One of `numbers`.

        Args:
            name: one of `payload.QUANTITIES`.

        Returns:
            The number.
        """
        return self.numbers[QUANTITIES.index(name)]
