"""Structured motions for any arm, within its limits and clear of everything (Oaki et al. 2026)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, BoolArray, checked, read_only
from steelyard.dynamics import forward_kinematics, inverse_dynamics
from steelyard.errors import InputError, UnknownNameError
from steelyard.finding import Finding, Severity
from steelyard.limits import MotionLimits
from steelyard.motion.random_fourier import UNLIMITED_SLIDE, UNLIMITED_TURN
from steelyard.motion.recipes import (
    GROUP,
    POSTURES,
    Primitive,
    Recipe,
    RecipeStep,
    RecipeSwing,
    adjacent_pair_offsets,
    joint_group_offsets,
    primitive_within,
    single_joint_offsets,
    structured_recipes,
)
from steelyard.motion.spline import SplineMotion, through_waypoints
from steelyard.robot import Robot

# Where a robot may stand and how fast it may go: the limits of structured motions, before any is made.
#
# Poses are looked at in steps. That is a search: the proof that a motion keeps its limits at all times is
# `steelyard.limits.certify`, and the reserves here are what it lives on.

INSIDE = 0.01
"""Share of a joint's range that is kept to each of its limits."""
STEP = np.radians(1.0)
"""How far a joint goes between two poses that are looked at, rad; a sliding joint goes `SLIDE_STEP`."""
SLIDE_STEP = 0.005
"""How far a sliding joint goes between two poses that are looked at, m."""
RESERVE = 0.01
"""Distance kept beyond the one required, as a share of the arm's length: more than half a step moves it."""
TORQUE_SHARE = 0.9
"""Share of the torque limits that is used."""
HOLDING_SHARE = 0.7
"""Share of the torque limits that standing still may take: the rest is for friction and acceleration."""
UNLIMITED_TURNING = 2.0
"""Speed of a turning joint that states no limit, rad/s."""
UNLIMITED_SLIDING = 0.3
"""Speed of a sliding joint that states no limit, m/s."""
FULL_SPEED_AFTER = 0.25
"""Time in which a joint that states no acceleration limit reaches its full speed, s."""
_TORQUE_SAMPLES = 0.01
"""Time between two samples of the torque, s."""


