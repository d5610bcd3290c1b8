r"""Units and rates that contradict each other: velocities against the derivative of positions.

What is compared are integrals, which noise and quantisation leave alone: with
$s_j(t) = \int_0^t v_j\,dt$, positions and velocities agree when $s_j$ and $q_j$ differ by a constant. The
ratio of their spreads tells which unit or which clock is wrong, their correlation whether they belong
together.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from steelyard.arrays import Array
from steelyard.finding import Finding, Severity
from steelyard.recording.recording import Recording

AGREE = 0.05
"""Part by which the integral of v may differ from q."""
ALIKE = 0.9
"""Correlation above which two signals are the same one up to scale."""
DEGREES = 180.0 / np.pi
TURN = 2.0 * np.pi


def scale_findings(recording: Recording) -> Iterator[Finding]:
    """Yield contradictions between positions, velocities, references and the clock.

    Args:
        recording: the recording.

    Yields:
        The findings; none for joints that do not move.
    """
    farthest = np.abs(recording.q).max(axis=0)
    if np.median(farthest) > TURN:
        yield Finding(
            Severity.WARNING,
            "degrees-suspected",
            f"half of the joints go beyond a full turn, up to {farthest.max():.4g} rad: positions look like "
            "degrees, and no unit was stated.",
            "q",
        )
    if recording.v is not None:
        yield from _velocities(recording, recording.v)
    if recording.q_ref is not None:
        yield from _references(recording, recording.q_ref)


def _velocities(recording: Recording, v: Array) -> Iterator[Finding]:
    dt = np.diff(recording.time)[:, None]
    s = np.vstack([np.zeros(v.shape[1]), np.cumsum(0.5 * (v[1:] + v[:-1]) * dt, axis=0)])
    s, q = _detrended(recording.time, s), _detrended(recording.time, recording.q)
    spread_s, spread_q = s.std(axis=0), q.std(axis=0)
    ratios: dict[str, float] = {}
    for j in np.flatnonzero((spread_q > 1e-3 * spread_q.max()) & (spread_s > 0.0)):
        joint = recording.joints[j]
        likeness = float((s[:, j] * q[:, j]).mean() / (spread_s[j] * spread_q[j]))
        if likeness < -ALIKE:
            message = "the velocity has the opposite sign of the derivative of the position."
            yield Finding(Severity.WARNING, "velocity-sign", message, f"joint '{joint}'")
        elif likeness < ALIKE:
            message = f"the integral of the velocity and the position differ (correlation {likeness:.2f})."
            yield Finding(Severity.WARNING, "velocity-mismatch", message, f"joint '{joint}'")
        if abs(likeness) > ALIKE:
            ratios[joint] = float(spread_s[j] / spread_q[j])
    if not ratios:
        return
    ratio = float(np.median(list(ratios.values())))
    if abs(ratio - 1.0) > AGREE:
        yield _contradiction(recording, ratio)
    for joint, single in ratios.items():
        if abs(single / ratio - 1.0) > AGREE:
            message = f"the velocity is {single:.4g} times dq/dt, where other joints have {ratio:.4g}."
            yield Finding(Severity.WARNING, "velocity-scale", message, f"joint '{joint}'")


def _contradiction(recording: Recording, ratio: float) -> Finding:
    if abs(ratio / DEGREES - 1.0) < AGREE:
        said = "velocities are in degrees per second and positions in radians"
        return Finding(Severity.ERROR, "units-contradict", f"v is {ratio:.4g} times dq/dt: {said}.", "v")
    if abs(ratio * DEGREES - 1.0) < AGREE:
        said = "positions are in degrees and velocities in radians per second"
        return Finding(Severity.ERROR, "units-contradict", f"v is {ratio:.4g} times dq/dt: {said}.", "q")
    return Finding(
        Severity.ERROR,
        "rate-contradicted",
        f"v is {ratio:.4g} times dq/dt: by its velocities the log runs at {recording.rate * ratio:.4g} Hz, "
        f"not at the {recording.rate:.4g} Hz of its clock.",
        "time",
    )


def _references(recording: Recording, q_ref: Array) -> Iterator[Finding]:
    for j, joint in enumerate(recording.joints):
        reference, q = q_ref[:, j], recording.q[:, j]
        spread, wanted = float(q.std()), float(reference.std())
        if not (spread > 0.0 and wanted > 0.0):
            continue
        likeness = float(np.corrcoef(reference, q)[0, 1])
        ratio = wanted / spread
        if likeness > ALIKE and abs(ratio - 1.0) > 4.0 * AGREE:
            hint = " (degrees against radians)" if abs(np.log(ratio)) > np.log(DEGREES) - AGREE else ""
            yield Finding(
                Severity.WARNING,
                "reference-scale",
                f"the commanded position moves {ratio:.4g} times as far as the measured one{hint}.",
                f"joint '{joint}'",
            )


def _detrended(time: Array, values: Array) -> Array:
    """Without mean and slope: a small offset of a velocity must not drown its integral."""
    t = time - time.mean()
    centred = values - values.mean(axis=0)
    slope = t @ centred / (t @ t)
    return np.asarray(centred - t[:, None] * slope)
