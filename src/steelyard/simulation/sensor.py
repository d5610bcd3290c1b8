"""What stands between a robot and its log: sensors by preset, and the imperfections of one robot."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType

import numpy as np

from steelyard.arrays import Array, read_only
from steelyard.errors import DescriptionError, InputError, UnknownNameError
from steelyard.robot import Robot

# Sensors and imperfections: every number in one object

_IN_ORDER = 0.5  # jitter of half a cycle to either side is the most that keeps commands in their order


@dataclass(frozen=True, kw_only=True)
class SensorPreset:
    r"""How a simulated robot is measured and driven; zero switches an imperfection off.

    Once per cycle, at the instant $t_k = k/\text{rate}$, the encoders and the torque meter are read together
    and the controller computes a command from the position and velocity that were measured, the same that
    are logged. With $L$ the joint's effort limit:

    - position $q_m = \Delta\operatorname{rint}(q/\Delta)$, Δ the encoder's step, for a slide times
      `travel_per_radian`;
    - velocity $v_{m,k} = (T v_{m,k-1} + q_{m,k} - q_{m,k-1}) / (T + h)$ with $v_{m,0} = 0$ (the arm starts at
      rest): the backward difference of consecutive cycles, behind a first-order lag T where one is given;
    - the command is clipped to ±L where limits are enforced, reaches the joints `delay` after the reading it
      answers, all joints at once, and is held until the next one arrives. The delay of each cycle is uniform
      in `delay` ± `jitter`. Until the first command arrives it acts too, as if the arm had been held before;
    - the drive believes in its own gain: a command τ makes the joint feel $(1 + \epsilon)\,\tau$, ε uniform
      in ± `gain_error`, one per joint and run, while its meter sees τ;
    - torque $\tau_m = \tau + b + n$, rounded to the quantum; bias b uniform in ± `torque_bias` L, one per
      joint and run; n normal with standard deviation `torque_noise` L, new in each cycle. A command that
      arrives at $t_k$ counts as acting at $t_k$;
    - where `torque_constants` K or `current_at_limit` are given the meter is an ammeter: the current is
      $\tau_m / K$, with $K = L/\text{current\_at\_limit}$ in the second case, rounded to its quantum, and the
      torque K times that reading;
    - Coulomb friction, uniform between `coulomb_least` L and `coulomb_most` L, one per joint and run, is
      added to the description's in the plant alone, so neither description nor log tells of it.

    - a force-torque sensor at the wrist, where a run has one, shows $w + b + n$; its zero b is uniform within
      `force_zero` and `moment_zero`, one per axis and run, n normal, new in each sample.

    Readings carry the exact time of their instant. A run may give the encoders backlash.

    Attributes:
        name: what a recording's history calls it.
        rate: cycles and samples per second, Hz.
        truth: log the true state, torque and acceleration, and let the controller see them; excludes all
            that follows but `torque_limits`.
        encoder: Δ, rad.
        travel_per_radian: what a slide travels while the shaft that its encoder sits on turns, m/rad.
        velocity_lag: T, s.
        torque_noise: standard deviation, as a share of L, dimensionless.
        torque_bias: bound, as a share of L, dimensionless.
        torque_quantum: as a share of L, dimensionless; a torque meter's.
        current_at_limit: current that the drive takes for L, A; zero for a torque meter.
        torque_constants: K of every joint, N·m/A or N/A, for one robot alone; empty where K follows from L.
        current_quantum: A; an ammeter's.
        gain_error: bound, dimensionless.
        coulomb_least: as a share of L, dimensionless.
        coulomb_most: as a share of L, dimensionless.
        delay: from a reading to the arrival of its command, s.
        jitter: bound, s; at most the delay, and less than half a cycle so that commands keep their order.
        torque_limits: whether commands are clipped unless the run says otherwise.
        force_noise: standard deviation of each force at the wrist, N.
        moment_noise: of each moment, N·m.
        force_zero: bound of the zero of each force at the wrist, N.
        moment_zero: of each moment, N·m.
    """

    name: str
    rate: float = 1000.0
    truth: bool = False
    encoder: float = 0.0
    travel_per_radian: float = 0.01
    velocity_lag: float = 0.0
    torque_noise: float = 0.0
    torque_bias: float = 0.0
    torque_quantum: float = 0.0
    current_at_limit: float = 0.0
    torque_constants: tuple[float, ...] = ()
    current_quantum: float = 0.0
    gain_error: float = 0.0
    coulomb_least: float = 0.0
    coulomb_most: float = 0.0
    delay: float = 0.0
    jitter: float = 0.0
    torque_limits: bool = False
    force_noise: float = 0.0
    moment_noise: float = 0.0
    force_zero: float = 0.0
    moment_zero: float = 0.0

    def __post_init__(self) -> None:
        for name, value in self._numbers().items():
            if not (math.isfinite(value) and value >= 0.0):
                self._refuse(name, f"must be finite and not negative, got {value}.")
        for name in ("rate", "travel_per_radian"):
            if getattr(self, name) == 0.0:
                self._refuse(name, "must be positive.")
        if self.truth and self.torque_constants:
            self._refuse("torque_constants", "are given, but a preset of the truth has no ammeter.")
        if self.truth:
            for name, value in self._imperfections().items():
                if value > 0.0:
                    self._refuse(name, f"is {value:g}, but a preset of the truth has no imperfection.")
        if self.gain_error >= 1.0:
            self._refuse("gain_error", f"must be less than 1, got {self.gain_error:g}.")
        if self.coulomb_least > self.coulomb_most:
            self._refuse("coulomb_least", f"{self.coulomb_least:g} exceeds {self.coulomb_most:g}, the most.")
        if self.jitter > self.delay or (self.jitter > 0.0 and self.jitter * self.rate >= _IN_ORDER):
            self._refuse(
                "jitter",
                f"of {self.jitter:g} s must not exceed the delay of {self.delay:g} s, and must be less than "
                f"half a cycle of {1.0 / self.rate:g} s.",
            )
        if not all(math.isfinite(K) and K > 0.0 for K in self.torque_constants):
            self._refuse("torque_constants", f"must be finite and positive, got {self.torque_constants}.")
        if self.torque_constants and self.current_at_limit > 0.0:
            self._refuse("torque_constants", "are given, and so is the current that the effort limit takes.")
        if self.current_quantum > 0.0 and not self.ammeter:
            self._refuse("current_quantum", "is given, but not the current that the effort limit takes.")
        if self.torque_quantum > 0.0 and self.ammeter:
            self._refuse("torque_quantum", "does not apply to an ammeter; give current_quantum instead.")

    @property
    def ammeter(self) -> bool:
        """Whether torque is measured as a current."""
        return self.current_at_limit > 0.0 or bool(self.torque_constants)

    @property
    def random(self) -> bool:
        """Whether anything is drawn of the joints."""
        drawn = (self.torque_noise, self.torque_bias, self.gain_error, self.jitter)
        return any(drawn) or self.coulomb_most > self.coulomb_least

    @property
    def scaled(self) -> bool:
        """Whether any number is a share of the joint's effort limit."""
        shares = (self.torque_noise, self.torque_bias, self.torque_quantum, self.coulomb_most)
        return any(shares) or self.current_at_limit > 0.0

    @property
    def settings(self) -> dict[str, object]:
        """All fields as plain values, for a recording's history."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    def _numbers(self) -> dict[str, float]:
        return {
            k: v for k, v in self.settings.items() if isinstance(v, int | float) and not isinstance(v, bool)
        }

    def _imperfections(self) -> dict[str, float]:
        return {k: v for k, v in self._numbers().items() if k not in ("rate", "travel_per_radian")}

    def _refuse(self, name: str, message: str) -> None:
        raise InputError(message, place=f"{name} of sensor preset '{self.name}'")

    def drawn(self, robot: Robot, rng: np.random.Generator | None) -> RobotSample:
        """Draw a specimen; what is zero draws nothing.

        Args:
            robot: the robot as described.
            rng: source of the randomness; None where nothing is drawn.

        Returns:
            The specimen.

        Raises:
            InputError: the preset is random, but there is no generator.
            DescriptionError: the preset has shares of an effort limit that a joint does not state.
        """
        if self.random and rng is None:
            raise InputError(
                f"sensor preset '{self.name}' is random and needs a generator.",
                place="rng",
                remedy="Pass numpy.random.default_rng(seed).",
            )
        n = len(robot.joints)
        L = effort_limits(robot, f"sensor preset '{self.name}'") if self.scaled else np.zeros(n)
        bias = self.torque_bias * L * _uniform(rng, self.torque_bias > 0.0, n)
        gain = 1.0 + self.gain_error * _uniform(rng, self.gain_error > 0.0, n)
        least, most = self.coulomb_least, self.coulomb_most
        share = 0.5 * (least + most) + 0.5 * (most - least) * _uniform(rng, most > least, n)
        noise = self.torque_noise * L
        return RobotSample(_rougher(robot, share * L), read_only(noise), read_only(bias), read_only(gain))


# The sensor presets by name, and where their numbers come from.
#
# `ideal`, `industrial` and `low-cost` are what the project promises its targets for. What their short
# descriptions leave open is decided here and in `SensorPreset`:
#
# - A step of the 12-bit encoder changes the backward difference by 1.5 rad/s, so `low-cost` smooths it with a
#   lag of 2 ms, the pseudo-differentiation of Oaki et al. (2026; section III, T_f = 0.002 s).
# - Its torque constant is the joint's limit over 1.73 A: seven of the CRANE-X7's eight servos have 2.3179
#   N·m/A (Oaki et al. 2026, section III-A) and a limit of 4 N·m (the arm's public description). The constant
#   scales with the robot, the current does not. The 2.69 mA are those servos' current unit.
# - Its hidden Coulomb friction is 0.01 to 0.08 N·m at the size of a CRANE-X7, whose smallest and largest
#   limits are 4 and 10 N·m: 0.01/4 to 0.08/10 of the limit.
# - Its 1.5 ms pass from the reading to the arrival of the command; holding the command comes on top.
# - `crane-x7` is the robot of Oaki et al. (2026; section III) alone, with its eight axes: the torque
#   constants of its XM430-W350 and, at joint 2, XM540-W270 servos, and about 0.9 ms from the reading of all
#   encoders to the arrival of the currents, which with the hold of a 1 ms cycle makes the paper's dead time
#   of about 1.5 ms. The jitter is an assumption; more of it would sometimes delay a command by one more
# cycle.
# - A slide's encoder sits on a shaft that moves it by 10 mm per radian, an assumption.
# - Sensors at the wrist: `industrial` has noise of the order of a Robotiq FT 300 (range 300 N and 30 N·m,
#   noise 0.1 N and 0.005 N·m), `low-cost` of the order of the one built into a UR10e (precision 5 N and
#   0.2 N·m, taken for three deviations). How far a zero wanders between tares is an assumption: 5 N and
#   0.5 N·m.

IDEAL = SensorPreset(name="ideal", truth=True)
"""No noise: logs the acceleration and the torque of one forward-dynamics evaluation."""

INDUSTRIAL = SensorPreset(
    name="industrial",
    encoder=1e-5,
    torque_noise=0.003,
    torque_bias=0.001,
    torque_quantum=0.0002,
    delay=1e-3,
    torque_limits=True,
    force_noise=0.1,
    moment_noise=0.005,
    force_zero=5.0,
    moment_zero=0.5,
)
"""A fine encoder and a torque meter; a strain gauge at the wrist."""

LOW_COST = SensorPreset(
    name="low-cost",
    encoder=2.0 * math.pi / 4096,
    velocity_lag=2e-3,
    current_at_limit=1.73,
    current_quantum=2.69e-3,
    gain_error=0.02,
    coulomb_least=0.0025,
    coulomb_most=0.008,
    delay=1.5e-3,
    jitter=0.3e-3,
    torque_limits=True,
    force_noise=1.7,
    moment_noise=0.07,
    force_zero=5.0,
    moment_zero=0.5,
)
"""A 12-bit encoder and an ammeter; a sensor at the wrist that came with the arm."""

CRANE_X7 = SensorPreset(
    name="crane-x7",
    encoder=2.0 * math.pi / 4096,
    velocity_lag=2e-3,
    torque_constants=(2.3179, 3.1317, *(2.3179,) * 6),
    current_quantum=2.69e-3,
    delay=0.9e-3,
    jitter=0.1e-3,
    torque_limits=True,
)
"""The CRANE-X7 of Oaki et al. (2026) with its hand axis."""

SENSORS: Mapping[str, SensorPreset] = MappingProxyType(
    {preset.name: preset for preset in (IDEAL, INDUSTRIAL, LOW_COST, CRANE_X7)}
)
"""The presets by name."""


def sensor_preset(sensor: str | SensorPreset) -> SensorPreset:
    """Look a preset up.

    Args:
        sensor: its name, or the preset itself.

    Raises:
        UnknownNameError: no such preset; lists those that exist.
    """
    if isinstance(sensor, SensorPreset):
        return sensor
    if sensor not in SENSORS:
        raise UnknownNameError("sensor preset", sensor, SENSORS)
    return SENSORS[sensor]


# One robot of a series: what the imperfections of a preset amount to at its joints.


@dataclass(frozen=True, eq=False)
class RobotSample:
    """What is constant over a run, and drawn for it; known to the plant, told to nobody.

    Attributes:
        robot: as described, with the hidden Coulomb friction added.
        noise: standard deviation of the torque's noise, shape (nv,), N·m or N.
        bias: of the torque, shape (nv,), N·m or N.
        gain: torque at the joint over the torque that its drive believes in, shape (nv,), dimensionless.
    """

    robot: Robot
    noise: Array
    bias: Array
    gain: Array


def effort_limits(robot: Robot, why: str) -> Array:
    """The effort limit of every joint.

    Args:
        robot: the robot.
        why: what needs them, for the message.

    Returns:
        Largest torques, shape (nj,), N·m or N.

    Raises:
        DescriptionError: a joint states none, or zero.
    """
    for joint in robot.joints:
        if not 0.0 < joint.limits.effort < np.inf:
            stated = "a zero" if joint.limits.effort == 0.0 else "no"
            raise DescriptionError(
                f"it states {stated} effort limit, which {why} needs.",
                place=f"joint '{joint.name}' of '{robot.name}'",
                remedy="State its largest torque or force with --torque or --limits, or in the description.",
            )
    return np.array([joint.limits.effort for joint in robot.joints])


def _uniform(rng: np.random.Generator | None, wanted: bool, n: int) -> Array:
    """Numbers in ±1, or zeros where none are wanted."""
    return rng.uniform(-1.0, 1.0, n) if wanted and rng is not None else np.zeros(n)


def _rougher(robot: Robot, coulomb: Array) -> Robot:
    """The robot with more Coulomb friction."""
    if not coulomb.any():
        return robot
    drives = [
        replace(joint.drive, coulomb=(joint.drive.coulomb or 0.0) + float(extra))
        for joint, extra in zip(robot.joints, coulomb, strict=True)
    ]
    joints = [replace(joint, drive=drive) for joint, drive in zip(robot.joints, drives, strict=True)]
    return replace(robot, joints=tuple(joints))
