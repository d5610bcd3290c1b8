r"""How far measurements and the robot's model can be off: the assumptions behind a guaranteed bound.

A guarantee is worth what it assumes. Everything that is assumed of the errors is a number here, and
`assumptions` says all of them in words, so that a result can carry them along. They are the errors of the
numbers that are used: a log that was filtered, shifted or differentiated has the errors of that too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError
from steelyard.layout import Layout
from steelyard.robot import Robot


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

        Returns:
            The bounds.

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
