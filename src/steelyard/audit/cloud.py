"""Many estimates of the same parameters, stage by stage: gathered, compared, and checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np

from steelyard.arrays import Array, BoolArray, checked, keep_read_only
from steelyard.audit.verdict import Check, Status
from steelyard.errors import InputError, NoSolutionError, UnknownNameError

# Dispersion, plain and robust
#
# The robust deviation is $1.4826\,\operatorname{median}|x - \operatorname{median} x|$, which for Gaussian
# numbers is the standard deviation; fewer than half of them, however wild, cannot carry it away.

GAUSSIAN = 1.4826022185056018
"""Standard deviation of Gaussian numbers over their median absolute deviation."""
FLOOR = 0.1
"""Smallest scale of a parameter, as a share of the median scale of the parameters in the same unit."""


def robust_deviation(values: Array) -> Array:
    """Deviation of each column that no minority of rows can carry away.

    Args:
        values: shape (n, b), SI.

    Returns:
        1.4826 times the median absolute deviation from the median, shape (b,), SI; NaN for fewer than
        two rows.
    """
    x = checked("values", values, ("n", "b"))
    if len(x) < 2:
        return np.full(x.shape[1], np.nan)
    return np.asarray(GAUSSIAN * np.median(np.abs(x - np.median(x, axis=0)), axis=0))


def deviation(values: Array) -> Array:
    """Standard deviation of each column, with n - 1 in its denominator.

    Args:
        values: shape (n, b), SI.

    Returns:
        shape (b,), SI; NaN for fewer than two rows.
    """
    x = checked("values", values, ("n", "b"))
    return x.std(axis=0, ddof=1) if len(x) > 1 else np.full(x.shape[1], np.nan)


def pooled_scales(stages: Mapping[str, Array], units: Sequence[str]) -> Array:
    """A typical spread of every parameter, by which numbers of different units become comparable.

    Every stage is centred on its own median, all are pooled, and the robust deviation is taken. A parameter
    that hardly moves, such as one that most runs hold at a bound, would be blown up by its tiny spread:
    scales end at `FLOOR` times the median scale of the parameters in the same unit, and where most of those
    do not move at all, at the standard deviation.

    Args:
        stages: rows of answers by stage, each shape (n, b), SI.
        units: of the b parameters.

    Returns:
        Positive scales, shape (b,), SI; 1 for a parameter that never moves.
    """
    b = len(units)
    centred = [
        rows - np.median(rows, axis=0)
        for rows in (checked(name, values, ("n", b)) for name, values in stages.items())
        if len(rows)
    ]
    pooled = np.concatenate([*centred, np.zeros((0, b))])
    spread, plain = robust_deviation(pooled), deviation(pooled)
    kinds = np.array(units)
    for unit in set(units):
        same = kinds == unit
        floor = FLOOR * float(np.median(spread[same]))
        spread[same] = np.maximum(spread[same], floor) if floor > 0.0 else plain[same]
    return np.where(spread > 0.0, spread, 1.0)


# One stage of a cloud: the estimates of all runs, their dispersion and outliers

APART = 3.5
"""Robust deviations by which the distance of a run must exceed the median distance to count as apart."""


@dataclass(frozen=True, eq=False)
class CloudStage:
    r"""The runs after one stage; arrays are read-only, rows without an answer are NaN.

    The distance of a run from the centre is $d = \|(\beta - \operatorname{median}\beta) / s\|$ with the
    scales s of the cloud, which is the same in parameters and in scores. A run is apart where d exceeds the
    median distance by `APART` robust deviations of all distances.

    Attributes:
        name: of the stage.
        values: beta of each run, shape (n, b), SI.
        scores: in the common basis, shape (n, k), dimensionless.
        centre: median of the answers, shape (b,), SI; NaN without any.
        distances: from the centre, shape (n,), dimensionless.
        threshold: distance from which on a run is apart, dimensionless; infinite where that cannot be said.
        scales: of the cloud, shape (b,), SI.
    """

    name: str
    values: Array
    scores: Array
    centre: Array
    distances: Array
    threshold: float
    scales: Array

    def __post_init__(self) -> None:
        keep_read_only(self, "values", "scores", "centre", "distances", "scales")

    @property
    def answered(self) -> BoolArray:
        """Which runs have an answer, shape (n,)."""
        return np.isfinite(self.distances)

    @property
    def apart(self) -> BoolArray:
        """Which runs lie apart from the others, shape (n,)."""
        return self.answered & (self.distances > self.threshold)

    @property
    def deviations(self) -> Array:
        """Standard deviation of each parameter, shape (b,), SI."""
        return deviation(self.values[self.answered])

    @property
    def robust_deviations(self) -> Array:
        """Robust deviation of each parameter, shape (b,), SI."""
        return robust_deviation(self.values[self.answered])

    @property
    def mean_deviation(self) -> float:
        """Mean of the standard deviations over the parameters, SI units mixed."""
        return float(self.deviations.mean())

    @property
    def robust_mean_deviation(self) -> float:
        """Mean of the robust deviations over the parameters, SI units mixed."""
        return float(self.robust_deviations.mean())

    @property
    def dispersion(self) -> float:
        """Root mean square of the standard deviations in scales, dimensionless."""
        return in_scales(self.deviations, self.scales)

    @property
    def robust_dispersion(self) -> float:
        """Root mean square of the robust deviations in scales, dimensionless."""
        return in_scales(self.robust_deviations, self.scales)


def in_scales(deviations: Array, scales: Array) -> float:
    """Root mean square of deviations, each in its scale.

    Args:
        deviations: shape (b,), SI.
        scales: positive, shape (b,), SI.

    Returns:
        Dimensionless; NaN where a deviation is.
    """
    sigma = checked("deviations", deviations, ("b",), finite=False)
    return float(np.sqrt(np.mean((sigma / checked("scales", scales, (len(sigma),))) ** 2)))


def apart_from(distances: Array) -> float:
    """The distance from which on a run counts as apart from the others.

    Args:
        distances: of the runs that have an answer, shape (n,), dimensionless.

    Returns:
        Median distance plus `APART` robust deviations; infinite for fewer than four runs.
    """
    d = checked("distances", distances, ("n",))
    if len(d) < 4:
        return float("inf")
    return float(np.median(d) + APART * robust_deviation(d[:, None])[0])


# How dispersion changes from one stage to the next

STEADY = 0.02
"""Relative change of dispersion below which it counts as unchanged."""


class Trend(StrEnum):
    """What dispersion does from one stage to the next."""

    SHRINKS = "shrinks"
    STAYS = "stays"
    GROWS = "grows"
    MIXED = "mixed"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Contraction:
    """What became of dispersion from one stage to another, over the runs that have an answer at both.

    Attributes:
        before: name of the earlier stage.
        after: name of the later stage.
        runs: number of runs with both answers.
        ratio: dispersion in scales after over before, dimensionless; NaN where nothing scattered before.
        robust_ratio: the same of the robust dispersion, dimensionless.
        mean_ratio: the same of the mean standard deviation, dimensionless.
    """

    before: str
    after: str
    runs: int
    ratio: float
    robust_ratio: float
    mean_ratio: float

    @property
    def trend(self) -> Trend:
        """What dispersion does; mixed where most runs say one thing and a few wild ones the other."""
        directions = {_direction(ratio) for ratio in (self.ratio, self.robust_ratio)}
        if Trend.UNKNOWN in directions:
            return Trend.UNKNOWN
        if {Trend.SHRINKS, Trend.GROWS} <= directions:
            return Trend.MIXED
        return next((way for way in (Trend.SHRINKS, Trend.GROWS) if way in directions), Trend.STAYS)


def contraction(before: CloudStage, after: CloudStage) -> Contraction:
    """Compare the dispersion at two stages of a cloud, over the runs that have an answer at both.

    Args:
        before: the earlier stage.
        after: the later stage.

    Returns:
        The comparison.
    """
    both = before.answered & after.answered
    pairs = [
        [measure(stage.values[both]) for stage in (before, after)]
        for measure in (deviation, robust_deviation)
    ]
    plain, robust = ([in_scales(sigma, before.scales) for sigma in pair] for pair in pairs)
    means = [float(sigma.mean()) for sigma in pairs[0]]
    ratios = (late / early if early > 0.0 else float("nan") for early, late in (plain, robust, means))
    return Contraction(before.name, after.name, int(both.sum()), *ratios)


def _direction(ratio: float) -> Trend:
    if not np.isfinite(ratio):
        return Trend.UNKNOWN
    if abs(ratio - 1.0) <= STEADY:
        return Trend.STAYS
    return Trend.SHRINKS if ratio < 1.0 else Trend.GROWS


# All stages in one basis of principal components
#
# Rows of all stages are centred, divided by one scale for each parameter, $z = (\beta - c) / s$, and
# projected on the common basis, $t = V z$. The rows of V are the principal directions of all stages together,
# so that pictures of the stages share their axes (Oaki et al. 2026, Fig. 7). Parameters have different units;
# without scales the largest numbers, not the least certain ones, would choose the axes.


@dataclass(frozen=True, eq=False)
class ParameterCloud:
    """Estimates of many runs after each stage; arrays are read-only.

    Attributes:
        names: of the b parameters.
        units: their units.
        labels: of the n runs.
        stages: in their order.
        centre: c, mean of the rows that made the basis, shape (b,), SI.
        scales: s, shape (b,), SI.
        basis: V, orthonormal rows, shape (k, b), dimensionless.
        explained: share of the variance along each row of the basis, shape (k,), dimensionless.
        left_out: stage and label of wild rows that were projected but had no say in the basis.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    labels: tuple[str, ...]
    stages: tuple[CloudStage, ...]
    centre: Array
    scales: Array
    basis: Array
    explained: Array
    left_out: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        keep_read_only(self, "centre", "scales", "basis", "explained")

    def stage(self, name: str) -> CloudStage:
        """A stage by its name; raises `UnknownNameError` where there is none."""
        found = {stage.name: stage for stage in self.stages}
        if name not in found:
            raise UnknownNameError("stage", name, found)
        return found[name]

    def leading(self, component: int, count: int = 5) -> tuple[tuple[str, float], ...]:
        """Parameters that weigh most in a component, with their signed weights, the largest first."""
        weights = self.basis[component]
        order = np.argsort(-np.abs(weights), kind="stable")[:count]
        return tuple((self.names[k], float(weights[k])) for k in order)

    @property
    def contractions(self) -> tuple[Contraction, ...]:
        """What became of dispersion from each stage to the next."""
        return tuple(contraction(*pair) for pair in pairwise(self.stages))

    def ranking(self, candidates: Iterable[str] | None = None) -> tuple[tuple[str, float], ...]:
        """Candidates by their distance from the centre of the last stage, the most central first.

        Args:
            candidates: labels to choose from; all runs when not given.

        Returns:
            Labels with distances, dimensionless; equal distances by label, runs without an answer left out.

        Raises:
            UnknownNameError: a candidate is no run of the cloud.
        """
        wanted = self.labels if candidates is None else tuple(dict.fromkeys(candidates))
        place = {label: k for k, label in enumerate(self.labels)}
        for label in wanted:
            if label not in place:
                raise UnknownNameError("run", label, self.labels, place="candidates")
        last = self.stages[-1]
        found = ((label, float(last.distances[place[label]])) for label in wanted)
        return tuple(sorted((x for x in found if np.isfinite(x[1])), key=lambda x: (x[1], x[0])))

    def representative(self, candidates: Iterable[str] | None = None) -> str:
        """The most central candidate of the last stage.

        Args:
            candidates: labels to choose from; all runs when not given.

        Returns:
            Its label.

        Raises:
            UnknownNameError: a candidate is no run of the cloud.
            NoSolutionError: none of the candidates has an answer.
        """
        ranked = self.ranking(candidates)
        if not ranked:
            raise NoSolutionError(f"no candidate has an answer at stage '{self.stages[-1].name}'.")
        return ranked[0][0]


