"""A joint's gain, time constant and dead time from open-loop torques (Oaki et al. 2026, eq. (1))."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.optimize import least_squares
from scipy.special import ndtri

from steelyard.arrays import Array, checked, read_only
from steelyard.control import COMMAND_COLUMN, HeldResponse, JointModel
from steelyard.errors import InputError, NoSolutionError, RecordingError, UnknownNameError
from steelyard.recording import Recording
from steelyard.signals import recursion, uniform_interval
from steelyard.threads import with_one_blas_thread

# What an experiment on one joint leaves: its commands, and the encoder's differences.

_SAME = 1e-6
"""Relative difference of intervals that count as equal."""


@dataclass(frozen=True, eq=False)
class JointTrace:
    r"""One joint along one experiment, cycle by cycle.

    Attributes:
        joint: its name.
        interval: length of a cycle h, s.
        command: what was commanded at the beginning of each cycle and held for one, shape (N,), N·m or N.
        position: the encoder at the beginning of each cycle and at the end of the last, shape (N + 1,), rad
            or m.
    """

    joint: str
    interval: float
    command: Array
    position: Array

    def __post_init__(self) -> None:
        u = checked("command", self.command, ("N",))
        q = checked("position", self.position, (len(u) + 1,))
        object.__setattr__(self, "command", read_only(u))
        object.__setattr__(self, "position", read_only(q))

    @property
    def n(self) -> int:
        """Number of cycles N."""
        return len(self.command)

    @property
    def velocity(self) -> Array:
        """Mean velocity of each cycle by the encoder's difference, shape (N,), rad/s or m/s."""
        return np.asarray(np.diff(self.position) / self.interval)

    @property
    def displacement(self) -> Array:
        """Mean position of each cycle against the start, shape (N,), rad or m."""
        return np.asarray(0.5 * (self.position[1:] + self.position[:-1]) - self.position[0])

    @classmethod
    def of(cls, recording: Recording) -> JointTrace:
        """The excited joint of an experiment.

        Args:
            recording: a uniform log of it, one row for each cycle, see `excited_joint`.

        Raises:
            RecordingError: the log is not uniform, or not of one experiment.
        """
        joint = excited_joint(recording)
        u, q = recording.extra[COMMAND_COLUMN + joint], recording.q[:, recording.joints.index(joint)]
        # Stamps are decimal numbers; what their differences have beyond ten digits is rounding.
        return cls(joint, float(f"{uniform_interval(recording):.10g}"), u[:-1], q)


def excited_joint(recording: Recording) -> str:
    """The joint that an experiment was made on: the one whose commands were logged.

    Args:
        recording: a log with the extra column `command_` and the name of a joint.

    Returns:
        Name of the joint.

    Raises:
        RecordingError: there is no such column, or more than one.
    """
    commanded = [joint for joint in recording.joints if COMMAND_COLUMN + joint in recording.extra]
    if len(commanded) != 1:
        raise RecordingError(
            f"holds commands of {len(commanded)} joints; an experiment has those of one.",
            place="recording",
            remedy=f"Log what was commanded, N·m or N, in the column {COMMAND_COLUMN}NAME of that joint.",
        )
    return commanded[0]


def common_interval(traces: Sequence[JointTrace]) -> float:
    """The cycle of experiments on one joint.

    Args:
        traces: the experiments.

    Returns:
        Length of a cycle, s.

    Raises:
        InputError: there are none, they are of different joints, or their cycles differ.
    """
    if not traces:
        raise InputError("none is given.", place="traces")
    if len({trace.joint for trace in traces}) > 1:
        raise InputError(
            f"are of different joints: {', '.join(sorted({trace.joint for trace in traces}))}.",
            place="traces",
        )
    h = traces[0].interval
    for trace in traces:
        if abs(trace.interval - h) > _SAME * h:
            raise InputError(f"have cycles of {h:g} s and of {trace.interval:g} s.", place="traces")
    return h


