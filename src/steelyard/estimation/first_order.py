"""A joint's gain, time constant and dead time from experiments with open-loop torques (paper 004, (1))."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from steelyard.arrays import Array, read_only
from steelyard.control import JointModel
from steelyard.errors import InputError, NoSolutionError, UnknownNameError
from steelyard.estimation.first_order_columns import TERMS, FirstOrderColumns
from steelyard.estimation.first_order_search import FirstOrderSearch, Found, noise_memory, refuse_backwards
from steelyard.estimation.joint_trace import JointTrace, common_interval
from steelyard.threads import with_one_blas_thread

LONGEST_DEAD_TIME = 0.02
"""Longest dead time looked for unless stated, s."""
CONFIDENCE = 0.95
"""Of the intervals."""
_QUANTILE = float(ndtri(0.5 + 0.5 * CONFIDENCE))
_ROUNDS, _SETTLED = 12, 1e-4
"""Most repetitions of signs and memory, and the relative change of the time constant that ends them."""
_SMOOTHED, _LONGEST_MEAN = 0.1, 0.02
"""Velocities are averaged where they are compared for people: over time constants, and at most, s."""


@dataclass(frozen=True, eq=False)
class FirstOrderFit:
    """A joint model with what the data leaves open.

    Attributes:
        joint: name of the joint.
        model: gain, time constant and dead time.
        covariance: of K, T and T_d in this order, shape (3, 3), SI.
        coulomb: F_c, N·m or N; None where it was not asked for.
        coulomb_deviation: its standard deviation, N·m or N.
        stiffness: k, torque against the displacement per displacement, N·m/rad or N/m; None where it was not
            asked for.
        stiffness_deviation: its standard deviation, N·m/rad or N/m.
        interval: length of a cycle, s.
        velocity: mean velocity of each cycle by the model, one array for each experiment, shape (N,), rad/s
            or m/s.
        unexplained: root mean square of what the model leaves of the velocity over that of the velocity, both
            averaged over a tenth of the time constant or 20 ms, dimensionless.
        memory: θ of the noise, see `whitened`, dimensionless.
    """

    joint: str
    model: JointModel
    covariance: Array
    coulomb: float | None
    coulomb_deviation: float
    stiffness: float | None
    stiffness_deviation: float
    interval: float
    velocity: tuple[Array, ...]
    unexplained: float
    memory: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "covariance", read_only(self.covariance))
        object.__setattr__(self, "velocity", tuple(read_only(part) for part in self.velocity))

    @property
    def half_widths(self) -> Array:
        """Half widths of the 95 % intervals of K, T and T_d, shape (3,), SI."""
        return np.asarray(_QUANTILE * np.sqrt(np.diag(self.covariance)))

    @property
    def inertia_half_width(self) -> float:
        """Half width of the 95 % interval of M = T / K, kg·m² or kg."""
        K, T = self.model.gain, self.model.time_constant
        return self._half_width(np.array([-T / K**2, 1.0 / K, 0.0]))

    @property
    def viscous_half_width(self) -> float:
        """Half width of the 95 % interval of D = 1 / K, N·m·s/rad or N·s/m."""
        return self._half_width(np.array([-1.0 / self.model.gain**2, 0.0, 0.0]))

    def _half_width(self, gradient: Array) -> float:
        return float(_QUANTILE * math.sqrt(gradient @ self.covariance @ gradient))


@with_one_blas_thread
def fit_first_order(
    traces: Sequence[JointTrace],
    *,
    terms: Sequence[str] = ("coulomb", "stiffness"),
    longest_dead_time: float = LONGEST_DEAD_TIME,
) -> FirstOrderFit:
    r"""Fit $G(s) = K e^{-s T_d} / (1 + T s)$ by output error: the model is simulated, not fed with its data.

    Commands are held for a cycle, which is solved exactly, also where the dead time is no whole number of
    cycles, and compared with the encoder's differences. An offset and a velocity at the start are fitted for
    each experiment. Everything but T and T_d is linear and eliminated; those two are searched from many
    starts.

    Coulomb friction, left out, is taken for viscous friction. At a square wave of amplitude A that lasts
    until the speed is steady the gain comes out as $K (1 - F_c / A)$, at a shorter one smaller still; the
    time constant shrinks with it, so that the inertia is hardly touched.
    With the term, the sign of the velocity is that of the fitted model, found by repetition; a joint that
    stays stuck for a good part of the time is beyond it. Stiffness is the slope of gravity about the posture.

    The noise of differences is negatively correlated, because the encoder's steps return. Its memory is
    estimated and taken out. Intervals allow for the correlation that then remains.

    Args:
        traces: experiments on one joint.
        terms: those of `TERMS` to fit besides the model.
        longest_dead_time: largest T_d looked for, s.

    Returns:
        The fit.

    Raises:
        UnknownNameError: no such term.
        InputError: the experiments do not belong together, are too short, or an option is out of range.
        NoSolutionError: the joint does not move, or does not follow its torque.
    """
    for term in terms:
        if term not in TERMS:
            raise UnknownNameError("term", term, TERMS)
    common_interval(traces)
    if not (math.isfinite(longest_dead_time) and longest_dead_time >= 0.0):
        raise InputError(
            f"must be finite and not negative, got {longest_dead_time} s.", place="longest_dead_time"
        )
    y = [trace.velocity for trace in traces]
    N = sum(len(part) for part in y)
    if 4 * (3 + len(terms) + 2 * len(traces)) > N:
        raise InputError(f"hold {N} cycles, too few for a fit.", place="traces")
    if not any(part.any() for part in y):
        raise NoSolutionError(
            f"joint '{traces[0].joint}' does not move.", place="traces", remedy="Command larger torques."
        )
    nothing = tuple(np.zeros(trace.n) for trace in traces)
    columns = FirstOrderColumns(tuple(traces), tuple(term for term in terms if term != "coulomb"), nothing)
    search = FirstOrderSearch(columns, 0.0, longest_dead_time)
    found = search.everywhere()
    # The signs of the velocity and the memory of the noise follow from a fit, and the fit from them.
    for _ in range(_ROUNDS):
        before = found
        signs = tuple(np.sign(part) for part in found.velocity) if "coulomb" in terms else nothing
        columns = FirstOrderColumns(tuple(traces), tuple(terms), signs)
        search = FirstOrderSearch(columns, noise_memory(search.residuals(found)), longest_dead_time)
        found = search.near(found.time_constant, found.dead_time)
        if abs(found.time_constant / before.time_constant - 1.0) < _SETTLED:
            break
    return _fit(search, found, tuple(traces), tuple(terms))


def _fit(
    search: FirstOrderSearch, found: Found, traces: tuple[JointTrace, ...], terms: tuple[str, ...]
) -> FirstOrderFit:
    c, h = found.coefficients, traces[0].interval
    K = float(c[0])
    refuse_backwards(K, traces[0].joint)
    V = search.covariance(found)
    kept = [0, len(c), len(c) + 1]
    values: dict[str, tuple[float | None, float]] = dict.fromkeys(TERMS, (None, math.nan))
    for i, term in enumerate(terms, start=1):
        x = float(c[i]) / K
        # x = c_i / K, so its gradient is 1/K in c_i and -x/K in K.
        variance = (V[i, i] - 2.0 * x * V[0, i] + x**2 * V[0, 0]) / K**2
        values[term] = x, math.sqrt(max(float(variance), 0.0))
    width = max(round(min(_SMOOTHED * found.time_constant, _LONGEST_MEAN) / h), 1)
    left = np.concatenate([_averaged(part, width) for part in search.residuals(found)])
    shown = np.concatenate([_averaged(trace.velocity, width) for trace in traces])
    return FirstOrderFit(
        traces[0].joint,
        JointModel(K, found.time_constant, found.dead_time),
        V[np.ix_(kept, kept)],
        *values["coulomb"],
        *values["stiffness"],
        h,
        tuple(found.velocity),
        float(np.linalg.norm(left) / np.linalg.norm(shown)),
        search.memory,
    )


def _averaged(x: Array, width: int) -> Array:
    """Running means, shorter than x by the width less one."""
    width = min(width, len(x))
    return np.convolve(x, np.full(width, 1.0 / width), mode="valid")
