"""`OnlineContent`: all that the page of a learning robot says, as plain data; `OnlineHead`: its beginning."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steelyard import __version__
from steelyard.arrays import Array, checked, keep_checked, keep_read_only, read_only
from steelyard.audit import Status
from steelyard.dynamics import forward_kinematics, frame_jacobian
from steelyard.errors import InputError
from steelyard.formats import versions
from steelyard.inertia import PARAMETER_NAMES
from steelyard.limits import Clearance, MotionLimits, bounds_of
from steelyard.report.html import Typeset, numeral, unit_words, visible_text
from steelyard.report.motion.content import (
    ClearanceCurve,
    JointCurves,
    Skeleton,
    clearance_curve,
    picture_times,
    skeleton_of,
    times_from_zero,
)
from steelyard.report.motion.page import MOST_POINTS
from steelyard.report.page import packed, thinned
from steelyard.report.payload.content import outward
from steelyard.robot import Robot
from steelyard.safe_learning import (
    BROKEN,
    DONE,
    PLAN,
    STOPPED,
    DrivenMove,
    Event,
    Known,
    OnlineRun,
    SafeLearningConfig,
)
from steelyard.uncertainty import PayloadBox


@dataclass(frozen=True, eq=False)
class OnlineHead:
    """What can be said of a run before the robot moves; arrays are read-only.

    Attributes:
        title: of the run.
        robot: an arm with nv joints.
        start: joint positions before the first move, shape (nv,), rad or m.
        cycle: how long a plan is driven before the next one takes over, s.
        control_cycle: length of a control cycle, in which the cycles of moves are counted, s.
        tube_radius: ε, which ‖r‖ never exceeds, rad/s or m/s.
        position_bound: ε/K_r, which the position error never exceeds, rad or m.
        effort: torque limits that were proven, infinite where there is none, shape (nv,), N·m or N.
        prior: what is known of the payload at the beginning.
        truth: its ten numbers, shape (10,), SI; None where nobody knows.
        clearance: what must stay apart; None where nothing must.
        distance: how far apart, m.
        assumptions: what every guarantee rests on, in sentences.
        frame: name of the frame that the payload's numbers are stated in; empty where it has none.
    """

    title: str
    robot: Robot
    start: Array
    cycle: float
    control_cycle: float
    tube_radius: float
    position_bound: float
    effort: Array
    prior: PayloadBox
    truth: Array | None = None
    clearance: Clearance | None = None
    distance: float = 0.0
    assumptions: tuple[str, ...] = ()
    frame: str = ""

    def __post_init__(self) -> None:
        self.robot.require_arm()
        n = self.robot.nv
        keep_checked(self, (n,), "start")
        keep_checked(self, (n,), "effort", finite=False)
        if self.truth is not None:
            keep_checked(self, (10,), "truth")
        if self.clearance is not None and self.clearance.robot.joint_names != self.robot.joint_names:
            raise InputError("belongs to a robot with other joints.", place="clearance")
        for name in ("cycle", "control_cycle", "tube_radius", "position_bound"):
            if not 0.0 < getattr(self, name) < np.inf:
                raise InputError("must be above zero and finite.", place=name)


@dataclass(frozen=True, eq=False)
class OnlineContent:
    """What the page of a run says; arrays are read-only, all times count from its beginning.

    Attributes:
        head: what could be said before it.
        time: of all samples, from 0, increasing, shape (N,), s.
        q: joint positions, shape (N, nv), rad or m.
        v: joint velocities, shape (N, nv), rad/s or m/s.
        q_ref: positions the robot was to have, shape (N, nv), rad or m.
        v_ref: velocities it was to have, shape (N, nv), rad/s or m/s.
        tau: commanded torques, shape (N, nv), N·m or N.
        r_norm: ‖r‖, r = v_ref - v + K_r (q_ref - q), shape (N,), rad/s or m/s.
        knowledge: bounds of the payload from when on they held, the prior first.
        outcome: how it ended: `DONE`, `STOPPED` or `BROKEN` of `online`.
        sentence: why, in a sentence.
        moves: what the robot did, in order.
        proofs: how many proofs it moved on, and how many of them an independent check has verified.
        events: what happened, in order.
        violations: what was broken, in sentences; empty where nothing was.
        uncovered: what could hit and is not part of the proofs, in sentences.
        versions: versions of the software by name.
        made: when and by whom the page was made; empty to leave it out.
        schema: number of this layout.
    """

    head: OnlineHead
    time: Array
    q: Array
    v: Array
    q_ref: Array
    v_ref: Array
    tau: Array
    r_norm: Array
    knowledge: tuple[Known, ...]
    outcome: str
    sentence: str
    moves: tuple[DrivenMove, ...] = ()
    proofs: tuple[int, int] = (0, 0)
    events: tuple[Event, ...] = ()
    violations: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    made: str = ""
    schema: int = 1

    def __post_init__(self) -> None:
        time = times_from_zero(self.time)
        shape = (len(time), self.head.robot.nv)
        keep_checked(self, shape, "q", "v", "q_ref", "v_ref", "tau")
        keep_checked(self, time.shape, "r_norm")
        object.__setattr__(self, "time", read_only(time))
        since = [known.time for known in self.knowledge]
        if not since or since != sorted(since):
            raise InputError("must begin with the prior, and go on in time.", place="knowledge")
        if self.outcome not in (DONE, STOPPED, BROKEN):
            raise InputError(f"is none of {DONE}, {STOPPED}, {BROKEN}: '{self.outcome}'.", place="outcome")
        object.__setattr__(self, "versions", MappingProxyType(dict(self.versions)))

    @property
    def duration(self) -> float:
        """How long anything happened: robots rest while the last bounds are found, s."""
        known, happened = (known.time for known in self.knowledge), (event.time for event in self.events)
        return max(float(self.time[-1]), *known, *happened)

    def span(self, move: DrivenMove) -> tuple[float, float]:
        """When a move began and ended, s."""
        start = move.first * self.head.control_cycle
        return start, start + move.cycles * self.head.control_cycle


# The tube at the tool: how far its origin can be from the reference's.
#
# Joints within $\|e\| \le \varepsilon / K_r$ of the reference move the tool's origin by $J e$ to first order,
# so by $\|J\|_2\,\varepsilon / K_r$ at most; what is of second order is a hundredth of it or less in tubes
# of a few milliradians. It is drawn, and nothing rests on it: proofs enclose the links themselves.


@dataclass(frozen=True, eq=False)
class ToolTube:
    """Where the tool should be and is, and how far it may be from there; arrays are read-only.

    Attributes:
        reference: origin of the tool frame on the reference, in the base frame, shape (F, 3), m.
        offset: from there to where it is, shape (F, 3), m.
        radius: of the tube, shape (F,), m.
    """

    reference: Array
    offset: Array
    radius: Array

    def __post_init__(self) -> None:
        keep_read_only(self, "reference", "offset", "radius")


def tool_tube(robot: Robot, q: ArrayLike, q_ref: ArrayLike, position_bound: float) -> ToolTube:
    """The tube of the joints as the tool sees it.

    Args:
        robot: an arm.
        q: joint positions, shape (F, nv), rad or m.
        q_ref: what they should be, shape (F, nv), rad or m.
        position_bound: ε/K_r, rad or m.

    Returns:
        The tube at the tool.
    """
    at = checked("q", q, ("F", robot.nv))
    wanted = checked("q_ref", q_ref, at.shape)
    tool = robot.tool_frame.name
    p, p_ref = np.split(forward_kinematics(robot, np.concatenate((at, wanted)), [tool])[:, 0, :3, 3], 2)
    J = frame_jacobian(robot, wanted, tool)[:, :3]
    return ToolTube(p_ref, p - p_ref, position_bound * np.linalg.norm(J, 2, axis=(1, 2)))


# What is drawn of a run: the arm in its tube, joints against their limits, and the smallest distance.

_MILLI = 1e3


@dataclass(frozen=True, eq=False)
class OnlineDrawing:
    """Pictures and curves of a run.

    Attributes:
        skeleton: the arm.
        tube: what the tube is at the tool, at the instants of the skeleton.
        limited: quantities of the joints that have limits, at all samples.
        errors: of the joints, in thousandths, against what the tube allows them.
        clearance: the distances that were kept at the instants of the skeleton; None where none must be.
    """

    skeleton: Skeleton
    tube: ToolTube
    limited: tuple[JointCurves, ...]
    errors: tuple[JointCurves, ...]
    clearance: ClearanceCurve | None


def drawing_of(content: OnlineContent) -> OnlineDrawing:
    """Place the arm, and measure what is drawn.

    Args:
        content: what the page says.
    """
    head = content.head
    # Distances are measured at the instants of the pictures too.
    times = picture_times(float(content.time[-1]))
    q, q_ref = (_at(times, content.time, samples) for samples in (content.q, content.q_ref))
    apart = head.clearance
    limits = None if apart is None else MotionLimits(apart.robot, apart, distance=head.distance)
    return OnlineDrawing(
        skeleton=skeleton_of(head.robot, times, q, head.clearance),
        tube=tool_tube(head.robot, q, q_ref, head.position_bound),
        limited=_limited(content),
        errors=_errors(content),
        clearance=None if limits is None else clearance_curve(limits, times, q),
    )


def _at(times: Array, time: Array, samples: Array) -> Array:
    """What was sampled, on straight lines between the samples."""
    return np.column_stack([np.interp(times, time, column) for column in samples.T])


def _limited(content: OnlineContent) -> tuple[JointCurves, ...]:
    robot, effort = content.head.robot, content.head.effort
    length = tuple(joint.position_unit for joint in robot.joints)
    speed = tuple(f"{unit}/s" for unit in length)
    v_max = robot.limit_array("velocity")
    return (
        JointCurves("position", length, content.q, robot.limit_array("lower"), robot.limit_array("upper")),
        JointCurves("velocity", speed, content.v, -v_max, v_max),
        JointCurves(
            "torque", tuple(joint.effort_unit for joint in robot.joints), content.tau, -effort, effort
        ),
    )


def _errors(content: OnlineContent) -> tuple[JointCurves, ...]:
    # The tube holds both errors in balls, so each joint's stays below the same number.
    return tuple(
        JointCurves(
            f"{name} error",
            tuple(f"m{joint.position_unit}{rate}" for joint in content.head.robot.joints),
            _MILLI * error,
            np.full(error.shape[1], -_MILLI * bound),
            np.full(error.shape[1], _MILLI * bound),
        )
        for name, rate, error, bound in (
            ("position", "", content.q_ref - content.q, content.head.position_bound),
            ("velocity", "/s", content.v_ref - content.v, 2.0 * content.head.tube_radius),
        )
    )


# Shares of limits over time: of the tube, and of each joint's torque.


def gauge_names(head: OnlineHead) -> tuple[str, ...]:
    """What is shown as a share of its limit.

    Args:
        head: what can be said beforehand.

    Returns:
        The tracking error, then the torque of each joint.
    """
    return ("tracking error", *(visible_text(name) for name in head.robot.joint_names))


def used_shares(head: OnlineHead, r_norm: Array, tau: Array) -> Array:
    """How much of the tube and of each torque limit is used.

    Args:
        head: with the limits.
        r_norm: ‖r‖, shape (N,), rad/s or m/s.
        tau: torques, shape (N, nv), N·m or N.

    Returns:
        Shares in the order of `gauge_names`, NaN where there is no limit, shape (N, nv + 1), dimensionless.
    """
    limit = np.where(np.isfinite(head.effort), head.effort, np.nan)
    # A joint without any torque to spend uses all of it as soon as it turns.
    with np.errstate(divide="ignore", invalid="ignore"):
        torque = np.where(tau == 0.0, 0.0 * limit, np.abs(tau) / limit)
    return np.column_stack((r_norm / head.tube_radius, torque))


def gauge_data(content: OnlineContent) -> list[dict[str, Any]]:
    """The shares over a whole run.

    Args:
        content: what the page says.

    Returns:
        Values JSON can hold, one entry for each gauge; no share where there is no limit.
    """
    shares = used_shares(content.head, content.r_norm, content.tau)
    gauges: list[dict[str, Any]] = []
    for name, share in zip(gauge_names(content.head), shares.T, strict=True):
        if not np.isfinite(share).all():
            gauges.append({"name": name, "time": None, "share": None})
            continue
        kept = thinned(share[:, None], MOST_POINTS // 2)
        gauges.append({"name": name, "time": packed(content.time[kept]), "share": packed(share[kept])})
    return gauges


# How moves, numbers and shares of a run are called on its page.


def move_words(moves: Sequence[DrivenMove], k: int) -> str:
    """What a move is called.

    Args:
        moves: all of them, in order.
        k: which one.

    Returns:
        Such as `plan 3`: plans are counted from 1.
    """
    kind = moves[k].kind
    if kind != PLAN:
        return kind
    return f"plan {sum(move.kind == PLAN for move in moves[: k + 1])}"


def number_words(name: str) -> str:
    """What a number of the payload is called.

    Args:
        name: one of `inertia.PARAMETER_NAMES`, or another.

    Returns:
        Plain text.
    """
    return "mass" if name in ("m", "mass") else visible_text(name)


def between(box: PayloadBox, k: int, unit: str) -> Typeset:
    """The bounds of one number in words, rounded outwards.

    Args:
        box: the bounds.
        k: which number.
        unit: its SI unit.

    Returns:
        Plain text.
    """
    lower, upper = outward(float(box.lower[k]), float(box.upper[k]))
    return Typeset(f"{lower} to {upper}\u202f{unit_words(unit)}")


def share_words(part: float) -> Typeset:
    """A share of a limit, in percent, never rounded down across the limit itself.

    Args:
        part: dimensionless.

    Returns:
        Plain text.
    """
    if part > 1.0 and part < 1.005:
        return Typeset("over 100\u202f%")
    return Typeset(f"{100.0 * part:.0f}\u202f%")


# Whether a robot that learned stayed within what was proven, in plain words.


def broken(content: OnlineContent, drawing: OnlineDrawing) -> tuple[str, ...]:
    """All that was broken: what the run itself says, and what its own record shows.

    The record is looked at again, so that a run cannot pass by saying nothing: limits of the joints,
    distances, the tube, and bounds around the truth where that is known.

    Args:
        content: what the page says.
        drawing: what is drawn of it.

    Returns:
        Sentences; empty where nothing was broken.
    """
    seen = (*_limits(content, drawing), *_contacts(drawing), *_tube(content), *_truth(content))
    return (*content.violations, *seen)


def _limits(content: OnlineContent, drawing: OnlineDrawing) -> Iterator[str]:
    for curves in drawing.limited:
        beyond = np.maximum(curves.lower - curves.values, curves.values - curves.upper)
        for j in np.flatnonzero((beyond > 0.0).any(axis=0)):
            n = int(beyond[:, j].argmax())
            yield (
                f"The {curves.name} limit of {visible_text(content.head.robot.joint_names[j])} was broken: "
                f"{numeral(float(curves.values[n, j]))} {curves.units[j]} at {content.time[n]:.3f} s."
            )


def _contacts(drawing: OnlineDrawing) -> Iterator[str]:
    apart = drawing.clearance
    if apart is None:
        return
    for k in np.flatnonzero(apart.closest < apart.required):
        yield (
            f"{visible_text(apart.pairs[k])} came as close as {1e3 * apart.closest[k]:.1f} mm at "
            f"{apart.when[k]:.2f} s, {1e3 * apart.required:g} mm are required."
        )


def _tube(content: OnlineContent) -> Iterator[str]:
    head = content.head
    errors = np.linalg.norm(content.q_ref - content.q, axis=1)
    for name, values, bound in (
        ("‖r‖", content.r_norm, head.tube_radius),
        ("the position error", errors, head.position_bound),
    ):
        n = int(values.argmax())
        if values[n] > bound:
            yield (
                f"The tube was left: {name} was {numeral(float(values[n]))} at {content.time[n]:.3f} s, "
                f"{numeral(bound)} are allowed."
            )


def _truth(content: OnlineContent) -> Iterator[str]:
    truth = content.head.truth
    if truth is None:
        return
    for known in content.knowledge:
        for k in np.flatnonzero((truth < known.box.lower) | (truth > known.box.upper)):
            name = number_words(PARAMETER_NAMES[k])
            yield f"From {known.time:.2f} s on the bounds of {name} do not hold the truth."


def online_verdict(content: OnlineContent, drawing: OnlineDrawing) -> tuple[Status, str, str]:
    """What is to be thought of a run.

    Args:
        content: what the page says.
        drawing: what is drawn of it.

    Returns:
        The outcome, a headline, and a sentence that explains it: fail where something was broken, warn where
        the robot stopped early or something is not part of the proofs, pass where it did what it was to do
        within all that was proven.
    """
    wrong = broken(content, drawing)
    if wrong:
        count = "one guarantee" if len(wrong) == 1 else f"{len(wrong)} guarantees"
        return Status.FAIL, f"Do not trust this run: {count} did not hold.", wrong[0]
    if content.outcome == BROKEN:
        headline = (
            "The robot stopped because an assumption does not hold: nothing is guaranteed from then on."
        )
        return Status.FAIL, headline, content.sentence
    touched = "" if drawing.clearance is None else "nothing touched, "
    kept = f"no limit broken, {touched}tube never left."
    if content.outcome == STOPPED:
        return Status.WARN, f"The robot stopped before it was done: {kept}", content.sentence
    if content.uncovered:
        headline = "The robot learned its payload, and not all that could hit is part of the proofs."
        missing = content.uncovered[0].removesuffix(".")
        more = f"; and {len(content.uncovered) - 1} more" if len(content.uncovered) > 1 else ""
        return Status.WARN, headline, f"{content.sentence} Not part of them: {missing}{more}."
    return Status.PASS, f"The robot learned its payload within all that was proven: {kept}", content.sentence


# What the page of a run says, gathered from the run itself.

ASSUMED = (
    "The robot's own brakes stop it when they are asked to.",
    "What stands around the robot is where the scene says, and does not move.",
    "The law is proven in continuous time with exact states; between cycles and with the stated errors of "
    "sensors, the tube is checked in every cycle and was kept in all simulated runs.",
)


def online_head_of(setting: SafeLearningConfig, start: Array, truth: Array | None = None) -> OnlineHead:
    """What can be said before the robot moves.

    Args:
        setting: what the loop is told.
        start: where the robot stands, shape (nv,), rad or m.
        truth: the ten numbers of what it holds, shape (10,), SI; None where nobody knows.

    Returns:
        The head of its page.
    """
    robot, tube = setting.arm.robot, setting.tube
    return OnlineHead(
        title=f"{robot.name} learns what it holds",
        robot=robot,
        start=start,
        cycle=setting.switch,
        control_cycle=setting.cycle,
        tube_radius=tube.radius,
        position_bound=tube.position,
        effort=bounds_of(robot).effort,
        prior=setting.prior,
        truth=truth,
        clearance=setting.clearance,
        distance=setting.distance,
        frame=setting.arm.held.frame,
        assumptions=(*setting.errors.assumptions, setting.prior.meaning, *ASSUMED),
    )


def online_content_of(
    run: OnlineRun,
    head: OnlineHead,
    *,
    sentence: str,
    violations: tuple[str, ...] = (),
    uncovered: tuple[str, ...] = (),
) -> OnlineContent:
    """What the page of a finished run says.

    Args:
        run: the run.
        head: what could be said before it.
        sentence: how it ended.
        violations: what was broken, in sentences.
        uncovered: what could hit and is not part of the proofs, in sentences.

    Returns:
        The content, made today by this version.
    """
    record, log = run.record, run.cycles
    driven = slice(len(log.commands))
    return OnlineContent(
        head=head,
        time=log.time[driven] - log.time[0],
        q=log.q[driven],
        v=log.v[driven],
        q_ref=log.q_ref,
        v_ref=log.v_ref,
        tau=log.commands,
        r_norm=run.errors[0],
        knowledge=record.knowledge,
        outcome=record.outcome,
        sentence=sentence,
        moves=record.moves,
        proofs=record.proofs,
        events=record.events,
        violations=violations,
        uncovered=uncovered,
        versions=versions(),
        made=f"steelyard {__version__}, {datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
    )
