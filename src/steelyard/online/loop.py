"""Paper 000's Algorithm 2, with what a robot needs around it: plan, drive, learn, and stop when in doubt."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.errors import NoSolutionError
from steelyard.finding import Severity
from steelyard.motion import RecedingPlan
from steelyard.online.dictation import NotingThinker, noted_news
from steelyard.online.escape import News
from steelyard.online.flight import LISTEN, Flight
from steelyard.online.journal import Known
from steelyard.online.link import Link
from steelyard.online.mind import Answer, Question
from steelyard.online.move import Move
from steelyard.online.online_run import BROKEN, DONE, STOPPED, OnlineRun, RunRecord
from steelyard.online.onlooker import Onlooker
from steelyard.online.pilot import Pilot
from steelyard.online.script import NotedNews, Script
from steelyard.online.setting import Setting
from steelyard.online.thinker import Thinker
from steelyard.online.tube_acceleration import tube_acceleration
from steelyard.online.watchdog import Alarm, Watchdog
from steelyard.uncertainty import RecursiveBounds

PLANS = 4
"""Plans that are driven at most (paper 000, VI-D2)."""
SETTLED = 0.02
"""Share by which some interval must have shrunk for another plan to be worth driving."""
ATTEMPTS = 3
"""Times a plan is looked for from rest after the robot had to stop."""

WAIT = 3.0
"""How long a robot at rest waits for a plan, s."""
AFTERWARDS = 10.0
"""How long to wait for the last bounds, with the robot on its brakes, s."""


class _Loop:
    def __init__(
        self,
        setting: Setting,
        link: Link,
        thinker: Thinker,
        guard: Thinker,
        patience: float | None,
        seed: int,
        news: News | None,
        onlooker: Onlooker | None,
    ) -> None:
        errors, nv = setting.errors, setting.arm.robot.nv
        self._most_acceleration = np.zeros(nv)
        self._watchdog = Watchdog(setting.tube, errors.position, errors.velocity, link.cycle)
        pilot = Pilot(link, self._watchdog, onlooker)
        self.flight = Flight(
            pilot,
            link.cycle,
            guard,
            patience,
            setting.scene,
            news,
            onlooker=onlooker,
            expect=self._accelerates,
        )
        self._setting, self._thinker = setting, thinker
        self._patience, self._seed = patience, seed
        self._known = RecursiveBounds.starting(setting.prior, setting.arm.spread)
        self._absorbed, self._asked_upto = 0, 0
        self.knowledge: list[Known] = []
        self._learn(Known(0.0, setting.prior, 0))
        self.alarm: Alarm | None = None

    def run(self, start: Array, most_plans: int) -> str:
        """Drive until the bounds settle, the plans are used up, or something is wrong; how it ended."""
        at: Array = start
        driven, attempts = 0, 0
        while True:
            self._ask(at)
            answer = self._heard(self._answer_at_rest())
            if self.alarm is not None:
                return BROKEN
            if answer is None or answer.move is None or self.flight.surprised:
                attempts += 1
                if attempts >= ATTEMPTS or driven == 0:
                    return STOPPED
                continue
            ending, count = self._drive(answer.move, most_plans - driven)
            driven += count
            if ending is not None:
                return ending
            if attempts >= ATTEMPTS or driven >= most_plans:
                return STOPPED
            attempts += 1
            at = self._rests_at

    def _drive(self, move: Move, most_plans: int) -> tuple[str | None, int]:
        """Drive plan after plan from a standstill; how it ended, None for a stop after which to try again."""
        flight = self.flight
        for count in range(1, most_plans + 1):
            if count < most_plans:
                self._ask(move.plan)
            ended = flight.follow(move, 0, move.switch_cycle)
            if ended is not None:
                return self._stopped(ended), count
            answer = None
            if count < most_plans and not flight.surprised:
                answer = self._heard(self._thinker.answer(self._patience))
            settled = answer is not None and self._settled()
            if answer is None or answer.move is None or settled:
                last = flight.moves[-1].offset + flight.moves[-1].cycles
                ended = flight.follow(move, last, len(move.reference.q))
                if ended is not None:
                    return self._stopped(ended), count
                self._rests_at = move.reference.q[-1]
                if self.alarm is not None:
                    return BROKEN, count
                if settled:
                    flight.tell(Severity.INFO, "The bounds have stopped shrinking.")
                return (DONE if settled or count == most_plans else None), count
            move = answer.move
        raise AssertionError("the last plan is braked")

    def _answer_at_rest(self) -> object:
        """What the thinker says, while the robot is held where it stopped."""
        if self._patience is None or not self.flight.moves:
            return self._thinker.answer(None)
        held = self.flight.moves[-1].move.move(self._setting)
        for _ in range(round(WAIT / (LISTEN * self.flight.cycle))):
            self.alarm = self.flight.hold(held, LISTEN)
            if self.alarm is not None:
                return None
            found = self._thinker.answer(0.0)
            if found is not None:
                return found
        return None

    def _stopped(self, ended: Alarm | Move) -> str | None:
        if isinstance(ended, Alarm):
            self.alarm = ended
            return BROKEN
        self._rests_at = ended.reference.q[-1]
        return None

    def _accelerates(self, move: Move) -> None:
        setting = self._setting
        most = tube_acceleration(
            move.certificate,
            setting.arm.robot,
            plan=move.plan.motion,
            lag=setting.cycle,
            errors=setting.errors,
        )
        self._most_acceleration = np.maximum(self._most_acceleration, most)
        self._watchdog.expect(self._most_acceleration)

    def _ask(self, start: Array | RecedingPlan | None) -> None:
        pilot, log = self.flight.pilot, None
        # Whole windows only: what is left over belongs to the next one.
        window = round(self._setting.window / self.flight.cycle)
        whole = (pilot.cycles - 2 - self._absorbed) // window * window
        if whole > 0:
            log = pilot.recording(self._absorbed, self._absorbed + whole + 1)
        self._asked_upto = self._absorbed + max(whole, 0)
        self._seed += 1
        self.flight.surprised = False
        known, a = self._known, self._most_acceleration
        scene = None if self.flight.scene is self._setting.scene else self.flight.scene
        self._thinker.ask(Question(known, log, a, start, scene, self._seed))

    def _heard(self, answer: object) -> Answer | None:
        """Take up what was learnt; None where nothing was heard."""
        flight = self.flight
        if not isinstance(answer, Answer):
            if self.alarm is None:
                resting = not flight.moves or flight.moves[-1].stopped
                then = "stays at rest" if resting else "stops as it was proven to"
                flight.tell(Severity.ERROR, f"No answer came in time; the robot {then}.")
            return None
        if answer.knowledge is None:
            self.alarm = Alarm(flight.now, "contradiction", answer.reason)
            flight.tell(Severity.ERROR, f"No load explains the data: {answer.reason}")
            return None
        self._known, self._absorbed = answer.knowledge, self._asked_upto
        seconds = answer.bounds_seconds, answer.plan_seconds
        self._learn(Known(flight.now, self._known.box, self._known.seen, *seconds))
        if answer.move is None and answer.reason:
            flight.tell(Severity.WARNING, f"No plan was proven: {answer.reason}")
        return answer

    def _learn(self, known: Known) -> None:
        self.knowledge.append(known)
        if self.flight.onlooker is not None:
            self.flight.onlooker.learned(known)

    def _settled(self) -> bool:
        """Whether the last data has narrowed no interval any more."""
        before, after = self.knowledge[-2], self.knowledge[-1]
        if after.rows == before.rows:
            return False
        widths = np.maximum(before.box.spread, 1e-300)
        return bool((after.box.spread > (1.0 - SETTLED) * widths).all())

    def finish(self) -> None:
        """Learn what is left to learn from the last cycles, with the robot on its own brakes."""
        if self.alarm is None and self.flight.moves:
            self._ask(None)
            self._heard(self._thinker.answer(None if self._patience is None else AFTERWARDS))


def run_online(
    setting: Setting,
    link: Link,
    thinker: Thinker,
    start: ArrayLike,
    *,
    guard: Thinker,
    most_plans: int = PLANS,
    patience: float | None = None,
    seed: int = 0,
    news: News | None = None,
    onlooker: Onlooker | None = None,
) -> OnlineRun:
    """Learn what a robot holds while it moves safely.

    Plans are driven to where the next takes over; each was proven, with its stop, for the law that drives it
    and all that robot and load can be. Where no next plan comes in time, the stop is driven. The data of one
    plan is absorbed while the next is driven, and law and plan change together.

    Args:
        setting: what was decided before.
        link: the robot, at rest.
        thinker: what plans and identifies; it should have thought once before, so that nothing compiles now.
        start: where the robot stands, shape (nv,), rad or m.
        guard: what judges scenes that change.
        most_plans: plans that are driven at most.
        patience: how long to wait for an answer at a change of plans, s; None for as long as it takes, for a
            robot whose clock stands still meanwhile.
        seed: of the searches.
        news: where new scenes come from.
        onlooker: who is told of everything, such as a live view.

    Returns:
        The run, whatever its end.

    Raises:
        NoSolutionError: no first plan was proven; the robot did not move.
    """
    q = checked("start", start, (setting.arm.robot.nv,))
    thinking, guarding, heard = NotingThinker(thinker), NotingThinker(guard), list[NotedNews]()
    listened = noted_news(news, heard)
    loop = _Loop(setting, link, thinking, guarding, patience, seed, listened, onlooker)
    try:
        outcome = loop.run(q, most_plans)
    finally:
        # Whatever happens on the way, an interruption included, the robot is not left to itself.
        link.stop()
    loop.finish()
    flight = loop.flight
    if not flight.moves:
        what = flight.events[-1].sentence if flight.events else "nothing was driven."
        raise NoSolutionError(
            f"the robot did not move. {what}",
            place="online",
            remedy="Allow more time for the first plan, a shorter reach, or a narrower prior.",
        )
    said = tuple(thinking.notes), tuple(guarding.notes), tuple(heard)
    record = RunRecord(
        setting,
        Script(q, most_plans, patience, *said),
        tuple(flight.moves),
        tuple(loop.knowledge),
        tuple(flight.events),
        outcome if loop.alarm is None else BROKEN,
        loop.alarm,
    )
    return OnlineRun(record, flight.pilot.log())