@dataclass(frozen=True, eq=False)
class RoomToMove:
    """What the limits leave to structured motions.

    Attributes:
        limits: what every motion must respect; torques count where they have a model, distances where they
            have a clearance.
    """

    limits: MotionLimits

    def __post_init__(self) -> None:
        self.limits.robot.require_arm()

    @cached_property
    def _turns(self) -> BoolArray:
        return np.array([joint.kind.rotates for joint in self.limits.robot.joints])

    def names(self, moving: BoolArray) -> str:
        """The names of some joints, for messages.

        Args:
            moving: which ones, shape (nv,), dimensionless.
        """
        joints = self.limits.robot.joint_names
        return ", ".join(f"'{joints[j]}'" for j in np.flatnonzero(moving))

    @cached_property
    def lower(self) -> Array:
        """Smallest positions used, shape (nv,), rad or m."""
        return self._range[0]

    @cached_property
    def upper(self) -> Array:
        """Largest positions used, shape (nv,), rad or m."""
        return self._range[1]

    @cached_property
    def velocity(self) -> Array:
        """Speed limits, all finite, shape (nv,), rad/s or m/s."""
        stated = self.limits.robot.limit_array("velocity")
        return np.where(
            np.isfinite(stated), stated, np.where(self._turns, UNLIMITED_TURNING, UNLIMITED_SLIDING)
        )

    @cached_property
    def acceleration(self) -> Array:
        """Acceleration limits, all finite, shape (nv,), rad/s² or m/s²."""
        stated = self.limits.robot.limit_array("acceleration")
        return np.where(np.isfinite(stated), stated, self.velocity / FULL_SPEED_AFTER)

    @cached_property
    def _range(self) -> tuple[Array, Array]:
        """Without limits a joint has `UNLIMITED_TURN` or `UNLIMITED_SLIDE` to either side.

        A joint whose speed or acceleration limit is zero stands still, as near to zero as it may.
        """
        robot = self.limits.robot
        lower, upper = robot.limit_array("lower"), robot.limit_array("upper")
        reach = np.where(self._turns, UNLIMITED_TURN, UNLIMITED_SLIDE)
        lower = np.where(np.isfinite(lower), lower, np.minimum(upper, reach) - 2.0 * reach)
        upper = np.where(np.isfinite(upper), upper, np.maximum(lower, -reach) + 2.0 * reach)
        inside = INSIDE * (upper - lower)
        lower, upper = lower + inside, upper - inside
        rest = np.clip(0.0, lower, upper)
        still = (self.velocity == 0.0) | (self.acceleration == 0.0)
        return np.where(still, rest, lower), np.where(still, rest, upper)

    @cached_property
    def _distance(self) -> float:
        """How far apart everything must be where it is looked at, m."""
        length = sum(float(np.linalg.norm(j.placement.translation)) for j in self.limits.robot.joints)
        return self.limits.distance + RESERVE * length

    def holds(self, poses: Array) -> BoolArray:
        """Whether the robot may stand somewhere: in its range, clear of everything, and strong enough.

        Args:
            poses: q, shape (N, nv), rad or m.

        Returns:
            One answer for each pose, shape (N,), dimensionless.
        """
        limits, robot = self.limits, self.limits.robot
        slack = 1e-9 * (1.0 + np.abs(poses))
        good = ((poses >= self.lower - slack) & (poses <= self.upper + slack)).all(axis=1)
        if limits.clearance is not None and limits.clearance.pairs:
            good &= (limits.clearance.distances(poses) >= self._distance).all(axis=1)
        if limits.layout is not None and limits.parameters is not None:
            still = np.zeros_like(poses)
            tau = inverse_dynamics(robot, limits.layout, limits.parameters, poses, still, still)
            good &= (np.abs(tau) <= HOLDING_SHARE * robot.limit_array("effort")).all(axis=1)
        return np.asarray(good)

    def line(self, start: Array, end: Array) -> Array:
        """Poses on a straight line with both ends, no joint going more than a step from one to the next.

        Args:
            start: shape (nv,), rad or m.
            end: shape (nv,), rad or m.

        Returns:
            The poses, shape (N, nv), rad or m.
        """
        step = np.where(self._turns, STEP, SLIDE_STEP)
        count = int(np.ceil((np.abs(end - start) / step).max(initial=0.0))) + 1
        return np.linspace(start, end, max(count, 2))

    def path_holds(self, waypoints: Array) -> bool:
        """Whether the robot may stand everywhere on the straight lines between waypoints.

        Args:
            waypoints: shape (n, nv), rad or m.

        Returns:
            The answer.
        """
        legs = [self.line(a, b) for a, b in pairwise(waypoints)]
        return bool(self.holds(np.concatenate(legs)).all())

    def farthest(self, start: Array, end: Array) -> Array:
        """The last pose on the line from a pose to another up to which the robot may stand everywhere.

        Args:
            start: where it may stand, shape (nv,), rad or m.
            end: where it would go, shape (nv,), rad or m.

        Returns:
            The pose, shape (nv,), rad or m; the start where it may not even take a step.
        """
        poses = self.line(start, end)
        bad = ~self.holds(poses)
        last = len(poses) - 1 if not bad.any() else max(int(bad.argmax()) - 1, 0)
        return np.asarray(poses[last])

    def range_about(self, posture: Array) -> tuple[Array, Array]:
        """How far each joint may go by itself from a posture.

        Args:
            posture: where the robot may stand, shape (nv,), rad or m.

        Returns:
            Smallest and largest positions, each shape (nv,), rad or m.
        """
        ends = []
        for bound in (self.lower, self.upper):
            goals = np.where(np.eye(len(posture), dtype=np.bool_), bound, posture)
            ends.append(np.array([self.farthest(posture, goal)[j] for j, goal in enumerate(goals)]))
        return ends[0], ends[1]

    def torque_share(self, motion: SplineMotion) -> float:
        """The largest torque of a motion at samples, as a share of what may be used of the limit.

        Returns:
            The share, dimensionless; zero where torques have no model.
        """
        limits, robot = self.limits, self.limits.robot
        if limits.layout is None or limits.parameters is None:
            return 0.0
        at = motion.sample(np.linspace(0.0, motion.duration, 2 + int(motion.duration / _TORQUE_SAMPLES)))
        tau = inverse_dynamics(robot, limits.layout, limits.parameters, at.q, at.v, at.a)
        return float((np.abs(tau) / (TORQUE_SHARE * robot.limit_array("effort"))).max())


