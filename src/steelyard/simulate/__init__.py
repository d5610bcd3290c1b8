"""A robot that is not our own code: MuJoCo's dynamics with drives and sensors, run into a Recording."""

from steelyard.simulate.plant import LONGEST_STEP, RUNAWAY, Plant
from steelyard.simulate.presets import SENSORS, sensor_preset
from steelyard.simulate.run import BANDWIDTH, SLOWEST_CONTROL, simulate
from steelyard.simulate.sensor import SensorPreset
from steelyard.simulate.tracking import tracking_error

__all__ = [
    "BANDWIDTH",
    "LONGEST_STEP",
    "RUNAWAY",
    "SENSORS",
    "SLOWEST_CONTROL",
    "Plant",
    "SensorPreset",
    "sensor_preset",
    "simulate",
    "tracking_error",
]
