r"""The band in which torques are compared: below the cut-off of the motion they are predicted from.

A motion that passed a low-pass F tells nothing of the torque above its cut-off. There the measured torque is
noise, and the predicted one has the jumps of dry friction, sharper than any motor's torque. So both pass F:

$$e = F\tau - F\hat\tau = F(\tau - \hat\tau)$$
"""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array, checked
from steelyard.errors import InputError
from steelyard.recording import Recording
from steelyard.signals.butterworth import Butterworth
from steelyard.signals.prepared_step import stated
from steelyard.signals.rows import runs

_SAME_STEP = 1.5  # a longer interval, in median ones, parts two stretches


def band_of(recording: Recording) -> float | None:
    """Return the cut-off below which torques along a recording are to be compared.

    Args:
        recording: any recording.

    Returns:
        The cut-off, Hz; None where the history states none, as for held poses.
    """
    return stated(recording, "cutoff")


def in_band(recording: Recording, series: Array) -> Array:
    """Pass a series along a recording through the low-pass that its motion passed, forwards and backwards.

    Each stretch without a gap passes by itself, and no sample is cut: what is compared has the same ends.

    Args:
        recording: a recording, whole or in stretches.
        series: samples at its times, shape (N, n), SI, such as measured or predicted torques.

    Returns:
        The filtered samples, shape (N, n), SI; unchanged where the history states no band.

    Raises:
        InputError: there are not as many samples as the recording has.
    """
    x = checked("series", series, ("N", "n"))
    if len(x) != recording.n:
        raise InputError(f"has {len(x)} samples, the recording {recording.n}.", place="series")
    cutoff = band_of(recording)
    if cutoff is None:
        return x
    steps = np.diff(recording.time)
    interval = float(np.median(steps))
    joined = np.concatenate((steps < _SAME_STEP * interval, [False]))
    low_pass, y = Butterworth(cutoff), np.array(x)
    for start, last in runs(joined):
        y[start : last + 1] = low_pass.filtered(x[start : last + 1], interval, 0, 0)
    return y
