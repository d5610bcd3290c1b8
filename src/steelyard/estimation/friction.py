"""Friction that is not linear in its shape, found with all the rest; and how far friction drifts in a log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise, repeat

import numpy as np
import scipy.optimize
import scipy.special

from steelyard.arrays import Array, IntArray, keep_checked
from steelyard.drive import StribeckShape, stribeck_shape_slopes
from steelyard.dynamics import torque_regressor
from steelyard.errors import InputError, NoSolutionError
from steelyard.estimation.equations import (
    OnBlind,
    Rows,
    RowSource,
    Solution,
    base_rows,
    pieces,
    residuals,
    solved,
    weighted_factor,
)
from steelyard.estimation.linear import ROUND_OFF, settled_weights
from steelyard.estimation.noise import (
    LONGEST,
    Colour,
    NoiseModel,
    Spread,
    autocovariances,
    autoregression,
    linear_covariance,
)
from steelyard.finding import Finding, Severity
from steelyard.layout import Layout
from steelyard.problem import Estimate, Problem
from steelyard.threads import with_one_blas_thread

# The torque equations with columns for a change in the shape of Stribeck friction.


def stribeck_places(problem: Problem) -> tuple[IntArray, IntArray]:
    """Where Stribeck friction acts.

    Args:
        problem: the question.

    Returns:
        Degrees of freedom that have it, shape (n,), and their base parameters, shape (n,); dimensionless.

    Raises:
        InputError: what the layout fixes leaves a coefficient that is not one of the base parameters.
    """
    columns = problem.layout.friction_columns[:, 0]
    dofs = np.flatnonzero(columns >= 0)
    where = {int(column): k for k, column in enumerate(problem.base.columns)}
    if any(int(column) not in where for column in columns[dofs]):
        raise InputError("fixes a coefficient of Stribeck friction whose shape is asked for.", place="layout")
    return dofs, np.array([where[int(column)] for column in columns[dofs]], dtype=np.int64)


def shape_names(problem: Problem) -> tuple[str, ...]:
    """Names of the shapes: the velocities of all joints, then their exponents.

    Args:
        problem: the question.
    """
    joints = problem.layout.joints
    return tuple(f"{joint}.{word}" for word in ("stribeck_velocity", "stribeck_exponent") for joint in joints)


def friction_layout(problem: Problem, shapes: Array) -> Layout:
    """The problem's layout with other shapes.

    Args:
        problem: the question.
        shapes: v_s and δ of each joint, shape (n, 2), rad/s or m/s and dimensionless.
    """
    return problem.layout.with_stribeck([StribeckShape(float(v), float(d)) for v, d in shapes])


def shaped_rows(problem: Problem, shapes: Array, beta: Array | None) -> RowSource:
    r"""The equations $W_1\beta + D\,\delta\theta = \tau$ with $\theta = (\ln v_s, \ln\delta)$.

    Args:
        problem: the question, with its samples.
        shapes: v_s and δ of each joint, shape (n, 2), rad/s or m/s and dimensionless.
        beta: base parameters at which D is taken, shape (b,), SI; None makes D zero.

    Returns:
        The source of the equations; their columns are those of the base parameters, then those of θ.
    """
    at, layout = problem.samples, friction_layout(problem, shapes)
    dofs, places = stribeck_places(problem)
    n, b = len(dofs), problem.base.count

    def rows() -> Iterator[Rows]:
        for part in pieces(problem):
            Y = torque_regressor(problem.robot, layout, at.q[part], at.v[part], at.a[part])
            W = np.zeros((*Y.shape[:2], b + 2 * n))
            W[..., :b] = Y[..., problem.base.columns]
            if beta is not None:
                velocity, exponent = stribeck_shape_slopes(at.v[part][:, dofs], *shapes.T)
                W[:, dofs, b + np.arange(n)] = beta[places] * velocity * shapes[:, 0]
                W[:, dofs, b + n + np.arange(n)] = beta[places] * exponent * shapes[:, 1]
            yield Rows(W, W, at.tau[part] - Y @ problem.known)

    return rows


# The fit of Stribeck's velocity and exponent together with all other parameters

_ROUNDS, _STEPS, _SETTLED = 3, 60, 1e-10
_LONGEST_STEP = 0.7
_LOSSES = 12
_SURE, _NOTHING = 3.0, 1e-3


@with_one_blas_thread
def fit_friction(
    problem: Problem, *, colour: Colour = "autoregressive", on_blind: OnBlind = "refuse"
) -> Estimate:
    r"""Base parameters together with the shape $(v_s, \delta)$ of each joint's Stribeck friction.

    $$\min_{v_s, \delta}\ \min_\beta \sum_k w_k^2 \lVert W_k(v_s, \delta)\,\beta - \tau_k \rVert^2$$

    For given shapes the best β is linear least squares (variable projection), so Gauss-Newton searches over
    the logarithms of the shapes alone, damped until the projected loss falls. It starts at the shapes of the
    problem's layout and finds the nearest minimum: state shapes of the right order. Weights follow the noise.

    Args:
        problem: the question, with its samples; its layout has the term `stribeck`.
        colour: what is assumed of the noise.
        on_blind: `refuse` names base parameters and shapes that the motion hides in an error, `infinite`
            gives what it hides an infinite variance. A joint without Stribeck friction hides its shape.

    Returns:
        The estimate; its layout carries the shapes found, its `detail` the deviations of their logarithms.

    Raises:
        InputError: the layout has no Stribeck term, joints mimic others, or the samples were not kept.
        NoSolutionError: the motion hides something, or the search does not settle.
    """
    if "stribeck" not in problem.layout.drive:
        raise InputError(
            "has no term 'stribeck'.", place="layout", remedy="Ask about 'stribeck' among the drive terms."
        )
    if problem.robot.ties is not None:
        raise InputError("has joints that mimic others, which share their friction.", place="robot")
    shapes = np.array(problem.layout.stribeck_shapes[stribeck_places(problem)[0]])
    weights = np.ones(problem.robot.nv)
    for _ in range(_ROUNDS):
        shapes, solution = _search(problem, shapes, weights)
        source = shaped_rows(problem, shapes, solution.values)
        left = np.concatenate(residuals(source, _with_shapes(solution.values, shapes)))
        floor = ROUND_OFF * float(np.sqrt((problem.samples.tau**2).mean()))
        weights = 1.0 / np.maximum(np.sqrt((left**2).mean(axis=0)), floor)
    names = (*problem.base.names, *shape_names(problem))
    source = shaped_rows(problem, shapes, _significant(problem, solution, weights))
    everything = solved(weighted_factor(source, repeat(weights)), names, on_blind)
    pieces = residuals(source, _with_shapes(solution.values, shapes))
    covariance, noise = linear_covariance(source, weights, everything.inverse, pieces, colour)
    dense = Spread(covariance, everything.blind).covariance
    b = problem.base.count
    return Estimate(
        method="separable friction",
        layout=friction_layout(problem, shapes),
        base=problem.base,
        values=solution.values,
        residual=np.sqrt((left**2).mean(axis=0)),
        samples=problem.samples.n,
        condition=everything.condition,
        covariance=dense[:b, :b],
        weights=weights,
        recordings=problem.digests,
        detail={
            "colour": colour,
            "shapes": dict(zip(shape_names(problem), shapes.T.ravel().tolist(), strict=True)),
            "log_deviations": dict(
                zip(shape_names(problem), np.sqrt(np.diag(dense)[b:]).tolist(), strict=True)
            ),
            "orders": [model.order for model in noise],
        },
    )


def _significant(problem: Problem, solution: Solution, weights: Array) -> Array:
    """Beta without Stribeck coefficients that could as well be zero: a shape of nothing cannot be known."""
    beta, places = np.array(solution.values), stribeck_places(problem)[1]
    noise = np.sqrt(np.diag(solution.inverse)[places])
    least = _SURE * noise + _NOTHING / weights.min()
    beta[places] = np.where(np.abs(beta[places]) > least, beta[places], 0.0)
    return beta


def _with_shapes(beta: Array, shapes: Array) -> Array:
    """Beta with no change of the shapes beside it."""
    return np.concatenate([beta, np.zeros(shapes.size)])


def _search(problem: Problem, shapes: Array, weights: Array) -> tuple[Array, Solution]:
    """Gauss-Newton on the logarithms of the shapes, with Levenberg's damping."""
    R, solution, loss = _projected(problem, shapes, weights)
    exact = (ROUND_OFF * float(np.linalg.norm(R[:, -1]))) ** 2
    damping, failed = 1e-3, 0
    for _ in range(_STEPS if loss > exact else 0):
        b = problem.base.count
        # What is left of the slopes' columns once beta may answer (Kaufman's Jacobian).
        J, r = R[b:-1, b:-1], R[b:-1, -1]
        size = max(float(np.linalg.norm(J, axis=0).max()), np.finfo(float).tiny)
        lower = np.vstack([J, np.sqrt(damping) * size * np.eye(J.shape[1])])
        step = np.linalg.lstsq(lower, np.r_[r, np.zeros(J.shape[1])], rcond=None)[0]
        step *= min(1.0, _LONGEST_STEP / max(float(np.abs(step).max()), np.finfo(float).tiny))
        trial = shapes * np.exp(step.reshape(2, -1).T)
        R_trial, trial_solution, trial_loss = _projected(problem, trial, weights)
        if trial_loss < loss:
            gained = loss - trial_loss
            shapes, R, solution, loss = trial, R_trial, trial_solution, trial_loss
            damping, failed = max(damping / 10.0, 1e-12), 0
            if gained <= _SETTLED * loss or loss <= exact:
                return shapes, solution
        else:
            damping, failed = damping * 10.0, failed + 1
            if np.abs(step).max() < 1e-9 or failed > _LOSSES:
                return shapes, solution
    if loss <= exact:
        return shapes, solution
    raise NoSolutionError(
        f"the shapes of Stribeck friction did not settle in {_STEPS} steps.",
        place="friction",
        remedy="Start from other shapes, or leave 'stribeck' out of the drive terms.",
        evidence={"shapes": shapes.tolist()},
    )


