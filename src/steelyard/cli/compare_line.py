"""Two results side by side: what `steelyard compare` does."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from steelyard.arrays import Array
from steelyard.audit import (
    Comparison,
    DynamicModel,
    Status,
    TorqueError,
    compared,
    require_alike,
    torque_difference,
)
from steelyard.cli.validate_model import GivenModel
from steelyard.errors import InputError
from steelyard.export import ResultFolder
from steelyard.finding import Finding, Severity
from steelyard.layout import layout_of

SAME_COMBINATION = 1e-6
"""Difference of two coefficients of a combination that round-off explains, relative to the largest."""


@dataclass(frozen=True, eq=False)
class ResultComparison:
    """What moved between two results.

    Attributes:
        parameters: base parameter by base parameter; those that stand alone are parameters by themselves.
        units: unit of each by name.
        torque: how far their torques are apart, percent of the first one's; None where no states are drawn.
        joints: a name per degree of freedom.
        findings: what was noticed on the way.
    """

    parameters: Comparison
    units: dict[str, str]
    torque: TorqueError | None
    joints: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def status(self) -> Status:
        """A change is worth a word; where nothing could be compared, nothing is said."""
        if self.parameters.moved:
            return Status.WARN
        return Status.PASS if self.parameters.within else Status.NOT_RUN


def comparison_of(first: GivenModel, second: GivenModel, level: float) -> ResultComparison:
    """Compare two models of one robot, at least one of them a result with intervals."""
    result = first.stored or second.stored
    if result is None:
        raise InputError(
            "two descriptions have no intervals to compare by.",
            place="A and B",
            remedy="Give the folder of at least one result.",
        )
    first, second = _asked_alike(first, result), _asked_alike(second, result)
    require_alike(first.model, second.model)
    (a, sa), (b, sb) = (_combinations(given, result) for given in (first, second))
    findings = [*first.findings, *second.findings, *_shared_data(first, second)]
    bent = _other_shapes(first.model, second.model)
    if bent:
        message = (
            f"the shape of Stribeck friction differs at {', '.join(bent)}, so its coefficients mean "
            "different things; only torques are compared there."
        )
        findings.append(Finding(Severity.WARNING, "other-stribeck", message))
        sa = np.where(_owned(result, bent), np.inf, sa)
    robot, layout = first.model.robot, result.layout
    names = result.base.names
    units = {name: layout.parameters[layout.index(name.removesuffix("+"))].unit for name in names}
    torque = None
    if robot.nq == robot.nv:
        torque = torque_difference(first.model, second.model, np.random.default_rng(0))
    joints = tuple(joint.name for joint in robot.joints for _ in range(joint.nv))
    found = compared(names, a, sa, b, sb, level=level)
    return ResultComparison(found, units, torque, joints, tuple(findings))


def _asked_alike(given: GivenModel, result: ResultFolder) -> GivenModel:
    """A description with the gravity and the drive terms of the result; what it states beyond is said."""
    if given.stored is not None:
        return given
    robot, terms = given.model.robot.with_gravity(result.robot.gravity), result.layout.drive
    ours = [joint.name for joint in robot.joints if joint.kind.nv == 1]
    shapes = {name: shape for name, shape in result.parameters.stribeck.items() if name in ours}
    layout = layout_of(robot, terms, stribeck=shapes if "stribeck" in terms else None)
    findings = []
    for term in given.model.layout.drive:
        if term not in terms:
            message = f"states {term}, which the result did not ask for; it is not compared."
            findings.append(Finding(Severity.WARNING, "term-not-compared", message, robot.name))
    model = DynamicModel(robot, layout, layout.complete_nominal())
    return replace(given, model=model, findings=tuple(findings))


def _combinations(given: GivenModel, result: ResultFolder) -> tuple[Array, Array]:
    """Values and deviations of the result's combinations; a description states them exactly."""
    if given.stored is None:
        return result.base.matrix @ given.model.parameters, np.zeros(len(result.base.names))
    base, K = given.stored.base, result.base.matrix
    if not base.names:
        raise InputError("holds no estimate to compare.", place=str(given.stored.folder))
    scale = np.abs(K).max()
    if base.names != result.base.names or np.abs(base.matrix - K).max() > SAME_COMBINATION * scale:
        raise InputError(
            "the two results determine different combinations of parameters.",
            place=f"{result.folder} and {given.stored.folder}",
            remedy="Identify both with the same options.",
        )
    return base.values, base.deviations


def _other_shapes(first: DynamicModel, second: DynamicModel) -> list[str]:
    shapes = zip(first.layout.joints, first.layout.stribeck, second.layout.stribeck, strict=False)
    return [joint for joint, mine, its in shapes if mine != its]


def _owned(result: ResultFolder, joints: list[str]) -> Array:
    """Which combinations hold a parameter of these joints."""
    theirs = [parameter.owner in joints for parameter in result.layout.parameters]
    return np.asarray((result.base.matrix[:, theirs] != 0.0).any(axis=1))


def _shared_data(first: GivenModel, second: GivenModel) -> list[Finding]:
    used = [
        set() if given.stored is None else set(given.stored.record.get("estimate", {}).get("recordings", ()))
        for given in (first, second)
    ]
    if not used[0] & used[1]:
        return []
    message = "both were identified from the same data, so they differ by less than independent ones would."
    return [Finding(Severity.INFO, "shared-data", message)]
