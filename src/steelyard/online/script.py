"""All that reaches the fast side from outside but readings: answers, judgements and news, in their order.

With the readings it makes a run repeat itself to the last bit, whatever the slow side would say today.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from steelyard.arrays import Array, checked, read_only
from steelyard.limits import Scene
from steelyard.online.escape import Escape, Threat
from steelyard.online.noted_move import NotedMove
from steelyard.online.question import Answer, Question
from steelyard.online.setting import Setting
from steelyard.uncertainty import PayloadBox, RecursiveBounds


@dataclass(frozen=True, eq=False)
class NotedReply:
    """What a thinker said; all empty where it said nothing.

    Attributes:
        came: whether it said anything in time.
        load: what is known of the load; None where data contradicts what was assumed, or none was asked for.
        rows: how many equations that rests on.
        move: where to go, or how to stop.
        goes_on: whether the plan is proven in a new scene.
        reason: why not.
        bounds_seconds: what bounds took, s.
        plan_seconds: what plan and proof took, s.
        check_seconds: what the independent check took, s.
        refuted: whether that check refused the proof.
    """

    came: bool
    load: PayloadBox | None = None
    rows: int = 0
    move: NotedMove | None = None
    goes_on: bool = False
    reason: str = ""
    bounds_seconds: float = 0.0
    plan_seconds: float = 0.0
    check_seconds: float = 0.0
    refuted: bool = False

    @classmethod
    def of(cls, reply: Answer | Escape | None) -> NotedReply:
        """Note what was said.

        Args:
            reply: the reply.

        Returns:
            The note.
        """
        if reply is None:
            return cls(came=False)
        if isinstance(reply, Escape):
            stop = None if reply.stop is None else NotedMove.of(reply.stop)
            return cls(came=True, move=stop, goes_on=reply.goes_on, reason=reply.reason)
        known, move = reply.knowledge, reply.move
        return cls(
            came=True,
            load=None if known is None else known.box,
            rows=0 if known is None else known.seen,
            move=None if move is None else NotedMove.of(move),
            reason=reply.reason,
            bounds_seconds=reply.bounds_seconds,
            plan_seconds=reply.plan_seconds,
            check_seconds=reply.check_seconds,
            refuted=reply.refuted,
        )

    def reply(self, setting: Setting, question: Question | Threat) -> Answer | Escape | None:
        """The reply again.

        Args:
            setting: of the run.
            question: what was asked.

        Returns:
            What was said.
        """
        if not self.came:
            return None
        move = None if self.move is None else self.move.move(setting)
        if isinstance(question, Threat):
            return Escape(self.goes_on, move, self.reason)
        known = None
        if self.load is not None:
            start = RecursiveBounds.starting(setting.prior, setting.arm.spread)
            known = replace(start, box=self.load, seen=self.rows)
        seconds = self.bounds_seconds, self.plan_seconds, self.check_seconds
        return Answer(known, move, self.reason, *seconds, refuted=self.refuted)


@dataclass(frozen=True, eq=False)
class NotedNews:
    """A scene that was reported.

    Attributes:
        time: when, by the robot's clock, s.
        scene: what stands around the robot.
    """

    time: float
    scene: Scene


@dataclass(frozen=True, eq=False)
class Script:
    """What came from outside; the array is read-only.

    Attributes:
        start: where the robot stood, shape (nv,), rad or m.
        most_plans: plans that were allowed.
        patience: how long answers were waited for, s; None for as long as it took.
        until_settled: whether it was to end when bounds stop shrinking.
        answers: of the thinker, in order.
        judgements: of the guard, in order.
        news: scenes that were reported, in order.
    """

    start: Array
    most_plans: int
    patience: float | None
    until_settled: bool
    answers: tuple[NotedReply, ...]
    judgements: tuple[NotedReply, ...]
    news: tuple[NotedNews, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", read_only(checked("start", self.start, ("nv",))))
