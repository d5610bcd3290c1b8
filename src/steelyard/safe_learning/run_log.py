"""What a run leaves: every cycle, move and input, and how it ended; written, read again, told again."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from steelyard.archive import read_document, write_document
from steelyard.arrays import Array, checked, keep_checked, keep_read_only
from steelyard.errors import InputError, leading_to
from steelyard.files import FilePath, read_bytes, write_bytes, write_text, write_together
from steelyard.finding import Severity
from steelyard.limits import Scene
from steelyard.motion import RecedingPlan, SplineMotion
from steelyard.npz import arrays_of
from steelyard.recording import Recording
from steelyard.safe_learning.checker import PlanCheck
from steelyard.safe_learning.config import SafeLearningConfig
from steelyard.safe_learning.messages import Move, PlanReply, PlanRequest
from steelyard.safe_learning.obstacle_response import SceneChange, SceneResponse, SceneSource
from steelyard.safe_learning.planning.certificate import PlanCertificate
from steelyard.safe_learning.watchdog import Alarm
from steelyard.safe_learning.worker import Worker
from steelyard.uncertainty import PayloadBox, RecursiveBounds

# Records made on the way: events, moves, and what was known when


@dataclass(frozen=True)
class Event:
    """Something that happened on the way.

    Attributes:
        time: by the robot's clock, s.
        severity: how bad it is.
        sentence: what happened.
    """

    time: float
    severity: Severity
    sentence: str


PLAN, BRAKE = "plan", "brake"
"""What a driven move was."""


@dataclass(frozen=True, eq=False)
class DrivenMove:
    """A move and when it was driven.

    Attributes:
        move: the move.
        first: cycle at which it began.
        cycles: how many of its cycles were driven.
        offset: which of its own cycles was the first.
        stopped: whether it was driven to the end of its stop.
    """

    move: MoveRecord
    first: int
    cycles: int
    offset: int = 0
    stopped: bool = False

    @property
    def kind(self) -> str:
        """`BRAKE` where it was driven to the end of its stop, otherwise `PLAN`."""
        return BRAKE if self.stopped else PLAN


@dataclass(frozen=True, eq=False)
class Known:
    """What was known of the load from some time on.

    Attributes:
        time: when it was found, by the robot's clock, s.
        box: what the load can be.
        rows: how many equations had been absorbed.
        bounds_seconds: what it took to find, s.
        plan_seconds: what the plan that came with it took, with its proof, s.
        check_seconds: what the independent check of that proof took, s.
    """

    time: float
    box: PayloadBox
    rows: int
    bounds_seconds: float = 0.0
    plan_seconds: float = 0.0
    check_seconds: float = 0.0

    @property
    def seconds(self) -> float:
        """What the whole answer took, s."""
        return self.bounds_seconds + self.plan_seconds + self.check_seconds


# A move as it goes into a file: without its law, which setting and load determine


@dataclass(frozen=True, eq=False)
class MoveRecord:
    """A move without its law, which setting and load determine.

    Attributes:
        motion: of its plan.
        switch: of its plan, s.
        parameter: of its plan, shape (nv,), dimensionless.
        load: what is taken for granted of the load.
        certificate: its proof.
        condition: of the load's regressor, dimensionless.
        refused: plans that could not be proven.
        check: what the independent check found to be left; None where there was none.
    """

    stored_as: ClassVar[str] = "NotedMove"

    motion: SplineMotion
    switch: float
    parameter: Array
    load: PayloadBox
    certificate: PlanCertificate
    condition: float | None
    refused: tuple[str, ...]
    check: PlanCheck | None = None

    @classmethod
    def of(cls, move: Move) -> MoveRecord:
        """Note a move.

        Returns:
            The note.
        """
        plan, words = move.plan, (move.condition, move.refused, move.check)
        return cls(plan.motion, plan.switch, plan.parameter, move.load, move.certificate, *words)

    def move(self, setting: SafeLearningConfig) -> Move:
        """The move again.

        Args:
            setting: of the run.

        Returns:
            The move, with the same law.
        """
        plan = RecedingPlan(self.motion, self.switch, self.parameter)
        law = setting.controller(self.load)
        return Move(plan, self.load, law, self.certificate, self.condition, self.refused, self.check)


# What reached the control loop from outside beside the readings: replies and scenes, in their order
#
# With the readings it makes a run repeat itself to the last bit, whatever the slow side would compute today.


@dataclass(frozen=True, eq=False)
class ReplyRecord:
    """A worker's reply; all empty where none came in time.

    Attributes:
        came: whether a reply came in time.
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

    stored_as: ClassVar[str] = "NotedReply"

    came: bool
    load: PayloadBox | None = None
    rows: int = 0
    move: MoveRecord | None = None
    goes_on: bool = False
    reason: str = ""
    bounds_seconds: float = 0.0
    plan_seconds: float = 0.0
    check_seconds: float = 0.0
    refuted: bool = False

    @classmethod
    def of(cls, reply: PlanReply | SceneResponse | None) -> ReplyRecord:
        """Record a reply.

        Args:
            reply: the reply; None where none came in time.
        """
        if reply is None:
            return cls(came=False)
        if isinstance(reply, SceneResponse):
            stop = None if reply.stop is None else MoveRecord.of(reply.stop)
            return cls(came=True, move=stop, goes_on=reply.goes_on, reason=reply.reason)
        known, move = reply.knowledge, reply.move
        return cls(
            came=True,
            load=None if known is None else known.box,
            rows=0 if known is None else known.seen,
            move=None if move is None else MoveRecord.of(move),
            reason=reply.reason,
            bounds_seconds=reply.bounds_seconds,
            plan_seconds=reply.plan_seconds,
            check_seconds=reply.check_seconds,
            refuted=reply.refuted,
        )

    def reply(
        self, setting: SafeLearningConfig, question: PlanRequest | SceneChange
    ) -> PlanReply | SceneResponse | None:
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
        if isinstance(question, SceneChange):
            return SceneResponse(self.goes_on, move, self.reason)
        known = None
        if self.load is not None:
            start = RecursiveBounds.starting(setting.prior, setting.arm.spread)
            known = replace(start, box=self.load, seen=self.rows)
        seconds = self.bounds_seconds, self.plan_seconds, self.check_seconds
        return PlanReply(known, move, self.reason, *seconds, refuted=self.refuted)


