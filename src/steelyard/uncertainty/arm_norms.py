r"""How large the momentum of an arm and its derivatives can be, whatever its position.

Joint a moves body i by a twist with linear part at most $\lambda_{ia}$ and angular part at most
$\gamma_{ia}$: for a turning joint the length of the chain between the two, and one; for a sliding joint one,
and zero. Moving a joint in between turns that twist about the joint's own axis, which lengthens neither part
at the joint, so these are bounds on *every* derivative of the twist in the positions. With the size of a body
in $m, |h|, \|I\|$ let

$$\kappa_i(x, y) = m\,\lambda_x\lambda_y + |h|\,(\lambda_x\gamma_y + \gamma_x\lambda_y)
  + \|I\|\,\gamma_x\gamma_y, \qquad \lambda_x = \sum_a \lambda_{ia}|x_a|, \;
  \gamma_x = \sum_a \gamma_{ia}|x_a|.$$

Then $|x^T H_i\,y| \le \kappa_i(x, y)$, and each derivative in a position at most doubles it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.pose import Pose
from steelyard.robot import JointKind, Robot


@dataclass(frozen=True, eq=False)
class ArmNorms:
    """Sizes of the links, of the payload after them, and of the twists that joints give them.

    Attributes:
        mass: largest mass of each body, shape (nb,), kg.
        moment: largest |h|, shape (nb,), kg·m.
        inertia: largest Frobenius norm of the tensor, shape (nb,), kg·m².
        reach: λ, at least γ where a joint slides, zero where a joint does not move a body, shape (nb, nv),
            m or dimensionless.
        turn: γ, shape (nb, nv), dimensionless.
        moves: one where a joint moves a body, else zero, shape (nb, nv), dimensionless.
        gravity: its size, m/s².
    """

    mass: Array
    moment: Array
    inertia: Array
    reach: Array
    turn: Array
    moves: Array
    gravity: float

    def rows(self, x: Array, y: Array) -> Array:
        r"""$\sum_i \kappa_i(x, y)$ over the bodies that each joint moves.

        Args:
            x: joint rates, not negative, shape (..., nv), SI.
            y: joint rates, not negative, shape (..., nv), SI.

        Returns:
            The sums, shape (..., nv), SI.
        """
        lx, gx, ly, gy = x @ self.reach.T, x @ self.turn.T, y @ self.reach.T, y @ self.turn.T
        size = self.mass * lx * ly + self.moment * (lx * gy + gx * ly) + self.inertia * gx * gy
        return np.asarray(size @ self.moves)

    def momentum(self, y: Array) -> Array:
        r"""$\sum_i \kappa_i(e_k, y)$, which no $|H y|$ in row k exceeds.

        Args:
            y: joint rates, not negative, shape (..., nv), SI.

        Returns:
            The sums, shape (..., nv), SI.
        """
        ly, gy = y @ self.reach.T, y @ self.turn.T
        linear, angular = self.mass * ly + self.moment * gy, self.moment * ly + self.inertia * gy
        return np.asarray(linear @ self.reach + angular @ self.turn)

    @property
    def weight(self) -> Array:
        r"""$|g| \sum_i (m\lambda_{ik} + |h|)$: bounds the weight's torque and its derivatives, (nv,), N·m."""
        size = self.mass[:, None] * self.reach + self.moment[:, None]
        return np.asarray(self.gravity * (size * self.moves).sum(axis=0))


def arm_norms(
    robot: Robot, links: Array, payload: Array, link: str, placement: Pose, travel: Array
) -> ArmNorms:
    """The norms of an arm with what it holds.

    Args:
        robot: an arm of turning and sliding joints.
        links: largest size of each link's ten numbers, shape (nb, 10), SI.
        payload: largest size of the payload's ten numbers, in its own frame, shape (10,), SI.
        link: name of the link that carries the payload.
        placement: the payload's frame in that link's.
        travel: largest |q|, shape (nv,), rad or m.

    Returns:
        The norms.

    Raises:
        InputError: a joint is helical.
    """
    nv = robot.nv
    slides = np.array([joint.kind is JointKind.PRISMATIC for joint in robot.joints])
    distance, moves = np.zeros((nv + 1, nv)), np.zeros((nv + 1, nv))
    for i, joint in enumerate(robot.joints):
        if joint.kind is JointKind.HELICAL:
            raise InputError(f"joint '{joint.name}' is helical, for which there is no bound.", place="robot")
        if joint.parent >= 0:
            step = float(np.linalg.norm(joint.placement.translation)) + slides[i] * travel[i]
            moves[i] = moves[joint.parent]
            distance[i] = (distance[joint.parent] + step) * moves[i]
        moves[i, i] = 1.0
    carrier = robot.link_names.index(link)
    moves[nv] = moves[carrier]
    distance[nv] = (distance[carrier] + float(np.linalg.norm(placement.translation))) * moves[nv]
    if slides.any():
        distance = np.maximum(distance, moves)
    sizes = np.vstack([links, payload])
    tensor = sizes[:, 4:] * np.array([1.0, np.sqrt(2.0), 1.0, np.sqrt(2.0), np.sqrt(2.0), 1.0])
    return ArmNorms(
        sizes[:, 0],
        np.linalg.norm(sizes[:, 1:4], axis=1),
        np.linalg.norm(tensor, axis=1),
        distance,
        moves * ~slides,
        moves,
        float(np.linalg.norm(robot.gravity)),
    )
