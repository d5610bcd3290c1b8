"""Closed loops in compiled code: robot, controller, delay and hold, with derivatives in the parameters.

`closed_loop` describes the loop, `simulation` runs it (`loop` is its kernel), and `sensitivity` adds
derivatives (`variation` is the kernel, on `tiles`). `servo` runs an arm whose joints are position servos from
its commands alone, with derivatives (`servo_run` is the kernel, on `servo_step`). The robot here is our own
model; one that is not is in `simulation`, the room.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.rollout.closed_loop import ClosedLoop
    from steelyard.rollout.sensitivity import sensitivities
    from steelyard.rollout.servo import (
        ServoArm,
        ServoCommand,
        ServoRun,
        divides,
        servo_columns,
        servo_rollout,
        servo_sensitivities,
    )
    from steelyard.rollout.servo_step import Columns
    from steelyard.rollout.simulation import Rollout, rollout

__all__ = [
    "ClosedLoop",
    "Columns",
    "Rollout",
    "ServoArm",
    "ServoCommand",
    "ServoRun",
    "divides",
    "rollout",
    "sensitivities",
    "servo_columns",
    "servo_rollout",
    "servo_sensitivities",
]

open_door(__name__)