# What a first-order joint answers, term by term: the columns of a fit that is linear but for T and T_d.
#
# $$M \dot v + D\,v = u(t - T_d) - o - k\,(q - q_0) - F_c \operatorname{sign}(v)$$
#
# divided by D is a lag of gain K = 1/D and time constant T = M/D, so the mean velocity of every cycle is a
# sum of answers of a lag of gain one: K times that to u, -K o times that to one, -K k times that to the
# displacement, -K F_c times that to the sign, and the velocity at the start times how it fades.

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
        late = JointModel(1.0, time_constant, dead_time).held_response(h)
        now = JointModel(1.0, time_constant).held_response(h)
        parts = []
        for r, (trace, sign) in enumerate(zip(self.traces, self.signs, strict=True)):
            disturbances = {"coulomb": sign, "stiffness": trace.displacement}
            C = np.zeros((trace.n, 1 + len(self.terms) + 2 * count))
            C[:, 0] = first_order_response(late, trace.command)
            for i, term in enumerate(self.terms):
                C[:, 1 + i] = -first_order_response(now, disturbances[term])
            own = 1 + len(self.terms) + 2 * r
            C[:, own] = -first_order_response(now, np.ones(trace.n))
            C[:, own + 1] = now.mean_start * now.pole ** np.arange(trace.n)
            parts.append(C)
        return parts


def first_order_response(held: HeldResponse, torque: Array) -> Array:
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


# The search for time constant and dead time, everything linear eliminated, and the result's covariance.

_TIME_CONSTANTS, _DEAD_TIMES, _REFINED = 14, 7, 3
_SHORTEST, _LONGEST = 2.0, 20.0
"""Bounds of the time constant, in cycles and in durations of the longest experiment."""
MEMORIES = (0.0, 0.3, 0.6, 0.8, 0.9, 0.95, 0.98)
"""Of the noise that are tried."""
_STEP = 1e-4


class Found(NamedTuple):
    """A time constant and a dead time, and the linear coefficients that go with them.

    Attributes:
        time_constant: T, s.
        dead_time: T_d, s.
        coefficients: of the columns, shape (c,), SI.
        velocity: what they say, for each experiment, each shape (N,), rad/s or m/s.
    """

    time_constant: float
    dead_time: float
    coefficients: Array
    velocity: list[Array]


