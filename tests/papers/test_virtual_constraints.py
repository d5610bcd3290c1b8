"""Virtual constraints: g by hand, gradients by differences, bounds by sampling, verdicts by Coal."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from oracles.coal_shapes import coal_distance
from oracles.random_robots import random_robot, random_states
from oracles.thread_counts import thread_count
from paper_003.link_ellipsoids import link_ellipsoids
from paper_003.tool_constraints import virtual_constraints_of
from paper_003.virtual_constraints import VirtualConstraints
from paper_003.virtual_pairs import VirtualPair
from steelyard.dynamics import forward_kinematics
from steelyard.errors import InputError, ShapeError
from steelyard.pose import Pose
from steelyard.robot import Box, Capsule, Geometry, MeshFile, Robot, Sphere
from steelyard.robot.joint import Mimic
from steelyard.zoo import zoo_robot

ROD = (Geometry(Capsule(0.03, 0.2), Pose.from_rpy((0.0, 0.5, 0.0), (0.03, 0.0, 0.15))),)


@cache
def med7(*, covering: bool = False) -> VirtualConstraints:
    return virtual_constraints_of(zoo_robot("lbr_med7"), ROD, np.random.default_rng(0), covering=covering)


def folded_poses(count: int) -> np.ndarray:
    """Poses of the Med7 with its elbow and wrist bent far, where the tool is near the arm."""
    robot, rng = zoo_robot("lbr_med7"), np.random.default_rng(0)
    q = rng.uniform(robot.limit_array("lower"), robot.limit_array("upper"), (count, 7))
    bent = np.radians(120.0) * rng.uniform(0.7, 1.0, (count, 3))
    q[:, [1, 3, 5]] = bent * np.array([1.0, 1.0, -1.0]) * rng.choice([-1.0, 1.0], (count, 1))
    return q


def placed(constraints: VirtualConstraints, q: np.ndarray) -> tuple[np.ndarray, list[list[Pose]]]:
    """Every pair's point in the base frame, (N, P, 3), and the pose of its ellipsoid there."""
    robot = constraints.robot
    X = [[Pose(x[:3, :3], x[:3, 3]) for x in row] for row in forward_kinematics(robot, q)]
    frames = [[*row, Pose.identity()] for row in X]  # so that -1 is the base
    points = [[row[robot.tool_frame.link].apply(pair.point) for pair in constraints.pairs] for row in frames]
    shapes = [[row[p.around.link] @ p.around.ellipsoid.pose for p in constraints.pairs] for row in frames]
    return np.array(points), shapes


def assert_gradients_are_differences(constraints: VirtualConstraints, q: np.ndarray) -> None:
    h = 1e-6
    distances, gradients = constraints.gradients(q)
    np.testing.assert_array_equal(distances, constraints.distances(q))
    for k in range(constraints.robot.nv):
        step = h * np.eye(constraints.robot.nv)[k]
        difference = (constraints.distances(q + step) - constraints.distances(q - step)) / (2.0 * h)
        np.testing.assert_allclose(gradients[:, :, k], difference, atol=1e-7)


def test_g_is_that_of_the_paper_with_the_point_in_the_axes_of_the_ellipsoid() -> None:
    constraints = med7()
    q = folded_poses(5)
    points, shapes = placed(constraints, q)
    g = constraints.values(q)
    for n, k in np.ndindex(g.shape):
        x = shapes[n][k].inverse().apply(points[n, k])
        A = np.diag(constraints.pairs[k].around.ellipsoid.semi_axes ** -2.0)
        assert g[n, k] == pytest.approx(x @ A @ x - 1.0, rel=1e-9, abs=1e-9)