# `parameter_cloud`: the estimates of many runs put into that basis


def parameter_cloud(
    stages: Mapping[str, Array],
    labels: Sequence[str],
    names: Sequence[str],
    units: Sequence[str],
    *,
    scales: Array | None = None,
    trimmed: bool = True,
) -> ParameterCloud:
    """Put the estimates of many runs into one common basis.

    Args:
        stages: answers by stage in their order, each shape (n, b), SI; a row of NaN for a run without one.
        labels: of the n runs, each once.
        names: of the b parameters.
        units: of the b parameters.
        scales: what counts as a typical spread of each parameter, shape (b,), SI; `pooled_scales` when not
            given, ones for the plain numbers as in Oaki et al. (2026).
        trimmed: whether rows that lie apart at their stage have no say in the basis. One wild run would
            otherwise choose the first axis alone.

    Raises:
        InputError: labels repeat, a row is partly NaN, a scale is not positive, or fewer than two answers.
    """
    n, b = len(labels), len(names)
    rows = {name: checked(name, values, (n, b), finite=False) for name, values in stages.items()}
    _refuse(rows, labels, names, units)
    answers = {name: values[np.isfinite(values).all(axis=1)] for name, values in rows.items()}
    s = pooled_scales(answers, units) if scales is None else checked("scales", scales, (b,))
    if not (s > 0.0).all():
        raise InputError("must be positive.", place="scales")
    found = {name: _distances(values, s) for name, values in rows.items()}
    kept, left_out = [], []
    for name, values in rows.items():
        _, d, threshold = found[name]
        wild = d > threshold if trimmed else np.zeros(n, dtype=bool)
        kept.append(values[np.isfinite(d) & ~wild])
        left_out += [(name, labels[k]) for k in np.flatnonzero(wild).tolist()]
    c, V, explained = _principal(np.concatenate(kept), s)
    made = tuple(
        CloudStage(name, values, ((values - c) / s) @ V.T, *found[name], s) for name, values in rows.items()
    )
    return ParameterCloud(
        tuple(names), tuple(units), tuple(labels), made, c, s, V, explained, tuple(left_out)
    )


