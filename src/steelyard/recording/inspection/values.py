"""The values of single channels: dead ones, saturation, quantisation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from steelyard.arrays import Array
from steelyard.finding import Finding, Severity
from steelyard.recording.channels import CHANNELS, column_name
from steelyard.recording.inspection.saturation import saturation_findings
from steelyard.recording.recording import Recording

COARSE = 1e-5
"""A quantum smaller than this part of the signal's span is not worth a word."""
_WHOLE = 0.1
_MOST = 0.95
_EVEN = 0.4


def value_findings(recording: Recording) -> Iterator[Finding]:
    """Yield what single channels show by themselves.

    Args:
        recording: the recording.

    Yields:
        Dead columns, saturated torques and currents, and the quanta found.
    """
    yield from saturation_findings(recording)
    for channel, values in recording.channels.items():
        steps = {}
        for j, joint in enumerate(recording.joints):
            x = values[:, j]
            name = column_name(channel, joint)
            if (x == x[0]).all():
                yield _dead(channel, name, x[0])
                continue
            step = quantum(x)
            if step > COARSE * np.ptp(x):
                steps[joint] = step
        if steps:
            listed = ", ".join(f"{joint} {step:.3g}" for joint, step in steps.items())
            unit = CHANNELS[channel].unit
            yield Finding(Severity.INFO, "quantised", f"comes in steps, in {unit}: {listed}.", channel)


def quantum(values: Array) -> float:
    """Return the step in which a signal comes.

    The candidate is the smallest gap between neighbouring values that occur (its fifth percentile, as text
    with few digits blurs it). It is the step when nineteen of twenty small gaps are whole multiples of it, to
    a tenth, or when there are hardly larger gaps at all. Values of a continuous signal lie at random
    distances and pass neither test.

    Args:
        values: the signal, shape (N,), SI.

    Returns:
        The step, in the signal's unit; 0 when it comes in none.
    """
    gaps = np.diff(np.unique(values))
    if len(gaps) < 2:
        return float(gaps.sum())
    usual = float(np.median(gaps))
    # Far below the usual gap are values that text or arithmetic spells in two ways.
    gaps = gaps[gaps > 1e-3 * usual]
    smallest = float(np.quantile(gaps, 0.05))
    single = gaps[(gaps > 0.5 * smallest) & (gaps < 1.5 * smallest)]
    if not len(single):
        return 0.0
    step = float(np.median(single))
    multiples = gaps[(gaps > 0.5 * step) & (gaps < 5.5 * step)] / step
    whole = np.abs(multiples - np.round(multiples)) < _WHOLE
    return step if whole.mean() > _MOST or smallest > _EVEN * usual else 0.0


def _dead(channel: str, name: str, value: float) -> Finding:
    if channel in ("q", "q_ref"):
        message = f"does not move: it is {value:.6g} throughout."
        return Finding(Severity.WARNING, "still-joint", message, name)
    return Finding(Severity.WARNING, "dead-channel", f"is {value:.6g} throughout.", name)
