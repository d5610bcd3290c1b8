"""The model of an estimate: its numbers, with the intervals and combinations behind every parameter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.finding import Finding
from steelyard.identifiable import Identifiability
from steelyard.layout import Class, Layout
from steelyard.model import TWO_SIDED_95, LinkSpread, Model, StoredBase
from steelyard.problem import Estimate
from steelyard.robot import Robot
from steelyard.uncertainty import base_intervals, parameter_intervals


def estimated_model(
    robot: Robot,
    layout: Layout,
    parameters: ArrayLike,
    estimate: Estimate,
    *,
    structure: Identifiability | None = None,
    intervals: ArrayLike | None = None,
    decided_by: Sequence[str] = (),
    spreads: Sequence[LinkSpread] = (),
    findings: Sequence[Finding] = (),
) -> Model:
    """The model of an estimate, with the intervals and combinations behind every parameter.

    Where intervals are not given they are those of the estimate's covariance, see `uncertainty`, with what
    errors of torque constants add: finite for what torques determine, the value itself where the layout fixes
    it, and infinite otherwise.

    Args:
        robot: the robot.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI.
        estimate: where the values come from: base parameters, covariance, recordings, findings.
        structure: what torques could tell, for the class of each parameter.
        intervals: lower and upper end of each parameter's 95 % interval, shape (p, 2), SI; None for those of
            the estimate's covariance.
        decided_by: for each parameter who decided it, such as `data` or `prior`; empty for no word.
        spreads: how sure centre of mass and inertia of each link are; empty where that is not known.
        findings: what was noticed before the estimate; its own are stated after them.
    """
    phi = checked("parameters", parameters, (layout.size,))
    known = not np.isnan(layout.nominal[: 10 * len(layout.links)]).any()
    return Model(
        robot,
        layout,
        phi,
        _ends(layout, phi, estimate) if intervals is None else np.asarray(intervals, dtype=float),
        tuple(decided_by),
        tuple(spreads),
        base_of(estimate),
        layout.complete_nominal() if known else None,
        tuple(estimate.recordings),
        findings=(*findings, *estimate.findings),
        classes=() if structure is None else parameter_classes(structure, layout),
    )


def estimate_record(estimate: Estimate) -> dict[str, object]:
    """What a record says of where a model's values come from."""
    return {
        "method": estimate.method,
        "samples": estimate.samples,
        "recordings": estimate.recordings,
        "detail": estimate.detail,
    }


def parameter_classes(structure: Identifiability, layout: Layout) -> tuple[Class | None, ...]:
    """What torques can tell of each parameter of a layout.

    Args:
        structure: of all terms but load friction, which it has no columns for.
        layout: the order of the parameters.

    Returns:
        The class of each; None for those that the structure does not have.
    """
    known = dict(zip(structure.layout.names, structure.classes, strict=True))
    return tuple(known.get(name) for name in layout.names)


def base_of(estimate: Estimate) -> StoredBase:
    """The combinations of parameters that an estimate determines, as a model holds them.

    Intervals count what errors of torque constants add; deviations are of the data alone, as results are
    compared by it. The covariance has the deviations which the intervals state.
    """
    b = estimate.base.count
    wide, random = _base_ends(estimate, systematic=True), _base_ends(estimate)
    unknown = np.zeros((b, b))
    np.fill_diagonal(unknown, np.inf)
    return StoredBase(
        tuple(estimate.base.names),
        estimate.base.matrix,
        estimate.values,
        (random[:, 1] - random[:, 0]) / (2.0 * TWO_SIDED_95),
        unknown if estimate.covariance is None else _covariance(estimate.covariance, wide),
        wide,
        estimate.systematic_deviations,
    )


def _ends(layout: Layout, phi: Array, estimate: Estimate) -> Array | None:
    if estimate.covariance is None:
        return None
    found = parameter_intervals(estimate, systematic=True)
    ends = np.column_stack((found.lower, found.upper))
    fixed = ~layout.free
    ends[fixed] = phi[fixed, None]
    return ends


def _base_ends(estimate: Estimate, *, systematic: bool = False) -> Array:
    if estimate.covariance is None:
        return np.tile([-np.inf, np.inf], (estimate.base.count, 1))
    found = base_intervals(estimate, systematic=systematic)
    return np.column_stack((found.lower, found.upper))


def _covariance(covariance: Array, ends: Array) -> Array:
    """The covariance of base parameters with the deviations that their intervals state, shape (b, b)."""
    own = np.sqrt(np.diag(covariance))
    stated = (ends[:, 1] - ends[:, 0]) / (2.0 * TWO_SIDED_95)
    known = np.isfinite(own) & np.isfinite(stated)
    ratio = np.where(known & (own > 0.0), stated, 1.0) / np.where(known & (own > 0.0), own, 1.0)
    scaled = np.where(known[:, None] & known, covariance * np.outer(ratio, ratio), 0.0)
    scaled[~known, ~known] = np.inf
    return scaled