def _refuse(
    rows: Mapping[str, Array], labels: Sequence[str], names: Sequence[str], units: Sequence[str]
) -> None:
    if not rows:
        raise InputError("there is no stage.", place="stages")
    if len(set(labels)) != len(labels):
        raise InputError("must name every run once.", place="labels")
    if len(units) != len(names):
        raise InputError(f"{len(units)} units for {len(names)} parameters.", place="units")
    for name, values in rows.items():
        known = np.isfinite(values).sum(axis=1)
        for k in np.flatnonzero((known > 0) & (known < len(names))).tolist():
            raise InputError(
                f"run '{labels[k]}' has {known[k]} of {len(names)} parameters.",
                place=f"stage '{name}'",
                remedy="A run without an answer is a row of NaN.",
            )
    if sum(int(np.isfinite(values).all(axis=1).sum()) for values in rows.values()) < 2:
        raise InputError("hold fewer than two answers.", place="stages")


def _distances(values: Array, s: Array) -> tuple[Array, Array, float]:
    """Centre, distances from it and the distance from which on a run is apart."""
    answered = np.isfinite(values).all(axis=1)
    d = np.full(len(values), np.nan)
    if not answered.any():
        return np.full(len(s), np.nan), d, float("inf")
    centre = np.median(values[answered], axis=0)
    d[answered] = np.linalg.norm((values[answered] - centre) / s, axis=1)
    return centre, d, apart_from(d[answered])


