"""What can go wrong while an arm learns: faults of its link, its planner and its world."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from steelyard.dynamics import forward_kinematics
from steelyard.limits import Scene
from steelyard.limits.scene import Obstacle
from steelyard.pose import Pose
from steelyard.safe_learning import (
    JointReading,
    MuJoCoDriver,
    ProcessWorker,
    Replanner,
    RobotDriver,
    SyncWorker,
)
from steelyard.safe_learning.messages import PlanReply, PlanRequest
from steelyard.safe_learning.obstacle_response import SceneChange, SceneResponse, SceneSource
from steelyard.safe_learning.worker import Worker
from studies.online_arms import KINDS, SPREAD, TABLE_I, World, arm, distance_of, drawn_shape, true_arm

Array = np.ndarray
NV = 7
EARLIEST, LATEST = 0.02, 0.97
"""When faults happen, in parts of the duration of a plan: a run lasts no less."""
FOR_EVER = 10**9
PATIENCE = 0.01
"""How long answers are waited for where the planner may never answer, s."""
DRAWS, JUST_FREE = 50, 0.01
"""Obstacles that are drawn until one is so far from the arm when it is reported, m."""


@dataclass(eq=False)
class Rig:
    """A robot with a fault in it.

    Attributes:
        plant: the true arm.
        link: what the loop is given for it.
        worker: what plans.
        guard: who judges new scenes.
        when: the fault begins, s.
        ten: of the true end effector after it, shape (10,), SI.
        scene_source: asked for new scenes.
        scenes: that are to be kept clear of, each with the time from which on.
        patience: how long answers are waited for, s.
    """

    plant: MuJoCoDriver
    link: RobotDriver
    worker: Worker
    guard: Worker
    when: float
    ten: Array
    scene_source: SceneSource | None = None
    scenes: list[tuple[float, Scene]] = field(default_factory=list)
    patience: float | None = None


class FaultyLink:
    """A link whose readings or torques are spoilt from some time on.

    Args:
        link: the link.
        when: from when on, s.
        spoil: what becomes of a reading.
        distort: what becomes of a torque, given the time since the fault began in s.
        strike: what happens once.
    """

    def __init__(
        self,
        link: MuJoCoDriver,
        when: float,
        *,
        spoil: Callable[[JointReading], JointReading] | None = None,
        distort: Callable[[float, Array], Array] | None = None,
        strike: Callable[[], None] | None = None,
    ) -> None:
        self._link, self._when = link, when
        self._spoil, self._distort, self._strike = spoil, distort, strike
        self._now = 0.0

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints."""
        return self._link.joints

    @property
    def cycle(self) -> float:
        """Length of a control cycle, s."""
        return self._link.cycle

    def read(self) -> JointReading:
        """A reading, spoilt in time."""
        reading = self._link.read()
        self._now = reading.time
        if self._now < self._when:
            return reading
        if self._strike is not None:
            self._strike()
            self._strike = None
        return reading if self._spoil is None else self._spoil(reading)

    def send(self, tau: Array) -> None:
        """Send a torque, distorted in time."""
        since = self._now - self._when
        self._link.send(tau if since < 0.0 or self._distort is None else self._distort(since, tau))

    def stop(self) -> None:
        """Brake."""
        self._link.stop()


class FaultyWorker:
    """A worker who fails at some of its answers.

    Args:
        worker: what computes the replies.
        failing: numbers of the answers that fail, the first being 0.
        failed: told at the first of them.
        stale: whether it then repeats its last answer; otherwise it says nothing.
        patient: whether it may be waited for without limit.
    """

    def __init__(
        self,
        worker: Worker,
        failing: range,
        failed: Callable[[], None],
        *,
        stale: bool = False,
        patient: bool = True,
    ) -> None:
        self._worker, self._failing, self._failed = worker, failing, failed
        self._stale, self._patient = stale, patient
        self._count = 0
        self._last: PlanReply | SceneResponse | None = None

    def ask(self, question: PlanRequest | SceneChange) -> None:
        """Pass a question on."""
        self._worker.ask(question)

    def answer(self, patience: float | None) -> PlanReply | SceneResponse | None:
        """Answer, or fail."""
        number, self._count = self._count, self._count + 1
        if number in self._failing:
            if number == self._failing[0]:
                self._failed()
            if patience is None and not self._patient:
                raise TimeoutError("the loop waits for ever")
            return self._last if self._stale else None
        self._last = self._worker.answer(patience)
        return self._last

    def close(self) -> None:
        """Close the worker."""
        self._worker.close()


@dataclass(frozen=True, eq=False)
class Trial:
    """A world, the replanner in it, and the source of what goes wrong."""

    world: World
    replanner: Replanner
    rng: np.random.Generator


