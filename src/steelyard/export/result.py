"""The result folder of an estimate: its model, with the intervals and combinations behind every parameter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.files import FilePath
from steelyard.formats import Written
from steelyard.identifiable import Identifiability
from steelyard.layout import Class, Layout
from steelyard.model import TWO_SIDED_95, LinkSpread, Model, StoredBase, write_model
from steelyard.problem import Estimate
from steelyard.recording import Step
from steelyard.robot import Robot
from steelyard.uncertainty import base_intervals, parameter_intervals


def write_result(
    folder: FilePath,
    robot: Robot,
    layout: Layout,
    parameters: ArrayLike,
    *,
    description: bytes | None = None,
    estimate: Estimate | None = None,
    structure: Identifiability | None = None,
    intervals: ArrayLike | None = None,
    base_ends: ArrayLike | None = None,
    decided_by: Sequence[str] = (),
    spreads: Sequence[LinkSpread] = (),
    draws: ArrayLike | None = None,
    steps: Sequence[Step] = (),
    seed: int | None = None,
    request: Mapping[str, object] | None = None,
    verdict: Mapping[str, object] | None = None,
    report: Callable[[Mapping[str, tuple[str, ...]]], str] | None = None,
    force: bool = False,
) -> Written:
    """Write the model of an estimate as a folder, see `model.write_model`.

    Where intervals are not given they are those of the estimate's covariance, see `uncertainty`, with what
    errors of torque constants add: finite for what torques determine, the value itself where the layout fixes
    it, and infinite otherwise.

    Args:
        folder: where to; it must not exist or be empty.
        robot: the robot.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI; every link must be possible.
        description: the URDF the robot was read from, to be edited in place.
        estimate: where the values come from: base parameters, covariance, method, findings.
        structure: what torques could tell, for the class of each parameter.
        intervals: lower and upper end of each parameter's 95 % interval, shape (p, 2), SI; None for those of
            the estimate's covariance.
        base_ends: the same of each base parameter, shape (b, 2), SI.
        decided_by: for each parameter who decided it, such as `data` or `prior`; empty for no word.
        spreads: how sure centre of mass and inertia of each link are; empty where that is not known.
        draws: phi of models to write into `models/`, both formats each, shape (n, p), SI.
        steps: what was done, oldest first, for the record.
        seed: of everything random, for the record.
        request: what was asked for and the digests of its inputs, for the record.
        verdict: what is to be thought of it, for the record, as values JSON can hold.
        report: makes the page `report.html`, given for each model the programs that read it back and agree.
        force: whether an earlier result may be replaced.

    Returns:
        What was written.

    Raises:
        InputError: the folder is not free, or a link or a drive is impossible.
        ReadBackError: a model does not say what it should; nothing is left behind.
    """
    phi = checked("parameters", parameters, (layout.size,))
    model = Model(
        robot,
        layout,
        phi,
        _ends(layout, phi, estimate) if intervals is None else np.asarray(intervals, dtype=float),
        tuple(decided_by),
        tuple(spreads),
        None if estimate is None else base_of(estimate, base_ends),
        findings=() if estimate is None else tuple(estimate.findings),
        classes=() if structure is None else parameter_classes(structure, layout),
    )
    told = None
    if estimate is not None:
        told = {
            "method": estimate.method,
            "samples": estimate.samples,
            "recordings": estimate.recordings,
            "detail": estimate.detail,
        }
    return write_model(
        folder,
        model,
        description=description,
        estimate=told,
        draws=draws,
        steps=steps,
        seed=seed,
        request=request,
        verdict=verdict,
        report=report,
        force=force,
    )


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


def base_of(estimate: Estimate, ends: ArrayLike | None = None) -> StoredBase:
    """The combinations of parameters that an estimate determines, as a model holds them.

    Args:
        estimate: the estimate.
        ends: lower and upper end of each 95 % interval, shape (b, 2), SI; None for those of the estimate's
            covariance with what errors of torque constants add. The deviations are then of the data alone, as
            results are compared by it.

    Returns:
        The combinations, with a covariance that has the deviations which the intervals state.
    """
    b = estimate.base.count
    if ends is None:
        wide, random = _base_ends(estimate, systematic=True), _base_ends(estimate)
    else:
        wide = random = checked("base_ends", ends, (b, 2), finite=False)
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


def _ends(layout: Layout, phi: Array, estimate: Estimate | None) -> Array | None:
    if estimate is None or estimate.covariance is None:
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
