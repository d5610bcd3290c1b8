"""Backlash: the encoder's play, what a log shows of it, and what it leaves alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.errors import InputError
from steelyard.motion import random_fourier
from steelyard.recording import Recording
from steelyard.simulation import Plant, SensorPreset, simulate_motion
from steelyard.simulation.sensing import PlayGear
from steelyard.zoo import zoo_robot

ROBOT = zoo_robot("two_link")
CLEAN = SensorPreset(name="clean")


def logged(backlash: object = 0.0, **options: object) -> Recording:
    motion = random_fourier(ROBOT, np.random.default_rng(3))
    given = {"sensor": CLEAN, "duration": 0.5, "rng": np.random.default_rng(1), **options}
    return simulate_motion(ROBOT, motion, backlash=backlash, **given)  # type: ignore[arg-type]


def followed(gap: float, path: np.ndarray) -> np.ndarray:
    gear = PlayGear(np.array([gap]), path[:1])
    seen = []
    for q in path:
        gear.follow(np.array([q]))
        seen.append(gear.position[0])
    return np.array(seen)


def test_after_a_reversal_the_first_gap_of_the_motion_is_not_seen() -> None:
    there, back = np.linspace(0, 1, 1001), np.linspace(1, 0, 1001)
    seen = followed(0.1, np.concatenate([there, back]))
    np.testing.assert_allclose(seen[51:1001], there[51:] - 0.05, atol=1e-12)
    still = back > 0.9 + 1e-9
    np.testing.assert_allclose(seen[1001:][still], 0.95, atol=1e-12)
    np.testing.assert_allclose(seen[1001:][~still], back[~still] + 0.05, atol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_the_encoder_stays_within_half_a_gap_and_moves_no_further_than_it_must(seed: int) -> None:
    rng = np.random.default_rng(seed)
    path = np.cumsum(rng.standard_normal(500) * 0.05)
    seen = followed(0.2, path)
    off = seen - path
    assert (np.abs(off) <= 0.1 + 1e-12).all()
    moved = np.diff(seen) != 0.0
    np.testing.assert_allclose(np.abs(off[1:][moved]), 0.1, atol=1e-12)
    # The path traced at another speed leaves the encoder in the same places.
    slow = followed(0.2, np.interp(np.arange(0, 499.01, 0.25), np.arange(500), path))
    np.testing.assert_allclose(slow[::4], seen, atol=1e-12)


def test_a_turn_smaller_than_the_gap_is_not_seen_at_all() -> None:
    path = 0.04 * np.sin(np.linspace(0, 20, 400))
    assert not followed(0.1, path).any()


def test_no_backlash_is_the_log_it_was() -> None:
    one, other = logged(), logged(np.zeros(2))
    for name in ("q", "v", "tau"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert "backlash" not in one.provenance[0].detail


def test_the_play_is_that_of_the_true_position_behind_the_log() -> None:
    gap = np.array([2e-3, 0.0])
    plant = Plant(ROBOT, backlash=gap)
    plant.place([0.3, -0.2], [0.0, 0.0])
    for k in range(200):
        plant.advance(5.0 * np.sin([0.05 * k, 0.03 * k]), 1e-3)
        off = plant.encoder - plant.q
        assert abs(off[0]) <= 1e-3 + 1e-12
        assert off[1] == 0.0
    plant.place([0.3, -0.2], [0.0, 0.0])
    np.testing.assert_array_equal(plant.encoder, [0.3, -0.2])


def test_a_run_with_backlash_is_reproducible_and_tells_it() -> None:
    one, other, without = logged(2e-3), logged(2e-3), logged()
    np.testing.assert_array_equal(one.q, other.q)
    assert list(one.provenance[0].detail["backlash"]) == [2e-3, 2e-3]  # type: ignore[call-overload]
    # The play disturbs the loop, and the log misses the position by about half of it.
    assert 1e-4 < np.abs(one.q - without.q).max() < 1e-2


def test_the_truth_knows_no_play() -> None:
    with pytest.raises(InputError, match="backlash: sensor preset 'ideal' logs the true state"):
        logged(1e-3, sensor="ideal")


@pytest.mark.parametrize("bad", [-1e-3, np.nan, [1e-3], [1e-3, -1e-3]])
def test_an_impossible_backlash_is_refused(bad: object) -> None:
    with pytest.raises(InputError, match=r"^backlash: "):
        logged(bad)
    with pytest.raises(InputError, match=r"^backlash: "):
        Plant(replace(ROBOT), backlash=bad)  # type: ignore[arg-type]
