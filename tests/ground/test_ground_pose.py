"""Poses form a group, follow URDF's roll-pitch-yaw, and are rotations or nothing."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from steelyard.errors import InputError, ShapeError
from steelyard.pose import Pose

RNG = np.random.default_rng(0)
CLOSE = {"rtol": 0, "atol": 1e-14}


def _pose() -> Pose:
    return Pose.from_rpy(RNG.uniform(-np.pi, np.pi, 3), RNG.uniform(-1, 1, 3))


A, B, C = _pose(), _pose(), _pose()


def test_chaining_is_associative() -> None:
    np.testing.assert_allclose(((A @ B) @ C).matrix, (A @ (B @ C)).matrix, **CLOSE)


def test_chaining_is_the_product_of_the_matrices() -> None:
    np.testing.assert_allclose((A @ B).matrix, A.matrix @ B.matrix, **CLOSE)


def test_the_identity_moves_nothing() -> None:
    one = Pose.identity()
    np.testing.assert_array_equal(one.matrix, np.eye(4))
    np.testing.assert_array_equal((A @ one).matrix, A.matrix)
    np.testing.assert_array_equal((one @ A).matrix, A.matrix)


def test_a_pose_and_its_inverse_cancel_on_both_sides() -> None:
    np.testing.assert_allclose((A @ A.inverse()).matrix, np.eye(4), **CLOSE)
    np.testing.assert_allclose((A.inverse() @ A).matrix, np.eye(4), **CLOSE)
    np.testing.assert_allclose((A @ B).inverse().matrix, (B.inverse() @ A.inverse()).matrix, **CLOSE)


@pytest.mark.parametrize("shape", [(3,), (5, 3), (2, 4, 3), (0, 3)])
def test_points_move_as_the_matrix_says(shape: tuple[int, ...]) -> None:
    points = RNG.standard_normal(shape)
    ones = np.ones((*shape[:-1], 1))
    expected = np.concatenate([points, ones], axis=-1) @ A.matrix.T
    np.testing.assert_allclose(A.apply(points), expected[..., :3], **CLOSE)
    np.testing.assert_allclose((A @ B).apply(points), A.apply(B.apply(points)), **CLOSE)


@pytest.mark.parametrize(
    "rpy",
    [*RNG.uniform(-7, 7, (20, 3)), (0, np.pi / 2, 0), (0.3, -np.pi / 2, 1), (np.pi, np.pi, np.pi), (0, 0, 0)],
    ids=lambda rpy: " ".join(f"{x:.2f}" for x in rpy),
)
def test_roll_pitch_yaw_is_pinocchios(rpy: np.ndarray) -> None:
    expected = pin.rpy.rpyToMatrix(np.array(rpy, dtype=float))
    pose = Pose.from_rpy(rpy, (1, 2, 3))
    np.testing.assert_allclose(pose.rotation, expected, **CLOSE)
    np.testing.assert_array_equal(pose.translation, [1, 2, 3])


def test_the_angles_of_a_pose_make_it_again_also_where_it_looks_straight_up_or_down() -> None:
    for rpy in (*RNG.uniform(-np.pi, np.pi, (20, 3)), (0.3, np.pi / 2, 0.0), (0.3, -np.pi / 2, 1.0)):
        pose = Pose.from_rpy(rpy)
        np.testing.assert_allclose(Pose.from_rpy(pose.rpy).rotation, pose.rotation, **CLOSE)


@pytest.mark.parametrize(
    "bad",
    [np.diag([1.0, 1.0, -1.0]), -np.eye(3), 1.001 * np.eye(3), np.zeros((3, 3)), np.triu(np.ones((3, 3)))],
    ids=["reflection", "inversion", "scaled", "zero", "sheared"],
)
def test_what_is_not_a_rotation_is_refused(bad: np.ndarray) -> None:
    with pytest.raises(InputError, match=r"^rotation: is not a rotation: RᵀR differs .* determinant"):
        Pose(bad, np.zeros(3))


def test_shapes_and_values_are_checked_by_name() -> None:
    with pytest.raises(ShapeError, match=r"^rotation: expected shape \(3, 3\), got \(2, 2\)"):
        Pose(np.eye(2), np.zeros(3))
    with pytest.raises(ShapeError, match=r"^translation: must be finite"):
        Pose(np.eye(3), np.array([0, np.inf, 0]))
    with pytest.raises(ShapeError, match=r"^rpy: "):
        Pose.from_rpy((0, 0))
    with pytest.raises(ShapeError, match=r"^points: expected shape \(\.\.\., 3\)"):
        A.apply(np.zeros((3, 2)))


def test_a_pose_cannot_be_changed_from_outside() -> None:
    rotation, translation = np.eye(3), np.zeros(3)
    pose = Pose(rotation, translation)
    translation[0] = rotation[0, 0] = 7.0
    np.testing.assert_array_equal(pose.matrix, np.eye(4))
    with pytest.raises(ValueError, match="read-only"):
        pose.translation[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        pose.rotation[0, 0] = 1.0


def test_quaternions_are_those_of_pinocchio_at_every_angle_and_length() -> None:
    rng = np.random.default_rng(4)
    samples = [
        *rng.normal(size=(50, 4)),
        *np.eye(4),
        [1e-200, 0, 0, 1e-200],
        [1e200, 1e200, 0, 0],
        [1, 0, 0, 1e-9],
    ]
    for x in samples:
        q = np.asarray(x, dtype=float) / np.linalg.norm(np.asarray(x, dtype=float) / np.abs(x).max())
        q = q / np.abs(x).max()
        pose = Pose.from_quaternion(x)
        np.testing.assert_allclose(pose.rotation, pin.Quaternion(q).toRotationMatrix(), atol=1e-14)
        back = pose.quaternion
        assert back[3] >= 0
        np.testing.assert_allclose(back, q if back @ q > 0 else -q, atol=1e-14)


def test_a_zero_quaternion_is_refused() -> None:
    with pytest.raises(InputError, match="all zeros"):
        Pose.from_quaternion(np.zeros(4))