def _projected(problem: Problem, shapes: Array, weights: Array) -> tuple[Array, Solution, float]:
    """The triangle at given shapes with the slopes' columns, the best beta there, and the loss it leaves."""
    b = problem.base.count
    beta: Array | None = None
    for _ in range(2):
        # The first pass finds beta, which the slopes' columns of the second need.
        R = weighted_factor(shaped_rows(problem, shapes, beta), repeat(weights))
        if beta is None:
            keep = [*range(b), R.shape[1] - 1]
            small = np.asarray(np.linalg.qr(R[:, keep], mode="r"))
            solution = solved(small, problem.base.names, "infinite")
            loss = float(small[b, b] ** 2)
            beta = solution.values
    return R, solution, loss


# How much a joint's friction drifts from one stretch of a log to the next; what that adds to intervals.
#
# Friction depends on temperature, load and the time since the last turn; the model holds one number for each
# of its terms. So every stretch b of a log has numbers of its own around those of the robot, $d_b \sim N(0,
# D)$:
#
# $$r_b = F_b\,(f + d_b) + e_b, \qquad F = [v \quad \mathrm{sign}\,v \quad 1],$$
#
# with r the residual of the fit at one degree of freedom and e noise with a memory. D is what makes the
# residual most likely (restricted likelihood, f taken as unknown). Its size is found to be much the same for
# stretches of one second and of sixteen, as drift of all time scales has it. Such drift does not average out:
# the next log differs from this one by about as much as its own stretches differ from each other. So D as a
# whole is added to the covariance, not D over the number of stretches.

