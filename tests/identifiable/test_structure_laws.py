"""Laws of structure: units, lengths and the order of siblings do not matter; long chains are no harder."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oracles.mixed_trees import mixed_tree, rotor_tree
from steelyard.errors import InputError
from steelyard.identifiable import Identifiability, structural_identifiability
from steelyard.layout import layout_of
from steelyard.pose import Pose
from steelyard.robot import Joint, JointKind, Link, Robot
from steelyard.robot.joint import Mimic
from steelyard.zoo import zoo_robot

DRIVES = ["viscous", "coulomb", "offset", "rotor"]


def ask(robot: Robot) -> Identifiability:
    return structural_identifiability(robot, layout_of(robot, DRIVES))


def scaled(robot: Robot, factor: float) -> Robot:
    """Every length times a factor, those in ratios between angles and lengths too."""
    slides = {joint.name: joint.kind is JointKind.PRISMATIC for joint in robot.joints}
    joints = []
    for joint in robot.joints:
        X = Pose(joint.placement.rotation, factor * joint.placement.translation)
        mimic = joint.mimic
        if mimic is not None:
            gain = factor ** (slides[joint.name] - slides[mimic.joint])
            shift = factor if slides[joint.name] else 1.0
            mimic = Mimic(mimic.joint, mimic.multiplier * gain, mimic.offset * shift)
        joints.append(replace(joint, placement=X, pitch=factor * joint.pitch, mimic=mimic))
    return replace(robot, joints=tuple(joints))


@pytest.mark.parametrize("factor", [1e3, 1e-3])
@pytest.mark.parametrize("seed", range(12))
def test_lengths_in_other_units_change_nothing(seed: int, factor: float) -> None:
    for robot in (mixed_tree(np.random.default_rng(seed)), rotor_tree(np.random.default_rng(seed))):
        before, after = ask(robot), ask(scaled(robot, factor))
        assert (before.count, before.classes) == (after.count, after.classes)
        assert after.kept == pytest.approx(before.kept, rel=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_how_strong_gravity_is_changes_nothing(seed: int) -> None:
    robot = mixed_tree(np.random.default_rng(seed))
    before, after = ask(robot), ask(robot.with_gravity(10.0 * robot.gravity))
    assert (before.count, before.classes) == (after.count, after.classes)


@pytest.mark.parametrize("seed", range(20))
def test_siblings_may_come_in_any_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = mixed_tree(rng, bodies=7)
    order: list[int] = []
    while len(order) < len(robot.joints):
        placed = {-1, *order}
        ready = [i for i, joint in enumerate(robot.joints) if i not in placed and joint.parent in placed]
        order.append(int(rng.choice(ready)))
    place = {-1: -1, **{old: new for new, old in enumerate(order)}}
    joints = tuple(replace(robot.joints[i], parent=place[robot.joints[i].parent]) for i in order)
    shuffled = replace(robot, joints=joints, links=tuple(robot.links[i] for i in order))
    before, after = ask(robot), ask(shuffled)
    assert before.count == after.count
    mine = {
        body.link: (body.dim_velocity, body.dim_identifiable, dict(body.classes)) for body in before.bodies
    }
    theirs = {
        body.link: (body.dim_velocity, body.dim_identifiable, dict(body.classes)) for body in after.bodies
    }
    assert mine == theirs


@pytest.mark.parametrize("seed", range(20))
def test_a_free_base_shows_at_least_what_a_fixed_one_shows(seed: int) -> None:
    robot = mixed_tree(np.random.default_rng(seed))
    if any(joint.kind is JointKind.FLOATING for joint in robot.joints):
        return
    fixed, free = ask(robot), ask(robot.floating())
    assert free.count >= fixed.count + 10
    at = {name: k for k, name in enumerate(free.layout.names)}
    columns = [at[name] for name in fixed.layout.names]
    N = fixed.nullspace
    unseen = free.nullspace[columns] / np.abs(free.nullspace[columns]).max(axis=0, initial=1e-300)
    # What the free robot hides of these parameters, the fixed one hides too.
    assert np.linalg.matrix_rank(np.hstack([N / fixed.scales.max(), unseen]), tol=1e-9) == N.shape[1]


@pytest.mark.parametrize("seed", range(10))
def test_rest_shows_no_more_than_motion(seed: int) -> None:
    robot = mixed_tree(np.random.default_rng(seed))
    layout = layout_of(robot, DRIVES)
    moving, still = (structural_identifiability(robot, layout, static=static) for static in (False, True))
    unseen = moving.nullspace / np.abs(moving.nullspace).max(axis=0, initial=0.0)
    assert np.abs(still.descriptor @ unseen).max(initial=0.0) < 1e-9
    assert still.count <= moving.count


def long_chain(count: int, tilt: float) -> Robot:
    X = Pose.from_rpy((tilt, 0.0, 0.3), (0.1, 0.0, 0.02))
    joints = tuple(
        Joint(f"joint{i}", JointKind.REVOLUTE, i - 1, X, np.array([0.0, 0.0, 1.0])) for i in range(count)
    )
    links = tuple(Link(f"link{i}") for i in range(count))
    return Robot("chain", Link("base"), joints, links)


# A planar chain under gravity along its axes never leaves its plane: each link shows mx, my, Izz, the first
# Izz alone. In space every link but the first few shows seven.
@pytest.mark.parametrize(("tilt", "each"), [(0.0, 3), (0.7, 7)], ids=["planar", "spatial"])
def test_a_chain_of_a_thousand_bodies_is_decided_without_a_doubt(tilt: float, each: int) -> None:
    short, long = (long_chain(count, tilt) for count in (20, 1000))
    few = structural_identifiability(short, layout_of(short))
    many = structural_identifiability(long, layout_of(long))
    assert many.count - few.count == each * 980
    assert many.kept > 1e-4
    assert many.dropped < 1e-11
    assert not many.doubtful
    if tilt == 0.0:
        assert many.count == 1 + 3 * 999
        assert {body.dim_velocity for body in many.bodies[1:]} == {4}


def test_what_is_of_another_robot_or_not_linear_is_refused() -> None:
    robot = zoo_robot("two_link")
    with pytest.raises(InputError, match=r"layout"):
        structural_identifiability(robot, layout_of(zoo_robot("scara")))
    with pytest.raises(InputError, match="grows with the load"):
        structural_identifiability(robot, layout_of(robot, ["load"]))