def _principal(values: Array, s: Array) -> tuple[Array, Array, Array]:
    """Mean, principal directions and shares of variance of scaled rows; all b directions are kept."""
    c = values.mean(axis=0)
    # Fewer rows than parameters leave directions without variance, which complete the basis.
    _, singular, V = np.linalg.svd((values - c) / s, full_matrices=len(values) < len(s))
    variance = np.zeros(len(s))
    variance[: len(singular)] = singular**2
    # A direction has no sign of its own; its largest weight is made positive.
    heads = V[np.arange(len(V)), np.abs(V).argmax(axis=1)]
    total = variance.sum()
    return c, V * np.sign(heads)[:, None], variance / total if total > 0.0 else variance


# Torque prediction on held-out motions in the figures of Oaki et al. (2026), Table VII: RMSE and MNE.
#
# The paper does not define its mean normalised error. Here it is
#
# $$\mathrm{MNE} = \frac{1}{n_v} \sum_j
# \frac{\operatorname{mean}_k |\tau_{kj} - \hat\tau_{kj}|}{\max_k |\tau_{kj}|},$$
#
# the mean absolute error of each joint over the largest torque it measured, averaged over the joints.

MNE_DEFINITION = (
    "of each joint, the mean absolute error of torque over the largest torque measured; then the mean over "
    "the joints"
)


