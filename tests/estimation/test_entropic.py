"""The believable fit: gradient, limits of the strength, invariance, choice by left-out blocks."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from estimation.test_lmi import problem, truth_of
from steelyard.consistency import Divergence, check_parameters, drawn_fits, prior_of
from steelyard.dynamics import inverse_dynamics, torque_regressor
from steelyard.errors import InputError
from steelyard.estimation.entropic import (
    STRENGTHS,
    UNTESTED,
    choose_strength,
    fit_entropic,
    left_out_blocks,
)
from steelyard.estimation.physical import fit_lmi
from steelyard.inertia import parameters_of_pseudo_inertia, pseudo_inertia
from steelyard.layout import Layout, layout_of
from steelyard.motion import random_fourier
from steelyard.problem import Problem, problem_of
from steelyard.recording import Recording
from steelyard.zoo import zoo_robot

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from studies.believable_simulated import judged
from studies.settling import objective

DRIVE = ["viscous", "coulomb", "offset", "rotor"]


def recorded(
    name: str, noise: float, *, logs: int = 1, samples: int = 120, factor: float = 1.0
) -> tuple[Problem, np.ndarray]:
    """A problem that keeps its samples, with the description times a factor as its prior; and the truth."""
    robot = zoo_robot(name)
    layout = layout_of(robot, DRIVE)
    rng = np.random.default_rng(0)
    truth = np.array(layout.complete_nominal())
    n = 10 * len(layout.links)
    truth[n:] = rng.uniform(0.05, 0.5, layout.size - n)
    joints = tuple(joint.name for joint in robot.joints)
    recordings = []
    for _ in range(logs):
        motion = random_fourier(robot, rng)
        time = np.linspace(0.0, motion.duration, samples, endpoint=False)
        s = motion.sample(time)
        tau = inverse_dynamics(robot, layout, truth, s.q, s.v, s.a)
        tau = tau + noise * rng.normal(size=tau.shape)
        recordings.append(Recording(joints, time, s.q, s.v, s.a, tau))
    believed = np.where(np.arange(layout.size) < n, factor * layout.nominal, np.nan)
    return problem_of(robot, layout, recordings, prior=believed), truth


@pytest.mark.parametrize("strength", [1e-2, 1.0, 100.0])
def test_the_gradient_vanishes_and_every_neighbour_is_worse(strength: float) -> None:
    layout = layout_of(zoo_robot("two_link"), DRIVE)
    question = problem("two_link", 0.1, truth=truth_of(layout, 4))
    prior = prior_of(question.robot, layout, truth_of(layout, 3))
    phi, R = fit_entropic(question, prior, strength=strength).parameters, question.factor()
    best = objective(phi, R, prior, strength)
    rng = np.random.default_rng(0)
    for size in (1e-1, 1e-2, 1e-3):
        for _ in range(20):
            other = phi + size * (truth_of(layout, int(rng.integers(1 << 30))) - phi)
            assert objective(other, R, prior, strength) >= best * (1 - 1e-9)
    for k in range(layout.size):
        h = 1e-6 * max(abs(phi[k]), 1e-3)
        e = h * np.eye(layout.size)[k]
        up, down = (objective(phi + sign * e, R, prior, strength) for sign in (1, -1))
        curvature = up - 2 * best + down
        assert abs(up - down) <= 2e-2 * max(curvature, 1e-9 * best)


def test_a_strong_pull_gives_the_prior_and_a_weak_one_the_conic_fit() -> None:
    question = problem("panda", 0.1)
    prior = prior_of(question.robot, question.layout)
    strong = fit_entropic(question, prior, strength=1e12)
    np.testing.assert_allclose(strong.parameters[:70], prior.centre[:70], rtol=1e-3, atol=1e-5)
    conic = fit_lmi(question).detail["squared_residual"]
    squares = [
        fit_entropic(question, prior, strength=s).detail["squared_residual"] for s in (1e-4, 1e-1, 1e1)
    ]
    assert conic * (1 - 1e-6) <= squares[0] <= squares[1] <= squares[2]
    assert squares[0] == pytest.approx(conic, rel=1e-3)


def test_links_are_strictly_possible_and_no_drive_term_vanishes_at_any_strength() -> None:
    question = problem("panda", 0.3)
    prior = prior_of(question.robot, question.layout)
    n = 10 * len(question.layout.links)
    positive = np.flatnonzero(~prior.signed[n:]) + n
    for strength in (1e-3, 1.0, 1e4):
        phi = fit_entropic(question, prior, strength=strength).parameters
        verdict = check_parameters(question.layout, phi)
        assert verdict.consistent
        assert all(link.strict for link in verdict.links)
        assert (phi[positive] > 0.0).all()
    believable = fit_entropic(question, prior, strength=100.0).parameters
    assert (believable[positive] >= 1e-3 * prior.centre[positive]).all()


def test_neither_a_links_frame_nor_a_unit_of_length_changes_the_fit() -> None:
    question = problem("two_link", 0.1)
    layout, R = question.layout, question.factor()
    prior = prior_of(question.robot, layout, truth_of(layout, 7))
    rng = np.random.default_rng(1)
    T = np.eye(layout.size)
    for k in (0, 10):  # each link in another frame, turned, moved and measured in other units
        G = np.eye(4)
        G[:3, :3] = 3.0 * np.linalg.qr(rng.normal(size=(3, 3)))[0]
        G[:3, 3] = rng.normal(size=3)
        moved = [parameters_of_pseudo_inertia(G @ pseudo_inertia(e) @ G.T) for e in np.eye(10)]
        T[k : k + 10, k : k + 10] = np.array(moved).T
    other = replace(prior, centre=T @ prior.centre, walls=prior.walls @ np.linalg.inv(T))
    changed = np.column_stack([R[:, :-1] @ np.linalg.inv(T), R[:, -1]])
    (here,) = drawn_fits(R[:, :-1], R[:, -1], Divergence(prior), [3.0])
    (there,) = drawn_fits(changed[:, :-1], changed[:, -1], Divergence(other), [3.0])
    np.testing.assert_allclose(there.parameters, T @ here.parameters, rtol=1e-5, atol=1e-7)
    assert there.divergence == pytest.approx(here.divergence, rel=1e-6)


def block_errors(question: Problem, weights: np.ndarray) -> np.ndarray:
    """Squared weighted errors of every left-out sixth, predicted by the fit to the others, by strength."""
    at, layout = question.samples, question.layout
    edges = [round(at.n * k / 6) for k in range(7)]
    table = []
    for start, stop in pairwise(edges):
        rest = np.r_[0:start, stop : at.n]
        part = replace(
            question,
            compressed=None,
            evidence=replace(at, **{x: getattr(at, x)[rest] for x in ("time", "q", "v", "a", "tau")}),
        )
        prior = prior_of(question.robot, layout, question.prior, torque=np.abs(at.tau).max(axis=0))
        Y = torque_regressor(question.robot, layout, at.q[start:stop], at.v[start:stop], at.a[start:stop])
        row = []
        for strength in STRENGTHS:
            phi = fit_entropic(part, prior, strength, weights=weights).parameters
            total = 0.0
            for regressor, torque in zip(Y, at.tau[start:stop], strict=True):
                total += float(np.sum((weights * (torque - regressor @ phi)) ** 2))
            row.append(total)
        table.append(row)
    return np.array(table)


def test_the_choice_is_the_strongest_within_one_standard_error_or_percent_of_the_best() -> None:
    question, _ = recorded("two_link", 0.3, factor=1.5)
    weights = np.array([3.0, 4.0])
    chosen = fit_entropic(question, weights=weights)
    errors = block_errors(question, weights)
    total = errors.sum(axis=0)
    best = int(np.argmin(total))
    allowed = []
    for k in range(len(STRENGTHS)):
        worse = [errors[j, k] - errors[j, best] for j in range(6)]
        mean = sum(worse) / 6
        deviation = (sum((x - mean) ** 2 for x in worse) / 5) ** 0.5
        if total[k] <= total[best] + max(6**0.5 * deviation * (1 + 1e-9), 0.02 * total[best]):
            allowed.append(STRENGTHS[k])
    assert best > 0
    assert chosen.detail["strength"] == max(allowed)
    assert max(allowed) > STRENGTHS[best]  # the rule had something to decide
    np.testing.assert_allclose(chosen.detail["left_out_error"], total / total[best], rtol=1e-5)
    assert "within one standard error" in str(chosen.detail["strength_chosen"])


def test_a_percent_of_the_error_buys_a_stronger_pull_where_blocks_agree_on_every_difference() -> None:
    question, _ = recorded("two_link", 0.3, factor=1.5)
    weights = np.array([3.0, 4.0])
    part = next(left_out_blocks(question))
    assert part.evidence is not None
    # Six times the same block: differences have no spread, so that the standard error allows the best alone.
    same = tuple(np.concatenate([getattr(part.evidence, name)] * 6) for name in ("q", "v", "a", "tau"))
    time = np.arange(6 * part.evidence.n) * 1e-2
    starts = tuple(range(0, 6 * part.evidence.n, part.evidence.n))
    at = replace(part.evidence, **dict(zip(("q", "v", "a", "tau"), same, strict=True)), time=time)
    repeated = replace(question, compressed=None, evidence=replace(at, starts=starts, digests=("",) * 6))
    choice = choose_strength(
        repeated, Divergence(prior_of(question.robot, question.layout, question.prior)), weights
    )
    best = int(np.argmin(choice.errors))
    taken = choice.strengths.index(choice.strength)
    assert choice.standard_errors.max() < 1e-9
    assert taken < best
    assert choice.errors[taken] <= 1.02 < choice.errors[taken - 1]


def test_a_wrong_prior_is_pulled_to_less_than_a_right_one() -> None:
    strengths = []
    for factor in (1.0, 1.5, 3.0):
        question, _ = recorded("two_link", 0.1, factor=factor)
        prior = prior_of(question.robot, question.layout, question.prior)
        choice = choose_strength(question, Divergence(prior), np.array([10.0, 10.0]))
        strengths.append(choice.strength)
    assert strengths[0] > strengths[1] >= strengths[2]


def test_blocks_are_consecutive_alike_and_never_cross_two_motions() -> None:
    question, _ = recorded("two_link", 0.1, logs=3, samples=70)
    at = question.samples
    parts = list(left_out_blocks(question))
    assert len(parts) >= 6
    assert sum(part.samples.n for part in parts) == at.n
    for part in parts:
        mine = part.samples
        assert (np.diff(mine.time) > 0.0).all()  # time starts anew with each motion
        (start,) = [k for k in range(at.n) if np.array_equal(at.q[k], mine.q[0])]
        np.testing.assert_array_equal(at.tau[start : start + mine.n], mine.tau)
        assert start // 70 == (start + mine.n - 1) // 70
    sizes = [part.samples.n for part in parts]
    assert max(sizes) <= min(sizes) + 1


def test_what_cannot_be_left_out_gets_the_strength_of_a_prior_30_percent_off() -> None:
    question, _ = recorded("two_link", 0.1, samples=20)
    few = fit_entropic(question)
    assert few.detail["strength"] == UNTESTED
    assert "too few" in str(few.detail["strength_chosen"])
    kept = fit_entropic(replace(question, compressed=question.compressed, evidence=None))
    assert kept.detail["strength"] == UNTESTED


def test_friction_that_torques_call_negative_stays_positive() -> None:
    layout = layout_of(zoo_robot("two_link"), DRIVE)
    truth = np.array(layout.complete_nominal())
    truth[layout.index("joint1.viscous")] = -0.3
    truth[layout.index("joint2.viscous")] = 0.7
    question = problem("two_link", 0.0, truth=truth, prior=_links_alone(layout))
    phi = fit_entropic(question, strength=1e-3).parameters
    assert 0.0 < phi[layout.index("joint1.viscous")] < 1e-2
    assert phi[layout.index("joint2.viscous")] == pytest.approx(0.7, abs=0.2)


def _links_alone(layout: Layout) -> np.ndarray:
    n = 10 * len(layout.links)
    return np.where(np.arange(layout.size) < n, layout.nominal, np.nan)


def test_a_prior_that_cannot_be_is_replaced_and_named_and_one_that_says_nothing_refused() -> None:
    question = problem("two_link", 0.0)
    prior = np.array(question.layout.complete_nominal())
    prior[0] = -1.0
    estimate = fit_entropic(question, prior, strength=1.0)
    assert [(x.code, x.place) for x in estimate.findings] == [("impossible-prior", "link1")]
    assert check_parameters(question.layout, estimate.parameters).consistent
    prior[0] = np.nan
    with pytest.raises(InputError, match="says nothing about link1"):
        fit_entropic(question, prior)
    with pytest.raises(InputError, match="must be positive"):
        fit_entropic(question, question.layout.complete_nominal(), strength=0.0)
    other = prior_of(zoo_robot("one_link"), layout_of(zoo_robot("one_link"), DRIVE))
    with pytest.raises(InputError, match="is of other parameters"):
        fit_entropic(question, other)


@pytest.mark.parametrize("seed", [0, 1])
def test_links_of_a_simulated_arm_come_nearer_to_the_truth_than_their_prior(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A short version of bench/studies/believable_simulated.py, one arm and two seeds."""
    monkeypatch.setattr("studies.believable_simulated.CACHE", tmp_path)
    outcome = judged("ur10e", seed)
    before, after, prior = outcome.before, outcome.after, outcome.prior
    assert after.mass <= 0.5 * min(before.mass, prior.mass)
    assert after.inertia <= 0.5 * before.inertia
    assert after.torque <= before.torque
