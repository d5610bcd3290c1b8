"""The divergence and its fits: derivatives, optima beside a conic solver's, known sums, contradictions."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from steelyard.consistency import Divergence, Prior, check_parameters, drawn_fits, prior_of
from steelyard.errors import InputError, NoSolutionError
from steelyard.layout import Layout, layout_of
from steelyard.robot import Robot
from steelyard.zoo import zoo_robot

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from studies.settling import conic_optimum, objective, posed, settled

DRIVE = ("viscous", "coulomb", "offset", "rotor")
FRICTION = ("viscous", "coulomb", "offset", "rotor", "asymmetric", "load")


def arm(drive: tuple[str, ...] = DRIVE) -> tuple[Robot, Layout]:
    robot = zoo_robot("cheetah3_leg")
    return robot, layout_of(robot, drive)


def equations(layout: Layout, seed: int, rows: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Random equations, too few for the unknowns, that ask for links no body has."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(rows, layout.size))
    return A, rng.normal(size=rows)


def judged(prior: Prior, seed: int, strength: float) -> np.ndarray:
    """The fit, after a look at its objective beside the conic solver's."""
    A, b = equations(prior.layout, seed)
    (fit,) = drawn_fits(A, b, Divergence(prior), [strength])
    R = np.column_stack([A, b])
    ours = objective(fit.parameters, R, prior, strength)
    assert ours == pytest.approx(fit.squares + strength * fit.divergence, rel=1e-8)
    best = conic_optimum(R, prior, strength, unit=ours)
    assert np.isfinite(best)
    assert ours == pytest.approx(best, rel=1e-6)
    verdict = check_parameters(prior.layout, fit.parameters)
    assert all(link.strict for link in verdict.links)
    np.testing.assert_allclose(prior.sums @ fit.parameters, prior.totals, atol=1e-8)
    return fit.parameters


def test_gradient_and_hessian_are_those_of_finite_differences() -> None:
    robot, layout = arm(FRICTION)
    D = Divergence(prior_of(robot, layout))
    rng = np.random.default_rng(0)
    start = D.start()
    assert D.value(start) == pytest.approx(0.0, abs=1e-12)
    y = start + 0.1 * rng.normal(size=len(start))
    y[D.positive] = np.abs(y[D.positive]) + 1.0  # viscous friction well inside its walls
    y[D.signed] *= 0.1
    assert np.isfinite(D.value(y))
    g, H = D.derivatives(y)
    for k, e in enumerate(1e-5 * np.eye(len(y))):
        assert (D.value(y + e) - D.value(y - e)) / 2e-5 == pytest.approx(g[k], rel=1e-5, abs=1e-6)
        bend = (D.derivatives(y + e)[0] - D.derivatives(y - e)[0]) / 2e-5
        np.testing.assert_allclose(bend, H[k], rtol=1e-5, atol=1e-5)


def test_the_divergence_of_the_prior_is_zero_and_that_of_the_impossible_infinite() -> None:
    robot, layout = arm()
    D = Divergence(prior_of(robot, layout))
    y = D.start()
    np.testing.assert_allclose(D.parameters(y), D.prior.centre, rtol=1e-9, atol=1e-12)
    for k in (0, *D.positive):
        outside = y.copy()
        outside[k] = -1e-9
        assert D.value(outside) == np.inf
    np.testing.assert_allclose(D.derivatives(y)[0], 0.0, atol=1e-9)


@pytest.mark.parametrize("strength", [1e-3, 1.0, 1e3])
def test_the_optimum_with_drives_and_walls_is_the_conic_solvers(strength: float) -> None:
    robot, layout = arm(FRICTION)
    prior = prior_of(robot, layout)
    assert len(prior.walls) > len(layout.links)
    judged(prior, 1, strength)


