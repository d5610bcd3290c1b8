"""From logs that were made ready to an estimate: the one pipeline, whoever asks.

    data = identification_data(robot, layout, logs)     # logs read, made ready, a part kept apart
    posed = identification_problem(data)                        # torques sharpened, and as torque equations
    fitted = identification_fit(posed, "auto")             # the estimate, as the method gives it
    complete = completed_fit(fitted)               # links that can exist, and the whole covariance
    posterior, intervals = known_links(complete)        # what data and prior say of every link

`workflows.identify` judges what comes out. Monte Carlo studies compare estimators, so they stop after the
fit: links that a method did not ask for are found by the same means after every method.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from steelyard.arrays import Array
from steelyard.consistency import Prior, check_parameters, prior_of
from steelyard.drive import DRIVE_TERMS
from steelyard.errors import InputError, NoSolutionError
from steelyard.estimation import (
    WINDOW,
    TorqueLag,
    calibrate_by_moments,
    choose_drive,
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
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.identification.data import CLOSED_LOOP, WINDOWS, IdentificationData
from steelyard.layout import Layout, layout_of
from steelyard.problem import Estimate, Problem, problem_of
from steelyard.progress import say
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.signals import without_delay, without_limited, without_turning
from steelyard.threads import with_one_blas_thread
from steelyard.uncertainty import (
    LinkIntervals,
    LinkPosterior,
    link_intervals,
    link_posterior,
    with_covariance,
)

if TYPE_CHECKING:
    from steelyard.motion import Motion

_LINEAR = tuple(term.name for term in DRIVE_TERMS)


@dataclass(frozen=True, eq=False)
class IdentificationProblem:
    """What is asked of the logs, and the torque equations it is asked by.

    Attributes:
        data: with torques at the instants of the motion, by calibrated constants.
        problem: its torque equations.
        lag: how late the torques were that were moved; None where they were not.
    """

    data: IdentificationData
    problem: Problem
    lag: TorqueLag | None


@dataclass(frozen=True, eq=False)
class IdentificationFit:
    """What the logs say about the parameters.

    Attributes:
        posed: the question as it was first posed.
        data: what was asked, with the drive terms that were chosen and what was noticed on the way.
        problem: the torque equations with these terms.
        estimate: their answer.
        prior: what was known beforehand; None for nothing.
    """

    posed: IdentificationProblem
    data: IdentificationData
    problem: Problem
    estimate: Estimate
    prior: Prior | None


@with_one_blas_thread
def identification_problem(data: IdentificationData) -> IdentificationProblem:
    """Calibrate, sharpen and pose.

    Torques are multiplied by what known moments say of their constants, and moved by their lag where sampling
    explains it. Samples at which a joint turns, a drive is at its limit or something touched the robot are
    left out.

    Args:
        data: logs made ready, and what is known beside them.

    Returns:
        The question, linear in its parameters but for friction that grows with the load.

    Raises:
        NoSolutionError: there are too few samples.
    """
    data = _calibrated(data)
    data, problem, lag = _sharpened(data, _posed(data, data.layout))
    return IdentificationProblem(data, problem, lag)


@with_one_blas_thread
def identification_fit(posed: IdentificationProblem, method: str) -> IdentificationFit:
    """Choose the drive terms, where the logs are to decide them, and fit.

    Args:
        posed: the question.
        method: one of `estimation.METHODS`, or `clie`.

    Returns:
        The answer.

    Raises:
        InputError: the method needs what was not given.
        NoSolutionError: the data does not determine what the method asks for.
    """
    data, problem = posed.data, posed.problem
    if data.choose_drive:
        data = _with_drive(data, problem)
        problem = _posed(data, data.layout)
    say(f"2  torques can determine {problem.base.count} combinations of {data.layout.size} parameters")
    prior = _prior(data, problem)
    try:
        estimate = _fitted(data, problem, method, prior)
    except NoSolutionError as unsettled:
        if data.layout is posed.data.layout:
            raise
        data, problem = _without_choice(posed.data, unsettled), posed.problem
        prior = _prior(data, problem)
        estimate = _fitted(data, problem, method, prior)
    if method == CLOSED_LOOP:
        # The loop has a delay of its own; a lag of least squares adds nothing to its covariance.
        posed = replace(posed, lag=None)
    return IdentificationFit(posed, data, problem, estimate, prior)


@with_one_blas_thread
def completed_fit(fitted: IdentificationFit) -> IdentificationFit:
    """Give the estimate links that can exist, where the method gave none, and say how sure it is.

    Args:
        fitted: the answer of a method.

    Returns:
        The answer with a full set of links, where some can exist, and a covariance that holds the lag of the
        torque, the drift of friction and the errors of torque constants; its problem has the shapes of
        friction that were found, and is linear near the estimate.
    """
    data, problem, estimate, lag = fitted.data, fitted.problem, fitted.estimate, fitted.posed.lag
    if estimate.layout is not data.layout:
        # The shapes of friction were found with the rest; from here on they are known.
        problem = _posed(data, estimate.layout)
    if "load" in estimate.layout.drive:
        problem = linearised(problem, estimate)
    if lag is not None and problem.base.names != fitted.posed.problem.base.names:
        lag = lag_seen_by(problem, estimate, lag)
    estimate = _complete(problem, estimate if lag is None else with_lag(estimate, lag), fitted.prior)
    if not data.static:
        estimate = with_drift(estimate, friction_drift(problem))
    if data.constant_errors is not None:
        estimate = with_constant_errors(problem, estimate, data.constant_errors)
    return replace(fitted, problem=problem, estimate=estimate)


def known_links(fitted: IdentificationFit) -> tuple[LinkPosterior | None, LinkIntervals | None]:
    """What data and prior together say of every link.

    Args:
        fitted: the answer.

    Returns:
        Posterior and intervals; None where nothing was known beforehand, or no links are known.
    """
    estimate, prior = fitted.estimate, fitted.prior
    if prior is None or estimate.covariance is None or estimate.parameters is None:
        return None, None
    known, error = replace(prior, layout=estimate.layout), fitted.data.prior_error
    covariance = estimate.covariance
    if estimate.systematic is not None:
        covariance = covariance + estimate.systematic
    posterior = link_posterior(estimate.base, estimate.values, covariance, known, error)
    before, rng = LinkPosterior.of_prior(known, error), np.random.default_rng(0)
    return posterior, link_intervals(posterior, before, rng, around=estimate.parameters)


def _calibrated(data: IdentificationData) -> IdentificationData:
    """The question with torques by constants that known moments of gravity correct, and what it changed."""
    if not data.moments or data.constant_errors is None:
        return data
    pose = static_problem if data.static else problem_of
    # Friction beyond the linear drive vanishes at rest; moments are of links alone.
    layout = layout_of(data.robot, [term for term in data.layout.drive if term in _LINEAR])
    found = calibrate_by_moments(pose(data.robot, layout, data.train), data.moments, data.constant_errors)
    factors, names = found.factors, [joint.name for joint in data.robot.joints if joint.nv]
    stated = np.ones(len(names)) if data.constants is None else data.constants
    unit = "times the torque logged" if data.constants is None else "N·m/A"
    told = "; ".join(
        f"{names[k]}: {stated[k]:.4g} → {stated[k] * factors[k]:.4g} ± "
        f"{abs(stated[k] * factors[k]) * found.deviations[k]:.2g} {unit}"
        for k in sorted({moment.dof for moment in data.moments})
    )
    message = f"by the moments stated, {told}"
    if data.constants is not None:
        message += (
            f". `payload` takes them by `--torque-constant {','.join(f'{x:.5g}' for x in stated * factors)} "
            f"--torque-constant-error {','.join(f'{x:.3g}' for x in found.deviations)}`"
        )
    say(f"   {message}")
    finding = Finding(Severity.INFO, "calibrated-constants", f"{message}.", "--torque-constant")

    def louder(log: Recording) -> Recording:
        return log.revised("calibrated", {"factors": factors.tolist()}, tau=log.channels["tau"] * factors)

    return replace(
        data,
        train=tuple(louder(log) for log in data.train),
        holdout=louder(data.holdout),
        every_sample=tuple(louder(log) for log in data.every_sample),
        constant_errors=found.deviations,
        factors=factors,
        findings=(*data.findings, finding),
    )


def _sharpened(
    data: IdentificationData, problem: Problem
) -> tuple[IdentificationData, Problem, TorqueLag | None]:
    """The question with torques at the instants of the motion, and as a problem.

    Samples at which a joint turns, a drive is at its limit or something touched the robot are left out.
    """
    if data.static or data.interval is None or "load" in data.layout.drive:
        return data, problem, None
    train, lag = torque_aligned(problem, data.train, data.interval)
    if lag is not None:
        say(f"   {lag_words(lag, data.interval)}")
    every = data.every_sample
    if lag is not None:
        every = tuple(without_delay(log, lag.seconds, ["tau"]) for log in every)
    train = tuple(without_limited(without_turning(log)) for log in train)
    problem = problem.asked_of(train)
    sharp, knocks = without_knocks(problem, train)
    data = replace(data, train=sharp, every_sample=every, findings=(*data.findings, *knocks))
    return data, problem.asked_of(sharp) if knocks else problem, lag


def lag_words(lag: TorqueLag, interval: float) -> str:
    """By how much torques are moved, and why that much may be: what `torque_aligned` allows, in words."""
    moved = f"torques are moved by {1e3 * lag.seconds:+.2f} ms"
    if abs(lag.seconds) <= interval:
        return f"{moved}, within the log's interval of {1e3 * interval:.3g} ms"
    return (
        f"{moved}: more than the log's interval of {1e3 * interval:.3g} ms, but within two of its standard "
        f"deviations of {1e3 * lag.deviation:.3g} ms of it"
    )


def _posed(data: IdentificationData, layout: Layout) -> Problem:
    pose = static_problem if data.static else problem_of
    return pose(data.robot, layout, data.train, prior=data.prior)


def _prior(data: IdentificationData, problem: Problem) -> Prior | None:
    """What is known beforehand; None where the description states no links or none are to be believed."""
    if data.prior is None:
        return None
    return _known(data, problem, data.layout)


def _known(data: IdentificationData, problem: Problem, layout: Layout) -> Prior:
    """What is known beforehand of the parameters of a layout."""
    believed = _believed(data, layout)
    return prior_of(data.robot, layout, believed, torque=largest_torque(problem), **data.knowledge)


def _believed(data: IdentificationData, layout: Layout) -> Array | None:
    """The prior's numbers in the order of another layout; of terms it does not know, the description's."""
    if data.prior is None:
        return None
    stated = dict(zip(data.layout.names, data.prior, strict=True))
    return np.array(
        [stated.get(name, value) for name, value in zip(layout.names, layout.nominal, strict=True)]
    )


def _with_drive(data: IdentificationData, problem: Problem) -> IdentificationData:
    """The question about the drive terms that left-out blocks of the training logs ask for."""
    known = None if data.prior is None else partial(_known, data, problem)
    choice = choose_drive(problem, known, keep=("rotor",) if data.knowledge.get("rotors") else ())
    for finding in choice.findings:
        say(f"   {finding.message}")
    return replace(
        data,
        layout=choice.layout,
        prior=_believed(data, choice.layout),
        findings=(*data.findings, *choice.findings),
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


def _fitted(data: IdentificationData, problem: Problem, method: str, prior: Prior | None) -> Estimate:
    needed = {CLOSED_LOOP: data.loops, WINDOWS: data.every_sample}
    if not needed.get(method, data.train):
        raise InputError(
            f"were not made ready for '{method}'.", place="logs", remedy="Make them ready for this method."
        )
    if method == CLOSED_LOOP:
        from steelyard.identification.closed_loop import fitted_by_loop

        motion = None if data.motion is None else _planned(data.robot, data.motion)
        return fitted_by_loop(problem, data.loops, data.train, data.controller, motion)
    if method == WINDOWS:
        return _fitted_by_windows(data, problem)
    if method != "iv":
        return fit_by_name(problem, method, prior=prior, strength=data.strength)
    if data.controller is None:
        return fit_by_name(problem, method, instruments=_instruments(data))
    if data.motion is None:
        raise InputError(
            "is of use with the motion it was told to follow.", place="--controller", remedy="Give --motion."
        )
    from steelyard.control import LoopSettings

    loop = data.controller
    settings = loop if isinstance(loop, LoopSettings) else LoopSettings.read(loop, data.robot)
    return fit_loop_instrumental(problem, settings, _planned(data.robot, data.motion))


def _fitted_by_windows(data: IdentificationData, problem: Problem) -> Estimate:
    """Integrate over windows of the logs at their own rate; a stretch shorter than one tells nothing."""
    longest = max(log.duration for log in data.every_sample)
    shortest = min(longest, WINDOW if data.window is None else data.window)
    logs = [log for log in data.every_sample if log.duration >= shortest]
    posed = problem_of(data.robot, problem.layout, logs, prior=data.prior, accelerations=False)
    estimate = fit_by_name(posed, WINDOWS, window=data.window)
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


def _instruments(data: IdentificationData) -> tuple[Array, Array, Array] | None:
    """A motion without measurement noise at the samples that are learnt from: planned, or as logged."""
    if data.motion is not None:
        samples = [_planned(data.robot, data.motion).sample(log.time) for log in data.train]
        q, v, a = ([getattr(sample, name) for sample in samples] for name in "qva")
    elif all(f"{name}_ref" in log.channels for name in "qva" for log in data.train):
        q, v, a = ([log.channels[f"{name}_ref"] for log in data.train] for name in "qva")
    else:
        return None
    return np.vstack(q), np.vstack(v), np.vstack(a)


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
