"""What a recording may hold: the checks at its door, and the digest of what passed them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import RecordingError, ShapeError
from steelyard.recording.channels import CHANNELS, column_name, is_claimed
from steelyard.recording.units import states_unit

SCHEMA = 1


def checked_joints(names: Sequence[str]) -> tuple[str, ...]:
    """Return joint names after checking that files can carry them.

    Args:
        names: the names.

    Returns:
        The same names.

    Raises:
        RecordingError: there is none, one is empty, repeated, or cannot be kept in a file.
    """
    if isinstance(names, str):
        raise RecordingError(f"must be a sequence of names, got the text {names!r}.", place="joints")
    joints = tuple(names)
    if not joints:
        raise RecordingError("a recording needs at least one joint.", place="joints")
    for index, name in enumerate(joints):
        _check_name(name, f"joint {index}")
        if re.fullmatch("0[0-9]*", name):
            raise RecordingError(
                f"{name!r} is not a joint name; a bare number is the joint's place, counted from 1.",
                place=f"joint {index}",
            )
        if any(states_unit(column_name(channel, name)) for channel in CHANNELS):
            raise RecordingError(
                f"{name!r} ends in a unit, which a file's reader would take for the column's.",
                place=f"joint {index}",
            )
        if joints.index(name) != index:
            raise RecordingError(
                f"joints {joints.index(name)} and {index} have the same name '{name}'.", place="joints"
            )
    return joints


def checked_time(time: ArrayLike) -> Array:
    """Return sample times, read-only, after checking that there are two and that they increase.

    Args:
        time: sample times, shape (N,), s.

    Returns:
        A read-only copy, shape (N,), s.

    Raises:
        RecordingError: the check failed; the message names the first offending row.
    """
    t = _array("time", time, ("N",))
    if len(t) < 2:
        raise RecordingError(f"a recording needs at least 2 samples, got {len(t)}.", place="time")
    _check_finite(t[:, None], ["time"])
    stuck = np.flatnonzero(np.diff(t) <= 0)
    if stuck.size:
        row = int(stuck[0]) + 1
        raise RecordingError(
            f"must increase, but goes from {t[row - 1]:.9g} s to {t[row]:.9g} s at row {row} "
            f"(rows count from 0); {stuck.size} of {len(t) - 1} intervals are not positive.",
            place="time",
            remedy="Remove repeated samples, or cut the log where the clock restarts.",
            evidence={"row": row, "count": int(stuck.size)},
        )
    return read_only(t)


def checked_series(name: str, value: ArrayLike, n: int, labels: Sequence[str]) -> Array:
    """Return a channel's values, read-only, after checking their shape and finiteness.

    Args:
        name: name of the channel.
        value: its values, shape (N, nj), SI.
        n: number of samples N.
        labels: names of the columns, for messages.

    Returns:
        A read-only copy, shape (N, nj), SI.

    Raises:
        RecordingError: the check failed; the message names column and row.
    """
    series = _array(name, value, ("N", len(labels)))
    _check_length(name, len(series), n)
    _check_finite(series, labels)
    return read_only(series)


def checked_extra(columns: Mapping[str, ArrayLike], n: int, joints: Sequence[str]) -> dict[str, Array]:
    """Return extra columns, read-only, after checking names, lengths and finiteness.

    Args:
        columns: values by name, each shape (N,), SI.
        n: number of samples N.
        joints: names of the joints.

    Returns:
        Read-only copies by name, each shape (N,), SI.

    Raises:
        RecordingError: the check failed, or the name would be read back as time or as a channel.
    """
    kept: dict[str, Array] = {}
    for name, value in columns.items():
        _check_name(name, "extra column")
        if is_claimed(name, joints) or states_unit(name):
            raise RecordingError(
                f"extra column '{name}' would be read back as time or as a channel of a joint.",
                place=name,
                remedy="Give it another name, or hand it in as the channel it is.",
            )
        column = _array(name, value, ("N",))
        _check_length(name, len(column), n)
        _check_finite(column[:, None], [name])
        kept[name] = read_only(column)
    return kept


def digest(
    joints: Sequence[str], time: Array, channels: Mapping[str, Array], extra: Mapping[str, Array]
) -> str:
    """Return the SHA-256 of a recording's content, independent of history, file format and platform.

    Hashed are a JSON text that says what is there, then the values as little-endian float64: time, the
    channels, the extra columns in the order of their names.

    Args:
        joints: names of the joints.
        time: sample times, shape (N,), s.
        channels: those present in their fixed order, each shape (N, nj), SI.
        extra: further columns, each shape (N,), SI.

    Returns:
        64 hexadecimal digits.
    """
    head = {
        "content": SCHEMA,
        "samples": len(time),
        "joints": list(joints),
        "channels": list(channels),
        "extra": sorted(extra),
    }
    sha = hashlib.sha256(json.dumps(head, sort_keys=True, separators=(",", ":")).encode("ascii"))
    for array in (time, *channels.values(), *(extra[name] for name in sorted(extra))):
        sha.update(np.ascontiguousarray(array, dtype="<f8").data)
    return sha.hexdigest()


def _check_name(name: object, what: str) -> None:
    if not isinstance(name, str):
        raise RecordingError(f"a name must be text, got {type(name).__name__}.", place=what)
    if not name:
        raise RecordingError("has an empty name.", place=what)
    if name != name.strip() or not name.isprintable():
        raise RecordingError(
            f"name {name!r} has spaces at its ends or characters that cannot be printed.", place=what
        )


def _check_length(name: str, length: int, n: int) -> None:
    if length != n:
        raise RecordingError(
            f"has {length} rows, but time has {n}.", place=name, evidence={"rows": length, "expected": n}
        )


def _check_finite(series: Array, labels: Sequence[str]) -> None:
    broken = ~np.isfinite(series)
    if broken.any():
        row, column = (int(i) for i in np.argwhere(broken)[0])
        count = int(broken.sum())
        raise RecordingError(
            f"is {series[row, column]} at row {row} (rows count from 0); {count} of {series.size} values are "
            "not finite.",
            place=labels[column],
            evidence={"row": row, "column": labels[column], "count": count},
        )


def _array(name: str, value: ArrayLike, shape: Sequence[int | str]) -> Array:
    try:
        return checked(name, value, shape, finite=False)
    except ShapeError as error:
        raise RecordingError(error.message, place=error.place, evidence=error.evidence) from error
