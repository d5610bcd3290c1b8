r"""What a first-order joint answers, term by term: the columns of a fit that is linear but for T and T_d.

$$M \dot v + D\,v = u(t - T_d) - o - k\,(q - q_0) - F_c \operatorname{sign}(v)$$

divided by D is a lag of gain K = 1/D and time constant T = M/D, so the mean velocity of every cycle is a sum
of answers of a lag of gain one: K times that to u, -K o times that to one, -K k times that to the
displacement, -K F_c times that to the sign, and the velocity at the start times how it fades.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.control import HeldResponse, JointModel, held_response
from steelyard.estimation.joint_trace import JointTrace, common_interval
from steelyard.signals import recursion

TERMS = {"coulomb": "N·m or N", "stiffness": "N·m/rad or N/m"}
"""What may act on the joint besides viscous friction and an offset, with its unit."""


@dataclass(frozen=True, eq=False)
class FirstOrderColumns:
    """The linear part of the fit for a family of experiments.

    Attributes:
        traces: the experiments.
        terms: those of `TERMS` that are fitted.
        signs: sign of the velocity in each cycle of each experiment, each shape (N,), dimensionless.
    """

    traces: tuple[JointTrace, ...]
    terms: tuple[str, ...]
    signs: tuple[Array, ...]

    def at(self, time_constant: float, dead_time: float) -> list[Array]:
        """Columns for the gain, the terms in their order, then offset and start of each experiment.

        Args:
            time_constant: T, s.
            dead_time: T_d, s.

        Returns:
            One array for each experiment, shape (N, 1 + terms + 2 experiments), SI.
        """
        h, count = common_interval(self.traces), len(self.traces)
        late = held_response(JointModel(1.0, time_constant, dead_time), h)
        now = held_response(JointModel(1.0, time_constant), h)
        parts = []
        for r, (trace, sign) in enumerate(zip(self.traces, self.signs, strict=True)):
            disturbances = {"coulomb": sign, "stiffness": trace.displacement}
            C = np.zeros((trace.n, 1 + len(self.terms) + 2 * count))
            C[:, 0] = answer(late, trace.command)
            for i, term in enumerate(self.terms):
                C[:, 1 + i] = -answer(now, disturbances[term])
            own = 1 + len(self.terms) + 2 * r
            C[:, own] = -answer(now, np.ones(trace.n))
            C[:, own + 1] = now.mean_start * now.pole ** np.arange(trace.n)
            parts.append(C)
        return parts


def answer(held: HeldResponse, torque: Array) -> Array:
    """Mean velocities of a lag of gain one, at rest at the start, to held torques that are zero before it.

    Args:
        held: the lag.
        torque: one value for each cycle, shape (N,), N·m or N.

    Returns:
        Mean velocity of each cycle, shape (N,), same unit as the torque.
    """
    n, N = held.lag, len(torque)
    padded = np.concatenate([np.zeros(min(n + 1, N + 1)), torque])
    old, new = padded[:N], padded[1 : N + 1]
    v_end = recursion([-held.pole], held.velocity_old * old + held.velocity_new * new)
    v = np.concatenate([[0.0], v_end[:-1]])
    return np.asarray(held.mean_start * v + held.mean_old * old + held.mean_new * new)


def whitened(parts: Sequence[Array], memory: float) -> Array:
    r"""Filter each experiment's rows by $1 / (1 - \theta z^{-1})$ and stack them.

    A difference of an encoder's readings has the noise $n_k - n_{k-1}$; with θ = 1 the filter sums
    differences up again, so that positions are compared, with θ = 0 velocities are.

    Args:
        parts: rows of each experiment, each shape (N,) or (N, c), SI.
        memory: θ, from 0 to less than 1, dimensionless.

    Returns:
        All rows, shape (sum of N,) or (sum of N, c), SI.
    """
    return np.concatenate([recursion([-memory], part) for part in parts])
