"""From a question to a judged estimate: what `steelyard identify` does, step by step."""

from __future__ import annotations

from dataclasses import dataclass, replace

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
    check_torque,
    error_along,
    structured_torque,
    torque_error,
)
from steelyard.cli.identify_closed_loop import check_refinement, fitted_by_loop, refinement_of
from steelyard.cli.identify_logs import Question
from steelyard.cli.identify_request import CLOSED_LOOP
from steelyard.cli.output import say
from steelyard.consistency import check_parameters
from steelyard.control import read_loop
from steelyard.errors import InputError
from steelyard.estimation import (
    Diagnosis,
    TorqueLag,
    diagnose,
    fit_by_name,
    fit_loop_instrumental,
    linearised,
    static_problem,
    torque_aligned,
    with_full_set,
    with_lag,
)
from steelyard.finding import Finding
from steelyard.identifiability import Certificate, certify_excitation
from steelyard.layout import Layout
from steelyard.motion import Motion, read_motion
from steelyard.problem import Estimate, Problem, problem_of
from steelyard.recording import Recording, same_motion
from steelyard.robot import Robot
from steelyard.signals import without_turning
from steelyard.uncertainty import bias_of_recordings, with_covariance


@dataclass(frozen=True, eq=False)
class Identification:
    """Everything that was found out."""

    question: Question
    problem: Problem
    estimate: Estimate
    certificate: Certificate
    verdict: Verdict
    train: TorqueError
    holdout: TorqueError
    unfiltered: TorqueError
    findings: tuple[Finding, ...]

    @property
    def robot(self) -> Robot:
        """The robot that moved."""
        return self.question.robot

    @property
    def layout(self) -> Layout:
        """Its parameters, with the shapes of friction that were found."""
        return self.estimate.layout

    @property
    def recordings(self) -> dict[str, Recording]:
        """What was learnt from and judged by, by name."""
        train = {f"train {k + 1}": log for k, log in enumerate(self.question.train)}
        return train | {self.question.held_out: self.question.holdout}


def identify_from(asked: Question, method: str) -> Identification:
    """Pose the problem, fit, give the estimate links that can exist, and judge it."""
    problem = _posed(asked, asked.layout)
    asked, lag = _sharpened(asked, problem)
    problem = _posed(asked, asked.layout)
    say(f"2  torques can determine {problem.base.count} combinations of {asked.layout.size} parameters")
    estimate = _fitted(asked, problem, method)
    if method == CLOSED_LOOP:
        # The loop has a delay of its own; a lag of least squares adds nothing to its covariance.
        lag = None
    if estimate.layout is not asked.layout:
        # The shapes of friction were found with the rest; from here on they are known.
        problem = _posed(asked, estimate.layout)
    if "load" in estimate.layout.drive:
        problem = linearised(problem, estimate)
    estimate = _complete(problem, estimate if lag is None else with_lag(estimate, lag))
    say(f"3  fitted by {estimate.method}, condition number {estimate.condition:.3g}")
    used = problem.samples
    certificate = certify_excitation(
        problem.structure, asked.robot, used.q, used.v, used.a, rng=np.random.default_rng(0)
    )
    predicted = estimate.torque(asked.robot, asked.holdout)
    error = error_along([asked.holdout], [predicted])
    repeat = next(filter(None, (same_motion(log, asked.holdout) for log in asked.train)), None)
    repeated = () if repeat is None else (repeat.finding("a training log", asked.held_out),)
    diagnosis = _diagnosed(asked, problem)
    return Identification(
        asked,
        problem,
        estimate,
        certificate,
        Verdict(
            (
                _agreement(asked, diagnosis, predicted),
                *_checks(asked, problem, estimate, certificate, predicted, error, repeated),
            )
        ),
        error_along(asked.train, [estimate.torque(asked.robot, log) for log in asked.train]),
        error,
        torque_error(asked.holdout.channels["tau"], predicted),
        (*_causes(diagnosis, asked), *_suspicions(asked, problem, method), *repeated),
    )


def _sharpened(asked: Question, problem: Problem) -> tuple[Question, TorqueLag | None]:
    """The question with torques at the instants of the motion, and without samples at which a joint turns."""
    if asked.static or asked.interval is None or "load" in asked.layout.drive:
        return asked, None
    train, lag = torque_aligned(problem, asked.train, asked.interval)
    if lag is not None:
        say(f"   torques are moved by {1e3 * lag.seconds:+.2f} ms, within an interval of the log")
    return replace(asked, train=tuple(without_turning(log) for log in train)), lag


def _diagnosed(asked: Question, problem: Problem) -> Diagnosis | None:
    """What may be wrong with the description or the log; None where nothing was tried."""
    if asked.static or "load" in problem.layout.drive:
        return None
    return diagnose(problem)


def _agreement(asked: Question, diagnosis: Diagnosis | None, predicted: Array) -> Check:
    if diagnosis is None:
        why = "not tried on held poses, nor with friction that grows with the load."
        return Check("description and log", Status.NOT_RUN, why)
    log = asked.holdout.channels
    structured = structured_torque(log["tau"] - predicted, log["v"], predicted, log["tau"])
    return check_agreement(diagnosis.findings, diagnosis.left, diagnosis.repaired, structured)