@dataclass(frozen=True, eq=False)
class SceneRecord:
    """A scene that was reported.

    Attributes:
        time: when, by the robot's clock, s.
        scene: what stands around the robot.
    """

    stored_as: ClassVar[str] = "NotedNews"

    time: float
    scene: Scene


@dataclass(frozen=True, eq=False)
class InputLog:
    """What came from outside; the array is read-only.

    Attributes:
        start: where the robot stood, shape (nv,), rad or m.
        most_plans: plans that were allowed.
        patience: how long answers were waited for, s; None for as long as it took.
        until_settled: whether it was to end when bounds stop shrinking.
        answers: replies of the worker, in order.
        judgements: replies of the guard, in order.
        news: scenes that were reported, in order.
    """

    stored_as: ClassVar[str] = "Script"

    start: Array
    most_plans: int
    patience: float | None
    until_settled: bool
    answers: tuple[ReplyRecord, ...]
    judgements: tuple[ReplyRecord, ...]
    news: tuple[SceneRecord, ...]

    def __post_init__(self) -> None:
        keep_checked(self, ("nv",), "start")


# The whole run

SCHEMA = 1
DONE, STOPPED, BROKEN = "done", "stopped", "broken assumption"
"""How a run ends: as it should; at rest, with a reason; or with something assumed that is not so."""


