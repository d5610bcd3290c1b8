r"""Random states that show all a mechanism can show: of every pose, at rest, or in free flight."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.dynamics import base_wrench_regressor
from steelyard.errors import InputError
from steelyard.layout import Layout
from steelyard.robot import Joint, JointKind, Robot

REACH = 0.5
"""Half the range of lengths, m."""


def random_positions(
    joint: Joint, samples: int, rng: np.random.Generator, *, within_limits: bool = False
) -> Array:
    """Positions of one joint, drawn evenly: angles from [-π, π], lengths from ±`REACH`, every orientation.

    Args:
        joint: the joint.
        samples: N.
        rng: source of the positions.
        within_limits: whether an angle or a length keeps to the joint's limits.

    Returns:
        Positions, shape (N, nq of the joint), rad or m; none for a joint that follows another.
    """
    if joint.nq > 1:
        quaternion = rng.normal(size=(samples, 4))
        quaternion /= np.linalg.norm(quaternion, axis=1, keepdims=True)
        return np.hstack([rng.uniform(-REACH, REACH, (samples, joint.nq - 4)), quaternion])
    lower, upper = (-np.pi, np.pi) if joint.kind.rotates else (-REACH, REACH)
    if within_limits and max(lower, joint.limits.lower) < min(upper, joint.limits.upper):
        lower, upper = max(lower, joint.limits.lower), min(upper, joint.limits.upper)
    return rng.uniform(lower, upper, (samples, joint.nq))


def random_states(robot: Robot, samples: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Positions of every joint, and rates and accelerations of unit scale.

    Args:
        robot: the robot.
        samples: N.
        rng: source of the states.

    Returns:
        q of shape (N, nq), v and a of shape (N, nv), rad or m and their derivatives.
    """
    q = np.hstack([random_positions(joint, samples, rng) for joint in robot.joints])
    v, a = rng.normal(size=(2, samples, robot.nv))
    return q, v, a


def in_free_flight(robot: Robot, layout: Layout, q: Array, v: Array, a: Array) -> Array:
    r"""Accelerations with those of the floating base replaced so that no wrench acts on it.

    The wrench is affine in the base's acceleration, $w = w_0 + M a_b$, so seven evaluations tell $a_b$. It
    depends on the inertias: the ones the layout states are taken.

    Args:
        robot: a robot whose first joint floats.
        layout: its parameters, with every link's inertia stated.
        q: positions, shape (N, nq), rad or m.
        v: velocities, shape (N, nv), rad/s or m/s.
        a: accelerations, shape (N, nv), rad/s² or m/s².

    Returns:
        Accelerations, shape (N, nv), rad/s² or m/s².

    Raises:
        InputError: the base does not float.
        DescriptionError: a link states no inertia.
    """
    if robot.joints[0].kind is not JointKind.FLOATING:
        raise InputError(
            f"the base of '{robot.name}' does not float, so it cannot fly.",
            place="ballistic",
            remedy="Let its base float (--floating).",
        )
    phi = layout.complete_nominal()
    flight = a.copy()
    flight[:, :6] = 0.0
    w_0 = base_wrench_regressor(robot, layout, q, v, flight) @ phi
    M = np.empty((len(q), 6, 6))
    for k in range(6):
        pushed = flight.copy()
        pushed[:, k] = 1.0
        M[:, :, k] = base_wrench_regressor(robot, layout, q, v, pushed) @ phi - w_0
    flight[:, :6] = -np.linalg.solve(M, w_0[:, :, None])[:, :, 0]
    return flight
