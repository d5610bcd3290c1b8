"""Signs that intervals are not to be trusted: noise in the measured motion biases least squares."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.interpolate
import scipy.special
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.errors import InputError, NoSolutionError
from steelyard.estimation import WEAK, instrumental_shift
from steelyard.finding import Finding, Severity
from steelyard.problem import Problem
from steelyard.recording import Recording
from steelyard.signals import Butterworth, band_of

SURPRISE = 1e-3
"""Chance of a shift this large if the motion were exact, below which bias is named."""
HARMFUL = 0.5
"""Shift in deviations of the estimate from which on its 95 % interval covers less than 93 %."""
MISSED = 1.959963984540054
"""Shift in deviations from which on a 95 % interval misses more often than it covers."""
PROMISED = 0.93
"""Share of the truth that all 95 % intervals together cover at least where they are said to hold."""
LISTED = 8
"""Parameters named in a finding, the worst first."""
CALMER = 0.5
"""Cut-off of the motion that serves as instrument, over that of the motion itself. The power of the noise in
accelerations grows with the fifth power of the cut-off: a thirtieth of it is left."""
_REFERENCES = ("q_ref", "v_ref", "a_ref")


def bias_of_recordings(
    problem: Problem, recordings: Sequence[Recording], deviations: ArrayLike | None = None
) -> tuple[Finding, ...]:
    """Ask for bias by the best instruments that logs offer.

    Those are the references, which carry no measurement noise, where every log has all three; else the motion
    itself below half of its cut-off, where little of the noise is.

    Args:
        problem: the question posed for these recordings.
        recordings: the logs, made ready, in the order of the problem.
        deviations: of the estimate whose intervals are asked about, shape (b,), SI; None for those of
            weighted least squares.

    Returns:
        What `bias_findings` finds, or a finding `bias-not-tested` that says why it could not ask.

    Raises:
        InputError: the recordings are not those of the problem.
    """
    if problem.digests != tuple(log.digest for log in recordings):
        raise InputError("are not those that the problem was posed for.", place="recordings")
    try:
        if all(name in log.channels for log in recordings for name in _REFERENCES):
            q, v, a = (np.concatenate([log.channels[name] for log in recordings]) for name in _REFERENCES)
            return bias_findings(problem, q, v, a, deviations=deviations)
        parts = [calmer_motion(log) for log in recordings]
        q, v, a = (np.concatenate(channel) for channel in zip(*parts, strict=True))
        kind = "motion below half of its cut-off"
        return bias_findings(problem, q, v, a, deviations=deviations, kind=kind)
    except (InputError, NoSolutionError) as refusal:
        return (
            Finding(
                Severity.INFO,
                "bias-not-tested",
                f"whether noise in the motion bends the estimate could not be tested: {refusal} Intervals "
                "take the motion as exact.",
            ),
        )


def bias_findings(
    problem: Problem,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    deviations: ArrayLike | None = None,
    kind: str = "references",
) -> tuple[Finding, ...]:
    r"""Ask whether least squares differs from instrumental variables by more than torque noise explains.

    Its intervals take q, v and a as exact. Where the noise that filters leave in them matters, the estimate
    is bent towards zero by an amount that no longer log cures. Then the two estimates part, by $s_k$
    deviations, and a 95 % interval covers $\Phi(1.96 - s_k) - \Phi(-1.96 - s_k)$ only. Intervals are said not
    to hold where all together cover less than 93 %, or where one of them misses more often than it covers.

    Instruments should be the motion but for its noise. Then a model that lacks something leaves the same in
    both estimates; a motion a moment earlier would part them by whatever friction remembers.

    Args:
        problem: the question, with its samples.
        q: positions of instruments, see `fit_instrumental`, shape (N, nq), rad or m.
        v: their velocities, shape (N, nv), rad/s or m/s.
        a: their accelerations, shape (N, nv), rad/s² or m/s².
        deviations: of the estimate whose intervals are asked about, shape (b,), SI; None for those of
            weighted least squares.
        kind: what the instruments are, for the message.

    Returns:
        A finding `biased-motion` that names the parameters and their shifts; one `weak-instruments` where
        the comparison means nothing; or none.

    Raises:
        InputError: the instruments do not fit the samples, or these were not kept.
        NoSolutionError: the instruments do not show a combination of parameters.
    """
    shift = instrumental_shift(problem, q, v, a)
    if shift.weakest < WEAK:
        return (
            Finding(
                Severity.INFO,
                "weak-instruments",
                f"the {kind} correlate with some combination of parameters by {shift.weakest:.2g} only; "
                "whether noise in the motion bends the estimate cannot be told by them.",
            ),
        )
    count = len(shift.values)
    own = (
        shift.deviations if deviations is None else checked("deviations", deviations, (count,), finite=False)
    )
    known = np.flatnonzero((shift.deviations > 0.0) & (np.diag(shift.covariance) > 0.0))
    off = np.zeros(count)
    off[known] = shift.values[known] / own[known]
    covered = scipy.special.ndtr(MISSED - off) - scipy.special.ndtr(-MISSED - off)
    if covered[known].mean() >= PROMISED and np.abs(off).max() <= MISSED:
        return ()
    chance = _chance(shift.values[known], shift.covariance[np.ix_(known, known)])
    if chance >= SURPRISE:
        return ()
    bent = [int(k) for k in np.argsort(-np.abs(off)) if abs(off[k]) > HARMFUL]
    listed = ", ".join(f"{problem.base.names[k]} ({off[k]:+.1f} deviations)" for k in bent[:LISTED])
    return (
        Finding(
            Severity.WARNING,
            "biased-motion",
            f"least squares and instruments from the {kind} differ by more than torque noise explains "
            f"(chance {chance:.1g}): {len(bent)} of {len(known)} base parameters by over {HARMFUL} "
            f"deviations, most of all {listed}. Their intervals do not hold: of all 95 % intervals about "
            f"{100.0 * covered[known].mean():.0f} % cover.",
        ),
    )


def calmer_motion(recording: Recording) -> tuple[Array, Array, Array]:
    """The motion below half of its cut-off, as instruments where no reference was logged.

    What noise a low-pass leaves in velocities and accelerations lies near its cut-off, and what moves a robot
    far below it.

    Args:
        recording: a log made ready, with its cut-off in its history; it may lack samples.

    Returns:
        q, shape (N, nq), rad or m; v, shape (N, nv), rad/s or m/s; and a, shape (N, nv), rad/s² or m/s².

    Raises:
        InputError: no cut-off is known, or a channel was not recorded.
    """
    cutoff = band_of(recording)
    if cutoff is None:
        raise InputError(
            "no references were logged, and no low-pass is known below which the motion could stand for "
            "them.",
            place="recordings",
        )
    if missing := [name for name in "qva" if name not in recording.channels]:
        raise InputError(f"has no {', '.join(missing)}.", place="recordings")
    t = recording.time
    interval = float(np.median(np.diff(t)))
    # Samples left out next to turns are filled in, so that the filter runs over even time.
    even = t[0] + interval * np.arange(int(np.ceil((t[-1] - t[0]) / interval)) + 1)
    low_pass = Butterworth(CALMER * cutoff)
    calm = []
    for name in "qva":
        filled = scipy.interpolate.make_interp_spline(t, recording.channels[name], k=1)(
            np.minimum(even, t[-1])
        )
        smooth = low_pass.filtered(filled, interval, 0, 0)
        calm.append(np.asarray(scipy.interpolate.make_interp_spline(even, smooth, k=1)(t)))
    return calm[0], calm[1], calm[2]


def _chance(shift: Array, covariance: Array) -> float:
    """Chance that torque noise alone makes a shift at least this large, by its squared length."""
    scale = np.sqrt(np.diag(covariance))
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    alive = values > 1e-6 * values[-1]
    u = (vectors[:, alive].T @ (shift / scale)) / np.sqrt(values[alive])
    return float(scipy.special.chdtrc(int(alive.sum()), float(u @ u)))
