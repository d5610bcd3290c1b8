r"""The cut-off frequency that a recording itself suggests, with the reason."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, read_only
from steelyard.errors import InputError, RecordingError, UnknownNameError
from steelyard.recording import Recording
from steelyard.signals.sampling import uniform_interval
from steelyard.signals.spectrum import power_spectrum

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
