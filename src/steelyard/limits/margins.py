r"""The one definition of safe: every limit as a signed margin that must not be negative.

A limit with two sides has two margins, $x - lower$ and $upper - x$, both smooth in x; for a symmetric limit
the smaller one is $limit - |x|$. A limit that is not stated has an infinite margin, which nothing can change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, checked, keep_views, read_only
from steelyard.dynamics import Gradient, inverse_dynamics, regressor_adjoint
from steelyard.dynamics.batch import gathered, states
from steelyard.errors import InputError
from steelyard.finding import Finding, Severity
from steelyard.inertia import Body
from steelyard.layout import Layout, layout_of
from steelyard.limits.clearance import Clearance
from steelyard.robot import Robot

# The limits of a robot's joints as arrays, those of joints that mimic others included.


@dataclass(frozen=True, eq=False)
class JointBounds:
    """What every degree of freedom may do; infinite where nothing is stated. Arrays are read-only.

    All but the effort count J degrees of freedom: those of `robot.untied`, where a joint that mimics another
    is one of its own, with limits of its own. The effort counts the nv independent ones, where torques act.

    Attributes:
        joints: name of each degree of freedom's joint, J.
        coordinates: which column of the untied q is each one's position, -1 where a quaternion states it,
            shape (J,), dimensionless.
        lower: shape (J,), rad or m.
        upper: shape (J,), rad or m.
        velocity: shape (J,), rad/s or m/s.
        acceleration: shape (J,), rad/s² or m/s².
        effort: shape (nv,), N·m or N.
        findings: limits that are stated but cannot be checked.
    """

    joints: tuple[str, ...]
    coordinates: IntArray
    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    effort: Array
    findings: tuple[Finding, ...]


def bounds_of(robot: Robot) -> JointBounds:
    """Collect the limits of a robot's joints.

    Returns:
        The bounds. A joint whose position is a quaternion has no position limits.
    """
    every = robot.untied
    names, columns, findings = [], [], []
    at = 0
    for joint, tied in zip(every.joints, robot.joints, strict=True):
        single = joint.nq == 1
        names += [joint.name] * joint.nv
        columns += [at] if single else [-1] * joint.nv
        at += joint.nq
        if not single and np.isfinite([joint.limits.lower, joint.limits.upper]).any():
            findings.append(_unchecked(joint.name, f"a {joint.kind.value} joint has no single position"))
        if tied.mimic is not None and np.isfinite(joint.limits.effort):
            findings.append(
                _unchecked(joint.name, f"the effort acts at '{tied.mimic.joint}', which it mimics")
            )
    coordinates = np.array(columns, dtype=np.int64)
    free = coordinates < 0
    return JointBounds(
        tuple(names),
        read_only(coordinates),
        read_only(np.where(free, -np.inf, every.limit_array("lower"))),
        read_only(np.where(free, np.inf, every.limit_array("upper"))),
        read_only(every.limit_array("velocity")),
        read_only(every.limit_array("acceleration")),
        read_only(robot.limit_array("effort")),
        tuple(findings),
    )


def _unchecked(joint: str, why: str) -> Finding:
    message = f"states a limit that is not checked: {why}."
    return Finding(Severity.WARNING, "unchecked-limit", message, f"joint '{joint}'")


@dataclass(frozen=True, eq=False)
class Margins:
    """One number for every limit at every sample: margins, or weights on them. Arrays are read-only.

    J counts the degrees of freedom of `robot.untied`; the last axis holds the lower and the upper side. What
    is not checked has no entries.

    Attributes:
        position: shape (N, J, 2), rad or m.
        velocity: shape (N, J, 2), rad/s or m/s.
        acceleration: shape (N, J, 2), rad/s² or m/s².
        torque: shape (N, nv, 2) or (N, 0, 2), N·m or N.
        clearance: signed distances less the one required, shape (N, P), m.
    """

    position: Array
    velocity: Array
    acceleration: Array
    torque: Array
    clearance: Array

    def __post_init__(self) -> None:
        keep_views(self, "position", "velocity", "acceleration", "torque", "clearance")

    @property
    def smallest(self) -> float:
        """The smallest of all, whatever its unit; infinite where nothing is limited."""
        every = (self.position, self.velocity, self.acceleration, self.torque, self.clearance)
        return min(float(margins.min(initial=np.inf)) for margins in every)


@dataclass(frozen=True, eq=False)
class MotionLimits:
    """Everything a motion of a robot must respect.

    Attributes:
        robot: the robot, whose joints state their limits.
        clearance: what must stay apart; None where that is not checked.
        layout: the order of `parameters`; None where torques are not checked.
        parameters: phi, the dynamic model that predicts the torques, shape (p,), SI; None with `layout`.
        distance: how far apart every pair of the clearance must stay, m.
    """

    robot: Robot
    clearance: Clearance | None = None
    layout: Layout | None = None
    parameters: Array | None = None
    distance: float = 0.0

    def __post_init__(self) -> None:
        if (self.layout is None) != (self.parameters is None):
            raise InputError("torques need both a layout and parameters.", place="layout, parameters")
        if not np.isfinite(self.distance):
            raise InputError(f"must be finite, got {self.distance}.", place="distance")
        if self.clearance is not None and self.clearance.robot is not self.robot:
            raise InputError(
                f"belongs to another robot, '{self.clearance.robot.name}'.",
                place="clearance",
                remedy="Make it with clearance_of(robot).",
            )
        if self.layout is not None and self.parameters is not None:
            phi = checked("parameters", self.parameters, (self.layout.size,))
            object.__setattr__(self, "parameters", read_only(phi))

    @cached_property
    def bounds(self) -> JointBounds:
        """The limits of the joints."""
        return bounds_of(self.robot)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What is not checked, and why."""
        missing = []
        if self.layout is None and np.isfinite(self.bounds.effort).any():
            missing.append(Finding(Severity.WARNING, "unchecked-torque", "no model predicts the torques."))
        if self.clearance is None:
            missing.append(Finding(Severity.WARNING, "unchecked-clearance", "no clearance is checked."))
        own = () if self.clearance is None else self.clearance.findings
        return (*self.bounds.findings, *missing, *own)

    def margins(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Margins:
        """How far a motion stays from every limit.

        Args:
            q: joint positions, shape (N, nq), rad or m.
            v: joint velocities, shape (N, nv), rad/s or m/s.
            a: joint accelerations, shape (N, nv), rad/s² or m/s².

        Returns:
            The margins; negative where a limit is broken.
        """
        x, u, w = states(self.robot, q=q, v=v, a=a)
        b = self.bounds
        position = np.where(b.coordinates >= 0, x[:, b.coordinates], 0.0)
        torque = np.empty((len(x), 0, 2))
        if self.layout is not None and self.parameters is not None:
            tau = inverse_dynamics(self.robot, self.layout, self.parameters, q, v, a)
            torque = _two_sided(tau, -b.effort, b.effort)
        clearance = np.empty((len(x), 0))
        if self.clearance is not None:
            clearance = self.clearance.distances(q) - self.distance
        return Margins(
            _two_sided(position, b.lower, b.upper),
            _two_sided(u, -b.velocity, b.velocity),
            _two_sided(w, -b.acceleration, b.acceleration),
            torque,
            clearance,
        )

    def adjoint(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, weights: Margins) -> Gradient:
        r"""Gradient of $\sum w \cdot margin$ over all limits in the motion at each sample.

        With $w = \partial f / \partial margin$ it is the gradient of any function f of the margins. Infinite
        margins have none, whatever their weight. Coulomb friction counts with sign(v), whose derivative is
        zero wherever it exists.

        Args:
            q: joint positions, shape (N, nq), rad or m.
            v: joint velocities, shape (N, nv), rad/s or m/s.
            a: joint accelerations, shape (N, nv), rad/s² or m/s².
            weights: w, one for every margin.

        Returns:
            The gradient; along the body's twist where a joint floats or is spherical.
        """
        samples = len(states(self.robot, q=q)[0])
        b = self.bounds
        bars = [
            gathered(self.robot, _net_weight(name, getattr(weights, name), lower, upper, samples))
            for name, lower, upper in (
                ("position", b.lower, b.upper),
                ("velocity", -b.velocity, b.velocity),
                ("acceleration", -b.acceleration, b.acceleration),
            )
        ]
        if self.layout is not None and self.parameters is not None:
            pull = _net_weight("torque", weights.torque, -b.effort, b.effort, samples)
            G = pull[:, :, None] * self.parameters
            through = regressor_adjoint(self.robot, self.layout, G, q, v, a)
            bars = [bar + part for bar, part in zip(bars, (through.q, through.v, through.a), strict=True)]
        if self.clearance is not None:
            bars[0] = bars[0] + self.clearance.adjoint(q, weights.clearance)
        return Gradient(*bars)


def _two_sided(x: Array, lower: Array, upper: Array) -> Array:
    return np.stack([x - lower, upper - x], axis=-1)


def _net_weight(name: str, weights: Array, lower: Array, upper: Array, samples: int) -> Array:
    """Weight on x itself, (N, J): the lower side grows with it, the upper one shrinks."""
    w = checked(f"weights.{name}", weights, (samples, len(lower), 2))
    below = np.where(np.isfinite(lower), w[..., 0], 0.0)
    above = np.where(np.isfinite(upper), w[..., 1], 0.0)
    return np.ascontiguousarray(below - above)


# Limits that a motion breaks or comes close to, in words.


def violations(
    limits: MotionLimits,
    margins: Margins,
    time: ArrayLike | None = None,
    *,
    near: float = 0.0,
    near_distance: float = 0.0,
) -> tuple[Finding, ...]:
    """Every limit a motion breaks, and on request those it nearly reaches, each once, at its worst sample.

    Args:
        limits: what the motion must respect.
        margins: its margins.
        time: when the samples are, shape (N,), s; samples are counted from 0 where it is not given.
        near: fraction of a joint's limit (of the range of a position) within which it counts as nearly
            reached, dimensionless.
        near_distance: margin of clearance within which a pair counts as near, m.

    Returns:
        Errors for broken limits, codes `position-limit`, `velocity-limit`, `acceleration-limit`,
        `torque-limit` and `clearance`; the same as information where a limit is only nearly reached.
    """
    stamps = None if time is None else checked("time", time, (len(margins.clearance),))
    found = [*_joints(limits, margins, stamps, near), *_pairs(limits, margins, stamps, near_distance)]
    return tuple(found)


def _joints(limits: MotionLimits, margins: Margins, time: Array | None, near: float) -> Iterator[Finding]:
    b = limits.bounds
    joints = {joint.name: joint for joint in limits.robot.joints}
    driven = [joint.name for joint in limits.robot.joints for _ in range(joint.nv)]
    for what, names, lower, upper in (
        ("position", b.joints, b.lower, b.upper),
        ("velocity", b.joints, -b.velocity, b.velocity),
        ("acceleration", b.joints, -b.acceleration, b.acceleration),
        ("torque", driven, -b.effort, b.effort),
    ):
        values: Array = getattr(margins, what)
        if not values.size:
            continue
        for k, name in enumerate(names):
            sample, side = np.unravel_index(int(values[:, k].argmin()), values[:, k].shape)
            margin = float(values[sample, k, side])
            span = upper[k] - lower[k] if what == "position" else upper[k]
            if margin >= 0.0 and not (np.isfinite(span) and margin < near * span):
                continue
            joint = joints[name]
            unit = joint.effort_unit if what == "torque" else joint.position_unit + _PER[what]
            limit = float(upper[k] if side else lower[k])
            how = (
                f"exceeds its limit of {limit:g} {unit} by"
                if margin < 0.0
                else f"reaches {limit:g} {unit} but for"
            )
            message = f"{what} {how} {abs(margin):.3g} {unit} {_when(time, int(sample))}."
            yield _finding(margin, f"{what}-limit", message, f"joint '{name}'")


_PER = {"position": "", "velocity": "/s", "acceleration": "/s²"}


def _pairs(limits: MotionLimits, margins: Margins, time: Array | None, near: float) -> Iterator[Finding]:
    if limits.clearance is None or not len(margins.clearance):
        return
    for k, pair in enumerate(limits.clearance.pairs):
        sample = int(margins.clearance[:, k].argmin())
        margin = float(margins.clearance[sample, k])
        if margin >= near and margin >= 0.0:
            continue
        distance = margin + limits.distance
        if distance < 0.0:
            message = f"overlaps {pair.second.title} by {-1e3 * distance:.3g} mm"
        else:
            message = f"is {1e3 * distance:.3g} mm from {pair.second.title}"
        if margin < 0.0 < limits.distance:
            message += f", less than the {1e3 * limits.distance:g} mm required,"
        yield _finding(margin, "clearance", f"{message} {_when(time, sample)}.", pair.first.title)


def _finding(margin: float, code: str, message: str, place: str) -> Finding:
    return Finding(Severity.ERROR if margin < 0.0 else Severity.INFO, code, message, place)


def _when(time: Array | None, sample: int) -> str:
    return f"in sample {sample}" if time is None else f"at t = {time[sample]:.6g} s"


# What an arm can hold where it stands: the torque that gravity leaves its joints.


@dataclass(frozen=True)
class Bearable:
    """The heaviest load that an arm holds still.

    Attributes:
        mass: kg; infinite where no torque is limited.
        joint: index of the joint that decides.
        left: torque that gravity leaves that joint, N·m or N; below zero where the arm cannot hold itself.
    """

    mass: float
    joint: int
    left: float


def bearable(robot: Robot, q: Array, extent: float) -> Bearable:
    r"""Find the heaviest load that takes no joint's whole torque.

    A joint with the torque limit $L$, of which gravity takes $g$, has $L - |g|$ left. A kilogram in a ball of
    radius $r$ about the tool takes $|a| + r\,|b|$ of it, with $a$ for one at its centre and $b$ the change
    per metre that it is held beside it.

    Args:
        robot: the robot, with its tool frame.
        q: where it stands, shape (nv,), rad or m.
        extent: r, m.

    Returns:
        The load.
    """
    own, point = _held_still(robot, q), np.zeros((3, 3))
    a, *beside = (
        _held_still(robot.with_body("load", Body(1.0, com, point)), q) - own
        for com in np.vstack([np.zeros(3), np.eye(3)])
    )
    takes = np.abs(a) + extent * np.linalg.norm([x - a for x in beside], axis=0)
    left = robot.limit_array("effort") - np.abs(own)
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.nan_to_num(left / takes, nan=np.inf, posinf=np.inf, neginf=-np.inf)
    j = int(np.argmin(room))
    return Bearable(float(room[j]), j, float(left[j]))


def _held_still(robot: Robot, q: Array) -> Array:
    """Torques against gravity alone, shape (nv,), N·m or N."""
    layout, still = layout_of(robot), np.zeros((1, robot.nv))
    return np.asarray(inverse_dynamics(robot, layout, layout.complete_nominal(), q[None], still, still)[0])
