r"""Which measured signal accelerations are made from: positions, differentiated twice, or velocities, once.

Noise of density $P_q$ in positions has the density $(2\pi f)^2 P_q$ in their derivative; that of measured
velocities is $P_v$. The better one is the quieter. But most velocities of logs were made from positions by
someone else, with a filter and a delay of his own: they look quiet and hold nothing new. The difference

$$d = v - \dot q$$

tells the two apart within the motion's band. Where v was measured by itself, d is the noise of both, as large
as the floors of the two spectra say. Where v was made from q, d is far smaller than the noise of $\dot q$;
where v is late or scaled, d follows the motion and is far larger. Only the first kind is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.interpolate import make_interp_spline

from steelyard.recording import Recording
from steelyard.signals.cutoff import Cutoff
from steelyard.signals.sampling import uniform_interval
from steelyard.signals.spectrum import power_spectrum

QUIETER = 0.1
"""Noise power of measured velocities over that of differentiated positions from which on they are used."""
ALIKE = 3.0
"""Factor within which the power of the difference must be that of the two noises."""
LOWEST = 0.2
"""Part of the band, from below, that is not looked at: there a window sees drift."""


@dataclass(frozen=True)
class DerivativeSource:
    """What accelerations are to be made from.

    Attributes:
        channel: `q` or `v`.
        reason: why, in one sentence; empty where there is no choice.
    """

    channel: Literal["q", "v"]
    reason: str = ""


def derivative_source(recording: Recording, cutoff: Cutoff) -> DerivativeSource:
    """Choose between positions and measured velocities.

    Args:
        recording: a uniform recording.
        cutoff: what `cutoff_of` says of its positions: band and noise floor of each joint.

    Returns:
        The source; positions where there are no velocities.
    """
    if recording.v is None:
        return DerivativeSource("q")
    h = uniform_interval(recording)
    t = h * np.arange(recording.n)
    rates = make_interp_spline(t, recording.q, k=min(5, recording.n - 1)).derivative()(t)
    f, P = power_spectrum(recording.v, h)
    D = power_spectrum(recording.v - rates, h)[1]
    quieter, alike = [], []
    for j, edge in enumerate(cutoff.each):
        band = (f >= LOWEST * edge) & (f <= edge)
        above = (f > edge) & (f <= 2.0 * edge)
        if not edge > 0.0 or band.sum() < 2 or above.sum() < 2:
            continue
        positions = (2.0 * np.pi * f[band]) ** 2 * cutoff.floor[j] ** 2
        # Above the band of the positions some motion may be left in the velocities, which errs on their side.
        velocities = float(P[above, j].mean())
        quieter.append(velocities / positions.mean())
        alike.append(D[band, j].sum() / (positions + velocities).sum())
    if not quieter:
        return DerivativeSource("q")
    noise, difference = float(np.median(quieter)), float(np.median(alike))
    if difference < 1.0 / ALIKE:
        return DerivativeSource(
            "q", "measured velocities follow the positions so closely that they say nothing new."
        )
    if difference > ALIKE:
        return DerivativeSource(
            "q", "measured velocities differ from the positions' by more than noise, so they are not used."
        )
    if noise > QUIETER:
        return DerivativeSource("q", "measured velocities are no quieter than differentiated positions.")
    return DerivativeSource(
        "v",
        f"measured velocities have {np.sqrt(noise):.2g} times the noise of differentiated positions, so "
        "accelerations are made from them.",
    )
