"""The question a designer is asked: which motion of a family shows the parameters best within the limits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, keep_checked
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import InputError, NoSolutionError
from steelyard.identifiable import BaseParameters, Criterion
from steelyard.layout import Layout
from steelyard.motion import (
    UNLIMITED_SLIDE,
    UNLIMITED_TURN,
    FourierMotion,
    LinearConditions,
    LinearMotion,
    SplineMotion,
    rest_conditions,
)
from steelyard.robot import Robot

# What a search needs to know of things that must stay apart, whichever way they are measured.


class NamedPair(Protocol):
    """Two things that must stay apart."""

    @property
    def name(self) -> str:
        """What messages call the pair."""
        ...

    @property
    def owners(self) -> frozenset[str]:
        """The names of both links or obstacles."""
        ...


class ClearanceModel(Protocol):
    """Pairs with signed distances: of shapes (`Clearance`), or of points and ellipsoids."""

    @property
    def robot(self) -> Robot:
        """The robot."""
        ...

    @property
    def pairs(self) -> Sequence[NamedPair]:
        """What is measured, in the order of every result."""
        ...

    @property
    def excluded(self) -> Sequence[NamedPair]:
        """Shapes that are not measured because they overlap at rest or always."""
        ...

    def distances(self, q: ArrayLike) -> Array:
        """The signed distance of every pair.

        Args:
            q: joint positions, shape (N, nq), rad or m.

        Returns:
            Distances, positive where a pair is apart, shape (N, P), m.
        """
        ...

    def gradients(self, q: ArrayLike) -> tuple[Array, Array]:
        """The signed distance of every pair and its gradient.

        Args:
            q: joint positions, shape (N, nq), rad or m.

        Returns:
            Distances, shape (N, P), m; gradients, shape (N, P, nv), m/rad or dimensionless.
        """
        ...

    def adjoint(self, q: ArrayLike, weights: ArrayLike) -> Array:
        """Gradient of the sum of distances with weights.

        Args:
            q: joint positions, shape (N, nq), rad or m.
            weights: of every distance, shape (N, P), SI.

        Returns:
            The gradient, shape (N, nv), SI.
        """
        ...


K = TypeVar("K", bound=ClearanceModel)


def some_pairs(apart: K, chosen: Iterable[int]) -> K:
    """The same with some of its pairs.

    Args:
        apart: a frozen dataclass with a field `pairs`.
        chosen: indices of the pairs to keep, in their new order.

    Returns:
        A new one, which measures nothing else.
    """
    whole: Any = apart
    fewer: K = replace(whole, pairs=tuple(apart.pairs[k] for k in chosen))
    return fewer


LOOKED_AT = 500
"""Random poses at which pairs are looked for that are never apart."""


@dataclass(frozen=True, eq=False)
class DesignProblem:
    """A motion is asked for; nothing is searched yet. Arrays are read-only.

    Position and velocity limits always count. A joint without position limits may go `UNLIMITED_TURN` or
    `UNLIMITED_SLIDE` to either side of its start.

    Attributes:
        robot: an arm, whose joints state their limits.
        family: any motion of the family to choose from, a Fourier series or a spline; its coefficients are
            not looked at.
        layout: the robot's parameters, rigid and drive.
        base: the columns the motion is judged by.
        start: q(0), shape (nv,), rad or m; None leaves it free. A spline ends anywhere, at rest.
        criterion: what makes a motion good.
        rate: samples per second that count for the criterion, Hz.
        noise: standard deviation of the torque noise of each joint, shape (nv,), N·m or N; None for ones.
        recorded: Gram matrix of data that is already there, its rows over the noise as well, shape (p, p),
            SI; None where there is none.
        clearance: what must stay apart, such as a `Clearance`; None where nothing is checked.
        distance: how far apart, m.
        clearance_rate: samples per second at which clearance is looked at, Hz.
        acceleration: whether the acceleration limits count.
        parameters: phi of the model that predicts torques, shape (p,), SI; None leaves torque limits out.
        torque_share: share of the torque limits that may be used at the samples, dimensionless; the rest is
            for the time between them.
    """

    robot: Robot
    family: LinearMotion
    layout: Layout
    base: BaseParameters
    start: Array | None = None
    criterion: Criterion = Criterion.COND
    rate: float = 20.0
    noise: Array | None = None
    recorded: Array | None = None
    clearance: ClearanceModel | None = None
    distance: float = 0.01
    clearance_rate: float = 50.0
    acceleration: bool = False
    parameters: Array | None = None
    torque_share: float = 0.95

    def __post_init__(self) -> None:
        self.robot.require_arm()
        nv, p = self.robot.nv, self.layout.size
        if not isinstance(self.family, FourierMotion | SplineMotion):
            raise InputError("must be a Fourier series or a spline.", place="family")
        if self.family.joints != self.robot.joint_names:
            raise InputError(f"moves other joints than those of '{self.robot.name}'.", place="family")
        if self.base.matrix.shape[1] != p:
            raise InputError("is of another layout.", place="base")
        if self.criterion not in list(Criterion):
            raise InputError(
                f"unknown criterion '{self.criterion}'.",
                place="criterion",
                remedy=f"Valid: {', '.join(Criterion)}.",
            )
        object.__setattr__(self, "criterion", Criterion(self.criterion))
        for name in ("rate", "clearance_rate", "torque_share"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0.0):
                raise InputError(f"must be positive and finite, got {value}.", place=name)
        if not np.isfinite(self.distance):
            raise InputError(f"must be finite, got {self.distance}.", place="distance")
        if self.clearance is not None and self.clearance.robot is not self.robot:
            raise InputError("belongs to another robot.", place="clearance")
        keep_checked(self, (nv,), "start", "noise", optional=True)
        keep_checked(self, (p, p), "recorded", optional=True)
        keep_checked(self, (p,), "parameters", optional=True)
        if self.noise is not None and not (self.noise > 0.0).all():
            raise InputError("must be positive.", place="noise")

    @cached_property
    def conditions(self) -> LinearConditions:
        """Rest at both ends, and the start where it is given."""
        return rest_conditions(self.family, start=self.start)

    @cached_property
    def times(self) -> Array:
        """When the criterion looks, shape (N,), s; a periodic motion's end is its start and counts once."""
        return _grid(self.family, self.rate)

    @cached_property
    def clearance_times(self) -> Array:
        """When clearance is looked at while searching, shape (N,), s."""
        return _grid(self.family, self.clearance_rate)

    @cached_property
    def watched(self) -> ClearanceModel | None:
        """The clearance without the pairs that are `never_apart`; None where nothing is left."""
        if self.clearance is None:
            return None
        kept = [k for k, pair in enumerate(self.clearance.pairs) if pair.name not in self.never_apart]
        return some_pairs(self.clearance, kept) if kept else None

    @cached_property
    def never_apart(self) -> tuple[str, ...]:
        """Pairs of the robot's own shapes that are not as far apart as required at any of many poses.

        So they are built, and no motion can change it: they are not watched.
        """
        if self.clearance is None or not self.clearance.pairs:
            return ()
        reach = np.pi
        lower = np.maximum(self.robot.limit_array("lower"), -reach)
        upper = np.minimum(self.robot.limit_array("upper"), reach)
        poses = np.random.default_rng(0).uniform(lower, np.maximum(lower, upper), (LOOKED_AT, self.robot.nv))
        furthest = self.clearance.distances(poses).max(axis=0)
        own = {self.robot.base.name, *self.robot.link_names}
        return tuple(
            pair.name
            for pair, distance in zip(self.clearance.pairs, furthest, strict=True)
            if distance <= self.distance and pair.owners <= own
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the base parameters."""
        return self.base.names


def _grid(family: LinearMotion, rate: float) -> Array:
    samples = max(2, round(rate * family.duration))
    return np.linspace(0.0, family.duration, samples, endpoint=not family.periodic)


# What every joint may do in a design: finite ranges, also where a description states none.


@dataclass(frozen=True, eq=False)
class Ranges:
    """Ranges of the joints, about their middles.

    Attributes:
        middle: shape (nv,), rad or m.
        reach: half the range, shape (nv,), rad or m.
        velocity: limits, infinite where none is stated, shape (nv,), rad/s or m/s.
        acceleration: limits, infinite where none counts, shape (nv,), rad/s² or m/s².
        speed: a typical speed, finite, shape (nv,), rad/s or m/s.
    """

    middle: Array
    reach: Array
    velocity: Array
    acceleration: Array
    speed: Array


def ranges_of(problem: DesignProblem) -> Ranges:
    """Collect the ranges of a problem's joints.

    Args:
        problem: the question.

    Raises:
        NoSolutionError: a joint cannot move at all, or the start is not strictly inside the limits.
    """
    robot = problem.robot
    lower, upper = robot.limit_array("lower"), robot.limit_array("upper")
    if problem.start is not None:
        _refuse_start_outside(robot, problem.start)
    far = np.array([UNLIMITED_TURN if joint.kind.rotates else UNLIMITED_SLIDE for joint in robot.joints])
    about = problem.start
    if about is None:
        about = np.where(np.isfinite(lower), lower + far, np.where(np.isfinite(upper), upper - far, 0.0))
    lower = np.where(np.isfinite(lower), lower, about - far)
    upper = np.where(np.isfinite(upper), upper, about + far)
    velocity = robot.limit_array("velocity")
    acceleration = robot.limit_array("acceleration")
    if not problem.acceleration:
        acceleration = np.full(robot.nv, np.inf)
    for j, joint in enumerate(robot.joints):
        if not (lower[j] < upper[j] and velocity[j] > 0.0 and acceleration[j] > 0.0):
            raise NoSolutionError(
                "its limits leave no motion.",
                place=f"joint '{joint.name}'",
                remedy="Lock it (--lock), or widen them (--limits).",
            )
    reach = 0.5 * (upper - lower)
    natural = 2.0 * math.pi / problem.family.duration * reach
    speed = np.minimum(velocity, 3.0 * natural)
    return Ranges(0.5 * (lower + upper), reach, velocity, acceleration, speed)


def _refuse_start_outside(robot: Robot, start: Array) -> None:
    for joint, q in zip(robot.joints, start, strict=True):
        low, high = joint.limits.lower, joint.limits.upper
        if not low < q < high:
            raise NoSolutionError(
                f"it starts at {q:.6g} {joint.position_unit}, which is not strictly inside its limits "
                f"[{low:.6g}, {high:.6g}].",
                place=f"joint '{joint.name}'",
                remedy="Start elsewhere, or leave the start free.",
                evidence={"joint": joint.name, "start": float(q), "lower": low, "upper": high},
            )


# Problems that cannot have a solution, told before anything is searched.

TOOL = "tool"


def refuse_infeasible(problem: DesignProblem) -> None:
    """Refuse a problem whose start, limits or tool allow no motion.

    Args:
        problem: the question.

    Raises:
        NoSolutionError: says why, and names the joint or the pair of shapes.
    """
    ranges_of(problem)
    _refuse_blind(problem)
    _refuse_tool_inside(problem)
    if problem.start is not None:
        _refuse_start_too_near(problem, problem.start)
        _refuse_start_too_heavy(problem, problem.start)


def _refuse_blind(problem: DesignProblem) -> None:
    rows = len(problem.times) * problem.robot.nv
    if rows < problem.base.count and problem.recorded is None:
        raise NoSolutionError(
            f"{rows} equations at {len(problem.times)} samples cannot show {problem.base.count} parameters.",
            place="rate",
            remedy="Sample more often, or move for longer.",
        )


def _refuse_tool_inside(problem: DesignProblem) -> None:
    """A tool that overlaps the robot at rest was left out of the clearance; here that is no way to build."""
    for pair in () if problem.clearance is None else problem.clearance.excluded:
        if TOOL in pair.owners:
            raise NoSolutionError(
                "the tool is inside the robot, at rest or at every position looked at.",
                place=pair.name,
                remedy="Place it elsewhere (--tool-frame), check its unit (--tool-scale), or cut off its "
                "shape what lies inside the robot.",
            )


def _refuse_start_too_near(problem: DesignProblem, start: Array) -> None:
    if problem.watched is None:
        return
    distances = problem.watched.distances(start)[0]
    worst = int(distances.argmin())
    if distances[worst] <= problem.distance:
        away = f"{1e3 * distances[worst]:.3g} mm apart"
        if distances[worst] < 0.0:
            away = f"overlapping by {-1e3 * distances[worst]:.3g} mm"
        raise NoSolutionError(
            f"{away} at the start, where more than {1e3 * problem.distance:g} mm are required.",
            place=problem.watched.pairs[worst].name,
            remedy="Start elsewhere, leave the start free, or ask for a smaller distance.",
            evidence={"distance": float(distances[worst]), "required": problem.distance},
        )


def _refuse_start_too_heavy(problem: DesignProblem, start: Array) -> None:
    if problem.parameters is None:
        return
    rest = np.zeros(problem.robot.nv)
    torque = inverse_dynamics(
        problem.robot, problem.layout, problem.parameters, start[None], rest[None], rest[None]
    )[0]
    free = problem.torque_share * problem.robot.limit_array("effort") - np.abs(torque)
    worst = int(free.argmin())
    if free[worst] <= 0.0:
        joint = problem.robot.joints[worst]
        raise NoSolutionError(
            f"holding the start takes {abs(torque[worst]):.4g} {joint.effort_unit}, over "
            f"{100 * problem.torque_share:g} % of its limit of {joint.limits.effort:g} {joint.effort_unit}.",
            place=f"joint '{joint.name}'",
            remedy="Start elsewhere, or leave the start free.",
        )
