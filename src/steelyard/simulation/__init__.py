"""A robot that is not our own code: MuJoCo's dynamics with drives and sensors, run into a Recording.

`plant` is the simulated arm, made by `mujoco_model`, with `friction` in its drives; `sensor` and `sensing`
are what its log goes through, `wrist` is a force-torque sensor. `run` tries a motion in the loop of
`closed_loop` (`cycles` is its kernel). `joint_experiments` and `object_trials` are other experiments;
`second_look` checks a certified motion by other code, `servo_rollout` runs identified servos.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.simulation.joint_experiments import joint_experiments, nominal_posture
    from steelyard.simulation.object_trials import (
        Swing,
        run_trial,
        standard_trials,
    )
    from steelyard.simulation.plant import Plant
    from steelyard.simulation.run import simulate_motion, tracking_error
    from steelyard.simulation.second_look import SecondLook, second_look
    from steelyard.simulation.sensing import encoder_steps, torque_per_ampere, torque_steps
    from steelyard.simulation.sensor import SENSORS, SensorPreset, sensor_preset
    from steelyard.simulation.servo_rollout import mujoco_servo_rollout

__all__ = [
    "SENSORS",
    "Plant",
    "SecondLook",
    "SensorPreset",
    "Swing",
    "encoder_steps",
    "joint_experiments",
    "mujoco_servo_rollout",
    "nominal_posture",
    "run_trial",
    "second_look",
    "sensor_preset",
    "simulate_motion",
    "standard_trials",
    "torque_per_ampere",
    "torque_steps",
    "tracking_error",
]

open_door(__name__)