@dataclass(frozen=True, eq=False)
class Cycles:
    """All that went over the link, cycle by cycle; arrays are read-only.

    Attributes:
        time: of the M readings, by the robot's clock, shape (M,), s.
        q: positions, shape (M, nv), rad or m.
        v: velocities, shape (M, nv), rad/s or m/s.
        tau: torques measured over the cycle before, shape (M, nv), N·m or N.
        q_ref: references of the N cycles that were driven, shape (N, nv), rad or m.
        v_ref: shape (N, nv), rad/s or m/s.
        a_ref: shape (N, nv), rad/s² or m/s².
        commands: torques that were sent, shape (N, nv), N·m or N; the last reading may have had no answer.
    """

    time: Array
    q: Array
    v: Array
    tau: Array
    q_ref: Array
    v_ref: Array
    a_ref: Array
    commands: Array

    def __post_init__(self) -> None:
        m, n = len(self.time), len(self.commands)
        nv = self.q.shape[-1]
        for name, rows in (("q", m), ("v", m), ("tau", m), ("q_ref", n), ("v_ref", n), ("a_ref", n)):
            checked(name, getattr(self, name), (rows, nv), finite=False)
        keep_read_only(self, "time", "q", "v", "tau", "q_ref", "v_ref", "a_ref", "commands")


@dataclass(frozen=True, eq=False)
class RunRecord:
    """What was decided and said, from the beginning of a run to its end.

    Attributes:
        setting: what was decided before.
        script: what was said from outside.
        moves: what was driven, in order.
        knowledge: what was known, in order, beginning with the prior.
        events: what happened.
        outcome: `DONE`, `STOPPED` or `BROKEN`.
        alarm: what was found wrong; None where nothing was.
        schema: number of this layout.
    """

    setting: SafeLearningConfig
    script: InputLog
    moves: tuple[DrivenMove, ...]
    knowledge: tuple[Known, ...]
    events: tuple[Event, ...]
    outcome: str
    alarm: Alarm | None = None
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        if self.schema != SCHEMA:
            raise InputError(f"is {self.schema}, known: {SCHEMA}.", place="schema")

    @property
    def proofs(self) -> tuple[int, int]:
        """How many proofs were driven on, and how many of them the independent check has verified."""
        driven = {noted.move.certificate.motion.motion: noted.move.check for noted in self.moves}
        return len(driven), sum(check is not None for check in driven.values())

    @property
    def box(self) -> PayloadBox:
        """What the load can be in the end."""
        return self.knowledge[-1].box


@dataclass(frozen=True, eq=False)
class OnlineRun:
    """A run.

    Attributes:
        record: what was decided and said.
        cycles: what went over the link.
    """

    record: RunRecord
    cycles: Cycles

    @cached_property
    def recording(self) -> Recording:
        """The cycles that were driven and whose torque was read, with references."""
        log = self.cycles
        n = min(len(log.commands), len(log.time) - 1)
        joints = self.record.setting.arm.robot.joint_names
        parts = {name: getattr(log, name)[:n] for name in ("q_ref", "v_ref", "a_ref")}
        return Recording(joints, log.time[:n], q=log.q[:n], v=log.v[:n], tau=log.tau[1 : n + 1], **parts)

    @property
    def errors(self) -> tuple[Array, Array]:
        """Norms of r and of e as they were read, each shape (N,), rad/s and rad."""
        log = self.cycles
        n = len(log.commands)
        e = log.q_ref - log.q[:n]
        r = log.v_ref - log.v[:n] + self.record.setting.tube.kr * e
        return np.linalg.norm(r, axis=1), np.linalg.norm(e, axis=1)

    def write(self, folder: FilePath, *, page: tuple[str, str] | None = None) -> tuple[Path, Path]:
        """Write a run; its folder exists or is made, and never holds parts of two runs.

        Args:
            folder: where.
            page: name and text of a page that belongs to it.

        Returns:
            The files.

        Raises:
            InputError: the folder cannot be written to.
        """
        at = Path(folder)
        try:
            at.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot be made: {error.strerror}.", place=str(at)) from error
        arrays = io.BytesIO()
        np.savez_compressed(
            arrays, **{field.name: getattr(self.cycles, field.name) for field in fields(Cycles)}
        )
        writers: dict[str, Callable[[FilePath], None]] = {
            RECORD: lambda path: write_document(self.record, path, indent=None),
            CYCLES: lambda path: write_bytes(path, arrays.getvalue()),
        }
        if page is not None:
            name, text = page
            writers[name] = lambda path: write_text(path, text)
        write_together(at, writers)
        return at / RECORD, at / CYCLES

    @classmethod
    def read(cls, folder: FilePath) -> OnlineRun:
        """Read a run.

        Args:
            folder: where its two files are.

        Returns:
            The run, equal in every bit that counts to the one written.

        Raises:
            InputError: a file is missing, damaged, or not of a run.
        """
        at = Path(folder)
        record = read_document(RunRecord, at / RECORD)
        content = read_bytes(at / CYCLES, most=LARGEST_LOG)
        with leading_to(str(at / CYCLES)):
            arrays = arrays_of(content)
            names = [field.name for field in fields(Cycles)]
            if missing := [name for name in names if name not in arrays]:
                raise InputError(f"is not the log of a run: it lacks {', '.join(missing)}.")
            found = {name: arrays[name] for name in names}
        return cls(record, Cycles(**found))


