"""Clearance of whole robots: which pairs are watched, their distances by Coal, gradients by differences."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from oracles.coal_shapes import coal_distance
from oracles.random_robots import random_robot, random_states
from oracles.thread_counts import thread_count
from steelyard.dynamics import forward_kinematics
from steelyard.errors import ShapeError, UnknownNameError
from steelyard.finding import Severity
from steelyard.inertia import Body
from steelyard.limits import Clearance, Hull, Scene, Zonotope, clearance_of
from steelyard.limits.parts import Pair
from steelyard.limits.scene import Obstacle
from steelyard.pose import Pose
from steelyard.robot import (
    Box,
    Capsule,
    Cylinder,
    Geometry,
    Joint,
    JointKind,
    Limits,
    Link,
    MeshFile,
    Robot,
    Sphere,
)
from steelyard.robot.joint import Mimic
from steelyard.zoo import ZOO, zoo_robot

Z = np.array([0.0, 0.0, 1.0])


def at(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Pose:
    return Pose(np.eye(3), np.array([x, y, z]))


def scene(*, cylinder: bool = True) -> Scene:
    rng = np.random.default_rng(0)
    turned = [Pose.from_quaternion(rng.standard_normal(4), p) for p in 0.5 * rng.standard_normal((5, 3))]
    obstacles = [
        Obstacle("table", Box(1.0, 0.8, 0.1), turned[0]),
        Obstacle("ball", Sphere(0.1), turned[1]),
        Obstacle("rail", Capsule(0.05, 0.6), turned[2]),
        Obstacle("rock", Hull(0.15 * rng.standard_normal((12, 3))), turned[3]),
        Obstacle("person", Zonotope(np.zeros(3), 0.1 * rng.standard_normal((4, 3))), turned[4]),
    ]
    if cylinder:
        obstacles.append(Obstacle("drum", Cylinder(0.2, 0.5), turned[0] @ turned[1]))
    return Scene(tuple(obstacles))


def moved(robot: Robot, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """The positions (N, nq) after a small step (nv,), along the child's twist where there is a quaternion."""
    result = q.copy()
    coordinate = dof = 0
    for joint in robot.joints:
        rates = step[dof : dof + joint.nv]
        if joint.nq == 1:
            result[:, coordinate] += rates[0]
        elif joint.nq:
            turn = slice(coordinate + joint.nq - 4, coordinate + joint.nq)
            for n in range(len(q)):
                here = Pose.from_quaternion(q[n, turn])
                if joint.nq == 7:
                    result[n, coordinate : coordinate + 3] += here.rotation @ rates[:3]
                half = Pose.from_quaternion([*(rates[-3:] / 2), 1.0])
                result[n, turn] = (here @ half).quaternion
        coordinate, dof = coordinate + joint.nq, dof + joint.nv
    return result


def assert_gradients_are_differences(clearance: Clearance, q: np.ndarray) -> None:
    robot, h = clearance.robot, 1e-6
    distances, gradients = clearance.gradients(q)
    np.testing.assert_array_equal(distances, clearance.distances(q))
    kinks = 0
    for k in range(robot.nv):
        ahead = clearance.distances(moved(robot, q, h * np.eye(robot.nv)[k]))
        behind = clearance.distances(moved(robot, q, -h * np.eye(robot.nv)[k]))
        smooth = np.abs(ahead + behind - 2 * distances) < 1e-9
        kinks += int((~smooth).sum())
        off = np.abs(gradients[:, :, k] - (ahead - behind) / (2 * h))
        assert off[smooth].max(initial=0.0) < 1e-6
    assert kinks < 0.01 * gradients.size


def arm(kind: JointKind, **numbers: float) -> Robot:
    """Two capsules on a joint of some kind, and a second one that is a hinge."""
    bar = (Geometry(Capsule(0.05, 0.4), Pose.from_rpy([0.3, 0.2, 0.1], [0.1, 0.0, 0.3])),)
    first = Joint("first", kind, -1, at(z=0.2), Z, **numbers)
    second = Joint("second", JointKind.REVOLUTE, 0, Pose.from_rpy([1.0, 0.0, 0.4], [0.0, 0.1, 0.6]), Z)
    links = (Link("upper", collision=bar), Link("lower", collision=bar))
    return Robot("arm", Link("base", collision=(Geometry(Box(0.2, 0.2, 0.1), at()),)), (first, second), links)


