"""How far measurements and the robot's model can be off, and whether a log is of one motion."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError, NoSolutionError
from steelyard.layout import Layout
from steelyard.recording import Recording
from steelyard.robot import Robot

# How far measurements and the robot's model can be off: the assumptions behind a guaranteed bound.
#
# A guarantee is worth what it assumes. Everything that is assumed of the errors is a number here, and
# `assumptions` says all of them in words, so that a result can carry them along. They are the errors of the
# numbers that are used: a log that was filtered, shifted or differentiated has the errors of that too.


@dataclass(frozen=True, eq=False)
class ErrorBounds:
    r"""Bounds on every error between a log and the model of the robot that made it.

    With hats for what is measured, at every sample and joint,

    $$|\hat\tau - \tau| \le r\,|\tau| + a, \qquad |\hat v - v| \le \varepsilon_v, \qquad
      |\hat q - q| \le \varepsilon_q,$$

    and between samples $|\dot v| \le \alpha$. Of τ between samples either $|\dot\tau| \le \rho$ is known, but
    for the jump of Coulomb friction where a velocity turns; or that it holds; or that it stays between the
    two samples' values.

    Attributes:
        joints: names of the joints.
        torque_relative: r, below one, shape (nv,), dimensionless.
        torque_absolute: a, shape (nv,), N·m or N.
        velocity: ε_v, shape (nv,), rad/s or m/s.
        position: ε_q, shape (nv,), rad or m.
        acceleration: α, shape (nv,), rad/s² or m/s².
        parameters: largest error of each of the robot's parameters, rotor inertias too, shape (p,), SI.
        torque_rate: ρ, shape (nv,), N·m/s or N/s; None where no rate is known.
        torque_holds: where no rate is known, whether each torque holds until the next sample; otherwise it
            stays between the values of the two, which a torque that holds does too.
        delay: D, s: the torque logged at t is that of some instant from t - D to t + D, off by the same time
            throughout a window; each joint and window by its own.
        delay_steady: whether each joint's delay is the same throughout all recordings, which is then one more
            unknown.
    """

    joints: tuple[str, ...]
    torque_relative: Array
    torque_absolute: Array
    velocity: Array
    position: Array
    acceleration: Array
    parameters: Array
    torque_rate: Array | None = None
    delay: float = 0.0
    torque_holds: bool = True
    delay_steady: bool = False

    def __post_init__(self) -> None:
        nv = len(self.joints)
        for name in (*_PER_JOINT, "parameters"):
            value = getattr(self, name)
            if value is None:
                continue
            array = checked(name, value, ("p",) if name == "parameters" else (nv,))
            if (array < 0.0).any():
                raise InputError(f"must not be negative, got {array.min():g}.", place=name)
            object.__setattr__(self, name, read_only(array))
        if not 0.0 <= self.delay < np.inf:
            raise InputError(f"must be finite and not negative, got {self.delay:g}.", place="delay")
        if (self.torque_relative >= 1.0).any():
            raise InputError(
                f"must be below one, got {self.torque_relative.max():g}.",
                place="torque_relative",
                remedy="A torque that may be off by all of itself says nothing; 0.025 is 2.5 %.",
            )

    @classmethod
    def stated(
        cls,
        robot: Robot,
        layout: Layout,
        parameters: ArrayLike,
        *,
        torque: tuple[ArrayLike, ArrayLike],
        model: ArrayLike,
        velocity: ArrayLike,
        position: ArrayLike = 0.0,
        acceleration: ArrayLike | None = None,
        torque_rate: ArrayLike | None = None,
        delay: float = 0.0,
        torque_holds: bool = True,
        delay_steady: bool = False,
    ) -> ErrorBounds:
        """Bounds as people state them: one number for all joints, or one for each.

        Args:
            robot: the robot, an arm.
            layout: the order of its parameters.
            parameters: phi, shape (p,), SI.
            torque: relative and absolute error of the torque, each shape () or (nv,), dimensionless and N·m
                or N. Without an absolute part a torque near zero would count as exact.
            model: error of the robot's parameters: one number, shape (), dimensionless, is a share of each;
                shape (p,), SI, states each.
            velocity: error of the velocity, shape () or (nv,), rad/s or m/s.
            position: error of the position, shape () or (nv,), rad or m.
            acceleration: largest acceleration, shape () or (nv,), rad/s² or m/s²; None for the robot's
                limits.
            torque_rate: largest rate of the torque, shape () or (nv,), N·m/s or N/s; None where it is
                unknown.
            delay: how much earlier or later than its sample a logged torque can be, s.
            torque_holds: where no rate is known, whether each torque holds until the next sample; otherwise
                it stays between the values of the two.
            delay_steady: whether each joint's delay is the same throughout all recordings.

        Raises:
            InputError: a bound is negative or missing, or a torque has no absolute error.
        """
        robot.require_arm()
        phi = checked("parameters", parameters, (layout.size,))
        relative, absolute = (_spread(f"torque[{k}]", value, robot.nv) for k, value in enumerate(torque))
        if (absolute <= 0.0).any():
            raise InputError(
                "the absolute error of a torque must be positive.",
                place="torque",
                remedy="A purely relative bound vanishes at zero torque, where no sensor is exact.",
            )
        share = np.asarray(model, dtype=float)
        if acceleration is None:
            acceleration = robot.limit_array("acceleration")
            if not np.isfinite(acceleration).all():
                blind = robot.joint_names[int(np.argmax(~np.isfinite(acceleration)))]
                raise InputError(
                    f"the description states none for joint '{blind}'.",
                    place="acceleration",
                    remedy="State the largest acceleration of the motion with --acceleration or --limits.",
                )
        return cls(
            robot.joint_names,
            relative,
            absolute,
            _spread("velocity", velocity, robot.nv),
            _spread("position", position, robot.nv),
            _spread("acceleration", acceleration, robot.nv),
            share * np.abs(phi) if share.ndim == 0 else share,
            None if torque_rate is None else _spread("torque_rate", torque_rate, robot.nv),
            delay,
            torque_holds,
            delay_steady,
        )

    def torque_error(self, measured: ArrayLike) -> Array:
        r"""Largest $|\hat\tau - \tau|$ given the measured torque.

        The relative part is of the true torque, $|\tau| \le (|\hat\tau| + a)/(1 - r)$, hence
        $|\hat\tau - \tau| \le (r\,|\hat\tau| + a)/(1 - r)$.

        Args:
            measured: torques, shape (N, nv), N·m or N.

        Returns:
            The bound, shape (N, nv), N·m or N.
        """
        tau = checked("measured", measured, ("N", len(self.joints)))
        r, a = self.torque_relative, self.torque_absolute
        return np.asarray((r * np.abs(tau) + a) / (1.0 - r))

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Everything that is assumed of the errors, in words."""
        moving, exact = self.parameters > 0.0, int((self.parameters == 0.0).sum())
        model = f"{int(moving.sum())} numbers of the robot's model are within their stated spread."
        if exact:
            model += f" The other {exact} are exact."
        return (
            f"Each measured torque is within {_words(100.0 * self.torque_relative, '%')} of the true one "
            f"plus {_words(self.torque_absolute, 'N·m (N)')}.",
            f"Velocities are measured {_within(self.velocity, 'rad/s (m/s)')}.",
            f"Positions are measured {_within(self.position, 'rad (m)')}.",
            f"No joint accelerates by more than {_words(self.acceleration, 'rad/s² (m/s²)')}.",
            model,
            *self.untested,
        )

    @property
    def unknown(self) -> Array:
        """Largest size of everything that is unknown of robot and log alike, shape (p,) or (p + nv,), SI.

        The errors of the robot's parameters, and after them each joint's delay where it is steady.
        """
        if self.delay == 0.0 or not self.delay_steady:
            return self.parameters
        return np.concatenate([self.parameters, np.full(len(self.joints), self.delay)])

    @property
    def untested(self) -> tuple[str, ...]:
        """Those of the assumptions that a log cannot show wrong, or only where they are far off."""
        return (
            self._between_samples,
            "Each torque is of the instant of its sample."
            if self.delay == 0.0
            else f"Each torque is of up to {self.delay:.4g} s before or after its sample, and throughout "
            f"{'the log' if self.delay_steady else 'a window'} by the same time.",
            "Times of samples, the robot's geometry and the direction of gravity are exact.",
            "Nothing touches the arm: its drives and its weight alone move it.",
        )

    @property
    def _between_samples(self) -> str:
        if self.torque_rate is not None:
            return (
                f"No torque changes faster than {_words(self.torque_rate, 'N·m/s (N/s)')}, but for the jump "
                "of Coulomb friction where a velocity turns."
            )
        if self.torque_holds:
            return "The torque holds from each sample to the next."
        return "From each sample to the next the torque stays between its values at the two."


