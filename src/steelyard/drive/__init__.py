r"""What sits at the joint: friction, offset and rotor inertia as torque at its output.

The linear drive adds to the rigid-body torque

$$\tau_{drive} = F_v\,v + F_c\,\operatorname{sign}(v) + F_o + I_a\,a$$

with $\operatorname{sign}(0) = 0$. The rotor here is the plain armature: $I_a$ is the rotor's inertia times
the squared gear ratio, and its gyroscopic effect on the arm is not part of this model.

Three more terms of friction may be added, each with one coefficient:

$$F_s\,\operatorname{sign}(v)\,e^{-(|v|/v_s)^\delta} + F_a\,|v|
  + F_l\,|\tau_{rigid}|\,\operatorname{sign}(v).$$

Given the shape $(v_s, \delta)$ and the rigid-body torque they are linear in $F_s, F_a, F_l$.

`servo` is the drive of an arm that logs no torque: a position loop with gains, limit, delay and friction.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.drive.drive import (
        ALL_TERMS,
        DRIVE_TERMS,
        FRICTION_TERMS,
        Drive,
        DriveTerm,
        StribeckShape,
        asymmetric_column,
        drive_term,
        load_column,
        stribeck_column,
        stribeck_shape_slopes,
        stribeck_velocity_slope,
    )
    from steelyard.drive.servo import SERVO_TERMS, Servo, ServoTerm, servo_numbers, servos_of

__all__ = [
    "ALL_TERMS",
    "DRIVE_TERMS",
    "FRICTION_TERMS",
    "SERVO_TERMS",
    "Drive",
    "DriveTerm",
    "Servo",
    "ServoTerm",
    "StribeckShape",
    "asymmetric_column",
    "drive_term",
    "load_column",
    "servo_numbers",
    "servos_of",
    "stribeck_column",
    "stribeck_shape_slopes",
    "stribeck_velocity_slope",
]

open_door(__name__)
