r"""A position servo: the loop of gains, motor and gear that hobby and learning arms carry in every joint."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, read_only
from steelyard.drive.drive import StribeckShape
from steelyard.errors import InputError


@dataclass(frozen=True)
class ServoTerm:
    """One number of a servo.

    Attributes:
        name: the word used in options and parameter names.
        symbol: the letter used in equations.
        unit_revolute: its unit at a revolute joint.
        unit_prismatic: its unit at a prismatic joint.
    """

    name: str
    symbol: str
    unit_revolute: str
    unit_prismatic: str


SERVO_TERMS: tuple[ServoTerm, ...] = (
    ServoTerm("stiffness", "kp", "N·m/rad", "N/m"),
    ServoTerm("damping", "kd", "N·m·s/rad", "N·s/m"),
    ServoTerm("limit", "tau_max", "N·m", "N"),
    ServoTerm("armature", "Ia", "kg·m²", "kg"),
    ServoTerm("viscous", "Fv", "N·m·s/rad", "N·s/m"),
    ServoTerm("coulomb", "Fc", "N·m", "N"),
    ServoTerm("stribeck", "Fs", "N·m", "N"),
    ServoTerm("stribeck_velocity", "vs", "rad/s", "m/s"),
    ServoTerm("delay", "d", "s", "s"),
    ServoTerm("offset", "q_o", "rad", "m"),
)
"""The numbers of a servo that can be asked for, in the order of the kernels' columns."""


@dataclass(frozen=True)
class Servo:
    r"""The position loop of one joint, as torque at its output.

    $$\tau = \operatorname{clip}(k_p (u(t-d) + q_o - q) - k_d v,\ \pm\tau_{max}) - k_b v - F_v v - I_a a - f$$

    with dry friction that sticks at rest: $f = F(v)\operatorname{sign}(v)$, and $|f| \le F(0)$ where v = 0,
    $F(v) = F_c + F_s e^{-(|v|/v_s)^\delta}$. Without F_s this is the model M1 of Duclusaud et al. (ICRA
    2025), with it M2.

    A DC motor is the same law, see `of_motor`: its back-EMF $k_b = k_t^2/R$ acts outside the limit, so that
    the torque of a saturated motor falls with speed. To a joint, k_b is viscous friction; it is kept apart
    because data sheets state it.

    Attributes:
        stiffness: k_p, N·m/rad (prismatic: N/m).
        damping: k_d, velocity feedback inside the limit, N·m·s/rad (N·s/m).
        armature: I_a at the joint's output, kg·m² (kg).
        viscous: F_v, N·m·s/rad (N·s/m).
        coulomb: F_c, N·m (N).
        limit: τ_max, N·m (N); infinite where nothing saturates.
        delay: d, from the logged command to its effect, s.
        offset: q_o, where the servo's zero lies beside that of the measured position, rad (m).
        back_emf: k_b, N·m·s/rad (N·s/m).
        stribeck: F_s, static friction less Coulomb's, N·m (N).
        stribeck_shape: over which speeds F_s fades; needed where it is not zero.
    """

    stiffness: float
    damping: float = 0.0
    armature: float = 0.0
    viscous: float = 0.0
    coulomb: float = 0.0
    limit: float = math.inf
    delay: float = 0.0
    offset: float = 0.0
    back_emf: float = 0.0
    stribeck: float = 0.0
    stribeck_shape: StribeckShape | None = None

    def __post_init__(self) -> None:
        for name in (
            "stiffness",
            "damping",
            "armature",
            "viscous",
            "coulomb",
            "delay",
            "back_emf",
            "stribeck",
        ):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0.0):
                raise InputError(f"must be finite and not negative, got {value}.", place=f"servo {name}")
        if not math.isfinite(self.offset):
            raise InputError(f"must be finite, got {self.offset}.", place="servo offset")
        if not self.limit > 0.0:
            raise InputError(f"must be positive, got {self.limit}.", place="servo limit")
        if self.stribeck and self.stribeck_shape is None:
            raise InputError(
                f"is {self.stribeck:g}, but no shape says over which speeds it fades.",
                place="servo stribeck",
                remedy="State its shape: a velocity and an exponent.",
            )

    @classmethod
    def of_motor(
        cls,
        torque_constant: float,
        resistance: float,
        voltage: float,
        gain: float,
        *,
        derivative_gain: float = 0.0,
        armature: float = 0.0,
        viscous: float = 0.0,
        coulomb: float = 0.0,
        delay: float = 0.0,
        stribeck: float = 0.0,
        stribeck_shape: StribeckShape | None = None,
    ) -> Servo:
        r"""A DC motor whose voltage follows the position error.

        $$k_p = \frac{k_t}{R} g, \quad k_d = \frac{k_t}{R} g_d, \quad \tau_{max} = \frac{k_t}{R} V_{max},
          \quad k_b = \frac{k_t^2}{R}$$

        Args:
            torque_constant: k_t at the joint's output, N·m/A.
            resistance: R, Ω.
            voltage: V_max, V.
            gain: g, V/rad.
            derivative_gain: g_d, V·s/rad.
            armature: as `Servo`, kg·m².
            viscous: as `Servo`, N·m·s/rad.
            coulomb: as `Servo`, N·m.
            delay: as `Servo`, s.
            stribeck: as `Servo`, N·m.
            stribeck_shape: as `Servo`.
        """
        if not (math.isfinite(resistance) and resistance > 0.0):
            raise InputError(f"must be positive and finite, got {resistance} Ω.", place="motor resistance")
        per_volt = torque_constant / resistance
        return cls(
            stiffness=per_volt * gain,
            damping=per_volt * derivative_gain,
            armature=armature,
            viscous=viscous,
            coulomb=coulomb,
            limit=per_volt * voltage,
            delay=delay,
            back_emf=per_volt * torque_constant,
            stribeck=stribeck,
            stribeck_shape=stribeck_shape,
        )


def servo_numbers(servos: Sequence[Servo]) -> Array:
    """The servos as the array that kernels read; back-EMF is counted as viscous friction, which it is.

    Args:
        servos: one for each joint.

    Returns:
        Columns as `SERVO_TERMS`, then δ; a servo without Stribeck friction has v_s = δ = 1, shape
        (n, `len(SERVO_TERMS) + 1`), SI.
    """
    rows = []
    for servo in servos:
        shape = servo.stribeck_shape or StribeckShape(1.0, 1.0)
        row = [servo.stiffness, servo.damping, servo.limit, servo.armature, servo.viscous + servo.back_emf]
        row += [servo.coulomb, servo.stribeck, shape.velocity, servo.delay, servo.offset]
        row.append(shape.exponent)
        rows.append(row)
    return read_only(np.array(rows, dtype=np.float64).reshape(len(rows), len(SERVO_TERMS) + 1))


def servos_of(numbers: Array) -> tuple[Servo, ...]:
    """The servos of an array as `servo_numbers` makes it; what was back-EMF is viscous friction here.

    Args:
        numbers: columns as there, shape (n, `len(SERVO_TERMS) + 1`), SI.
    """
    made = []
    rows = np.asarray(numbers).tolist()
    for kp, kd, limit, armature, viscous, coulomb, stribeck, vs, delay, offset, delta in rows:
        shape = StribeckShape(vs, delta) if stribeck else None
        made.append(Servo(kp, kd, armature, viscous, coulomb, limit, delay, offset, 0.0, stribeck, shape))
    return tuple(made)
