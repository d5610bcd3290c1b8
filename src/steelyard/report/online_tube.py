r"""The tube at the tool: how far its origin can be from the reference's.

Joints within $\|e\| \le \varepsilon / K_r$ of the reference move the tool's origin by $J e$ to first order,
so by $\|J\|_2\,\varepsilon / K_r$ at most; what is of second order is a hundredth of it or less in tubes
of a few milliradians. It is drawn, and nothing rests on it: proofs enclose the links themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.dynamics import forward_kinematics, frame_jacobian
from steelyard.robot import Robot


@dataclass(frozen=True, eq=False)
class ToolTube:
    """Where the tool should be and is, and how far it may be from there; arrays are read-only.

    Attributes:
        reference: origin of the tool frame on the reference, in the base frame, shape (F, 3), m.
        offset: from there to where it is, shape (F, 3), m.
        radius: of the tube, shape (F,), m.
    """

    reference: Array
    offset: Array
    radius: Array

    def __post_init__(self) -> None:
        for name in ("reference", "offset", "radius"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


def tool_tube(robot: Robot, q: ArrayLike, q_ref: ArrayLike, position_bound: float) -> ToolTube:
    """The tube of the joints as the tool sees it.

    Args:
        robot: an arm.
        q: joint positions, shape (F, nv), rad or m.
        q_ref: what they should be, shape (F, nv), rad or m.
        position_bound: ε/K_r, rad or m.

    Returns:
        The tube at the tool.
    """
    at = checked("q", q, ("F", robot.nv))
    wanted = checked("q_ref", q_ref, at.shape)
    tool = robot.tool_frame.name
    p, p_ref = np.split(forward_kinematics(robot, np.concatenate((at, wanted)), [tool])[:, 0, :3, 3], 2)
    J = frame_jacobian(robot, wanted, tool)[:, :3]
    return ToolTube(p_ref, p - p_ref, position_bound * np.linalg.norm(J, 2, axis=(1, 2)))
