"""What noise does to a payload, against theory, and the findings of Lambert (2023), sections 5.2 and 5.4."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio
import pytest

from oracles.pinocchio_robot import pinocchio_model
from steelyard.archive import from_document, to_document
from steelyard.errors import InputError, UnknownNameError
from steelyard.inertia import change_of_frame
from steelyard.motion import Motion, SinusoidMotion
from steelyard.payloads import (
    PAPERS_OBJECT,
    Noise,
    SensitivityPlan,
    SensitivityTable,
    study_motions,
    study_sensitivity,
)
from steelyard.zoo import zoo_robot

PANDA = zoo_robot("panda")
STATES, TORQUES = Noise(0.01, 0.01), Noise(torque=0.01)
SIZES = np.array([1.0, 0.1, 0.1, 0.1, *(6 * [0.01])])
INERTIAS = slice(4, 10)


@cache
def motions(count: int = 4) -> dict[str, tuple[Motion, ...]]:
    return study_motions(PANDA, ("sinusoid", "pick-and-place"), count, np.random.default_rng(3))


def study(*noises: Noise, seed: int = 0, **plan: object) -> SensitivityTable:
    kinds = plan.pop("kinds", ("sinusoid",))
    chosen = {kind: motions()[kind] for kind in kinds}  # type: ignore[attr-defined]
    asked = SensitivityPlan(PANDA, chosen, noises=noises, **plan)  # type: ignore[arg-type]
    return study_sensitivity(asked, np.random.default_rng(seed))


def data_matrix(motion: Motion, rate: float) -> np.ndarray:
    """Columns of the payload's ten numbers by Pinocchio, which states them in the same order."""
    model = pinocchio_model(PANDA, np.array([link.body.parameters for link in PANDA.links]))
    data = model.createData()
    at = motion.sample(np.arange(0.0, motion.duration, 1.0 / rate))
    blocks = [
        np.array(pinocchio.computeJointTorqueRegressor(model, data, *states))[:, -10:]
        for states in zip(at.q, at.v, at.a, strict=True)
    ]
    return np.vstack(blocks) @ change_of_frame(PANDA.tool_frame.placement)


def geometric_mean(ratios: np.ndarray) -> float:
    return float(np.exp(np.mean(np.log(ratios))))


@pytest.mark.parametrize(("name", "within"), [("none", 1e-4), ("clean", 1e-4), ("butterworth", 1e-3)])
def test_without_noise_plain_least_squares_gives_the_payload(name: str, within: float) -> None:
    table = study(Noise(), filters=(name,), trials=1)
    assert np.abs(table.cells[0].errors / SIZES).max() < within


@pytest.mark.parametrize("name", ["prepared", "weighted", "momentum"])
def test_with_hardly_any_noise_our_own_ways_give_the_payload(name: str) -> None:
    table = study(Noise(1e-7, 1e-7, 1e-6), filters=(name,), trials=1)
    assert table.cells[0].refused == 0
    assert np.abs(table.cells[0].errors / SIZES).max() < 2e-3


def test_errors_under_torque_noise_are_those_of_theory() -> None:
    """Two runs, each with noise σ: the covariance is 2σ²(AᵀA)⁻¹, with A by Pinocchio."""
    table = study(TORQUES, filters=("none",), trials=120)
    A = data_matrix(motions()["sinusoid"][0], table.rate)
    expected = np.sqrt(2.0 * TORQUES.torque**2 * np.diag(np.linalg.inv(A.T @ A)))
    ratio = table.cells[0].rms / expected
    # 120 squares of normal numbers: the root of their mean is within 1 ± 0.065, four times over.
    assert np.abs(ratio - 1.0).max() < 0.26
    assert abs(geometric_mean(ratio) - 1.0) < 0.1
    assert table.spreads[0].conditions[0] == pytest.approx(np.linalg.cond(A), rel=1e-6)


def test_accelerations_from_noisy_states_ruin_plain_least_squares_and_clean_ones_do_not() -> None:
    table = study(STATES, filters=("none", "clean"), trials=6)
    noisy, clean = (table.cell("sinusoid", STATES, name) for name in ("none", "clean"))
    truth = PAPERS_OBJECT.parameters
    moments = [4, 6, 9]
    assert (noisy.rms[moments] > truth[moments]).all()
    assert noisy.rms[0] > 0.02 * truth[0]
    assert clean.rms[0] < 0.005 * truth[0]
    assert geometric_mean(noisy.rms / clean.rms) > 10.0
    # It is a bias: another trial is off by the same.
    assert abs(noisy.mean[0]) > 5.0 * noisy.deviation[0]


def test_faster_sampling_makes_differences_of_noisy_states_worse() -> None:
    slow, fast = (study(STATES, filters=("none",), trials=1, rate=rate).cells[0] for rate in (200.0, 1000.0))
    assert fast.rms[0] > 3.0 * slow.rms[0]
    assert fast.rms[0] > 0.25 * PAPERS_OBJECT.mass


def test_our_default_preparation_beats_no_filter_where_states_are_noisy() -> None:
    noise = Noise(1e-3, 1e-3)
    table = study(noise, filters=("none", "prepared", "weighted"), trials=4)
    raw, ours, weighted = (table.cell("sinusoid", noise, name) for name in table.filters)
    assert ours.refused == weighted.refused == 0
    assert ours.rms[0] < 0.8 * raw.rms[0]
    assert geometric_mean(weighted.rms / raw.rms) < 0.5


