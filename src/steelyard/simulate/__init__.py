"""A robot that is not our own code: MuJoCo's dynamics with drives and sensors, run into a Recording."""

from steelyard.simulate.plant import LONGEST_STEP, RUNAWAY, Plant
from steelyard.simulate.run import BANDWIDTH, SENSORS, SLOWEST_CONTROL, simulate, tracking_error

__all__ = [
    "BANDWIDTH",
    "LONGEST_STEP",
    "RUNAWAY",
    "SENSORS",
    "SLOWEST_CONTROL",
    "Plant",
    "simulate",
    "tracking_error",
]
