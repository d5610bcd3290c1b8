"""A run again from its log: the same readings and answers must lead to the same torques, bit by bit."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.online.dictation import RecitingThinker, recited_news
from steelyard.online.link import Reading
from steelyard.online.loop import run_online
from steelyard.online.online_run import Cycles, OnlineRun


class RecordedLink:
    """A robot that says again what it said; torques it is sent do nothing.

    Args:
        joints: names of its joints.
        cycle: length of a control cycle, s.
        readings: what it said.
    """

    def __init__(self, joints: tuple[str, ...], cycle: float, readings: Cycles) -> None:
        self.joints, self.cycle = joints, cycle
        self._readings, self._next = readings, 0

    def read(self) -> Reading:
        """The next reading.

        Raises:
            InputError: there is none left.
        """
        k, self._next = self._next, self._next + 1
        log = self._readings
        if k >= len(log.time):
            raise InputError(f"the log ends after {k} cycles, the run does not.", place="readings")
        return Reading(float(log.time[k]), log.q[k].copy(), log.v[k].copy(), log.tau[k].copy())

    def send(self, tau: Array) -> None:
        """Nothing happens.

        Args:
            tau: torques, shape (nv,), N·m or N.
        """

    def stop(self) -> None:
        """Nothing happens."""


@dataclass(frozen=True, eq=False)
class Replayed:
    """A run and its repetition.

    Attributes:
        run: the repetition.
        same: whether every torque, event and the end are the same, to the last bit.
        sentence: what differs first, or that nothing does.
    """

    run: OnlineRun
    same: bool
    sentence: str


def replay_run(run: OnlineRun) -> Replayed:
    """Repeat a run on its own readings and answers.

    Args:
        run: the run, as it was read from its files.

    Returns:
        The repetition, and whether it is the same.

    Raises:
        InputError: the log ends before the run does.
    """
    setting, script = run.record.setting, run.record.script
    again = run_online(
        setting,
        RecordedLink(setting.arm.robot.joint_names, setting.cycle, run.cycles),
        RecitingThinker(setting, script.answers),
        script.start,
        guard=RecitingThinker(setting, script.judgements),
        most_plans=script.most_plans,
        patience=script.patience,
        until_settled=script.until_settled,
        news=recited_news(script.news) if script.news else None,
    )
    return Replayed(again, *_compared(run, again))


def _compared(run: OnlineRun, again: OnlineRun) -> tuple[bool, str]:
    then, now = run.cycles.commands, again.cycles.commands
    if len(then) != len(now):
        return False, f"{len(then)} torques were sent then, {len(now)} now."
    differs = (then != now).any(axis=1)
    if differs.any():
        k = int(differs.argmax())
        return False, f"the torque of cycle {k} differs, at {k * run.record.setting.cycle:.4f} s."
    ends = [(x.record.outcome, x.record.alarm, x.record.events) for x in (run, again)]
    if ends[0] != ends[1]:
        return False, f"it ended '{ends[0][0]}' then, '{ends[1][0]}' now, or on other events."
    return True, f"all {len(then)} torques are the same, bit by bit."
