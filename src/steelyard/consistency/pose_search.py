r"""Poses where the mass matrix is smallest, sampled as in paper 004 (10)-(11) and minimised locally.

A pose with $\lambda_{\min}(M(q)) \le 0$ refutes positive definiteness; finding none proves nothing, see
`all_pose_proof`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components

from steelyard.arrays import Array, BoolArray, checked, read_only, read_only_view
from steelyard.consistency.pose_arm import arm_of
from steelyard.consistency.pose_descent import descended
from steelyard.consistency.pose_domain import PoseDomain
from steelyard.consistency.pose_kernel import sampled
from steelyard.dynamics import mass_matrix
from steelyard.layout import Layout
from steelyard.robot import Robot
from steelyard.threads import share

STARTS = 16
_CROWD = 16
"""Poses drawn for each start; half of the starts are the lowest of all."""
_NOTHING = 1e-13
"""Entries of a mass matrix below this, relative to the largest, are round-off."""


@dataclass(frozen=True, eq=False)
class LowPose:
    r"""The lowest eigenvalue met, with the pose and the unit direction x that have $x^T M(q)\,x$ so low.

    Attributes:
        value: the eigenvalue, kg·m² for turning and kg for sliding joints.
        pose: q, shape (nq,), rad or m.
        direction: x, shape (nv,), dimensionless.
        poses: how many poses were drawn.
    """

    value: float
    pose: Array
    direction: Array
    poses: int

    @property
    def refutes(self) -> bool:
        """Whether the mass matrix is not positive definite at the pose."""
        return self.value <= 0.0


def sample_poses(
    robot: Robot,
    layout: Layout,
    parameters: ArrayLike,
    domain: PoseDomain,
    count: int,
    rng: np.random.Generator,
) -> LowPose:
    """Look at poses drawn evenly from a domain, as the audit of paper 004 does.

    Args:
        robot: the robot, of joints with one degree of freedom.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI.
        domain: where to look.
        count: how many poses.
        rng: source of the poses.

    Returns:
        The lowest eigenvalue met.
    """
    q = domain.draw(count, rng)
    values = _sampled(robot, layout, parameters, q)
    return _low_pose(robot, layout, parameters, q[int(values.argmin())], count)


def lowest_pose(
    robot: Robot,
    layout: Layout,
    parameters: ArrayLike,
    domain: PoseDomain,
    rng: np.random.Generator,
    *,
    starts: int = STARTS,
) -> LowPose:
    """Go downhill to local minima of the smallest eigenvalue, from drawn poses and the lowest of many.

    Args:
        robot: the robot, of joints with one degree of freedom.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI.
        domain: where to look.
        rng: source of the poses.
        starts: how many local searches, for each group of joints that couple.

    Returns:
        The lowest minimum found.
    """
    q, values = _descents(robot, layout, parameters, domain, rng, starts)
    return _low_pose(robot, layout, parameters, q[int(values.argmin())], _CROWD * starts)


def low_poses(
    robot: Robot,
    layout: Layout,
    parameters: ArrayLike,
    domain: PoseDomain,
    rng: np.random.Generator,
    *,
    starts: int = STARTS,
) -> tuple[Array, Array]:
    """All local minima of the smallest eigenvalue that `lowest_pose` chooses from.

    Args:
        robot: the robot, of joints with one degree of freedom.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI.
        domain: where to look.
        rng: source of the poses.
        starts: how many local searches, for each group of joints that couple.

    Returns:
        Poses, shape (N, nq), rad or m, and the eigenvalues there, shape (N,), SI, lowest first.
    """
    q, values = _descents(robot, layout, parameters, domain, rng, starts)
    order = np.argsort(values, kind="stable")
    return q[order], values[order]


def _descents(
    robot: Robot,
    layout: Layout,
    parameters: ArrayLike,
    domain: PoseDomain,
    rng: np.random.Generator,
    starts: int,
) -> tuple[Array, Array]:
    """Poses at the end of every way downhill, and the smallest eigenvalues there.

    Joints that never couple are searched apart: the smallest of their eigenvalues is no slope to any other.
    """
    crowd = domain.draw(_CROWD * starts, rng)
    phi = checked("parameters", parameters, (layout.size,))
    M = mass_matrix(robot, layout, phi, crowd)
    bodies, rotors = _numbers(robot, layout, phi)
    box = read_only_view(domain.middle), read_only_view(domain.half)
    ends = [crowd[:1]]
    for group in _coupled(M):
        block = M[:, group][:, :, group]
        if np.ptp(block, axis=0).max() <= _NOTHING * np.abs(block).max():
            continue
        order = np.argsort(np.linalg.eigvalsh(block)[:, 0], kind="stable")
        # The lowest lie in few valleys, perhaps not in the deepest: every second start is as it was drawn.
        low = order[: starts - starts // 2]
        rest = np.setdiff1d(np.arange(len(crowd)), low)[: starts // 2]
        q = np.ascontiguousarray(crowd[np.concatenate([low, rest])])
        lifted = rotors + 10.0 * np.abs(M).max() * ~group
        share(
            starts,
            descended,
            arm_of(robot),
            bodies,
            read_only_view(lifted),
            *box,
            q,
            np.empty(starts),
            least=4,
        )
        ends.append(q)
    q = np.concatenate(ends)
    return q, np.asarray(np.linalg.eigvalsh(mass_matrix(robot, layout, phi, q))[:, 0], dtype=np.float64)


def _coupled(M: Array) -> list[BoolArray]:
    """Groups of joints that no entry of any mass matrix couples, as masks."""
    entries = np.abs(M).max(axis=0)
    count, labels = connected_components(entries > _NOTHING * entries.max())
    return [labels == k for k in range(count)]


def _sampled(robot: Robot, layout: Layout, parameters: ArrayLike, q: Array) -> Array:
    phi = checked("parameters", parameters, (layout.size,))
    values = np.empty(len(q))
    share(len(q), sampled, arm_of(robot), *_numbers(robot, layout, phi), read_only_view(q), values)
    return values


def _low_pose(robot: Robot, layout: Layout, parameters: ArrayLike, q: Array, poses: int) -> LowPose:
    """Judged by the room `dynamics`, not by the kernel that found it."""
    values, vectors = np.linalg.eigh(mass_matrix(robot, layout, parameters, q[None])[0])
    return LowPose(float(values[0]), read_only(q), read_only(vectors[:, 0]), poses)


def _numbers(robot: Robot, layout: Layout, phi: Array) -> tuple[Array, Array]:
    """Ten numbers of every link, and the inertia of every rotor."""
    n = len(robot.links)
    rotors = np.zeros(n)
    columns = layout.drive_columns[:, 3]
    rotors[columns >= 0] = phi[columns[columns >= 0]]
    return read_only_view(phi[: 10 * n].reshape(n, 10)), read_only_view(rotors)
