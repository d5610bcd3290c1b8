"""The slow side of the loop: bounds on the load from new data, then a plan, proven and checked."""

from __future__ import annotations

import pickle
import time
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError, NoSolutionError, SolverError, SteelyardError
from steelyard.limits import NotCertifiedError
from steelyard.recording import Recording
from steelyard.safe_learning.checker import check_plan
from steelyard.safe_learning.config import SafeLearningConfig
from steelyard.safe_learning.messages import Move, PlanReply, PlanRequest
from steelyard.safe_learning.obstacle_response import SceneChange, respond
from steelyard.safe_learning.planning.cost import PayloadExcitation, PlanCost
from steelyard.safe_learning.planning.search import Planner
from steelyard.uncertainty import (
    ContradictionError,
    RecursiveBounds,
    bounded_rows,
    guaranteed_bounds,
)

# Check of a proof by other means


def checked_move(setting: SafeLearningConfig, move: Move) -> Move:
    """Verify the certificate of a move again; limits, box, tube and law are made afresh from the setting.

    Args:
        setting: what was decided before, among what the move was proven in.
        move: a plan with its proof.

    Returns:
        The move, with what the check found to be left of each limit.

    Raises:
        InputError: the certificate is of another robot, plan, model, limit, box, tube or law.
        NotCertifiedError: a limit could not be verified; says which and when.
    """
    needed, proof = setting.certifier(move.load), move.certificate
    claims = {
        "box of parameters": np.array_equal(proof.half_widths, needed.half_widths),
        "tube": proof.tube == needed.tube,
        "law": proof.law == needed.law,
    }
    for name, same in claims.items():
        if not same:
            raise InputError(f"is not that of the certificate: {name}.", place="certificate")
    return replace(move, check=check_plan(proof, needed.limits, move.plan.motion))


def refusal(error: SteelyardError) -> str:
    """That a proof was refused, in a sentence.

    Args:
        error: what the check said.

    Returns:
        The sentence.
    """
    return f"The check of a plan's proof by other means refuses it: {error}"


# Identification, then planning

_AFTER = 0.005
"""Time for what is left to do when a plan has been found, s."""


