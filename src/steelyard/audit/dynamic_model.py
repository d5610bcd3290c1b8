"""A robot with numbers for all its parameters: what is judged, whoever found the numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.audit.torque import TorqueError, torque_error
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import InputError
from steelyard.layout import Layout
from steelyard.robot import Robot

STATES = 2000
"""Random states in which two models are compared."""
FREE_SPEED = 1.0
"""Largest speed drawn for a joint without a limit, rad/s or m/s."""
SAME_PLACE = 1e-6
"""Distance of two joints, m, or of their axes, dimensionless, that rounded text explains."""


@dataclass(frozen=True, eq=False)
class DynamicModel:
    """A robot with numbers for all its parameters.

    Attributes:
        robot: the robot.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI; possible or not.
    """

    robot: Robot
    layout: Layout
    parameters: Array

    def __post_init__(self) -> None:
        phi = checked("parameters", self.parameters, (self.layout.size,))
        object.__setattr__(self, "parameters", read_only(phi))

    def torque(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Torques of a motion, every drive term of the layout included.

        Args:
            q: joint positions, shape (N, nq), rad or m.
            v: joint velocities, shape (N, nv), rad/s or m/s.
            a: joint accelerations, shape (N, nv), rad/s² or m/s².

        Returns:
            Torques, shape (N, nv), N·m or N.
        """
        return inverse_dynamics(self.robot, self.layout, self.parameters, q, v, a)


def require_alike(first: DynamicModel, second: DynamicModel) -> None:
    """Refuse two models whose parameters do not mean the same.

    Args:
        first: a model.
        second: the other.

    Raises:
        InputError: links, joints, drive terms, gravity or the places of the joints differ; says which.
    """
    one, other = first.robot, second.robot
    for what, mine, its in (
        ("links", one.link_names, other.link_names),
        ("joints", one.joint_names, other.joint_names),
        ("drive terms", first.layout.drive, second.layout.drive),
    ):
        if mine != its:
            differ = [x for x in (*mine, *its) if (x in mine) != (x in its)] or ["their order"]
            raise InputError(
                f"their {what} differ: {', '.join(dict.fromkeys(differ))}.",
                place=f"'{one.name}' and '{other.name}'",
                remedy="Compare results of one robot, identified with the same options.",
            )
    if not np.allclose(one.gravity, other.gravity, rtol=0.0, atol=SAME_PLACE):
        raise InputError(
            f"gravity differs: {one.gravity.tolist()} and {other.gravity.tolist()} m/s².",
            place=f"'{one.name}' and '{other.name}'",
            remedy="Compare results of one mounting.",
        )
    for joint, same in zip(one.joints, other.joints, strict=True):
        off = max(
            float(np.abs(joint.placement.matrix - same.placement.matrix).max()),
            float(np.abs(joint.axis - same.axis).max()),
        )
        if (joint.kind, joint.parent) != (same.kind, same.parent) or off > SAME_PLACE:
            raise InputError(
                f"joint '{joint.name}' is not the same in both: its kind, its parent, or its place differs "
                f"({off:.3g} m or dimensionless).",
                place=f"'{one.name}' and '{other.name}'",
                remedy="Parameters are about a link's own frame; compare results of one description.",
            )


def torque_difference(first: DynamicModel, second: DynamicModel, rng: np.random.Generator) -> TorqueError:
    """How far the torques of two models are apart in random states within the first one's limits.

    Positions are drawn from the limits, at most half a turn or metre to either side where there are none;
    speeds up to half the limit, accelerations that reach it in a second.

    Args:
        first: a model; the errors are in percent of its torque's rms.
        second: the other, with the same coordinates.
        rng: source of the states.

    Returns:
        Percentages per joint and over all.

    Raises:
        InputError: a joint floats or is spherical: no states of it are drawn.
    """
    robot = first.robot
    if robot.nq != robot.nv:
        raise InputError("states of floating and spherical joints are not drawn.", place=robot.name)
    reach = np.array([np.pi if joint.kind.rotates else 0.5 for joint in robot.joints if joint.nv])
    lower, upper = robot.limit_array("lower"), robot.limit_array("upper")
    centre = np.where(np.isfinite(lower + upper), 0.5 * (lower + upper), 0.0)
    q = rng.uniform(np.maximum(lower, centre - reach), np.minimum(upper, centre + reach), (STATES, robot.nv))
    speed = np.where(np.isfinite(robot.limit_array("velocity")), robot.limit_array("velocity"), FREE_SPEED)
    v = 0.5 * speed * rng.uniform(-1.0, 1.0, q.shape)
    a = speed * rng.uniform(-1.0, 1.0, q.shape)
    return torque_error(first.torque(q, v, a), second.torque(q, v, a))
