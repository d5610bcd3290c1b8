"""Signs that intervals are not to be trusted: noise in the measured motion bends least squares."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.stats
from numpy.typing import ArrayLike

from steelyard.arrays import Array
from steelyard.errors import InputError, NoSolutionError
from steelyard.estimation import WEAK, instrumental_shift
from steelyard.finding import Finding, Severity
from steelyard.problem import Evidence, Problem
from steelyard.recording import Recording
from steelyard.signals import band_of

SURPRISE = 1e-3
"""Chance of a shift this large if the motion were exact, below which bias is named."""
HARMFUL = 0.5
"""Shift in deviations of the estimate from which on its 95 % interval covers less than 93 %."""
LISTED = 8
"""Parameters named in a finding, the worst first."""
MEMORY = 2.0
"""Periods of the cut-off after which a zero-phase low-pass has forgotten noise."""
_REFERENCES = ("q_ref", "v_ref", "a_ref")


def bias_of_recordings(problem: Problem, recordings: Sequence[Recording]) -> tuple[Finding, ...]:
    """Ask for bias by the best instruments that logs offer.

    Those are the references, which carry no measurement noise, where every log has all three; else the motion
    itself, earlier than its low-pass remembers.

    Args:
        problem: the question posed for these recordings.
        recordings: the logs, made ready, in the order of the problem.

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
            return bias_findings(problem, q, v, a)
        lag = max(_memory(log) for log in recordings)
        return bias_findings(problem, *lagged(problem.samples, lag), kind="motion a moment earlier")
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
    problem: Problem, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, kind: str = "references"
) -> tuple[Finding, ...]:
    """Ask whether least squares differs from instrumental variables by more than torque noise explains.

    Its intervals take q, v and a as exact. Where the noise that filters leave in them matters, the estimate
    is bent towards zero by an amount that no longer log cures, and the intervals miss. Then the two estimates
    part. A model that lacks something can part them as well; either way the intervals are not honest.

    Args:
        problem: the question, with its samples.
        q: positions of instruments, see `fit_instrumental`, shape (N, nq), rad or m.
        v: their velocities, shape (N, nv), rad/s or m/s.
        a: their accelerations, shape (N, nv), rad/s² or m/s².
        kind: what the instruments are, for the message.

    Returns:
        A finding `biased-motion` that names the parameters and their shifts, one `weak-instruments` where
        the comparison means little, or none.

    Raises:
        InputError: the instruments do not fit the samples, or these were not kept.
        NoSolutionError: the instruments do not show a combination of parameters.
    """
    shift = instrumental_shift(problem, q, v, a)
    findings = []
    if shift.weakest < WEAK:
        findings.append(
            Finding(
                Severity.INFO,
                "weak-instruments",
                f"the {kind} correlate with some combination of parameters by {shift.weakest:.2g} only; bias "
                "along it would go unnoticed.",
            )
        )
    known = np.flatnonzero((shift.deviations > 0.0) & (np.diag(shift.covariance) > 0.0))
    off = np.zeros(len(shift.values))
    off[known] = shift.values[known] / shift.deviations[known]
    bent = [int(k) for k in np.argsort(-np.abs(off)) if abs(off[k]) > HARMFUL]
    if bent and (chance := _chance(shift.values[known], shift.covariance[np.ix_(known, known)])) < SURPRISE:
        listed = ", ".join(f"{problem.base.names[k]} ({off[k]:+.1f} deviations)" for k in bent[:LISTED])
        findings.append(
            Finding(
                Severity.WARNING,
                "biased-motion",
                f"least squares and instruments from the {kind} differ by more than torque noise explains "
                f"(chance {chance:.1g}): {len(bent)} of {len(known)} base parameters by over {HARMFUL} "
                f"deviations, most of all {listed}. Their intervals do not hold.",
            )
        )
    return tuple(findings)


def lagged(evidence: Evidence, lag: int) -> tuple[Array, Array, Array]:
    """The motion some samples earlier, as instruments where no reference was logged.

    A smooth motion is much the same a moment earlier, while noise older than the filters' memory is not. The
    first samples of each motion are taken as they stand.

    Args:
        evidence: the samples.
        lag: how many samples earlier, more than the filters' memory.

    Returns:
        q, shape (N, nq), rad or m; v, shape (N, nv), rad/s or m/s; and a, shape (N, nv), rad/s² or m/s².

    Raises:
        InputError: the lag is not positive or exceeds a motion.
    """
    shortest = min(part.stop - part.start for part in evidence.motions)
    if not 1 <= lag < shortest:
        raise InputError(f"must be 1 to {shortest - 1} samples, got {lag}.", place="lag")
    index = np.concatenate(
        [np.maximum(np.arange(part.start, part.stop) - lag, part.start) for part in evidence.motions]
    )
    return evidence.q[index], evidence.v[index], evidence.a[index]


def _memory(recording: Recording) -> int:
    """Samples that the low-pass of a recording remembers."""
    cutoff = band_of(recording)
    if cutoff is None:
        raise InputError(
            "no references were logged, and no low-pass is known whose memory would say how much earlier the "
            "motion must be.",
            place="recordings",
        )
    return int(np.ceil(MEMORY / cutoff / float(np.median(np.diff(recording.time)))))


def _chance(shift: Array, covariance: Array) -> float:
    """Chance that torque noise alone makes a shift at least this large, by its squared length."""
    scale = np.sqrt(np.diag(covariance))
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    alive = values > 1e-6 * values[-1]
    u = (vectors[:, alive].T @ (shift / scale)) / np.sqrt(values[alive])
    return float(scipy.stats.chi2.sf(float(u @ u), int(alive.sum())))
