"""The fast side of the loop: drives a plan cycle by cycle, watched, and ready for a change of the scene."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from steelyard.arrays import Array, read_only_view
from steelyard.control import Controller
from steelyard.finding import Severity
from steelyard.limits import Scene
from steelyard.motion import MotionSample
from steelyard.recording import Recording
from steelyard.safe_learning.driver import JointReading, RobotDriver
from steelyard.safe_learning.messages import Move
from steelyard.safe_learning.obstacle_response import SceneChange, SceneResponse, SceneSource
from steelyard.safe_learning.run_log import Cycles, DrivenMove, Event, Known, MoveRecord
from steelyard.safe_learning.watchdog import Alarm, Watchdog
from steelyard.safe_learning.worker import Worker

# What a live view or another observer of a run implements


class RunObserver(Protocol):
    """Callbacks from the thread that drives the robot; each must return within microseconds."""

    def cycle(self, reading: JointReading, q_ref: Array, v_ref: Array, tau: Array) -> None:
        """A cycle was driven.

        Args:
            reading: what the robot said.
            q_ref: where it should be, shape (nv,), rad or m.
            v_ref: how fast, shape (nv,), rad/s or m/s.
            tau: what was sent, shape (nv,), N·m or N.
        """
        ...

    def learned(self, known: Known) -> None:
        """Bounds are known.

        Args:
            known: what is known from now on.
        """
        ...

    def happened(self, event: Event) -> None:
        """Something happened."""
        ...


# One control cycle after the other: read, watch, compute the torque, send it, log it


class _Row(NamedTuple):
    q_ref: Array
    v_ref: Array
    a_ref: Array
    command: Array


class ControlLoop:
    """Drives a robot along references under a law, and keeps the log.

    Args:
        link: the robot.
        watchdog: what looks at every reading.
        observer: called at every cycle; None for no callback.
    """

    def __init__(self, link: RobotDriver, watchdog: Watchdog, observer: RunObserver | None = None) -> None:
        self._link, self._watchdog, self._observer = link, watchdog, observer
        self._readings: list[JointReading] = []
        self._rows: list[_Row] = []

    @property
    def cycles(self) -> int:
        """How many torques were sent so far."""
        return len(self._rows)

    def drive(
        self, law: Controller, memory: Array, reference: MotionSample, first: int, last: int
    ) -> Alarm | None:
        """Follow some cycles of a reference.

        Args:
            law: what computes the torques.
            memory: its state, updated in place, shape (m,), SI.
            reference: at every cycle, q, v and a of shape (N, nv), SI.
            first: first row of it to follow.
            last: one past the last.

        Returns:
            What was wrong; the robot's own brakes were asked to stop it then. None where all is well.
        """
        link, step, watch = self._link, law.step, self._watchdog
        model = (law.tree, law.numbers, read_only_view(law.gains), memory)
        q_ref, v_ref, a_ref = (read_only_view(x) for x in (reference.q, reference.v, reference.a))
        for k in range(first, last):
            reading = link.read()
            self._readings.append(reading)
            want = q_ref[k], v_ref[k], a_ref[k]
            alarm = watch.alarm(reading, want[0], want[1])
            if alarm is not None:
                link.stop()
                return alarm
            tau = np.empty(len(reading.q))
            step(*model, read_only_view(reading.q), read_only_view(reading.v), *want, tau)
            link.send(tau)
            self._rows.append(_Row(*want, tau))
            if self._observer is not None:
                self._observer.cycle(reading, want[0], want[1], tau)
        return None

    def brake(self) -> None:
        """Let the robot's own brakes stop it."""
        self._link.stop()

    def recording(self, first: int = 0, last: int | None = None) -> Recording:
        """What was read, from one cycle to another; a row's torque is the one measured over its own cycle.

        Args:
            first: first cycle.
            last: one past the last; None for all whose torque has been read.

        Returns:
            The recording, with references.
        """
        end = self.cycles - 1 if last is None else min(last, self.cycles - 1)
        log = self.log(first, end + 1)
        n = end - first
        parts = {name: getattr(log, name)[:n] for name in ("q_ref", "v_ref", "a_ref")}
        return Recording(self._link.joints, log.time[:n], q=log.q[:n], v=log.v[:n], tau=log.tau[1:], **parts)

    def log(self, first: int = 0, last: int | None = None) -> Cycles:
        """All that went over the link.

        Args:
            first: first cycle.
            last: one past the last; None for all, and a last reading that was not answered.
        """
        readings, rows = self._readings[first:last], self._rows[first:last]
        nv = len(self._link.joints)
        columns = [np.array(column).reshape(len(rows), nv) for column in zip(*rows, strict=True)]
        time, *states = (np.array(column) for column in zip(*readings, strict=True))
        return Cycles(time, *states, *(columns or [np.empty((0, nv))] * 4))


# Driving a plan while the scene may change: the scene is asked for every few cycles

SCENE_INTERVAL = 20
"""Cycles between two looks at the scene."""
REACTION = 0.1
"""Time to judge a new scene, during which the plan is driven on, s."""


