"""From a question to a judged estimate: what an identification does, step by step."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from os import PathLike
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
from steelyard.consistency import GeometricPrior, Prior, check_parameters, link_shapes, prior_of, sane_prior
from steelyard.drive import DRIVE_TERMS
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import InputError, NoSolutionError
from steelyard.estimation import (
    WINDOW,
    Diagnosis,
    TorqueLag,
    calibrate_by_moments,
    choose_drive,
    diagnose,
    fit_by_name,
    fit_loop_instrumental,
    friction_drift,
    lag_seen_by,
    largest_torque,
    linearised,
    static_problem,
    torque_aligned,
    with_constant_errors,
    with_drift,
    with_full_set,
    with_lag,
    with_links_near,
    without_knocks,
)
from steelyard.export import require_free
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.identifiable import ExcitationCertificate, certify_excitation
from steelyard.layout import Layout, layout_of
from steelyard.problem import Estimate, Problem, problem_of
from steelyard.progress import say
from steelyard.recording import Recording, require_readable_logs, same_motion
from steelyard.robot import Robot
from steelyard.signals import band_of, without_delay, without_limited, without_turning
from steelyard.threads import beside, with_one_blas_thread
from steelyard.uncertainty import (
    LinkIntervals,
    LinkPosterior,
    bias_of_recordings,
    link_intervals,
    link_posterior,
    prior_alone,
    with_covariance,
)
from steelyard.workflows.given import given_robot, mesh_folder
from steelyard.workflows.identification import Identification, Price, load_writers
from steelyard.workflows.identification_data import IdentificationData, identification_data
from steelyard.workflows.identify_request import (
    CLOSED_LOOP,
    WINDOWS,
    IdentifyRequest,
    drive_terms,
    known_moments,
    require_sound,
)
from steelyard.workflows.logs import (
    absent_joints,
    listed_logs,
    torque_constant_errors,
    torque_constants,
    torque_signs,
)
from steelyard.workflows.record import GivenObjects, request_of

if TYPE_CHECKING:
    from steelyard.motion import Motion

COSTLY = 1.1
"""Unexplained torque of links over that of base parameters, from which on the price is large."""
_LINEAR = tuple(term.name for term in DRIVE_TERMS)


@with_one_blas_thread
def identify_from(asked: IdentificationData, method: str) -> Identification:
    """Pose the problem, fit, give the estimate links that can exist, and judge it."""
    asked = _calibrated(asked)
    problem = _posed(asked, asked.layout)
    asked, problem, lag = _sharpened(asked, problem)
    linear, first = asked, problem
    # It asks nothing of the fit, which takes as long.
    diagnosed = beside(partial(_diagnosed, asked, first))
    if asked.choose_drive:
        asked = _with_drive(asked, problem)
        problem = _posed(asked, asked.layout)
    say(f"2  torques can determine {problem.base.count} combinations of {asked.layout.size} parameters")
    prior = _prior(asked, problem)
    try:
        estimate = _fitted(asked, problem, method, prior)
    except NoSolutionError as unsettled:
        if asked.layout is linear.layout:
            raise
        asked, problem = _without_choice(linear, unsettled), first
        prior = _prior(asked, problem)
        estimate = _fitted(asked, problem, method, prior)
    if method == CLOSED_LOOP:
        # The loop has a delay of its own; a lag of least squares adds nothing to its covariance.
        lag = None
    if estimate.layout is not asked.layout:
        # The shapes of friction were found with the rest; from here on they are known.
        problem = _posed(asked, estimate.layout)
    if "load" in estimate.layout.drive:
        problem = linearised(problem, estimate)
    if lag is not None and problem.base.names != first.base.names:
        lag = lag_seen_by(problem, estimate, lag)
    estimate = _complete(problem, estimate if lag is None else with_lag(estimate, lag), prior)
    if not asked.static:
        estimate = with_drift(estimate, friction_drift(problem))
    if asked.constant_errors is not None:
        estimate = with_constant_errors(problem, estimate, asked.constant_errors)
    posterior, intervals = _known_links(asked, estimate, prior)
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


def _calibrated(asked: IdentificationData) -> IdentificationData:
    """The question with torques by constants that known moments of gravity correct, and what it changed."""
    if not asked.moments or asked.constant_errors is None:
        return asked
    pose = static_problem if asked.static else problem_of
    # Friction beyond the linear drive vanishes at rest; moments are of links alone.
    layout = layout_of(asked.robot, [term for term in asked.layout.drive if term in _LINEAR])
    found = calibrate_by_moments(pose(asked.robot, layout, asked.train), asked.moments, asked.constant_errors)
    factors, names = found.factors, [joint.name for joint in asked.robot.joints if joint.nv]
    stated = np.ones(len(names)) if asked.constants is None else asked.constants
    unit = "times the torque logged" if asked.constants is None else "N·m/A"
    told = "; ".join(
        f"{names[k]}: {stated[k]:.4g} → {stated[k] * factors[k]:.4g} ± "
        f"{abs(stated[k] * factors[k]) * found.deviations[k]:.2g} {unit}"
        for k in sorted({moment.dof for moment in asked.moments})
    )
    message = f"by the moments stated, {told}"
    if asked.constants is not None:
        message += (
            f". `payload` takes them by `--torque-constant {','.join(f'{x:.5g}' for x in stated * factors)} "
            f"--torque-constant-error {','.join(f'{x:.3g}' for x in found.deviations)}`"
        )
    say(f"   {message}")
    finding = Finding(Severity.INFO, "calibrated-constants", f"{message}.", "--torque-constant")

    def louder(log: Recording) -> Recording:
        return log.revised("calibrated", {"factors": factors.tolist()}, tau=log.channels["tau"] * factors)

    return replace(
        asked,
        train=tuple(louder(log) for log in asked.train),
        holdout=louder(asked.holdout),
        every_sample=tuple(louder(log) for log in asked.every_sample),
        constant_errors=found.deviations,
        factors=factors,
        findings=(*asked.findings, finding),
    )


def _prior(asked: IdentificationData, problem: Problem) -> Prior | None:
    """What is known beforehand; None where the description states no links or none are to be believed."""
    if asked.prior is None:
        return None
    return _known(asked, problem, asked.layout)


def _known(asked: IdentificationData, problem: Problem, layout: Layout) -> Prior:
    """What is known beforehand of the parameters of a layout."""
    believed = _believed(asked, layout)
    return prior_of(asked.robot, layout, believed, torque=largest_torque(problem), **asked.knowledge)


def _believed(asked: IdentificationData, layout: Layout) -> Array | None:
    """The prior's numbers in the order of another layout; of terms it does not know, the description's."""
    if asked.prior is None:
        return None
    stated = dict(zip(asked.layout.names, asked.prior, strict=True))
    return np.array(
        [stated.get(name, value) for name, value in zip(layout.names, layout.nominal, strict=True)]
    )


def _with_drive(asked: IdentificationData, problem: Problem) -> IdentificationData:
    """The question about the drive terms that left-out blocks of the training logs ask for."""
    known = None if asked.prior is None else partial(_known, asked, problem)
    choice = choose_drive(problem, known, keep=("rotor",) if asked.knowledge.get("rotors") else ())
    for finding in choice.findings:
        say(f"   {finding.message}")
    return replace(
        asked,
        layout=choice.layout,
        prior=_believed(asked, choice.layout),
        findings=(*asked.findings, *choice.findings),
    )


def _without_choice(linear: IdentificationData, unsettled: NoSolutionError) -> IdentificationData:
    """The question about the linear drive, where the fit of the terms chosen beyond it does not settle."""
    message = (
        f"friction beyond {','.join(linear.layout.drive)} would predict left-out blocks better, but its fit "
        f"gives no answer and it is left out: {unsettled.message}"
    )
    say(f"   {message}")
    finding = Finding(Severity.WARNING, "drive-not-fitted", message, "--drive")
    return replace(linear, findings=(*linear.findings, finding))


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


def _known_links(
    asked: IdentificationData, estimate: Estimate, prior: Prior | None
) -> tuple[LinkPosterior | None, LinkIntervals | None]:
    """What data and prior together say of every link."""
    if prior is None or estimate.covariance is None or estimate.parameters is None:
        return None, None
    known = replace(prior, layout=estimate.layout)
    covariance = estimate.covariance
    if estimate.systematic is not None:
        covariance = covariance + estimate.systematic
    posterior = link_posterior(estimate.base, estimate.values, covariance, known, asked.prior_error)
    before, rng = prior_alone(known, asked.prior_error), np.random.default_rng(0)
    return posterior, link_intervals(posterior, before, rng, around=estimate.parameters)


def _sharpened(
    asked: IdentificationData, problem: Problem
) -> tuple[IdentificationData, Problem, TorqueLag | None]:
    """The question with torques at the instants of the motion, and as a problem.

    Samples at which a joint turns, a drive is at its limit or something touched the robot are left out.
    """
    if asked.static or asked.interval is None or "load" in asked.layout.drive:
        return asked, problem, None
    train, lag = torque_aligned(problem, asked.train, asked.interval)
    if lag is not None:
        say(f"   {lag_words(lag, asked.interval)}")
    every = asked.every_sample
    if lag is not None:
        every = tuple(without_delay(log, lag.seconds, ["tau"]) for log in every)
    train = tuple(without_limited(without_turning(log)) for log in train)
    problem = problem.asked_of(train)
    sharp, knocks = without_knocks(problem, train)
    asked = replace(asked, train=sharp, every_sample=every, findings=(*asked.findings, *knocks))
    return asked, problem.asked_of(sharp) if knocks else problem, lag


def lag_words(lag: TorqueLag, interval: float) -> str:
    """By how much torques are moved, and why that much may be: what `torque_aligned` allows, in words."""
    moved = f"torques are moved by {1e3 * lag.seconds:+.2f} ms"
    if abs(lag.seconds) <= interval:
        return f"{moved}, within the log's interval of {1e3 * interval:.3g} ms"
    return (
        f"{moved}: more than the log's interval of {1e3 * interval:.3g} ms, but within two of its standard "
        f"deviations of {1e3 * lag.deviation:.3g} ms of it"
    )


def _diagnosed(asked: IdentificationData, problem: Problem) -> Diagnosis | None:
    """What may be wrong with the description or the log; None where nothing was tried.

    It is asked of the question as it was first posed: before a load term was chosen it is linear.
    """
    if asked.static or "load" in problem.layout.drive:
        return None
    return diagnose(problem)


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


def _posed(asked: IdentificationData, layout: Layout) -> Problem:
    pose = static_problem if asked.static else problem_of
    return pose(asked.robot, layout, asked.train, prior=asked.prior)


def _complete(problem: Problem, estimate: Estimate, prior: Prior | None) -> Estimate:
    """The estimate with a full set of possible links, and with a covariance."""
    if estimate.covariance is None:
        estimate = with_covariance(problem, estimate)
    phi = estimate.parameters
    if phi is None or not check_parameters(estimate.layout, phi):
        estimate = with_full_set(problem, replace(estimate, parameters=None))
        if prior is not None and any(x.code == "no-possible-links" for x in estimate.findings):
            estimate = with_links_near(problem, estimate, replace(prior, layout=estimate.layout))
    return estimate


def _fitted(asked: IdentificationData, problem: Problem, method: str, prior: Prior | None) -> Estimate:
    if method == CLOSED_LOOP:
        from steelyard.workflows.closed_loop import fitted_by_loop

        motion = None if asked.motion is None else _planned(asked.robot, asked.motion)
        return fitted_by_loop(problem, asked.loops, asked.train, asked.controller, motion)
    if method == WINDOWS:
        return _fitted_by_windows(asked, problem)
    if method != "iv":
        return fit_by_name(problem, method, prior=prior, strength=asked.strength)
    if asked.controller is None:
        return fit_by_name(problem, method, instruments=_instruments(asked))
    if asked.motion is None:
        raise InputError(
            "is of use with the motion it was told to follow.", place="--controller", remedy="Give --motion."
        )
    from steelyard.control import LoopSettings, read_loop

    loop = asked.controller
    settings = loop if isinstance(loop, LoopSettings) else read_loop(loop, asked.robot)
    return fit_loop_instrumental(problem, settings, _planned(asked.robot, asked.motion))


def _fitted_by_windows(asked: IdentificationData, problem: Problem) -> Estimate:
    """Integrate over windows of the logs at their own rate; a stretch shorter than one tells nothing."""
    longest = max(log.duration for log in asked.every_sample)
    shortest = min(longest, WINDOW if asked.window is None else asked.window)
    logs = [log for log in asked.every_sample if log.duration >= shortest]
    posed = problem_of(asked.robot, problem.layout, logs, prior=asked.prior, accelerations=False)
    estimate = fit_by_name(posed, WINDOWS, window=asked.window)
    said = estimate.detail
    say(
        f"   {said['windows']} windows of {said['window']:g} s; samples of {1e3 / logs[0].rate:.4g} ms, "
        "torques as measured"
    )
    return estimate


def _planned(robot: Robot, given: Motion | FilePath) -> Motion:
    from steelyard.motion import read_motion

    motion = read_motion(given) if isinstance(given, str | PathLike) else given
    names = tuple(joint.name for joint in robot.joints if joint.nv)
    if motion.joints != names:
        raise InputError(f"moves {list(motion.joints)}, the robot has {list(names)}.", place="--motion")
    return motion


def _instruments(asked: IdentificationData) -> tuple[Array, Array, Array] | None:
    """A motion without measurement noise at the samples that are learnt from: planned, or as logged."""
    if asked.motion is not None:
        samples = [_planned(asked.robot, asked.motion).sample(log.time) for log in asked.train]
        q, v, a = ([getattr(sample, name) for sample in samples] for name in "qva")
    elif all(f"{name}_ref" in log.channels for name in "qva" for log in asked.train):
        q, v, a = ([log.channels[f"{name}_ref"] for log in asked.train] for name in "qva")
    else:
        return None
    return np.vstack(q), np.vstack(v), np.vstack(a)


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


def identification_of(given: Mapping[str, Any]) -> Identification:
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
) -> Identification:
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
        objects.of(request.robot), request.gravity, request.lock, arguments=request.arguments, stated=request
    )
    logs = [objects.of(name) for name in request.logs]
    require_readable_logs([*logs, *([] if request.holdout is None else [objects.of(request.holdout)])])
    absent = absent_joints(robot, logs, request.columns, request.topic)
    asked_first = request
    robot, request = absent.held(robot), replace(request, lock=(*request.lock, *absent.locks))
    layout = layout_of(robot, drive_terms(request))
    prior = _geometric_prior(request, robot, layout, objects)
    constants = torque_constants(request.torque_constant, robot.nv)
    names = [joint.name for joint in robot.joints if joint.nv]
    torque_signs(request.torque_sign, names)
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
    say(f"1  read {len(request.logs)} log{'s' if len(request.logs) > 1 else ''} of {robot.name}")
    asked = identification_data(
        request, robot, layout, None if prior is None else prior.parameters, constants, objects
    )
    if prior is not None:
        meshes = mesh_folder(objects.of(request.robot))
        shapes = link_shapes(robot, meshes) if request.shapes else {}
        known = {**asked.knowledge, "guessed": prior.replaced, "shapes": shapes}
        asked = replace(asked, knowledge=known, findings=(*prior.findings, *asked.findings))
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
            objects.of(request.prior), request.gravity, request.lock, arguments=request.arguments
        )
        believed = layout_of(other, layout.drive)
        if believed.names != layout.names:
            raise InputError(
                "has other links or joints than the robot.",
                place=f"--prior {request.prior}",
                remedy="Give a description of the same robot with other numbers, or none.",
            )
        given = believed.nominal
    return sane_prior(robot, layout, given, meshes=mesh_folder(objects.of(request.robot)))