_PER_JOINT = ("torque_relative", "torque_absolute", "velocity", "position", "acceleration", "torque_rate")


def _spread(name: str, value: ArrayLike, nv: int) -> Array:
    return checked(name, np.broadcast_to(value, (nv,)) if np.ndim(value) == 0 else value, (nv,))


def _words(values: Array, unit: str) -> str:
    if (values == values[0]).all():
        return f"{values[0]:.4g} {unit}"
    return f"{', '.join(f'{x:.4g}' for x in values)} {unit}, joint by joint"


def _within(values: Array, unit: str) -> str:
    return f"to within {_words(values, unit)}" if values.any() else "exactly"


# Whether logged positions and velocities are of one motion, within their stated errors.
#
# For every two samples i and j, with the trapezoidal rule over the intervals between them,
#
# $$\Big|\hat q_j - \hat q_i - \sum \tfrac12 h\,(\hat v_k + \hat v_{k+1})\Big|
#   \le 2\varepsilon_q + \sum \big(\varepsilon_v h + \tfrac14\alpha h^2\big), \qquad
#   |\hat v_j - \hat v_i| \le 2\varepsilon_v + \alpha\,(t_j - t_i).$$
#
# Where one of these is broken a stated error is wrong: velocities that were filtered, scaled or late, a clock
# that runs fast, positions in degrees or coarser than stated, a motion that is harder than stated. No payload
# has to be known for it.


