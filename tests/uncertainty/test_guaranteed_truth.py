"""The truth is inside while errors keep their bounds: a reduced version of the study `payload_bounds`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.errors import InputError
from steelyard.recording import Recording
from steelyard.uncertainty.guaranteed import ContradictionError, GuaranteedBounds, guaranteed_payload

from .payload_logs import Run, run_of, with_errors


def bounds_of(run: Run, pattern: str, **more: int) -> GuaranteedBounds:
    log = with_errors(run, pattern, np.random.default_rng(7))
    phi = run.layout.complete_nominal()
    return guaranteed_payload(run.robot, run.layout, phi, [log], run.held, run.errors, run.prior, **more)


@pytest.mark.parametrize(
    ("name", "pattern"), [("kinova_gen3", "adversarial"), ("panda", "bias"), ("panda", "uniform")]
)
def test_the_payload_is_inside(name: str, pattern: str) -> None:
    run = run_of(name, 11)
    bounds = bounds_of(run, pattern)
    assert bounds.contains(run.ten)
    assert (bounds.half_width[:4] < 0.5 * run.prior.spread[:4]).all()


def test_a_second_pass_narrows_and_still_holds() -> None:
    run = run_of("kinova_gen3", 12)
    once, twice = bounds_of(run, "uniform", passes=1), bounds_of(run, "uniform", passes=2)
    assert once.contains(run.ten)
    assert twice.contains(run.ten)
    assert (twice.half_width <= once.half_width * (1.0 + 1e-6)).all()
    assert (twice.half_width < 0.9 * once.half_width).any()
    assert twice.prior.upper[0] == run.prior.upper[0]
    assert set(once.assumptions) == set(twice.assumptions)
    with pytest.raises(InputError, match="at least 1"):
        bounds_of(run, "uniform", passes=0)


def test_two_logs_of_one_payload_say_more_than_one() -> None:
    run = run_of("kinova_gen3", 12)
    phi = run.layout.complete_nominal()
    one, other = run.log.window(end=0.5), run.log.window(start=0.5)
    first, both = (
        guaranteed_payload(run.robot, run.layout, phi, logs, run.held, run.errors, run.prior, passes=1)
        for logs in ([one], [one, other])
    )
    assert both.rows > first.rows
    assert both.contains(run.ten)
    assert (both.half_width <= first.half_width * (1.0 + 1e-6)).all()


@pytest.mark.parametrize(("name", "model"), [("kinova_gen3", 0.05), ("two_link", 0.001)])
def test_an_empty_run_narrows_the_bounds_and_shows_a_scale_that_a_payload_hides(
    name: str, model: float
) -> None:
    run = run_of(name, 14, duration=0.6, torque=(0.01, 0.05), model=model)
    # Torques without load need not change more slowly.
    errors = replace(run.errors, torque_rate=3.0 * run.errors.torque_rate)
    arm = run.robot, run.layout, run.layout.complete_nominal()

    def bounds(times: float, *empty: Recording) -> GuaranteedBounds:
        logs = [log.with_channels(tau=times * log.tau) for log in (run.log, *empty)]
        return guaranteed_payload(*arm, logs[:1], run.held, errors, run.prior, empty=logs[1:])

    alone, both = bounds(1.0), bounds(1.0, run.bare)
    assert alone.contains(run.ten)
    assert both.contains(run.ten)
    assert (both.half_width <= alone.half_width * (1.0 + 1e-6)).all()
    assert "In the empty runs the arm holds nothing." in both.untested
    if name == "kinova_gen3":
        assert (both.half_width[:4] < 0.95 * alone.half_width[:4]).any()
    else:
        assert not bounds(1.1).contains(run.ten)
        with pytest.raises(ContradictionError, match="an empty run"):
            bounds(1.1, run.bare)


def test_a_sliding_joint_carries_a_payload_too() -> None:
    run = run_of("scara", 13)
    assert bounds_of(run, "uniform").contains(run.ten)