@dataclass(frozen=True, eq=False)
class PredictionError:
    """How far predicted torques are off along one motion; arrays are read-only.

    Attributes:
        joint_rmse: root mean squared error of each joint, shape (nv,), N·m or N.
        joint_normalised: mean absolute error of each joint over its largest measured torque, shape (nv,),
            dimensionless; infinite for a joint that carries no torque but is predicted to.
    """

    joint_rmse: Array
    joint_normalised: Array

    def __post_init__(self) -> None:
        keep_read_only(self, "joint_rmse", "joint_normalised")

    @property
    def rmse(self) -> float:
        """Root mean squared error over all samples and joints, N·m or N."""
        return float(np.sqrt((self.joint_rmse**2).mean()))

    @property
    def mne(self) -> float:
        """Mean normalised error, dimensionless."""
        return float(self.joint_normalised.mean())


def prediction_error(measured: Array, predicted: Array) -> PredictionError:
    """Compare predicted with measured torques.

    Args:
        measured: tau, shape (N, nv), N·m or N.
        predicted: tau_hat, shape (N, nv), N·m or N.

    Raises:
        ShapeError: the shapes differ.
    """
    tau = checked("measured", measured, ("N", "nv"))
    error = tau - checked("predicted", predicted, tau.shape)
    mean, largest = np.abs(error).mean(axis=0), np.abs(tau).max(axis=0)
    silent = np.where(mean > 0.0, np.inf, 0.0)
    share = np.divide(mean, largest, out=silent, where=largest > 0.0)
    return PredictionError(np.sqrt((error**2).mean(axis=0)), share)


# Checks of a campaign: whether its cloud contracts, and whether the accepted model predicts as well.

KEPT = 0.01
"""Relative growth of the held-out RMSE that counts as none."""


def check_cloud(cloud: ParameterCloud) -> Check:
    """Ask whether the answers of different motions come together from stage to stage.

    Args:
        cloud: the answers.

    Returns:
        A failure where dispersion grows at a stage or does not shrink over all; a warning where a few wild
        runs say otherwise than the most; not run where fewer than two stages can be compared.
    """
    steps = cloud.contractions
    trends = {step.trend for step in steps}
    if not steps or Trend.UNKNOWN in trends:
        return Check("parameter cloud", Status.NOT_RUN, "there are no two stages whose spread compares.")
    told = "; ".join(_told(step) for step in steps) + "."
    evidence = {f"{step.before} to {step.after}": step.ratio for step in steps}
    if Trend.GROWS in trends or not trends & {Trend.SHRINKS, Trend.MIXED}:
        return Check("parameter cloud", Status.FAIL, told, evidence)
    return Check("parameter cloud", Status.WARN if Trend.MIXED in trends else Status.PASS, told, evidence)


def check_prediction_kept(
    refined: Mapping[str, PredictionError], final: Mapping[str, PredictionError], *, limit: float = KEPT
) -> Check:
    """Ask whether the accepted model predicts held-out torques as well as the refined one.

    Args:
        refined: errors of the refined model by motion.
        final: errors of the accepted model by motion.
        limit: relative growth of the mean RMSE that is allowed, dimensionless.

    Returns:
        A failure where the mean RMSE over the motions grows beyond the limit.

    Raises:
        InputError: the motions differ.
    """
    if set(refined) != set(final):
        raise InputError("the motions differ.", place="refined, final")
    if not refined:
        return Check("held-out torque kept", Status.NOT_RUN, "there is no held-out motion.")
    first, second = (float(np.mean([e.rmse for e in errors.values()])) for errors in (refined, final))
    kept = second <= first * (1.0 + limit)
    grown = 100.0 * (second / first - 1.0) if first > 0.0 else (0.0 if kept else float("inf"))
    message = (
        f"mean RMSE over {len(refined)} held-out motions is {first:.5g} N·m refined and {second:.5g} N·m "
        f"accepted, {grown:+.2g} %; at most {100.0 * limit:+.2g} % is allowed."
    )
    evidence = {"refined": first, "accepted": second, "limit": limit}
    return Check("held-out torque kept", Status.PASS if kept else Status.FAIL, message, evidence)


