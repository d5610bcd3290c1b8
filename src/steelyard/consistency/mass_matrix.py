"""How light and how heavy an arm can be: bounds of its mass matrix at every pose."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.errors import InputError, NoSolutionError
from steelyard.layout import Layout
from steelyard.robot import JointKind, Robot

# Bounds of the mass matrix over all poses and a box of parameters.
#
# The mass matrix is $H = \sum_i J_i^T \mathcal M_i J_i + \operatorname{diag}(I_a)$, links and rotors. Two
# lower bounds of its eigenvalues hold at every pose:
#
# - Where the true links can exist, whatever else is known of them, each term of the sum is at least zero, so
#   $H \succeq \min_j \underline I_{a,j}$, the lower ends of the rotors.
# - A proven bound for one vector $\theta_0$, such as the all-pose certificate gives, less what the box can
#   take away. A unit velocity of joint k moves body i by at most $a_{ik}$ and turns it by $c_{ik}$, so for
#   unit velocities of all joints $|u| \le a_i$ and $|\omega| \le c_i$, the Euclidean norms over k. A change
#   of its parameters by at most δ changes $v^T H v$ by at most $\delta_m a_i^2 + 2 |\delta_h| a_i c_i +
#   |\delta_I|_F c_i^2$.
#
# The same sum with the largest parameters in place of δ, and the heaviest rotor, bounds the eigenvalues
# above.

_OUTWARD = 1e-9
"""Part by which bounds are widened; the sums round by less than a ten-thousandth of it."""


@dataclass(frozen=True)
class InertiaBounds:
    """Bounds of the mass matrix at every pose, for all parameters in a box.

    Attributes:
        smallest: no eigenvalue is below it, positive, kg·m² or kg.
        largest: none is above it, kg·m² or kg; infinite for an arm that slides without limits.
        sentence: where the lower one comes from.
    """

    smallest: float
    largest: float
    sentence: str


def inertia_bounds(
    robot: Robot,
    layout: Layout,
    parameters: ArrayLike,
    half_widths: ArrayLike,
    *,
    possible_links: bool = True,
    proven: float | None = None,
) -> InertiaBounds:
    """Bound the eigenvalues of the mass matrix over all poses and a box of parameters.

    Args:
        robot: the robot, an arm on a fixed base.
        layout: the order of the parameters.
        parameters: centre of the box, shape (p,), SI.
        half_widths: its half-widths, shape (p,), SI.
        possible_links: whether the true links can exist; the vectors of the box need not.
        proven: a lower bound at every pose for the centre, as `judge_all_poses` proves it, kg·m² or kg; None
            where there is none.

    Raises:
        NoSolutionError: no positive lower bound follows; names the joint whose rotor inertia is missing.
        InputError: an argument does not fit.
    """
    robot.require_arm()
    theta = checked("parameters", parameters, (layout.size,))
    half = checked("half_widths", half_widths, (layout.size,))
    if (half < 0.0).any():
        raise InputError("must not be negative.", place="half_widths")
    rotor, rotor_half = _rotors(layout, theta), _rotors(layout, half)
    moved = _reach(robot)
    smallest, sentence = -math.inf, "nothing bounds it"
    lowest = int(np.argmin(rotor - rotor_half))
    if possible_links:
        smallest = float(rotor[lowest] - rotor_half[lowest]) * (1.0 - _OUTWARD)
        sentence = f"The rotor of '{robot.joint_names[lowest]}' is the lightest, and the links can exist."
    if proven is not None:
        lost = _most(moved, _links(layout, half)) + float(rotor_half.max())
        left = proven - lost * (1.0 + _OUTWARD)
        if left > smallest:
            smallest, sentence = left, f"At the centre {proven:.4g} is proven; the box takes {lost:.4g}."
    if not smallest > 0.0:
        raise NoSolutionError(
            f"no positive lower bound of the mass matrix follows: {smallest:.3g} is what is left.",
            place=f"robot '{robot.name}'",
            remedy=f"State a rotor inertia for '{robot.joint_names[lowest]}', or choose a smaller box.",
            evidence={"rotor": rotor, "half_widths": rotor_half},
        )
    heaviest = np.abs(_links(layout, theta)) + _links(layout, half)
    largest = _most(moved, heaviest) + float((rotor + rotor_half).max())
    return InertiaBounds(smallest, largest * (1.0 + _OUTWARD), sentence)


def _links(layout: Layout, parameters: Array) -> Array:
    return parameters[: 10 * len(layout.links)].reshape(-1, 10)


def _rotors(layout: Layout, parameters: Array) -> Array:
    columns = layout.drive_columns[:, 3]
    return np.where(columns >= 0, parameters[columns], 0.0)


def _reach(robot: Robot) -> Array:
    """How far and how much unit velocities can move and turn each body, shape (nb, 2), m and dimensionless.

    A body's origin is from the axis of a joint that carries it at most as far as the way along the links.
    """
    nb = len(robot.joints)
    slides = np.array([_slide(joint.kind, joint.pitch) for joint in robot.joints])
    turns = np.array([float(joint.kind is not JointKind.PRISMATIC) for joint in robot.joints])
    travel = np.maximum(np.abs(robot.limit_array("lower")), np.abs(robot.limit_array("upper")))
    moved = np.empty((nb, 2))
    for i in range(nb):
        way, k, far, turned = 0.0, i, 0.0, 0.0
        while k >= 0:
            far += (slides[k] + turns[k] * way) ** 2
            turned += turns[k] ** 2
            way += float(np.linalg.norm(robot.joints[k].placement.translation))
            way += slides[k] * travel[k] if slides[k] else 0.0
            k = robot.joints[k].parent
        moved[i] = math.sqrt(far), math.sqrt(turned)
    return moved


def _slide(kind: JointKind, pitch: float) -> float:
    return 1.0 if kind is JointKind.PRISMATIC else abs(pitch)


def _most(moved: Array, links: Array) -> float:
    """The most that forms with these entries, or smaller ones, can be for unit velocities."""
    a, c = moved.T
    m = links[:, 0]
    h = np.linalg.norm(links[:, 1:4], axis=1)
    weights = np.array([1.0, 2.0, 1.0, 2.0, 2.0, 1.0])  # of Ixx, Ixy, Iyy, Ixz, Iyz, Izz in the norm
    I = np.sqrt(links[:, 4:] ** 2 @ weights)  # noqa: E741
    with np.errstate(invalid="ignore"):
        parts = m * a**2 + 2.0 * h * a * c + I * c**2
    return float(np.where(np.isnan(parts), 0.0, parts).sum())  # a body without mass may be anywhere
