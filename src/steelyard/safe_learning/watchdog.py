r"""What is looked at before every torque: that the robot is where the proof says, and says so in time.

Inside the tube $\|r\| \le \varepsilon$ and $\|e\| \le \varepsilon / K_r$. Readings that are off by at most
$\epsilon_q$ and $\epsilon_v$ in each joint show at most

$$\|\hat r\| \le \varepsilon + \|\epsilon_v\| + K_r \|\epsilon_q\|, \qquad
  \|\hat e\| \le \varepsilon / K_r + \|\epsilon_q\|.$$

Positions must also be what velocities add up to: over a time t, with accelerations up to α and cycles of h,

$$|\hat q(t) - \hat q(0) - \textstyle\sum h\,\bar v| \le 2\epsilon_q + t\,(\epsilon_v + \tfrac14 \alpha h),$$

with the means $\bar v$ of neighbouring velocities: a sensor that is frozen shows itself within a few cycles.
A reading beyond any of these proves that something assumed is not so: a parameter outside its box, a load
that is gone, a contact, a sensor that lies. No torque that is computed from it is worth sending.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.control import Tube
from steelyard.safe_learning.driver import JointReading

_ROUNDING = 1e-9
"""Of positions of any size an arm has, rad or m."""
CHECK = "check"
"""Kind of the alarm that the independent check refused a proof."""
SPAN = 0.05
"""How long velocities are added up before a new count begins, s."""
LATE = 1.5
"""Cycles that may pass from one reading to the next."""


@dataclass(frozen=True)
class Alarm:
    """An assumption that does not hold.

    Attributes:
        time: when it was found, by the robot's clock, s.
        kind: `late`, `not-finite`, `sensors`, `tube`, `scene`, `contradiction` or `check`.
        sentence: what was found.
    """

    time: float
    kind: str
    sentence: str


class Watchdog:
    """Watches readings, one cycle after the other.

    Args:
        tube: where the robot must stay.
        position_error: largest error of a position, shape (nv,), rad or m.
        velocity_error: largest error of a velocity, shape (nv,), rad/s or m/s.
        cycle: length of a control cycle, s.
    """

    def __init__(self, tube: Tube, position_error: Array, velocity_error: Array, cycle: float) -> None:
        dq, dv = float(np.linalg.norm(position_error)), float(np.linalg.norm(velocity_error))
        self._most_r = tube.radius + dv + tube.kr * dq
        self._most_e = tube.position + dq
        self._kr, self._cycle = tube.kr, cycle
        self._gap = 2.0 * position_error + _ROUNDING
        self._error, self._drift = velocity_error, np.full(len(velocity_error), np.inf)
        self._last: JointReading | None = None
        self._first: JointReading | None = None
        self._sum = np.zeros(len(position_error))

    def expect(self, acceleration: Array) -> None:
        """Say how fast velocities may change from now on; until then positions are not compared with them.

        Args:
            acceleration: largest acceleration, shape (nv,), rad/s² or m/s².
        """
        self._drift = self._error + 0.25 * acceleration * LATE * self._cycle

    def alarm(self, reading: JointReading, q_ref: Array, v_ref: Array) -> Alarm | None:
        """Judge a reading against the reference of its cycle.

        Args:
            reading: what the robot says.
            q_ref: reference position, shape (nv,), rad or m.
            v_ref: reference velocity, shape (nv,), rad/s or m/s.

        Returns:
            What is wrong, or None.
        """
        e = q_ref - reading.q
        r = v_ref - reading.v + self._kr * e
        at, norm_r, norm_e = reading.time, math.sqrt(float(r @ r)), math.sqrt(float(e @ e))
        if not math.isfinite(norm_r + norm_e + float(reading.tau.sum())):
            return Alarm(at, "not-finite", "a reading is no number.")
        last, self._last = self._last, reading
        if last is not None:
            passed = at - last.time
            if not 0.0 < passed <= LATE * self._cycle:
                what = f"a reading came {passed:.4g} s after the last, {self._cycle:.4g} s expected."
                return Alarm(at, "late", what)
            if (joint := self._contradicted(last, reading)) is not None:
                what = f"position and velocity of joint {joint + 1} disagree: a sensor is frozen or wrong."
                return Alarm(at, "sensors", what)
        if norm_r > self._most_r:
            what = f"the robot left its tube: |r| = {norm_r:.4g} rad/s, at most {self._most_r:.4g} expected."
            return Alarm(at, "tube", what)
        if norm_e > self._most_e:
            what = f"the robot left its tube: |e| = {norm_e:.4g} rad, at most {self._most_e:.4g} expected."
            return Alarm(at, "tube", what)
        return None

    def _contradicted(self, last: JointReading, now: JointReading) -> int | None:
        """The joint whose position is not what its velocity adds up to."""
        if self._first is None or now.time - self._first.time > SPAN:
            self._first, self._sum = last, np.zeros_like(self._sum)
        self._sum = self._sum + (0.5 * (now.time - last.time)) * (last.v + now.v)
        off = np.abs(now.q - self._first.q - self._sum)
        off -= self._gap + (now.time - self._first.time) * self._drift
        worst = int(off.argmax())
        return worst if off[worst] > 0.0 else None
