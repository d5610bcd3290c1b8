"""`MotionContent`: everything the page of a motion says, as plain data; whoever designed the motion."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from importlib.metadata import version
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, checked, keep_checked, keep_read_only, read_only
from steelyard.audit import Status
from steelyard.dynamics import forward_kinematics, inverse_dynamics
from steelyard.errors import DescriptionError, InputError
from steelyard.finding import Finding, Severity
from steelyard.layout import Layout, layout_of
from steelyard.limits import (
    Assumptions,
    Certificate,
    Clearance,
    MotionLimits,
    NotCertifiedError,
    Part,
    ProvenMargin,
    violations,
)
from steelyard.motion import MotionSample, SmoothMotion, enclose
from steelyard.robot import Robot

# The arm in motion: where its links are many times a second, and the outlines of what must stay apart.


class OutlineKind(StrEnum):
    """Whose shape it is."""

    LINK = "link"
    TOOL = "tool"
    SCENE = "scene"


@dataclass(frozen=True, eq=False)
class Outline:
    """A shape that is drawn: all points within a radius of the hull of a few points.

    Attributes:
        title: what it is called.
        kind: whose shape it is.
        link: index in the skeleton of the link that carries it, 0 for the base.
        points: corners of the hull, in that link's frame, shape (n, 3), m.
        radius: how far it reaches beyond the hull, m.
    """

    title: str
    kind: OutlineKind
    link: int
    points: Array
    radius: float = 0.0

    def __post_init__(self) -> None:
        keep_checked(self, ("n", 3), "points")


@dataclass(frozen=True, eq=False)
class Skeleton:
    """An arm at many instants; the link at index 0 is the base. Arrays are read-only.

    Attributes:
        links: names of the links, the base first.
        parents: index of the link that carries each one, -1 for the base.
        time: when each picture is taken, increasing, shape (F,), s.
        frames: homogeneous matrices of the links' frames, shape (F, L, 4, 4), dimensionless and m.
        tip: index of the link that carries the tool frame.
        tip_point: origin of the tool frame in that link's frame, shape (3,), m.
        outlines: the shapes, in no order.
        pairs: which two outlines each pair of the clearance is, by index.
    """

    links: tuple[str, ...]
    parents: tuple[int, ...]
    time: Array
    frames: Array
    tip: int
    tip_point: Array
    outlines: tuple[Outline, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        time = checked("time", self.time, ("F",))
        if len(time) < 2 or not (time[1:] > time[:-1]).all():
            raise InputError("must increase, over two pictures at least.", place="skeleton, time")
        frames = checked("frames", self.frames, (len(time), len(self.links), 4, 4))
        object.__setattr__(self, "time", read_only(time))
        object.__setattr__(self, "frames", read_only(frames))
        keep_checked(self, (3,), "tip_point")


def skeleton_of(robot: Robot, time: ArrayLike, q: ArrayLike, clearance: Clearance | None = None) -> Skeleton:
    """Take pictures of a robot.

    Args:
        robot: the robot.
        time: when, increasing, shape (F,), s.
        q: joint positions, shape (F, nq), rad or m.
        clearance: what must stay apart, whose shapes are drawn; None to draw none.

    Returns:
        The skeleton; its pairs are those of the clearance, in order.
    """
    moving = forward_kinematics(robot, q)
    base = np.broadcast_to(np.eye(4), (len(moving), 1, 4, 4))
    tool = robot.tool_frame
    shown = () if clearance is None else clearance.pairs
    hidden = () if clearance is None else clearance.excluded
    parts = list(dict.fromkeys(part for pair in (*shown, *hidden) for part in (pair.first, pair.second)))
    place = {part: k for k, part in enumerate(parts)}
    return Skeleton(
        links=(robot.base.name, *robot.link_names),
        parents=(-1, *(joint.parent + 1 for joint in robot.joints)),
        time=checked("time", time, ("F",)),
        frames=np.concatenate((base, moving), axis=1),
        tip=tool.link + 1,
        tip_point=tool.placement.translation,
        outlines=tuple(_outline(robot, part) for part in parts),
        pairs=tuple((place[pair.first], place[pair.second]) for pair in shown),
    )


def _outline(robot: Robot, part: Part) -> Outline:
    if part.owner in (robot.base.name, *robot.link_names):
        kind = OutlineKind.LINK
    else:
        kind = OutlineKind.TOOL if part.link >= 0 else OutlineKind.SCENE
    return Outline(part.title, kind, part.link + 1, part.core.points, part.core.radius)


# Curves along a motion: quantities of the joints against their limits, and the smallest distance.


@dataclass(frozen=True, eq=False)
class ProvenBand:
    """What a quantity never leaves, stretch by stretch of time; arrays are read-only.

    Attributes:
        edges: where the K stretches meet, increasing, shape (K + 1,), s.
        lower: never below, shape (K, nv), unit of the quantity.
        upper: never above, shape (K, nv), unit of the quantity.
    """

    edges: Array
    lower: Array
    upper: Array

    def __post_init__(self) -> None:
        K = len(checked("edges", self.edges, ("K",))) - 1
        nv = checked("lower", self.lower, (K, "nv"), finite=False).shape[1]
        checked("upper", self.upper, (K, nv), finite=False)
        keep_read_only(self, "edges", "lower", "upper")


@dataclass(frozen=True, eq=False)
class JointCurves:
    """One quantity of every joint along a motion, with its limits; arrays are read-only.

    Attributes:
        name: what it is: position, velocity, acceleration or torque.
        units: its unit at each joint.
        values: at the times of the motion, shape (N, nv), unit of the quantity.
        lower: its limits, infinite where none is stated, shape (nv,), unit of the quantity.
        upper: its limits, infinite where none is stated, shape (nv,), unit of the quantity.
        proven: what it never leaves; None where nothing is proven.
        counted: whether the limits were to be kept; otherwise they are shown only.
    """

    name: str
    units: tuple[str, ...]
    values: Array
    lower: Array
    upper: Array
    proven: ProvenBand | None = None
    counted: bool = True

    def __post_init__(self) -> None:
        nv = len(self.units)
        for name, shape in (("values", ("N", nv)), ("lower", (nv,)), ("upper", (nv,))):
            array = checked(f"{self.name}, {name}", getattr(self, name), shape, finite=name == "values")
            object.__setattr__(self, name, read_only(array))
        if self.proven is not None and self.proven.lower.shape[1] != nv:
            raise InputError(f"has {self.proven.lower.shape[1]} joints, not {nv}.", place="proven")


@dataclass(frozen=True, eq=False)
class ClearanceCurve:
    """The smallest of all distances along a motion; arrays are read-only.

    Attributes:
        pairs: names of what is kept apart.
        smallest: of all signed distances, at the times of the motion, shape (N,), m.
        nearest: which pair that is, shape (N,), dimensionless.
        closest: smallest distance of each pair at those times, shape (P,), m.
        when: the time of that, shape (P,), s.
        required: how far apart every pair must stay, m.
    """

    pairs: tuple[str, ...]
    smallest: Array
    nearest: IntArray
    closest: Array
    when: Array
    required: float

    def __post_init__(self) -> None:
        N, P = len(checked("smallest", self.smallest, ("N",))), len(self.pairs)
        for name, size in (("nearest", N), ("closest", P), ("when", P)):
            checked(name, getattr(self, name), (size,))
        if not ((self.nearest >= 0) & (self.nearest < P)).all():
            raise InputError(f"must count {P} pairs from 0.", place="nearest")
        keep_read_only(self, "smallest", "nearest", "closest", "when")


# What a certificate says, and on what it rests, in words a reader can check.


@dataclass(frozen=True)
class Proof:
    """What is proven of a motion at every instant, or why it could not be.

    Attributes:
        holds: whether every limit is proven to be kept.
        message: the outcome in a sentence.
        margins: what is left of every limit at least; empty where nothing is proven.
        assumptions: what it rests on, in sentences.
        distance: how far apart everything must stay, m; the margins of clearances come on top of it.
        uncovered: what could hit or overload and is not part of the proof, in sentences.
    """

    holds: bool
    message: str
    margins: tuple[ProvenMargin, ...] = ()
    assumptions: tuple[str, ...] = ()
    distance: float = 0.0
    uncovered: tuple[str, ...] = ()

    @property
    def smallest_distance(self) -> float | None:
        """How far apart everything stays at least at every instant, m; None where that is not proven."""
        apart = [margin.margin for margin in self.margins if margin.kind == "clearance"]
        return self.distance + min(apart) if self.holds and apart else None


_ACCEPTED = " Whoever asked for the motion accepted this (--allow-no-clearance)."


def motion_proof_of(
    outcome: Certificate | NotCertifiedError,
    uncovered: Sequence[Finding] | None = None,
    looked: str = "",
    accepted: Sequence[Finding] = (),
) -> Proof:
    """Put the outcome of a certification in words.

    Args:
        outcome: a certificate, or the error that was raised instead.
        uncovered: what is not part of the proof; None for what the certificate says.
        looked: what other code saw of the motion, in a sentence.
        accepted: what of that whoever asked for the motion accepts.

    Returns:
        The proof; it does not hold where there is no certificate.
    """
    if isinstance(outcome, NotCertifiedError):
        return Proof(False, str(outcome))
    message = (
        f"Proven for all of its {outcome.duration:.6g} s, over {outcome.stretches} stretches of time, "
        "rounding included."
    )
    if looked:
        message = f"{message} {looked}"
    apart = any(margin.kind == "clearance" for margin in outcome.margins)
    given = outcome.assumptions
    missing = outcome.uncovered if uncovered is None else uncovered
    return Proof(
        True,
        message,
        outcome.margins,
        tuple(_sentences(given, apart)),
        given.distance,
        tuple(_sentence(x) + (_ACCEPTED if x in accepted else "") for x in missing),
    )


def _sentence(finding: Finding) -> str:
    return f"{finding.place}: {finding.message}" if finding.place else finding.message


def _sentences(given: Assumptions, apart: bool) -> list[str]:
    tracking = given.tracking
    if any(error.any() for error in (tracking.position, tracking.velocity, tracking.acceleration)):
        said = [
            "The robot may be off the motion by up to "
            f"{tracking.position.max():.3g} rad or m, {tracking.velocity.max():.3g} rad/s or m/s and "
            f"{tracking.acceleration.max():.3g} rad/s² or m/s², at the joint that errs most."
        ]
    else:
        said = ["The robot follows the motion without error."]
    if not given.parameters:
        said.append("Torques were not looked at.")
    else:
        uncertain = int(np.count_nonzero(given.upper > given.lower))
        said.append(
            f"{uncertain} of {len(given.parameters)} dynamic parameters lie anywhere in their intervals, the "
            "others are exact."
            if uncertain
            else f"The {len(given.parameters)} dynamic parameters of the model are exact."
        )
    if apart:
        said.append(f"What is left of a clearance is beyond the {1e3 * given.distance:g} mm required.")
    else:
        said.append("Distances were not looked at.")
    if given.excluded:
        said.append(f"Not kept apart: {'; '.join(given.excluded)}.")
    return said


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
        keep_checked(self, seconds.shape, "best", finite=False)
        object.__setattr__(self, "facts", MappingProxyType(dict(self.facts)))


def times_from_zero(time: ArrayLike) -> Array:
    """When the samples of a page's curves were taken, checked.

    Args:
        time: the instants, shape (N,), s.

    Returns:
        The instants, shape (N,), s.

    Raises:
        InputError: they do not start at 0 or do not increase, or there are fewer than two.
    """
    t = checked("time", time, ("N",))
    if len(t) < 2 or t[0] != 0.0 or not (t[1:] > t[:-1]).all():
        raise InputError("must start at 0 and increase, over two samples at least.", place="time")
    return t


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
        time = times_from_zero(self.time)
        for curves in self.curves:
            checked(f"{curves.name}, values", curves.values, (len(time), len(self.joints)))
        if self.clearance is not None:
            checked("clearance, smallest", self.clearance.smallest, (len(time),))
        object.__setattr__(self, "time", read_only(time))
        object.__setattr__(self, "versions", MappingProxyType(dict(self.versions)))


# The curves of a motion from robot, motion and limits.

STRETCHES = 20.0
"""Stretches of time on which the motion is enclosed, Hz."""
MOST_STRETCHES = 400


def joint_curves(
    robot: Robot,
    motion: SmoothMotion,
    at: MotionSample,
    torque: Array | None,
    limits: MotionLimits,
    certificate: Certificate | None,
) -> tuple[JointCurves, ...]:
    """Position, velocity, acceleration and torque of every joint, against what the robot states.

    Args:
        robot: an arm, whose limits are drawn.
        motion: the motion of its joints.
        at: the motion at its samples.
        torque: at the same samples, shape (N, nv), N·m or N; None where it is not known.
        limits: what the motion must respect.
        certificate: what is proven of the motion within those limits; None for nothing.

    Returns:
        The curves. A kind of limit counts where all of it is the same in `limits` as the robot states it.
    """
    stretches = min(max(round(STRETCHES * motion.duration), 2), MOST_STRETCHES)
    within = enclose(motion, np.linspace(0.0, motion.duration, stretches + 1))
    curves = []
    for letter, name, rate in (("q", "position", ""), ("v", "velocity", "/s"), ("a", "acceleration", "/s²")):
        lower, upper, counted = _limits(robot, limits.robot, name)
        band = ProvenBand(within.edges, getattr(within.lower, letter), getattr(within.upper, letter))
        units = tuple(joint.position_unit + rate for joint in robot.joints)
        curves.append(JointCurves(name, units, getattr(at, letter), lower, upper, band, counted))
    if torque is not None:
        lower, upper, counted = _limits(robot, limits.robot, "effort")
        units = tuple(joint.effort_unit for joint in robot.joints)
        known = counted and limits.layout is not None
        proven = _proven_torque(certificate, limits) if certificate is not None and known else None
        curves.append(JointCurves("torque", units, torque, lower, upper, proven, known))
    return tuple(curves)


def _limits(robot: Robot, judged: Robot, name: str) -> tuple[Array, Array, bool]:
    """The limits the robot states, and whether those that are judged are the same."""
    sides = ("lower", "upper") if name == "position" else (name, name)
    lower, upper = (robot.limit_array(side) for side in sides)
    same = all(np.array_equal(judged.limit_array(side), robot.limit_array(side)) for side in sides)
    return (lower if name == "position" else -lower), upper, same


def _proven_torque(certificate: Certificate, limits: MotionLimits) -> ProvenBand:
    """The margin left of each limit bounds the torque over the whole motion."""
    left = {margin.name: margin.margin for margin in certificate.margins if margin.kind == "torque"}
    effort = limits.robot.limit_array("effort")
    reach = np.array([e - left.get(n, 0.0) for n, e in zip(limits.robot.joint_names, effort, strict=True)])
    return ProvenBand(np.array([0.0, certificate.duration]), -reach[None], reach[None])


def clearance_curve(limits: MotionLimits, time: Array, q: Array) -> ClearanceCurve | None:
    """Measure every distance at the samples of a motion.

    Args:
        limits: with the clearance to measure.
        time: of the samples, shape (N,), s.
        q: joint positions, shape (N, nv), rad or m.

    Returns:
        The smallest of them; None where nothing is kept apart.
    """
    if limits.clearance is None or not limits.clearance.pairs:
        return None
    distances = limits.clearance.distances(q)
    return ClearanceCurve(
        pairs=limits.clearance.names,
        smallest=distances.min(axis=1),
        nearest=distances.argmin(axis=1),
        closest=distances.min(axis=0),
        when=time[distances.argmin(axis=0)],
        required=limits.distance,
    )


# The content of a motion's page from the objects of the line: robot, motion, limits and certificate.

RATE = 200.0
"""Samples of the curves, Hz."""
MOST_SAMPLES = 20_000
PICTURES = 25.0
"""Pictures of the arm, Hz."""
MOST_PICTURES = 1500


def picture_times(duration: float) -> Array:
    """When the arm is drawn.

    Args:
        duration: of the motion, s.

    Returns:
        Instants from the start to the end, shape (F,), s.
    """
    return _times(duration, PICTURES, MOST_PICTURES)


def motion_content_of(
    robot: Robot,
    motion: SmoothMotion,
    *,
    limits: MotionLimits | None = None,
    proof: Certificate | NotCertifiedError | None = None,
    uncovered: Sequence[Finding] | None = None,
    accepted: Sequence[Finding] = (),
    looked: str = "",
    search: SearchRecord | None = None,
    findings: Sequence[Finding] = (),
    made: str = "",
) -> MotionContent:
    """Gather what the page of a motion says.

    The motion is sampled, its torques are predicted, distances measured and the arm placed. Position,
    velocity and acceleration are enclosed besides, so that no peak hides between samples.

    Args:
        robot: an arm, whose limits are drawn.
        motion: the motion of its joints.
        limits: what the motion must respect, for that robot or for the same one with some limits lifted:
            those are drawn too, and said not to count. None for the limits of the joints alone.
        proof: the certificate of the motion within those limits, or the error that was raised instead.
        uncovered: what could hit or overload and is not part of the proof; None for what that says itself.
        accepted: what of that whoever asked for the motion accepts.
        looked: what other code saw of the motion, in a sentence.
        search: how the motion was found.
        findings: what was noticed besides what the limits say, oldest first.
        made: when and by whom the page is made.

    Raises:
        InputError: the motion, the limits or the certificate belong to another robot or motion.
    """
    robot.require_arm()
    counted = limits or MotionLimits(robot)
    _check_belonging(robot, motion, counted, proof)
    time = _times(motion.duration, RATE, MOST_SAMPLES)
    at = motion.sample(time)
    noticed = [*findings, *counted.findings]
    layout, phi = counted.layout, counted.parameters
    model = "the model the limits are judged with"
    if layout is None or phi is None:
        layout, phi, model = *_nominal(robot, noticed), "the description’s inertias, without friction"
    tau = None if phi is None else inverse_dynamics(robot, layout, phi, at.q, at.v, at.a)
    margins = counted.margins(at.q, at.v, at.a)
    broken = _gravest_first(violations(counted, margins, time), margins.clearance.min(axis=0))
    lifted = MotionLimits(robot, None, layout if phi is not None else None, phi)
    known = {(finding.code, finding.place) for finding in broken}
    for finding in violations(lifted, lifted.margins(at.q, at.v, at.a), time):
        if (finding.code, finding.place) not in known:
            noticed.append(replace(finding, severity=Severity.WARNING, code=f"lifted-{finding.code}"))
    pictures = picture_times(motion.duration)
    return MotionContent(
        robot=robot.name,
        digest=robot.digest,
        motion=motion.digest,
        joints=robot.joint_names,
        time=time,
        curves=joint_curves(
            robot, motion, at, tau, counted, proof if isinstance(proof, Certificate) else None
        ),
        torque_model="" if tau is None else f"Torques are those of {model}.",
        clearance=clearance_curve(counted, time, at.q),
        skeleton=skeleton_of(robot, pictures, motion.sample(pictures).q, counted.clearance),
        proof=None if proof is None else motion_proof_of(proof, uncovered, looked, accepted),
        search=search,
        broken=broken,
        findings=tuple(noticed),
        versions={
            "steelyard": version("steelyard"),
            "numpy": version("numpy"),
            "python": platform.python_version(),
        },
        made=made,
    )


def _check_belonging(
    robot: Robot, motion: SmoothMotion, limits: MotionLimits, proof: Certificate | NotCertifiedError | None
) -> None:
    for place, joints in (("motion", motion.joints), ("limits", limits.robot.joint_names)):
        if joints != robot.joint_names:
            raise InputError(
                f"has the joints {list(joints)}, the robot {list(robot.joint_names)}.", place=place
            )
    if isinstance(proof, Certificate):
        if proof.motion != motion.digest:
            raise InputError("certifies another motion.", place="proof", remedy="Certify this one.")
        layout, clearance = limits.layout, limits.clearance
        given = proof.assumptions
        pairs = {margin.name for margin in proof.margins if margin.kind == "clearance"}
        if (
            proof.robot != limits.robot.digest
            or given.distance != limits.distance
            or given.parameters != (() if layout is None else layout.names)
            or pairs != set(() if clearance is None else clearance.names)
        ):
            raise InputError("rests on other limits.", place="proof", remedy="Certify within these limits.")


def _gravest_first(broken: Sequence[Finding], least: Array) -> tuple[Finding, ...]:
    """Distances before the rest, the smallest first; they are reported in the order of the pairs."""
    apart = [finding for finding in broken if finding.code == "clearance"]
    order = np.argsort(least[least < 0.0], kind="stable")
    return (*(apart[k] for k in order), *(finding for finding in broken if finding.code != "clearance"))


def _times(duration: float, rate: float, most: int) -> Array:
    return np.linspace(0.0, duration, min(max(round(rate * duration), 2), most) + 1)


def _nominal(robot: Robot, noticed: list[Finding]) -> tuple[Layout, Array | None]:
    layout = layout_of(robot)
    try:
        return layout, layout.complete_nominal()
    except DescriptionError as error:
        noticed.append(Finding(Severity.WARNING, "no-torque", f"No torque is drawn: {error.message}"))
        return layout, None


# Whether to run a motion, in plain words.


def motion_verdict(content: MotionContent) -> tuple[Status, str, str]:
    """What is to be thought of a motion.

    Args:
        content: what the page says.

    Returns:
        The outcome, a headline, and a sentence that explains it: fail where a limit is broken, pass where all
        are proven to be kept, warn where neither is known or something is not part of the proof.
    """
    proof = content.proof
    if content.broken:
        count = "a limit" if len(content.broken) == 1 else f"{len(content.broken)} limits"
        first = content.broken[0]
        place = f"{first.place}: " if first.place else ""
        return Status.FAIL, f"Do not run this motion: it breaks {count}.", f"{place}{first.message}"
    if proof is not None and proof.holds and proof.uncovered:
        missing, more = proof.uncovered[0].removesuffix("."), len(proof.uncovered) - 1
        missing += f"; and {more} more" if more else ""
        headline = "Look before you run this motion: not all that could hit or overload is part of its proof."
        return Status.WARN, headline, f"{proof.message} Not part of it: {missing}."
    if proof is not None and proof.holds:
        headline = "This motion keeps its limits at every instant."
        left_out = _left_out(content)
        if left_out:
            return Status.PASS, headline, f"{proof.message} Not counted: {left_out}."
        return Status.PASS, headline, proof.message
    headline = "Rehearse this motion before you trust it: its limits are kept at the samples only."
    why = "No proof was sought for the time between them." if proof is None else proof.message
    return Status.WARN, headline, why


def _left_out(content: MotionContent) -> str:
    """What was not looked at, in a few words."""
    names = [f"{curves.name} limits" for curves in content.curves if not curves.counted]
    return ", ".join([*names, *([] if content.clearance is not None else ["clearance"])])