class MotionContradictionError(NoSolutionError):
    """The logged motion cannot be within its stated errors, whatever the arm holds.

    Attributes:
        joint: which joint.
        begin: between which samples, s.
        end: between which samples, s.
    """

    def __init__(self, joint: str, begin: float, end: float, what: str, remedy: str) -> None:
        """State what contradicts what.

        Args:
            joint: which joint.
            begin: time of the first sample, s.
            end: time of the last one, s.
            what: the two that disagree, and by how much.
            remedy: which stated error, and at least how large.
        """
        self.joint, self.begin, self.end = joint, begin, end
        super().__init__(
            f"no motion explains the data: {joint}, {begin:.3f} to {end:.3f} s: {what}.",
            remedy=f"A stated error is wrong: stop. {remedy}",
            evidence={"joint": joint, "begin": begin, "end": end},
        )


def require_one_motion(recording: Recording, errors: ErrorBounds) -> None:
    """Hold positions, velocities and the largest acceleration against each other.

    Args:
        recording: positions and velocities as measured.
        errors: how far they can be off, and the largest acceleration.

    Raises:
        MotionContradictionError: they cannot all be within what is stated; of several, the one that is broken
            by the most.
    """
    time, q, v = recording.time, recording.q, recording.channels["v"]
    h, zero = np.diff(time)[:, None], np.zeros((1, q.shape[1]))
    travelled = np.vstack([zero, np.cumsum(0.5 * h * (v[1:] + v[:-1]), axis=0)])
    dv, dq, a = errors.velocity, errors.position, errors.acceleration
    strayed = np.vstack([zero, np.cumsum(dv * h + 0.25 * a * h**2, axis=0)])
    beyond, joint, i, j = _most(q - travelled, strayed, dq)
    if beyond > 0.0:
        moved, told = q[j, joint] - q[i, joint], travelled[j, joint] - travelled[i, joint]
        allowed = 2.0 * dq[joint] + strayed[j, joint] - strayed[i, joint]
        raise MotionContradictionError(
            recording.joints[joint],
            float(time[i]),
            float(time[j]),
            f"its positions move by {moved:.6g}, its velocities add up to {told:.6g}, and the stated errors "
            f"allow a difference of {allowed:.2g} rad (m)",
            f"Positions that are off by {dq[joint] + 0.5 * beyond:.2g} (--position-error) or velocities by "
            f"{dv[joint] + beyond / (time[j] - time[i]):.2g} (--velocity-error) would explain it; so would "
            f"stamps that are off by {_late(beyond, v[[i, j], joint]):.2g} s, velocities that were filtered, "
            "and a clock that runs fast or slow.",
        )
    beyond, joint, i, j = _most(v, time[:, None] * a, dv)
    if beyond > 0.0:
        raise MotionContradictionError(
            recording.joints[joint],
            float(time[i]),
            float(time[j]),
            f"its velocity changes by {v[j, joint] - v[i, joint]:.4g}, and the stated errors allow "
            f"{2.0 * dv[joint] + a[joint] * (time[j] - time[i]):.4g} rad/s (m/s)",
            f"An acceleration of {a[joint] + beyond / (time[j] - time[i]):.4g} (--acceleration) or "
            f"velocities that are off by {dv[joint] + 0.5 * beyond:.2g} (--velocity-error) would explain it.",
        )


