"""The band of a motion, the cut-off that a recording itself suggests, and which signal to differentiate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.fft
from scipy.interpolate import make_interp_spline

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError, RecordingError, UnknownNameError
from steelyard.recording import Recording
from steelyard.signals.sampling import uniform_interval

# The power of a signal by frequency.

_BLACKMAN_HARRIS = (0.35875, -0.48829, 0.14128, -0.01168)
"""Cosines of the window of four terms whose side lobes lie 92 dB below its peak (Harris 1978)."""


def power_spectrum(series: Array, interval: float) -> tuple[Array, Array]:
    r"""One-sided power spectral density of each column, its mean taken off.

    $$P(f) = \frac{2h}{\sum_t w_t^2}\,\Big|\sum_t w_t\,(x_t - \bar x)\,e^{-2\pi i f t h}\Big|^2$$

    The window w is that of Blackman and Harris: motions lie ten orders of power above the noise of an
    encoder, and side lobes of a simpler window would cover it. The mean and, of an even number of samples,
    Nyquist's frequency have no second side, so no factor 2.

    Args:
        series: samples, shape (N, n), any unit.
        interval: sampling interval h, s.

    Returns:
        Frequencies, shape (N // 2 + 1,), Hz, and P, shape (N // 2 + 1, n), squared unit per Hz.
    """
    N = len(series)
    turns = 2.0 * np.pi * np.arange(N) / N
    window = np.cos(np.outer(turns, np.arange(len(_BLACKMAN_HARRIS)))) @ _BLACKMAN_HARRIS
    windowed = window[:, None] * (series - series.mean(axis=0))
    transform = scipy.fft.rfft(windowed, axis=0)
    P = interval / (window @ window) * (transform.real**2 + transform.imag**2)
    P[1 : (N + 1) // 2] *= 2.0
    return np.asarray(scipy.fft.rfftfreq(N, interval)), np.asarray(P)


# The cut-off frequency, with its reason

NYQUIST_SHARE = 0.8
"""Largest cut-off, as a share of the Nyquist frequency."""
HALF_WIDTH = 12
"""Frequencies averaged to each side of one, so that the spectrum of noise is smooth."""
WANDERING = 10.0
"""How far a sum of noise over n frequencies may wander, in its mean times the root of n."""
_REST = 1e-4  # share of the position's power above the band that surely is motion
_FEWEST = 100  # samples


@dataclass(frozen=True, eq=False)
class Cutoff:
    """A cut-off frequency and what it rests on.

    Attributes:
        frequency: the cut-off for all joints, Hz.
        reason: why, in one sentence.
        each: frequency beyond which noise rules the acceleration of each joint, shape (nj,), Hz; 0 where
            one stands.
        floor: noise density of each joint's channel there, shape (nj,), SI (rad/√Hz or m/√Hz for positions).
    """

    frequency: float
    reason: str
    each: Array
    floor: Array


def cutoff_of(recording: Recording, channel: str = "q", margin: float = 2.0) -> Cutoff:
    r"""Find the frequency beyond which positions hold noise rather than motion, and a cut-off above it.

    Differentiated twice, a position spectrum P becomes $(2\pi f)^4 P(f)$. Motion falls with frequency, noise
    rises, whether it is white or falls slower than $f^{-4}$ as that of real logs does; between them lies a
    valley. The edge of a joint is that valley: the lowest point of the spectrum, averaged over 25 neighbours,
    above the band that holds all but 1/10000 of the motion's power. The density of P there is its
    noise floor. As every joint's motion enters every torque, the highest edge counts for all.

    The cut-off is `margin` times the edge: at 2 a zero-phase Butterworth of order 4 passes what lies
    below the edge to 0.4 %. It is bounded by 0.8 of the Nyquist frequency.

    Args:
        recording: a uniform recording of at least 100 samples.
        channel: `q`, or `q_ref` for the band of the commanded motion; `v` for measured velocities, which are
            differentiated once, so that their spectrum becomes $(2\pi f)^2 P(f)$.
        margin: cut-off over edge, at least 1.

    Returns:
        The cut-off with its reason.

    Raises:
        UnknownNameError: the recording has no such channel.
        RecordingError: nothing moves, or there are too few samples.
    """
    h = uniform_interval(recording)
    series = recording.channels.get(channel)
    if series is None:
        raise UnknownNameError("channel of this recording", channel, tuple(recording.channels))
    if not margin >= 1.0:
        raise InputError(f"must be at least 1, got {margin:g}.", place="margin")
    if recording.n < _FEWEST:
        raise RecordingError(f"has {recording.n} samples; a spectrum needs {_FEWEST}.", place=channel)
    f, P = power_spectrum(series, h)
    moving = np.flatnonzero(np.ptp(series, axis=0) > 0.0)
    if not moving.size:
        raise RecordingError("nothing moves.", place=channel)
    ceiling = NYQUIST_SHARE * 0.5 / h
    each, floor = np.zeros(series.shape[1]), np.zeros(series.shape[1])
    for column in moving:
        each[column], floor[column] = _edge(f, P[:, column], ceiling, 2 if channel == "v" else 4)
    j = int(np.argmax(each))
    frequency = float(min(margin * each[j], ceiling))
    what = f"{channel} of joint '{recording.joints[j]}'"
    density = f"{floor[j]:.3g} (rad or m){'/s' if channel == 'v' else ''}/√Hz"
    if each[j] < ceiling:
        reason = (
            f"noise rules {what} beyond {each[j]:.4g} Hz, the highest of all joints, with a floor of "
            f"{density}; the cut-off is {frequency / each[j]:.3g} times that."
        )
    else:
        reason = (
            f"no noise is seen in {what}, whose acceleration falls up to {ceiling:.4g} Hz: free of noise or "
            f"already filtered (density there {density}); bounded by {NYQUIST_SHARE:g} of Nyquist's."
        )
    return Cutoff(frequency, reason, read_only(each), read_only(floor))


def _edge(f: Array, P: Array, ceiling: float, power: int) -> tuple[float, float]:
    """Frequency of the valley of f^power P, Hz, and root of the power density there."""
    noise = float(np.median(P[len(P) // 2 :])) / np.log(2.0)  # mean from median
    excess = np.cumsum(P - noise)
    # The sum of noise wanders: neighbours share the window, and its own mean is an estimate.
    rest = max(_REST * excess.max(), WANDERING * noise * np.sqrt(len(P)))
    band = int(np.argmax(excess >= excess.max() - rest))
    smooth = _averaged(P)
    last = max(int(np.searchsorted(f, ceiling)), band + 1)
    valley = band + int(np.argmin(f[band:last] ** power * smooth[band:last]))
    return float(f[max(valley, 1)] if valley < last - 1 else ceiling), float(np.sqrt(smooth[valley]))


def _averaged(P: Array) -> Array:
    """Mean over neighbours; the ends average over those there are."""
    width = np.ones(2 * HALF_WIDTH + 1)
    mean: Array = np.convolve(P, width, "same") / np.convolve(np.ones(len(P)), width, "same")
    return mean


# The band of a motion: where the power of its accelerations lies.

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


# Which measured signal accelerations are made from: positions, differentiated twice, or velocities, once.
#
# Noise of density $P_q$ in positions has the density $(2\pi f)^2 P_q$ in their derivative; that of measured
# velocities is $P_v$. The better one is the quieter. But most velocities of logs were made from positions by
# someone else, with a filter and a delay of his own: they look quiet and hold nothing new. The difference
#
# $$d = v - \dot q$$
#
# tells the two apart within the motion's band. Where v was measured by itself, d is the noise of both, as
# large as the floors of the two spectra say. Where v was made from q, d is far smaller than the noise of
# $\dot q$; where v is late or scaled, d follows the motion and is far larger. Only the first kind is used.

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
