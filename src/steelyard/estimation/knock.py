r"""A knock: a short burst of residual far outside the noise, where something touched the robot.

With $e$ what a model of the robot leaves of the torques and $\sigma_k$ the robust deviation of joint k,
$1.4826 \operatorname{median}|e_k|$, a sample belongs to a knock where

$$\max_k |e_k(t)| / \sigma_k > 25$$

nearby. Friction that a model lacks leaves residuals of several deviations wherever a joint turns, all along
the log, of up to twenty on real arms; what touches a robot does so for a moment, once or a few times. So
bursts count only if each is short and all together are rare. Where a log begins or ends the robot starts or
stops, so a burst there is none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.arrays import Array, BoolArray
from steelyard.estimation.equations import base_rows, residuals
from steelyard.estimation.linear import settled_weights
from steelyard.finding import Finding, Severity
from steelyard.problem import Problem
from steelyard.recording import Recording
from steelyard.signals import with_rows

FAR = 25.0
"""Robust deviations of a joint's residual beyond which a sample is no noise."""
FRINGE = 5.0
"""Deviations down to which the samples around it belong to the same burst."""
SHORT = 0.5
"""Longest burst that is a knock, s."""
RARE = 0.05
"""Largest share of the samples that all knocks together may have."""
AROUND = 3
"""Samples left out before and after a burst: filters spread it."""
NOTHING = 1e-6
"""Residual relative to the torque's rms that is no residual."""
_ROUNDS, _MAD = 3, 1.4826


def without_knocks(
    problem: Problem, recordings: Sequence[Recording]
) -> tuple[tuple[Recording, ...], tuple[Finding, ...]]:
    """Leave out the samples of knocks.

    The model is fitted again without them, so that a hard knock does not hide a soft one.

    Args:
        problem: the question posed for these recordings, linear in its parameters.
        recordings: logs with q, v, a and tau, made ready.

    Returns:
        The recordings without the knocks, and a finding for each recording that has some.

    Raises:
        InputError: the samples were not kept.
        NoSolutionError: there are too few samples.
    """
    kept = [np.ones(log.n, dtype=np.bool_) for log in recordings]
    names = [joint.name for joint in problem.robot.joints if joint.nv]
    worst: dict[int, tuple[float, float, int]] = {}
    for _ in range(_ROUNDS):
        runs = [
            log if rows.all() else with_rows(log, rows) for log, rows in zip(recordings, kept, strict=True)
        ]
        posed = problem if all(rows.all() for rows in kept) else problem.asked_of(runs)
        _, plain = settled_weights(posed, "infinite")
        left = np.concatenate(residuals(base_rows(posed), plain.values))
        z = np.abs(left) / _scale(left, posed.samples.tau)
        new = False
        for k, (part, run) in enumerate(zip(posed.samples.motions, runs, strict=True)):
            far = z[part]
            at = _bursts(run.time, far.max(axis=1))
            if not at.any():
                continue
            i, j = (int(x) for x in np.unravel_index(int(np.argmax(far)), far.shape))
            worst.setdefault(k, (float(run.time[i]), float(far[i, j]), j))
            kept[k][np.flatnonzero(kept[k])[at]] = False
            new = True
        if not new:
            break
    removed = sum(int((~rows).sum()) for rows in kept)
    if not worst or removed > RARE * sum(log.n for log in recordings):
        return tuple(recordings), ()
    findings = [_finding(recordings[k], kept[k], *worst[k], names) for k in sorted(worst)]
    left_over = (
        log if rows.all() else with_rows(log, rows, "without_knocks")
        for log, rows in zip(recordings, kept, strict=True)
    )
    return tuple(left_over), tuple(findings)


def _scale(left: Array, tau: Array) -> Array:
    """Robust deviation of each joint's residual, shape (nv,), N·m or N."""
    size = np.sqrt((tau**2).mean(axis=0))
    floor = np.where(size > 0.0, NOTHING * size, 1.0)
    return np.maximum(_MAD * np.median(np.abs(left), axis=0), floor)


def _bursts(time: Array, far: Array) -> BoolArray:
    """Samples of bursts that are short, with those around them, shape (N,)."""
    found = np.zeros(len(far), dtype=np.bool_)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], (far > FRINGE).astype(np.int8), [0]))))
    for first, after in edges.reshape(-1, 2):
        inside = first >= AROUND and after <= len(far) - AROUND
        if inside and far[first:after].max() > FAR and time[after - 1] - time[first] <= SHORT:
            found[max(first - AROUND, 0) : after + AROUND] = True
    return found


def _finding(
    log: Recording, kept: BoolArray, when: float, far: float, joint: int, names: Sequence[str]
) -> Finding:
    count = int((np.diff(np.concatenate(([1], kept.astype(np.int8), [1]))) < 0).sum())
    bursts = "a burst" if count == 1 else f"{count} bursts"
    return Finding(
        Severity.WARNING,
        "knock",
        f"{bursts} of torque that no motion explains, largest at {when:.4g} s at '{names[joint]}', {far:.0f} "
        f"times its usual residual: something touched the robot. {int((~kept).sum())} of {log.n} samples are "
        "left out.",
        "tau",
    )