def _told(step: Contraction) -> str:
    return (
        f"from {step.before} to {step.after} dispersion {step.trend.value} to {step.ratio:.3g} times "
        f"({step.robust_ratio:.3g} times without trust in outliers) over {step.runs} runs"
    )


# Tables beside a parameter cloud: what a stage changed most, and which runs needed a projection.


@dataclass(frozen=True)
class ParameterChange:
    """One parameter before and after a stage.

    Attributes:
        name: of the parameter.
        unit: its unit.
        before: its value, in its unit.
        after: its value, in its unit.
    """

    name: str
    unit: str
    before: float
    after: float

    @property
    def change(self) -> float:
        """After minus before, in its unit."""
        return self.after - self.before


def largest_changes(
    before: Array,
    after: Array,
    names: Sequence[str],
    units: Sequence[str],
    count: int = 5,
    *,
    scales: Array | None = None,
) -> tuple[ParameterChange, ...]:
    """The parameters that a stage changed most (Oaki et al. 2026, Table VI).

    Args:
        before: values, shape (b,), SI.
        after: values, shape (b,), SI.
        names: of the b parameters.
        units: of the b parameters.
        count: how many to name at most.
        scales: what a change of each parameter is compared with, shape (b,), SI; plain SI numbers, whatever
            their units, when not given, as in the paper.

    Returns:
        The changes, the largest first; equal ones in the order of the parameters.

    Raises:
        InputError: there is not one unit for each name, or a scale is not positive.
    """
    b = len(names)
    if len(units) != b:
        raise InputError(f"{len(units)} units for {b} parameters.", place="units")
    first, second = checked("before", before, (b,)), checked("after", after, (b,))
    s = np.ones(b) if scales is None else checked("scales", scales, (b,))
    if not (s > 0.0).all():
        raise InputError("must be positive.", place="scales")
    order = np.argsort(-np.abs((second - first) / s), kind="stable")[:count]
    return tuple(ParameterChange(names[k], units[k], float(first[k]), float(second[k])) for k in order)


@dataclass(frozen=True)
class RoutingRow:
    """How the runs of one sampling interval went on after least squares.

    Attributes:
        interval: between samples, s.
        passed: runs whose least-squares answer was positive definite and went straight to refinement.
        projected: runs that were projected first.
        unanswered: runs without a least-squares answer.
    """

    interval: float
    passed: int
    projected: int
    unanswered: int = 0

    @property
    def total(self) -> int:
        """All runs of this interval."""
        return self.passed + self.projected + self.unanswered


def routing_table(intervals: Sequence[float], passed: Sequence[bool | None]) -> tuple[RoutingRow, ...]:
    """Count, for each sampling interval, how many least-squares answers passed (Oaki et al. 2026, Table III).

    Args:
        intervals: between samples of each run, s.
        passed: whether its least-squares answer was positive definite; None where there is none.

    Returns:
        One row for each interval, the shortest first.

    Raises:
        InputError: there is not one outcome for each run.
    """
    if len(passed) != len(intervals):
        raise InputError(f"{len(passed)} outcomes for {len(intervals)} runs.", place="passed")
    found: dict[float, list[bool | None]] = {}
    for interval, outcome in zip(intervals, passed, strict=True):
        found.setdefault(interval, []).append(outcome)
    return tuple(
        RoutingRow(interval, outcomes.count(True), outcomes.count(False), outcomes.count(None))
        for interval, outcomes in sorted(found.items())
    )
