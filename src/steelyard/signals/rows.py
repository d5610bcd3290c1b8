"""Which samples to keep; what is removed is named by its times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from steelyard.arrays import BoolArray
from steelyard.errors import InputError, RecordingError
from steelyard.recording import Recording


def with_rows(
    recording: Recording,
    rows: BoolArray,
    action: str = "with_rows",
    detail: Mapping[str, object] | None = None,
) -> Recording:
    """Keep chosen samples; the history names how many and which intervals were removed.

    Args:
        recording: the recording.
        rows: which samples stay, shape (N,), dimensionless.
        action: name of the step in the history.
        detail: what else the step says.

    Returns:
        The recording of the samples left.

    Raises:
        RecordingError: fewer than two are left.
    """
    keep = np.asarray(rows)
    if keep.shape != (recording.n,) or keep.dtype != np.bool_:
        raise InputError(f"must be {recording.n} answers of yes or no.", place="rows")
    if keep.sum() < 2:
        raise RecordingError(f"{int(keep.sum())} of {recording.n} samples are left.", place=action)
    t = recording.time
    removed = [[float(t[start]), float(t[stop - 1])] for start, stop in runs(~keep)]
    said = {**(detail or {}), "samples_removed": int((~keep).sum()), "intervals_removed": removed}
    fields: dict[str, object] = {name: value[keep] for name, value in recording.channels.items()}
    fields["extra"] = {name: column[keep] for name, column in recording.extra.items()}
    return recording.revised(action, said, time=t[keep], **fields)


def runs(rows: BoolArray) -> Iterator[tuple[int, int]]:
    """Yield first row and row after the last of each stretch of True.

    Args:
        rows: answers, shape (N,), dimensionless.

    Yields:
        The stretches, in order.
    """
    edges = np.flatnonzero(np.diff(np.concatenate(([False], rows, [False])).astype(np.int8)))
    for start, stop in edges.reshape(-1, 2):
        yield int(start), int(stop)
