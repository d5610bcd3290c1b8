"""Pinocchio as a judge: its model of a Robot or of a URDF, asked and answering in our order of joints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin

from steelyard.pose import Pose
from steelyard.robot import Joint, JointKind, Robot


def _unbounded(axis: np.ndarray) -> pin.JointModel:
    """A continuous joint; Pinocchio's constructor takes no axis from Python, but its URDF reader does."""
    words = " ".join(repr(float(x)) for x in axis)
    text = (
        '<robot name="one"><link name="a"/><link name="b"/><joint name="j" type="continuous">'
        f'<parent link="a"/><child link="b"/><axis xyz="{words}"/></joint></robot>'
    )
    return pin.JointModel(pin.buildModelFromXML(text).joints[1])


_JOINTS = {
    JointKind.REVOLUTE: pin.JointModelRevoluteUnaligned,
    JointKind.CONTINUOUS: _unbounded,
    JointKind.PRISMATIC: pin.JointModelPrismaticUnaligned,
    JointKind.SPHERICAL: lambda _axis: pin.JointModelSpherical(),
    JointKind.FLOATING: lambda _axis: pin.JointModelFreeFlyer(),
}


def _joint_model(joint: Joint) -> pin.JointModel:
    if joint.kind is JointKind.HELICAL:
        return pin.JointModelHelicalUnaligned(joint.axis.copy(), joint.pitch)
    return _JOINTS[joint.kind](joint.axis.copy())


def se3(pose: Pose) -> pin.SE3:
    """Our pose as Pinocchio's."""
    return pin.SE3(pose.rotation.copy(), pose.translation.copy())


def depth_first(robot: Robot) -> list[int]:
    """Joint indices in the order Pinocchio requires: every subtree in one run."""
    order: list[int] = []
    tasks = [i for i in reversed(range(len(robot.joints))) if robot.joints[i].parent < 0]
    while tasks:
        order.append(tasks.pop())
        tasks += [i for i in reversed(range(len(robot.joints))) if robot.joints[i].parent == order[-1]]
    return order


def pinocchio_model(robot: Robot, bodies: np.ndarray | None = None) -> pin.Model:
    """Build a model joint by joint.

    Args:
        robot: the robot.
        bodies: ten parameters per link, each mass not zero, shape (nb, 10), SI; without them all links are
            massless, which is enough for kinematics and regressors.
    """
    model = pin.Model()
    model.gravity.linear = robot.gravity.copy()
    ids = {-1: 0}
    for i in depth_first(robot):
        joint = robot.joints[i]
        ids[i] = model.addJoint(ids[joint.parent], _joint_model(joint), se3(joint.placement), joint.name)
        if bodies is not None:
            # Set, not appended: Pinocchio's sum of two bodies takes the mass for positive.
            model.inertias[ids[i]] = pin.Inertia.FromDynamicParameters(np.array(bodies[i]))
    return model


class PinocchioRobot:
    """A Pinocchio model that takes and gives joint-space arrays in the order of a Robot's joints.

    Attributes:
        model: the model; joints are matched to the robot's by name.
    """

    def __init__(self, robot: Robot, model: pin.Model) -> None:
        self.model = model
        self.data = model.createData()
        self._ids = [model.getJointId(name) for name in robot.joint_names]
        assert max(self._ids) < model.njoints, "a joint has no counterpart in Pinocchio"
        self._starts = np.cumsum([0, *(joint.kind.nq for joint in robot.joints)])
        self._v = np.concatenate(
            [np.arange(joint.idx_v, joint.idx_v + joint.nv) for joint in (model.joints[k] for k in self._ids)]
        )
        assert model.nv == robot.nv

    @classmethod
    def of(cls, robot: Robot, bodies: np.ndarray | None = None) -> PinocchioRobot:
        """Built from a Robot, see `pinocchio_model`."""
        return cls(robot, pinocchio_model(robot, bodies))

    @classmethod
    def from_urdf(cls, robot: Robot, source: Path | str) -> PinocchioRobot:
        """Built by Pinocchio's own URDF reader from a file or from text."""
        build = pin.buildModelFromUrdf if isinstance(source, Path) else pin.buildModelFromXML
        return cls(robot, build(str(source)))

    def q(self, q: np.ndarray) -> np.ndarray:
        """Our coordinates (nq,) as Pinocchio's: an unbounded joint is a cosine and a sine there."""
        result = np.empty(self.model.nq)
        for start, end, k in zip(self._starts, self._starts[1:], self._ids, strict=False):
            joint = self.model.joints[k]
            turned = [np.cos(q[start]), np.sin(q[start])] if joint.nq == 2 else q[start:end]
            result[joint.idx_q : joint.idx_q + joint.nq] = turned
        return result

    def v(self, v: np.ndarray) -> np.ndarray:
        """Our velocities or accelerations (nv,) in Pinocchio's order (nv,)."""
        result = np.empty(self.model.nv)
        result[self._v] = v
        return result

    def torques(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Recursive Newton-Euler, (nv,), N·m or N."""
        return pin.rnea(self.model, self.data, self.q(q), self.v(v), self.v(a))[self._v]

    def regressor(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """The torque regressor of the links, (nv, 10 nb), SI."""
        Y = pin.computeJointTorqueRegressor(self.model, self.data, self.q(q), self.v(v), self.v(a))
        blocks = Y.reshape(self.model.nv, -1, 10)[self._v][:, [k - 1 for k in self._ids]]
        return blocks.reshape(self.model.nv, -1)

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """Composite rigid bodies, (nv, nv), SI."""
        upper = np.triu(pin.crba(self.model, self.data, self.q(q)))
        return (upper + np.triu(upper, 1).T)[np.ix_(self._v, self._v)]

    def potential_energy(self, q: np.ndarray) -> float:
        """Energy of the links' weight, J."""
        return float(pin.computePotentialEnergy(self.model, self.data, self.q(q)))

    def bodies(self) -> np.ndarray:
        """Ten parameters of everything each joint carries, (nb, 10), SI."""
        return np.array([self.model.inertias[k].toDynamicParameters() for k in self._ids])

    def frame(self, name: str, q: np.ndarray) -> np.ndarray:
        """Homogeneous matrix (4, 4) of a link's frame in the base frame."""
        pin.framesForwardKinematics(self.model, self.data, self.q(q))
        placement = self.data.oMf[self.model.getFrameId(name, pin.FrameType.BODY)]
        return np.array(placement.homogeneous)