@pytest.mark.parametrize("name", ["panda", "ur10e", "cheetah3", "scara"])
def test_distances_of_a_robot_are_coals(name: str) -> None:
    robot = zoo_robot(name)
    around = scene(cylinder=False)
    clearance = clearance_of(robot, around)
    q, _, _ = random_states(np.random.default_rng(1), robot, 3)
    X = forward_kinematics(robot, q)
    shapes = {}
    for index, link in enumerate((robot.base, *robot.links), start=-1):
        for k, item in enumerate(link.collision):
            title = link.name if len(link.collision) == 1 else f"{link.name}[{k}]"
            shapes[title] = (index, item.shape, item.pose)
    for obstacle in around.obstacles:
        shapes[obstacle.title] = (-1, obstacle.shape, obstacle.pose)

    def placed(title: str, n: int) -> tuple[object, Pose]:
        link, shape, pose = shapes[title]
        carrier = Pose.identity() if link < 0 else Pose(X[n, link, :3, :3], X[n, link, :3, 3])
        return shape, carrier @ pose

    distances = clearance.distances(q)
    for n in range(len(q)):
        for k, pair in enumerate(clearance.pairs):
            judged = coal_distance(*placed(pair.first.title, n), *placed(pair.second.title, n))
            assert abs(distances[n, k] - judged) < 1e-9, pair.name


@pytest.mark.parametrize("name", list(ZOO))
def test_gradients_on_the_zoo_are_differences(name: str) -> None:
    robot = zoo_robot(name)
    q, _, _ = random_states(np.random.default_rng(2), robot, 4)
    assert_gradients_are_differences(clearance_of(robot, scene()), q)


@pytest.mark.parametrize(
    "robot",
    [
        arm(JointKind.SPHERICAL),
        arm(JointKind.FLOATING),
        arm(JointKind.HELICAL, pitch=0.1),
        arm(JointKind.PRISMATIC),
        zoo_robot("panda").floating(),
    ],
    ids=["spherical", "floating", "helical", "prismatic", "floating panda"],
)
def test_gradients_follow_every_kind_of_joint(robot: Robot) -> None:
    rng = np.random.default_rng(3)
    q = rng.uniform(-1.0, 1.0, (5, robot.nq))
    assert_gradients_are_differences(clearance_of(robot, scene()), q)


def test_a_joint_that_mimics_another_moves_the_distance_through_its_leader() -> None:
    robot = arm(JointKind.REVOLUTE)
    tied = replace(robot.joints[1], mimic=Mimic("first", -0.7, 0.2))
    follower = replace(robot, joints=(robot.joints[0], tied))
    clearance = clearance_of(follower, scene())
    q = np.linspace(-1.0, 1.0, 9)[:, None]
    free = clearance_of(robot, scene()).distances(np.hstack([q, -0.7 * q + 0.2]))
    np.testing.assert_allclose(clearance.distances(q), free, atol=1e-14)
    assert_gradients_are_differences(clearance, q)


@pytest.mark.parametrize("name", ["panda", "cheetah3"])
def test_the_adjoint_is_the_weighted_sum_of_gradients(name: str) -> None:
    rng = np.random.default_rng(4)
    robot = zoo_robot(name)
    clearance = clearance_of(robot, scene())
    q, _, _ = random_states(rng, robot, 6)
    w = rng.standard_normal((6, len(clearance.pairs))) * (rng.random((6, len(clearance.pairs))) < 0.5)
    expected = np.einsum("nk,nkv->nv", w, clearance.gradients(q)[1])
    np.testing.assert_allclose(clearance.adjoint(q, w), expected, atol=1e-12)
    with pytest.raises(ShapeError, match="weights"):
        clearance.adjoint(q, w[:, 1:])


def test_threads_change_no_bit() -> None:
    robot = zoo_robot("panda")
    clearance = clearance_of(robot, scene())
    q, _, _ = random_states(np.random.default_rng(5), robot, 70)
    w = np.ones((70, len(clearance.pairs)))
    with thread_count(1):
        alone = (clearance.distances(q), *clearance.gradients(q), clearance.adjoint(q, w))
    with thread_count(3):
        shared = (clearance.distances(q), *clearance.gradients(q), clearance.adjoint(q, w))
    for one, other in zip(alone, shared, strict=True):
        np.testing.assert_array_equal(one, other)