# Postures of structured motions: three that fold an arm more and more, and which joint is its wrist.

FOLDS = (0.0, 0.25, 0.5)
"""How far the three postures go from the middle of every range to its end, or half a turn."""
_STARTS = 9
"""Postures on the way from the middle to the last fold that are tried as the first one."""


def folding_postures(room: RoomToMove) -> Array:
    """Three postures of increasing fold, from the middle of the joints' ranges, each clear of everything.

    A joint folds towards the side on which the tool comes nearer to the base, the outer joints first.

    Args:
        room: where the robot may stand.

    Returns:
        The postures on one straight line, along which nothing is in the way, shape (3, nv), rad or m.

    Raises:
        InputError: the robot may stand at none of those that were tried.
    """
    middle = 0.5 * (room.lower + room.upper)
    fold = np.minimum(0.5 * (room.upper - room.lower), np.pi) * _folding_signs(room, middle)
    line = middle + np.linspace(0.0, FOLDS[-1], _STARTS)[:, None] * fold
    good = room.holds(line)
    if not good.any():
        raise InputError(
            "nowhere between the middle of its ranges and a fold of them is it clear of everything and "
            "within its torques.",
            place=f"robot '{room.limits.robot.name}'",
            remedy="Use another --family, or state motions.postures in the file of a campaign.",
        )
    first = line[int(good.argmax())]
    # What is in the way shortens the whole fold, so that the three stay different.
    last = room.farthest(first, first + (FOLDS[-1] - FOLDS[0]) * fold)
    return np.array([first + share / FOLDS[-1] * (last - first) for share in FOLDS])


def placed_postures(room: RoomToMove, postures: ArrayLike) -> Array:
    """Given postures, moved as little as the limits demand.

    A posture beyond a limit is moved to it; one that is not clear goes back towards the first by the one
    joint that has least to move, or along the straight line where no single joint helps.

    Args:
        room: where the robot may stand.
        postures: as wished, shape (3, nv), rad or m.

    Returns:
        The postures, shape (3, nv), rad or m.

    Raises:
        InputError: the robot may not stand at the first one.
    """
    wanted = checked("postures", postures, (len(FOLDS), room.limits.robot.nv))
    inside = np.clip(wanted, room.lower, room.upper)
    if not room.holds(inside[:1]).all():
        raise InputError("the robot is not clear, or too weak, at the first one.", place="postures")
    return np.array([inside[0], *(_pulled(room, inside[0], posture) for posture in inside[1:])])


def wrist_of(robot: Robot) -> int | None:
    """The joint that turns the wrist: the last one whose axis crosses that of the joint behind it.

    Only turning joints count. Where a finger turns across the last arm joint, that joint is found.

    Args:
        robot: an arm.

    Returns:
        Its number; None where no two neighbours cross.
    """
    X = forward_kinematics(robot, np.zeros((1, robot.nq)))[0]
    axes = [X[k, :3, :3] @ joint.axis for k, joint in enumerate(robot.joints)]
    found = None
    for outer, joint in enumerate(robot.joints):
        inner = joint.parent
        if inner > 0 and joint.kind.rotates and robot.joints[inner].kind.rotates:
            crosses = float(np.linalg.norm(np.cross(axes[inner], axes[outer]))) > 0.5
            found = inner if crosses else found
    return found


