r"""What errors of torque constants do to an estimate: systematic, the same in every log made with them.

Torques made from currents are each joint's current times a constant. Where that of joint j is off by a factor
$g_j$ all its torques are, and weighted least squares with them:

$$\frac{\partial \hat\beta}{\partial g_j} = (W^T\Lambda W)^{-1}\,W_j^T\,\lambda_j\,\tau_j, \qquad
  \Sigma_{sys} = G\,\mathrm{diag}(e^2)\,G^T.$$

No longer log makes this smaller, and two logs made with the same constants share it. So it is kept apart from
the covariance of the data.

What does make it smaller is a torque that is known in N·m: the moment of gravity M at a pose, taken with a
scale and a lever. The torques of that joint alone predict it, $p = g^T \hat\beta_j$, and with a factor
$c_j$ of its constant they predict $c_j\,p$. So each moment tells the constant of its own joint,

$$M = c_j\,p + n, \quad c_j \sim \mathcal N(1, e_j^2) \;\Rightarrow\;
  \hat c_j = 1 + \frac{e_j^2\,p}{e_j^2 p^2 + \sigma_n^2}\,(M - p),$$

with the noise of the log and of the scale in n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, keep_read_only
from steelyard.dynamics import torque_regressor
from steelyard.errors import InputError, NoSolutionError
from steelyard.estimation.equations import solved
from steelyard.estimation.linear import settled_weights
from steelyard.problem import Estimate, Problem

CONTRADICTED = 4.0
"""Deviations between a moment stated and the one predicted, from which on one of them is wrong."""
_UNDETERMINED, _RANK, _TINY = 1e-8, 1e-7, float(np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class KnownMoment:
    """The moment of gravity about a joint at a pose, measured without the drive.

    Attributes:
        dof: the degree of freedom.
        pose: joint positions, shape (nv,), rad or m.
        torque: what the joint exerts to hold the pose, N·m or N.
        deviation: standard deviation of that measurement, N·m or N.
    """

    dof: int
    pose: Array
    torque: float
    deviation: float


@dataclass(frozen=True, eq=False)
class CalibratedConstants:
    """Factors of torque constants, and how far they may be off still.

    Attributes:
        factors: c, by which torques made with the constants stated are to be multiplied, shape (nv,),
            dimensionless.
        deviations: relative standard deviation of the constants then, shape (nv,), dimensionless.
        predicted: moments by the constants stated, shape (m,), N·m or N.
    """

    factors: Array
    deviations: Array
    predicted: Array

    def __post_init__(self) -> None:
        keep_read_only(self, "factors", "deviations", "predicted")


def calibrate_by_moments(
    problem: Problem, moments: Sequence[KnownMoment], errors: ArrayLike
) -> CalibratedConstants:
    """Correct torque constants by moments of gravity that are known, each that of its own joint.

    Args:
        problem: the question, linear in its parameters, with torques by the constants stated.
        moments: what is known.
        errors: relative standard deviation of each constant beforehand, shape (nv,), dimensionless.

    Returns:
        The factors and what is left of the errors.

    Raises:
        InputError: a moment is zero, contradicts the logs, or is of a joint whose constant has no error.
        NoSolutionError: the logs do not show the moment.
    """
    nv, names = problem.robot.nv, [joint.name for joint in problem.robot.joints if joint.nv]
    e = checked("errors", errors, (nv,))
    for moment in moments:
        _refuse(moment, names[moment.dof], e)
    factors, deviations, predicted = np.ones(nv), np.array(e), np.zeros(len(moments))
    for dof in sorted({moment.dof for moment in moments}):
        places = [k for k, moment in enumerate(moments) if moment.dof == dof]
        mine = [moments[k] for k in places]
        p, N = _by_own_torques(problem, dof, mine, names[dof])
        N = N + np.diag([moment.deviation**2 for moment in mine])
        off = np.array([moment.torque for moment in mine]) - p
        S = e[dof] ** 2 * np.outer(p, p) + N
        far = np.abs(off) / np.sqrt(np.diag(S))
        if (k := int(np.argmax(far))) >= 0 and far[k] > CONTRADICTED:
            raise InputError(
                f"{names[dof]} holds {mine[k].torque:g} N·m by what is stated, {p[k]:.4g} N·m by the logs, "
                f"which an error of {100.0 * e[dof]:.3g} % does not explain.",
                place="--known-moment",
                remedy="Check its sign, unit and pose, or state a larger --torque-constant-error.",
            )
        gain = e[dof] ** 2 * np.linalg.solve(S, p)
        factors[dof] = 1.0 + gain @ off
        deviations[dof] = e[dof] * np.sqrt(max(1.0 - gain @ p, 0.0)) / factors[dof]
        predicted[places] = p
    return CalibratedConstants(factors, deviations, predicted)


def _by_own_torques(
    problem: Problem, dof: int, moments: Sequence[KnownMoment], joint: str
) -> tuple[Array, Array]:
    """Moments that the torques of one joint predict, shape (m,), N·m, and their covariance, (m, m)."""
    robot, layout, at, columns = problem.robot, problem.layout, problem.samples, problem.base.columns
    nv, links = robot.nv, 10 * len(layout.links)
    A, tau = [], []
    for q, v, a, torque in at.blocks:
        Y = torque_regressor(robot, layout, q, v, a)[:, dof]
        A.append(Y[:, columns])
        tau.append(torque[:, dof] - Y @ problem.known)
    still = np.zeros((len(moments), nv))
    poses = np.array([checked("pose", moment.pose, (nv,)) for moment in moments])
    every = torque_regressor(robot, layout, poses, still, still)
    g = np.array(every[:, dof])
    g[:, links:] = 0.0  # A scale feels the links alone: no offset, which is of the torques that are logged.
    K, W, y = problem.base.matrix, np.concatenate(A), np.concatenate(tau)
    rows = np.linalg.lstsq(K.T, (g * layout.free).T, rcond=None)[0].T
    scale = np.linalg.norm(W, axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    U, s, V = np.linalg.svd(W / scale, full_matrices=False)
    shown = s > _RANK * s[0]
    # The moment as a combination of the joint's own torques.
    lever = (rows / scale) @ V[shown].T / s[shown]
    left_out = np.abs((rows / scale) - lever * s[shown] @ V[shown]).max(axis=1)
    size = np.abs(rows / scale).max(axis=1)
    hidden = (np.abs(rows @ K - g * layout.free).max(axis=1) > _UNDETERMINED) | (left_out > 1e-6 * size)
    turned = np.abs(g).max(axis=1) > _UNDETERMINED * np.abs(every).max(axis=(1, 2))
    if not turned.all() or hidden.any():
        raise NoSolutionError(
            f"{joint}: the logs do not show the moment of gravity at the pose stated.",
            place="--known-moment",
            remedy="State a moment at a joint and a pose where gravity turns it as it did in the logs.",
        )
    known = g @ problem.known
    explained = U[:, shown].T @ y
    residual = y - U[:, shown] @ explained
    variance = float(residual @ residual) / max(len(y) - int(shown.sum()), 1)
    memory = min(max(float(residual[1:] @ residual[:-1]) / max(float(residual @ residual), _TINY), 0.0), 0.99)
    # Noise that remembers is worth fewer samples.
    variance *= (1.0 + memory) / (1.0 - memory)
    return known + lever @ explained, variance * lever @ lever.T


def _refuse(moment: KnownMoment, joint: str, errors: Array) -> None:
    if not np.isfinite(moment.torque) or moment.torque == 0.0:
        raise InputError(
            f"{joint}: {moment.torque:g} N·m says nothing of a torque constant.",
            place="--known-moment",
            remedy="State a pose in which gravity turns the joint.",
        )
    if not (np.isfinite(moment.deviation) and moment.deviation > 0.0):
        raise InputError(
            f"{joint}: the deviation must be positive, got {moment.deviation:g} N·m.", place="--known-moment"
        )
    if errors[moment.dof] == 0.0:
        raise InputError(
            f"the torque constant of {joint} is without error, so there is nothing to correct.",
            place="--known-moment",
            remedy="State how far it may be off by --torque-constant-error.",
        )


def gain_sensitivity(problem: Problem, weights: ArrayLike) -> Array:
    r"""How least squares with given weights changes when the torques of one joint are scaled.

    Args:
        problem: the question.
        weights: of the degrees of freedom, shape (nv,), 1/(N·m) or 1/N; their common factor does not matter.

    Returns:
        G, the change per unit of relative gain of each degree of freedom, zero for what the motion hides,
        shape (b, nv), SI.
    """
    small, base = problem.compressed, problem.base
    w = checked("weights", weights, (len(small.triangles),))
    inverse = solved(problem.base_factor(w), base.names, "infinite").inverse
    place = {int(column): k for k, column in enumerate(base.columns)}
    G = np.zeros((base.count, len(w)))
    for j, (columns, T) in enumerate(zip(small.columns, small.triangles, strict=True)):
        inside = [(i, place[int(c)]) for i, c in enumerate(columns) if int(c) in place]
        mine, theirs = [i for i, _ in inside], [k for _, k in inside]
        # A triangle has the products of its equations: Wᵀτ = TᵀT's last column.
        G[:, j] = w[j] ** 2 * inverse[:, theirs] @ (T[:, mine].T @ T[:, -1])
    return G


def with_constant_errors(problem: Problem, estimate: Estimate, errors: ArrayLike) -> Estimate:
    """The estimate with what errors of torque constants add, kept apart in `systematic`.

    Args:
        problem: the question it answers.
        estimate: the answer; its weights are used where it has some.
        errors: relative standard deviation of each torque constant, shape (nv,), dimensionless.

    Returns:
        A new estimate, with `systematic` where an error is not zero.

    Raises:
        InputError: an error is negative.
    """
    e = checked("errors", errors, (problem.robot.nv,))
    if (e < 0.0).any():
        raise InputError(f"must not be negative, got {e.min():g}.", place="errors")
    if not e.any():
        return estimate
    weights = settled_weights(problem, "infinite")[0] if estimate.weights is None else estimate.weights
    scaled = gain_sensitivity(problem, weights) * e
    detail = {**estimate.detail, "torque_constant_errors": e.tolist()}
    return replace(estimate, systematic=scaled @ scaled.T, detail=detail)
