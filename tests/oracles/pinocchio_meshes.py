"""Pinocchio and Coal as a judge of clearance: they read a URDF and its meshes themselves.

Nothing of ours is asked but the names of joints, where locked ones are held, and which pairs are watched.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin

from oracles.pinocchio_robot import se3
from steelyard.limits.parts import Pair, Part
from steelyard.robot import Robot

FAR = 2e-3
"""How far a shape may lie from where ours does, m and dimensionless: rounded angles are read as meant."""


NEAR = 0.02
"""Distance of hulls, m, below which that of the meshes inside is asked for; beyond, hulls say less."""


class MeshJudge:
    """Distances between the shapes of a description, of which all pieces are in pairs that are watched."""

    def __init__(
        self,
        urdf: Path,
        folders: Sequence[Path],
        robot: Robot,
        pairs: Sequence[Pair],
        left_out: Sequence[Pair] = (),
    ) -> None:
        """Read the description.

        Args:
            urdf: its file.
            folders: where packages lie.
            robot: ours, of the same file, for names and locks.
            pairs: pairs to judge; those with what is in no description, as a floor, are left out.
            left_out: pairs that are not watched; two shapes that have a piece each in one are not judged.
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
        self.model, self.shapes = pin.buildReducedModel(
            whole, shapes, [whole.getJointId(name) for name in held], q
        )
        self._exact = [item.geometry for item in self.shapes.geometryObjects]
        for item in self.shapes.geometryObjects:
            if hasattr(item.geometry, "buildConvexHull"):
                item.geometry.buildConvexHull(True, "Qt")
                item.geometry = item.geometry.convex
        every = [part for pair in (*pairs, *left_out) for part in (pair.first, pair.second)]
        index = _matched(self.model, self.shapes, robot, list(dict.fromkeys(every)))
        unwatched = {frozenset((index.get(x.first), index.get(x.second))) for x in left_out}
        self.pairs: dict[tuple[int, int], str] = {}
        for pair in pairs:
            ends = index.get(pair.first), index.get(pair.second)
            if None not in ends and frozenset(ends) not in unwatched:
                self.pairs.setdefault(ends, pair.name)  # type: ignore[arg-type]
        for one, other in self.pairs:
            self.shapes.addCollisionPair(pin.CollisionPair(one, other))
        self._robot = robot
        self._data, self._places = self.model.createData(), self.shapes.createData()

    def hull_distances(self, q: np.ndarray) -> np.ndarray:
        """Distances of the convex hulls of all pairs, negative where they overlap, shape (P,), m."""
        theirs = pin.neutral(self.model)
        for name, value in zip(self._robot.joint_names, q, strict=True):
            joint = self.model.joints[self.model.getJointId(name)]
            theirs[joint.idx_q : joint.idx_q + joint.nq] = _coordinates(joint.nq, value)
        pin.updateGeometryPlacements(self.model, self._data, self.shapes, self._places, theirs)
        pin.computeDistances(self.shapes, self._places)
        return np.array([result.min_distance for result in self._places.distanceResults])

    def nearer(self, q: np.ndarray, limit: float) -> list[str]:
        """The pairs whose meshes are nearer than a limit in m, which is asked where their hulls are."""
        hulls = self.hull_distances(q)
        request = coal.CollisionRequest()
        request.security_margin = limit
        found = []
        for distance, ((one, other), name) in zip(hulls, self.pairs.items(), strict=True):
            if distance < limit:
                X, Y = (_transform(self._places.oMg[shape]) for shape in (one, other))
                result = coal.CollisionResult()
                if coal.collide(self._exact[one], X, self._exact[other], Y, request, result):
                    found.append(name)
        return found

    def distances(self, q: np.ndarray, near: float = NEAR) -> np.ndarray:
        """Distances of all pairs, the meshes' own where their hulls are nearer than that, shape (P,), m."""
        found = self.hull_distances(q)
        for k, (one, other) in enumerate(self.pairs):
            if found[k] < near:
                X, Y = (_transform(self._places.oMg[shape]) for shape in (one, other))
                request, result = coal.DistanceRequest(), coal.DistanceResult()
                found[k] = coal.distance(self._exact[one], X, self._exact[other], Y, request, result)
        return found


def _transform(pose: pin.SE3) -> coal.Transform3s:
    return coal.Transform3s(pose.rotation, pose.translation)


def _coordinates(count: int, value: float) -> list[float]:
    return [value] if count == 1 else [np.cos(value), np.sin(value)]


def _matched(
    model: pin.Model, shapes: pin.GeometryModel, robot: Robot, parts: Sequence[Part]
) -> dict[Part, int]:
    """The shape of Pinocchio's that each of our parts is a piece of: on the same joint, at the same place."""
    found: dict[Part, int] = {}
    of_mesh: dict[str, int] = {}
    names = {frame.name for frame in robot.frames}
    for part in sorted(parts, key=lambda part: part.title):
        if part.owner not in names:
            continue
        mesh = part.title.rpartition(" piece ")[0] or part.title
        if mesh not in of_mesh:
            joint = 0 if part.link < 0 else model.getJointId(robot.joint_names[part.link])
            away = {
                k: float(np.abs(item.placement.homogeneous - se3(part.pose).homogeneous).max())
                for k, item in enumerate(shapes.geometryObjects)
                if item.parentJoint == joint and k not in of_mesh.values()
            }
            of_mesh[mesh] = min(away, key=lambda k: away[k])
            assert away[of_mesh[mesh]] < FAR, f"{part.title} is not where it was read"
        found[part] = of_mesh[mesh]
    return found
