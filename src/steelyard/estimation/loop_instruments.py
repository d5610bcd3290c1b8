"""Instruments from a simulation of the closed loop: the motion as the model makes it, without any noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.control import LoopSettings
from steelyard.estimation.full_set import with_full_set
from steelyard.estimation.instrumental import fit_instrumental
from steelyard.motion import Motion
from steelyard.problem import Estimate, Problem
from steelyard.threads import with_one_blas_thread

CYCLE = 1e-3
"""Control cycle where neither law nor file states one, s."""
ROUNDS = 3
"""Simulations with the model of the round before; the instruments settle faster than the estimate."""


def loop_instruments(
    problem: Problem, parameters: ArrayLike, settings: LoopSettings, motion: Motion, times: Sequence[Array]
) -> tuple[Array, Array, Array]:
    """Simulate the closed loop along a motion and read it at the samples of the logs.

    Args:
        problem: the question, for its robot and layout.
        parameters: phi, the model that is simulated, shape (p,), SI.
        settings: the controller and its delay.
        motion: what it was told to follow; its time starts with that of each log.
        times: sample times of each log, each shape (N,), s.

    Returns:
        q, shape (N, nv), rad or m; v, shape (N, nv), rad/s or m/s; and a, shape (N, nv), rad/s² or m/s²;
        of all logs, one after the other.

    Raises:
        NoSolutionError: the simulation diverges.
    """
    # Only this method simulates, and the simulation's code generator is large to load.
    from steelyard.rollout import ClosedLoop, rollout

    phi = checked("parameters", parameters, (problem.layout.size,))
    cycle = settings.cycle or CYCLE
    end = max(float(time[-1]) for time in times)
    clock = cycle * np.arange(int(np.ceil(end / cycle)) + 2)
    asked = motion.sample(clock)
    run = rollout(
        problem.robot,
        problem.layout,
        phi,
        asked.q,
        asked.v,
        asked.a,
        ClosedLoop(settings.controller, cycle, settings.delay),
    )
    a = np.gradient(run.v, cycle, axis=0)
    t = np.concatenate(list(times))
    q, v, acceleration = (
        np.column_stack([np.interp(t, run.time, column) for column in signal.T])
        for signal in (run.q, run.v, a)
    )
    return q, v, acceleration


@with_one_blas_thread
def fit_loop_instrumental(
    problem: Problem, settings: LoopSettings, motion: Motion, *, rounds: int = ROUNDS
) -> Estimate:
    r"""Instrumental variables whose instruments are simulated with the model itself (Janot et al. 2014).

    It starts with the planned motion as instruments: least squares may be bent so far that its model cannot
    be simulated. Each round simulates the closed loop with the possible links of the estimate so far, and
    fits by `fit_instrumental` with that motion.

    Args:
        problem: the question, with its samples.
        settings: the controller and its delay.
        motion: what it was told to follow; its time starts with that of each log.
        rounds: how many simulations.

    Returns:
        The estimate.

    Raises:
        NoSolutionError: a simulation diverges, or the motion hides base parameters.
    """
    at = problem.samples
    times = [at.time[part] for part in at.motions]
    planned = [motion.sample(time) for time in times]
    q, v, a = (np.vstack([getattr(sample, name) for sample in planned]) for name in "qva")
    estimate = fit_instrumental(problem, q, v, a, on_blind="infinite")
    for _ in range(rounds):
        model = with_full_set(problem, estimate).representative
        instruments = loop_instruments(problem, model, settings, motion, times)
        estimate = fit_instrumental(problem, *instruments, on_blind="infinite")
    return estimate