def _late(beyond: float, v: Array) -> float:
    """By how much the stamps of two samples would have to be off, s."""
    return beyond / max(float(np.abs(v).sum()), np.finfo(float).tiny)


def _most(values: Array, room: Array, error: Array) -> tuple[float, int, int, int]:
    r"""By how much $|x_j - x_i| \le s_j - s_i + 2e$ is broken, at most: with the joint and both samples."""
    worst = (-np.inf, 0, 0, 0)
    for joint in range(values.shape[1]):
        for x in (values[:, joint], -values[:, joint]):
            left = x - room[:, joint]
            gap = left[1:] - np.minimum.accumulate(left)[:-1]
            j = int(np.argmax(gap)) + 1
            rounding = len(x) * np.finfo(float).eps * float(np.abs(x).max() + np.abs(left).max())
            beyond = float(gap[j - 1]) - 2.0 * float(error[joint]) - rounding
            if beyond > worst[0]:
                worst = (beyond, joint, int(np.argmin(left[:j])), j)
    return worst


def with_velocities(recording: Recording, errors: ErrorBounds) -> tuple[Recording, ErrorBounds]:
    r"""Velocities from positions alone, and how far they can be off.

    From a before a sample to b after it $\hat v = (\hat q(t + b) - \hat q(t - a))/(a + b)$ is off by at most

    $$\frac{2\varepsilon_q}{a + b} + \frac{\alpha\,(a^2 + b^2)}{2\,(a + b)}.$$

    The same number of samples is taken on both sides, for each joint the one with the least largest error.

    Args:
        recording: positions; velocities it has are replaced.
        errors: how far positions can be off, and the largest acceleration.

    Returns:
        The recording with velocities, without the samples at its ends that have none; and the errors with
        those of these velocities.

    Raises:
        InputError: the recording is too short.
    """
    time, q, n = recording.time, recording.q, recording.n
    largest = max(1, (n - 2) // 4)
    best = []
    for k in range(len(recording.joints)):
        found = (np.inf, 1)
        for m in range(1, largest + 1):
            a, b = time[m:-m] - time[: -2 * m], time[2 * m :] - time[m:-m]
            if not len(a):
                raise InputError(f"of {n} samples is too short for velocities.", place="recording")
            off = 2.0 * errors.position[k] + 0.5 * errors.acceleration[k] * (a**2 + b**2)
            found = min(found, (float((off / (a + b)).max()), m))
            if m > found[1] + 2:
                break
        best.append(found)
    margin = max(m for _, m in best)
    at = np.arange(margin, n - margin)
    v = np.column_stack(
        [(q[at + m, k] - q[at - m, k]) / (time[at + m] - time[at - m]) for k, (_, m) in enumerate(best)]
    )
    taken = recording.rows(slice(margin, n - margin))
    # As if measured: their rounding is far below any stated error.
    return taken.with_channels(v=v), replace(errors, velocity=np.array([off for off, _ in best]))
