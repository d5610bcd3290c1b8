"""Algorithm 2 of Zhang et al. (2025), made fit for a robot: plan, drive, learn, and stop when in doubt."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.errors import InputError, NoSolutionError
from steelyard.finding import Severity
from steelyard.limits import NotCertifiedError, Scene
from steelyard.motion import RecedingPlan
from steelyard.recording import Recording
from steelyard.safe_learning.config import SafeLearningConfig
from steelyard.safe_learning.driver import RobotDriver
from steelyard.safe_learning.executor import SCENE_INTERVAL, ControlLoop, PlanExecutor, RunObserver
from steelyard.safe_learning.messages import Move, PlanReply, PlanRequest
from steelyard.safe_learning.obstacle_response import SceneSource
from steelyard.safe_learning.planning.delay_bounds import tube_acceleration
from steelyard.safe_learning.replanner import checked_move, refusal
from steelyard.safe_learning.run_log import (
    BROKEN,
    DONE,
    STOPPED,
    InputLog,
    Known,
    MoveRecord,
    OnlineRun,
    RecordingWorker,
    RunRecord,
    SceneRecord,
    recorded_changes,
)
from steelyard.safe_learning.watchdog import CHECK, Alarm, Watchdog
from steelyard.safe_learning.worker import Worker
from steelyard.uncertainty import RecursiveBounds

# What is known of the load: requests to the slow side, and what its replies add

SETTLED = 0.02
"""Share by which some interval must have shrunk for another plan to be worth driving."""


class Learning:
    """What is known of the load, and how much of the log it rests on.

    Args:
        setting: what was decided before.
        executor: drives the robot and keeps its log.
        seed: of the first search.
    """

    def __init__(self, setting: SafeLearningConfig, executor: PlanExecutor, seed: int) -> None:
        self._setting, self._executor, self._seed = setting, executor, seed
        self._known = RecursiveBounds.starting(setting.prior, setting.arm.spread)
        self._absorbed, self._asked_upto = 0, 0
        self.acceleration = np.zeros(setting.arm.robot.nv)
        """What no joint has exceeded so far, shape (nv,), rad/s² or m/s²."""
        self.knowledge: list[Known] = []
        """What was known, in order."""
        self.alarm: Alarm | None = None
        """That no load explains the data, or that a proof was refused; None where neither is so."""
        self._learn(Known(0.0, setting.prior, 0))

    def question(self, start: Array | RecedingPlan | None) -> PlanRequest:
        """The next request, with the part of the log that was not used yet.

        Args:
            start: where the robot stands, shape (nv,), rad or m, or the plan that is driven; None where no
                plan is wanted.
        """
        self._seed += 1
        executor = self._executor
        executor.scene_changed = False
        scene = None if executor.scene is self._setting.scene else executor.scene
        return PlanRequest(self._known, self._unread(), self.acceleration, start, scene, self._seed)

    def absorb(self, answer: object) -> PlanReply | None:
        """Take over the bounds of a reply, and raise the alarm where it contradicts the data.

        Args:
            answer: the worker's reply.

        Returns:
            The reply; None where there is none to go on with.
        """
        executor = self._executor
        if not isinstance(answer, PlanReply):
            resting = not executor.moves or executor.moves[-1].stopped
            then = "stays at rest" if resting else "stops as it was proven to"
            executor.tell(Severity.ERROR, f"No answer came in time; the robot {then}.")
            return None
        if answer.knowledge is None:
            self.alarm = Alarm(executor.now, "contradiction", answer.reason)
            executor.tell(Severity.ERROR, f"No load explains the data: {answer.reason}")
            return None
        self._known, self._absorbed = answer.knowledge, self._asked_upto
        seconds = answer.bounds_seconds, answer.plan_seconds, answer.check_seconds
        self._learn(Known(executor.now, self._known.box, self._known.seen, *seconds))
        if answer.refuted:
            self.alarm = Alarm(executor.now, CHECK, answer.reason)
            executor.tell(Severity.ERROR, answer.reason)
            return None
        if answer.move is None and answer.reason:
            executor.tell(Severity.WARNING, f"No plan was proven: {answer.reason}")
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
        control, cycle = self._executor.control_loop, self._executor.cycle
        window, aside = round(self._setting.window / cycle), math.ceil(self._setting.errors.delay / cycle)
        begin = max(self._absorbed, aside)
        whole = (control.cycles - 2 - aside - begin) // window * window
        if whole <= 0:
            self._asked_upto = self._absorbed
            return None
        self._asked_upto = begin + whole
        return control.recording(begin - aside, begin + whole + aside + 1)

    def _learn(self, known: Known) -> None:
        self.knowledge.append(known)
        if self._executor.observer is not None:
            self._executor.observer.learned(known)


PLANS = 4
"""Plans that are driven at most (Zhang et al. 2025, section VI-D2)."""
ATTEMPTS = 4
"""Times a plan is looked for from rest."""

WAIT = 3.0
"""How long a robot at rest waits for a plan, s."""
AFTERWARDS = 10.0
"""How long to wait for the last bounds, with the robot on its brakes, s."""


class _Loop:
    """One run: the executor, what is known of the load, and how it ends."""

    def __init__(
        self,
        setting: SafeLearningConfig,
        link: RobotDriver,
        worker: Worker,
        guard: Worker,
        patience: float | None,
        seed: int,
        scene_source: SceneSource | None,
        observer: RunObserver | None,
    ) -> None:
        self._setting, self._worker, self._patience = setting, worker, patience
        errors, around = setting.errors, setting.scene
        self._watchdog = Watchdog(setting.tube, errors.position, errors.velocity, link.cycle)
        control, expect = ControlLoop(link, self._watchdog, observer), self._expect
        self.executor = PlanExecutor(
            control, link.cycle, guard, patience, around, scene_source, observer=observer, expect=expect
        )
        self.learning = Learning(setting, self.executor, seed)
        self.alarm: Alarm | None = None

    def run(self, start: Array, most_plans: int, *, until_settled: bool) -> str:
        """Drive until the bounds settle, the plans are used up, or something is wrong; how it ended."""
        self._until_settled = until_settled
        self._rests_at = start
        driven = 0
        for _ in range(ATTEMPTS):
            self._worker.ask(self.learning.question(self._rests_at))
            found = self._answer_at_rest()
            answer = None if self.alarm else self.learning.absorb(found)
            if self._broken:
                return BROKEN
            if answer is None or answer.move is None or self.executor.scene_changed:
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
        for number, scene in self.executor.stops:
            self._check_stop(number, scene)
        if not self._broken and self.executor.moves:
            self._worker.ask(self.learning.question(None))
            self.learning.absorb(self._worker.answer(None if self._patience is None else AFTERWARDS))
        self.alarm = self.alarm or self.learning.alarm

    def _check_stop(self, number: int, scene: Scene) -> None:
        """Check the proof of a stop that was driven; note what is left, or that it is refused."""
        setting, executor = self._setting.among(scene), self.executor
        driven = executor.moves[number]
        try:
            checked = checked_move(setting, driven.move.move(setting))
        except (NotCertifiedError, InputError) as error:
            self.alarm = self.alarm or Alarm(executor.now, CHECK, refusal(error))
            executor.tell(Severity.ERROR, refusal(error))
            return
        executor.moves[number] = replace(driven, move=MoveRecord.of(checked))

    @property
    def _broken(self) -> bool:
        return self.alarm is not None or self.learning.alarm is not None

    def _drive(self, move: Move, most_plans: int) -> tuple[str | None, int]:
        """Drive plan after plan from a standstill; how it ended, None for a stop after which to try again."""
        executor, learning = self.executor, self.learning
        for count in range(1, most_plans + 1):
            if count < most_plans:
                self._worker.ask(learning.question(move.plan))
            ended = executor.follow(move, 0, move.switch_cycle)
            if ended is not None:
                return self._stopped(ended), count
            answer = None
            if count < most_plans and not executor.scene_changed:
                answer = learning.absorb(self._worker.answer(self._patience))
            settled = self._until_settled and answer is not None and learning.settled
            if answer is not None and answer.move is not None and not settled:
                move = answer.move
                continue
            # A new scene may have been judged beyond the switch.
            reached = executor.moves[-1].offset + executor.moves[-1].cycles
            ended = executor.follow(move, reached, len(move.reference.q))
            if ended is not None:
                return self._stopped(ended), count
            self._rests_at = move.reference.q[-1]
            if settled:
                executor.tell(Severity.INFO, "The bounds have stopped shrinking.")
            done = settled or count == most_plans
            return (BROKEN if self._broken else DONE if done else None), count
        raise AssertionError("the last plan is driven to its stop")

    def _answer_at_rest(self) -> object:
        """The worker's reply, while the robot is held where it stopped."""
        if self._patience is None or not self.executor.moves:
            return self._worker.answer(None)
        held = self.executor.moves[-1].move.move(self._setting)
        for _ in range(round(WAIT / (SCENE_INTERVAL * self.executor.cycle))):
            self.alarm = self.executor.hold(held, SCENE_INTERVAL)
            if self.alarm is not None:
                return None
            found = self._worker.answer(0.0)
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
        """Tell the estimator and the watchdog how much a move accelerates."""
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
    setting: SafeLearningConfig,
    link: RobotDriver,
    worker: Worker,
    start: ArrayLike,
    *,
    guard: Worker,
    most_plans: int = PLANS,
    patience: float | None = None,
    until_settled: bool = True,
    seed: int = 0,
    scene_source: SceneSource | None = None,
    observer: RunObserver | None = None,
) -> OnlineRun:
    """Learn what a robot holds while it moves safely.

    Plans are driven to where the next takes over; each was proven, with its stop, for the law that drives it
    and all that robot and load can be, and its proof was checked by other means before it was handed over.
    Where no next plan comes in time, the stop is driven. The data of one plan is absorbed while the next is
    driven, and law and plan change together.

    Args:
        setting: what was decided before.
        link: the robot, at rest.
        worker: what identifies and plans; warmed up before, so that nothing compiles now.
        start: where the robot stands, shape (nv,), rad or m.
        guard: what judges scenes that change.
        most_plans: plans that are driven at most.
        patience: how long to wait for an answer at a change of plans, s; None for as long as it takes, for a
            robot whose clock stands still meanwhile.
        until_settled: whether to end when the bounds stop shrinking (V-C); else all plans are driven.
        seed: of the searches.
        scene_source: asked every few cycles for a new scene; None where the scene stays.
        observer: called at every cycle, bound and event, such as a live view.

    Returns:
        The run, whatever its end.

    Raises:
        NoSolutionError: no first plan was proven; the robot did not move.
    """
    q = checked("start", start, (setting.arm.robot.nv,))
    recorded, recorded_guard, scenes = RecordingWorker(worker), RecordingWorker(guard), list[SceneRecord]()
    source = recorded_changes(scene_source, scenes)
    loop = _Loop(setting, link, recorded, recorded_guard, patience, seed, source, observer)
    try:
        outcome = loop.run(q, most_plans, until_settled=until_settled)
    finally:
        # Whatever happens on the way, an interruption included, the robot is not left to itself.
        link.stop()
    loop.finish()
    executor = loop.executor
    if not executor.moves:
        what = executor.events[-1].sentence if executor.events else "nothing was driven."
        raise NoSolutionError(
            f"the robot did not move. {what}",
            place="online",
            remedy="Try a lighter load (--heaviest), a shorter --reach, another --start or more --budget.",
        )
    said = tuple(recorded.replies), tuple(recorded_guard.replies), tuple(scenes)
    record = RunRecord(
        setting,
        InputLog(q, most_plans, patience, until_settled, *said),
        tuple(executor.moves),
        tuple(loop.learning.knowledge),
        tuple(executor.events),
        outcome if loop.alarm is None else BROKEN,
        loop.alarm,
    )
    return OnlineRun(record, executor.control_loop.log())
