"""From a question to a judged estimate: what an identification does, step by step."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.arrays import Array
from steelyard.audit import (
    Check,
    Status,
    TorqueError,
    Verdict,
    check_agreement,
    check_colour,
    check_excitation,
    check_friction,
    check_intervals,
    check_links,
    check_mass_matrix,
    check_plausible,
    check_torque,
    error_along,
    structured_torque,
    torque_error,
)
from steelyard.consistency import GeometricPrior, sane_prior
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import InputError
from steelyard.estimation import Diagnosis, diagnose
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.formats import require_free
from steelyard.identifiable import ExcitationCertificate, certify_excitation
from steelyard.identification import (
    CLOSED_LOOP,
    IdentificationData,
    IdentificationProblem,
    completed_fit,
    identification_data,
    identification_fit,
    identification_problem,
    known_links,
)
from steelyard.layout import Layout, layout_of
from steelyard.problem import Estimate, Problem
from steelyard.progress import say
from steelyard.recording import require_readable_logs, same_motion, single_log, single_logs
from steelyard.robot import Robot
from steelyard.signals import band_of
from steelyard.threads import beside, with_one_blas_thread
from steelyard.uncertainty import ACCURACY, bias_of_recordings
from steelyard.workflows.given import given_robot
from steelyard.workflows.identification import Identification, Price, load_writers
from steelyard.workflows.identify_request import (
    AUTO,
    POSITION,
    IdentifyRequest,
    drive_terms,
    knowledge,
    known_moments,
    log_options,
    require_sound,
)
from steelyard.workflows.logs import (
    absent_joints,
    listed_logs,
    log_units,
    torque_constant_errors,
    torque_constants,
)
from steelyard.workflows.record import GivenObjects, request_of

if TYPE_CHECKING:
    from steelyard.workflows.servo_identification import ServoIdentification

COSTLY = 1.1
"""Unexplained torque of links over that of base parameters, from which on the price is large."""


@with_one_blas_thread
def identify_from(asked: IdentificationData, method: str) -> Identification:
    """Pose the question, fit, and judge the estimate."""
    posed = identification_problem(asked)
    # It asks nothing of the fit, which takes as long.
    diagnosed = beside(partial(_diagnosed, posed))
    fitted = completed_fit(identification_fit(posed, method))
    asked, problem, estimate, prior = fitted.data, fitted.problem, fitted.estimate, fitted.prior
    posterior, intervals = known_links(fitted)
    say(f"3  fitted by {estimate.method}, condition number {estimate.condition:.3g}")
    used = problem.samples
    certificate = certify_excitation(
        problem.structure, asked.robot, used.q, used.v, used.a, rng=np.random.default_rng(0)
    )
    predicted = estimate.torque(asked.robot, asked.holdout)
    error = error_along([asked.holdout], [predicted])
    repeat = next(filter(None, (same_motion(log, asked.holdout) for log in asked.train)), None)
    repeated = () if repeat is None else (repeat.finding("a training log", asked.held_out),)
    train = error_along(asked.train, [estimate.torque(asked.robot, log) for log in asked.train])
    price = _price(asked, estimate)
    diagnosis = diagnosed()
    suspicions = _suspicions(asked, problem, estimate, method)
    noticed = (*suspicions, *repeated)
    return Identification(
        asked,
        problem,
        estimate,
        certificate,
        Verdict(
            (
                _agreement(asked, diagnosis, predicted),
                *_checks(asked, problem, estimate, certificate, predicted, error, noticed),
            )
        ),
        train,
        error,
        torque_error(asked.holdout.channels["tau"], predicted),
        (*_causes(diagnosis, asked), *noticed, *_costly(price, train, error)),
        price,
        prior,
        posterior,
        intervals,
    )


def _price(asked: IdentificationData, estimate: Estimate) -> Price:
    alone = replace(estimate, parameters=None)
    logs = (*asked.train, asked.holdout)
    *train, held_out = (alone.torque(asked.robot, log) for log in logs)
    return Price(error_along(asked.train, train), error_along([asked.holdout], [held_out]))


def _costly(price: Price, train: TorqueError, holdout: TorqueError) -> tuple[Finding, ...]:
    """What may be wrong where links cost much torque, seen and unseen."""
    dear = train.overall > COSTLY * price.train.overall and holdout.overall > COSTLY * price.holdout.overall
    if not dear:
        return ()
    message = (
        f"links that can be believed leave {holdout.overall:.3g} % of the torque held out, base parameters "
        f"without links {price.holdout.overall:.3g} %. Torque sensors behind the gear feel no rotor and "
        "little friction: try --drive viscous,coulomb,offset. Otherwise axes and lengths of the description "
        "may be wrong, or the log holds what no rigid body does."
    )
    return (Finding(Severity.WARNING, "costly-links", message, "links"),)


def _diagnosed(posed: IdentificationProblem) -> Diagnosis | None:
    """What may be wrong with the description or the log; None where nothing was tried.

    It is asked of the question as it was first posed: before a load term was chosen it is linear.
    """
    if posed.data.static or "load" in posed.problem.layout.drive:
        return None
    return diagnose(posed.problem)


def _agreement(asked: IdentificationData, diagnosis: Diagnosis | None, predicted: Array) -> Check:
    if diagnosis is None:
        why = "not tried on held poses, nor with friction that grows with the load."
        return Check("description and log", Status.NOT_RUN, why)
    log = asked.holdout.channels
    structured = structured_torque(log["tau"] - predicted, log["v"], predicted, log["tau"])
    return check_agreement(diagnosis.findings, diagnosis.left, diagnosis.repaired, structured)


def _causes(diagnosis: Diagnosis | None, asked: IdentificationData) -> tuple[Finding, ...]:
    """What is wrong first, then what was noticed of the logs and does not say the same again."""
    causes = () if diagnosis is None else diagnosis.findings
    codes = {finding.code for finding in causes}
    return (*causes, *(finding for finding in asked.findings if finding.code not in codes))


def _suspicions(
    asked: IdentificationData, problem: Problem, estimate: Estimate, method: str
) -> tuple[Finding, ...]:
    """What disturbs the estimate without contradicting the description."""
    if asked.static or "load" in problem.layout.drive or method == CLOSED_LOOP:
        return ()
    return bias_of_recordings(problem, asked.train, estimate.deviations)


def _checks(
    asked: IdentificationData,
    problem: Problem,
    estimate: Estimate,
    certificate: ExcitationCertificate,
    predicted: Array,
    error: TorqueError,
    noticed: tuple[Finding, ...],
) -> list[Check]:
    names = [joint.name for joint in asked.robot.joints if joint.nv]
    repeat = "it repeats a training motion" if any(x.code == "repeated-motion" for x in noticed) else ""
    measured = asked.holdout.channels["tau"]
    left = measured - predicted
    nominal = _nominal(asked)
    unfiltered = None
    if band_of(asked.holdout) is not None:
        unfiltered = torque_error(asked.holdout.channels["tau"], predicted)
    checks = [
        check_torque("held-out torque", error, names, nominal=nominal, unfiltered=unfiltered, repeat=repeat),
        *_link_checks(asked.robot, estimate),
        _plausible(asked, estimate),
        check_excitation(certificate, estimate.condition),
        check_intervals(problem, estimate, noticed),
    ]
    if "outcome" in estimate.detail:
        from steelyard.workflows.closed_loop import check_refinement, refinement_of

        refinement = refinement_of(estimate, names)
        checks.append(check_refinement(refinement))
    if asked.static:
        why = "the poses were held: their residuals have no order in time and no velocity."
        return [*checks, *(Check(name, Status.NOT_RUN, why) for name in ("residual colour", "friction"))]
    friction = check_friction(left, asked.holdout.channels["v"], names, measured)
    return [*checks, check_colour(left, names, measured), friction]


def _nominal(asked: IdentificationData) -> TorqueError | None:
    """The torque error of the description's own numbers, where it states every link."""
    if any(link.body is None for link in asked.robot.links):
        return None
    log, layout = asked.holdout.channels, asked.layout
    tau = inverse_dynamics(asked.robot, layout, layout.complete_nominal(), log["q"], log["v"], log["a"])
    return error_along([asked.holdout], [tau])