def _plain(trial: Trial) -> Rig:
    """Nothing wrong yet."""
    plant, worker = trial.world.link(), SyncWorker(trial.replanner)
    setting = trial.world.setting
    when = float(trial.rng.uniform(EARLIEST, LATEST) * setting.duration)
    return Rig(plant, plant, worker, worker, when, trial.world.ten, scenes=[(0.0, setting.scene)])


def _some_joints(rng: np.random.Generator) -> Array:
    """All joints, or one."""
    every = rng.random() < 0.5
    return np.asarray((np.arange(NV) == rng.integers(NV)) | every)


def _spoilt(trial: Trial, spoil: Callable[[JointReading], JointReading]) -> Rig:
    rig = _plain(trial)
    rig.link = FaultyLink(rig.plant, rig.when, spoil=spoil)
    return rig


def _failing(trial: Trial, answers: int, **how: bool) -> Rig:
    """Some answers after the first plan's fail."""
    rig, first = _plain(trial), int(trial.rng.integers(1, 3))

    def failed() -> None:
        rig.when = rig.plant.cycle * len(rig.plant.truth[0])

    rig.worker = FaultyWorker(rig.worker, range(first, first + answers), failed, **how)
    return rig


def planner_late(trial: Trial) -> Rig:
    """One or two answers are missing."""
    return _failing(trial, int(trial.rng.integers(1, 3)))


def planner_hung(trial: Trial) -> Rig:
    """From some answer on there is never one again, and the planner does not end either."""
    rig = _failing(trial, FOR_EVER, patient=False)
    rig.patience = PATIENCE
    return rig


def planner_stale(trial: Trial) -> Rig:
    """An answer is the one before it, a plan that begins elsewhere."""
    return _failing(trial, 1, stale=True)


def planner_dead(trial: Trial) -> Rig:
    """The planner's process is killed."""
    rig = _plain(trial)
    worker = ProcessWorker(trial.replanner)
    rig.worker = worker
    rig.link = FaultyLink(rig.plant, rig.when, strike=lambda: os.kill(worker.pid, signal.SIGKILL))
    return rig


def _frozen(trial: Trial, names: tuple[str, ...]) -> Rig:
    held: dict[str, Array] = {}
    which = _some_joints(trial.rng)

    def spoil(reading: JointReading) -> JointReading:
        for name in names:
            held.setdefault(name, np.array(getattr(reading, name)))
        frozen: dict[str, Any] = {name: np.where(which, held[name], getattr(reading, name)) for name in names}
        return reading._replace(**frozen)

    return _spoilt(trial, spoil)


def sensor_frozen(trial: Trial) -> Rig:
    """Position, velocity or both of one joint or of all no longer change."""
    return _frozen(trial, (("q", "v"), ("q",), ("v",))[trial.rng.integers(3)])


def torque_frozen(trial: Trial) -> Rig:
    """The torque of one joint or of all no longer changes."""
    return _frozen(trial, ("tau",))


def _not_a_number(trial: Trial, name: str) -> Rig:
    which = np.arange(NV) == trial.rng.integers(NV)

    def spoil(reading: JointReading) -> JointReading:
        changed: dict[str, Any] = {name: np.where(which, np.nan, getattr(reading, name))}
        return reading._replace(**changed)

    return _spoilt(trial, spoil)


def state_not_a_number(trial: Trial) -> Rig:
    """Position or velocity of a joint is NaN."""
    return _not_a_number(trial, str(trial.rng.choice(["q", "v"])))


def torque_not_a_number(trial: Trial) -> Rig:
    """The torque of a joint is NaN."""
    return _not_a_number(trial, "tau")


def clock_wrong(trial: Trial) -> Rig:
    """The clock jumps, or stands still."""
    rng, cycle = trial.rng, trial.world.setting.cycle
    jump = float(rng.choice([-1.0, 1.0]) * np.exp(rng.uniform(np.log(2.0 * cycle), 0.0)))
    if rng.random() < 0.7:
        return _spoilt(trial, lambda x: x._replace(time=x.time + jump))
    still: list[float] = []

    def stopped(reading: JointReading) -> JointReading:
        still.append(reading.time)
        return reading._replace(time=still[0])

    return _spoilt(trial, stopped)


def payload_dropped(trial: Trial) -> Rig:
    """What the gripper holds is gone."""
    rig, true = _plain(trial), trial.world.robot
    empty = arm().robot.links[-1].body
    assert empty is not None  # the zoo states it
    rig.ten = empty.parameters
    bare = replace(true, links=(*true.links[:-1], replace(true.links[-1], own=empty)))
    rig.link = FaultyLink(rig.plant, rig.when, strike=lambda: rig.plant.becomes(bare))
    return rig


