"""Signals: each step takes a recording and returns a new one that names the step in its history.

Put time right (`split_at_gaps`, `evenly_timed`), choose the filter (`cutoff_of`) and
differentiate (`differentiated`), choose the interval (`resampled`), then remove rows (`without_turning`).
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.signals.alignment import SOURCE_TIME, aligned, without_delay
    from steelyard.signals.cutoff import power_spectrum
    from steelyard.signals.differentiation import Butterworth, CentralDifferences, differentiated, recursion
    from steelyard.signals.holdout_split import holdout_split
    from steelyard.signals.preparation import (
        Preparation,
        band_of,
        in_band,
        prepared,
        prepared_alike,
        torque_from_current,
    )
    from steelyard.signals.sampling import (
        evenly_timed,
        resampled,
        sampling_of,
        split_at_gaps,
        uniform_interval,
    )
    from steelyard.signals.selection import (
        held_poses,
        is_limited,
        is_turning,
        with_rows,
        without_limited,
        without_turning,
    )

__all__ = [
    "SOURCE_TIME",
    "Butterworth",
    "CentralDifferences",
    "Preparation",
    "aligned",
    "band_of",
    "differentiated",
    "evenly_timed",
    "held_poses",
    "holdout_split",
    "in_band",
    "is_limited",
    "is_turning",
    "power_spectrum",
    "prepared",
    "prepared_alike",
    "recursion",
    "resampled",
    "sampling_of",
    "split_at_gaps",
    "torque_from_current",
    "uniform_interval",
    "with_rows",
    "without_delay",
    "without_limited",
    "without_turning",
]

open_door(__name__)
