"""Base estimates get possible links that predict the same torques, or the reason why not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from estimation.test_lmi import problem
from steelyard.consistency import check_parameters
from steelyard.estimation.linear import fit_least_squares
from steelyard.estimation.physical import with_full_set


def test_a_possible_estimate_gets_links_with_the_same_torques() -> None:
    question = problem("panda", 0.0)
    estimate = with_full_set(question, fit_least_squares(question))
    assert estimate.detail["full_set"]["same_torques"]
    assert not [finding for finding in estimate.findings if finding.code == "no-possible-links"]
    np.testing.assert_allclose(question.base.matrix @ estimate.parameters, estimate.values, atol=1e-9)
    assert check_parameters(question.layout, estimate.parameters).consistent


def test_an_impossible_estimate_says_so_and_offers_the_least_change_of_torque() -> None:
    question = problem("panda", 0.3)
    plain = fit_least_squares(question)
    estimate = with_full_set(question, plain)
    assert not estimate.detail["full_set"]["same_torques"]
    assert [finding.code for finding in estimate.findings] == ["no-possible-links"]
    np.testing.assert_array_equal(estimate.values, plain.values)
    assert check_parameters(question.layout, estimate.parameters).consistent
    # Least change on the data: no mixture with another possible vector changes the torques less.
    R, K = question.base_factor()[:, :-1], question.base.matrix
    changed = np.linalg.norm(R @ (K @ estimate.parameters - plain.values))
    nominal = question.layout.complete_nominal()
    for share in (1e-3, 1e-2, 0.1, 1.0):
        other = (1 - share) * estimate.parameters + share * nominal
        assert np.linalg.norm(R @ (K @ other - plain.values)) >= changed * (1 - 1e-6)


def test_the_weights_of_the_estimate_decide_what_counts_as_change() -> None:
    question = problem("panda", 0.3)
    plain = fit_least_squares(question)
    weights = np.array([1.0, 1, 1, 1, 30, 30, 30])
    by_ones, by_weights = (
        with_full_set(question, replace(plain, weights=w)).parameters for w in (None, weights)
    )
    R, K = question.base_factor(weights)[:, :-1], question.base.matrix
    change = [np.linalg.norm(R @ (K @ phi - plain.values)) for phi in (by_ones, by_weights)]
    assert change[1] < 0.99 * change[0]