def load_outside(trial: Trial) -> Rig:
    """The load is heavier than the box allows, from the first cycle on."""
    rng, ten = trial.rng, trial.world.ten
    ten = ten * (TABLE_I.upper[0] / ten[0]) * rng.uniform(1.05, 2.0)
    return _from_the_start(trial, replace(trial.world, robot=true_arm(rng, ten), ten=ten))


def arm_outside(trial: Trial) -> Rig:
    """Links and drives are off by more than their spread, from the first cycle on."""
    wrong = true_arm(trial.rng, trial.world.ten, spread=float(trial.rng.uniform(2.0, 10.0) * SPREAD))
    return _from_the_start(trial, replace(trial.world, robot=wrong))


def _from_the_start(trial: Trial, world: World) -> Rig:
    rig = _plain(replace(trial, world=world))
    rig.when = 0.0
    return rig


def motor_weak(trial: Trial) -> Rig:
    """A motor gives a part of its torque, which its sensor shows."""
    rig, share = _plain(trial), np.ones(NV)
    share[trial.rng.integers(NV)] = trial.rng.uniform(0.0, 0.8)
    rig.link = FaultyLink(rig.plant, rig.when, distort=lambda since, tau: share * tau)
    return rig


def pushed(trial: Trial) -> Rig:
    """Somebody pushes the arm, which no torque sensor shows."""
    rig, rng = _plain(trial), trial.rng
    push, felt = np.zeros(NV), np.zeros(NV)
    push[rng.integers(NV)] = rng.choice([-1.0, 1.0]) * np.exp(rng.uniform(np.log(3.0), np.log(100.0)))
    lasts = float(rng.uniform(0.02, 0.5))

    def distort(since: float, tau: Array) -> Array:
        felt[:] = push if since < lasts else 0.0
        return np.asarray(tau + felt)

    def spoil(reading: JointReading) -> JointReading:
        return reading._replace(tau=reading.tau - felt)

    rig.link = FaultyLink(rig.plant, rig.when, distort=distort, spoil=spoil)
    return rig


def obstacle_late(trial: Trial) -> Rig:
    """Something is in the way, and is reported when the arm is already under way."""
    return _scene_changed(trial, 1)


def obstacles_in_turn(trial: Trial) -> Rig:
    """Two or three obstacles, reported shortly after each other."""
    return _scene_changed(trial, int(trial.rng.integers(2, 4)))


def _scene_changed(trial: Trial, count: int) -> Rig:
    rig = _plain(trial)
    times = rig.when + np.concatenate(([0.0], np.cumsum(trial.rng.uniform(0.02, 0.6, count - 1))))

    def changes(now: float) -> Scene | None:
        told = len(rig.scenes) - 1
        if told == count or now < times[told]:
            return None
        scene = _with_obstacle(trial, rig)
        rig.scenes.append((now, scene))
        return scene

    rig.scene_source = changes
    return rig


def _with_obstacle(trial: Trial, rig: Rig) -> Scene:
    """The newest scene and something near where the arm seems to go, free of where it is."""
    q, v = (x[-1] for x in rig.plant.truth[:2])
    known, rng, robot = rig.scenes[-1][1], trial.rng, arm().robot
    for _ in range(DRAWS):
        ahead = q + rng.uniform(0.05, 1.0) * v
        frame = robot.link_names[rng.integers(3, NV)]
        near = forward_kinematics(robot, ahead[None], [frame])[0, 0, :3, 3] + 0.1 * rng.standard_normal(3)
        shape = drawn_shape(rng, str(rng.choice(KINDS)))
        pose = Pose.from_quaternion(rng.standard_normal(4), near)
        item = Obstacle(f"news {len(known.obstacles)}", shape, pose)
        if distance_of(item, q, trial.world.setting.tool) > JUST_FREE:
            return Scene((*known.obstacles, item))
    return known


FAULTS: dict[str, Callable[[Trial], Rig]] = {
    "planner late": planner_late,
    "planner hung": planner_hung,
    "planner stale": planner_stale,
    "planner dead": planner_dead,
    "sensor frozen": sensor_frozen,
    "torque sensor frozen": torque_frozen,
    "state not a number": state_not_a_number,
    "torque not a number": torque_not_a_number,
    "clock wrong": clock_wrong,
    "payload dropped": payload_dropped,
    "obstacle reported late": obstacle_late,
    "obstacles in turn": obstacles_in_turn,
    "load outside the box": load_outside,
    "arm outside its spread": arm_outside,
    "motor weak": motor_weak,
    "arm pushed": pushed,
}
