"""Servos from commands and positions: what a log without torque says of gains, limits, friction and delay.

`log` holds what was commanded and measured, `start` solves a linear equation for where to begin, `segments`
simulates short pieces with derivatives, and `fit` is the estimator on them.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.estimation.servo.fit import ServoEstimate, fit_servos
    from steelyard.estimation.servo.log import ServoLog
    from steelyard.estimation.servo.start import ServoStart, servo_start

__all__ = [
    "ServoEstimate",
    "ServoLog",
    "ServoStart",
    "fit_servos",
    "servo_start",
]

open_door(__name__)
