"""No plan is driven whose proof the independent check refuses; every proof that is driven on was checked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from safe_learning.learning_arm import HOME, link, replanner, run, setting
from steelyard.control import Tube
from steelyard.errors import InputError, NoSolutionError
from steelyard.limits import NotCertifiedError
from steelyard.safe_learning import BROKEN, CHECK, SyncWorker, replay_run, run_online
from steelyard.safe_learning.messages import Move, PlanReply, PlanRequest
from steelyard.safe_learning.obstacle_response import SceneChange, SceneResponse
from steelyard.safe_learning.planning.search import PlannedMove, Planner
from steelyard.safe_learning.replanner import checked_move
from steelyard.uncertainty import RecursiveBounds


def forged(found: PlannedMove) -> PlannedMove:
    """The plan with a certificate for a robot that is known exactly."""
    return replace(found, certificate=replace(found.certificate, half_widths=np.zeros_like(_widths(found))))


def _widths(found: PlannedMove) -> np.ndarray:
    return found.certificate.half_widths


@pytest.fixture
def forging(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Planner.best

    def best(self: Planner, *words: Any, **options: Any) -> PlannedMove:
        return forged(honest(self, *words, **options))

    monkeypatch.setattr(Planner, "best", best)


def question() -> PlanRequest:
    known = RecursiveBounds.starting(setting().prior, setting().arm.spread)
    return PlanRequest(known, None, np.zeros(7), HOME, None, 1)


def first_move() -> Move:
    driven = run()[0].record.moves[0]
    return driven.move.move(setting())


def test_every_proof_of_a_run_was_checked_before_it_was_driven() -> None:
    record = run()[0].record
    plans, checked = record.proofs
    assert plans == checked == 2
    for driven in record.moves:
        check = driven.move.check
        assert check is not None
        assert min(check.position, check.velocity, check.acceleration, check.torque, check.clearance) >= 0.0
    handed_over = [known for known in record.knowledge[1:-1] if known.plan_seconds > 0.0]
    assert all(known.check_seconds > 0.0 for known in handed_over)


def test_a_mind_does_not_hand_over_a_plan_with_a_forged_certificate(forging: None) -> None:
    answer = replanner().reply(question())
    assert answer.refuted
    assert answer.move is None
    assert answer.knowledge is not None
    assert "refuses it" in answer.reason
    assert "not driven" in answer.reason


def test_a_robot_whose_first_plan_is_refused_does_not_move(forging: None) -> None:
    robot = link()
    with pytest.raises(NoSolutionError, match=r"did not move.*refuses it"):
        run_online(setting(), robot, SyncWorker(replanner()), HOME, guard=SyncWorker(replanner()))
    assert not np.any(robot.read().q - HOME > 1e-3)


class LaterForger:
    """Hands over an honest first plan, then only refusals."""

    def __init__(self) -> None:
        self._inner, self._answers = SyncWorker(replanner()), 0

    def ask(self, question: PlanRequest | SceneChange) -> None:
        self._inner.ask(question)

    def answer(self, patience: float | None) -> PlanReply | SceneResponse | None:
        self._answers += 1
        if self._answers != 2:
            return self._inner.answer(patience)
        with pytest.MonkeyPatch.context() as patch:
            honest = Planner.best
            patch.setattr(Planner, "best", lambda *words, **options: forged(honest(*words, **options)))
            return self._inner.answer(patience)

    def close(self) -> None:
        pass


def test_a_refused_proof_ends_the_run_with_the_stop_of_the_plan_before() -> None:
    done = run_online(setting(), link(), LaterForger(), HOME, guard=SyncWorker(replanner()), most_plans=4)
    record = done.record
    assert record.outcome == BROKEN
    assert record.alarm is not None
    assert record.alarm.kind == CHECK
    assert record.proofs == (1, 1)
    assert record.moves[-1].stopped
    assert any("refuses it" in event.sentence for event in record.events)
    again = replay_run(done)
    assert again.same, again.sentence


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ({"half_widths": np.zeros(91)}, "box of parameters"),
        ({"tube": Tube.of_radius(1e-4, 7.6, 5.0)}, "tube"),
    ],
)
def test_a_proof_for_less_than_the_setting_asks_for_is_refused(claim: dict[str, Any], said: str) -> None:
    move = first_move()
    if "half_widths" in claim:
        claim = {"half_widths": 0.5 * move.certificate.half_widths}
    with pytest.raises(InputError, match=said):
        checked_move(setting(), replace(move, certificate=replace(move.certificate, **claim)))


def test_a_certificate_that_is_passed_off_as_that_of_a_wilder_plan_is_refused() -> None:
    move = first_move()
    motion = move.plan.motion
    control = np.array(motion.control)
    wild = replace(motion, control=control + 3.0 * (control - control[:, :1]))
    claimed = replace(move.certificate, motion=replace(move.certificate.motion, motion=wild.digest))
    with pytest.raises(NotCertifiedError, match="could not be verified"):
        checked_move(setting(), replace(move, plan=replace(move.plan, motion=wild), certificate=claimed))
