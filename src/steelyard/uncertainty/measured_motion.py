r"""Whether logged positions and velocities are of one motion, within their stated errors.

For every two samples i and j, with the trapezoidal rule over the intervals between them,

$$\Big|\hat q_j - \hat q_i - \sum \tfrac12 h\,(\hat v_k + \hat v_{k+1})\Big|
  \le 2\varepsilon_q + \sum \big(\varepsilon_v h + \tfrac14\alpha h^2\big), \qquad
  |\hat v_j - \hat v_i| \le 2\varepsilon_v + \alpha\,(t_j - t_i).$$

Where one of these is broken a stated error is wrong: velocities that were filtered, scaled or late, a clock
that runs fast, positions in degrees or coarser than stated, a motion that is harder than stated. No payload
has to be known for it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError, NoSolutionError
from steelyard.recording import Recording
from steelyard.uncertainty.error_bounds import ErrorBounds


class MotionContradictionError(NoSolutionError):
    """The logged motion cannot be within its stated errors, whatever the arm holds.

    Attributes:
        joint: which joint.
        begin: between which samples, s.
        end: between which samples, s.
    """

    def __init__(self, joint: str, begin: float, end: float, what: str, remedy: str) -> None:
        """State what contradicts what.

        Args:
            joint: which joint.
            begin: time of the first sample, s.
            end: time of the last one, s.
            what: the two that disagree, and by how much.
            remedy: which stated error, and at least how large.
        """
        self.joint, self.begin, self.end = joint, begin, end
        super().__init__(
            f"no motion explains the data: {joint}, {begin:.3f} to {end:.3f} s: {what}.",
            remedy=f"A stated error is wrong: stop. {remedy}",
            evidence={"joint": joint, "begin": begin, "end": end},
        )


def require_one_motion(recording: Recording, errors: ErrorBounds) -> None:
    """Hold positions, velocities and the largest acceleration against each other.

    Args:
        recording: positions and velocities as measured.
        errors: how far they can be off, and the largest acceleration.

    Raises:
        MotionContradictionError: they cannot all be within what is stated; of several, the one that is broken
            by the most.
    """
    time, q, v = recording.time, recording.q, recording.channels["v"]
    h, zero = np.diff(time)[:, None], np.zeros((1, q.shape[1]))
    travelled = np.vstack([zero, np.cumsum(0.5 * h * (v[1:] + v[:-1]), axis=0)])
    dv, dq, a = errors.velocity, errors.position, errors.acceleration
    strayed = np.vstack([zero, np.cumsum(dv * h + 0.25 * a * h**2, axis=0)])
    beyond, joint, i, j = _most(q - travelled, strayed, dq)
    if beyond > 0.0:
        moved, told = q[j, joint] - q[i, joint], travelled[j, joint] - travelled[i, joint]
        allowed = 2.0 * dq[joint] + strayed[j, joint] - strayed[i, joint]
        raise MotionContradictionError(
            recording.joints[joint],
            float(time[i]),
            float(time[j]),
            f"its positions move by {moved:.6g}, its velocities add up to {told:.6g}, and the stated errors "
            f"allow a difference of {allowed:.2g} rad (m)",
            f"Positions that are off by {dq[joint] + 0.5 * beyond:.2g} (--position-error) or velocities by "
            f"{dv[joint] + beyond / (time[j] - time[i]):.2g} (--velocity-error) would explain it; so would "
            f"stamps that are off by {_late(beyond, v[[i, j], joint]):.2g} s, velocities that were filtered, "
            "and a clock that runs fast or slow.",
        )
    beyond, joint, i, j = _most(v, time[:, None] * a, dv)
    if beyond > 0.0:
        raise MotionContradictionError(
            recording.joints[joint],
            float(time[i]),
            float(time[j]),
            f"its velocity changes by {v[j, joint] - v[i, joint]:.4g}, and the stated errors allow "
            f"{2.0 * dv[joint] + a[joint] * (time[j] - time[i]):.4g} rad/s (m/s)",
            f"An acceleration of {a[joint] + beyond / (time[j] - time[i]):.4g} (--acceleration) or "
            f"velocities that are off by {dv[joint] + 0.5 * beyond:.2g} (--velocity-error) would explain it.",
        )


def _late(beyond: float, v: Array) -> float:
    """By how much the stamps of two samples would have to be off, s."""
    return beyond / max(float(np.abs(v).sum()), np.finfo(float).tiny)


def _most(values: Array, room: Array, error: Array) -> tuple[float, int, int, int]:
    r"""By how much $|x_j - x_i| \le s_j - s_i + 2e$ is broken, at most: with the joint and both samples."""
    worst = (-np.inf, 0, 0, 0)
    for joint in range(values.shape[1]):
        for x in (values[:, joint], -values[:, joint]):
            left = x - room[:, joint]
            gap = left[1:] - np.minimum.accumulate(left)[:-1]
            j = int(np.argmax(gap)) + 1
            rounding = len(x) * np.finfo(float).eps * float(np.abs(x).max() + np.abs(left).max())
            beyond = float(gap[j - 1]) - 2.0 * float(error[joint]) - rounding
            if beyond > worst[0]:
                worst = (beyond, joint, int(np.argmin(left[:j])), j)
    return worst


def with_velocities(recording: Recording, errors: ErrorBounds) -> tuple[Recording, ErrorBounds]:
    r"""Velocities from positions alone, and how far they can be off.

    From a before a sample to b after it $\hat v = (\hat q(t + b) - \hat q(t - a))/(a + b)$ is off by at most

    $$\frac{2\varepsilon_q}{a + b} + \frac{\alpha\,(a^2 + b^2)}{2\,(a + b)}.$$

    The same number of samples is taken on both sides, for each joint the one with the least largest error.

    Args:
        recording: positions; velocities it has are replaced.
        errors: how far positions can be off, and the largest acceleration.

    Returns:
        The recording with velocities, without the samples at its ends that have none; and the errors with
        those of these velocities.

    Raises:
        InputError: the recording is too short.
    """
    time, q, n = recording.time, recording.q, recording.n
    largest = max(1, (n - 2) // 4)
    best = []
    for k in range(len(recording.joints)):
        found = (np.inf, 1)
        for m in range(1, largest + 1):
            a, b = time[m:-m] - time[: -2 * m], time[2 * m :] - time[m:-m]
            if not len(a):
                raise InputError(f"of {n} samples is too short for velocities.", place="recording")
            off = 2.0 * errors.position[k] + 0.5 * errors.acceleration[k] * (a**2 + b**2)
            found = min(found, (float((off / (a + b)).max()), m))
            if m > found[1] + 2:
                break
        best.append(found)
    margin = max(m for _, m in best)
    at = np.arange(margin, n - margin)
    v = np.column_stack(
        [(q[at + m, k] - q[at - m, k]) / (time[at + m] - time[at - m]) for k, (_, m) in enumerate(best)]
    )
    taken = recording.rows(slice(margin, n - margin))
    # As if measured: their rounding is far below any stated error.
    return taken.with_channels(v=v), replace(errors, velocity=np.array([off for off, _ in best]))
