"""Pinocchio and Coal as a judge of clearance: they read a URDF and its meshes themselves.

Nothing of ours is asked but the names of joints, where locked ones are held, and which pairs are watched.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pinocchio as pin

from oracles.pinocchio_robot import se3
from steelyard.limits import Clearance
from steelyard.limits.parts import Pair, Part
from steelyard.robot import Robot

FAR = 2e-3
"""How far a shape may lie from where ours does, m and dimensionless: rounded angles are read as meant."""


class MeshJudge:
    """Distances between the shapes of a description, for pairs that a clearance names."""

    def __init__(
        self,
        urdf: Path,
        folders: Sequence[Path],
        robot: Robot,
        clearance: Clearance,
        pairs: Sequence[Pair],
        *,
        convex: bool,
    ) -> None:
        """Read the description.

        Args:
            urdf: its file.
            folders: where packages lie.
            robot: ours, of the same file, for names and locks.
            clearance: ours, for its parts.
            pairs: pairs of it to judge; those with what is in no description, as a floor, are left out.
            convex: whether a mesh is its convex hull, which holds it and is measured faster.
        """
        whole = pin.buildModelFromUrdf(str(urdf))
        shapes = pin.buildGeomFromUrdf(
            whole, str(urdf), pin.GeometryType.COLLISION, package_dirs=[str(folder) for folder in folders]
        )
        q = pin.neutral(whole)
        held = [name for name in whole.names[1:] if name not in robot.joint_names]
        at = {lock.name: lock.position for lock in robot.locks}
        for name in held:
            joint = whole.joints[whole.getJointId(name)]
            q[joint.idx_q : joint.idx_q + joint.nq] = _coordinates(joint.nq, at[name][0])
        ids = [whole.getJointId(name) for name in held]
        self.model, self.shapes = pin.buildReducedModel(whole, shapes, ids, q)
        if convex:
            for item in self.shapes.geometryObjects:
                if hasattr(item.geometry, "buildConvexHull"):
                    item.geometry.buildConvexHull(True, "Qt")
                    item.geometry = item.geometry.convex
        parts = list(dict.fromkeys(part for pair in pairs for part in (pair.first, pair.second)))
        index = _matched(self.model, self.shapes, robot, parts)
        self.names = []
        for pair in pairs:
            if pair.first in index and pair.second in index:
                self.shapes.addCollisionPair(pin.CollisionPair(index[pair.first], index[pair.second]))
                self.names.append(pair.name)
        self._robot = robot
        self._data, self._places = self.model.createData(), self.shapes.createData()

    def distances(self, q: np.ndarray) -> np.ndarray:
        """Distances of all pairs at a position, shape (P,), m; negative where convex shapes overlap."""
        self._place(q)
        pin.computeDistances(self.shapes, self._places)
        return np.array([result.min_distance for result in self._places.distanceResults])

    def touches(self, q: np.ndarray) -> np.ndarray:
        """Which pairs touch at a position, shape (P,)."""
        self._place(q)
        pin.computeCollisions(self.shapes, self._places, False)
        return np.array([result.isCollision() for result in self._places.collisionResults])

    def _place(self, q: np.ndarray) -> None:
        theirs = pin.neutral(self.model)
        for name, value in zip(self._robot.joint_names, q, strict=True):
            joint = self.model.joints[self.model.getJointId(name)]
            theirs[joint.idx_q : joint.idx_q + joint.nq] = _coordinates(joint.nq, value)
        pin.updateGeometryPlacements(self.model, self._data, self.shapes, self._places, theirs)


def _coordinates(count: int, value: float) -> list[float]:
    return [value] if count == 1 else [np.cos(value), np.sin(value)]


def _matched(
    model: pin.Model, shapes: pin.GeometryModel, robot: Robot, parts: Sequence[Part]
) -> dict[Part, int]:
    """The shape of Pinocchio's that each of our parts is: on the same joint, at the same place."""
    found: dict[Part, int] = {}
    for part in parts:
        if part.owner not in [frame.name for frame in robot.frames]:
            continue
        joint = 0 if part.link < 0 else model.getJointId(robot.joint_names[part.link])
        away = {
            k: float(np.abs(item.placement.homogeneous - se3(part.pose).homogeneous).max())
            for k, item in enumerate(shapes.geometryObjects)
            if item.parentJoint == joint and k not in found.values()
        }
        nearest = min(away, key=lambda k: away[k], default=None)
        assert nearest is not None, f"{part.title} has no counterpart"
        assert away[nearest] < FAR, f"{part.title} is not where it was read"
        found[part] = nearest
    return found
