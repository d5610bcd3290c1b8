r"""What a closed loop was told and what was measured in it, in blocks that a simulation can be compared with.

A block is the mean of n control cycles, $T_s = n h$. Measured and simulated signals pass the same linear
operation, the mean over each block, so neither is filtered more than the other and no phase is shifted. The
blocks do not overlap: a sample counts once, and cycles after the last full block are not used. A torque that
comes from elsewhere on a grid of its own, behind an anti-aliasing filter, is compared with the block around
each of its samples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from steelyard.arrays import Array, checked, keep_checked, read_only
from steelyard.errors import InputError, RecordingError
from steelyard.recording import Recording
from steelyard.signals import uniform_interval

STARTS = ("reference", "measured")
"""Where a simulation may start: in the first reference, or in the first measured state."""
_WHOLE = 1e-6


@dataclass(frozen=True, eq=False)
class LoopRun:
    """One run of a closed loop: references at every control cycle, measurements as means over blocks.

    Attributes:
        q_ref: reference positions at the control cycles, shape (N, nv), rad or m.
        v_ref: reference velocities, shape (N, nv), rad/s or m/s.
        a_ref: reference accelerations, shape (N, nv), rad/s² or m/s².
        average: cycles in a block; cycles after the last full block are cut, so N = M average.
        tau: measured torques, means over the blocks, shape (M, nv), N·m or N.
        q: measured positions, means over the blocks, shape (M, nv), rad or m; None where they are not known.
        v: measured velocities, means over the blocks, shape (M, nv), rad/s or m/s; None where not known.
        q_start: positions at the start, shape (nv,), rad or m; None for the reference's.
        v_start: velocities at the start, shape (nv,), rad/s or m/s; None for the reference's.
        recording: digest of what it comes from; empty where it is not a recording.
    """

    q_ref: Array
    v_ref: Array
    a_ref: Array
    average: int
    tau: Array
    q: Array | None = None
    v: Array | None = None
    q_start: Array | None = None
    v_start: Array | None = None
    recording: str = ""

    def __post_init__(self) -> None:
        cycles, nv = checked("q_ref", self.q_ref, ("N", "nv")).shape
        if isinstance(self.average, bool) or not isinstance(self.average, int) or self.average < 1:
            raise InputError(f"must be a whole number from 1 on, got {self.average!r}.", place="average")
        M = cycles // self.average
        if M < 1:
            raise InputError(f"{cycles} cycles make no block of {self.average}.", place="average")
        for name in ("q_ref", "v_ref", "a_ref"):
            value = checked(name, getattr(self, name), (cycles, nv))
            object.__setattr__(self, name, read_only(value[: M * self.average]))
        keep_checked(self, (M, nv), "tau")
        keep_checked(self, (M, nv), "q", "v", optional=True)
        keep_checked(self, (nv,), "q_start", "v_start", optional=True)

    @property
    def blocks(self) -> int:
        """Number of blocks M."""
        return len(self.tau)

    def coarser(self, factor: int) -> LoopRun:
        """The same run in longer blocks; blocks after the last full one are cut.

        Args:
            factor: blocks joined to one.

        Raises:
            InputError: the factor is no whole number from 1 on, or no block is left.
        """
        return replace(
            self,
            average=self.average * factor,
            tau=block_means(self.tau, factor),
            q=None if self.q is None else block_means(self.q, factor),
            v=None if self.v is None else block_means(self.v, factor),
        )


def block_means(signal: Array, length: int) -> Array:
    """Means over blocks that do not overlap; what is left after the last full block is cut.

    Args:
        signal: any signal, time first, shape (N, ...), SI.
        length: samples in a block.

    Returns:
        The means, shape (N // length, ...), SI.

    Raises:
        InputError: the length is no whole number from 1 to N.
    """
    if isinstance(length, bool) or not isinstance(length, int) or not 1 <= length <= len(signal):
        raise InputError(f"must be a whole number from 1 to {len(signal)}, got {length!r}.", place="length")
    M = len(signal) // length
    return np.asarray(signal[: M * length].reshape(M, length, *signal.shape[1:]).mean(axis=1))


def loop_run(recording: Recording, interval: float, *, start: str = "reference") -> LoopRun:
    """Turn a recording at the control cycle into blocks to compare a simulation with.

    Args:
        recording: a uniform recording with one sample for each control cycle, with tau, q_ref, v_ref and
            a_ref; where it has v, the blocks have it too.
        interval: length of a block, a multiple of the control cycle, s.
        start: `reference` or `measured`, where the simulation starts; measured needs v too.

    Raises:
        RecordingError: a channel is missing, or time is not uniform.
        InputError: the interval is no multiple of the recording's, or the start is not one of the two.
    """
    if start not in STARTS:
        raise InputError(f"'{start}' is none of {', '.join(STARTS)}.", place="start")
    needed = ("tau", "q_ref", "v_ref", "a_ref", *(("v",) if start == "measured" else ()))
    channels = recording.channels
    if missing := [name for name in needed if name not in channels]:
        raise RecordingError(f"has no {', '.join(missing)}.", place="recording")
    cycle = uniform_interval(recording)
    average = round(interval / cycle) if np.isfinite(interval) else 0
    if average < 1 or abs(interval / cycle - average) > _WHOLE * average:
        raise InputError(
            f"{interval:g} s is no multiple of the control cycle {cycle:g} s.",
            place="interval",
            remedy="Choose a multiple, or resample the recording to the control cycle.",
        )
    v = channels.get("v")
    return LoopRun(
        channels["q_ref"],
        channels["v_ref"],
        channels["a_ref"],
        average,
        block_means(channels["tau"], average),
        block_means(recording.q, average),
        None if v is None else block_means(v, average),
        recording.q[0] if start == "measured" else None,
        v[0] if start == "measured" and v is not None else None,
        recording.digest,
    )
