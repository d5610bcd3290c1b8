"""What a robot is said to need is enough, and little less is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.consistency import inertia_bounds
from steelyard.control import Tube
from steelyard.errors import InputError
from steelyard.layout import layout_of
from steelyard.limits import MotionLimits, NotCertifiedError
from steelyard.motion import SplineMotion
from steelyard.motion.spline import bezier
from steelyard.robot import Robot
from steelyard.safe_learning.planning.certificate import RobustLaw
from steelyard.safe_learning.planning.certifier import PlanCertifier
from steelyard.safe_learning.planning.tube_sizing import OVERSHOOTS, needed_torques, tube_requirements
from steelyard.zoo import zoo_robot

SPREAD, RADIUS, CYCLE = 0.05, 0.016, 0.25e-3
HOME = np.array([0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8])
LAW = RobustLaw("clamped", rest_velocity=0.02)


def panda(rotor: float | None = None, effort: np.ndarray | None = None) -> Robot:
    """The zoo's Panda; with a rotor inertia at every joint, or other torque limits."""
    robot = zoo_robot("panda")
    joints = []
    for k, joint in enumerate(robot.joints):
        drive = joint.drive if rotor is None else replace(joint.drive, rotor=rotor)
        limits = joint.limits if effort is None else replace(joint.limits, effort=float(effort[k]))
        joints.append(replace(joint, drive=drive, limits=limits))
    return replace(robot, joints=tuple(joints))


def certifier(
    robot: Robot, radius: float = RADIUS, drive: tuple[str, ...] = ("viscous", "coulomb", "rotor")
) -> PlanCertifier:
    layout = layout_of(robot, drive)
    phi = layout.complete_nominal()
    rho = SPREAD * np.abs(phi)
    inertia = inertia_bounds(robot, layout, phi, rho).smallest if "rotor" in drive else 1.0
    tube = Tube.of_radius(radius, inertia, 5.0)
    return PlanCertifier(MotionLimits(robot, None, layout, phi), rho, tube, LAW)


def plan(robot: Robot, by: float = 0.3) -> SplineMotion:
    end = HOME + by
    return bezier(robot.joint_names, 1.0, np.stack((HOME, HOME, HOME, end, end, end), axis=1))


def overshoot(at: PlanCertifier, cycle: float) -> float:
    """μ 2 h |w| / σ over the radius, written out from a certificate's own disturbance."""
    w = at.certify(plan(at.limits.robot)).disturbance
    share = 2.0 * cycle * np.linalg.norm(w, axis=1).max() / at.tube.smallest_inertia / at.tube.radius
    return float(OVERSHOOTS * share)


def test_light_rotors_are_named_with_the_inertia_that_would_do() -> None:
    needs = tube_requirements(certifier(panda()), [plan(panda())], CYCLE)
    assert not needs.met
    assert needs.lightest == panda().joint_names
    assert needs.rotor_inertia > 0.1
    assert f"a rotor inertia of at least {needs.rotor_inertia:.3g} kg·m² at panda_joint1" in needs.sentence
    heavy, light = (certifier(panda(share * needs.rotor_inertia)) for share in (1.0, 0.95))
    assert tube_requirements(heavy, [plan(panda())], CYCLE).met
    assert not tube_requirements(light, [plan(panda())], CYCLE).met


def test_the_longest_cycle_and_the_smallest_radius_are_where_the_rule_turns() -> None:
    at = certifier(panda())
    needs = tube_requirements(at, [plan(panda())], CYCLE)
    assert overshoot(at, needs.longest_cycle) == pytest.approx(1.0, rel=0.1)
    wider = certifier(panda(), needs.smallest_radius)
    assert tube_requirements(wider, [plan(panda())], CYCLE).met
    assert not tube_requirements(certifier(panda(), 0.95 * needs.smallest_radius), [plan(panda())], CYCLE).met
    assert overshoot(wider, CYCLE) == pytest.approx(1.0, rel=0.1)


def test_where_the_disturbance_grows_faster_than_the_tube_no_radius_will_do() -> None:
    needs = tube_requirements(certifier(panda()), [plan(panda())], 4e-3)
    assert needs.smallest_radius == np.inf
    assert "a tube of at least" not in needs.sentence


def test_heavy_rotors_need_nothing() -> None:
    needs = tube_requirements(certifier(panda(8.0)), [plan(panda())], 1e-3)
    assert needs.met
    assert needs.lightest == ()
    assert needs.sentence == "The rotors bear a tube of 0.016 rad/s at a cycle of 1 ms."


def test_the_torques_that_are_needed_are_enough_to_be_certified() -> None:
    weak = panda(effort=np.full(7, 5.0))
    with pytest.raises(NotCertifiedError):
        certifier(weak).certify(plan(weak))
    needed = needed_torques(certifier(weak), plan(weak))
    strong = panda(effort=needed)
    assert (certifier(strong).certify(plan(strong)).torque_margins >= 0.0).all()
    with pytest.raises(NotCertifiedError) as caught:
        certifier(panda(effort=0.9 * needed)).certify(plan(weak))
    assert caught.value.kind == "torque"


def test_a_model_without_rotors_and_no_plan_are_refused() -> None:
    with pytest.raises(InputError, match="has no rotor inertias"):
        tube_requirements(certifier(panda(), drive=("viscous",)), [plan(panda())], CYCLE)
    with pytest.raises(InputError, match="one or more"):
        tube_requirements(certifier(panda()), [], CYCLE)
