"""Where one frame sits in another: `X_AB`, the pose of frame B measured in frame A."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError


@dataclass(frozen=True, eq=False)
class Pose:
    r"""A rigid placement $X_{AB} = (R_{AB}, p_{AB}^A)$; a point moves as $p^A = R_{AB}\,p^B + p_{AB}^A$.

    Attributes:
        rotation: R_AB, axes of B as columns in A, shape (3, 3), dimensionless.
        translation: p_AB_A, origin of B in A, shape (3,), m.
    """

    rotation: Array
    translation: Array

    def __post_init__(self) -> None:
        R = checked("rotation", self.rotation, (3, 3))
        p = checked("translation", self.translation, (3,))
        off = float(np.abs(R.T @ R - np.eye(3)).max())
        if off > 1e-9 or np.linalg.det(R) < 0:
            raise InputError(
                f"is not a rotation: RᵀR differs from the identity by {off:.1e}, "
                f"determinant {np.linalg.det(R):.3g}.",
                place="rotation",
                evidence={"rotation": R},
            )
        object.__setattr__(self, "rotation", read_only(R))
        object.__setattr__(self, "translation", read_only(p))

    @classmethod
    @cache
    def identity(cls) -> Pose:
        """The pose that moves nothing."""
        return cls(np.eye(3), np.zeros(3))

    @classmethod
    def _following(cls, rotation: Array, translation: Array) -> Pose:
        """A pose that follows from others: products of rotations are rotations and need no check."""
        pose = object.__new__(cls)
        object.__setattr__(pose, "rotation", read_only(rotation))
        object.__setattr__(pose, "translation", read_only(translation))
        return pose

    @classmethod
    def from_rpy(cls, rpy: ArrayLike, translation: ArrayLike = (0.0, 0.0, 0.0)) -> Pose:
        r"""URDF's convention: $R = R_z(\text{yaw})\,R_y(\text{pitch})\,R_x(\text{roll})$.

        Args:
            rpy: roll, pitch, yaw, shape (3,), rad.
            translation: origin, shape (3,), m.
        """
        roll, pitch, yaw = checked("rpy", rpy, (3,))
        cr, sr = np.cos(roll), np.sin(roll)
        cp, sp = np.cos(pitch), np.sin(pitch)
        cy, sy = np.cos(yaw), np.sin(yaw)
        R = np.array(
            [
                [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
                [-sp, cp * sr, cp * cr],
            ]
        )
        return cls(R, checked("translation", translation, (3,)))

    @property
    def rpy(self) -> Array:
        """Roll, pitch and yaw, the inverse of `from_rpy`, shape (3,), rad."""
        R = self.rotation
        across = math.hypot(R[0, 0], R[1, 0])
        pitch = math.atan2(-R[2, 0], across)
        if across > 1e-9:
            return np.array([math.atan2(R[2, 1], R[2, 2]), pitch, math.atan2(R[1, 0], R[0, 0])])
        # Looking straight up or down, roll and yaw turn about the same axis: all of it is called roll.
        return np.array([math.atan2(-R[1, 2], R[1, 1]), pitch, 0.0])

    @classmethod
    def from_quaternion(cls, quaternion: ArrayLike, translation: ArrayLike = (0.0, 0.0, 0.0)) -> Pose:
        """From a quaternion x, y, z, w, whose length does not matter.

        Args:
            quaternion: x, y, z, w, not all zero, shape (4,), dimensionless.
            translation: origin, shape (3,), m.

        Raises:
            InputError: the quaternion is zero.
        """
        raw = checked("quaternion", quaternion, (4,))
        if not raw.any():
            raise InputError("must not be all zeros.", place="quaternion")
        # Scaling first keeps tiny and huge quaternions from under- and overflowing in the squares.
        x, y, z, w = raw / np.abs(raw).max()
        n = 2.0 / (x * x + y * y + z * z + w * w)
        R = np.array(
            [
                [1.0 - n * (y * y + z * z), n * (x * y - w * z), n * (x * z + w * y)],
                [n * (x * y + w * z), 1.0 - n * (x * x + z * z), n * (y * z - w * x)],
                [n * (x * z - w * y), n * (y * z + w * x), 1.0 - n * (x * x + y * y)],
            ]
        )
        return cls(R, checked("translation", translation, (3,)))

    @property
    def quaternion(self) -> Array:
        """The rotation as a unit quaternion x, y, z, w with w ≥ 0, shape (4,), dimensionless.

        It is the eigenvector of the largest eigenvalue of a symmetric matrix linear in the rotation
        (Bar-Itzhack), which no rotation makes singular.
        """
        (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = self.rotation
        Q = np.array(
            [
                [xx - yy - zz, xy + yx, xz + zx, zy - yz],
                [xy + yx, yy - xx - zz, yz + zy, xz - zx],
                [xz + zx, yz + zy, zz - xx - yy, yx - xy],
                [zy - yz, xz - zx, yx - xy, xx + yy + zz],
            ]
        )
        q = np.linalg.eigh(Q)[1][:, -1]
        return np.asarray(-q if q[3] < 0 else q)

    @property
    def matrix(self) -> Array:
        """The homogeneous matrix, shape (4, 4), dimensionless and m."""
        X = np.eye(4)
        X[:3, :3] = self.rotation
        X[:3, 3] = self.translation
        return X

    def inverse(self) -> Pose:
        """The pose X_BA of A in B."""
        return self._following(self.rotation.T, -self.rotation.T @ self.translation)

    def apply(self, points: ArrayLike) -> Array:
        """Move points from B to A.

        Args:
            points: p_B, shape (..., 3), m.

        Returns:
            p_A, shape (..., 3), m.
        """
        return checked("points", points, ("...", 3)) @ self.rotation.T + self.translation

    def __matmul__(self, other: Pose) -> Pose:
        """Chain two poses: `X_AC = X_AB @ X_BC`."""
        return self._following(
            self.rotation @ other.rotation,
            self.rotation @ other.translation + self.translation,
        )