@dataclass(eq=False)
class PlanExecutor:
    """Drives moves cycle by cycle, and stops on a proven path where the scene changes.

    Attributes:
        control_loop: reads the robot and sends torques.
        cycle: length of a control cycle, s.
        guard: what judges new scenes.
        patience: how long to wait for that, s; None for as long as it takes.
        scene: what stands around the robot, as far as is known.
        scene_source: asked for new scenes; None where the scene stays.
        moves: what was driven.
        events: what happened.
        stops: which moves were begun in a new scene, and that scene.
        scene_changed: whether the scene changed since the last plan was asked for.
        observer: called at every event; None for no callback.
        expect: called with every move before it is driven; None for no callback.
    """

    control_loop: ControlLoop
    cycle: float
    guard: Worker
    patience: float | None
    scene: Scene
    scene_source: SceneSource | None = None
    moves: list[DrivenMove] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    stops: list[tuple[int, Scene]] = field(default_factory=list)
    scene_changed: bool = False
    observer: RunObserver | None = None
    expect: Callable[[Move], None] | None = None

    @property
    def now(self) -> float:
        """The time, s."""
        return self.control_loop.cycles * self.cycle

    def tell(self, severity: Severity, sentence: str) -> None:
        """Write down what happened.

        Args:
            severity: how bad it is.
            sentence: what happened.
        """
        self.events.append(Event(self.now, severity, sentence))
        if self.observer is not None:
            self.observer.happened(self.events[-1])

    def follow(self, move: Move, first: int, last: int) -> Alarm | Move | None:
        """Drive some cycles of a move.

        Args:
            move: the move.
            first: first of its cycles.
            last: one past the last.

        Returns:
            None where they were driven; what was found wrong, after which the robot's own brakes hold; or the
            stop that was begun in place of the rest, driven to its end.
        """
        self._prepare(move)
        begin, memory, k = self.control_loop.cycles, np.array(move.law.memory), first
        while k < last:
            upto = min(k + SCENE_INTERVAL, last)
            alarm = self.control_loop.drive(move.law, memory, move.reference, k, upto)
            if alarm is not None:
                self._log_move(move, begin, first)
                self.tell(Severity.ERROR, f"{alarm.sentence} The robot's own brakes stop it.")
                return alarm
            k = upto
            scene = None if self.scene_source is None else self.scene_source(self.now)
            if scene is None:
                continue
            self.scene, self.scene_changed = scene, True
            reply = self._judged(move, scene, k)
            if isinstance(reply, Alarm):
                self._log_move(move, begin, first)
                return reply
            ahead, way = reply
            k += ahead
            if not way.goes_on:
                self._log_move(move, begin, first)
                return self._drive_stop(way)
            last = max(last, k)  # what was driven while the scene was judged
        self._log_move(move, begin, first, stopped=last >= len(move.reference.q))
        return None

    def hold(self, move: Move, cycles: int) -> Alarm | None:
        """Stay where a move has ended; its proof holds there for as long as one likes.

        Args:
            move: the move.
            cycles: how many.

        Returns:
            What was found wrong, or None.
        """
        scene = None if self.scene_source is None else self.scene_source(self.now)
        if scene is not None:
            # At rest nothing can be avoided; what is planned from here on is planned in the new scene.
            self.scene, self.scene_changed = scene, True
        way = move.reference
        end = MotionSample(*(np.repeat(x[-1:], cycles, axis=0) for x in (way.q, way.v, way.a)))
        alarm = self.control_loop.drive(move.law, np.array(move.law.memory), end, 0, cycles)
        if alarm is not None:
            self.tell(Severity.ERROR, f"{alarm.sentence} The robot's own brakes stop it.")
        return alarm

    def _prepare(self, move: Move) -> None:
        if self.expect is not None:
            self.expect(move)

    def _log_move(self, move: Move, begin: int, offset: int, *, stopped: bool = False) -> None:
        self.moves.append(
            DrivenMove(MoveRecord.of(move), begin, self.control_loop.cycles - begin, offset, stopped)
        )

    def _judged(self, move: Move, scene: Scene, k: int) -> Alarm | tuple[int, SceneResponse]:
        """Drive on for the time it takes to judge a scene; how many cycles that were, and the judgement."""
        then = min(k + round(REACTION / self.cycle), len(move.reference.q) - 1)
        # What is left of a stop has no length at its end.
        end = move.plan.motion.duration
        since = min(k * self.cycle, end - 2.0 * self.cycle)
        instant = min(max(then * self.cycle, since + self.cycle), end - self.cycle)
        self.guard.ask(SceneChange(scene, move.plan, since, instant, move.load))
        alarm = self.control_loop.drive(move.law, np.array(move.law.memory), move.reference, k, then)
        if alarm is not None:
            self.tell(Severity.ERROR, f"{alarm.sentence} The robot's own brakes stop it.")
            return alarm
        found = self.guard.answer(self.patience)
        if isinstance(found, SceneResponse):
            if found.goes_on:
                self.tell(Severity.WARNING, "The scene is new; the rest of the plan is proven in it.")
            return then - k, found
        return then - k, SceneResponse(
            goes_on=False, stop=None, reason="nobody judged the new scene in time."
        )

    def _drive_stop(self, way: SceneResponse) -> Alarm | Move:
        """Drive the stop that is proven in a new scene; the robot's own brakes where there is none."""
        if way.stop is None:
            what = f"The scene was reported too late: {way.reason}"
            self.tell(Severity.ERROR, f"{what} The robot's own brakes stop it.")
            self.control_loop.brake()
            return Alarm(self.now, "scene", what)
        self.tell(Severity.WARNING, f"The scene is new: {way.reason} A proven stop is driven instead.")
        self.stops.append((len(self.moves), self.scene))
        ended = self.follow(way.stop, 0, len(way.stop.reference.q))
        return way.stop if ended is None else ended
