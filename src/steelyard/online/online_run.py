"""What a run leaves: every cycle, every move with its proof, what was known when, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError
from steelyard.online.journal import DrivenMove, Event, Known
from steelyard.online.script import Script
from steelyard.online.setting import Setting
from steelyard.online.watchdog import Alarm
from steelyard.recording import Recording
from steelyard.uncertainty import PayloadBox

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
        for name in ("time", "q", "v", "tau", "q_ref", "v_ref", "a_ref", "commands"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


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

    setting: Setting
    script: Script
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
