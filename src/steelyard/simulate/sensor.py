"""What stands between a robot and its log: every number of it in one object."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from steelyard.errors import InputError

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
        """Whether anything is drawn."""
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
