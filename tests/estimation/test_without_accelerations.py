"""Problems posed without accelerations: what needs none answers, what needs them says so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.errors import RecordingError
from steelyard.estimation.linear import fit_least_squares, fit_weighted
from steelyard.estimation.momentum import fit_momentum
from steelyard.estimation.physical import fit_lmi
from steelyard.layout import layout_of
from steelyard.problem import Problem, evidence_of, problem_of
from steelyard.recording import Recording
from steelyard.zoo import zoo_robot
from uncertainty.noisy_logs import exact_log

TERMS = ("viscous", "offset", "rotor")


def bare_log(samples: int = 2000) -> tuple[Recording, Recording]:
    """A log with accelerations, and the same without."""
    robot = zoo_robot("two_link")
    layout = layout_of(robot, TERMS)
    log = exact_log(robot, layout, layout.complete_nominal(), samples=samples)
    channels = log.channels
    return log, Recording(log.joints, log.time, log.q, v=channels["v"], tau=channels["tau"])


def bare_problem(*, accelerations: bool = False) -> Problem:
    """The problem of the log without accelerations."""
    robot = zoo_robot("two_link")
    layout = layout_of(robot, TERMS)
    log = bare_log()[accelerations is False]
    return problem_of(robot, layout, [log], prior=layout.complete_nominal(), accelerations=accelerations)


def test_momentum_gives_the_same_bits_with_and_without_them() -> None:
    with_a, without = (fit_momentum(bare_problem(accelerations=a), 0.05) for a in (True, False))
    np.testing.assert_array_equal(with_a.values, without.values)
    np.testing.assert_array_equal(with_a.covariance, without.covariance)


@pytest.mark.parametrize("fit", [fit_least_squares, fit_weighted, fit_lmi])
def test_what_needs_torque_equations_names_the_remedy(fit: object) -> None:
    assert callable(fit)
    with pytest.raises(RecordingError, match=r"has no a.*Differentiate.*method momentum"):
        fit(bare_problem())


def test_they_are_asked_for_unless_the_question_says_otherwise() -> None:
    robot = zoo_robot("two_link")
    with pytest.raises(RecordingError, match=r"has no a.*method momentum does without"):
        evidence_of(robot, [bare_log()[1]])
    assert not evidence_of(robot, [bare_log()[0]], accelerations=False).accelerated
    assert evidence_of(robot, [bare_log()[0]]).accelerated


def test_equations_are_made_from_the_samples_when_asked_for() -> None:
    problem = bare_problem(accelerations=True)
    at = problem.samples
    doubled = replace(problem, evidence=replace(at, tau=2.0 * at.tau), compressed=None)
    np.testing.assert_allclose(
        fit_least_squares(doubled).values, 2.0 * fit_least_squares(problem).values, rtol=1e-9, atol=1e-12
    )
