"""One operation on many columns of a recording at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import UnknownNameError
from steelyard.recording import CHANNELS, Recording

MEASURED = ("q", "v", "a", "tau", "current")
"""Channels that sensors gave; the others are commanded and free of noise."""


def present(recording: Recording, names: Iterable[str]) -> tuple[str, ...]:
    """Return those of the named channels that a recording holds.

    Args:
        recording: the recording.
        names: names of channels.

    Returns:
        The names that are there, in the fixed order of channels.

    Raises:
        UnknownNameError: there is no such channel.
    """
    wanted = tuple(names)
    for name in wanted:
        if name not in CHANNELS:
            raise UnknownNameError("channel", name, CHANNELS)
    return tuple(name for name in recording.channels if name in wanted)


def all_mapped(recording: Recording, operation: Callable[[Array], Array]) -> dict[str, object]:
    """Apply one operation to every channel and every extra column, side by side.

    Args:
        recording: the recording.
        operation: takes columns of shape (N, n) and returns as many, of any common length.

    Returns:
        The fields of the result by name, without time.
    """
    channels, extra = recording.channels, recording.extra
    stacked = np.column_stack([*channels.values(), *extra.values()])
    mapped = operation(stacked)
    nj = len(recording.joints)
    fields: dict[str, object] = {name: mapped[:, k * nj : (k + 1) * nj] for k, name in enumerate(channels)}
    first = nj * len(channels)
    fields["extra"] = {name: mapped[:, first + k] for k, name in enumerate(extra)}
    return fields
