"""A proof is not searched for longer than it takes, and claims no more for being quick."""

from __future__ import annotations

import numpy as np
import pytest

from safe_learning.gen3_plans import DURATION, HOME, LAW, TUBE, gen3, limits_of, model, ring_of_boxes, swing
from steelyard.enclosure import Tracking
from steelyard.errors import InputError
from steelyard.limits import MotionLimits, NotCertifiedError, certify
from steelyard.motion import SplineMotion
from steelyard.robot import Robot
from steelyard.safe_learning.planning.certifier import PlanCertifier
from steelyard.safe_learning.planning.tube import TubeDynamics, TubeForms, TubeTorques

ROBOT = gen3()
LAYOUT, PHI, RHO = model(ROBOT)
AROUND = Tracking(np.full(7, TUBE.position), np.full(7, TUBE.velocity), np.zeros(7))


def certifier(robot: Robot = ROBOT) -> PlanCertifier:
    return PlanCertifier(limits_of(robot), RHO, TUBE, LAW)


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many stretches and instants every call has enclosed the torques of."""
    counts: list[int] = []
    enclose = TubeDynamics.torques

    def counted(self: TubeDynamics, states: TubeForms) -> TubeTorques:
        counts.append(len(states.q.centre))
        return enclose(self, states)

    monkeypatch.setattr(TubeDynamics, "torques", counted)
    return counts


@pytest.mark.parametrize("seed", range(3))
def test_without_sharpness_a_proof_takes_fewer_stretches_and_claims_less(seed: int) -> None:
    limits = limits_of(ROBOT, ring_of_boxes())
    limits = MotionLimits(ROBOT, limits.clearance)
    plan = swing(ROBOT, np.random.default_rng(seed).uniform(-0.25, 0.25, 7))
    quick, sharp = (
        certify(limits, plan, tracking=AROUND, most_stretches=512, first_stretches=first, sharpness=share)
        for first, share in ((4, 0.0), (16, 0.5))
    )
    assert quick.stretches < sharp.stretches
    at = plan.sample(np.linspace(0.0, DURATION, 2001))
    seen = limits.margins(at.q, at.v, at.a)
    for kind in ("position", "velocity", "acceleration", "clearance"):
        fast, slow = quick.smallest(kind), sharp.smallest(kind)
        assert fast is not None
        assert slow is not None
        assert 0.0 <= fast.margin <= slow.margin <= getattr(seen, kind).min()


def test_numbers_of_the_search_that_make_no_sense_are_refused() -> None:
    limits, plan = MotionLimits(ROBOT), swing(ROBOT, 0.1)
    for share in (-0.1, 1.0, np.nan):
        with pytest.raises(InputError, match="from 0 to below 1"):
            certify(limits, plan, sharpness=share)
    with pytest.raises(InputError, match="at least 1"):
        certify(limits, plan, first_stretches=0)


def just_enough(plan: SplineMotion, share: float) -> PlanCertifier:
    """The certifier whose torque limits are a share of what the first stretches need."""
    needed = 1e4 - certifier(gen3(1e4)).certify(plan).torque_margins
    return certifier(gen3(share * needed))


def test_no_more_stretches_are_looked_at_than_allowed(looked_at: list[int]) -> None:
    """Torque limits close in on the least that is certified; instants come on top of the stretches."""
    plan, low, high, longest = swing(ROBOT, 0.4), 0.5, 1.0, 0
    for _ in range(12):
        share = 0.5 * (low + high)
        at = just_enough(plan, share)
        looked_at.clear()
        try:
            at.certify(plan, most_stretches=24)
            high = share
        except NotCertifiedError:
            low = share
        assert sum(looked_at[::2]) <= 24
        longest = max(longest, sum(looked_at[::2]))
    assert longest > 8


def test_a_hopeless_plan_is_refused_after_one_look_at_instants(looked_at: list[int]) -> None:
    plan = swing(ROBOT, 0.4)
    at = just_enough(plan, 0.5)
    looked_at.clear()
    with pytest.raises(NotCertifiedError, match="may exceed its limit"):
        at.certify(plan)
    assert len(looked_at) == 2


def test_a_plan_in_pieces_is_cut_at_its_breaks() -> None:
    control = HOME[:, None] + 0.05 * np.random.default_rng(3).uniform(-1, 1, (7, 8)).cumsum(axis=1)
    plan = SplineMotion(ROBOT.joint_names, np.array([0.0, 0.7, 1.9, DURATION]), control)
    edges = certifier().certify(plan).edges
    assert np.isin(plan.breaks, edges).all()
    assert np.diff(edges).max() <= DURATION / 8 * (1.0 + 1e-6)
