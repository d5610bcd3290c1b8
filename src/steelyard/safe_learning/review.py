"""A finished run looked at again: replayed bit by bit, and judged by the true state where it is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.errors import InputError
from steelyard.limits import bounds_of
from steelyard.safe_learning.driver import JointReading, MuJoCoDriver
from steelyard.safe_learning.loop import run_online
from steelyard.safe_learning.run_log import Cycles, OnlineRun, ReplayWorker, replayed_changes

# Replay: the same readings and replies must lead to the same torques, bit by bit


class ReplayDriver:
    """A robot that says again what it said; torques it is sent do nothing.

    Args:
        joints: names of its joints.
        cycle: length of a control cycle, s.
        readings: what it said.
    """

    def __init__(self, joints: tuple[str, ...], cycle: float, readings: Cycles) -> None:
        self.joints, self.cycle = joints, cycle
        self._readings, self._next = readings, 0

    def read(self) -> JointReading:
        """The next reading.

        Raises:
            InputError: there is none left.
        """
        k, self._next = self._next, self._next + 1
        log = self._readings
        if k >= len(log.time):
            raise InputError(f"the log ends after {k} cycles, the run does not.", place="readings")
        return JointReading(float(log.time[k]), log.q[k].copy(), log.v[k].copy(), log.tau[k].copy())

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
        ReplayDriver(setting.arm.robot.joint_names, setting.cycle, run.cycles),
        ReplayWorker(setting, script.answers),
        script.start,
        guard=ReplayWorker(setting, script.judgements),
        most_plans=script.most_plans,
        patience=script.patience,
        until_settled=script.until_settled,
        scene_source=replayed_changes(script.news) if script.news else None,
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


# Limits that a run broke, by the true state of a simulation

_ROUNDING = 1e-9
"""Share of a limit that rounding may take."""


def violations_of(run: OnlineRun, link: MuJoCoDriver, truth: ArrayLike) -> tuple[str, ...]:
    """Compare what happened with all that was promised, at every cycle.

    Args:
        run: the run.
        link: the robot that was driven, which knows its true states.
        truth: the load's ten numbers in the frame it is held in, shape (10,), SI.

    Returns:
        One sentence for each promise that was broken; none where all were kept.
    """
    setting = run.record.setting
    ten = checked("truth", truth, (10,))
    q, v, tau = link.truth
    found = [*_limits(run, q, v, tau), *_tube(run, q, v)]
    apart = setting.clearance.distances(q) - setting.distance
    if apart.size and apart.min() < 0.0:
        row, pair = np.unravel_index(int(apart.argmin()), apart.shape)
        name = setting.clearance.names[int(pair)]
        found.append(f"{name} overlap by {-apart[row, pair]:.3g} m at {row * setting.cycle:.4f} s.")
    for known in run.record.knowledge:
        if not ((known.box.lower <= ten) & (ten <= known.box.upper)).all():
            found.append(f"the bounds of {known.time:.4f} s do not hold the load.")
    return tuple(found)


def _limits(run: OnlineRun, q: Array, v: Array, tau: Array) -> list[str]:
    setting = run.record.setting
    b, names = bounds_of(setting.arm.robot), setting.arm.robot.joint_names
    found = []
    for what, over in (
        ("position", np.maximum(b.lower - q, q - b.upper)),
        ("velocity", np.abs(v) - b.velocity),
        ("torque", np.abs(tau) - b.effort * (1.0 + _ROUNDING)),
    ):
        if over.max() > 0.0:
            row, joint = np.unravel_index(int(over.argmax()), over.shape)
            when = f"at {row * setting.cycle:.4f} s"
            found.append(f"{what} of {names[int(joint)]} is {over[row, joint]:.3g} beyond its limit {when}.")
    return found


def _tube(run: OnlineRun, q: Array, v: Array) -> list[str]:
    setting, log = run.record.setting, run.cycles
    tube, n = setting.tube, min(len(q), len(log.q_ref))
    e = log.q_ref[:n] - q[:n]
    r = log.v_ref[:n] - v[:n] + tube.kr * e
    found = []
    for what, norms, most in (("r", r, tube.radius), ("e", e, tube.position)):
        sizes = np.linalg.norm(norms, axis=1)
        if sizes.max(initial=0.0) > most:
            k = int(sizes.argmax())
            found.append(f"|{what}| is {sizes[k]:.4g} at {k * setting.cycle:.4f} s, the tube is {most:.4g}.")
    return found
