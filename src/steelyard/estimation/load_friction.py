"""Friction that grows with the load, found together with the links that make the load."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.optimize

from steelyard.arrays import Array, BoolArray, IntArray
from steelyard.dynamics import inverse_dynamics, torque_regressor
from steelyard.errors import InputError, NoSolutionError
from steelyard.estimation.equations import (
    OnBlind,
    Rows,
    RowSource,
    folded_triangles,
    kept_if_small,
    pieces,
    residuals,
    solved,
)
from steelyard.estimation.linear import ROUND_OFF
from steelyard.estimation.noise import Colour, Spread, linear_covariance
from steelyard.finding import Finding, Severity
from steelyard.problem import Estimate, Problem
from steelyard.threads import with_one_blas_thread

# The torque equations of friction that grows with the load: $\tau = r + D\delta + F_l\,|r|\,s_v$.
#
# With $s_v = \operatorname{sign}(v)$ and $s = \operatorname{sign}(r)\,s_v$, which is 1 where the gear drives
# its load and -1 where it is driven by it, they read
#
# $$\tau = (1 + F_l\,s)\,r + D\,\delta, \qquad r = Y\phi_{links}.$$

LoadPieces = Callable[[], Iterable[tuple[slice, Array]]]
"""Gives, each time it is called, runs of samples with their regressor, see `load_pieces`."""


def load_places(problem: Problem) -> IntArray:
    """The parameters F_l.

    Args:
        problem: the question.

    Returns:
        Their index in phi by degree of freedom, shape (nv,), dimensionless; -1 where there is none.

    Raises:
        InputError: the layout has no load term, or joints mimic others.
    """
    if "load" not in problem.layout.drive:
        raise InputError(
            "has no term 'load'.", place="layout", remedy="Ask about 'load' among the drive terms."
        )
    if problem.robot.ties is not None:
        raise InputError("has joints that mimic others, which share their friction.", place="robot")
    return problem.layout.friction_columns[:, 2]


def load_pieces(problem: Problem) -> LoadPieces:
    """The columns of all parameters but F_l, in pieces of a few thousand samples.

    Args:
        problem: the question, with its samples.

    Returns:
        Gives the samples of each piece and their regressor with zeros at F_l, shape (n, nv, p), SI; it is not
        to be written to, because a log that is not long is worked out once.
    """
    at = problem.samples

    def made() -> Iterator[tuple[slice, Array]]:
        for part in pieces(problem):
            q, v, a = at.q[part], at.v[part], at.a[part]
            yield part, torque_regressor(problem.robot, problem.layout, q, v, a, load=np.zeros_like(v))

    return kept_if_small(made, at.tau.size * problem.layout.size)


def tangent_rows(
    problem: Problem, parameters: Array, columns: IntArray | None = None, *, given: LoadPieces | None = None
) -> RowSource:
    r"""The equations linearised at φ: $J\phi' = \tau + F_l\,|r| \operatorname{sign}(v)$, $J = \partial\tau$.

    Args:
        problem: the question, with its samples.
        parameters: φ, shape (p,), SI.
        columns: the parameters asked about, shape (b,), dimensionless; the torque of what the layout fixes is
            then taken off the right side. None for all parameters.
        given: the pieces of the problem, where they are at hand.

    Returns:
        The source of the equations.
    """
    places, links = load_places(problem), 10 * len(problem.layout.links)
    loaded = np.flatnonzero(places >= 0)
    F_l = np.zeros(len(places))
    F_l[loaded] = parameters[places[loaded]]
    regressors = load_pieces(problem) if given is None else given

    def rows() -> Iterator[Rows]:
        for part, Y in regressors():
            J, v = np.array(Y), problem.samples.v[part]
            r = J[..., :links] @ parameters[:links]
            column = np.abs(r) * np.sign(v)
            J[..., :links] *= (1.0 + F_l * np.sign(r) * np.sign(v))[..., None]
            J[:, loaded, places[loaded]] = column[:, loaded]
            y = problem.samples.tau[part] + F_l * column
            if columns is not None:
                y, J = y - J @ problem.known, np.ascontiguousarray(J[..., columns])
            yield Rows(J, J, y)

    asked = problem.layout.size if columns is None else len(columns)
    return kept_if_small(rows, problem.samples.tau.size * asked)


# Load-dependent friction on compressed samples: what is nonlinear in it needs no samples.
#
# Once it is known where the gear drives its load ($s = 1$), where it is driven by it ($s = -1$) and where it
# stands ($s = 0$), the equations of one degree of freedom in each of the three groups,
#
# $$\tau = (1 + F_l\,s)\,r + D\,\delta, \qquad r = Y\phi_{links},$$
#
# enter only through the triangle of their columns $[Y\ \ D\ \ r_{known}\ \ \tau]$.


@dataclass(frozen=True, eq=False)
class LoadGroups:
    """The triangles of all groups, one below the other, and the sides they were sorted by.

    Attributes:
        rows: columns of the base parameters (zero at F_l), of r_known and of tau, shape (m, b + 2), SI.
        dofs: degree of freedom of each row, shape (m,), dimensionless.
        side: s of each row, shape (m,), dimensionless.
        pattern: s of each sample, shape (N, nv), dimensionless.
        rigid: which base parameters are of links, shape (b,), dimensionless.
        loads: place among the base parameters of each degree of freedom's F_l, shape (nv,), dimensionless;
            -1 where it is known.
        known: F_l where it is known, else zero, shape (nv,), dimensionless.
    """

    rows: Array
    dofs: IntArray
    side: Array
    pattern: Array
    rigid: BoolArray
    loads: IntArray
    known: Array

    def coefficients(self, beta: Array) -> Array:
        """F_l of each degree of freedom, known or among the base parameters.

        Args:
            beta: base parameters, shape (b,), SI.

        Returns:
            F_l, shape (nv,), dimensionless.
        """
        return np.where(self.loads >= 0, beta[self.loads], self.known)

    def residual(self, beta: Array, weights: Array) -> Array:
        """What base parameters leave of the torque; its norm is that of the samples.

        Args:
            beta: base parameters, shape (b,), SI.
            weights: one over the noise of each degree of freedom, shape (nv,), 1/(N·m) or 1/N.

        Returns:
            Weighted residuals, shape (m,), dimensionless.
        """
        linear = self.rows[:, :-2][:, ~self.rigid] @ beta[~self.rigid]
        left = self.rows[:, -1] - linear - self._share(beta) * self._carried(beta)
        return np.asarray(weights[self.dofs] * left)

    def slope(self, beta: Array, weights: Array) -> Array:
        """Derivative of the residual in the base parameters.

        Args:
            beta: base parameters, shape (b,), SI.
            weights: one over the noise of each degree of freedom, shape (nv,), 1/(N·m) or 1/N.

        Returns:
            The derivative, shape (m, b), SI.
        """
        J = np.array(self.rows[:, :-2])
        J[:, self.rigid] *= self._share(beta)[:, None]
        free = self.loads[self.dofs] >= 0
        J[free, self.loads[self.dofs[free]]] = (self.side * self._carried(beta))[free]
        return np.asarray(-weights[self.dofs][:, None] * J)

    def tangent_factor(self, beta: Array, weights: Array) -> Array:
        """The triangle of the torques' tangent at some base parameters; it is that of the samples.

        All rows of a group share one factor of the load, so the triangle of the group serves for its samples.

        Args:
            beta: base parameters, shape (b,), SI; their load is on the sides by which the samples are sorted.
            weights: one over the noise of each degree of freedom, shape (nv,), 1/(N·m) or 1/N.

        Returns:
            R, upper triangular, shape (b + 1, b + 1), SI.
        """
        J = -self.slope(beta, weights)
        target = self.residual(beta, weights) + J @ beta
        R = np.linalg.qr(np.column_stack([J, target]), mode="r")
        full = np.zeros((J.shape[1] + 1, J.shape[1] + 1))
        full[: len(R)] = R
        return full

    def same(self, pattern: Array, dof: int, side: int) -> bool:
        """Whether another sorting puts the same samples in a group.

        Args:
            pattern: s of each sample there, shape (N, nv), dimensionless.
            dof: degree of freedom of the group.
            side: s of the group.

        Returns:
            Whether it does.
        """
        return np.array_equal(self.pattern[:, dof] == side, pattern[:, dof] == side)

    def triangle(self, dof: int, side: int) -> Array:
        """The rows of one group.

        Args:
            dof: degree of freedom of the group.
            side: s of the group.

        Returns:
            Its triangle, shape (k, b + 2), SI.
        """
        return np.asarray(self.rows[(self.dofs == dof) & (self.side == side)])

    def _share(self, beta: Array) -> Array:
        return np.asarray(1.0 + self.coefficients(beta)[self.dofs] * self.side)

    def _carried(self, beta: Array) -> Array:
        """r, in the rows of the triangles."""
        return np.asarray(self.rows[:, :-2][:, self.rigid] @ beta[self.rigid] + self.rows[:, -2])


@dataclass(frozen=True, eq=False)
class LoadSamples:
    """The samples of a question, to be sorted by the side of their load as often as a search asks.

    Attributes:
        problem: the question, with its samples.
        places: of F_l, see `load_places`, shape (nv,), dimensionless.
        regressors: its pieces, see `load_pieces`.
    """

    problem: Problem
    places: IntArray
    regressors: LoadPieces

    @classmethod
    def of(cls, problem: Problem) -> LoadSamples:
        """The samples of a question.

        Args:
            problem: the question, with its samples.

        Raises:
            InputError: the layout has no load term, joints mimic others, or the samples were not kept.
        """
        return cls(problem, load_places(problem), load_pieces(problem))

    def sorted_by(self, parameters: Array | None, before: LoadGroups | None = None) -> LoadGroups:
        """Sort the samples by the side on which their load is, and compress each group.

        Args:
            parameters: phi, from which the load follows, shape (p,), SI; None takes the measured torque.
            before: an earlier sorting; a group with the same samples is not compressed again.
        """
        pattern = self._sides(parameters)
        triangles = self._triangles(pattern, before)
        places, columns = self.places, self.problem.base.columns
        where = {int(column): k for k, column in enumerate(columns)}
        lengths = [len(T) for T in triangles.values()]
        return LoadGroups(
            rows=np.vstack(list(triangles.values())),
            dofs=np.repeat(np.array([k for k, _ in triangles], dtype=np.int64), lengths),
            side=np.repeat(np.array([float(side) for _, side in triangles]), lengths),
            pattern=pattern,
            rigid=columns < self._links,
            loads=np.array([where.get(int(place), -1) for place in places], dtype=np.int64),
            known=np.where(places >= 0, self.problem.known[places], 0.0),
        )

    @property
    def _links(self) -> int:
        """Number of parameters of links, which come first."""
        return 10 * len(self.problem.layout.links)

    def _sides(self, parameters: Array | None) -> Array:
        """Where each sample lies, s, shape (N, nv)."""
        at, links = self.problem.samples, self._links
        if parameters is None:
            return np.asarray(np.sign(at.tau) * np.sign(at.v))
        return np.concatenate(
            [
                np.sign(Y[..., :links] @ parameters[:links]) * np.sign(at.v[part])
                for part, Y in self.regressors()
            ]
        )

    def _triangles(self, pattern: Array, before: LoadGroups | None) -> dict[tuple[int, int], Array]:
        """The triangle of each degree of freedom and side, in the order in which samples show them."""
        triangles: dict[tuple[int, int], Array] = {}
        again: set[tuple[int, int]] = set()
        for part, equations in self._equations():
            for k in range(pattern.shape[1]):
                for side in (-1, 0, 1):
                    mine = pattern[part, k] == side
                    if not mine.any() or (k, side) in again:
                        continue
                    if (k, side) not in triangles and before is not None and before.same(pattern, k, side):
                        triangles[k, side] = before.triangle(k, side)
                        again.add((k, side))
                        continue
                    start = triangles.get((k, side), np.zeros((0, equations.shape[-1])))
                    triangles[k, side] = folded_triangles(start, equations[mine, k])
        return triangles

    @cached_property
    def _equations(self) -> LoadPieces:
        """Columns of the base parameters (zero at F_l), of r_known and of tau, piece by piece."""
        # Not by way of `self`, which keeps this: that circle would hold the regressor until it is found.
        problem, regressors, links = self.problem, self.regressors, self._links
        columns = problem.base.columns

        def made() -> Iterator[tuple[slice, Array]]:
            for part, Y in regressors():
                r_known = Y[..., :links] @ problem.known[:links]
                tau = problem.samples.tau[part] - Y[..., links:] @ problem.known[links:]
                yield part, np.concatenate([Y[..., columns], r_known[..., None], tau[..., None]], axis=-1)

        return kept_if_small(made, problem.samples.tau.size * (len(columns) + 2))


# What is worth saying of estimated load friction.

SURE = 3.0
"""Deviations from zero at which a coefficient is taken for real."""
MOST = 0.5
"""Friction per load of a joint beyond which something else is taken for it; gears have 0.02 to 0.3."""

_REMEDIES = {
    "hidden-load-friction": "move the joint both ways under loads that differ",
    "load-friction-near-zero": "leave 'load' out, or record heavier loads",
    "impossible-load-friction": "another effect is mistaken for friction that grows with the load",
}


def left_out_finding(name: str, value: float) -> Finding:
    """Say that a joint is taken to have no friction that grows with the load.

    Args:
        name: of the coefficient.
        value: which the data alone would give it, dimensionless.
    """
    message = (
        f"the data alone gives {value:.3g}, which no gear has (0.02 to 0.3): the joint carries too little to "
        "show friction that grows with its load, and something else would be taken for it. It is taken as 0."
    )
    return Finding(Severity.WARNING, "load-friction-left-out", message, name)


def load_findings(
    problem: Problem, groups: LoadGroups, beta: Array, deviations: Array
) -> tuple[Finding, ...]:
    """Name the coefficients that the motion hides, that may as well be zero, or that no gear has.

    Args:
        problem: the question.
        groups: its compressed samples.
        beta: base parameters, shape (b,), SI.
        deviations: of beta, infinite where unknown, shape (b,), SI.

    Returns:
        One finding for each such coefficient.
    """
    found = []
    for place in groups.loads[groups.loads >= 0]:
        name, value, sd = problem.base.names[place], beta[place], deviations[place]
        if np.isinf(sd):
            code, text = "hidden-load-friction", "the motion does not show it"
        elif abs(value) <= SURE * sd:
            code, text = "load-friction-near-zero", f"{value:.3g} ± {sd:.2g} cannot be told from zero"
        elif value < 0.0 or value >= 1.0:
            code, text = "impossible-load-friction", f"{value:.3g} ± {sd:.2g} is outside of [0, 1)"
        else:
            continue
        severity = Severity.WARNING if code == "impossible-load-friction" else Severity.INFO
        found.append(Finding(severity, code, f"{text}: {_REMEDIES[code]}.", name))
    return tuple(found)


_ROUNDS, _SORTINGS, _HALVINGS = 3, 30, 4
_SETTLED, _TIGHT = 1e-8, 1e-15


@with_one_blas_thread
def fit_load_friction(
    problem: Problem, *, colour: Colour = "autoregressive", on_blind: OnBlind = "refuse"
) -> Estimate:
    r"""Base parameters together with each joint's friction per load, $F_l$.

    $$\min_{\phi} \sum_k w_k^2 \lVert r_k + D_k\delta + F_{l,k}\,|r_k| \operatorname{sign}(v_k)
      - \tau_k \rVert^2, \qquad r = Y\phi_{links}$$

    The torque is bilinear in $F_l$ and the links wherever the load keeps its sign. So samples are sorted by
    it and compressed, Levenberg and Marquardt's method solves the rest without them, and both are repeated
    until no sample changes sides. Weights follow the noise of each degree of freedom.

    Without load friction, torques see a rotor and the inertia of the link it turns by their sum alone at some
    joints. There load friction is what tells them apart, as well as it is known itself: where it cannot be
    told from zero their variances are infinite, while the torque predicted is not affected.

    A joint that carries next to nothing does not show it, and the fit then takes something else for it: on
    logs of one arm its last joint got -9 to 1.2. Beyond `MOST`, of either sign, it is left out at that joint
    and the rest fitted again.

    Args:
        problem: the question, with its samples; its layout has the term `load`.
        colour: what is assumed of the noise.
        on_blind: `refuse` names base parameters that the motion hides in an error, `infinite` gives them an
            infinite variance and a finding.

    Returns:
        The estimate; F_l is among its base parameters, but where its layout fixes it at zero because it was
        left out, which a finding says. `linearised` gives the equations that `with_full_set`
        and estimators of possible links need.

    Raises:
        InputError: the layout has no load term, joints mimic others, or the samples were not kept.
        NoSolutionError: the motion hides something, there are too few samples, or the search does not settle.
    """
    left_out: list[Finding] = []
    while True:
        try:
            estimate = _fitted(problem, colour, on_blind)
            beyond = _beyond(problem, estimate.values)
            if not beyond:
                return replace(estimate, findings=(*left_out, *estimate.findings))
        except NoSolutionError as unsettled:
            # What no gear has may be what keeps the sides from settling.
            beyond = _beyond(problem, unsettled.evidence.get("values", ()))
            if not beyond:
                raise
        left_out += [left_out_finding(name, value) for name, value in beyond.items()]
        layout = problem.layout.fixing(dict.fromkeys(beyond, 0.0))
        problem = replace(problem, layout=layout, compressed=None)


def _beyond(problem: Problem, beta: object) -> dict[str, float]:
    """The load coefficients among base parameters that no gear has, by name; none where there are none."""
    named = dict(zip(problem.base.names, np.asarray(beta, dtype=float).tolist(), strict=False))
    loads = [x.name for x in problem.layout.parameters if x.term == "load" and not x.fixed]
    return {name: named[name] for name in loads if abs(named.get(name, 0.0)) > MOST}


def _fitted(problem: Problem, colour: Colour, on_blind: OnBlind) -> Estimate:
    """The estimate with the loads that the layout has."""
    base, tau = problem.base, problem.samples.tau
    floor = ROUND_OFF * max(float(np.sqrt((tau**2).mean())), np.finfo(float).tiny)
    weights = 1.0 / np.maximum(np.sqrt((tau**2).mean(axis=0)), floor)
    samples = LoadSamples.of(problem)
    groups = samples.sorted_by(None)
    beta = _without_load(groups, weights)
    groups = samples.sorted_by(_parameters(problem, beta), groups)
    for _ in range(_ROUNDS):
        beta, groups = _search(samples, groups, beta, weights)
        rms = _rms(groups, beta, weights, len(tau))
        used, weights = weights, 1.0 / np.maximum(rms, floor)
    solution, regressors = _parameters(problem, beta), samples.regressors
    at_solution = tangent_rows(problem, solution, base.columns, given=regressors)
    seen = solved(groups.tangent_factor(beta, used), base.names, on_blind)
    left = residuals(at_solution, beta)
    doubtful = _doubtful(groups, beta, np.sqrt(np.diag(seen.inverse)) * _scatter(left, used))
    surely = _without(beta, doubtful)
    source = tangent_rows(problem, _parameters(problem, surely), base.columns, given=regressors)
    known = solved(groups.tangent_factor(surely, used), base.names, "infinite")
    covariance, noise = linear_covariance(source, used, known.inverse, left, colour)
    spread = Spread(covariance, known.blind)
    return Estimate(
        method="load friction",
        layout=problem.layout,
        base=base,
        values=beta,
        residual=rms,
        samples=len(tau),
        condition=seen.condition,
        covariance=spread.covariance,
        weights=used,
        findings=load_findings(problem, groups, beta, np.sqrt(np.diag(spread.covariance))),
        recordings=problem.digests,
        detail={"colour": colour, "orders": [model.order for model in noise]},
    )


def _search(
    samples: LoadSamples, groups: LoadGroups, beta: Array, weights: Array
) -> tuple[Array, LoadGroups]:
    """Minimise with the sides held, sort again, until sides or loss no longer change."""
    problem = samples.problem
    loss = _loss(problem, beta, weights)
    for _ in range(_SORTINGS):
        best = _minimum(groups, beta, weights)
        for halving in range(_HALVINGS):
            trial = beta + 0.5**halving * (best - beta)
            trial_loss = _loss(problem, trial, weights)
            if trial_loss < loss:
                break
        else:
            return beta, groups
        settled = loss - trial_loss <= _SETTLED * loss
        beta, loss, before = trial, trial_loss, groups.pattern
        groups = samples.sorted_by(_parameters(problem, beta), groups)
        if settled or (halving == 0 and (groups.pattern == before).all()):
            return beta, groups
    raise NoSolutionError(
        f"the sides of the load did not settle in {_SORTINGS} sortings.",
        place="friction",
        remedy="Leave 'load' out of the drive terms.",
        evidence={"values": beta.tolist()},
    )


def _loss(problem: Problem, beta: Array, weights: Array) -> float:
    """The weighted squared residual of the samples, each on the side where beta puts it."""
    at = problem.samples
    tau = inverse_dynamics(problem.robot, problem.layout, _parameters(problem, beta), at.q, at.v, at.a)
    return float((((tau - at.tau) * weights) ** 2).sum())


def _minimum(groups: LoadGroups, start: Array, weights: Array) -> Array:
    """The best base parameters with the sides held."""
    if len(groups.rows) < len(start):
        raise NoSolutionError(
            f"{len(groups.pattern)} samples are too few for {len(start)} base parameters.",
            place="recording",
            remedy="Record a longer motion.",
        )
    found = scipy.optimize.least_squares(
        groups.residual,
        start,
        groups.slope,
        method="lm",
        x_scale="jac",
        xtol=_TIGHT,
        ftol=_TIGHT,
        gtol=_TIGHT,
        args=(weights,),
    )
    return np.asarray(found.x)


def _without_load(groups: LoadGroups, weights: Array) -> Array:
    """The base parameters that explain most without friction that grows with the load, shape (b,)."""
    nothing = np.zeros(groups.rows.shape[1] - 2)
    W = -groups.slope(nothing, weights)
    W[:, groups.loads[groups.loads >= 0]] = 0.0
    norms = np.linalg.norm(W, axis=0)
    scale = np.where(norms > 0.0, norms, 1.0)
    return np.asarray(np.linalg.lstsq(W / scale, groups.residual(nothing, weights), rcond=1e-10)[0] / scale)


def _parameters(problem: Problem, beta: Array) -> Array:
    """A full vector with these base parameters, shape (p,)."""
    phi = np.array(problem.known)
    phi[problem.base.columns] += beta
    return phi


def _rms(groups: LoadGroups, beta: Array, weights: Array, samples: int) -> Array:
    left = groups.residual(beta, weights) / weights[groups.dofs]
    return np.asarray(np.sqrt(np.bincount(groups.dofs, left**2, len(weights)) / samples))


def _scatter(left: Sequence[Array], weights: Array) -> float:
    """Deviation of the weighted residual, dimensionless."""
    return float(np.sqrt((np.concatenate(left) ** 2 * weights**2).mean()))


def _doubtful(groups: LoadGroups, beta: Array, deviations: Array) -> IntArray:
    """Places of the load coefficients that could as well be zero."""
    places = groups.loads[groups.loads >= 0]
    return places[np.abs(beta[places]) <= SURE * deviations[places] + ROUND_OFF]


def _without(beta: Array, places: IntArray) -> Array:
    less = np.array(beta)
    less[places] = 0.0
    return less
