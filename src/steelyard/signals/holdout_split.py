"""A stretch of a log that is kept apart for judgement, and is no repeat of what is trained on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.errors import InputError
from steelyard.recording import Recording
from steelyard.signals.preparation import repeats_after
from steelyard.signals.selection import runs, with_rows

SHARE = 0.25
"""Share of the motion that is kept apart."""
SHORTEST = 10
"""Samples of the shortest stretch that is trained on by itself."""


@dataclass(frozen=True, eq=False)
class HoldoutSplit:
    """A log in two parts.

    Attributes:
        train: stretches to train on, each without a gap.
        apart: the samples kept apart.
        words: which they are, for people.
    """

    train: tuple[Recording, ...]
    apart: Recording
    words: str


def holdout_split(recording: Recording, share: float = SHARE) -> HoldoutSplit:
    """Keep the end of a motion apart; of a motion that repeats, the end of every period.

    The end of a log that repeats itself would measure how well the robot repeats, not how well a model
    predicts: so a periodic motion is split by its phase.

    Args:
        recording: a uniform recording.
        share: how much to keep apart, between 0 and 1, dimensionless.

    Returns:
        Both parts.

    Raises:
        InputError: the share is not between 0 and 1.
        RecordingError: the log is too short to be split.
    """
    if not 0.0 < share < 1.0:
        raise InputError(f"must be between 0 and 1, got {share}.", place="share")
    t = recording.time - recording.time[0]
    period = repeats_after(recording)
    if period is None:
        first = t < (1.0 - share) * recording.duration
        start = recording.time[0] + (1.0 - share) * recording.duration
        words = f"the last {100 * share:.0f} %, from {start:.4g} s on"
    else:
        first = np.mod(t, period) < (1.0 - share) * period
        words = (
            f"the last {100 * share:.0f} % of every period, because the motion repeats after {period:.4g} s"
        )
    apart = with_rows(recording, ~first, "keep apart", {"share": share})
    train = []
    for start, stop in runs(first):
        if stop - start >= SHORTEST:
            rows = np.zeros(recording.n, dtype=np.bool_)
            rows[start:stop] = True
            train.append(with_rows(recording, rows, "train on", {"share": 1.0 - share}))
    if not train:
        train.append(with_rows(recording, first, "train on", {"share": 1.0 - share}))
    return HoldoutSplit(tuple(train), apart, words)