class FirstOrderSearch:
    """Least squares over T and T_d for given columns and a given memory of the noise.

    Args:
        columns: the linear part.
        memory: θ, see `whitened`.
        longest_dead_time: largest T_d, s.
    """

    def __init__(self, columns: FirstOrderColumns, memory: float, longest_dead_time: float) -> None:
        self._columns, self.memory, self._longest = columns, memory, longest_dead_time
        self._cycle = common_interval(columns.traces)
        self._measured = [trace.velocity for trace in columns.traces]
        self._target = whitened(self._measured, memory)
        duration = self._cycle * max(trace.n for trace in columns.traces)
        self._bounds = (_SHORTEST * self._cycle, _LONGEST * duration)

    def everywhere(self) -> Found:
        """The best of many starts."""
        T = np.geomspace(self._bounds[0], self._bounds[1], _TIME_CONSTANTS)
        T_d = np.linspace(0.0, self._longest, _DEAD_TIMES)
        starts = [(float(a), float(b)) for a in T for b in T_d]
        costs = [float((self._left(a, b) ** 2).sum()) for a, b in starts]
        best = [self._refined(*starts[k]) for k in np.argsort(costs)[:_REFINED]]
        return self.at(*min(best, key=lambda item: item[0])[1:])

    def near(self, time_constant: float, dead_time: float) -> Found:
        """The nearest optimum.

        Args:
            time_constant: T to start from, s.
            dead_time: T_d to start from, s.

        Returns:
            What was found.
        """
        return self.at(*self._refined(time_constant, dead_time)[1:])

    def at(self, time_constant: float, dead_time: float) -> Found:
        """The linear coefficients for a time constant and a dead time.

        Args:
            time_constant: T, s.
            dead_time: T_d, s.

        Returns:
            All together.
        """
        parts = self._columns.at(time_constant, dead_time)
        c = _solved(whitened(parts, self.memory), self._target)
        return Found(time_constant, dead_time, c, [C @ c for C in parts])

    def residuals(self, found: Found) -> list[Array]:
        """What is left of the measured velocity.

        Args:
            found: the model.

        Returns:
            One array for each experiment, shape (N,), rad/s or m/s.
        """
        return [y - v for y, v in zip(self._measured, found.velocity, strict=True)]

    def covariance(self, found: Found) -> Array:
        r"""Of the linear coefficients, T and T_d, by $J^+ S J^{+T}$ with correlated residuals.

        S sums products of the gradient at cycles up to a time constant apart, with weights that fall to zero
        (Bartlett's window, as Newey and West), because what the model leaves has a memory.

        Args:
            found: the optimum.

        Returns:
            The matrix, shape (c + 2, c + 2), SI.
        """
        T, T_d, c, _ = found
        step, shift = _STEP * T, min(_STEP * T, 0.1 * self._cycle)
        slopes = [
            (after - before) / width
            for after, before, width in (
                (self._said(T + step, T_d, c), self._said(T - step, T_d, c), 2.0 * step),
                (
                    self._said(T, T_d + shift, c),
                    self._said(T, max(T_d - shift, 0.0), c),
                    shift + min(shift, T_d),
                ),
            )
        ]
        C = whitened(self._columns.at(T, T_d), self.memory)
        J = np.column_stack([C, *slopes])
        scale = np.linalg.norm(J, axis=0)
        J = J / np.where(scale > 0.0, scale, 1.0)
        gradient = J * (self._target - C @ c)[:, None]
        S = np.zeros((J.shape[1], J.shape[1]))
        ends = np.cumsum([0, *(trace.n for trace in self._columns.traces)])
        for first, last in pairwise(ends):
            S += _long_run(gradient[first:last], math.ceil(T / self._cycle))
        inverse = np.linalg.pinv(J.T @ J, hermitian=True)
        freedom = len(J) / max(len(J) - J.shape[1], 1)
        return np.asarray(freedom * inverse @ S @ inverse / np.outer(scale, scale))

    def _said(self, T: float, T_d: float, c: Array) -> Array:
        return whitened([C @ c for C in self._columns.at(T, T_d)], self.memory)

    def _left(self, T: float, T_d: float) -> Array:
        Q, _ = np.linalg.qr(whitened(self._columns.at(T, T_d), self.memory))
        return np.asarray(self._target - Q @ (Q.T @ self._target))

    def _refined(self, T: float, T_d: float) -> tuple[float, float, float]:
        """Cost, T and T_d of the optimum that a start leads to."""
        (shortest, longest), unit = self._bounds, self._cycle
        low = [math.log(shortest), 0.0]
        high = [math.log(longest), max(self._longest, 1e-9) / unit]
        start = np.clip([math.log(T), T_d / unit], low, high)
        found = least_squares(
            lambda x: self._left(math.exp(x[0]), x[1] * unit),
            start,
            bounds=(low, high),
            x_scale=[0.1, 1.0],
            diff_step=1e-6,
            max_nfev=60,
        )
        return float(found.cost), math.exp(found.x[0]), float(found.x[1]) * unit


def noise_memory(residuals: Sequence[Array]) -> float:
    r"""θ of noise $\epsilon_k - \theta \epsilon_{k-1}$, the one that leaves the smallest innovations ε.

    Args:
        residuals: one array for each experiment, each shape (N,), rad/s or m/s.

    Returns:
        θ, one of `MEMORIES`, dimensionless.
    """
    return min(MEMORIES, key=lambda theta: float((whitened(residuals, theta) ** 2).sum()))


def _solved(C: Array, y: Array) -> Array:
    """Least squares with columns of any size; of what cannot be told apart, the smallest."""
    scale = np.linalg.norm(C, axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    c, *_ = np.linalg.lstsq(C / scale, y, rcond=1e-10)
    return np.asarray(c / scale)


def _long_run(gradient: Array, reach: int) -> Array:
    """Covariance of a sum of correlated rows, shape (c, c)."""
    reach = min(reach, len(gradient) // 10)
    S = gradient.T @ gradient
    for lag in range(1, reach + 1):
        part = (1.0 - lag / (reach + 1)) * gradient[lag:].T @ gradient[:-lag]
        S += part + part.T
    return np.asarray(S)


def refuse_backwards(gain: float, joint: str) -> None:
    """Refuse a fit whose velocity goes against its torque.

    Args:
        gain: K, rad/s per N·m or m/s per N.
        joint: name of the joint.

    Raises:
        NoSolutionError: the gain is not positive.
    """
    if not gain > 0.0:
        raise NoSolutionError(
            f"joint '{joint}' does not follow its torque: the gain would be {gain:.3g}.",
            place="traces",
            remedy="Check the sign of the commands, and command larger torques than friction.",
        )


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
