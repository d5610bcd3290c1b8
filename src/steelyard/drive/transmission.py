"""The way from motors to joints: gears, couplings and torque constants, without loss; and its files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, keep_checked, read_only
from steelyard.errors import InputError

# The transmission

_SINGULAR = 1e12  # condition beyond which less than a thousandth of a double's digits would survive


class MotorSignals(NamedTuple):
    """What is measured at the motors' shafts; None where it is not.

    Attributes:
        position: θ, shape (N, n), rad.
        velocity: shape (N, n), rad/s.
        acceleration: shape (N, n), rad/s².
        torque: at the shafts, shape (N, n), N·m.
        current: shape (N, n), A.
    """

    position: Array | None = None
    velocity: Array | None = None
    acceleration: Array | None = None
    torque: Array | None = None
    current: Array | None = None


class JointSignals(NamedTuple):
    """What that is at the joints; None where it is not known.

    Attributes:
        q: positions, shape (N, n), rad or m.
        v: velocities, shape (N, n), rad/s or m/s.
        a: accelerations, shape (N, n), rad/s² or m/s².
        tau: torques, shape (N, n), N·m or N.
    """

    q: Array | None = None
    v: Array | None = None
    a: Array | None = None
    tau: Array | None = None


@dataclass(frozen=True, eq=False)
class Transmission:
    r"""Motors that turn joints through gears, some through the joints before them.

    $$\theta = G\,q, \qquad \tau = G^T \tau_m, \qquad G = \operatorname{diag}(r)\,C, \qquad
      \tau_m = \operatorname{diag}(k)\,i$$

    The coupling C says which joints turn the output of each gear: the identity where each motor has a joint
    of its own, off-diagonal entries in a wrist where a motor's shaft passes other joints. Positions count
    from where the joints' and the motors' zeros coincide. No power is lost: $\tau_m^T \dot\theta = \tau^T v$;
    friction belongs to the `Drive`.

    Attributes:
        joints: names of the joints, n of them; motor k stands beside joint k.
        ratio: r, turns of each motor per turn of its gear's output, negative where it turns the other way,
            shape (n,), dimensionless; rad/m at a prismatic joint.
        coupling: C, outputs of the gears by joint, shape (n, n), dimensionless; None for the identity.
        torque_constant: k, torque at the motor's *shaft* per current, shape (n,), N·m/A; None if not known.
        rotor: inertia of each rotor about its own axis, shape (n,), kg·m²; None if not known.
    """

    joints: tuple[str, ...]
    ratio: Array
    coupling: Array | None = None
    torque_constant: Array | None = None
    rotor: Array | None = None

    def __post_init__(self) -> None:
        n = len(self.joints)
        if len(set(self.joints)) != n or n == 0:
            raise InputError(f"must name each joint once, got {list(self.joints)}.", place="joints")
        coupling = np.eye(n) if self.coupling is None else self.coupling
        object.__setattr__(self, "coupling", read_only(checked("coupling", coupling, (n, n))))
        for name in ("ratio", "torque_constant", "rotor"):
            if getattr(self, name) is not None:
                keep_checked(self, (n,), name)
                self._check(name)
        # Scaled rows: a large ratio beside a small one is no defect.
        C = self._C / np.maximum(np.abs(self._C).max(axis=1, keepdims=True), np.finfo(float).tiny)
        condition = float(np.linalg.cond(C))
        if not condition < _SINGULAR:
            raise InputError(
                "is singular: some motion of the joints turns no motor.",
                place="coupling",
                remedy="Each joint must turn a motor of its own, alone or together with others.",
                evidence={"coupling": self.coupling, "condition": condition},
            )

    def _check(self, name: str) -> None:
        value = getattr(self, name)
        wrong = np.flatnonzero(value < 0.0 if name == "rotor" else value == 0.0)
        if wrong.size:
            forbidden = "negative" if name == "rotor" else "zero"
            joint = self.joints[wrong[0]]
            raise InputError(
                f"must not be {forbidden}, got {value[wrong[0]]:g} at joint '{joint}'.", place=name
            )

    @property
    def _C(self) -> Array:
        return np.asarray(self.coupling)

    @cached_property
    def matrix(self) -> Array:
        """G, motor turns by joint, shape (n, n), dimensionless; rad/m in columns of prismatic joints."""
        return read_only(self.ratio[:, None] * self._C)

    @property
    def reflected_inertia(self) -> Array:
        r"""What the joints feel of the rotors: $G^T \operatorname{diag}(I_m)\,G$, shape (n, n), kg·m² or kg.

        Its diagonal is the armature `rotor` of each joint. Where the coupling is not diagonal, rotors couple
        the joints' accelerations too, which a `Drive` cannot state.

        Raises:
            InputError: the rotors are not known.
        """
        G = self.matrix
        return read_only(G.T @ (self._known("rotor")[:, None] * G))

    def motor_side(
        self,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        a: ArrayLike | None = None,
        tau: ArrayLike | None = None,
    ) -> MotorSignals:
        """What the motors show of signals at the joints; each may be left out.

        Args:
            q: joint positions, shape (N, n) or (n,), rad or m.
            v: joint velocities, shape (N, n) or (n,), rad/s or m/s.
            a: joint accelerations, shape (N, n) or (n,), rad/s² or m/s².
            tau: joint torques, shape (N, n) or (n,), N·m or N.

        Returns:
            The same at the motors; currents where torque constants are known.
        """
        theta, speed, acceleration = (
            None if x is None else self._rows(name, x) @ self.matrix.T
            for name, x in (("q", q), ("v", v), ("a", a))
        )
        if tau is None:
            return MotorSignals(theta, speed, acceleration)
        torque = self._solved(self.matrix.T, self._rows("tau", tau))
        current = None if self.torque_constant is None else torque / self.torque_constant
        return MotorSignals(theta, speed, acceleration, torque, current)

    def joint_side(self, motors: MotorSignals) -> JointSignals:
        """What signals at the motors mean at the joints.

        Args:
            motors: the signals, each shape (N, n) or (n,), SI; torque or current, not both.

        Returns:
            The same at the joints.

        Raises:
            InputError: torque and current are both given, or a current without torque constants.
        """
        if motors.torque is not None and motors.current is not None:
            raise InputError("torque and current are both given.", place="motors", remedy="Give one of them.")
        names = ("position", "velocity", "acceleration")
        q, v, a = (
            None if x is None else self._solved(self.matrix, self._rows(name, x))
            for name, x in zip(names, motors[:3], strict=True)
        )
        torque = None if motors.torque is None else self._rows("torque", motors.torque)
        if motors.current is not None:
            torque = self._rows("current", motors.current) * self._known("torque_constant")
        return JointSignals(q, v, a, None if torque is None else torque @ self.matrix)

    @staticmethod
    def _solved(matrix: Array, rows: Array) -> Array:
        """The solution of matrix x = row for each row."""
        return np.asarray(np.linalg.solve(matrix, rows[..., None])[..., 0])

    def _rows(self, name: str, value: ArrayLike) -> Array:
        return checked(name, value, ("...", len(self.joints)))

    def _known(self, name: str) -> Array:
        value = getattr(self, name)
        if value is None:
            raise InputError(
                "is not known.",
                place=name,
                remedy=f"State {name} in the transmission; no number is invented.",
            )
        return np.asarray(value)