TERMS = ("viscous", "coulomb", "offset")
"""Terms that drift."""
STRETCHES = 6
"""Stretches that a motion is cut into."""
SHORTEST = 2.0
"""Length of the shortest stretch, s; friction within it follows its last turn more than the model has it."""
FEWEST = 3
"""Stretches below which nothing is said about drift."""
SURPRISE = 0.005
"""Chance of a likelihood ratio this large without drift, above which none is claimed."""
_WIDEST = 14.0  # natural logarithm of the noise's variance over the smallest drift's
_LARGEST = 3.0
_BLIND = 1e-9


@dataclass(frozen=True, eq=False)
class FrictionDrift:
    """By how much friction and offset of each degree of freedom drift.

    Attributes:
        deviations: of the terms `TERMS`, zero where no drift is seen, shape (nv, 3), SI.
        columns: where the terms stand among the parameters of the layout, shape (nv, 3), dimensionless; -1
            where a term is absent.
    """

    deviations: Array
    columns: IntArray

    def __post_init__(self) -> None:
        keep_checked(self, ("nv", 3), "deviations")


def friction_drift(problem: Problem) -> FrictionDrift:
    """Estimate how much friction and offset of each joint drift within the logs.

    Viscous and Coulomb friction share one deviation of torque, at the joint's rms velocity; the offset has
    its own. A drift is claimed only where the likelihood ratio says that noise alone would hardly show it.

    Args:
        problem: the question, with its samples, in the order of time.

    Returns:
        The drift; zero where it is not seen, where the logs are too short to tell, and where friction grows
        with the load, whose residual is not that of linear equations.

    Raises:
        InputError: the samples were not kept.
    """
    at, nv = problem.samples, problem.robot.nv
    columns = problem.layout.drive_columns[:, : len(TERMS)]
    if len(columns) != nv:
        # Joints tied to each other share one equation, whose friction is no longer one joint's.
        columns = np.full((nv, len(TERMS)), -1, dtype=np.int64)
    deviations = np.zeros((nv, len(TERMS)))
    cuts = _stretches(problem)
    if len(cuts) < FEWEST or "load" in problem.layout.drive:
        return FrictionDrift(deviations, columns)
    try:
        plain = settled_weights(problem, "infinite")[1]
    except NoSolutionError:
        return FrictionDrift(deviations, columns)
    pieces = residuals(base_rows(problem), plain.values)
    r = np.concatenate(pieces)
    longest = min(LONGEST, at.n // 8)
    for k, c in enumerate(autocovariances(pieces, longest)):
        rms = float(np.sqrt((at.v[:, k] ** 2).mean()))
        present = columns[k] >= 0
        if rms == 0.0 or c[0] <= 0.0 or not present.any():
            continue
        F = np.column_stack((at.v[:, k] / rms, np.sign(at.v[:, k]), np.ones(at.n))) * present
        drift = _likeliest(_Stretches.of(F, r[:, k], cuts, autoregression(c, at.n)), float(c[0]))
        deviations[k] = np.array([drift[0] / rms, drift[0], drift[1]]) * present
    return FrictionDrift(deviations, columns)


def with_drift(estimate: Estimate, drift: FrictionDrift) -> Estimate:
    r"""Add to an estimate's covariance what drift adds: $\Sigma + K_F\,D\,K_F^T$.

    What is added stands in `drift` as well: no richer motion makes it smaller.

    Args:
        estimate: the estimate; unchanged where it has no covariance.
        drift: the drift.

    Returns:
        A new estimate; its `detail` holds the deviations by joint, and a finding names the joints.
    """
    if estimate.covariance is None:
        return estimate
    there = drift.columns >= 0
    K = estimate.base.matrix[:, drift.columns[there]]
    known = np.isfinite(np.diag(estimate.covariance))
    K = np.where(known[:, None], K * drift.deviations[there], 0.0)
    added = K @ K.T
    return replace(
        estimate,
        covariance=estimate.covariance + added,
        drift=added,
        findings=(*estimate.findings, *_findings(estimate, drift)),
        detail={**estimate.detail, "friction_drift": drift.deviations.tolist()},
    )


def _findings(estimate: Estimate, drift: FrictionDrift) -> tuple[Finding, ...]:
    layout = estimate.layout
    largest = drift.deviations[:, 1:].max(axis=1)
    moved = [int(k) for k in np.argsort(-largest, kind="stable") if largest[k] > 0.0]
    if not moved:
        return ()
    listed = ", ".join(
        f"{layout.joints[layout.dofs[k]]} by {largest[k]:.2g} {layout.parameters[column].unit}"
        for k in moved
        if (column := int(drift.columns[k, 1:].max())) >= 0
    )
    return (
        Finding(
            Severity.INFO,
            "friction-drift",
            f"friction or offset change from one stretch of the logs to the next more than noise explains: "
            f"{listed}. Another log may differ as much from this one; the intervals of these terms hold it.",
        ),
    )


def _stretches(problem: Problem) -> list[slice]:
    """The samples of each motion in stretches of even length in time."""
    at, cuts = problem.samples, []
    for motion in at.motions:
        t = at.time[motion]
        count = int(np.clip((t[-1] - t[0]) // SHORTEST, 1, STRETCHES))
        inner = np.searchsorted(t, np.linspace(t[0], t[-1], count + 1)[1:-1])
        edges = [motion.start, *(motion.start + inner), motion.stop]
        cuts += [slice(int(a), int(b)) for a, b in pairwise(edges) if b > a]
    return cuts


@dataclass(frozen=True, eq=False)
class _Stretches:
    """What each stretch says of one degree of freedom, its noise made white: G = FᵀF and g = Fᵀr."""

    G: Array
    g: Array

    @classmethod
    def of(cls, F: Array, r: Array, cuts: list[slice], noise: NoiseModel) -> _Stretches:
        p = noise.order
        whitening = np.r_[1.0, -noise.coefficients]
        left = float(noise.start[0] - noise.coefficients @ noise.start[1:])
        G, g = [], []
        for cut in cuts:
            if cut.stop - cut.start > p:
                both = np.column_stack((F[cut], r[cut]))
                white = sum(w * both[p - k : len(both) - k] for k, w in enumerate(whitening))
                G.append(white[:, :-1].T @ white[:, :-1] / left)
                g.append(white[:, :-1].T @ white[:, -1] / left)
        return cls(np.array(G).reshape(-1, 3, 3), np.array(g).reshape(-1, 3))

    def unlikelihood(self, friction: float, offset: float) -> float:
        """Minus the logarithm of the restricted likelihood of two variances, but for a constant."""
        s = np.sqrt(np.array([friction, friction, offset]))
        inner = np.eye(3) + s[:, None] * self.G * s
        M = s[:, None] * np.linalg.inv(inner) * s
        A = (self.G - self.G @ M @ self.G).sum(axis=0)
        Mg = np.einsum("bij,bj->bi", M, self.g)
        c = (self.g - np.einsum("bij,bj->bi", self.G, Mg)).sum(axis=0)
        # A direction that no stretch shows, such as a term that is absent, has no part in either sum.
        values, vectors = np.linalg.eigh(A)
        shown = values > _BLIND * values[-1]
        explained = float((self.g * Mg).sum() + (((vectors.T @ c)[shown]) ** 2 / values[shown]).sum())
        spread = float(np.linalg.slogdet(inner)[1].sum() + np.log(values[shown]).sum())
        return 0.5 * (spread - explained)


def _likeliest(seen: _Stretches, noise: float) -> tuple[float, float]:
    """Deviations of friction and offset, N·m or N; zero where the data does not insist."""
    if len(seen.G) < FEWEST:
        return 0.0, 0.0
    centre = np.log(noise)

    def least(friction: bool, offset: bool) -> tuple[float, Array]:
        found = scipy.optimize.minimize(
            lambda x: seen.unlikelihood(friction * np.exp(x[0]), offset * np.exp(x[1])),
            np.full(2, centre - 2.0),
            method="L-BFGS-B",
            bounds=[(centre - _WIDEST, centre + _LARGEST)] * 2,
        )
        return float(found.fun), np.exp(found.x)

    both, variances = least(True, True)
    # A variance at its bound: the ratio is zero in half of all cases, else chi-square with one degree.
    needed = 0.5 * float(scipy.special.chdtri(1, 2.0 * SURPRISE))
    drifts = least(False, True)[0] - both > needed
    moves = least(True, False)[0] - both > needed
    if drifts and not moves:
        variances = least(True, False)[1]
    elif moves and not drifts:
        variances = least(False, True)[1]
    friction, offset = np.sqrt(variances)
    return float(friction) if drifts else 0.0, float(offset) if moves else 0.0