def _plausible(asked: IdentificationData, estimate: Estimate) -> Check:
    """Whether somebody could have built the estimated links, by the description's numbers and shapes."""
    if estimate.parameters is None:
        return Check(
            "plausible", Status.NOT_RUN, "only combinations of parameters were estimated, not links."
        )
    described = asked.layout.nominal if asked.prior is None else asked.prior
    return check_plausible(asked.robot, estimate.layout, estimate.parameters, described)


def _link_checks(robot: Robot, estimate: Estimate) -> list[Check]:
    if estimate.parameters is None:
        why = "only combinations of parameters were estimated, not links."
        return [Check(name, Status.NOT_RUN, why) for name in ("physical consistency", "mass matrix")]
    links = check_links(estimate.layout, estimate.parameters)
    possible = links.status is Status.PASS
    rng = np.random.default_rng(0)
    return [links, check_mass_matrix(robot, estimate.layout, estimate.parameters, possible, rng)]


def identification_of(given: Mapping[str, Any]) -> Identification | ServoIdentification:
    """Identify by the arguments of `identify`, by name."""
    objects = GivenObjects()
    asked = {
        **given,
        "arguments": given["argument"],
        "logs": [objects.named(log) for log in listed_logs(given["logs"])],
        "holdout": None if given["holdout"] is None else objects.named(given["holdout"]),
    }
    request = request_of(IdentifyRequest, asked, objects)
    return identification_of_request(request, given["out"], force=given["force"], objects=objects)


