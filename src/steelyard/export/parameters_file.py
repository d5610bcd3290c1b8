"""`parameters.json`: every parameter with value, interval, unit and class, and the combinations behind it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steelyard.archive import to_document
from steelyard.arrays import Array, checked
from steelyard.finding import Finding
from steelyard.identifiability import BaseParameters, Identifiability
from steelyard.layout import Layout
from steelyard.problem import Estimate
from steelyard.robot import Robot

SCHEMA = 1
_TWO_SIDED_95 = 1.959963984540054  # quantile 0.975 of the normal distribution


def parameters_document(
    robot: Robot,
    layout: Layout,
    parameters: ArrayLike,
    *,
    estimate: Estimate | None = None,
    structure: Identifiability | None = None,
    intervals: ArrayLike | None = None,
    findings: tuple[Finding, ...] = (),
) -> dict[str, Any]:
    """What was found about each parameter, as values JSON can hold; infinity is the text `inf`.

    Without `intervals`, the 95 % interval of a parameter is its value ± 1.96 standard deviations where the
    data shows it alone, the value itself where the layout fixes it, and infinite otherwise.

    Args:
        robot: the robot.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI.
        estimate: where the values come from: base parameters, covariance, method, findings.
        structure: what torques could tell, for the class of each parameter.
        intervals: lower and upper end of each 95 % interval, shape (p, 2), SI.
        findings: what was noticed on the way.

    Returns:
        The document.
    """
    phi = checked("parameters", parameters, (layout.size,))
    if intervals is not None:
        ends = checked("intervals", intervals, (layout.size, 2), finite=False)
    else:
        ends = _intervals(layout, phi, estimate)
    classes = [None] * layout.size if structure is None else [c.value for c in structure.classes]
    entries = [
        {
            "name": parameter.name,
            "owner": parameter.owner,
            "term": parameter.term,
            "unit": parameter.unit,
            "value": float(phi[k]),
            "interval95": ends[k],
            "class": classes[k],
            "fixed": parameter.fixed,
            "nominal": parameter.nominal,
        }
        for k, parameter in enumerate(layout.parameters)
    ]
    document = {
        "schema": SCHEMA,
        "robot": robot.name,
        "robot_digest": robot.digest,
        "gravity": robot.gravity,
        "drive": layout.drive,
        "stribeck": {
            joint: {"velocity": shape.velocity, "exponent": shape.exponent}
            for joint, shape in zip(layout.joints, layout.stribeck, strict=False)
        },
        "torque": "viscous*v + coulomb*sign(v) + offset + rotor*a + stribeck*sign(v)*exp(-(|v|/velocity)"
        "^exponent) + asymmetric*|v| + load*|rigid|*sign(v), with sign(0) = 0, added to the rigid torque",
        "parameters": entries,
        "findings": findings if estimate is None else (*findings, *estimate.findings),
    }
    if estimate is not None:
        document |= {"method": estimate.method, "samples": estimate.samples, "base": _base(estimate)}
    plain: dict[str, Any] = to_document(document)
    return plain


def _intervals(layout: Layout, phi: Array, estimate: Estimate | None) -> Array:
    ends = np.column_stack((np.full(layout.size, -np.inf), np.full(layout.size, np.inf)))
    fixed = ~layout.free
    ends[fixed] = phi[fixed, None]
    if estimate is not None:
        alone = _alone(estimate.base)
        spread = _TWO_SIDED_95 * estimate.deviations[list(alone.values())]
        where = list(alone)
        ends[where] = phi[where, None] + spread[:, None] * np.array([-1.0, 1.0])
    return ends


def _alone(base: BaseParameters) -> dict[int, int]:
    """The parameters that are base parameters by themselves: their place in phi and in beta."""
    single = np.flatnonzero(np.count_nonzero(base.matrix, axis=1) == 1)
    return {int(base.columns[k]): int(k) for k in single}


def _base(estimate: Estimate) -> list[dict[str, object]]:
    base, names = estimate.base, estimate.layout.names
    return [
        {
            "name": base.names[k],
            "value": float(estimate.values[k]),
            "interval95": estimate.values[k] + _TWO_SIDED_95 * estimate.deviations[k] * np.array([-1.0, 1.0]),
            "combination": {names[j]: float(base.matrix[k, j]) for j in np.flatnonzero(base.matrix[k])},
        }
        for k in range(base.count)
    ]
