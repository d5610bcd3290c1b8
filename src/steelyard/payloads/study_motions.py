"""The motions of a sensitivity study: sinusoids, pick-and-place, and excitation designed for a payload."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.dynamics import forward_kinematics, frame_jacobian
from steelyard.errors import NoSolutionError, UnknownNameError
from steelyard.excitation import (
    DesignProblem,
    SearchBudget,
    design,
    fourier_family,
    payload_columns,
)
from steelyard.limits import clearance_of
from steelyard.motion import (
    UNLIMITED_SLIDE,
    UNLIMITED_TURN,
    Motion,
    SinusoidMotion,
    pick_and_place,
    slowdown_within,
    slowed,
)
from steelyard.robot import Robot

# Poses in which a tool is at a point and points down: damped least squares from many starts at once.
#
# $$\Delta q = J^T (J J^T + \lambda^2 1)^{-1} e$$
#
# with e the way to the point and, for arms that can choose, the turn that brings the tool's axis down.

STARTS = 24
"""Random poses from which the search begins."""
POINTING = 5
"""Joints from which on an arm can be asked to point its tool down."""
DAMPING = 0.03
"""λ, m or dimensionless."""
CLOSE = 1e-4
"""Distance and turn at which a point counts as reached, m and rad."""
_STEPS, _LONGEST = 120, 0.2
_DOWN = np.array([0.0, 0.0, -1.0])


def joint_ranges(robot: Robot) -> tuple[Array, Array]:
    """Position limits, those that are not stated taken as half a turn or half a metre to either side.

    Args:
        robot: an arm.

    Returns:
        Lower and upper ends, each shape (nv,), rad or m.
    """
    reach = np.array([UNLIMITED_TURN if joint.kind.rotates else UNLIMITED_SLIDE for joint in robot.joints])
    lower, upper = robot.limit_array("lower"), robot.limit_array("upper")
    return np.where(np.isfinite(lower), lower, -reach), np.where(np.isfinite(upper), upper, reach)


def poses_at(robot: Robot, point: ArrayLike, rng: np.random.Generator) -> Array:
    """Find poses in which the tool's origin is at a point, its z axis straight down.

    Arms of fewer than five joints are asked for the point alone. Collisions are not looked at.

    Args:
        robot: an arm.
        point: in the base frame, shape (3,), m.
        rng: source of the poses to start from.

    Returns:
        Poses within the position limits, shape (n, nv), rad or m; none where the point was not reached.
    """
    target = checked("point", point, (3,))
    lower, upper = joint_ranges(robot)
    frame = robot.tool_frame.name
    rows = 6 if robot.nv >= POINTING else 3
    q: Array = rng.uniform(lower, upper, (STARTS, robot.nv))
    for _ in range(_STEPS):
        e = _way(robot, frame, q, target)[:, :rows]
        e *= np.minimum(1.0, _LONGEST / np.maximum(np.linalg.norm(e, axis=1, keepdims=True), _LONGEST))
        J = frame_jacobian(robot, q, frame)[:, :rows]
        damped = J @ J.transpose(0, 2, 1) + DAMPING**2 * np.eye(rows)
        step = J.transpose(0, 2, 1) @ np.linalg.solve(damped, e[:, :, None])
        q = np.clip(q + step[:, :, 0], lower, upper)
    left = _way(robot, frame, q, target)
    reached = np.linalg.norm(left[:, :rows], axis=1) < CLOSE
    return np.asarray(q[reached])


def _way(robot: Robot, frame: str, q: Array, target: Array) -> Array:
    """What is left to go and to turn in each pose, shape (n, 6), m and rad."""
    X = forward_kinematics(robot, q, [frame])[:, 0]
    axis = X[:, :3, 2]
    turn = np.cross(axis, _DOWN)
    # Upside down the cross product vanishes too; any large turn about another axis leaves that pose.
    turn[axis[:, 2] > 0.0] /= np.maximum(np.linalg.norm(turn[axis[:, 2] > 0.0], axis=1, keepdims=True), 1e-3)
    turn[axis[:, 2] > 1.0 - 1e-6] = (1.0, 0.0, 0.0)
    return np.hstack([target - X[:, :3, 3], turn])


DURATION = 10.0
"""Of a sinusoid and of a designed motion, s."""
AMPLITUDE, FREQUENCIES = 0.3, (1.0, 5.0)
"""Of the sinusoids, rad or m, and rad/s (Lambert 2023, section 5.4)."""
BOX, PLACE = np.array([0.3, 0.6, 0.3]), np.array([0.5, 0.0, 0.35])
"""Size of the boxes of start and end points (Lambert 2023, section 5.4), and the front one's middle, m."""
FULL_SIZE = 0.855
"""Reach of the paper's arm; the boxes shrink with the reach of smaller ones, m."""
PACE = 0.5
"""Share of the velocity and acceleration limits that a pick-and-place motion uses."""
SHORTEST = 1.0
"""How long it takes at least, s."""
ROUNDS = 1
"""Local searches for each designed motion."""
_POINTS, _POSES, _SHARE = 10, 4096, 0.9


