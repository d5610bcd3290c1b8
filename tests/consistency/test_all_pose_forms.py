"""Forms that pass a joint, and kinetic energy as constant forms per link; judged by flows and Pinocchio."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
import scipy.linalg

from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import link_parameters, random_robot
from steelyard.consistency.all_poses.check import _positive, reaches
from steelyard.consistency.all_poses.energy import (
    axis_of,
    bracket,
    energy_blocks,
    exact_number,
    exact_to_child,
    idle_links,
    passing_forms,
)
from steelyard.layout import layout_of
from steelyard.pose import Pose
from steelyard.robot import Joint, JointKind, Robot
from steelyard.zoo import zoo_robot

KINDS = [(JointKind.REVOLUTE, 0.0, 10), (JointKind.PRISMATIC, 0.0, 16), (JointKind.HELICAL, 0.2, 8)]


def tilted(kind: JointKind, pitch: float) -> Joint:
    u = np.array([0.36, -0.48, 0.8])
    X = Pose.from_rpy((0.3, -0.7, 1.1), (0.2, -0.1, 0.4))
    return Joint("j", kind, -1, X, u, pitch=pitch)


def adjoint(pose: pin.SE3) -> np.ndarray:
    """Twists of the parent seen from a child at a pose, by Pinocchio, linear part first."""
    return np.array(pose.inverse().action)


def child_pose(joint: Joint, q: float) -> pin.SE3:
    """Where the child is, by Pinocchio's exponential."""
    s = axis_of(joint).astype(float)
    start = pin.SE3(joint.placement.rotation.copy(), joint.placement.translation.copy())
    return start * pin.exp6(pin.Motion(s * q))


@pytest.mark.parametrize(("kind", "pitch", "count"), KINDS)
def test_forms_pass_a_joint_unchanged_at_every_position(kind: JointKind, pitch: float, count: int) -> None:
    joint, rng = tilted(kind, pitch), np.random.default_rng(0)
    forms = [
        F.astype(float) for F in passing_forms(joint, exact_number(np.eye(7)[:6]), exact_number(np.eye(7)[6]))
    ]
    assert len(forms) == count
    A = exact_to_child(joint).astype(float)
    np.testing.assert_allclose(A, adjoint(child_pose(joint, 0.0)), atol=1e-14)
    for q in rng.uniform(-3, 3, 5):
        V, rate = rng.normal(size=6), rng.normal()
        here = np.append(adjoint(child_pose(joint, q)) @ V, rate)
        there = np.append(A @ V, rate)
        for F in forms:
            assert here @ F @ here == pytest.approx(there @ F @ there, abs=1e-12)


@pytest.mark.parametrize(("kind", "pitch", "count"), KINDS)
def test_no_other_form_passes(kind: JointKind, pitch: float, count: int) -> None:
    joint = tilted(kind, pitch)
    flow = scipy.linalg.block_diag(bracket(joint).astype(float), 0.0)
    rows, columns = np.triu_indices(7)
    changes = []
    for i, j in zip(rows, columns, strict=True):
        F = np.zeros((7, 7))
        F[i, j] = F[j, i] = 1.0
        changes.append((flow.T @ F + F @ flow)[rows, columns])
    assert 28 - np.linalg.matrix_rank(np.array(changes), tol=1e-9) == count
    forms = passing_forms(joint, exact_number(np.eye(7)[:6]), exact_number(np.eye(7)[6]))
    assert np.linalg.matrix_rank(np.array([F.astype(float)[rows, columns] for F in forms]), tol=1e-9) == count


def robots() -> list[Robot]:
    trees = [random_robot(np.random.default_rng(seed), bodies=6, shapes=("solid",)) for seed in (0, 1)]
    screws = [
        replace(joint, kind=JointKind.HELICAL, pitch=0.1) if k == 2 else joint
        for k, joint in enumerate(trees[1].joints)
    ]
    return [zoo_robot("panda"), zoo_robot("scara"), trees[0], replace(trees[1], joints=tuple(screws))]


@pytest.mark.parametrize("robot", robots(), ids=lambda robot: robot.name)
def test_the_forms_sum_to_the_kinetic_energy_whatever_is_moved(robot: Robot) -> None:
    rng, n = np.random.default_rng(3), robot.nv
    layout = layout_of(robot, ["rotor"])
    blocks = energy_blocks(robot, layout, idle_links(robot, [False] * n))
    bodies, rotors = link_parameters(robot), rng.uniform(0.1, 0.5, n)
    theta = np.concatenate([bodies.ravel(), rotors, rng.normal(size=blocks.size)])
    judge = PinocchioRobot.of(robot, bodies)
    for _ in range(4):
        q, v = rng.uniform(-2, 2, n), rng.normal(size=n)
        z = _coordinates(robot, judge, q, v)
        X = [np.tensordot(theta[b.columns], b.matrices, 1) for b in blocks.blocks]
        total = sum(z_i @ X_i @ z_i for z_i, X_i in zip(z, X, strict=True))
        M = judge.mass_matrix(q) + np.diag(rotors)
        assert total == pytest.approx(v @ M @ v, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("robot", robots(), ids=lambda robot: robot.name)
def test_what_never_occurs_does_not_and_the_rest_does(robot: Robot) -> None:
    rng, n = np.random.default_rng(4), robot.nv
    judge = PinocchioRobot.of(robot, link_parameters(robot))
    seen: list[list[np.ndarray]] = [[] for _ in range(n)]
    for _ in range(60):
        z = _coordinates(robot, judge, rng.uniform(-2, 2, n), rng.normal(size=n))
        for i in range(n):
            seen[i].append(z[i][:6])
    for w, reach in zip(seen, reaches(robot), strict=True):
        assert np.abs(np.array(w) @ reach.rows.T).max(initial=0.0) < 1e-12
        occurring = np.linalg.matrix_rank(np.array(w), tol=1e-8)
        # Beyond a sliding joint whose description is rounded, nothing is taken to vanish.
        assert occurring == 6 - len(reach.rows) or (len(reach.rows) == 0 and np.isinf(reach.most))
        assert reach.within < 1e-12


def _coordinates(robot: Robot, judge: PinocchioRobot, q: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
    """w, the own rate and the children's, from Pinocchio's twists."""
    pin.forwardKinematics(judge.model, judge.data, judge.q(q), judge.v(v))
    z = []
    for i, joint in enumerate(robot.joints):
        V = np.array(judge.data.v[judge.model.getJointId(joint.name)])
        children = [c for c, other in enumerate(robot.joints) if other.parent == i]
        z.append(np.concatenate([V - axis_of(joint).astype(float) * v[i], [v[i]], v[children]]))
    return z


def test_whole_numbers_decide_what_floating_point_cannot() -> None:
    rng = np.random.default_rng(5)
    L = rng.integers(-9, 10, (6, 6)).astype(object)
    singular = L @ L.T
    singular[5] = 2 * singular[4]
    singular[:, 5] = 2 * singular[:, 4]
    large = 10**40 * singular
    assert not _positive(large)
    raised = large.copy()
    raised[np.diag_indices(6)] += 1
    assert _positive(raised)
    raised[5, 5] -= 10**3
    assert not _positive(raised)
