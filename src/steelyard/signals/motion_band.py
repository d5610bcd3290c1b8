"""The band of a motion: where the power of its accelerations lies."""

from __future__ import annotations

from typing import Literal

import numpy as np

from steelyard.arrays import Array, checked
from steelyard.recording import Recording
from steelyard.signals.sampling import uniform_interval
from steelyard.signals.spectrum import power_spectrum

REST = 1e-4
"""Share of a joint's acceleration power that may lie above its band."""


def motion_band(recording: Recording, edges: Array, channel: Literal["q", "v"] = "q") -> Array:
    r"""Return the frequency below which a joint's accelerations have all but 1/10000 of their power.

    The power $(2\pi f)^4 P(f)$ of the twice differentiated position, or $(2\pi f)^2 P(f)$ of a measured
    velocity, is added up to the joint's edge, beyond which noise rules. A log that is free of noise has its
    edge far above the motion, wherever rounding puts it; the band stays where the motion is.

    Args:
        recording: a uniform recording.
        edges: frequency beyond which noise rules each joint, as `Cutoff.each`, shape (nj,), Hz.
        channel: what accelerations are made from.

    Returns:
        The band of each joint, shape (nj,), Hz; 0 where one stands.
    """
    limits = checked("edges", edges, (len(recording.joints),))
    f, P = power_spectrum(recording.channels[channel], uniform_interval(recording))
    band = np.zeros(len(limits))
    for j, limit in enumerate(limits):
        below = f <= limit
        power = np.cumsum(f[below] ** (2 if channel == "v" else 4) * P[below, j])
        if limit > 0.0 and power[-1] > 0.0:
            band[j] = f[below][np.searchsorted(power, (1.0 - REST) * power[-1])]
    return band
