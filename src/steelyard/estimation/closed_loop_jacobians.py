"""Ways to the derivatives of a simulated loop that need nothing but simulations."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.dynamics import torque_regressor
from steelyard.estimation.closed_loop_run import LoopRun, block_means
from steelyard.identifiability import MinimalModel
from steelyard.rollout import Rollout

DIDIM_INTERVAL = 0.01
"""Longest stretch of simulated motion that stands for one row of the inverse-dynamics regressor, s."""
PROBE = 1e-4
"""Change of a parameter for differences, relative to its size or to the size of its kind, dimensionless."""


def didim_jacobian(model: MinimalModel, run: LoopRun, made: Rollout, cycle: float) -> Array:
    """The inverse-dynamics regressor on a simulated motion, in means over blocks as torques are.

    It takes the motion as given, as if it did not depend on the parameters. The state is averaged over
    stretches of at most `DIDIM_INTERVAL` first, a hundredth of a per cent beside what this leaves out.

    Args:
        model: the robot with its base parameters.
        run: what was measured, for its blocks.
        made: the simulated motion.
        cycle: length of a control cycle, s.

    Returns:
        Derivatives of the torques, shape (M, nv, b), SI.
    """
    stretch = max(1, min(run.average, round(DIDIM_INTERVAL / cycle)))
    while run.average % stretch:
        stretch -= 1
    a = np.gradient(made.v, cycle, axis=0) if len(made.v) > 1 else np.zeros_like(made.v)
    q, v, a = (block_means(x, stretch) for x in (made.q, made.v, a))
    Y = torque_regressor(model.robot, model.layout, q, v, a)
    return np.asarray(block_means(Y, run.average // stretch) @ model.basis)


def probes(model: MinimalModel, beta: Array) -> Array:
    """How far each parameter is moved for differences: by its size, or by a tenth of its kind's median.

    Args:
        model: the base parameters.
        beta: their values, shape (b,), SI.

    Returns:
        Changes, shape (b,), SI.
    """
    units = np.array(model.units)
    kinds = {unit: float(np.median(np.abs(beta[units == unit]))) for unit in set(model.units)}
    least = np.array([0.1 * kinds[unit] for unit in model.units])
    least[least == 0.0] = 0.1 * float(np.abs(beta).max(initial=0.0)) or 1.0
    return np.asarray(PROBE * np.maximum(np.abs(beta), least))