def _causes(diagnosis: Diagnosis | None, asked: Question) -> tuple[Finding, ...]:
    """What is wrong first, then what was noticed of the logs and does not say the same again."""
    causes = () if diagnosis is None else diagnosis.findings
    codes = {finding.code for finding in causes}
    return (*causes, *(finding for finding in asked.findings if finding.code not in codes))


def _suspicions(asked: Question, problem: Problem, method: str) -> tuple[Finding, ...]:
    """What disturbs the estimate without contradicting the description."""
    if asked.static or "load" in problem.layout.drive or method == CLOSED_LOOP:
        return ()
    return bias_of_recordings(problem, asked.train)


def _posed(asked: Question, layout: Layout) -> Problem:
    pose = static_problem if asked.static else problem_of
    return pose(asked.robot, layout, asked.train, prior=asked.prior)


def _complete(problem: Problem, estimate: Estimate) -> Estimate:
    """The estimate with a full set of possible links, and with a covariance."""
    if estimate.covariance is None:
        estimate = with_covariance(problem, estimate)
    phi = estimate.parameters
    if phi is None or not check_parameters(estimate.layout, phi):
        estimate = with_full_set(problem, replace(estimate, parameters=None))
    return estimate


def _fitted(asked: Question, problem: Problem, method: str) -> Estimate:
    if method == CLOSED_LOOP:
        motion = None if asked.motion is None else _planned(asked)
        return fitted_by_loop(problem, asked.loops, asked.train, asked.controller, motion)
    if method != "iv":
        return fit_by_name(problem, method)
    if asked.controller is None:
        return fit_by_name(problem, method, instruments=_instruments(asked))
    if asked.motion is None:
        raise InputError(
            "is of use with the motion it was told to follow.", place="--controller", remedy="Give --motion."
        )
    return fit_loop_instrumental(problem, read_loop(asked.controller, asked.robot), _planned(asked))


def _planned(asked: Question) -> Motion:
    motion = read_motion(str(asked.motion))
    names = tuple(joint.name for joint in asked.robot.joints if joint.nv)
    if motion.joints != names:
        raise InputError(f"moves {list(motion.joints)}, the robot has {list(names)}.", place="--motion")
    return motion


def _instruments(asked: Question) -> tuple[Array, Array, Array] | None:
    """A motion without measurement noise at the samples that are learnt from: planned, or as logged."""
    if asked.motion is not None:
        samples = [_planned(asked).sample(log.time) for log in asked.train]
        q, v, a = ([getattr(sample, name) for sample in samples] for name in "qva")
    elif all(f"{name}_ref" in log.channels for name in "qva" for log in asked.train):
        q, v, a = ([log.channels[f"{name}_ref"] for log in asked.train] for name in "qva")
    else:
        return None
    return np.vstack(q), np.vstack(v), np.vstack(a)


def _checks(
    asked: Question,
    problem: Problem,
    estimate: Estimate,
    certificate: Certificate,
    predicted: Array,
    error: TorqueError,
    repeated: tuple[Finding, ...],
) -> list[Check]:
    names = [joint.name for joint in asked.robot.joints if joint.nv]
    repeat = "it repeats a training motion" if repeated else ""
    measured = asked.holdout.channels["tau"]
    left = measured - predicted
    nominal = _nominal(asked)
    checks = [
        check_torque("held-out torque", error, names, nominal=nominal, repeat=repeat),
        *_link_checks(asked.robot, estimate),
        check_excitation(certificate, estimate.condition),
        check_intervals(problem, estimate),
    ]
    if (refinement := refinement_of(estimate, names)) is not None:
        checks.append(check_refinement(refinement))
    if asked.static:
        why = "the poses were held: their residuals have no order in time and no velocity."
        return [*checks, *(Check(name, Status.NOT_RUN, why) for name in ("residual colour", "friction"))]
    friction = check_friction(left, asked.holdout.channels["v"], names, measured)
    return [*checks, check_colour(left, names, measured), friction]


def _nominal(asked: Question) -> TorqueError | None:
    """The torque error of the description's own numbers, where it states every link."""
    from steelyard.dynamics import inverse_dynamics

    if any(link.body is None for link in asked.robot.links):
        return None
    log, layout = asked.holdout.channels, asked.layout
    tau = inverse_dynamics(asked.robot, layout, layout.complete_nominal(), log["q"], log["v"], log["a"])
    return error_along([asked.holdout], [tau])


def _link_checks(robot: Robot, estimate: Estimate) -> list[Check]:
    if estimate.parameters is None:
        why = "only combinations of parameters were estimated, not links."
        return [Check(name, Status.NOT_RUN, why) for name in ("physical consistency", "mass matrix")]
    links = check_links(estimate.layout, estimate.parameters)
    possible = links.status is Status.PASS
    rng = np.random.default_rng(0)
    return [links, check_mass_matrix(robot, estimate.layout, estimate.parameters, possible, rng)]
