"""How a run ends when somebody fails: with a proven stop, or with an alarm that says what was not so."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

from safe_learning.learning_arm import CYCLE, HOME, VELOCITY, arm, link, replanner, setting
from steelyard.dynamics import forward_kinematics
from steelyard.errors import NoSolutionError
from steelyard.limits import Scene
from steelyard.limits.scene import Obstacle
from steelyard.pose import Pose
from steelyard.robot import Sphere
from steelyard.safe_learning import (
    BROKEN,
    DONE,
    STOPPED,
    JointReading,
    ProcessWorker,
    SyncWorker,
    replay_run,
    run_online,
)
from steelyard.safe_learning.messages import PlanReply, PlanRequest
from steelyard.safe_learning.obstacle_response import SceneChange, SceneResponse


class Late:
    """Answers the first questions, then is always late."""

    def __init__(self, good: int) -> None:
        self._inner, self._left = SyncWorker(replanner()), good

    def ask(self, question: PlanRequest | SceneChange) -> None:
        self._inner.ask(question)

    def answer(self, patience: float | None) -> PlanReply | SceneResponse | None:
        self._left -= 1
        return self._inner.answer(patience) if self._left >= 0 else None

    def close(self) -> None:
        pass


def guard() -> SyncWorker:
    return SyncWorker(replanner())


def test_a_late_planner_leaves_a_proven_stop() -> None:
    robot = link()
    run = run_online(setting(), robot, Late(1), HOME, guard=guard())
    assert run.record.outcome == STOPPED
    assert run.record.alarm is None
    (plan, stop) = run.record.moves
    assert plan.move.certificate is stop.move.certificate
    assert stop.stopped
    assert (plan.cycles + stop.cycles - 1) * CYCLE == pytest.approx(setting().duration)
    _, v, _ = robot.truth
    assert np.abs(v[-1]).max() <= setting().tube.velocity
    assert any("No answer" in event.sentence for event in run.record.events)


def test_a_planner_that_dies_leaves_a_proven_stop() -> None:
    worker = ProcessWorker(replanner())

    class Killer:
        def cycle(self, reading: JointReading, *_: object) -> None:
            if reading.time == pytest.approx(0.5):
                os.kill(worker.pid, signal.SIGKILL)

        def learned(self, known: object) -> None:
            pass

        def happened(self, event: object) -> None:
            pass

    try:
        run = run_online(setting(), link(), worker, HOME, guard=guard(), observer=Killer())
    finally:
        worker.close()
    assert run.record.outcome == STOPPED
    assert run.record.moves[-1].stopped


def test_a_robot_that_never_gets_a_plan_does_not_move() -> None:
    robot = link()
    with pytest.raises(NoSolutionError, match="did not move"):
        run_online(setting(), robot, Late(0), HOME, guard=guard())
    assert not np.any(robot.read().q - HOME > 1e-3)


def test_a_load_that_is_dropped_is_announced() -> None:
    robot = link(mass=2.0)

    class Dropping:
        def cycle(self, reading: JointReading, *_: object) -> None:
            # By then the bounds exclude an empty hand.
            if reading.time == pytest.approx(4.6):
                robot.becomes(arm())

        def learned(self, known: object) -> None:
            pass

        def happened(self, event: object) -> None:
            pass

    run = run_online(
        setting(), robot, SyncWorker(replanner()), HOME, guard=guard(), most_plans=4, observer=Dropping()
    )
    assert run.record.outcome == BROKEN
    assert run.record.alarm is not None
    assert run.record.alarm.kind in ("tube", "contradiction")
    assert run.record.alarm.time > 4.6


def test_an_obstacle_that_appears_on_the_way_ends_in_a_proven_stop_clear_of_it() -> None:
    whole = run_online(setting(), link(), Late(1), HOME, guard=guard())
    q = whole.recording.q
    hand = _tool(q[-1])

    scene = Scene((Obstacle("new", Sphere(0.05), Pose(np.eye(3), hand)),))

    def changes(time: float) -> Scene | None:
        return scene if time == pytest.approx(0.3) else None

    robot = link()
    run = run_online(setting(), robot, Late(1), HOME, guard=guard(), scene_source=changes)
    assert run.record.outcome == STOPPED
    assert run.record.alarm is None
    assert "proven stop" in run.record.events[0].sentence
    again = replay_run(run)
    assert again.same, again.sentence
    swerve = run.record.moves[-1]
    assert swerve.stopped
    assert swerve.move.check is not None  # the robot's brakes were on by then
    assert run.record.proofs == (2, 2)
    assert again.run.record.proofs == (2, 2)
    assert swerve.move.motion.duration < 2.6  # sooner than the plan would have ended
    q_true, v_true, _ = robot.truth
    assert setting().among(scene).clearance.distances(q_true).min() > 0.0
    assert np.abs(v_true[-1]).max() <= setting().tube.velocity


def test_an_obstacle_in_the_hand_is_announced_and_the_brakes_stop_the_robot() -> None:
    scene = Scene((Obstacle("new", Sphere(0.05), Pose(np.eye(3), _tool(HOME))),))
    robot = link()
    run = run_online(
        setting(),
        robot,
        Late(1),
        HOME,
        guard=guard(),
        scene_source=lambda time: scene if time == pytest.approx(0.06) else None,
    )
    assert run.record.outcome == BROKEN
    assert run.record.alarm is not None
    assert run.record.alarm.kind == "scene"
    assert "too late" in run.record.events[0].sentence
    assert np.abs(robot.read().v).max() <= VELOCITY  # at rest, but for the sensor's error


def test_an_obstacle_far_away_changes_nothing_but_the_plans() -> None:
    far = Scene((Obstacle("far", Sphere(0.05), Pose(np.eye(3), (3.0, 0.0, 0.0))),))
    run = run_online(
        setting(),
        link(),
        SyncWorker(replanner()),
        HOME,
        guard=guard(),
        most_plans=2,
        scene_source=lambda time: far if time == pytest.approx(0.3) else None,
    )
    assert run.record.outcome == DONE
    assert any("is proven in it" in event.sentence for event in run.record.events)
    again = replay_run(run)
    assert again.same, again.sentence


def _tool(q: np.ndarray) -> np.ndarray:
    return forward_kinematics(arm(), q[None], [arm().tool_frame.name])[0, 0, :3, 3]
