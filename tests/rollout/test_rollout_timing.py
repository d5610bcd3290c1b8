"""How a delay divides the control cycle."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.rollout.closed_loop import SCHEMES, divide_cycle


@pytest.mark.parametrize("delay", [0.0, 1e-4, 5e-4, 9e-4, 1e-3, 1.5e-3, 2.9999e-3, 3e-3])
@pytest.mark.parametrize("steps", [1, 3, 4])
def test_steps_fill_the_cycle_and_none_is_longer_than_asked(delay: float, steps: int) -> None:
    timing = divide_cycle(1e-3, delay, steps)
    early, late = timing.early_steps * timing.early_step, timing.late_steps * timing.late_step
    assert early + late == pytest.approx(1e-3, rel=1e-12)
    assert timing.lag * 1e-3 + early == pytest.approx(delay, abs=1e-15)
    assert max(timing.early_step, timing.late_step) <= 1e-3 / steps * (1 + 1e-12)
    assert timing.early_steps + timing.late_steps <= steps + 1


def test_a_delay_of_whole_cycles_is_not_split_by_rounding() -> None:
    for cycles in range(1, 50):
        timing = divide_cycle(0.001, 0.001 * cycles, 1)
        assert (timing.lag, timing.early_steps, timing.late_steps) == (cycles, 0, 1)
        timing = divide_cycle(0.1, sum([0.1] * cycles), 2)
        assert (timing.lag, timing.early_steps, timing.late_steps) == (cycles, 0, 2)


def test_weights_of_every_scheme_add_to_one() -> None:
    for scheme in SCHEMES.values():
        assert np.sum(scheme.weights) == pytest.approx(1.0)
        assert scheme.nodes[0] == 0.0