def sinusoids(robot: Robot, count: int, rng: np.random.Generator) -> tuple[SinusoidMotion, ...]:
    """Sinusoids about the pose nearest to zero, each joint at its own frequency (Lambert 2023, eq. (4.25)).

    The amplitude is 0.3 rad. Joints with little room swing less, and those with low limits of velocity or
    acceleration slower.

    Args:
        robot: an arm.
        count: number of motions.
        rng: source of the frequencies, from 1 to 5 rad/s.
    """
    lower, upper = joint_ranges(robot)
    A = np.minimum(AMPLITUDE, _SHARE * 0.5 * (upper - lower))
    centre = np.clip(0.0, lower + A, upper - A)
    room = np.where(A > 0.0, A, 1.0)
    highest = np.minimum(
        robot.limit_array("velocity") / room, np.sqrt(robot.limit_array("acceleration") / room)
    )
    return tuple(
        SinusoidMotion(
            robot.joint_names,
            DURATION,
            centre,
            A,
            np.minimum(rng.uniform(*FREQUENCIES, robot.nv), highest),
            np.zeros(robot.nv),
            robot.digest,
        )
        for _ in range(count)
    )


def transfers(robot: Robot, count: int, rng: np.random.Generator) -> tuple[Motion, ...]:
    """Cubic splines in joint space from a box in front of the robot to one behind it (Lambert 2023, 5.4).

    Both points are drawn from the part of their box that the arm reaches with its tool pointing down, and of
    the poses found those nearest to zero and to each other are taken. Collisions are not looked at.

    Args:
        robot: an arm.
        count: number of motions.
        rng: source of the points.

    Returns:
        The motions, at half of the velocity and acceleration limits.

    Raises:
        NoSolutionError: the arm does not reach the boxes.
    """
    size = min(1.0, tool_reach(robot) / FULL_SIZE)
    return tuple(_transfer(robot, size, rng) for _ in range(count))


def designed_motion(robot: Robot, count: int, rng: np.random.Generator) -> tuple[Motion, ...]:
    """Fourier series that show a payload's ten numbers best within all limits, from rest to rest.

    Args:
        robot: an arm.
        count: number of motions.
        rng: source of the searches.

    Raises:
        NoSolutionError: no motion keeps every limit.
    """
    layout, base = payload_columns(robot)
    problem = DesignProblem(
        robot,
        fourier_family(robot, period=DURATION),
        layout,
        base,
        clearance=clearance_of(robot),
        acceleration=True,
        parameters=layout.complete_nominal(),
    )
    return tuple(design(problem, SearchBudget(None, ROUNDS), rng).motion for _ in range(count))


_KINDS: Mapping[str, Callable[[Robot, int, np.random.Generator], tuple[Motion, ...]]] = {
    "sinusoid": sinusoids,
    "pick-and-place": transfers,
    "excitation": designed_motion,
}
MOTIONS = tuple(_KINDS)
"""Names of the kinds of motions."""


def study_motions(
    robot: Robot, kinds: Sequence[str], count: int, rng: np.random.Generator
) -> dict[str, tuple[Motion, ...]]:
    """Motions of several kinds.

    Args:
        robot: an arm.
        kinds: names, of `MOTIONS`.
        count: number of each kind.
        rng: source of all of them; a kind is the same whichever others are asked for.

    Returns:
        The motions by kind.

    Raises:
        UnknownNameError: there is no such kind.
        NoSolutionError: the robot cannot do it.
    """
    robot.require_arm()
    for kind in kinds:
        if kind not in _KINDS:
            raise UnknownNameError("kind of motion", kind, MOTIONS)
    streams = dict(zip(MOTIONS, rng.spawn(len(MOTIONS)), strict=True))
    return {kind: _KINDS[kind](robot, count, streams[kind]) for kind in kinds}


def tool_reach(robot: Robot) -> float:
    """How far from the base's axis the tool gets, by many poses.

    Args:
        robot: an arm.

    Returns:
        The largest distance, m.
    """
    q = np.random.default_rng(0).uniform(*joint_ranges(robot), (_POSES, robot.nv))
    X = forward_kinematics(robot, q, [robot.tool_frame.name])[:, 0]
    return float(np.linalg.norm(X[:, :2, 3], axis=1).max())


def _transfer(robot: Robot, size: float, rng: np.random.Generator) -> Motion:
    start = _reached(robot, size * PLACE, size * BOX, rng, None)
    end = _reached(robot, size * PLACE * (-1.0, 1.0, 1.0), size * BOX, rng, start)
    motion = pick_and_place(
        robot.joint_names, np.stack([start, end]), (0.0, 1.0), degree=3, robot=robot.digest
    )
    pace = slowdown_within(
        motion, PACE * robot.limit_array("velocity"), PACE * robot.limit_array("acceleration")
    )
    return slowed(motion, max(pace, SHORTEST))


def _reached(
    robot: Robot, middle: Array, size: Array, rng: np.random.Generator, before: Array | None
) -> Array:
    """A pose at a random point of a box, the nearest to zero or to the one before, shape (nv,)."""
    for _ in range(_POINTS):
        poses = poses_at(robot, middle + size * rng.uniform(-0.5, 0.5, 3), rng)
        if len(poses):
            far = np.abs(poses - (0.0 if before is None else before)).max(axis=1)
            return np.asarray(poses[np.argmin(far)])
    raise NoSolutionError(
        f"the tool does not reach the box about ({', '.join(f'{x:.2f}' for x in middle)}) m.",
        place="pick-and-place",
        remedy="Leave this kind of motion out (--motions).",
        evidence={"middle": middle, "size": size},
    )
