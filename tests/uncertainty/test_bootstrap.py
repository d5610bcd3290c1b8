"""Block bootstrap: seeds, block lengths, and agreement with the covariance of the noise."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.errors import InputError
from steelyard.estimation import fit_least_squares
from steelyard.problem import problem_of
from steelyard.uncertainty import with_covariance
from steelyard.uncertainty.bootstrap import block_bootstrap, block_length
from uncertainty.noisy_logs import coloured, exact_log, exact_problem, noisy


def test_blocks_grow_with_the_memory_of_the_residual() -> None:
    rng = np.random.default_rng(1)
    lengths = [block_length(coloured(rng, 4000, np.ones(1), memory)) for memory in (0.0, 0.5, 0.9)]
    # Politis and White's optimum for a first-order autoregression: (6 a^2 / (1 - a^2)^2 N)^(1/3).
    best = [(6.0 * (m / (1.0 - m**2)) ** 2 * 4000) ** (1.0 / 3.0) for m in (0.5, 0.9)]
    assert lengths[0] <= 4
    np.testing.assert_allclose(lengths[1:], best, rtol=0.4)


@pytest.mark.parametrize("memory", [0.0, 0.8])
def test_its_deviations_agree_with_those_of_the_noise_model(memory: float) -> None:
    problem, _ = exact_problem("two_link", samples=1500)
    problem = noisy(problem, 2, memory)
    found = block_bootstrap(problem, fit_least_squares, np.random.default_rng(3), draws=150)
    modelled = with_covariance(problem, fit_least_squares(problem)).deviations
    ratio = np.sqrt(np.diag(found.covariance)) / modelled
    # Blocks lose some of the slowest noise; deviations come out a little small, never half.
    assert 0.7 < np.median(ratio) < 1.15
    inside = found.intervals()
    assert (inside.lower < found.estimate.values).all()
    assert (inside.upper > found.estimate.values).all()


def test_the_same_seed_gives_the_same_bits_and_motions_keep_their_own_blocks() -> None:
    problem, _ = exact_problem("two_link")
    robot, layout = problem.robot, problem.layout
    logs = [exact_log(robot, layout, layout.complete_nominal(), seed, 200) for seed in (1, 2)]
    rng = np.random.default_rng(4)
    noises = [np.zeros((200, 2)), 0.5 * rng.normal(size=(200, 2))]
    logs = [x.with_channels(tau=x.channels["tau"] + e) for x, e in zip(logs, noises, strict=True)]
    posed = problem_of(robot, layout, logs)
    first, again = (
        block_bootstrap(posed, fit_least_squares, np.random.default_rng(5), draws=4, block=7)
        for _ in range(2)
    )
    np.testing.assert_array_equal(first.draws, again.draws)
    assert first.block == 7


def test_too_few_draws_and_blocks_longer_than_a_motion_are_refused() -> None:
    problem, _ = exact_problem("two_link")
    rng = np.random.default_rng(6)
    with pytest.raises(InputError, match="draws"):
        block_bootstrap(problem, fit_least_squares, rng, draws=1)
    with pytest.raises(InputError, match="block"):
        block_bootstrap(problem, fit_least_squares, rng, draws=2, block=401)