def test_our_default_preparation_is_never_far_behind_a_plain_butterworth_on_the_papers_own_noise() -> None:
    kinds, filters = ("sinusoid", "pick-and-place"), ("butterworth", "prepared", "weighted")
    table = study(STATES, filters=filters, trials=4, kinds=kinds)
    for kind in kinds:
        plain, *ours = (table.cell(kind, STATES, name) for name in filters)
        for cell in ours:
            assert cell.refused == 0
            assert cell.rms[0] < 3.0 * plain.rms[0]


def test_our_default_preparation_is_far_better_where_velocities_are_differences_of_positions() -> None:
    rate, position = 200.0, 1e-4
    noise = Noise(position, position * rate / np.sqrt(2.0))  # of central differences
    table = study(noise, filters=("none", "prepared"), trials=2, rate=rate)
    raw, ours = (table.cell("sinusoid", noise, name) for name in table.filters)
    assert geometric_mean(ours.rms / raw.rms) < 0.01


def test_the_papers_filter_and_momentum_beat_no_filter_where_states_are_noisy() -> None:
    table = study(STATES, filters=("none", "butterworth", "momentum"), trials=3)
    raw = table.cell("sinusoid", STATES, "none").rms
    for name in ("butterworth", "momentum"):
        assert geometric_mean(table.cell("sinusoid", STATES, name).rms / raw) < 0.2


def test_pick_and_place_is_worse_conditioned_and_concentrates_its_error() -> None:
    table = study(TORQUES, filters=("none",), trials=1, kinds=("sinusoid", "pick-and-place"))
    waving, carrying = table.spreads
    assert waving.conditions.max() < 20.0
    assert carrying.conditions.mean() > 100.0
    grown = carrying.rms / waving.rms
    assert grown[0] < 5.0  # the mass is weighed nearly as well
    assert grown[INERTIAS].max() > 20.0
    assert grown.max() > 10.0 * grown.min()


def test_the_running_mass_converges_as_one_over_the_root_of_the_samples() -> None:
    louder = Noise(torque=0.1)
    table = study(TORQUES, louder, filters=("none",), trials=10)
    for running, sigma in zip(table.running, (0.01, 0.1), strict=True):
        off = np.abs(running.mass - PAPERS_OBJECT.mass)
        assert off[:, -1].max() < 0.15 * sigma
        early = int(np.searchsorted(running.samples, running.samples[-1] // 20))
        assert off[:, -1].mean() < 0.5 * off[:, early].mean()
        assert running.samples[-1] == 2000


def test_the_last_running_mass_is_that_of_all_samples_at_once() -> None:
    table = study(TORQUES, filters=("none",), trials=3)
    at_once = table.cells[0].errors[:, 0] + PAPERS_OBJECT.mass
    assert np.abs(table.running[0].mass[:, -1] - at_once).max() < 1e-9


def test_filters_see_the_same_noise_and_the_same_seed_gives_the_same_bits() -> None:
    alone = study(STATES, TORQUES, filters=("none",), trials=2)
    beside = study(STATES, TORQUES, filters=("clean", "none"), trials=2)
    other = study(STATES, TORQUES, filters=("none",), trials=2, seed=1)
    for noise in (STATES, TORQUES):
        mine = alone.cell("sinusoid", noise, "none").errors
        assert (mine == beside.cell("sinusoid", noise, "none").errors).all()
        assert (mine != other.cell("sinusoid", noise, "none").errors).all()


def test_a_trial_without_an_answer_is_counted_with_its_reason() -> None:
    whole = motions()["sinusoid"][0]
    assert isinstance(whole, SinusoidMotion)
    short = SinusoidMotion(
        whole.joints, 0.3, whole.centre, whole.amplitude, whole.frequency, whole.phase, whole.robot
    )
    filters = ("none", "butterworth", "prepared")
    plan = SensitivityPlan(PANDA, {"short": [short]}, noises=(TORQUES,), filters=filters, trials=2)
    answered, *refused = study_sensitivity(plan, np.random.default_rng(0)).cells
    assert (answered.answered, answered.refused, answered.reason) == (2, 0, "")
    for cell in refused:
        assert (cell.answered, cell.refused) == (0, 2)
        assert "samples" in cell.reason
        assert np.isnan(cell.rms).all()


def test_a_study_survives_a_trip_through_json() -> None:
    table = study(TORQUES, filters=("none",), trials=2)
    again = from_document(SensitivityTable, to_document(table))
    assert (again.cells[0].errors == table.cells[0].errors).all()
    assert (again.running[0].samples == table.running[0].samples).all()
    assert again.noises == table.noises == (TORQUES,)
    with pytest.raises(ValueError, match="read-only"):
        again.cells[0].errors[0, 0] = 1.0


def test_what_cannot_be_studied_is_refused_with_the_choices() -> None:
    with pytest.raises(UnknownNameError, match=r"none, clean, butterworth, prepared, weighted, momentum"):
        study(TORQUES, filters=("kalman",))
    with pytest.raises(InputError, match="noise of torque"):
        Noise(torque=-1.0)
    with pytest.raises(InputError, match="trials"):
        study(TORQUES, trials=0)
    with pytest.raises(InputError, match="rate"):
        study(TORQUES, rate=0.0)
    with pytest.raises(InputError, match="9 samples of a motion of 10 s; 10 are needed"):
        study(TORQUES, rate=0.9)
    assert study(TORQUES, filters=("clean",), trials=1, rate=1.0).cells
    with pytest.raises(InputError, match="noises"):
        study()
    with pytest.raises(UnknownNameError, match="sinusoid"):
        study(TORQUES, filters=("none",), trials=1).cell("sinusoid", STATES, "none")