def _folding_signs(room: RoomToMove, middle: Array) -> Array:
    robot = room.limits.robot
    quarter = 0.5 * np.minimum(0.5 * (room.upper - room.lower), np.pi)
    base, tool = robot.joints[0].placement.translation, robot.tool_frame.name
    signs, q = np.ones(robot.nv), middle.copy()
    for j in reversed(range(robot.nv)):
        both = np.stack((q, q))
        both[:, j] += (quarter[j], -quarter[j])
        near, far = np.linalg.norm(forward_kinematics(robot, both, [tool])[:, 0, :3, 3] - base, axis=1)
        signs[j] = 1.0 if near <= far + 1e-9 else -1.0
        q[j] += signs[j] * quarter[j]
    return signs


def _pulled(room: RoomToMove, home: Array, posture: Array) -> Array:
    if room.holds(posture[None]).all():
        return posture
    found, least = None, np.inf
    for j in np.flatnonzero(home != posture):
        goal = posture.copy()
        goal[j] = home[j]
        line = room.line(posture, goal)
        good = room.holds(line)
        if good.any() and int(good.argmax()) < least:
            least, found = int(good.argmax()), line[int(good.argmax())]
    if found is None:
        line = room.line(posture, home)
        found = line[int(room.holds(line).argmax())]
    return np.asarray(found)


# The swings of a recipe's steps, fitted to the room that an arm has at each posture.

_SMALLER, _MOST_TIMES = 0.8, 12


