r"""A motion as ROS 2's controllers take it: the points of a goal, and what a controller makes of them.

`joint_trajectory_controller` of ros2_controllers joins two points that state position, velocity and
acceleration by the one polynomial of degree five that has them at both ends. So the controller runs the
motion at the points only; between two of them that are h apart it is off by

$$|\Delta q| \le \frac{h^6}{46080} \max |q^{(6)}|.$$

The command line of Linux takes no argument beyond 128 KiB, so points are not closer than they have to be.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from typing import Any

import numpy as np

from steelyard.arrays import Array, keep_read_only, read_only
from steelyard.motion.files import sample_times, seconds_and_nanoseconds, yaml_list
from steelyard.motion.motion import Motion, MotionSample

ACTION_TYPE = "control_msgs/action/FollowJointTrajectory"
ACTION_NAME = re.compile(r"[/~]?[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*")
"""What ROS 2 takes for a name."""
RATES = (10.0, 20.0, 50.0, 100.0, 200.0, 500.0)
"""Points per second that are tried, Hz."""
MOST_POINTS = 50_000
"""Beyond this only the lowest rate is."""
FINE = (1e-6, 1e-4, 5e-2)
"""How far position, velocity and acceleration may be off between two points, SI."""
LEAD, APPROACH = 3.0, 10.0
"""How long the arm rests at the start before it moves, and how long it takes to get there, s."""
LONGEST_ARGUMENT = 131_000
"""Bytes of an argument that Linux passes on."""
_BETWEEN = np.arange(1, 16) / 16.0
_AT_REST = 1e-6


@dataclass(frozen=True, eq=False)
class MotionDeviation:
    """How far one motion may be, or is, from another, by joint; arrays are read-only.

    Attributes:
        position: shape (nv,), rad or m.
        velocity: shape (nv,), rad/s or m/s.
        acceleration: shape (nv,), rad/s² or m/s².
    """

    position: Array
    velocity: Array
    acceleration: Array

    def __post_init__(self) -> None:
        keep_read_only(self, "position", "velocity", "acceleration")

    @property
    def largest(self) -> tuple[float, float, float]:
        """Of position, velocity and acceleration, the largest of any joint, SI."""
        return float(self.position.max()), float(self.velocity.max()), float(self.acceleration.max())

    def within(self, other: MotionDeviation) -> bool:
        """Return whether no joint is off by more than another deviation says.

        Args:
            other: what is allowed.

        Returns:
            Whether none is.
        """
        return bool(
            (self.position <= other.position).all()
            and (self.velocity <= other.velocity).all()
            and (self.acceleration <= other.acceleration).all()
        )


@dataclass(frozen=True, eq=False)
class TrajectoryGoal:
    """The goal of `FollowJointTrajectory` that makes an arm run a motion; arrays are read-only.

    Attributes:
        joints: names of the joints.
        time: when the points are reached, counted from the goal's acceptance, shape (N,), s.
        points: position, velocity and acceleration there, each shape (N, nv), SI.
        rate: points per second, Hz.
        deviation: how far the controller's polynomials are from the motion, at fifteen instants between every
            two points.
        covered: whether the proven margins of position, velocity and acceleration cover that.
    """

    joints: tuple[str, ...]
    time: Array
    points: MotionSample
    rate: float
    deviation: MotionDeviation
    covered: bool

    def __post_init__(self) -> None:
        object.__setattr__(self, "time", read_only(self.time))

    @property
    def lead(self) -> float:
        """How long the arm rests at the start before the motion, s; zero where the motion starts moving."""
        return float(self.time[0])

    @property
    def start(self) -> dict[str, float]:
        """Where the arm must be when the goal is sent, by joint, rad or m."""
        return dict(zip(self.joints, self.points.q[0].tolist(), strict=True))

    @property
    def document(self) -> dict[str, Any]:
        """What a script may ask for."""
        position, velocity, acceleration = self.deviation.largest
        return {
            "points": len(self.time),
            "rate": self.rate,
            "lead": self.lead,
            "start": self.start,
            "deviation": {"position": position, "velocity": velocity, "acceleration": acceleration},
            "covered": self.covered,
        }

    def yaml(self, action: str) -> str:
        """Return the goal as the YAML that `ros2 action send_goal` takes.

        Args:
            action: name of the action, which a comment tells.

        Returns:
            The text.
        """
        waits = f"The arm rests there for {self.lead:g} s." if self.lead else "The arm moves at once."
        lines = [
            f"# Goal of {action}, {ACTION_TYPE}.",
            f"# Bring the arm to the first point before it is sent. {waits}",
            "trajectory:",
            f"  joint_names: {json.dumps(self.joints)}",
            "  points:",
        ]
        rows = zip(self.time.tolist(), self.points.q, self.points.v, self.points.a, strict=True)
        for time, q, v, a in rows:
            second, nanosecond = seconds_and_nanoseconds(time)
            lines += [
                f"  - positions: {yaml_list(q.tolist())}",
                f"    velocities: {yaml_list(v.tolist())}",
                f"    accelerations: {yaml_list(a.tolist())}",
                f"    time_from_start: {{sec: {second}, nanosec: {nanosecond}}}",
            ]
        return "\n".join(lines) + "\n"

    def send(self, action: str, path: str) -> str:
        """Return the line that sends the goal out of its file.

        Args:
            action: name of the action.
            path: of the file.

        Returns:
            The line; `--stdin`, which ROS 2 has since Jazzy, where the goal is too long for an argument.
        """
        start, file = f"ros2 action send_goal {action} {ACTION_TYPE}", shlex.quote(path)
        if len(self.yaml(action).encode()) > LONGEST_ARGUMENT:
            return f"{start} --stdin < {file}"
        return f'{start} "$(cat {file})"'

    def approach(self, action: str) -> str:
        """Return the line that brings the arm to the start, from wherever it stands, in `APPROACH` seconds.

        Args:
            action: name of the action.

        Returns:
            The line. The way there is the controller's, and no part of any proof.
        """
        # A micron is less than an arm keeps, and makes a line that people can read.
        near = yaml_list((np.round(self.points.q[0], 6) + 0.0).tolist())
        point = f"{{positions: {near}, time_from_start: {{sec: {APPROACH:.0f}}}}}"
        goal = f"{{trajectory: {{joint_names: {json.dumps(self.joints)}, points: [{point}]}}}}"
        return f"ros2 action send_goal {action} {ACTION_TYPE} {shlex.quote(goal)}"

    def __str__(self) -> str:
        position, velocity, acceleration = self.deviation.largest
        ends = "which the proven margins cover" if self.covered else "which no proven margins cover"
        return (
            f"{len(self.time)} points, {self.rate:g} a second; between them a controller's polynomials are "
            f"off by at most {position:.2g} rad or m, {velocity:.2g}/s, {acceleration:.2g}/s², {ends}."
        )


def trajectory_goal(motion: Motion, room: MotionDeviation | None) -> TrajectoryGoal:
    """Return a motion as a goal, with as few points as serve.

    Args:
        motion: the motion.
        room: proven margins of each joint, infinite where nothing is limited; None where nothing is proven.

    Returns:
        The goal with the lowest of `RATES` at which the controller is off by no more than `FINE` and the
        margins; with the highest one where none is enough.
    """
    count = len(motion.joints)
    fine = MotionDeviation(*(np.full(count, value) for value in FINE))
    for rate in [rate for rate in RATES if motion.duration * rate <= MOST_POINTS] or RATES[:1]:
        time = sample_times(motion.duration, rate)
        points = motion.sample(time)
        deviation = _deviation(motion, time, points)
        covered = room is not None and deviation.within(room)
        if (covered or room is None) and deviation.within(fine):
            break
    at_rest = max(np.abs(points.v[0]).max(), np.abs(points.a[0]).max()) < _AT_REST
    # From rest to rest at one place the controller's polynomial is that place; from elsewhere it is not.
    lead = LEAD if at_rest else 0.0
    return TrajectoryGoal(motion.joints, lead + time, points, rate, deviation, covered)


def _deviation(motion: Motion, time: Array, points: MotionSample) -> MotionDeviation:
    """How far the polynomials are from the motion, at instants between the points."""
    step = np.diff(time)
    at = (time[:-1, None] + step[:, None] * _BETWEEN).ravel()
    meant = motion.sample(at)
    made = _quintic_between(step, points)
    off = [np.abs(x - y).max(axis=0) for x, y in zip(made, (meant.q, meant.v, meant.a), strict=True)]
    return MotionDeviation(*off)


def _quintic_between(step: Array, points: MotionSample) -> tuple[Array, Array, Array]:
    """Position, velocity and acceleration of the controller at `_BETWEEN` of every step, each (K·15, nv)."""
    h = step[:, None]
    q, v, a = (x[:-1] for x in (points.q, points.v, points.a))
    # What is left at the end of the step beyond constant acceleration.
    d = points.q[1:] - q - h * v - 0.5 * h**2 * a
    e = h * (points.v[1:] - v - h * a)
    f = h**2 * (points.a[1:] - a)
    c3, c4, c5 = 10 * d - 4 * e + 0.5 * f, -15 * d + 7 * e - f, 6 * d - 3 * e + 0.5 * f
    q, v, a, c3, c4, c5, h = (x[:, None, :] for x in (q, v, a, c3, c4, c5, h))
    s = _BETWEEN[None, :, None]
    position = q + h * s * v + 0.5 * (h * s) ** 2 * a + s**3 * (c3 + s * (c4 + s * c5))
    velocity = v + h * s * a + s**2 * (3 * c3 + s * (4 * c4 + s * 5 * c5)) / h
    acceleration = a + s * (6 * c3 + s * (12 * c4 + s * 20 * c5)) / h**2
    count = q.shape[-1]
    return position.reshape(-1, count), velocity.reshape(-1, count), acceleration.reshape(-1, count)
