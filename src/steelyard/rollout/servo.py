"""A motion simulated from commanded positions alone: an arm whose joints are position servos."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, checked, keep_checked, keep_views, read_only_view
from steelyard.drive import SERVO_TERMS, Servo, servo_numbers
from steelyard.dynamics.batch import Numbers, numbers
from steelyard.dynamics.straight_line import StraightLineCode, call, specialise, straight_line_code
from steelyard.dynamics.straight_line.machine_code import lane_call, scalar_call
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.errors import InputError, NoSolutionError, UnknownNameError
from steelyard.layout import layout_of
from steelyard.robot import Robot
from steelyard.rollout import servo_run as servo_template
from steelyard.rollout.servo_step import Columns, Places, Steps, Track

Hold = Literal["zero-order", "linear"]
HOLDS: tuple[Hold, ...] = ("zero-order", "linear")
"""What a servo does between two commands: keep the last one, or go to the next in a straight line."""

LONGEST_STEP = 0.002
"""Longest step of the simulation, s."""

MIDDLE = 0.5
"""θ of `servo_step`: forces are those of the middle of a step, which makes it of second order."""

_DELAY = [term.name for term in SERVO_TERMS].index("delay")


@dataclass(frozen=True, eq=False)
class ServoCommand:
    """Commanded positions as they were logged.

    Before its first sample the command is the first one, after the last it is the last one.

    Attributes:
        time: shape (M,), s; strictly increasing.
        position: shape (M, n), rad or m.
        hold: what acts between the samples, `zero-order` or `linear`.
    """

    time: Array
    position: Array
    hold: Hold = "zero-order"

    def __post_init__(self) -> None:
        keep_checked(self, ("M",), "time")
        keep_checked(self, (len(self.time), "n"), "position")
        if len(self.time) < 1:
            raise InputError("holds no sample.", place="command")
        if not (np.diff(self.time) > 0.0).all():
            raise InputError(
                "does not increase from sample to sample.",
                place="command time",
                remedy="Sort the log and drop repeated samples.",
            )
        if self.hold not in HOLDS:
            raise UnknownNameError("hold", self.hold, HOLDS)

    def at(self, time: Array) -> Array:
        """The command at given times.

        Args:
            time: one column for each joint, shape (S, n), s.

        Returns:
            Commands, shape (S, n), rad or m.
        """
        if self.hold == "linear":
            columns = [np.interp(t, self.time, u) for t, u in zip(time.T, self.position.T, strict=True)]
            return np.stack(columns, axis=1)
        index = np.maximum(np.searchsorted(self.time, time, side="right") - 1, 0)
        return np.asarray(np.take_along_axis(self.position, index, axis=0))

    @cached_property
    def _sum(self) -> Array:
        """The integral of the command from the first sample to each."""
        u = self.position
        mean = u[:-1] if self.hold == "zero-order" else 0.5 * (u[:-1] + u[1:])
        return np.vstack([np.zeros_like(u[:1]), np.cumsum(mean * np.diff(self.time)[:, None], axis=0)])

    def _integral(self, time: Array) -> Array:
        index = np.maximum(np.searchsorted(self.time, time, side="right") - 1, 0)
        u = np.take_along_axis(self.position, index, axis=0)
        since = time - self.time[index]
        total = np.take_along_axis(self._sum, index, axis=0) + since * u
        if self.hold == "linear" and len(self.time) > 1:
            rate = np.vstack([np.diff(self.position, axis=0) / np.diff(self.time)[:, None], 0.0 * u[:1]])
            inside = np.where(time >= self.time[0], since, 0.0)
            total += 0.5 * inside**2 * np.take_along_axis(rate, index, axis=0)
        return np.asarray(total)

    def means(self, start: Array, end: Array, delay: Array) -> tuple[Array, Array]:
        r"""Mean command over steps, late by the delays, and its derivative in them.

        $$\bar u = \frac{1}{h} \int_{t}^{t+h} u(s - d)\,ds, \qquad
          \frac{\partial \bar u}{\partial d} = -\frac{u(t + h - d) - u(t - d)}{h}$$

        Args:
            start: where steps start, shape (S,), s.
            end: where they end, shape (S,), s.
            delay: of each joint, shape (n,), s.

        Returns:
            Means, shape (S, n), rad or m; derivatives, shape (S, n), rad/s or m/s.
        """
        first, last = start[:, None] - delay, end[:, None] - delay
        h = (end - start)[:, None]
        mean = (self._integral(last) - self._integral(first)) / h
        return mean, -(self.at(last) - self.at(first)) / h


@dataclass(frozen=True, eq=False)
class ServoRun:
    """What the servos do.

    Attributes:
        time: shape (N,), s.
        q: joint positions, shape (N, n), rad or m.
        v: joint velocities, shape (N, n), rad/s or m/s.
    """

    time: Array
    q: Array
    v: Array

    def __post_init__(self) -> None:
        keep_views(self, "time", "q", "v")


@dataclass(frozen=True, eq=False)
class ServoSensitivities:
    """A run with its derivatives.

    Attributes:
        run: the run.
        dq: derivatives of the positions, shape (N, n, c), SI.
        dv: derivatives of the velocities, shape (N, n, c), SI.
    """

    run: ServoRun
    dq: Array
    dv: Array

    def __post_init__(self) -> None:
        keep_views(self, "dq", "dv")


@dataclass(frozen=True, eq=False)
class ServoArm:
    """A robot with servos in its joints, as compiled code runs it.

    Attributes:
        robot: on a fixed base, its joints of one degree of freedom each, none of which follows another.
        longest_step: h at most, s.
        implicitness: θ of `servo_step`, from ½ (second order) to 1 (first order, damps every oscillation).
    """

    robot: Robot
    longest_step: float = LONGEST_STEP
    implicitness: float = MIDDLE

    def __post_init__(self) -> None:
        if not (math.isfinite(self.longest_step) and self.longest_step > 0.0):
            raise InputError(f"must be positive and finite, got {self.longest_step} s.", place="longest step")
        if not 0.5 <= self.implicitness <= 1.0:
            raise InputError(f"must lie between 0.5 and 1, got {self.implicitness}.", place="implicitness")

    @cached_property
    def code(self) -> StraightLineCode:
        """The programs of the robot."""
        return straight_line_code(self.robot, layout_of(self.robot))

    @cached_property
    def functions(self) -> ModuleType:
        """The compiled functions of `servo_run` for the robot."""
        code, nv = self.code, self.robot.nv
        return specialise(
            servo_template,
            code.key,
            run_motion=scalar_call(lambda: code.motion),
            run_slopes=lane_call(lambda: code.slopes, 14 * nv, (6 * nv, 0, 0, 0)),
        )

    @cached_property
    def tree(self) -> Tree:
        """The robot as flat arrays."""
        return tree_of(self.robot)

    @cached_property
    def places(self) -> Places:
        """Where the outputs of the programs go."""
        code = self.code
        columns = [10 * row + column for _, row, column in code.carried.columns]
        felt = [(k, columns[carried]) for k, carried in code.felt]
        return Places(*_split(code.above), *_split(code.related), *_split(felt))

    def links(self, parameters: ArrayLike | None) -> Numbers:
        """Link numbers in the form kernels read; None for those of the description.

        Args:
            parameters: ten of every link, shape (10 nb,), SI.
        """
        layout = layout_of(self.robot)
        return numbers(self.robot, layout, layout.complete_nominal() if parameters is None else parameters)

    def steps(self, time: Array, command: ServoCommand, delay: Array, *, divided: bool) -> Steps:
        """Divide the time between samples into equal steps, none longer than the longest.

        Args:
            time: of the samples, shape (N,), s.
            command: the command.
            delay: of each joint, shape (n,), s.
            divided: whether steps are divided where a held command arrives, late by the first joint's delay;
                otherwise its mean over a step acts.
        """
        gaps = np.diff(time)
        count = np.maximum(np.ceil(gaps / self.longest_step - 1e-9), 1.0).astype(np.int64)
        within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        whole = np.repeat(gaps / count, count)
        start = np.repeat(time[:-1], count) + within * whole
        end = start + whole
        sample = np.full(len(whole), -1, dtype=np.int64)
        sample[np.cumsum(count) - 1] = np.arange(1, len(time))
        arrivals = np.zeros(0)
        if divided and command.hold == "zero-order":
            arrivals = command.time[1:] + delay[0]
            before = int(np.sum(arrivals <= start[0]))
            arrivals = arrivals[before:]
            arrivals = arrivals[arrivals < end[-1]]
        if not len(arrivals):
            mean, slope = command.means(start, end, delay)
            return Steps(whole, whole, sample, np.zeros(len(whole), np.int64), mean, slope)
        # An arrival on the border of two steps lies a hair inside the later one, where it can move.
        home = np.searchsorted(start, arrivals, side="right") - 1
        hair = 1e-7 * whole[home]
        arrivals = np.clip(arrivals, start[home] + hair, end[home] - hair)
        bounds = np.sort(np.concatenate([start, arrivals]), kind="stable")
        apart = np.r_[True, np.diff(bounds) > 0.0]
        bounds = bounds[apart]
        of = np.searchsorted(start, bounds, side="right") - 1
        starts_step = bounds == start[of]
        ends_step = np.r_[starts_step[1:], True]
        ends = np.where(ends_step, end[of], np.r_[bounds[1:], end[-1]])
        # Counted and not looked up by time, which would see a shifted arrival where it was.
        u = command.position[before + np.searchsorted(arrivals, bounds, side="right")]
        return Steps(
            np.ascontiguousarray(ends - bounds),
            np.where(starts_step, whole[of], 0.0),
            np.where(ends_step, sample[of], -1),
            np.where(ends_step, 0, 1),
            np.ascontiguousarray(u),
            np.zeros_like(u),
        )

    def fly(
        self, given: Numbers, servo: Array, steps: Steps, q_start: Array, v_start: Array
    ) -> tuple[Array, Array, Track, int]:
        """Simulate: positions and velocities of the samples, the track, and its number of records.

        Args:
            given: link numbers.
            servo: numbers as `drive.servo_numbers` makes them, shape (n, 11), SI.
            steps: of the run.
            q_start: shape (n,), rad or m.
            v_start: shape (n,), rad/s or m/s.

        Returns:
            q, shape (N, n), rad or m; v, shape (N, n), rad/s or m/s; the track; records, or where it is
            negative, -1 - the step in which the run diverged.
        """
        n = self.robot.nv
        samples = int(steps.sample.max(initial=0)) + 1
        room = 2 * len(steps.length) + 2 * n + 4
        track = Track(
            np.empty(room, np.int64), np.empty(room), np.empty(room, np.int64), *np.empty((8, room, n))
        )
        q, v = np.empty((2, samples, n))
        records = call(
            self.functions,
            "fly_servos",
            self.tree,
            given,
            read_only_view(servo),
            self.places,
            steps,
            self.implicitness,
            np.array(q_start),
            np.array(v_start),
            q,
            v,
            track,
        )
        return q, v, track, int(records)

    def follow(
        self, given: Numbers, servo: Array, steps: Steps, track: Track, records: int, columns: Columns
    ) -> tuple[Array, Array]:
        """The derivatives of a run that `fly` made.

        Args:
            given: as there.
            servo: as there, shape (n, 11), SI.
            steps: as there.
            track: what it left.
            records: how many records that has.
            columns: what the derivatives are taken in.

        Returns:
            Derivatives of q and of v, shapes (N, n, columns), SI.
        """
        samples = int(steps.sample.max(initial=0)) + 1
        dq, dv = np.empty((2, samples, self.robot.nv, columns.total))
        call(
            self.functions,
            "follow_servos",
            self.tree,
            given,
            read_only_view(servo),
            self.places,
            steps,
            self.implicitness,
            track,
            records,
            columns,
            dq,
            dv,
        )
        return dq, dv


def _split(pairs: Sequence[tuple[int, int]]) -> tuple[IntArray, IntArray]:
    both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return np.ascontiguousarray(both[:, 0]), np.ascontiguousarray(both[:, 1])


def servo_columns(
    arm: ServoArm, entries: Sequence[tuple[int, str, int]], links: Array | None = None
) -> Columns:
    """What derivatives are taken in.

    Args:
        arm: the robot.
        entries: joint, term of `drive.SERVO_TERMS` and column of each servo number asked for; entries that
            share a column are one number, as a common delay is.
        links: B of the link numbers, phi = B beta, shape (10 nb, l), SI; None for links that are known.

    Returns:
        The columns: those of the entries, the link numbers, start positions and start velocities.
    """
    terms = [term.name for term in SERVO_TERMS]
    n = arm.robot.nv
    count = 1 + max((column for _, _, column in entries), default=-1)
    B = np.zeros((10 * len(arm.robot.links), 0)) if links is None else np.ascontiguousarray(links)
    return Columns(
        np.array([joint for joint, _, _ in entries], dtype=np.int64),
        np.array([terms.index(term) for _, term, _ in entries], dtype=np.int64),
        np.array([column for _, _, column in entries], dtype=np.int64),
        B,
        count,
        count + B.shape[1],
        _late(entries),
        count + B.shape[1] + 2 * n,
    )


def _late(entries: Sequence[tuple[int, str, int]]) -> int:
    """The column of the one delay of all joints, -1 where there is none or there are several."""
    columns = {column for _, term, column in entries if term == "delay"}
    return columns.pop() if len(columns) == 1 else -1


def divides(delay: Array, columns: Columns | None = None) -> bool:
    """Whether steps are divided where commands arrive: all joints are late alike, by one number.

    Args:
        delay: of each joint, shape (n,), s.
        columns: what derivatives are taken in; None where there are none.
    """
    alike = bool((delay == delay[0]).all())
    if columns is None:
        return alike
    several = len(set(columns.target[columns.term == _DELAY].tolist())) > 1
    return alike and not several


def servo_rollout(
    arm: ServoArm,
    servos: Sequence[Servo],
    command: ServoCommand,
    time: ArrayLike,
    q_start: ArrayLike,
    v_start: ArrayLike,
    *,
    parameters: ArrayLike | None = None,
) -> ServoRun:
    """Simulate an arm from its commands.

    Args:
        arm: the robot and how it is simulated.
        servos: one for each joint.
        command: commanded positions.
        time: when to look, the first time is the start, shape (N,), s.
        q_start: positions at the start, shape (n,), rad or m.
        v_start: velocities at the start, shape (n,), rad/s or m/s.
        parameters: ten of every link, shape (10 nb,), SI; None for those of the description.

    Returns:
        Positions and velocities at the given times.

    Raises:
        InputError: an argument does not fit; names it.
        NoSolutionError: the simulation diverged; says when.
    """
    servo, t, q_0, v_0 = _checked(arm, servos, command, time, q_start, v_start)
    delay = servo[:, _DELAY]
    steps = arm.steps(t, command, delay, divided=divides(delay))
    q, v, _, records = arm.fly(arm.links(parameters), servo, steps, q_0, v_0)
    _refuse_diverged(arm, t, steps, records)
    return ServoRun(t, q, v)


def servo_sensitivities(
    arm: ServoArm,
    servos: Sequence[Servo],
    command: ServoCommand,
    time: ArrayLike,
    q_start: ArrayLike,
    v_start: ArrayLike,
    columns: Columns,
    *,
    parameters: ArrayLike | None = None,
) -> ServoSensitivities:
    """As `servo_rollout`, with the exact derivatives of the simulation.

    Args:
        arm: as there.
        servos: as there.
        command: as there.
        time: as there, shape (N,), s.
        q_start: as there, shape (n,), rad or m.
        v_start: as there, shape (n,), rad/s or m/s.
        columns: what the derivatives are taken in, see `servo_columns`.
        parameters: as there, shape (10 nb,), SI.

    Returns:
        The run and its derivatives in the columns.

    Raises:
        InputError: an argument does not fit; names it.
        NoSolutionError: the simulation diverged; says when.
    """
    servo, t, q_0, v_0 = _checked(arm, servos, command, time, q_start, v_start)
    delay, given = servo[:, _DELAY], arm.links(parameters)
    steps = arm.steps(t, command, delay, divided=divides(delay, columns))
    q, v, track, records = arm.fly(given, servo, steps, q_0, v_0)
    _refuse_diverged(arm, t, steps, records)
    return ServoSensitivities(ServoRun(t, q, v), *arm.follow(given, servo, steps, track, records, columns))


def _checked(
    arm: ServoArm,
    servos: Sequence[Servo],
    command: ServoCommand,
    time: ArrayLike,
    q_start: ArrayLike,
    v_start: ArrayLike,
) -> tuple[Array, Array, Array, Array]:
    n = arm.robot.nv
    if len(servos) != n:
        raise InputError(f"there are {len(servos)}, but '{arm.robot.name}' has {n} joints.", place="servos")
    if command.position.shape[1] != n:
        raise InputError(
            f"has {command.position.shape[1]} columns, but '{arm.robot.name}' has {n} joints.",
            place="command",
        )
    t = checked("time", time, ("N",))
    if len(t) < 2 or not (np.diff(t) > 0.0).all():
        raise InputError("needs two samples or more, each later than the one before.", place="time")
    return servo_numbers(servos), t, checked("q_start", q_start, (n,)), checked("v_start", v_start, (n,))


def _refuse_diverged(arm: ServoArm, time: Array, steps: Steps, records: int) -> None:
    if records >= 0:
        return
    at = float(time[0] + steps.length[: -1 - records].sum())
    raise NoSolutionError(
        f"the simulation of '{arm.robot.name}' diverged at {at:g} s: its state is not finite.",
        place="servo rollout",
        remedy="Check that every link or its servo has inertia, and the command's units.",
        evidence={"time": at},
    )
