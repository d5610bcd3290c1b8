"""Signals: each step takes a recording and returns a new one that names the step in its history.

Put time right (`split_at_gaps`, `evenly_timed`), choose the filter (`cutoff_of`) and
differentiate (`differentiated`), choose the interval (`resampled`), then remove rows (`without_turning`).
"""

from steelyard.signals.band import band_of, in_band
from steelyard.signals.butterworth import Butterworth
from steelyard.signals.cutoff import cutoff_of
from steelyard.signals.delay import without_delay
from steelyard.signals.differentiator import Differentiator, differentiated, smoothed
from steelyard.signals.gaps import split_at_gaps
from steelyard.signals.held_poses import held_poses
from steelyard.signals.keep_apart import kept_apart
from steelyard.signals.limited import is_limited, without_limited
from steelyard.signals.motion_band import motion_band
from steelyard.signals.period import period_of
from steelyard.signals.preparation import Preparation, prepared, prepared_alike
from steelyard.signals.recursion import recursion
from steelyard.signals.repeats import repeats_after
from steelyard.signals.resample import resampled
from steelyard.signals.rows import with_rows
from steelyard.signals.sampling import sampling_of, uniform_interval
from steelyard.signals.spectrum import power_spectrum
from steelyard.signals.stages import CentralDifferences
from steelyard.signals.standstill import is_moving, main_motion
from steelyard.signals.torque import torque_from_current
from steelyard.signals.turning import is_turning, without_turning
from steelyard.signals.uniform_time import evenly_timed, restamped, to_uniform_time
from steelyard.signals.warp import SOURCE_TIME, aligned, warping_path

__all__ = [
    "SOURCE_TIME",
    "Butterworth",
    "CentralDifferences",
    "Differentiator",
    "Preparation",
    "aligned",
    "band_of",
    "cutoff_of",
    "differentiated",
    "evenly_timed",
    "held_poses",
    "in_band",
    "is_limited",
    "is_moving",
    "is_turning",
    "kept_apart",
    "main_motion",
    "motion_band",
    "period_of",
    "power_spectrum",
    "prepared",
    "prepared_alike",
    "recursion",
    "repeats_after",
    "resampled",
    "restamped",
    "sampling_of",
    "smoothed",
    "split_at_gaps",
    "to_uniform_time",
    "torque_from_current",
    "uniform_interval",
    "warping_path",
    "with_rows",
    "without_delay",
    "without_limited",
    "without_turning",
]
