"""Joints that follow one on another link, as gripper tips do: coupled coordinates, judged by Pinocchio."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oracles.numerical_identifiability import assert_numbers_agree
from oracles.random_robots import random_pose, random_robot
from steelyard.drive import StribeckShape
from steelyard.errors import DescriptionError, InputError
from steelyard.identifiable import (
    exact_identifiability,
    partial_identifiability,
    restricted,
    structural_identifiability,
)
from steelyard.identifiable.base_parameters import echelon_form, row_space
from steelyard.layout import layout_of
from steelyard.robot import Joint, JointKind, Limits, Robot, Rotor
from steelyard.robot.joint import Mimic
from steelyard.zoo import zoo_robot

DRIVES = ([], ["viscous", "coulomb", "offset", "rotor"], ["asymmetric", "offset"])
RATIOS = (-1.0, 1.0, 0.5, -2.0, 3.0)


def coupled_tree(rng: np.random.Generator) -> Robot:
    """A tree in which one or two joints follow another that hangs elsewhere; a third have no gravity."""
    joints: list[Joint] = []
    while len({joint.parent for joint in joints}) < 2:
        robot = random_robot(rng, bodies=int(rng.integers(3, 7)), fixed=False)
        joints = [replace(joint, limits=Limits()) for joint in robot.joints]
    leader = joints[int(rng.integers(len(joints)))]
    elsewhere = [i for i, joint in enumerate(joints) if joint.parent != leader.parent]
    for i in rng.permutation(elsewhere)[: rng.integers(1, 3)]:
        tie = Mimic(leader.name, float(rng.choice(RATIOS)), float(rng.uniform(-1, 1)))
        joints[i] = replace(joints[i], placement=random_pose(rng), mimic=tie)
    gravity = np.zeros(3) if rng.integers(3) == 0 else robot.gravity
    return replace(robot, joints=tuple(joints), gravity=gravity)


@pytest.mark.parametrize("seed", range(18))
def test_numbers_agree_where_joints_follow_one_on_another_link(seed: int) -> None:
    robot = coupled_tree(np.random.default_rng(seed))
    assert structural_identifiability(robot, layout_of(robot)).coupled
    assert_numbers_agree(robot, DRIVES[seed % 3], seed, static=seed % 9 == 8)


def folded(name: str = "two_link") -> Robot:
    """An arm whose second joint follows the first, so that one coordinate moves both links."""
    robot = zoo_robot(name)
    first, second, *rest = robot.joints
    return replace(robot, joints=(first, replace(second, mimic=Mimic(first.name, -0.5, 0.2)), *rest))


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("name", ["two_link", "scara", "puma560"])
def test_numbers_agree_on_arms_of_the_zoo_whose_second_joint_follows_the_first(
    name: str, floating: bool
) -> None:
    robot = folded(name).floating() if floating else folded(name)
    assert_numbers_agree(robot, DRIVES[1], seed=1)


def test_the_answer_says_that_it_is_a_rank_and_has_no_dimensions_of_the_recursion() -> None:
    robot = folded("scara")
    found = structural_identifiability(robot, layout_of(robot, DRIVES[1]))
    assert found.coupled == (robot.joint_names[1],)
    assert not found.doubtful
    assert found.kept > 1e-5 > 1e-12 > found.dropped
    assert {(body.dim_velocity, body.dim_identifiable, body.dim_transfer) for body in found.bodies} == {
        (None, None, None)
    }
    plain = zoo_robot("scara")
    assert structural_identifiability(plain, layout_of(plain)).coupled == ()


def test_the_same_question_gets_the_same_bits_and_other_states_the_same_answer() -> None:
    robot = folded("puma560")
    layout = layout_of(robot, DRIVES[1])
    one, two = (structural_identifiability(robot, layout) for _ in range(2))
    assert np.array_equal(one.descriptor, two.descriptor)
    other = structural_identifiability(robot, layout, rng=np.random.default_rng(99))
    assert other.classes == one.classes
    np.testing.assert_allclose(other.base.matrix, one.base.matrix, atol=1e-8)


def test_stribeck_friction_that_fades_fast_is_told_by_its_law_and_not_by_its_size() -> None:
    robot = folded()
    names = robot.joint_names
    shapes = dict.fromkeys(names, StribeckShape(1e-3, 2.0))
    layout = layout_of(robot, ["viscous", "coulomb", "stribeck"], stribeck=shapes)
    with_it = structural_identifiability(robot, layout)
    without = structural_identifiability(robot, layout_of(robot, ["viscous", "coulomb"]))
    # Joints that fade at one speed of theirs fade at two of the common coordinate: both show.
    assert with_it.count == without.count + 2
    assert with_it.classes[layout.index(f"{names[0]}.stribeck")] == "alone"


def test_rotors_and_partial_measurements_are_asked_about_too() -> None:
    robot = folded("puma560")
    driven = [joint.name for joint in robot.joints if joint.nv == 1]
    geared = robot.with_rotors({name: Rotor(5.0) for name in driven})
    layout = layout_of(geared).fixing(Rotor.spin_only(driven))
    whole = restricted(structural_identifiability(geared, layout))
    found = partial_identifiability(geared, layout, driven, rng=np.random.default_rng(1))
    assert found.count == found.possible == whole.count
    assert found.classes == whole.classes


def test_a_leader_that_is_locked_leaves_a_tree_for_the_recursion() -> None:
    robot = folded("puma560")
    held = robot.locked({"joint1": 0.3})
    assert held.joint_names == ("joint3", "joint4", "joint5", "joint6")
    assert structural_identifiability(held, layout_of(held)).coupled == ()
    held.require_arm()


def test_a_robot_with_several_leaders_is_told_to_lock_them_all_at_once() -> None:
    robot = zoo_robot("puma560")
    ties = {"joint2": Mimic("joint1"), "joint4": Mimic("joint3"), "joint5": Mimic("joint3")}
    tied = replace(robot, joints=tuple(replace(joint, mimic=ties.get(joint.name)) for joint in robot.joints))
    with pytest.raises(DescriptionError, match=r"Lock 'joint1', 'joint3' \(--lock"):
        tied.require_arm()
    tied.locked({"joint1": 0.0, "joint3": 0.0}).require_arm()


def test_what_has_no_recursion_has_no_proof() -> None:
    robot = folded("scara")
    with pytest.raises(InputError, match=r"follows .* another link; .* no proof\. Lock .*, or ask without"):
        exact_identifiability(robot, layout_of(robot))


def test_a_slide_may_follow_a_turn_on_another_link() -> None:
    robot = zoo_robot("scara")
    slide = next(joint for joint in robot.joints if joint.kind is JointKind.PRISMATIC)
    joints = tuple(
        replace(joint, mimic=Mimic(robot.joint_names[0], 0.05)) if joint is slide else joint
        for joint in robot.joints
    )
    assert_numbers_agree(replace(robot, joints=joints), DRIVES[1], seed=3)


def test_a_column_that_differs_by_a_rounded_digit_leads_no_group() -> None:
    """Where a later column shows the direction well; groupings led by round-off would rebuild nothing."""
    first, other = np.random.default_rng(0).normal(size=(2, 40))
    W = np.column_stack([first, first + 3e-8 * other, other])
    found = row_space(W, [0, 1, 2])
    assert found.pivots == (0, 2)
    base = echelon_form(found.rows, found.scales, found.pivots, ["a", "b", "c"])
    np.testing.assert_allclose(W[:, base.columns] @ base.matrix, W, atol=1e-12)
    # Alone it has to lead.
    assert row_space(W[:, :2] + 1e-6 * other[:, None] * [0, 1], [0, 1]).pivots == (0, 1)
