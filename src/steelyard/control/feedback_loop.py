r"""The feedback of `FeedforwardPD` on one joint, as the sampled loop that it is.

Feedback of paper 004's (2) on a joint with inertia M and friction D is a sampled loop. Everything in it is
known in closed form: the torque that arrives T_d after the reading and is held for a cycle h, the lag, the
encoder read once per cycle, and the pseudo-differentiation as `FeedforwardPD` computes it,

$$L(z) = \hat M \Big[K_P + K_V \frac{z - 1}{(T_f + h)\,z - T_f}\Big]\; \frac{K h\,\bar V(z)}{z - 1}.$$
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.control.joint_model import ComplexArray, JointModel, held_response

FILTER = 0.002
"""Time constant of the pseudo-differentiation in paper 004, s."""
_FREQUENCIES, _LOWEST, _SECANTS = 300, 1e-2, 3


@dataclass(frozen=True)
class FeedbackLoop:
    """The feedback on one joint.

    Attributes:
        joint: the joint as it is; its inertia may differ from the controller's.
        inertia: M̂, kg·m² or kg.
        kp: K_P, 1/s².
        kv: K_V, 1/s.
        cycle: h, s.
        filter: T_f, s.
    """

    joint: JointModel
    inertia: float
    kp: float
    kv: float
    cycle: float
    filter: float = FILTER

    def response(self, frequency: ArrayLike) -> ComplexArray:
        """L at z = exp(jωh), the loop cut open at the torque.

        Args:
            frequency: ω, between 0 and π/h, shape (n,), rad/s.

        Returns:
            Complex gains, shape (n,), dimensionless.
        """
        h, T_f = self.cycle, self.filter
        z = np.exp(1j * checked("frequency", frequency, ("n",)) * h)
        C = self.inertia * (self.kp + self.kv * (z - 1.0) / ((T_f + h) * z - T_f))
        return np.asarray(
            C * self.joint.gain * h * held_response(self.joint, h).mean_velocity_at(z) / (z - 1.0)
        )

    @property
    def poles(self) -> ComplexArray:
        """Poles of the closed loop, stable inside the unit circle, shape (n,), dimensionless."""
        h, T_f = self.cycle, self.filter
        held = held_response(self.joint, h)
        slope = np.array([T_f + h, -T_f])
        law = self.inertia * (self.kp * slope + self.kv * np.array([1.0, -1.0]))
        open_loop = np.convolve(np.convolve([1.0, -held.pole], [1.0, -1.0]), slope)
        late = np.concatenate([open_loop, np.zeros(held.lag + 1)])
        return np.asarray(np.roots(np.polyadd(late, self.joint.gain * h * np.convolve(held.numerator, law))))

    @property
    def crossover(self) -> float:
        """Highest frequency at which the loop's gain is one, rad/s; NaN where there is none."""
        crossings = self._crossings()
        return float(crossings[-1]) if len(crossings) else math.nan

    @property
    def phase_margin(self) -> float:
        """How far the phase is from -180° where the gain is one, the worst such frequency, rad.

        Negative where the closed loop is unstable; infinite where the gain stays below one.
        """
        crossings = self._crossings()
        angles = np.angle(-self.response(crossings)) if len(crossings) else np.array([math.inf])
        worst = float(angles[np.argmin(np.abs(angles))])
        stable = bool((np.abs(self.poles) < 1.0).all())
        return abs(worst) if stable else -abs(worst)

    def _crossings(self) -> Array:
        """Frequencies at which the gain is one, shape (n,), rad/s."""
        highest = math.pi / self.cycle
        lowest = min(_LOWEST * math.sqrt(self.kp), 0.5 * highest)
        # The integrator's gain only grows towards low frequencies: start where it is above one.
        while abs(self.response([lowest])[0]) < 1.0:
            lowest *= 0.1
        w = np.geomspace(lowest, highest, _FREQUENCIES)
        size = np.log(np.abs(self.response(w)))
        changes = np.flatnonzero(np.sign(size[:-1]) != np.sign(size[1:]))
        low, high = np.log(w[changes]), np.log(w[changes + 1])
        above, below = size[changes], size[changes + 1]
        for _ in range(_SECANTS if len(changes) else 0):
            at = low + (high - low) * above / (above - below)
            new = np.log(np.abs(self.response(np.exp(at))))
            first = np.sign(new) == np.sign(above)
            low, above = np.where(first, at, low), np.where(first, new, above)
            high, below = np.where(first, high, at), np.where(first, below, new)
        return np.asarray(np.exp(low + (high - low) * above / (above - below)))
