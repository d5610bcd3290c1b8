"""What data and prior say together: draws can exist, intervals cover, blind data leaves the prior."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.consistency import check_parameters, prior_of
from steelyard.errors import InputError
from steelyard.identifiable import structural_identifiability
from steelyard.layout import Layout, layout_of
from steelyard.uncertainty import LinkPosterior, link_intervals, link_posterior
from steelyard.zoo import zoo_robot

ROBOT = zoo_robot("ur10e")
LAYOUT = layout_of(ROBOT, ["viscous", "coulomb", "offset", "rotor"])
PRIOR = prior_of(ROBOT, LAYOUT)
BASE = structural_identifiability(ROBOT, LAYOUT).base
ACCURACY = 0.3


def _data(rng: np.random.Generator, phi: np.ndarray, relative: float) -> tuple[np.ndarray, np.ndarray]:
    """Base parameters with correlated noise of about a share of their size."""
    beta = BASE.matrix @ phi
    size = np.abs(BASE.matrix) @ np.maximum(np.abs(phi), 1e-3)
    root = np.diag(relative * size) @ (
        np.eye(BASE.count) + 0.1 * rng.standard_normal((BASE.count, BASE.count))
    )
    return beta + root @ rng.standard_normal(BASE.count), root @ root.T


def test_every_draw_can_exist_and_the_same_seed_gives_the_same_draws() -> None:
    rng = np.random.default_rng(0)
    beta, C = _data(rng, PRIOR.centre, 0.05)
    posterior = link_posterior(BASE, beta, C, PRIOR, ACCURACY)
    first, again = (posterior.draw(50, np.random.default_rng(1)) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert all(check_parameters(LAYOUT, phi) for phi in first)


def test_friction_per_load_that_nobody_knows_is_drawn_below_what_locks_a_gear() -> None:
    layout = layout_of(ROBOT, ["viscous", "load"])
    prior = prior_of(ROBOT, layout)
    loads = [layout.index(f"{joint}.load") for joint in layout.joints]
    before = LinkPosterior.of_prior(prior, ACCURACY)
    draws = before.draw(4000, np.random.default_rng(1))[:, loads]
    assert draws.min() > 0.0
    assert 0.5 < draws.max() < 1.0
    np.testing.assert_allclose(np.median(draws, axis=0), prior.centre[loads], rtol=0.1)
    # Near its centre a coordinate changes a term by its own size.
    near = replace(before, root=1e-3 * before.root).draw(4000, np.random.default_rng(2))[:, loads]
    spread = 1e-3 * np.linalg.norm(before.root, axis=1)[10 * len(layout.links) + 1 :: 2]
    np.testing.assert_allclose(near.std(axis=0), prior.centre[loads] * spread, rtol=0.05)


def test_intervals_cover_truths_that_are_as_far_from_the_prior_as_stated() -> None:
    rng = np.random.default_rng(2)
    before = LinkPosterior.of_prior(PRIOR, ACCURACY)
    covered = []
    for phi in before.draw(12, rng):
        beta, C = _data(rng, phi, 0.03)
        posterior = link_posterior(BASE, beta, C, PRIOR, ACCURACY)
        ends = link_intervals(posterior, before, rng).ends
        covered.append((ends[:, 0] <= phi) & (phi <= ends[:, 1]))
    assert 0.92 <= np.mean(covered) <= 0.99


def test_data_that_says_nothing_leaves_the_prior() -> None:
    rng = np.random.default_rng(3)
    C = np.diag(np.full(BASE.count, np.inf))
    before = LinkPosterior.of_prior(PRIOR, ACCURACY)
    posterior = link_posterior(BASE, np.zeros(BASE.count), C, PRIOR, ACCURACY)
    np.testing.assert_allclose(posterior.centre, PRIOR.centre, rtol=1e-6, atol=1e-9)
    found = link_intervals(posterior, before, rng)
    assert set(found.decided_by) == {"prior"}


def test_exact_data_decides_what_torques_determine_alone() -> None:
    rng = np.random.default_rng(4)
    phi = LinkPosterior.of_prior(PRIOR, ACCURACY).draw(1, rng)[0]
    C = np.diag((1e-5 * np.abs(BASE.matrix) @ np.abs(phi)) ** 2)
    posterior = link_posterior(BASE, BASE.matrix @ phi, C, PRIOR, ACCURACY)
    found = link_intervals(posterior, LinkPosterior.of_prior(PRIOR, ACCURACY), rng)
    alone = [k for row, k in zip(BASE.matrix, BASE.columns, strict=True) if np.count_nonzero(row) == 1]
    assert len(alone) > 10
    assert {found.decided_by[k] for k in alone} == {"data"}
    np.testing.assert_allclose(posterior.centre[alone], phi[alone], rtol=1e-2, atol=1e-4)
    # The first link turns about a vertical axis: no torque tells its mass.
    assert found.decided_by[0] == "prior"


def test_a_mass_nobody_measured_has_the_interval_of_its_stated_accuracy() -> None:
    before = LinkPosterior.of_prior(PRIOR, ACCURACY)
    mass = before.draw(20000, np.random.default_rng(5))[:, 0] / PRIOR.centre[0]
    # A logarithm with the deviation s, see the docstring.
    assert np.std(np.log(mass)) == pytest.approx(ACCURACY, rel=0.03)
    assert np.median(mass) == pytest.approx(1.0, abs=0.02)


def test_a_weighed_link_and_fixed_numbers_have_no_interval() -> None:
    link = LAYOUT.links[2]
    weighed = prior_of(ROBOT, LAYOUT, masses={link: 4.0})
    draws = LinkPosterior.of_prior(weighed, 0.05).draw(200, np.random.default_rng(6))
    mass = draws[:, LAYOUT.of_link(link).start]
    assert np.abs(mass / 4.0 - 1.0).max() < 0.02


def test_fixed_parameters_are_said_to_be_fixed() -> None:
    layout: Layout = LAYOUT.fixing({f"{LAYOUT.joints[0]}.offset": 0.0})
    prior = prior_of(ROBOT, layout)
    before = LinkPosterior.of_prior(prior, ACCURACY)
    found = link_intervals(before, before, np.random.default_rng(7))
    k = layout.index(f"{LAYOUT.joints[0]}.offset")
    assert found.decided_by[k] == "fixed"
    assert found.ends[k].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("accuracy", [0.0, -1.0, float("nan")])
def test_an_accuracy_that_is_none_is_refused(accuracy: float) -> None:
    with pytest.raises(InputError, match="positive"):
        link_posterior(BASE, np.zeros(BASE.count), np.eye(BASE.count), PRIOR, accuracy)


@pytest.mark.parametrize(
    ("name", "alone", "weighed"),
    [("ur10e", 0.069, 0.063), ("panda", 0.063, 0.058), ("lbr_med7", 0.064, 0.053)],
)
def test_a_total_mass_hardly_tells_a_factor_common_to_all_torques(
    name: str, alone: float, weighed: float
) -> None:
    """Why `--total-mass` calibrates no torque constants, which are known to 10 % beside it.

    Combinations beta of links alone scale with the factor, so the prior tells it by beta' C⁻¹ beta.
    """
    robot = zoo_robot(name)
    layout = layout_of(robot, ["viscous", "coulomb", "offset", "rotor"])
    links = 10 * len(layout.links)
    K = structural_identifiability(robot, layout).base.matrix
    K = K[np.abs(K[:, links:]).max(axis=1) == 0.0][:, :links]
    found = []
    for total in (None, float(layout.nominal[:links:10].sum())):
        prior = prior_of(robot, layout, total_mass=total)
        beta = LinkPosterior.of_prior(prior, 0.3).draw(8000, np.random.default_rng(0))[:, :links] @ K.T
        centre = K @ prior.centre[:links]
        told = centre @ np.linalg.pinv(np.cov(beta.T), rcond=1e-10) @ centre
        found.append(float((told + 1.0 / 0.1**2) ** -0.5))
    assert found == pytest.approx([alone, weighed], abs=0.0015)