def test_friction_per_load_stays_below_what_locks_a_gear_however_weak_the_pull() -> None:
    robot, layout = arm(FRICTION)
    prior = prior_of(robot, layout)
    k = layout.index(f"{layout.joints[0]}.load")
    row = int(np.flatnonzero(prior.walls[:, k])[0])
    assert prior.walls[row] @ prior.centre + prior.wall_offsets[row] == pytest.approx(1.0 - prior.centre[k])
    A = 1e3 * np.eye(layout.size)[k : k + 1]
    for strength in (1e-3, 1.0):
        (fit,) = drawn_fits(A, np.array([1.2e3]), Divergence(prior), [strength])
        assert 0.9 < fit.parameters[k] < 1.0
        assert check_parameters(layout, fit.parameters).consistent
        R = np.column_stack([A, [1.2e3]])
        ours = objective(fit.parameters, R, prior, strength)
        assert ours == pytest.approx(conic_optimum(R, prior, strength, unit=ours), rel=1e-6)
    fit.parameters.flags.writeable = True
    fit.parameters[k] = 1.0
    assert "gear locks itself" in " ".join(check_parameters(layout, fit.parameters).reasons)


def test_the_optimum_with_known_sums_is_the_conic_solvers() -> None:
    robot, layout = arm()
    first, second = layout.links[1], layout.links[2]
    heavy = 1.7 * float(layout.nominal[:30:10].sum())
    phi = judged(prior_of(robot, layout, total_mass=heavy), 2, 0.1)
    assert phi[:30:10].sum() == pytest.approx(heavy)
    phi = judged(prior_of(robot, layout, total_mass=heavy, masses={first: 0.3}), 3, 0.1)
    assert phi[layout.index(f"{first}.m")] == pytest.approx(0.3)
    assert phi[:30:10].sum() == pytest.approx(heavy)
    phi = judged(prior_of(robot, layout, equal=[(first, second)]), 4, 0.1)
    np.testing.assert_allclose(np.abs(phi[10:20]), np.abs(phi[20:30]), atol=1e-9)


def test_what_a_layout_fixes_of_a_link_holds_exactly_beside_the_rest() -> None:
    robot, layout = arm()
    first, second, third = layout.links
    zeros = {f"{second}.Ixy": 0.0, f"{second}.Ixz": 0.0, f"{second}.Iyz": 0.0}
    whole = {name: float(x) for name, x in zip(layout.names[:10], layout.nominal[:10], strict=True)}
    fixed = layout.fixing({**zeros, f"{third}.m": 0.4, f"{third}.mx": 0.02, **whole})
    prior = prior_of(robot, fixed, 2.0 * layout.nominal)
    phi = judged(prior, 5, 0.1)
    np.testing.assert_allclose(phi[~fixed.free], fixed.nominal[~fixed.free], atol=1e-10)
    assert first in fixed.links


def test_a_strength_that_is_no_positive_number_is_refused() -> None:
    robot, layout = arm()
    A, b = equations(layout, 0)
    for wrong in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="must be a positive number"):
            drawn_fits(A, b, Divergence(prior_of(robot, layout)), [wrong])


def test_sums_that_contradict_each_other_are_said_to() -> None:
    robot, layout = arm()
    _, second, third = layout.links
    prior = prior_of(robot, layout, masses={second: 1.0, third: 2.0}, equal=[(second, third)])
    A, b = equations(layout, 0)
    with pytest.raises(NoSolutionError, match="contradicts itself"):
        drawn_fits(A, b, Divergence(prior), [1.0])


def test_an_order_of_strengths_changes_nothing() -> None:
    robot, layout = arm()
    A, b = equations(layout, 6)
    D = Divergence(prior_of(robot, layout))
    down, up = drawn_fits(A, b, D, [1e2, 1.0, 1e-2]), drawn_fits(A, b, D, [1e-2, 1.0, 1e2])
    for one, other in zip(down, reversed(up), strict=True):
        assert one.strength == other.strength
        np.testing.assert_allclose(one.parameters, other.parameters, rtol=1e-6, atol=1e-9)
    squares, divergences = [x.squares for x in down], [x.divergence for x in down]
    assert squares == sorted(squares, reverse=True)
    assert divergences == sorted(divergences)


@pytest.mark.parametrize("number", [*range(16), 17])
def test_random_ugly_problems_settle_at_the_conic_optimum(number: int) -> None:
    """A short version of bench/studies/settling.py, one problem for each robot of the zoo."""
    answer = settled(posed(number))
    assert answer.failure == ""
    assert answer.strict
    assert abs(answer.excess) <= 1e-6
