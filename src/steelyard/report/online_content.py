"""`OnlineContent`: all that the page of a learning robot says, as plain data; `OnlineHead`: its beginning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError
from steelyard.limits import Clearance
from steelyard.online import BROKEN, DONE, STOPPED, DrivenMove, Event, Known
from steelyard.robot import Robot
from steelyard.uncertainty import PayloadBox, Theorem13


@dataclass(frozen=True, eq=False)
class OnlineHead:
    """What can be said of a run before the robot moves; arrays are read-only.

    Attributes:
        title: of the run.
        robot: an arm with nv joints.
        start: joint positions before the first move, shape (nv,), rad or m.
        cycle: how long a plan is driven before the next one takes over, s.
        control_cycle: length of a control cycle, in which the cycles of moves are counted, s.
        tube_radius: ε, which ‖r‖ never exceeds, rad/s or m/s.
        position_bound: ε/K_r, which the position error never exceeds, rad or m.
        effort: torque limits that were proven, infinite where there is none, shape (nv,), N·m or N.
        prior: what is known of the payload at the beginning.
        truth: its ten numbers, shape (10,), SI; None where nobody knows.
        clearance: what must stay apart; None where nothing must.
        distance: how far apart, m.
        assumptions: what every guarantee rests on, in sentences.
        frame: name of the frame that the payload's numbers are stated in; empty where it has none.
    """

    title: str
    robot: Robot
    start: Array
    cycle: float
    control_cycle: float
    tube_radius: float
    position_bound: float
    effort: Array
    prior: PayloadBox
    truth: Array | None = None
    clearance: Clearance | None = None
    distance: float = 0.0
    assumptions: tuple[str, ...] = ()
    frame: str = ""

    def __post_init__(self) -> None:
        self.robot.require_arm()
        n = self.robot.nv
        object.__setattr__(self, "start", read_only(checked("start", self.start, (n,))))
        object.__setattr__(self, "effort", read_only(checked("effort", self.effort, (n,), finite=False)))
        if self.truth is not None:
            object.__setattr__(self, "truth", read_only(checked("truth", self.truth, (10,))))
        if self.clearance is not None and self.clearance.robot.joint_names != self.robot.joint_names:
            raise InputError("belongs to a robot with other joints.", place="clearance")
        for name in ("cycle", "control_cycle", "tube_radius", "position_bound"):
            if not 0.0 < getattr(self, name) < np.inf:
                raise InputError("must be above zero and finite.", place=name)


@dataclass(frozen=True, eq=False)
class OnlineContent:
    """What the page of a run says; arrays are read-only, all times count from its beginning.

    Attributes:
        head: what could be said before it.
        time: of all samples, from 0, increasing, shape (N,), s.
        q: joint positions, shape (N, nv), rad or m.
        v: joint velocities, shape (N, nv), rad/s or m/s.
        q_ref: positions the robot was to have, shape (N, nv), rad or m.
        v_ref: velocities it was to have, shape (N, nv), rad/s or m/s.
        tau: commanded torques, shape (N, nv), N·m or N.
        r_norm: ‖r‖, r = v_ref - v + K_r (q_ref - q), shape (N,), rad/s or m/s.
        knowledge: bounds of the payload from when on they held, the prior first.
        outcome: how it ended: `DONE`, `STOPPED` or `BROKEN` of `online`.
        sentence: why, in a sentence.
        moves: what the robot did, in order.
        proofs: how many proofs it moved on, and how many of them an independent check has verified.
        events: what happened, in order.
        published: what Theorem 13 says beside the last bounds; None to say nothing of it.
        violations: what was broken, in sentences; empty where nothing was.
        uncovered: what could hit and is not part of the proofs, in sentences.
        versions: versions of the software by name.
        made: when and by whom the page was made; empty to leave it out.
        schema: number of this layout.
    """

    head: OnlineHead
    time: Array
    q: Array
    v: Array
    q_ref: Array
    v_ref: Array
    tau: Array
    r_norm: Array
    knowledge: tuple[Known, ...]
    outcome: str
    sentence: str
    moves: tuple[DrivenMove, ...] = ()
    proofs: tuple[int, int] = (0, 0)
    events: tuple[Event, ...] = ()
    published: Theorem13 | None = None
    violations: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    made: str = ""
    schema: int = 1

    def __post_init__(self) -> None:
        time = checked("time", self.time, ("N",))
        if len(time) < 2 or time[0] != 0.0 or not (time[1:] > time[:-1]).all():
            raise InputError("must start at 0 and increase, over two samples at least.", place="time")
        shape = (len(time), self.head.robot.nv)
        for name in ("q", "v", "q_ref", "v_ref", "tau"):
            object.__setattr__(self, name, read_only(checked(name, getattr(self, name), shape)))
        object.__setattr__(self, "r_norm", read_only(checked("r_norm", self.r_norm, time.shape)))
        object.__setattr__(self, "time", read_only(time))
        since = [known.time for known in self.knowledge]
        if not since or since != sorted(since):
            raise InputError("must begin with the prior, and go on in time.", place="knowledge")
        if self.outcome not in (DONE, STOPPED, BROKEN):
            raise InputError(f"is none of {DONE}, {STOPPED}, {BROKEN}: '{self.outcome}'.", place="outcome")
        object.__setattr__(self, "versions", MappingProxyType(dict(self.versions)))

    @property
    def duration(self) -> float:
        """How long anything happened: robots rest while the last bounds are found, s."""
        known, happened = (known.time for known in self.knowledge), (event.time for event in self.events)
        return max(float(self.time[-1]), *known, *happened)

    def span(self, move: DrivenMove) -> tuple[float, float]:
        """When a move began and ended, s."""
        start = move.first * self.head.control_cycle
        return start, start + move.cycles * self.head.control_cycle