def test_distances_have_the_sign_of_g_and_never_exceed_the_distance_to_the_ellipsoid() -> None:
    constraints = med7()
    q = folded_poses(100)
    points, shapes = placed(constraints, q)
    g, d = constraints.values(q), constraints.distances(q)
    np.testing.assert_array_equal(d > 0.0, g > 0.0)
    assert d.min() < 0.0 < d.max()
    rng = np.random.default_rng(1)
    ways = rng.standard_normal((2000, 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    for n, k in zip(*np.nonzero(d > 0.0), strict=True):
        surface = shapes[n][k].apply(ways * constraints.pairs[k].around.ellipsoid.semi_axes)
        assert d[n, k] <= np.linalg.norm(surface - points[n, k], axis=1).min()


@pytest.mark.parametrize("name", ["lbr_med7", "panda", "ur10e", "cheetah3", "scara"])
def test_gradients_on_robots_are_differences(name: str) -> None:
    robot = zoo_robot(name)
    constraints = virtual_constraints_of(robot, ROD, np.random.default_rng(0), count=4)
    assert constraints.pairs
    q, _, _ = random_states(np.random.default_rng(2), robot, 4)
    assert_gradients_are_differences(constraints, q)


def test_gradients_on_random_trees_are_differences() -> None:
    branched = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        robot = random_robot(rng, bodies=8)
        constraints = virtual_constraints_of(robot, ROD, rng, count=2)
        q, _, _ = random_states(rng, robot, 3)
        assert_gradients_are_differences(constraints, q)
        chain, link = [-1], robot.tool_frame.link
        while link >= 0:
            chain.append(link)
            link = robot.joints[link].parent
        branched += any(pair.around.link not in chain for pair in constraints.pairs)
    assert branched >= 2


def test_a_floating_base_moves_no_distance() -> None:
    robot = zoo_robot("panda").floating()
    constraints = virtual_constraints_of(robot, ROD, np.random.default_rng(0), count=3)
    q, _, _ = random_states(np.random.default_rng(3), robot, 4)
    fixed = virtual_constraints_of(zoo_robot("panda"), ROD, np.random.default_rng(0), count=3)
    both = [name for name in constraints.names if name in fixed.names]
    assert len(both) > 5
    d, slopes = constraints.gradients(q)
    own = [constraints.names.index(name) for name in both]
    theirs = [fixed.names.index(name) for name in both]
    np.testing.assert_allclose(d[:, own], fixed.distances(q[:, 7:])[:, theirs], atol=1e-12)
    np.testing.assert_allclose(slopes[:, own, 6:], fixed.gradients(q[:, 7:])[1][:, theirs], atol=1e-12)
    np.testing.assert_array_equal(slopes[:, :, :6], 0.0)


def test_a_joint_that_mimics_another_moves_the_points_through_its_leader() -> None:
    robot = zoo_robot("ur10e")
    tied = replace(robot.joints[3], mimic=Mimic(robot.joints[1].name, -0.7, 0.2))
    follower = replace(robot, joints=(*robot.joints[:3], tied, *robot.joints[4:]))
    constraints = virtual_constraints_of(follower, ROD, np.random.default_rng(0), count=3)
    q = np.random.default_rng(4).uniform(-2.0, 2.0, (5, 5))
    assert_gradients_are_differences(constraints, q)
    free = virtual_constraints_of(robot, ROD, np.random.default_rng(0), count=3)
    whole = np.insert(q, 3, -0.7 * q[:, 1] + 0.2, axis=1)
    both = [name for name in constraints.names if name in free.names]
    np.testing.assert_allclose(
        constraints.distances(q)[:, [constraints.names.index(name) for name in both]],
        free.distances(whole)[:, [free.names.index(name) for name in both]],
        atol=1e-12,
    )


def test_the_adjoint_is_the_weighted_sum_of_gradients() -> None:
    constraints = med7()
    rng = np.random.default_rng(5)
    q = folded_poses(6)
    w = rng.standard_normal((6, len(constraints.pairs)))
    expected = np.einsum("nk,nkv->nv", w, constraints.gradients(q)[1])
    np.testing.assert_allclose(constraints.adjoint(q, w), expected, atol=1e-12)
    with pytest.raises(ShapeError, match="weights"):
        constraints.adjoint(q, w[:, 1:])


def test_threads_change_no_bit() -> None:
    constraints = med7()
    q = folded_poses(900)
    w = np.ones((900, len(constraints.pairs)))
    with thread_count(1):
        alone = (constraints.values(q), *constraints.gradients(q), constraints.adjoint(q, w))
    with thread_count(3):
        shared = (constraints.values(q), *constraints.gradients(q), constraints.adjoint(q, w))
    for one, other in zip(alone, shared, strict=True):
        np.testing.assert_array_equal(one, other)


def test_at_the_centre_of_an_ellipsoid_g_is_minus_one_and_nothing_is_divided_by_zero() -> None:
    constraints = med7()
    pair = constraints.pairs[0]
    q = folded_poses(1)
    _, shapes = placed(constraints, q)
    carrier = forward_kinematics(constraints.robot, q)[0, constraints.robot.tool_frame.link]
    point = Pose(carrier[:3, :3], carrier[:3, 3]).inverse().apply(shapes[0][0].translation)
    at_centre = replace(constraints, pairs=(replace(pair, point=point),))
    assert at_centre.values(q)[0, 0] == pytest.approx(-1.0)
    assert at_centre.distances(q)[0, 0] == pytest.approx(-pair.around.ellipsoid.semi_axes.min())
    assert np.isfinite(at_centre.gradients(q)[1]).all()


def test_the_link_that_holds_the_tool_is_not_watched_and_links_out_of_reach_are_named() -> None:
    constraints = med7()
    owners = {pair.around.owner for pair in constraints.pairs}
    assert "lbr_link_7" not in owners
    assert {"lbr_link_0", "lbr_link_2", "lbr_link_3"} <= owners
    far = {finding.place for finding in constraints.findings if finding.code == "out-of-reach"}
    assert "lbr_link_4" in far
    assert not far & owners
    # At other poses than those looked at no feature point enters an ellipsoid that is not watched.
    robot, features = constraints.robot, constraints.features.points
    left = [item for item in link_ellipsoids(robot) if item.owner in far]
    pairs = tuple(VirtualPair(k, x, item) for item in left for k, x in enumerate(features))
    assert (replace(constraints, pairs=pairs).values(folded_poses(5000)) > 0.0).all()


def test_points_inside_an_ellipsoid_at_rest_are_named_and_not_kept_out() -> None:
    robot = zoo_robot("lbr_med7")
    # A handle that reaches back into the wrist, and a blade.
    tool = [
        Geometry(Box(0.04, 0.04, 0.04), Pose.from_rpy((0.0, 0.0, 0.0), (0.0, 0.0, -0.14))),
        Geometry(Box(0.02, 0.02, 0.02), Pose.from_rpy((0.0, 0.0, 0.0), (0.0, 0.0, 0.3))),
    ]
    constraints = virtual_constraints_of(robot, tool, np.random.default_rng(0), count=2)
    (finding,) = [finding for finding in constraints.findings if finding.place == "lbr_link_6"]
    assert finding.code == "inside-ellipsoid"
    assert "holds 1 of 2 feature points at rest or always" in str(finding)
    assert "lbr_link_6" in {pair.around.owner for pair in constraints.pairs}
    assert (constraints.distances(robot.rest_pose) > 0.0).all()


def collides(robot: Robot, q: np.ndarray) -> bool:
    """Coal's word on the rod and every link but the one that holds it."""
    X = forward_kinematics(robot, q[None])[0]
    frames = [Pose.identity(), *(Pose(x[:3, :3], x[:3, 3]) for x in X)]
    frame = robot.tool_frame
    rod = frames[frame.link + 1] @ frame.placement @ ROD[0].pose
    others = zip((robot.base, *robot.links), frames, strict=True)
    return any(
        coal_distance(ROD[0].shape, rod, item.shape, at @ item.pose) < 0.0
        for index, (link, at) in enumerate(others, start=-1)
        if index != frame.link
        for item in link.collision
    )


def test_balls_that_cover_the_tool_miss_no_collision_and_means_alone_miss_some() -> None:
    points, balls = med7(), med7(covering=True)
    assert points.features.radius == 0.0
    assert balls.features.radius >= balls.features.uncovered > 0.01
    robot = points.robot
    q = folded_poses(1000)
    colliding = np.array([collides(robot, row) for row in q])
    assert 50 < colliding.sum() < 1000
    free = {name: (it.values(q) > 0.0).all(axis=1) for name, it in (("points", points), ("balls", balls))}
    assert not (free["balls"] & colliding).any()
    assert (free["points"] & colliding).any()
    # The price: balls in ellipsoids refuse poses that are free, points hardly any.
    refused = {name: int((~verdict & ~colliding).sum()) for name, verdict in free.items()}
    assert refused["points"] < 10 < refused["balls"]


def test_a_tool_whose_shape_is_not_known_is_refused() -> None:
    robot = zoo_robot("lbr_med7")
    for tool in ((), (Geometry(MeshFile("tool.stl"), Pose.identity()),)):
        with pytest.raises(InputError, match="tool: has no shape that is known here"):
            virtual_constraints_of(robot, tool, np.random.default_rng(0))


def test_a_robot_whose_other_links_have_no_shape_has_no_pairs() -> None:
    robot = zoo_robot("two_link")
    bare = replace(
        robot,
        base=replace(robot.base, collision=()),
        links=tuple(replace(x, collision=()) for x in robot.links),
    )
    constraints = virtual_constraints_of(
        bare, (Geometry(Sphere(0.1), Pose.identity()),), np.random.default_rng(0)
    )
    q = np.zeros((3, 2))
    assert constraints.values(q).shape == (3, 0)
    assert constraints.gradients(q)[1].shape == (3, 0, 2)
    np.testing.assert_array_equal(constraints.adjoint(q, np.zeros((3, 0))), np.zeros((3, 2)))
