"""A certified plan breaks no limit anywhere in its tube and box; one that may is refused by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from safe_learning.gen3_plans import (
    DURATION,
    LAW,
    TUBE,
    draw,
    gen3,
    limits_of,
    model,
    ring_of_boxes,
    swing,
    with_effort,
)
from steelyard.archive import from_document, to_document
from steelyard.control import Tube
from steelyard.dynamics import forward_kinematics
from steelyard.errors import InputError
from steelyard.limits import MotionLimits, NotCertifiedError, Scene
from steelyard.limits.scene import Obstacle
from steelyard.pose import Pose
from steelyard.robot import Sphere
from steelyard.safe_learning.planning.certificate import PlanCertificate, RobustLaw
from steelyard.safe_learning.planning.certifier import PlanCertifier

ROBOT = gen3()
_, _, RHO = model(ROBOT)


def proven(limits: MotionLimits, plan: object, tube: Tube = TUBE, share: float = 1.0) -> PlanCertificate:
    return PlanCertifier(limits, share * RHO, tube, LAW).certify(plan)


@pytest.fixture(scope="module")
def surrounded() -> MotionLimits:
    return limits_of(ROBOT, ring_of_boxes())


@pytest.mark.parametrize("seed", range(3))
def test_nothing_drawn_from_the_tube_of_a_certified_plan_breaks_a_limit(
    seed: int, surrounded: MotionLimits
) -> None:
    rng = np.random.default_rng(seed)
    plan = swing(ROBOT, rng.uniform(-0.25, 0.25, 7))
    certificate = proven(surrounded, plan)
    drawn = draw(rng, ROBOT, plan, (0.0, DURATION), 2000)
    bounds = surrounded.bounds
    assert ((drawn.q >= bounds.lower) & (drawn.q <= bounds.upper)).all()
    assert (np.abs(drawn.v) <= bounds.velocity).all()
    # The clamped law pushes along -r, at most as hard as the disturbance along r.
    n = drawn.r / np.linalg.norm(drawn.r, axis=1, keepdims=True)
    most = (np.abs(n) * drawn.disturbance).sum(axis=1, keepdims=True)
    torque = np.abs(drawn.nominal - most * n)
    assert (torque <= bounds.effort).all()
    assert (bounds.effort - torque.max(axis=0) >= certificate.torque_margins).all()
    assert surrounded.clearance is not None
    gap = certificate.motion.smallest("clearance")
    assert gap is not None
    assert surrounded.clearance.distances(drawn.q).min() >= gap.margin


def refusal(limits: MotionLimits, plan: object) -> NotCertifiedError:
    with pytest.raises(NotCertifiedError) as caught:
        proven(limits, plan)
    error = caught.value
    assert error.margin < 0.0
    assert 0.0 <= error.instant <= DURATION
    return error


def test_a_weak_joint_is_named_with_the_torque_it_lacks() -> None:
    effort = np.array([56.7, 3.0, 56.7, 56.7, 29.4, 29.4, 29.4])
    robot = gen3(effort)
    error = refusal(limits_of(robot), swing(robot, 0.2))
    assert (error.kind, error.name) == ("torque", "gen3_joint_2")
    assert "may exceed its limit of 3 N·m by" in str(error)
    enough = with_effort(robot, effort - 1.05 * error.margin * np.eye(7)[1] + 15.0)
    proven(limits_of(enough), swing(enough, 0.2))


def test_an_obstacle_in_the_way_is_named() -> None:
    plan = swing(ROBOT, (0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    middle = plan.sample(np.array([0.5 * DURATION])).q
    wrist = forward_kinematics(ROBOT, middle, [ROBOT.link_names[6]])[0, 0, :3, 3]
    scene = Scene((Obstacle("ball", Sphere(0.05), Pose(np.eye(3), wrist)),))
    error = refusal(limits_of(ROBOT, scene), plan)
    assert error.kind == "clearance"
    assert "sphere 'ball'" in error.name


def test_a_joint_that_would_leave_its_range_is_named() -> None:
    error = refusal(limits_of(ROBOT), swing(ROBOT, (0.0, 0.0, 0.0, -0.5, 0.0, 0.0, 0.0)))
    assert (error.kind, error.name) == ("position", "gen3_joint_4")


def test_the_velocity_error_of_the_tube_counts() -> None:
    """The plan alone peaks at 1.3875 rad/s, below the limit of 1.3963; with twice the tube it does not."""
    plan = swing(ROBOT, (1.11, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0), duration=1.5)
    assert np.abs(plan.sample(np.linspace(0.0, 1.5, 301)).v).max() < 1.39
    error = refusal(limits_of(ROBOT), plan)
    assert (error.kind, error.name) == ("velocity", "gen3_joint_1")
    assert error.margin > -TUBE.velocity


@pytest.mark.parametrize("seed", range(3))
def test_a_smaller_box_or_tube_is_certified_wherever_a_larger_one_is(seed: int) -> None:
    """The limits are set to what the larger one just needs."""
    plan = swing(ROBOT, np.random.default_rng(seed).uniform(-0.4, 0.4, 7))
    large = proven(limits_of(gen3(1e4)), plan)
    just = limits_of(gen3((1e4 - large.torque_margins) * (1.0 + 1e-12)))
    proven(just, plan)
    for tube, share in ((TUBE, 0.9), (TUBE, 0.0), (Tube.of_radius(0.0158, 7.6, 5.0), 1.0), (tiny(), 1.0)):
        assert (proven(just, plan, tube, share).torque_margins >= 0.0).all()
    with pytest.raises(NotCertifiedError):
        proven(limits_of(gen3(0.5 * just.bounds.effort)), plan)


def tiny() -> Tube:
    return Tube.of_radius(1e-6, 7.6, 5.0)


def test_a_stretch_too_wide_for_a_proof_is_halved() -> None:
    """With limits that only just hold, the first stretches do not suffice."""
    plan = swing(ROBOT, 0.4)
    coarse = proven(limits_of(gen3(1e4)), plan)
    need = 1e4 - coarse.torque_margins
    tighter = limits_of(gen3(0.999 * need))
    fine = proven(tighter, plan)
    assert len(fine.edges) > len(coarse.edges)
    assert (fine.torque_margins >= 0.0).all()


def test_a_certificate_is_read_back_in_every_bit_and_cannot_claim_what_it_does_not_show() -> None:
    certificate = proven(limits_of(ROBOT), swing(ROBOT, 0.2))
    again = from_document(PlanCertificate, to_document(certificate))
    assert to_document(again) == to_document(certificate)
    with pytest.raises(ValueError, match="read-only"):
        again.robust[0, 0] = 0.0
    with pytest.raises(InputError, match="this proves nothing"):
        replace(certificate, effort=0.1 * certificate.effort)
    with pytest.raises(InputError, match="must increase from 0"):
        replace(certificate, edges=certificate.edges[::-1])


def test_limits_without_a_model_and_plans_of_other_joints_are_refused() -> None:
    plan = swing(ROBOT, 0.2)
    with pytest.raises(InputError, match="no model of the torques"):
        PlanCertifier(MotionLimits(ROBOT), RHO, TUBE, RobustLaw()).certify(plan)
    with pytest.raises(InputError, match="moves the joints"):
        proven(limits_of(ROBOT), replace(plan, joints=tuple(reversed(plan.joints))))


def test_the_componentwise_law_leaves_the_wrist_more_room() -> None:
    plan, limits = swing(ROBOT, 0.2), limits_of(ROBOT)
    clamped = proven(limits, plan)
    law = RobustLaw("componentwise", 0.1, LAW.rest_velocity)
    component = PlanCertifier(limits, RHO, TUBE, law).certify(plan)
    assert component.torque_margins[6] > clamped.torque_margins[6]
