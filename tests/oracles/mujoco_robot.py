"""MuJoCo as a judge: its model of a Robot from MJCF text written here, and its inverse dynamics."""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin

from steelyard.inertia import Body
from steelyard.robot import Robot


def mjcf_text(robot: Robot, bodies: np.ndarray) -> str:
    """The bare mechanism as MJCF: no contacts, no limits, no armature, no damping.

    Args:
        robot: the robot, its base fixed.
        bodies: ten parameters per link of bodies that fill a volume, shape (nb, 10), SI.
    """

    def words(values: object) -> str:
        return " ".join(repr(float(x)) for x in np.ravel(values))

    def body(i: int) -> str:
        joint, link = robot.joints[i], Body.from_parameters(bodies[i])
        x, y, z, w = pin.Quaternion(joint.placement.rotation.copy()).coeffs()
        I_c = link.inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        kind = "hinge" if joint.kind.rotates else "slide"
        return (
            f'<body pos="{words(joint.placement.translation)}" quat="{words((w, x, y, z))}">'
            f'<inertial pos="{words(link.com)}" mass="{words(link.mass)}" fullinertia="{words(I_c)}"/>'
            f'<joint name="{joint.name}" type="{kind}" axis="{words(joint.axis)}"/>{children(i)}</body>'
        )

    def children(parent: int) -> str:
        return "".join(body(i) for i in range(robot.nv) if robot.joints[i].parent == parent)

    return (
        '<mujoco><compiler angle="radian" inertiafromgeom="false"/>'
        f'<option gravity="{words(robot.gravity)}"><flag contact="disable"/></option>'
        f"<worldbody>{children(-1)}</worldbody></mujoco>"
    )


class MujocoRobot:
    """A MuJoCo model that takes and gives joint-space arrays in the order of a Robot's joints."""

    def __init__(self, robot: Robot, bodies: np.ndarray) -> None:
        self.model = mujoco.MjModel.from_xml_string(mjcf_text(robot, bodies))
        self.data = mujoco.MjData(self.model)
        self._v = np.array([self.model.joint(name).dofadr[0] for name in robot.joint_names])

    def torques(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Inverse dynamics, (nv,), N·m or N."""
        self.data.qpos[self._v] = q  # every joint has one coordinate here, so positions and velocities align
        self.data.qvel[self._v] = v
        self.data.qacc[self._v] = a
        mujoco.mj_inverse(self.model, self.data)
        return np.array(self.data.qfrc_inverse[self._v])