def test_moving_robot_and_scene_together_changes_nothing() -> None:
    robot, around = zoo_robot("ur10e"), scene()
    X = Pose.from_rpy([0.4, -0.3, 2.0], [1.0, 2.0, 3.0])
    joints = tuple(
        replace(joint, placement=X @ joint.placement) if joint.parent < 0 else joint for joint in robot.joints
    )
    elsewhere = replace(robot, joints=joints)
    carried = Scene(tuple(replace(item, pose=X @ item.pose) for item in around.obstacles))
    q, _, _ = random_states(np.random.default_rng(6), robot, 5)
    before, after = clearance_of(robot, around).gradients(q), clearance_of(elsewhere, carried).gradients(q)
    for one, other in zip(before, after, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


@pytest.mark.parametrize("name", list(ZOO))
def test_every_link_of_the_zoo_can_be_checked_and_rests_free_of_itself(name: str) -> None:
    robot = zoo_robot(name)
    clearance = clearance_of(robot)
    assert {finding.code for finding in clearance.findings} <= {"overlapping-pair"}
    # Neighbours meet at their joint; beyond them at most three pairs touch because they are built so.
    assert sum(not _neighbours(robot, pair) for pair in clearance.excluded) <= 3
    # The thighs of cheetah3 overlap its torso at rest, as they are drawn, and are apart elsewhere.
    assert name == "cheetah3" or {finding.severity for finding in clearance.findings} <= {Severity.INFO}
    assert (clearance.distances(robot.rest_pose) >= 0.0).all()
    for pair in clearance.excluded:
        gap = abs(pair.first.link - pair.second.link)
        assert gap <= 3 or _neighbours(robot, pair), f"{pair.name} are far apart on the chain"


def _neighbours(robot: Robot, pair: Pair) -> bool:
    high, low = max(pair.first.link, pair.second.link), min(pair.first.link, pair.second.link)
    return robot.joints[high].parent == low


def test_neighbours_are_watched_where_they_do_not_meet_at_their_joint() -> None:
    watched = {pair.name for pair in clearance_of(zoo_robot("ur10e")).pairs}
    # The elbow of a UR10e folds its forearm onto the upper arm, long before its own limit.
    assert "forearm_link[1] – upper_arm_link[0]" in watched
    clearance = clearance_of(zoo_robot("panda"))
    owners = {pair.owners for pair in clearance.pairs}
    assert frozenset({"panda_link0", "panda_link1"}) not in owners
    assert frozenset({"panda_link0", "panda_link7"}) in owners
    assert all(pair.first.link > pair.second.link for pair in clearance.pairs)


def test_what_overlaps_at_rest_is_left_out_and_said() -> None:
    robot = arm(JointKind.REVOLUTE)
    big = replace(robot.base, collision=(Geometry(Sphere(2.0), at()),))
    clearance = clearance_of(replace(robot, base=big))
    assert "lower – base" in [pair.name for pair in clearance.excluded]
    assert "lower – base" not in clearance.names
    (finding,) = (finding for finding in clearance.findings if finding.place == "lower – base")
    assert finding.code == "overlapping-pair"
    assert "are not kept apart" in finding.message


def test_an_overlap_with_the_scene_is_kept_and_said() -> None:
    clearance = clearance_of(arm(JointKind.REVOLUTE), Scene((Obstacle("wall", Box(4.0, 4.0, 4.0), at()),)))
    assert [finding.code for finding in clearance.findings] == ["scene-overlap", "scene-overlap"]
    assert {"upper – box 'wall'", "lower – box 'wall'"} <= set(clearance.names)


def test_pairs_asked_to_be_ignored_are_and_that_is_said() -> None:
    robot, around = arm(JointKind.REVOLUTE), scene()
    every = clearance_of(robot, around)
    fewer = clearance_of(robot, around, ignore=[("table", "upper")])
    assert set(every.names) - set(fewer.names) == {"upper – box 'table'"}
    assert [finding.code for finding in fewer.findings].count("ignored-pair") == 1
    with pytest.raises(UnknownNameError, match="Did you mean 'table'"):
        clearance_of(robot, around, ignore=[("tabel", "upper")])


def test_a_tool_is_watched_against_every_link_but_its_own() -> None:
    robot = zoo_robot("panda")
    probe = Geometry(Capsule(0.01, 0.2), at(z=0.12))
    clearance = clearance_of(robot, tool=[probe])
    partners = {pair.second.owner for pair in clearance.pairs if pair.first.owner == "tool"}
    assert "panda_link6" in partners
    assert "panda_link7" not in partners
    held = robot.with_body("probe", Body(0.1, np.zeros(3), 1e-4 * np.eye(3)), collision=[probe])
    q, _, _ = random_states(np.random.default_rng(7), robot, 4)
    as_tool = clearance.distances(q)[:, clearance.names.index("tool – panda_link1")]
    bolted = clearance_of(held)
    np.testing.assert_allclose(
        bolted.distances(q)[:, bolted.names.index("panda_link7[2] – panda_link1")], as_tool, atol=1e-14
    )


def test_links_without_shapes_and_meshes_out_of_reach_are_reported() -> None:
    robot = arm(JointKind.REVOLUTE)
    meshed = Link("lower", collision=(Geometry(MeshFile("lower.stl"), at()),))
    clearance = clearance_of(replace(robot, links=(Link("upper"), meshed)))
    assert {finding.code: finding.place for finding in clearance.findings} == {
        "no-shape": "upper",
        "unchecked-shape": "lower",
    }
    assert not clearance.pairs
    assert clearance.distances(np.zeros((3, 2))).shape == (3, 0)
    assert clearance.gradients(np.zeros((3, 2)))[1].shape == (3, 0, 2)


def test_a_mesh_is_covered_by_few_corners_and_not_by_much(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    points = rng.standard_normal((2000, 3))
    points *= np.array([0.1, 0.15, 0.3]) / np.linalg.norm(points, axis=1, keepdims=True)
    faces = "".join(f"f {k} {k + 1} {k + 2}\n" for k in range(1, 1999))
    text = "".join(f"v {x!r} {y!r} {z!r}\n" for x, y, z in points.tolist())
    (tmp_path / "lower.obj").write_text(text + faces)
    robot = arm(JointKind.REVOLUTE)
    pose = Pose.from_rpy([0.2, 0.1, 0.0], [0.0, 0.0, 0.4])
    meshed = Link("lower", collision=(Geometry(MeshFile("lower.obj"), pose),))
    wall = Scene((Obstacle("wall", Box(0.2, 9.0, 9.0), at(1.2)),))
    clearance = clearance_of(replace(robot, links=(robot.links[0], meshed)), wall, meshes=tmp_path)
    (finding,) = [finding for finding in clearance.findings if finding.code == "thickened-mesh"]
    (pair,) = [pair for pair in clearance.pairs if pair.name == "lower – box 'wall'"]
    assert len(pair.first.core.points) <= 48
    assert pair.first.core.radius < 0.02
    assert "48 corners" in finding.message
    q = rng.uniform(-3, 3, (20, 2))
    X = forward_kinematics(robot, q)[:, 1]
    corners = np.einsum("nij,kj->nki", X[:, :3, :3], pose.apply(points)) + X[:, None, :3, 3]
    # The wall's near face is the only one the arm reaches.
    exact = 1.1 - corners[:, :, 0].max(axis=1)
    found = clearance.distances(q)[:, clearance.names.index(pair.name)]
    assert (exact > 0).all()
    assert (found <= exact + 1e-12).all()
    assert (found >= exact - pair.first.core.radius - 1e-12).all()


def test_segments_that_cross_in_a_plane_stay_crossed_while_they_move_in_it() -> None:
    robot = zoo_robot("panda")
    clearance = clearance_of(robot)
    pair = clearance.names.index("panda_link5[0] – panda_link3")
    folded = np.array([0.3, 0.4, 0.5, -4.0, 0.6, 0.7, 0.8])
    q = np.tile(folded, (80, 1))
    q[:, 3] = np.linspace(-4.7, -4.1, 80)
    distances, gradients = clearance.gradients(q)
    crossed = np.isclose(distances[:, pair], -0.12, atol=1e-13)
    assert crossed.all()
    np.testing.assert_allclose(gradients[crossed, pair, 3], 0.0, atol=1e-12)


def test_random_trees_with_any_shapes_agree_with_differences() -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)
        robot = random_robot(rng, bodies=5)
        q, _, _ = random_states(rng, robot, 3)
        assert_gradients_are_differences(clearance_of(robot, scene()), q)


def test_the_rest_pose_lies_within_the_limits() -> None:
    robot = arm(JointKind.REVOLUTE, limits=Limits(0.5, 1.0))
    np.testing.assert_array_equal(robot.rest_pose, [0.5, 0.0])
    np.testing.assert_array_equal(robot.floating().rest_pose, [0, 0, 0, 0, 0, 0, 1, 0.5, 0.0])
