r"""Is the mass matrix positive definite at every pose? Proven where possible links exist, searched otherwise.

The kinetic energy is a sum over links with twists $V_i(q, v)$ and rotors,
$v^T M(q)\,v = \sum_i V_i^T \mathcal M_i V_i + \sum_j I_{aj} v_j^2$.
Where every link can exist and no rotor inertia is negative, each term is at least zero, at any pose. It is
also positive for $v \ne 0$ when every joint moves a link that is strictly possible, or turns a rotor: take a
moving joint nearest to the base; the link it carries has a twist that is not zero. M depends on phi only
through what torques show, so any possible vector with the same base parameters proves the same.

Otherwise the smallest eigenvalue is searched for, from random poses downhill. That can refute, and never
prove.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from steelyard.arrays import Array, checked, read_only
from steelyard.consistency.full_set import full_set
from steelyard.consistency.possible import possible_set
from steelyard.consistency.verdict import check_parameters
from steelyard.dynamics import mass_matrix
from steelyard.errors import InputError, NoSolutionError
from steelyard.identifiability import BaseParameters
from steelyard.layout import Layout
from steelyard.robot import Robot

POSES = 2000
DESCENTS = 8
_EXACT = 1e-12


class Definiteness(StrEnum):
    """What is known of the mass matrix."""

    PROVEN = "proven"
    """Positive definite at every pose."""
    NOT_NEGATIVE = "not negative"
    """Positive semidefinite at every pose; whether definite was not decided."""
    SEARCHED = "searched"
    """Positive definite at every pose that was looked at."""
    REFUTED = "refuted"
    """Not positive definite at the pose found."""


@dataclass(frozen=True, eq=False)
class MassMatrixVerdict:
    """Whether the mass matrix is positive definite, and how that is known.

    Attributes:
        definiteness: what is known.
        smallest: smallest eigenvalue met in the search, kg·m² or kg.
        pose: where, shape (nq,), rad or m.
        sentence: the verdict in words.
    """

    definiteness: Definiteness
    smallest: float
    pose: Array
    sentence: str


def judge_mass_matrix(
    robot: Robot,
    layout: Layout,
    parameters: ArrayLike,
    base: BaseParameters,
    rng: np.random.Generator,
) -> MassMatrixVerdict:
    """Ask whether the mass matrix is positive definite at every pose.

    Args:
        robot: the robot, of joints with one degree of freedom.
        layout: the order of the parameters.
        parameters: phi, possible or not, shape (p,), SI.
        base: the base parameters of the layout.
        rng: source of the poses from which the search starts.

    Returns:
        The verdict.

    Raises:
        InputError: the robot has floating or spherical joints.
    """
    if robot.nq != robot.nv:
        raise InputError("poses of floating and spherical joints are not searched.", place="robot")
    phi = checked("parameters", parameters, (layout.size,))
    smallest, pose = _lowest_eigenvalue(robot, layout, phi, rng)
    found = f"The smallest eigenvalue met is {smallest:.3g}."
    if smallest <= 0.0:
        sentence = f"Not positive definite. {found}"
        return MassMatrixVerdict(Definiteness.REFUTED, smallest, read_only(pose), sentence)
    witness, whose = _possible_links(layout, phi, base)
    if witness is None:
        kind, sentence = Definiteness.SEARCHED, f"No proof: {whose} {found}"
    elif _every_joint_moves_mass(robot, layout, witness):
        kind, sentence = Definiteness.PROVEN, f"Positive definite at every pose, since {whose} {found}"
    else:
        kind = Definiteness.NOT_NEGATIVE
        sentence = f"Never negative, since {whose} A link on the edge leaves open whether zero. {found}"
    return MassMatrixVerdict(kind, smallest, read_only(pose), sentence)


def _possible_links(layout: Layout, phi: Array, base: BaseParameters) -> tuple[Array | None, str]:
    """Possible links with the same base parameters, and the clause that says whose they are."""
    if check_parameters(layout, phi):
        return phi, "all links can exist."
    beta = base.matrix @ phi
    try:
        found = full_set(base, beta, possible_set(layout))
    except NoSolutionError as error:
        return None, error.message
    missed = np.abs(found.values - beta).max(initial=0.0)
    if missed > _EXACT * np.abs(beta).max(initial=0.0):
        return None, found.reason or "possible links come near these base parameters, not onto them."
    return found.parameters, "possible links with the same base parameters exist."


def _every_joint_moves_mass(robot: Robot, layout: Layout, phi: Array) -> bool:
    strict = {link.name: link.strict for link in check_parameters(layout, phi).links}
    for joint, link in zip(robot.untied.joints, layout.links, strict=True):
        rotor = f"{joint.name}.rotor"
        turns = rotor in layout.names and phi[layout.index(rotor)] > 0
        if joint.nv and not (strict[link] or turns):
            return False
    return True


def _lowest_eigenvalue(
    robot: Robot, layout: Layout, phi: Array, rng: np.random.Generator
) -> tuple[float, Array]:
    """The smallest eigenvalue over random poses, and downhill from the lowest of them, within the limits."""
    lower = np.maximum(robot.limit_array("lower"), -np.pi)
    upper = np.minimum(robot.limit_array("upper"), np.pi)

    def eigenvalues(q: Array) -> Array:
        return np.asarray(np.linalg.eigvalsh(mass_matrix(robot, layout, phi, q))[:, 0], dtype=np.float64)

    def with_slope(q: Array) -> tuple[float, Array]:
        h = 1e-6 * np.eye(q.size)
        around = eigenvalues(np.vstack([q[None], q + h, q - h]))
        return float(around[0]), (around[1 : 1 + q.size] - around[1 + q.size :]) / 2e-6

    q = rng.uniform(lower, upper, (POSES, robot.nv))
    seen = eigenvalues(q)
    best, pose = float(seen.min()), q[int(seen.argmin())]
    bounds = list(zip(lower, upper, strict=True))
    for start in q[np.argsort(seen)[:DESCENTS]]:
        end = minimize(with_slope, start, jac=True, method="L-BFGS-B", bounds=bounds)
        if end.fun < best:
            best, pose = float(end.fun), np.asarray(end.x)
    return best, pose
