"""Driving a move while the world may change: cycles in short stretches, with an ear for news between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from steelyard.finding import Severity
from steelyard.limits import Scene
from steelyard.motion import MotionSample
from steelyard.online.escape import Escape, News, Threat
from steelyard.online.journal import DrivenMove, Event
from steelyard.online.move import Move
from steelyard.online.noted_move import NotedMove
from steelyard.online.onlooker import Onlooker
from steelyard.online.pilot import Pilot
from steelyard.online.thinker import Thinker
from steelyard.online.watchdog import Alarm

LISTEN = 20
"""Cycles between two questions for news."""
REACTION = 0.1
"""Time to judge a new scene, during which the plan is driven on, s."""


@dataclass(eq=False)
class Flight:
    """A robot under way.

    Attributes:
        pilot: what drives it.
        cycle: length of a control cycle, s.
        guard: what judges new scenes.
        patience: how long to wait for that, s; None for as long as it takes.
        scene: what stands around the robot, as far as is known.
        news: where new scenes come from.
        moves: what was driven.
        events: what happened.
        stops: which moves were begun in a new scene, and that scene.
        surprised: whether the scene is new since the last plan was asked for.
        onlooker: who is told of events; None for nobody.
        expect: told of every move before it is driven; None for nobody.
    """

    pilot: Pilot
    cycle: float
    guard: Thinker
    patience: float | None
    scene: Scene
    news: News | None = None
    moves: list[DrivenMove] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    stops: list[tuple[int, Scene]] = field(default_factory=list)
    surprised: bool = False
    onlooker: Onlooker | None = None
    expect: Callable[[Move], None] | None = None

    @property
    def now(self) -> float:
        """The time, s."""
        return self.pilot.cycles * self.cycle

    def tell(self, severity: Severity, sentence: str) -> None:
        """Write down what happened.

        Args:
            severity: how bad it is.
            sentence: what happened.
        """
        self.events.append(Event(self.now, severity, sentence))
        if self.onlooker is not None:
            self.onlooker.happened(self.events[-1])

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
        begin, memory, k = self.pilot.cycles, np.array(move.law.memory), first
        while k < last:
            upto = min(k + LISTEN, last)
            alarm = self.pilot.drive(move.law, memory, move.reference, k, upto)
            if alarm is not None:
                self._note(move, begin, first)
                self.tell(Severity.ERROR, f"{alarm.sentence} The robot's own brakes stop it.")
                return alarm
            k = upto
            scene = None if self.news is None else self.news(self.now)
            if scene is None:
                continue
            self.scene, self.surprised = scene, True
            reply = self._judged(move, scene, k)
            if isinstance(reply, Alarm):
                self._note(move, begin, first)
                return reply
            ahead, way = reply
            k += ahead
            if not way.goes_on:
                self._note(move, begin, first)
                return self._swerve(way)
            last = max(last, k)  # what was driven while the scene was judged
        self._note(move, begin, first, stopped=last >= len(move.reference.q))
        return None

    def hold(self, move: Move, cycles: int) -> Alarm | None:
        """Stay where a move has ended; its proof holds there for as long as one likes.

        Args:
            move: the move.
            cycles: how many.

        Returns:
            What was found wrong, or None.
        """
        scene = None if self.news is None else self.news(self.now)
        if scene is not None:
            # At rest nothing can be avoided; what is planned from here on is planned in the new scene.
            self.scene, self.surprised = scene, True
        way = move.reference
        end = MotionSample(*(np.repeat(x[-1:], cycles, axis=0) for x in (way.q, way.v, way.a)))
        alarm = self.pilot.drive(move.law, np.array(move.law.memory), end, 0, cycles)
        if alarm is not None:
            self.tell(Severity.ERROR, f"{alarm.sentence} The robot's own brakes stop it.")
        return alarm

    def _prepare(self, move: Move) -> None:
        if self.expect is not None:
            self.expect(move)

    def _note(self, move: Move, begin: int, offset: int, *, stopped: bool = False) -> None:
        self.moves.append(DrivenMove(NotedMove.of(move), begin, self.pilot.cycles - begin, offset, stopped))

    def _judged(self, move: Move, scene: Scene, k: int) -> Alarm | tuple[int, Escape]:
        """Drive on for the time it takes to judge a scene; how many cycles that were, and the judgement."""
        then = min(k + round(REACTION / self.cycle), len(move.reference.q) - 1)
        # What is left of a stop has no length at its end.
        end = move.plan.motion.duration
        since = min(k * self.cycle, end - 2.0 * self.cycle)
        instant = min(max(then * self.cycle, since + self.cycle), end - self.cycle)
        self.guard.ask(Threat(scene, move.plan, since, instant, move.load))
        alarm = self.pilot.drive(move.law, np.array(move.law.memory), move.reference, k, then)
        if alarm is not None:
            self.tell(Severity.ERROR, f"{alarm.sentence} The robot's own brakes stop it.")
            return alarm
        found = self.guard.answer(self.patience)
        if isinstance(found, Escape):
            if found.goes_on:
                self.tell(Severity.WARNING, "The scene is new; the rest of the plan is proven in it.")
            return then - k, found
        return then - k, Escape(goes_on=False, stop=None, reason="nobody judged the new scene in time.")

    def _swerve(self, way: Escape) -> Alarm | Move:
        """Drive the stop that is proven in a new scene; the robot's own brakes where there is none."""
        if way.stop is None:
            what = f"The scene was reported too late: {way.reason}"
            self.tell(Severity.ERROR, f"{what} The robot's own brakes stop it.")
            self.pilot.brake()
            return Alarm(self.now, "scene", what)
        self.tell(Severity.WARNING, f"The scene is new: {way.reason} A proven stop is driven instead.")
        self.stops.append((len(self.moves), self.scene))
        ended = self.follow(way.stop, 0, len(way.stop.reference.q))
        return way.stop if ended is None else ended
