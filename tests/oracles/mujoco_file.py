"""MuJoCo as a judge of MJCF files: its compiled model beside the Robot our reader makes of the same text."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin

from steelyard.inertia import Body
from steelyard.robot import Joint, JointKind, Robot


def without_meshes(text: str) -> str:
    """An MJCF file without its mesh assets and the geoms that name them."""
    root = ElementTree.fromstring(text)
    for parent in list(root.iter()):
        for child in list(parent):
            if (child.tag == "geom" and "mesh" in child.attrib) or (
                child.tag == "mesh" and parent.tag == "asset"
            ):
                parent.remove(child)
    return ElementTree.tostring(root, encoding="unicode")


@dataclass(frozen=True)
class State:
    """Ours, and the same as MuJoCo writes it; `twist` maps our velocities to MuJoCo's, (nv, nv)."""

    qpos: np.ndarray
    qvel: np.ndarray
    qacc: np.ndarray
    twist: np.ndarray


class CompiledFile:
    """A compiled MJCF text without contacts, limits, friction loss and equalities."""

    def __init__(self, text: str) -> None:
        self.model = mujoco.MjModel.from_xml_string(text)
        self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        self.data = mujoco.MjData(self.model)

    @property
    def joint_names(self) -> tuple[str, ...]:
        return tuple(self.model.joint(i).name for i in range(self.model.njnt))

    @property
    def body_names(self) -> tuple[str, ...]:
        """All bodies but the world."""
        return tuple(self.model.body(i).name for i in range(1, self.model.nbody))

    def body(self, name: str) -> Body:
        """The compiled inertia of a body in its own frame."""
        i = self.model.body(name).id
        w, x, y, z = self.model.body_iquat[i]
        R = pin.Quaternion(w, x, y, z).matrix()
        return Body(
            float(self.model.body_mass[i]),
            self.model.body_ipos[i],
            R @ np.diag(self.model.body_inertia[i]) @ R.T,
        )

    def torques(self, state: State) -> np.ndarray:
        """Inverse dynamics with damping and armature, as forces on our velocities, (nv,)."""
        self.data.qpos[:], self.data.qvel[:], self.data.qacc[:] = state.qpos, state.qvel, state.qacc
        mujoco.mj_inverse(self.model, self.data)
        return np.asarray(state.twist.T @ self.data.qfrc_inverse)

    def mass_matrix(self, state: State) -> np.ndarray:
        """The matrix of kinetic energy in our velocities, rotors included, (nv, nv)."""
        self.torques(state)
        H = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, H)
        return np.asarray(state.twist.T @ H @ state.twist)

    def pose(self, name: str) -> np.ndarray:
        """Where a body is in the state last asked about, (4, 4)."""
        i = self.model.body(name).id
        X = np.eye(4)
        X[:3, :3] = self.data.xmat[i].reshape(3, 3)
        X[:3, 3] = self.data.xpos[i]
        return X


def state_of(robot: Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> State:
    """A state of a robot without tied joints as MuJoCo writes it.

    A quaternion is w, x, y, z there, and the linear velocity of a free joint is in the world's axes.
    """
    parts, twist, qvel, qacc = [], np.eye(robot.nv), v.copy(), a.copy()
    i = k = 0
    for joint in robot.joints:
        own = q[i : i + joint.nq]
        if joint.kind is JointKind.FLOATING:
            R = pin.Quaternion(own[6], *own[3:6]).matrix()
            rows = slice(k, k + 3)
            twist[rows, rows] = R
            qvel[rows] = R @ v[rows]
            qacc[rows] = R @ (a[rows] + np.cross(v[k + 3 : k + 6], v[rows]))
        parts.append(_coordinates(joint, own))
        i, k = i + joint.nq, k + joint.nv
    return State(np.concatenate(parts), qvel, qacc, twist)


def _coordinates(joint: Joint, own: np.ndarray) -> np.ndarray:
    if joint.kind.nv == 1:
        return own
    return np.concatenate((own[:-4], own[-1:], own[-4:-1]))