@dataclass(frozen=True, eq=False)
class Replanner:
    """Identification and planning, one after the other.

    The new plan is proven under the law of the new knowledge, and both are taken up together or not at all:
    a law never drives a plan that was proven for another.

    Attributes:
        setting: what was decided before the robot moved.
        cost: what a plan is good for.
        budget: time for a plan and its proof, s; None where the search is limited otherwise. The check of
            the proof comes on top, 0.1 to 0.25 s for six or seven joints.
        evaluations: plans looked at by a search; None for as many as the budget allows.
        random: whether to take the first proven plan of random ones, which Zhang et al. (2025) compare with.
    """

    setting: SafeLearningConfig
    cost: PlanCost
    budget: float | None = 0.3
    evaluations: int | None = None
    random: bool = False

    @classmethod
    def exciting(
        cls,
        setting: SafeLearningConfig,
        *,
        budget: float | None = 0.3,
        evaluations: int | None = None,
        random: bool = False,
    ) -> Replanner:
        """A replanner whose plans excite the load as well as they can.

        Args:
            setting: what was decided before the robot moved.
            budget: time for a plan and its proof, s.
            evaluations: plans looked at by a search.
            random: whether to take random plans instead.
        """
        return cls(setting, _excitation(setting), budget, evaluations, random)

    def warm_up(self, start: Array) -> None:
        """Do everything once, so that nothing is compiled or loaded while the robot moves.

        Args:
            start: where the robot stands, shape (nv,), rad or m.
        """
        setting, arm = self.setting, self.setting.arm
        known = RecursiveBounds.starting(setting.prior, arm.spread)
        nv = arm.robot.nv
        question = PlanRequest(known, None, np.zeros(nv), start, None, 0)
        quick = replace(self, budget=None, evaluations=64)
        move = quick._answered(question, known).move
        # What came through a pipe has other flags, for which kernels are compiled again.
        quick._answered(pickle.loads(pickle.dumps(question)), known)
        moments = setting.cycle * np.arange(round(2.5 * setting.window / setting.cycle), dtype=np.float64)
        still = np.zeros((len(moments), nv))
        law = setting.controller(setting.prior)
        held = law.torque(start, still[0], start, still[0], still[0])
        # At rest under its own torque: what the load may be is consistent with it, whatever it is.
        log = Recording(arm.robot.joint_names, moments, q=still + start, v=still, tau=still + held)
        with suppress(ContradictionError):
            self.absorbed(question._replace(recording=log, acceleration=np.ones(nv)))
        if move is not None:
            plan = move.plan
            then = question._replace(start=plan)
            for asked in (then, pickle.loads(pickle.dumps(then))):
                quick._answered(asked, known)
            respond(setting, SceneChange(setting.scene, plan, 0.0, 0.5 * plan.switch, setting.prior))

    def reply(self, question: PlanRequest) -> PlanReply:
        """Absorb what was measured, then plan, then check the proof of the plan by other means.

        A plan whose proof the check refuses is not handed over.

        Args:
            question: what is asked.

        Returns:
            The answer.
        """
        begin = time.perf_counter()
        try:
            known = self.absorbed(question)
            if question.start is None:
                known = _bodies_alone(known)
        except ContradictionError as error:
            return PlanReply(None, None, str(error), time.perf_counter() - begin, 0.0)
        between = time.perf_counter()
        return replace(self._answered(question, known), bounds_seconds=between - begin)

    def absorbed(self, question: PlanRequest) -> RecursiveBounds:
        """What is known of the load with the newest data.

        Args:
            question: knowledge and recording.

        Returns:
            Bounds that are nowhere wider.

        Raises:
            ContradictionError: no load explains the data: something assumed is wrong.
        """
        log, known, arm = question.recording, question.knowledge, self.setting.arm
        if log is None:
            return known
        errors = replace(self.setting.errors, acceleration=question.acceleration)
        model = (arm.robot, arm.layout, arm.parameters)
        rows = bounded_rows(*model, log, arm.held, errors, known.box, window=self.setting.window)
        return known.absorb(rows)

    def _answered(self, question: PlanRequest, known: RecursiveBounds) -> PlanReply:
        """A plan with its proof, and the proof checked; or why there is none."""
        begin = time.perf_counter()
        setting = self.setting if question.scene is None else self.setting.among(question.scene)
        try:
            move = None if question.start is None else self._planned(setting, question, known)
        except NoSolutionError as error:
            return PlanReply(known, None, str(error), 0.0, time.perf_counter() - begin)
        proven = time.perf_counter()
        if move is None:
            return PlanReply(known, None, "", 0.0, proven - begin)
        try:
            checked: Move | None = checked_move(setting, move)
            reason = ""
        except (NotCertifiedError, InputError) as error:
            checked, reason = None, f"{refusal(error)} The plan is not driven."
        seconds = 0.0, proven - begin, time.perf_counter() - proven
        return PlanReply(known, checked, reason, *seconds, refuted=checked is None)

    def _planned(self, setting: SafeLearningConfig, question: PlanRequest, known: RecursiveBounds) -> Move:
        begin = time.perf_counter()
        planner = Planner(setting.certifier(known.box), self.cost)
        choose = planner.random if self.random else planner.best
        rng = np.random.default_rng(question.seed)
        assert question.start is not None  # a plan is wanted
        plans = setting.plans(question.start)
        # What the budget is for includes what comes before and after the search.
        left = (
            None if self.budget is None else max(self.budget - (time.perf_counter() - begin) - _AFTER, _AFTER)
        )
        found = choose(plans, rng, budget=left, evaluations=self.evaluations)
        condition = _excitation(setting).condition(found.plan.motion)
        law = setting.controller(known.box)
        return Move(found.plan, known.box, law, found.certificate, condition, found.refused)


def _bodies_alone(known: RecursiveBounds) -> RecursiveBounds:
    """The bounds without loads that cannot exist; takes too long while a robot moves."""
    if not known.remembered.count:
        return known
    try:
        found = guaranteed_bounds(known.remembered, known.box, possible=True)
    except SolverError:
        return known  # bounds that hold are there already
    return replace(known, box=known.box.narrowed(found.lower, found.upper))


def _excitation(setting: SafeLearningConfig) -> PayloadExcitation:
    arm = setting.arm
    return PayloadExcitation(arm.robot, arm.held.link, arm.held.to_link)
