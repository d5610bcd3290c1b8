"""Paper 000's Algorithm 2, with what a robot needs around it: plan, drive, learn, and stop when in doubt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.errors import InputError, NoSolutionError
from steelyard.finding import Severity
from steelyard.limits import NotCertifiedError, Scene
from steelyard.online.checked_move import checked_move, refusal
from steelyard.online.dictation import NotingThinker, noted_news
from steelyard.online.escape import News
from steelyard.online.flight import LISTEN, Flight
from steelyard.online.learning import Learning
from steelyard.online.link import Link
from steelyard.online.move import Move
from steelyard.online.noted_move import NotedMove
from steelyard.online.online_run import BROKEN, DONE, STOPPED, OnlineRun, RunRecord
from steelyard.online.onlooker import Onlooker
from steelyard.online.pilot import Pilot
from steelyard.online.script import NotedNews, Script
from steelyard.online.setting import Setting
from steelyard.online.thinker import Thinker
from steelyard.online.tube_acceleration import tube_acceleration
from steelyard.online.watchdog import CHECK, Alarm, Watchdog

PLANS = 4
"""Plans that are driven at most (paper 000, VI-D2)."""
ATTEMPTS = 4
"""Times a plan is looked for from rest."""

WAIT = 3.0
"""How long a robot at rest waits for a plan, s."""
AFTERWARDS = 10.0
"""How long to wait for the last bounds, with the robot on its brakes, s."""


class _Loop:
    """The robot under way and what is learnt of its load."""

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
        self._setting, self._thinker, self._patience = setting, thinker, patience
        errors, around = setting.errors, setting.scene
        self._watchdog = Watchdog(setting.tube, errors.position, errors.velocity, link.cycle)
        pilot, expect = Pilot(link, self._watchdog, onlooker), self._expect
        self.flight = Flight(
            pilot, link.cycle, guard, patience, around, news, onlooker=onlooker, expect=expect
        )
        self.learning = Learning(setting, self.flight, seed)
        self.alarm: Alarm | None = None

    def run(self, start: Array, most_plans: int, *, until_settled: bool) -> str:
        """Drive until the bounds settle, the plans are used up, or something is wrong; how it ended."""
        self._until_settled = until_settled
        self._rests_at = start
        driven = 0
        for _ in range(ATTEMPTS):
            self._thinker.ask(self.learning.question(self._rests_at))
            found = self._answer_at_rest()
            answer = None if self.alarm else self.learning.heard(found)
            if self._broken:
                return BROKEN
            if answer is None or answer.move is None or self.flight.surprised:
                if driven == 0:
                    break
                continue
            ending, count = self._drive(answer.move, most_plans - driven)
            driven += count
            if ending is not None:
                return ending
            if driven >= most_plans:
                break
        return STOPPED

    def finish(self) -> None:
        """Learn what is left to learn from the last cycles, with the robot on its own brakes.

        A stop in a new scene has a tenth of a second to be found and proven in; its proof is checked here.
        """
        for number, scene in self.flight.stops:
            self._check_stop(number, scene)
        if not self._broken and self.flight.moves:
            self._thinker.ask(self.learning.question(None))
            self.learning.heard(self._thinker.answer(None if self._patience is None else AFTERWARDS))
        self.alarm = self.alarm or self.learning.alarm

    def _check_stop(self, number: int, scene: Scene) -> None:
        """Check the proof of a stop that was driven; note what is left, or that it is refused."""
        setting, flight = self._setting.among(scene), self.flight
        driven = flight.moves[number]
        try:
            checked = checked_move(setting, driven.move.move(setting))
        except (NotCertifiedError, InputError) as error:
            self.alarm = self.alarm or Alarm(flight.now, CHECK, refusal(error))
            flight.tell(Severity.ERROR, refusal(error))
            return
        flight.moves[number] = replace(driven, move=NotedMove.of(checked))

    @property
    def _broken(self) -> bool:
        return self.alarm is not None or self.learning.alarm is not None

    def _drive(self, move: Move, most_plans: int) -> tuple[str | None, int]:
        """Drive plan after plan from a standstill; how it ended, None for a stop after which to try again."""
        flight, learning = self.flight, self.learning
        for count in range(1, most_plans + 1):
            if count < most_plans:
                self._thinker.ask(learning.question(move.plan))
            ended = flight.follow(move, 0, move.switch_cycle)
            if ended is not None:
                return self._stopped(ended), count
            answer = None
            if count < most_plans and not flight.surprised:
                answer = learning.heard(self._thinker.answer(self._patience))
            settled = self._until_settled and answer is not None and learning.settled
            if answer is not None and answer.move is not None and not settled:
                move = answer.move
                continue
            # A new scene may have been judged beyond the switch.
            reached = flight.moves[-1].offset + flight.moves[-1].cycles
            ended = flight.follow(move, reached, len(move.reference.q))
            if ended is not None:
                return self._stopped(ended), count
            self._rests_at = move.reference.q[-1]
            if settled:
                flight.tell(Severity.INFO, "The bounds have stopped shrinking.")
            done = settled or count == most_plans
            return (BROKEN if self._broken else DONE if done else None), count
        raise AssertionError("the last plan is driven to its stop")

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

    def _expect(self, move: Move) -> None:
        """Tell everybody how much a move accelerates."""
        setting = self._setting
        most = tube_acceleration(
            move.certificate,
            setting.arm.robot,
            plan=move.plan.motion,
            lag=setting.cycle,
            errors=setting.errors,
        )
        self.learning.acceleration = np.maximum(self.learning.acceleration, most)
        self._watchdog.expect(self.learning.acceleration)


def run_online(
    setting: Setting,
    link: Link,
    thinker: Thinker,
    start: ArrayLike,
    *,
    guard: Thinker,
    most_plans: int = PLANS,
    patience: float | None = None,
    until_settled: bool = True,
    seed: int = 0,
    news: News | None = None,
    onlooker: Onlooker | None = None,
) -> OnlineRun:
    """Learn what a robot holds while it moves safely.

    Plans are driven to where the next takes over; each was proven, with its stop, for the law that drives it
    and all that robot and load can be, and its proof was checked by other means before it was handed over.
    Where no next plan comes in time, the stop is driven. The data of one plan is absorbed while the next is
    driven, and law and plan change together.

    Args:
        setting: what was decided before.
        link: the robot, at rest.
        thinker: what plans and identifies; it should have thought once before, so that nothing compiles now.
        start: where the robot stands, shape (nv,), rad or m.
        guard: what judges scenes that change.
        most_plans: plans that are driven at most.
        patience: how long to wait for an answer at a change of plans, s; None for as long as it takes, for a
            robot whose clock stands still meanwhile.
        until_settled: whether to end when the bounds stop shrinking (V-C); else all plans are driven.
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
        outcome = loop.run(q, most_plans, until_settled=until_settled)
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
            remedy="Try a lighter load (--heaviest), a shorter --reach, another --start or more --budget.",
        )
    said = tuple(thinking.notes), tuple(guarding.notes), tuple(heard)
    record = RunRecord(
        setting,
        Script(q, most_plans, patience, until_settled, *said),
        tuple(flight.moves),
        tuple(loop.learning.knowledge),
        tuple(flight.events),
        outcome if loop.alarm is None else BROKEN,
        loop.alarm,
    )
    return OnlineRun(record, flight.pilot.log())
