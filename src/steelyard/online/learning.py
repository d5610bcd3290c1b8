"""Questions to the slow side and what its answers teach: the loop's memory of the load."""

from __future__ import annotations

import math

import numpy as np

from steelyard.arrays import Array
from steelyard.finding import Severity
from steelyard.motion import RecedingPlan
from steelyard.online.flight import Flight
from steelyard.online.journal import Known
from steelyard.online.question import Answer, Question
from steelyard.online.setting import Setting
from steelyard.online.watchdog import CHECK, Alarm
from steelyard.recording import Recording
from steelyard.uncertainty import RecursiveBounds

SETTLED = 0.02
"""Share by which some interval must have shrunk for another plan to be worth driving."""


class Learning:
    """What is known of the load, and how much of the log it rests on.

    Args:
        setting: what was decided before.
        flight: the robot under way.
        seed: of the first search.
    """

    def __init__(self, setting: Setting, flight: Flight, seed: int) -> None:
        self._setting, self._flight, self._seed = setting, flight, seed
        self._known = RecursiveBounds.starting(setting.prior, setting.arm.spread)
        self._absorbed, self._asked_upto = 0, 0
        self.acceleration = np.zeros(setting.arm.robot.nv)
        """What no joint has exceeded so far, shape (nv,), rad/s² or m/s²."""
        self.knowledge: list[Known] = []
        """What was known, in order."""
        self.alarm: Alarm | None = None
        """That no load explains the data, or that a proof was refused; None where neither is so."""
        self._learn(Known(0.0, setting.prior, 0))

    def question(self, start: Array | RecedingPlan | None) -> Question:
        """What to ask now.

        Args:
            start: where the robot stands, shape (nv,), rad or m, or the plan that is driven; None where no
                plan is wanted.

        Returns:
            The question.
        """
        self._seed += 1
        flight = self._flight
        flight.surprised = False
        scene = None if flight.scene is self._setting.scene else flight.scene
        return Question(self._known, self._unread(), self.acceleration, start, scene, self._seed)

    def heard(self, answer: object) -> Answer | None:
        """Take up what an answer teaches.

        Args:
            answer: what the thinker said.

        Returns:
            The answer; None where there is none to go on with.
        """
        flight = self._flight
        if not isinstance(answer, Answer):
            resting = not flight.moves or flight.moves[-1].stopped
            then = "stays at rest" if resting else "stops as it was proven to"
            flight.tell(Severity.ERROR, f"No answer came in time; the robot {then}.")
            return None
        if answer.knowledge is None:
            self.alarm = Alarm(flight.now, "contradiction", answer.reason)
            flight.tell(Severity.ERROR, f"No load explains the data: {answer.reason}")
            return None
        self._known, self._absorbed = answer.knowledge, self._asked_upto
        seconds = answer.bounds_seconds, answer.plan_seconds, answer.check_seconds
        self._learn(Known(flight.now, self._known.box, self._known.seen, *seconds))
        if answer.refuted:
            self.alarm = Alarm(flight.now, CHECK, answer.reason)
            flight.tell(Severity.ERROR, answer.reason)
            return None
        if answer.move is None and answer.reason:
            flight.tell(Severity.WARNING, f"No plan was proven: {answer.reason}")
        return answer

    @property
    def settled(self) -> bool:
        """Whether the last data has narrowed no interval any more."""
        before, after = self.knowledge[-2], self.knowledge[-1]
        if after.rows == before.rows:
            return False
        widths = np.maximum(before.box.spread, 1e-300)
        return bool((after.box.spread > (1.0 - SETTLED) * widths).all())

    def _unread(self) -> Recording | None:
        """The part of the log that has not been absorbed, in whole windows; the rest is for next time.

        A torque that may be early or late needs that much of the log on both sides.
        """
        pilot, cycle = self._flight.pilot, self._flight.cycle
        window, aside = round(self._setting.window / cycle), math.ceil(self._setting.errors.delay / cycle)
        begin = max(self._absorbed, aside)
        whole = (pilot.cycles - 2 - aside - begin) // window * window
        if whole <= 0:
            self._asked_upto = self._absorbed
            return None
        self._asked_upto = begin + whole
        return pilot.recording(begin - aside, begin + whole + aside + 1)

    def _learn(self, known: Known) -> None:
        self.knowledge.append(known)
        if self._flight.onlooker is not None:
            self._flight.onlooker.learned(known)