# A run on disk: decisions and replies as JSON, readings and torques as arrays

RECORD, CYCLES = "run.json", "cycles.npz"
"""Names of the two files in a run's folder."""
LARGEST_LOG = 1 << 29
"""Largest log of a run, bytes."""


# Recording replies and scenes while a run goes on, and replaying them


class RecordingWorker:
    """Passes requests on to another worker and keeps its replies.

    Args:
        worker: what computes the replies.
    """

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self.replies: list[ReplyRecord] = []
        """The replies, in order."""

    def ask(self, question: PlanRequest | SceneChange) -> None:
        """Pass a request on.

        Args:
            question: a request for a plan, or a scene that changed.
        """
        self._worker.ask(question)

    def answer(self, patience: float | None) -> PlanReply | SceneResponse | None:
        """The reply of the other worker, which is kept.

        Args:
            patience: how long to wait, s; None for as long as it takes.

        Returns:
            The reply; None where it is late or will never come.
        """
        said = self._worker.answer(patience)
        self.replies.append(ReplyRecord.of(said))
        return said

    def close(self) -> None:
        """Close the other worker."""
        self._worker.close()


class ReplayWorker:
    """Replies as in a recorded run.

    Args:
        setting: of the run.
        replies: those that were recorded, in order.
    """

    def __init__(self, setting: SafeLearningConfig, replies: Sequence[ReplyRecord]) -> None:
        self._setting, self._replies = setting, list(replies)
        self._question: PlanRequest | SceneChange | None = None

    def ask(self, question: PlanRequest | SceneChange) -> None:
        """Keep what was asked.

        Args:
            question: a request for a plan, or a scene that changed.
        """
        self._question = question

    def answer(self, patience: float | None) -> PlanReply | SceneResponse | None:
        """The next recorded reply.

        Args:
            patience: not used: a reply that came late was recorded as None.

        Raises:
            InputError: more is asked than was recorded.
        """
        if not self._replies or self._question is None:
            raise InputError("more was asked than the log answers.", place="script")
        return self._replies.pop(0).reply(self._setting, self._question)

    def close(self) -> None:
        """Nothing to close."""


def recorded_changes(scene_source: SceneSource | None, records: list[SceneRecord]) -> SceneSource | None:
    """A source of scenes that also records them.

    Args:
        scene_source: asked for new scenes; None where the scene stays.
        records: grows by every new scene.

    Returns:
        The source; None where none was given.
    """
    if scene_source is None:
        return None

    def listened(time: float) -> Scene | None:
        scene = scene_source(time)
        if scene is not None:
            records.append(SceneRecord(time, scene))
        return scene

    return listened


def replayed_changes(records: Sequence[SceneRecord]) -> SceneSource:
    """The scenes of a recorded run, at the times they came.

    Args:
        records: the scenes with their times.
    """
    left = {record.time: record.scene for record in records}
    return lambda time: left.get(time)
