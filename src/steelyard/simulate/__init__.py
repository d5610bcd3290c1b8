"""A robot that is not our own code: MuJoCo's dynamics with drives and sensors, run into a Recording."""

from steelyard.simulate.guided_run import GuidedRun
from steelyard.simulate.guiding_check import GuidingCheck, guiding_check
from steelyard.simulate.hand import Hand
from steelyard.simulate.joint_experiments import joint_experiments, nominal_posture
from steelyard.simulate.object_motion import compared_motion, swing_period
from steelyard.simulate.object_standard_trials import standard_trials
from steelyard.simulate.object_trials import Swing, run_trial
from steelyard.simulate.open_loop import open_loop
from steelyard.simulate.plant import LONGEST_STEP, Plant
from steelyard.simulate.presets import SENSORS, sensor_preset
from steelyard.simulate.readings import encoder_steps, torque_constants, torque_steps
from steelyard.simulate.run import simulate
from steelyard.simulate.second_look import SecondLook, second_look
from steelyard.simulate.sensor import SensorPreset
from steelyard.simulate.specimen import drawn_specimen
from steelyard.simulate.torque_inputs import prbs, shift_register, square_wave
from steelyard.simulate.tracking import tracking_error

__all__ = [
    "LONGEST_STEP",
    "SENSORS",
    "GuidedRun",
    "GuidingCheck",
    "Hand",
    "Plant",
    "SecondLook",
    "SensorPreset",
    "Swing",
    "compared_motion",
    "drawn_specimen",
    "encoder_steps",
    "guiding_check",
    "joint_experiments",
    "nominal_posture",
    "open_loop",
    "prbs",
    "run_trial",
    "second_look",
    "sensor_preset",
    "shift_register",
    "simulate",
    "square_wave",
    "standard_trials",
    "swing_period",
    "torque_constants",
    "torque_steps",
    "tracking_error",
]
