"""What logs without torque can show, against hand-made answers and against pairs of arms that move alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.drive import Servo
from steelyard.errors import UnknownNameError
from steelyard.identifiable import Class, servo_structure
from steelyard.layout import layout_of
from steelyard.rollout import ServoArm, ServoCommand, servo_rollout
from steelyard.zoo import zoo_robot

TERMS = ("stiffness", "damping", "armature", "viscous", "coulomb", "limit")


def asked(name: str = "two_link", **options: object):
    return servo_structure(zoo_robot(name), TERMS, rng=np.random.default_rng(0), **options)


def kinds(found) -> dict[str, Class]:
    return dict(zip(found.names, found.classes, strict=True))


def test_with_known_links_all_but_the_sum_of_damping_and_viscous_friction_is_known() -> None:
    found = asked()
    assert found.sums == tuple((f"joint{k}.damping", f"joint{k}.viscous") for k in (1, 2))
    assert found.scales == ()
    assert kinds(found)["joint1.stiffness"] is Class.ALONE
    assert kinds(found)["joint2.limit"] is Class.UNIDENTIFIABLE
    assert found.kept > 1e-4 > 1e-12 > found.dropped
    assert any("sum" in sentence for sentence in found.sentences())


def test_a_limit_that_holds_tells_damping_from_viscous_friction() -> None:
    found = asked(saturates=["joint1"])
    assert found.sums == (("joint2.damping", "joint2.viscous"),)
    assert kinds(found)["joint1.limit"] is kinds(found)["joint1.damping"] is Class.ALONE


def test_without_links_one_scale_of_torque_is_free_and_a_gain_fixes_it() -> None:
    found = asked(links_known=False)
    assert found.scales == (("joint1", "joint2"),)
    assert {kinds(found)[f"joint{k}.stiffness"] for k in (1, 2)} == {Class.GROUPED}
    assert any("scale of torque of joints joint1, joint2" in sentence for sentence in found.sentences())
    fixed = asked(links_known=False, known=["joint2.stiffness"])
    assert fixed.scales == ()
    assert kinds(fixed)["joint1.stiffness"] is kinds(fixed)["joint1.coulomb"] is Class.ALONE
    # The first armature turns as the first link does, and is told from it by nothing.
    assert kinds(fixed)["joint1.armature"] is Class.GROUPED
    assert kinds(fixed)["joint2.armature"] is Class.ALONE


def test_a_chain_of_links_ties_the_gains_of_all_its_joints() -> None:
    robot = zoo_robot("so101")
    found = servo_structure(robot, ("stiffness", "armature"), links_known=False, rng=np.random.default_rng(1))
    assert found.scales == (robot.joint_names,)


def test_what_is_said_to_be_hidden_moves_two_arms_alike_to_the_bit_that_rounds() -> None:
    robot, time = zoo_robot("two_link"), np.linspace(0.0, 2.0, 41)
    u = np.stack([0.5 * np.sin(3.0 * time), 0.4 * np.sin(4.0 * time + 1.0)], axis=1)
    command, arm = ServoCommand(time, u), ServoArm(robot)
    phi = layout_of(robot).complete_nominal()
    servos = [Servo(60.0, 2.0, 0.3, 3.0, 0.5), Servo(40.0, 1.0, 0.1, 1.0, 0.2)]
    start = (command, time, u[0], np.zeros(2))
    q = servo_rollout(arm, servos, *start).q
    moved = [replace(s, damping=0.3 * s.damping, viscous=s.viscous + 0.7 * s.damping) for s in servos]
    np.testing.assert_allclose(servo_rollout(arm, moved, *start).q, q, atol=1e-12)
    scaled = [
        Servo(3 * s.stiffness, 3 * s.damping, 3 * s.armature, 3 * s.viscous, 3 * s.coulomb) for s in servos
    ]
    np.testing.assert_allclose(servo_rollout(arm, scaled, *start, parameters=3 * phi).q, q, atol=1e-10)
    assert np.abs(servo_rollout(arm, scaled, *start).q - q).max() > 1e-3


def test_names_that_do_not_exist_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="stifness"):
        servo_structure(zoo_robot("two_link"), ("stifness",), rng=np.random.default_rng(0))
    with pytest.raises(UnknownNameError, match="joint9"):
        asked(saturates=["joint9"])
    with pytest.raises(UnknownNameError, match=r"joint9\.stiffness"):
        asked(known=["joint9.stiffness"])