def identification_of_request(
    request: IdentifyRequest,
    out: FilePath | None,
    *,
    force: bool = False,
    objects: GivenObjects | None = None,
) -> Identification | ServoIdentification:
    """Identify, judge and, where a folder is named, write.

    Args:
        request: what was asked.
        out: folder for the result; None to write nothing.
        force: whether an earlier result may be replaced.
        objects: what the request names that is no file.

    Returns:
        What was found out.

    Raises:
        InputError: something asked for is not usable; nothing is written.
        NoSolutionError: the data does not determine what was asked for.
    """
    started, objects = time.perf_counter(), objects or GivenObjects()
    if out is not None:
        require_free(Path(out), force=force)
    require_sound(request)
    recorded = request.document()
    robot = given_robot(
        objects.of(request.robot),
        request.gravity,
        request.lock,
        arguments=request.arguments,
        stated=request,
        package_path=request.package_path,
    )
    given = [objects.of(name) for name in request.logs]
    holdout = None if request.holdout is None else objects.of(request.holdout)
    require_readable_logs(given if holdout is None else [*given, holdout])
    logs = single_logs(given)
    holdout = None if holdout is None else single_log(holdout, "--holdout")
    units = log_units(request.units, request.calibration, robot)
    absent = absent_joints(robot, logs, request.columns, request.topic, units)
    if request.signals == POSITION or (request.signals == AUTO and not absent.torques):
        from steelyard.workflows.servo_identification import servo_identification

        held = absent.held(robot)
        return servo_identification(request, recorded, held, logs, holdout, absent, out, force=force)
    asked_first = request
    robot, request = absent.held(robot), replace(request, lock=(*request.lock, *absent.locks))
    layout = layout_of(robot, drive_terms(request))
    prior = _geometric_prior(request, robot, layout, objects)
    constants = torque_constants(request.torque_constant, robot.nv)
    names = [joint.name for joint in robot.joints if joint.nv]
    how = log_options(request, names, constants, units)
    moments = known_moments(request.known_moment, names)
    if request.known_moment and request.method == CLOSED_LOOP:
        raise InputError(
            f"calibrates torques that are learnt from, which '{CLOSED_LOOP}' simulates.",
            place="--known-moment",
            remedy="Use another --method, then give its constants by --torque-constant.",
        )
    if out is not None:
        # It takes a fifth of a second, and reading a log leaves a core idle.
        beside(load_writers)
    say(f"1  read {len(logs)} log{'s' if len(logs) > 1 else ''} of {robot.name}")
    asked = replace(
        identification_data(robot, layout, logs, holdout, how, request.method),
        prior_error=ACCURACY if request.prior_error is None else request.prior_error,
        knowledge=knowledge(request),
        strength=request.strength,
        motion=objects.of(request.motion),
        controller=objects.of(request.controller),
        window=request.window,
        choose_drive=request.drive is None and request.method == "auto" and not request.static,
    )
    if prior is not None:
        asked = asked.believing(prior, shapes=request.shapes)
    errors = torque_constant_errors(
        request.torque_constant_error, robot.nv, from_current=constants is not None
    )
    asked = replace(
        asked,
        constant_errors=errors,
        constants=constants,
        moments=moments,
        findings=(*absent.findings, *asked.findings),
    )
    done = identify_from(asked, request.method)
    done = replace(done, request=asked_first, recorded=recorded, constants=constants)
    files = {} if out is None else done.save(out, force=force)
    return replace(done, files=files, seconds=time.perf_counter() - started)


def _geometric_prior(
    request: IdentifyRequest, robot: Robot, layout: Layout, objects: GivenObjects
) -> GeometricPrior | None:
    """What is believed beforehand: the description's numbers, those of another one, or nothing.

    Links that nobody stated, or that cannot be believed, get bodies from their shapes.
    """
    if request.prior == "none":
        return None
    given = None
    if request.prior is not None:
        other = given_robot(
            objects.of(request.prior),
            request.gravity,
            request.lock,
            arguments=request.arguments,
            package_path=request.package_path,
        )
        believed = layout_of(other, layout.drive)
        if believed.names != layout.names:
            raise InputError(
                "has other links or joints than the robot.",
                place=f"--prior {request.prior}",
                remedy="Give a description of the same robot with other numbers, or none.",
            )
        given = believed.nominal
    return sane_prior(robot, layout, given)