@dataclass(eq=False)
class FittedSwings:
    """Primitives at the postures of an arm, each fitted when it is first asked for.

    Attributes:
        room: where the robot may stand.
        postures: A, B and C, shape (3, nv), rad or m.
        variants: the same with the wrist turned, shape (3, nv), rad or m.
        amplitude: largest of every joint, shape (nv,), rad or m.
    """

    room: RoomToMove
    postures: Array
    variants: Array
    amplitude: Array
    _ranges: dict[tuple[int, bool], tuple[Array, Array]] = field(default_factory=dict)
    _fitted: dict[tuple[int, bool, RecipeSwing], list[Primitive]] = field(default_factory=dict)
    _small: dict[tuple[str, str], float] = field(default_factory=dict)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Swings much smaller than wished for, so far."""
        return tuple(
            Finding(
                Severity.INFO,
                "smaller-swing",
                f"at posture {where} there is room for {share:.2g} of the amplitude.",
                joints,
            )
            for (where, joints), share in self._small.items()
        )

    def posture(self, step: RecipeStep) -> Array:
        """Where a step's primitives start and end.

        Returns:
            q, shape (nv,), rad or m.
        """
        return np.asarray((self.variants if step.wrist else self.postures)[step.posture])

    def primitives(self, step: RecipeStep) -> list[Primitive]:
        """The primitives of a step, those for which there is room.

        Returns:
            The primitives, from the base outwards.
        """
        key = (step.posture, step.wrist, step.swing)
        if key not in self._fitted:
            self._fitted[key] = self._fit(step)
        return self._fitted[key]

    def _fit(self, step: RecipeStep) -> list[Primitive]:
        posture, place = self.posture(step), (step.posture, step.wrist)
        if place not in self._ranges:
            self._ranges[place] = self.room.range_about(posture)
        made = []
        for offset in self._offsets(step.swing):
            primitive = self._made_clear(posture, offset, *self._ranges[place])
            kept = np.zeros_like(offset) if primitive is None else primitive.offset
            made += [] if primitive is None else [primitive]
            share = float((np.abs(kept)[offset != 0.0] / np.abs(offset)[offset != 0.0]).min())
            if share < _SMALLER:
                where = POSTURES[step.posture] + ("'" if step.wrist else "")
                self._small[where, self.room.names(offset != 0.0)] = share
        return made

    def _made_clear(self, posture: Array, offset: Array, lower: Array, upper: Array) -> Primitive | None:
        """The first of ever smaller swings that is clear all the way; None where none of them is."""
        for power in range(_MOST_TIMES):
            wanted = np.where(upper > lower, _SMALLER**power * offset, 0.0)
            if not wanted.any():
                return None
            primitive = primitive_within(posture, wanted, lower, upper)
            if self.room.path_holds(primitive.waypoints):
                return primitive
        return None

    def _offsets(self, swing: RecipeSwing) -> Array:
        a = self.amplitude
        match swing:
            case RecipeSwing.SINGLE:
                return single_joint_offsets(a)
            case RecipeSwing.IN_PHASE | RecipeSwing.OPPOSITE:
                phase = 1 if swing is RecipeSwing.IN_PHASE else -1
                pairs = adjacent_pair_offsets(self.room.limits.robot, a, phase)
                return pairs if len(pairs) else single_joint_offsets(a)
            case RecipeSwing.GROUPS:
                return joint_group_offsets(a, GROUP)
            case RecipeSwing.ALL:
                return joint_group_offsets(a)


# Recipes become motions: from swing to swing, at a pace the drives can keep.

SPEEDS = (0.3, 0.6, 0.9)
"""Shares of the speed and acceleration limits at the three levels."""
PROXIMAL_SPEEDS = (0.25, 0.5, 0.75)
"""The same for swings of the third of the joints next to the base."""
LARGE_SPEEDS = (0.2, 0.4, 0.6)
"""The same for swings of more than two joints or beyond `LARGE`, and between postures."""
LARGE = np.radians(60.0)
"""Amplitude of a turning joint beyond which a swing is large, rad."""
_SLOWER, _MOST_SLOWDOWNS = 0.85, 16


@dataclass(eq=False)
class RecipeMotions:
    """Makes the motions of one arm; a way that two of them share is paced once.

    Attributes:
        swings: the primitives at its postures.
        dwell: how long to rest at each waypoint, s.
    """

    swings: FittedSwings
    dwell: float
    _paces: dict[tuple[bytes, float], float] = field(default_factory=dict)
    _slow: dict[str, float] = field(default_factory=dict)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Swings that go slower than their level, so far."""
        return tuple(
            Finding(
                Severity.INFO,
                "slowed-swing",
                f"moves at {pace:.2g} of its speed at the least, to keep the torque limits.",
                joints,
            )
            for joints, pace in self._slow.items()
        )

    def motion(self, recipe: Recipe) -> SplineMotion:
        """The motion of a recipe.

        Args:
            recipe: what it is made of.

        Returns:
            The motion, from rest at its first posture to rest at its last.

        Raises:
            InputError: something stands between two postures, no swing has room, or torques are too small.
        """
        room = self.swings.room
        points: list[Array] = [self.swings.posture(recipe.steps[0])]
        shares: list[tuple[float, float]] = []
        for step in recipe.steps:
            leg = np.stack((points[-1], self.swings.posture(step)))
            if not room.path_holds(leg):
                raise InputError(
                    "something is in the way between two postures.",
                    place=recipe.name,
                    remedy="Use another --family, or state other motions.postures in the file of a campaign.",
                )
            ways = [(leg, LARGE_SPEEDS[step.level])]
            for primitive in self.swings.primitives(step):
                ways.append((primitive.waypoints, self._speed(primitive, step.level)))
            for waypoints, speed in ways:
                legs = [end for start, end in pairwise(waypoints) if (end != start).any()]
                points += legs
                shares += [(speed, self._pace(waypoints[0], legs, speed))] * len(legs)
        if not shares:
            raise InputError("no joint has room to swing at its postures.", place=recipe.name)
        return self._timed(np.array(points), *np.array(shares).T)

    def _speed(self, primitive: Primitive, level: int) -> float:
        robot, delta = self.swings.room.limits.robot, primitive.offset
        turns = np.array([joint.kind.rotates for joint in robot.joints])
        if np.count_nonzero(delta) > 2 or (np.abs(delta[turns]) > LARGE).any():
            return LARGE_SPEEDS[level]
        return (PROXIMAL_SPEEDS if delta[: robot.nv // 3].any() else SPEEDS)[level]

    def _pace(self, start: Array, legs: list[Array], speed: float) -> float:
        """By how much a way is slowed for its torques, dimensionless."""
        if not legs:
            return 1.0
        way = np.array([start, *legs])
        key = (way.tobytes(), speed)
        if key not in self._paces:
            self._paces[key] = self._found_pace(way, speed)
        return self._paces[key]

    def _found_pace(self, way: Array, speed: float) -> float:
        room, legs = self.swings.room, len(way) - 1
        joints = room.names(np.ptp(way, axis=0) > 0.0)
        for power in range(_MOST_SLOWDOWNS):
            pace = _SLOWER**power
            timed = self._timed(way, np.full(legs, speed), np.full(legs, pace))
            if room.torque_share(timed) <= 1.0:
                if pace < 1.0:
                    self._slow[joints] = min(pace, self._slow.get(joints, 1.0))
                return pace
        raise InputError("the torque limits leave nothing to move with.", place=joints)

    def _timed(self, points: Array, speed: Array, pace: Array) -> SplineMotion:
        """The way through points with a share of the limits on each segment, its time stretched by 1/pace."""
        room = self.swings.room
        robot = room.limits.robot
        v_max = (speed * pace)[:, None] * room.velocity
        a_max = (speed * pace**2)[:, None] * room.acceleration
        return through_waypoints(
            robot.joint_names, points, v_max, a_max, dwell=self.dwell, robot=robot.digest
        )


AMPLITUDE_TURN = np.radians(45.0)
"""Amplitude of a turning joint with room enough, rad."""
AMPLITUDE_SLIDE = 0.1
"""Amplitude of a sliding joint with room enough, m."""
WRIST_TURN = np.radians(90.0)
"""How far the wrist is turned at a posture's variant, rad."""


@dataclass(frozen=True, eq=False)
class StructuredMotion:
    """One motion of a family.

    Attributes:
        recipe: what it is made of, its name and family.
        motion: the motion, from rest to rest.
    """

    recipe: Recipe
    motion: SplineMotion

    @property
    def name(self) -> str:
        """Such as `PA01`."""
        return self.recipe.name


@dataclass(frozen=True, eq=False)
class StructuredMotions:
    """The families of an arm.

    Attributes:
        motions: for identification and, held out, for validation.
        postures: A, B and C as used, shape (3, nv), rad or m.
        variants: the same with the wrist turned, or the postures where there is no wrist, shape (3, nv), rad
            or m.
        findings: what had to give way to the limits.
    """

    motions: tuple[StructuredMotion, ...]
    postures: Array
    variants: Array
    findings: tuple[Finding, ...]

    def __post_init__(self) -> None:
        for name in ("postures", "variants"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of all motions, in order."""
        return tuple(motion.name for motion in self.motions)

    @property
    def identification(self) -> tuple[StructuredMotion, ...]:
        """Those that parameters may be fitted to."""
        return tuple(item for item in self.motions if not item.recipe.held_out)

    @property
    def validation(self) -> tuple[StructuredMotion, ...]:
        """Those held out."""
        return tuple(item for item in self.motions if item.recipe.held_out)

    def __iter__(self) -> Iterator[StructuredMotion]:
        """In order."""
        return iter(self.motions)

    def __len__(self) -> int:
        """How many there are."""
        return len(self.motions)

    def __getitem__(self, name: str) -> SplineMotion:
        """A motion by its name."""
        if name not in self.names:
            raise UnknownNameError("structured motion", name, self.names)
        return self.motions[self.names.index(name)].motion


def structured_motions(
    limits: MotionLimits,
    *,
    postures: ArrayLike | None = None,
    wrist: int | None = None,
    amplitude: ArrayLike | None = None,
    recipes: tuple[Recipe, ...] | None = None,
    dwell: float = 0.0,
) -> StructuredMotions:
    """Make the families of structured motions for an arm.

    Every motion goes from rest to rest through waypoints, from swing to swing of few joints at a posture.
    What each is made of is in `recipes`, the swings in `primitives`, the way between waypoints in
    `segments`.

    - A joint swings by its amplitude, or by half of what its position limits and the clearance leave it at
      the posture; swings that come too near to something are made smaller until they do not.
    - Speed and acceleration are shares of their limits: 0.3, 0.6 or 0.9, less for swings of the joints next
      to the base and for large ones. A swing that would need more than nine tenths of a torque limit runs
      slower. A joint without a speed or acceleration limit has those of `RoomToMove`.
    - Without a wrist the variants are the postures themselves. Where no two joints are adjacent, each moves
      alone.

    Args:
        limits: what every motion must respect: the robot; and a clearance and a model of the torques where
            these are to count.
        postures: A, B and C, shape (3, nv), rad or m; moved where the limits demand; None for three that fold
            the arm more and more.
        wrist: number of the joint that turns by a right angle at the variants; None for the last one whose
            axis crosses that of the joint behind it, -1 for none.
        amplitude: largest of every joint, zero where it is to stand still, shape (nv,), rad or m; None for 45
            degrees or a tenth of a metre.
        recipes: which motions; None for all 43.
        dwell: how long to rest at each waypoint, s.

    Returns:
        The motions. They keep their limits wherever that was looked at; `steelyard.limits.certify` proves it
        for all times.

    Raises:
        InputError: the robot may not stand at the postures, or cannot go between them.
        DescriptionError: the robot is no arm on a fixed base.
    """
    room = RoomToMove(limits)
    robot = limits.robot
    turns = np.array([joint.kind.rotates for joint in robot.joints])
    usual = np.where(turns, AMPLITUDE_TURN, AMPLITUDE_SLIDE)
    a = usual if amplitude is None else checked("amplitude", amplitude, (robot.nv,))
    if (a < 0.0).any() or not a.any():
        raise InputError("must be zero or more, and not zero for all joints.", place="amplitude")
    X = folding_postures(room) if postures is None else placed_postures(room, postures)
    turned = wrist_of(robot) if wrist is None else wrist
    if turned is not None and not -1 <= turned < robot.nv:
        raise InputError(f"must be -1 to {robot.nv - 1}, got {wrist}.", place="wrist")
    variants = X if turned in (None, -1) else np.array([_variant(room, x, turned) for x in X])
    swings = FittedSwings(room, X, variants, a)
    maker = RecipeMotions(swings, dwell)
    made = [StructuredMotion(recipe, maker.motion(recipe)) for recipe in recipes or structured_recipes()]
    moved = [] if postures is None else _moved(robot, np.asarray(postures, dtype=float), X)
    return StructuredMotions(tuple(made), X, variants, (*moved, *swings.findings, *maker.findings))


def _variant(room: RoomToMove, posture: Array, wrist: int) -> Array:
    """The posture with its wrist turned by a right angle, or as far as it goes, to the roomier side."""
    ends = []
    for side in (1.0, -1.0):
        goal = posture.copy()
        goal[wrist] = np.clip(posture[wrist] + side * WRIST_TURN, room.lower[wrist], room.upper[wrist])
        ends.append(room.farthest(posture, goal))
    up, down = ends
    return up if abs(up[wrist] - posture[wrist]) >= abs(down[wrist] - posture[wrist]) - 1e-9 else down


def _moved(robot: Robot, wanted: Array, postures: Array) -> list[Finding]:
    return [
        Finding(
            Severity.INFO,
            "moved-posture",
            f"stands at {postures[k, j]:.4g} instead of {wanted[k, j]:.4g} {robot.joints[j].position_unit} "
            f"at posture {POSTURES[k]}, to keep its limits and to stay clear.",
            f"joint '{robot.joint_names[j]}'",
        )
        for k, j in np.argwhere(np.abs(postures - wanted) > 1e-9)
    ]
