"""A model against logs, check by check: what `steelyard validate` does."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.audit import (
    Check,
    DynamicModel,
    Status,
    TorqueError,
    Verdict,
    check_colour,
    check_friction,
    check_links,
    check_mass_matrix,
    check_torque,
    error_along,
)
from steelyard.cli.validate_model import GivenModel
from steelyard.errors import NoSolutionError
from steelyard.identifiability import certify_excitation, structural_identifiability
from steelyard.layout import layout_of
from steelyard.recording import Recording


@dataclass(frozen=True, eq=False)
class Validation:
    """What is to be thought of a model; `repeat` says why the logs are no test, where they are none."""

    verdict: Verdict
    error: TorqueError
    logs: Mapping[str, TorqueError]
    joints: tuple[str, ...]
    repeat: str = ""


def validation(given: GivenModel, logs: Mapping[str, Recording], repeat: str = "") -> Validation:
    """Judge a model by logs that are made ready."""
    model = given.model
    joints = tuple(joint.name for joint in model.robot.joints for _ in range(joint.nv))
    q, v, a, tau = (
        np.vstack([log.channels[name] for log in logs.values()]) for name in ("q", "v", "a", "tau")
    )
    predicted = model.torque(q, v, a)
    error = _error(model, logs.values())
    nominal = None if given.nominal is None else _error(given.nominal, logs.values())
    links = _link_check(given)
    possible = links.status is Status.PASS
    rng = np.random.default_rng(0)
    checks = [
        check_torque("held-out torque", error, joints, nominal=nominal, repeat=repeat),
        links,
        check_mass_matrix(model.robot, model.layout, model.parameters, possible, rng),
        check_colour(tau - predicted, joints, tau),
        check_friction(tau - predicted, v, joints, tau),
        _coverage(model, q, v, a, rng),
        *_untested(given),
    ]
    by_log = {name: _error(model, [log]) for name, log in logs.items()}
    return Validation(Verdict(tuple(checks)), error, by_log, joints, repeat)


def _error(model: DynamicModel, logs: Collection[Recording]) -> TorqueError:
    predicted = [model.torque(*(log.channels[name] for name in ("q", "v", "a"))) for log in logs]
    return error_along(list(logs), predicted)


def _link_check(given: GivenModel) -> Check:
    """Whether every body that moves can exist, and every part of it that the description states."""
    check = check_links(given.model.layout, given.model.parameters)
    parts = [finding for finding in given.findings if finding.code == "impossible-inertia"]
    if check.status is not Status.PASS or not parts:
        return check
    message = "every moving body can exist as a whole, but not all of its parts: "
    message += " ".join(finding.message for finding in parts)
    return Check(check.name, Status.FAIL, message)


def _coverage(model: DynamicModel, q: Array, v: Array, a: Array, rng: np.random.Generator) -> Check:
    """Which combinations of parameters the logs show: a mistake in the others would not be seen in them."""
    name = "log coverage"
    shapes = dict(zip(model.layout.joints, model.layout.stribeck, strict=False))
    # Friction that grows with the load is no combination of parameters; the others are asked about.
    linear = [term for term in model.layout.drive if term != "load"]
    try:
        structure = structural_identifiability(model.robot, layout_of(model.robot, linear, stribeck=shapes))
    except NoSolutionError as error:
        return Check(name, Status.NOT_RUN, error.message)
    certificate = certify_excitation(structure, model.robot, q, v, a, rng=rng)
    count, shown = certificate.base.count, certificate.determined
    evidence = {"determined": shown, "identifiable": count}
    if certificate.complete:
        message = f"the logs show all {count} combinations of parameters that torques depend on."
        return Check(name, Status.PASS, message, evidence)
    missing = "; ".join(str(direction) for direction in certificate.missing[:3])
    message = (
        f"the logs show {shown} of {count} combinations of parameters; a mistake in the others would not be "
        f"seen: {missing}."
    )
    return Check(name, Status.WARN, message, evidence)


def _untested(given: GivenModel) -> list[Check]:
    """What a log alone cannot test, in plain words."""
    if given.stored is None:
        excitation = "what the model was identified from is not known, nor whether it has seen these logs."
        intervals = "a description does not say how sure its numbers are."
    else:
        deviations = given.stored.base.deviations
        known = int(np.isfinite(deviations).sum())
        excitation = "the motion the model was identified from is judged in its own report, not here."
        intervals = (
            f"{known} of {deviations.size} combinations have one; a log cannot tell if they are right."
        )
    return [
        Check("excitation", Status.NOT_RUN, excitation),
        Check("intervals", Status.NOT_RUN, intervals),
    ]
