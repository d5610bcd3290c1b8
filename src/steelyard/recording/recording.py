"""`Recording`: named, united, validated time series of a robot's joints, with their history."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.document import parse_json
from steelyard.errors import InputError, RecordingError, ShapeError, UnknownNameError
from steelyard.recording.channels import (
    CHANNELS,
    column_name,
    is_claimed,
    joint_number,
    states_unit,
)

# One line of a recording's history: what was done, with which settings, to which input.


@dataclass(frozen=True)
class Step:
    """An action that led to a recording.

    Attributes:
        action: what was done, in a word: `read`, `window`, `filtered`.
        detail: its settings; values are what JSON can hold, frozen at every level.
        digest: SHA-256 of what it was done to (a recording's content, a file's bytes); empty for an origin.
    """

    action: str
    detail: Mapping[str, object] = field(default_factory=dict)
    digest: str = ""

    def __post_init__(self) -> None:
        for name, text in (("action", self.action), ("digest", self.digest)):
            if not isinstance(text, str):
                raise RecordingError(f"must be text, got {type(text).__name__}.", place=f"step {name}")
        if not isinstance(self.detail, Mapping):
            raise RecordingError(
                f"must map names to values, got {type(self.detail).__name__}.", place=f"step '{self.action}'"
            )
        object.__setattr__(self, "detail", _frozen(self._checked_detail()))

    def _checked_detail(self) -> object:
        try:
            # Through JSON and back: a private copy, and the same values after a file has been in between.
            return json.loads(json.dumps(_plain(self.detail), allow_nan=False))
        except (TypeError, ValueError, RecursionError) as error:
            raise RecordingError(
                f"detail cannot be kept as JSON: {error}.",
                place=f"step '{self.action}'",
                remedy="Use text, finite numbers, booleans, None, and lists or mappings of these.",
            ) from error

    def to_json(self) -> dict[str, object]:
        """Return the step as plain values that `json.dumps` accepts."""
        return {"action": self.action, "detail": _plain(self.detail), "digest": self.digest}

    @classmethod
    def from_json(cls, value: object) -> Step:
        """Build a step from what `to_json` returned.

        Args:
            value: a mapping with `action`, `detail` and `digest`.

        Raises:
            RecordingError: the value has another form.
        """
        if not isinstance(value, Mapping) or set(value) != {"action", "detail", "digest"}:
            raise RecordingError("a step needs exactly 'action', 'detail' and 'digest'.", place="provenance")
        return cls(value["action"], value["detail"], value["digest"])

    def __reduce__(self) -> tuple[object, ...]:
        # Read-only mappings cannot be pickled; going through the constructor freezes the copy again.
        return Step, (self.action, _plain(self.detail), self.digest)


def checked_provenance(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Return a history after checking that it is made of steps.

    Args:
        steps: the steps, oldest first.

    Returns:
        The same steps.

    Raises:
        RecordingError: one of them is something else.
    """
    history = tuple(steps)
    for index, step in enumerate(history):
        if not isinstance(step, Step):
            raise RecordingError(f"entry {index} is a {type(step).__name__}, not a Step.", place="provenance")
    return history


def _frozen(value: object) -> object:
    if isinstance(value, Mapping):
        return MappingProxyType({key: _frozen(item) for key, item in value.items()})
    if isinstance(value, list):
        return tuple(_frozen(item) for item in value)
    return value


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


# What a recording may hold: the checks at its door, and the digest of what passed them.

SCHEMA = 1


def checked_joints(names: Sequence[str]) -> tuple[str, ...]:
    """Return joint names after checking that files can carry them.

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


def content_digest(
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


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Recording:
    """What was measured on a robot's joints, sample by sample.

    A joint has one column per scalar coordinate; a floating base is carried in `extra` (`base_x` and so on).
    A joint known only by its position in the file is named by its number from 1: `"1"`, `"2"`, and gets its
    name from `renamed`. Rows count from 0 everywhere. Two recordings are equal when their content is,
    whatever their histories.

    Attributes:
        joints: names of the nj joints, in the order of the columns below.
        time: sample times, strictly increasing, shape (N,), s.
        q: joint positions, shape (N, nj), rad or m.
        v: joint velocities or None, shape (N, nj), rad/s or m/s.
        a: joint accelerations or None, shape (N, nj), rad/s² or m/s².
        tau: joint torques or forces or None, shape (N, nj), N·m or N.
        current: motor currents or None, shape (N, nj), A.
        q_ref: commanded positions or None, shape (N, nj), rad or m.
        v_ref: commanded velocities or None, shape (N, nj), rad/s or m/s.
        a_ref: commanded accelerations or None, shape (N, nj), rad/s² or m/s².
        extra: further columns by name, each shape (N,), SI.
        provenance: the steps that led here, oldest first.
        schema: number of this layout.
    """

    joints: tuple[str, ...]
    time: Array
    q: Array
    v: Array | None = None
    a: Array | None = None
    tau: Array | None = None
    current: Array | None = None
    q_ref: Array | None = None
    v_ref: Array | None = None
    a_ref: Array | None = None
    extra: Mapping[str, Array] = dataclasses.field(default_factory=dict)
    provenance: tuple[Step, ...] = ()
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        if self.schema != SCHEMA:
            raise RecordingError(
                f"layout {self.schema!r} is unknown; this version knows {SCHEMA}.", place="schema"
            )
        joints = checked_joints(self.joints)
        time = checked_time(self.time)
        fields: dict[str, object] = {"joints": joints, "time": time}
        for name in CHANNELS:
            value = getattr(self, name)
            if value is not None or name == "q":
                labels = [column_name(name, joint) for joint in joints]
                fields[name] = checked_series(name, value, len(time), labels)
        fields["extra"] = MappingProxyType(checked_extra(self.extra, len(time), joints))
        fields["provenance"] = checked_provenance(self.provenance)
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        """Number of samples N."""
        return len(self.time)

    @property
    def duration(self) -> float:
        """Time from the first sample to the last, s."""
        return float(self.time[-1] - self.time[0])

    @property
    def rate(self) -> float:
        """Sampling rate by the median interval, Hz."""
        return float(1.0 / np.median(np.diff(self.time)))

    @property
    def channels(self) -> Mapping[str, Array]:
        """The channels that are present, by name; each shape (N, nj), SI."""
        return dict(self._present())

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content: names and values, without the history; the same on every platform."""
        return content_digest(self.joints, self.time, self.channels, self.extra)

    def revised(self, action: str, detail: Mapping[str, object], **fields: Any) -> Recording:
        """Return a recording with some fields replaced and the step that did it added to its history.

        Args:
            action: what was done, in a word.
            detail: its settings, as values JSON can hold.
            **fields: new values of the fields that change.

        Returns:
            The new recording.
        """
        step = Step(action, detail, self.digest)
        return dataclasses.replace(self, **fields, provenance=(*self.provenance, step))

    def window(self, start: float | None = None, end: float | None = None) -> Recording:
        """Return the samples with start ≤ time < end, so that neighbouring windows share none.

        Args:
            start: first time, s; None for the beginning.
            end: time to stop before, s; None for all that follows.

        Returns:
            The new recording; its times are unchanged.
        """
        first = 0 if start is None else int(np.searchsorted(self.time, start))
        last = self.n if end is None else int(np.searchsorted(self.time, end))
        t0, t1 = (None if bound is None or np.isinf(bound) else float(bound) for bound in (start, end))
        return self._taken(slice(first, last), "window", {"start": t0, "end": t1})

    def rows(self, taken: slice) -> Recording:
        """Return some of the samples.

        Args:
            taken: which rows, counted from 0; its step must be positive.

        Returns:
            The new recording.
        """
        if taken.step is not None and taken.step < 1:
            raise RecordingError(f"a step of {taken.step} would turn time around.", place="rows")
        start, stop, step = taken.indices(self.n)
        return self._taken(taken, "rows", {"start": start, "stop": stop, "step": step})

    def joint_subset(self, names: Sequence[str]) -> Recording:
        """Return the recording of some joints, in the given order; extra columns stay.

        Args:
            names: names of the joints to keep.

        Returns:
            The new recording.
        """
        for name in names:
            if name not in self.joints:
                raise UnknownNameError("joint", name, self.joints)
        index = [self.joints.index(name) for name in names]
        fields = {name: value[:, index] for name, value in self._present()}
        return self.revised("joint_subset", {"joints": list(names)}, joints=tuple(names), **fields)

    def renamed(self, joints: Sequence[str]) -> Recording:
        """Return the recording with other joint names.

        Joints known by their number take the name at that place of `joints`; otherwise the names are given in
        the order of the columns.

        Args:
            joints: one name for each joint.

        Returns:
            The new recording.
        """
        n = len(self.joints)
        if len(joints) != n:
            raise RecordingError(f"{len(joints)} names were given for {n} joints.", place="renamed")
        new = tuple(joints)
        numbers = [joint_number(name) for name in self.joints]
        if None not in numbers:
            if set(numbers) != set(range(1, n + 1)):
                raise RecordingError(
                    f"the joints are numbers {', '.join(self.joints)}, which do not index {n} names.",
                    place="renamed",
                    remedy="Name the joints before taking a subset of them.",
                )
            new = tuple(joints[number - 1] for number in numbers if number is not None)
        return self.revised("renamed", {"joints": dict(zip(self.joints, new, strict=True))}, joints=new)

    def with_channels(self, **channels: ArrayLike | None) -> Recording:
        """Return the recording with channels set, or removed where the value is None.

        Args:
            **channels: `q`, `v`, `a`, `tau`, `current`, `q_ref`, `v_ref` or `a_ref`, shape (N, nj), SI.

        Returns:
            The new recording.
        """
        for name in channels:
            if name not in CHANNELS:
                raise UnknownNameError("channel", name, CHANNELS)
        detail = {
            "set": [name for name, value in channels.items() if value is not None],
            "removed": [name for name, value in channels.items() if value is None],
        }
        return self.revised("with_channels", detail, **channels)

    def _present(self) -> Iterator[tuple[str, Array]]:
        for name in CHANNELS:
            value: Array | None = getattr(self, name)
            if value is not None:
                yield name, value

    def _taken(self, taken: slice, action: str, detail: Mapping[str, object]) -> Recording:
        kept = len(self.time[taken])
        if kept < 2:
            raise RecordingError(
                f"holds {kept} samples; at least 2 are needed.",
                place=f"{action} {detail}",
                remedy=f"The recording has {self.n} samples from {self.time[0]:g} s to {self.time[-1]:g} s.",
            )
        fields: dict[str, object] = {name: value[taken] for name, value in self._present()}
        fields["extra"] = {name: column[taken] for name, column in self.extra.items()}
        return self.revised(action, detail, time=self.time[taken], **fields)

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Recording) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return (
            f"<Recording: {len(self.joints)} joint(s), {self.n} samples, {self.duration:.4g} s at "
            f"{self.rate:.4g} Hz; {', '.join(self.channels)}; digest {self.digest[:12]}>"
        )

    def __reduce__(self) -> tuple[object, ...]:
        # Through the constructor, so that a copy sent to another process is read-only as well.
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return _rebuilt, ({**values, "extra": dict(self.extra)},)


def _rebuilt(fields: dict[str, Any]) -> Recording:
    return Recording(**fields)


# What a file of our own says about itself: layout, digest of its content, history.

KEY = "steelyard.recording"


@dataclass(frozen=True)
class Stamp:
    """The stamp of a file.

    Attributes:
        digest: digest of the recording that was written.
        provenance: its history.
    """

    digest: str
    provenance: tuple[Step, ...]


def stamped(recording: Recording) -> str:
    """Return the stamp of a recording as JSON text.

    Args:
        recording: what the stamp is for.

    Returns:
        The text.
    """
    return json.dumps(
        {
            "schema": recording.schema,
            "digest": recording.digest,
            "provenance": [step.to_json() for step in recording.provenance],
        }
    )


def parsed(text: str) -> Stamp:
    """Read a stamp back.

    Args:
        text: what `stamped` returned.

    Raises:
        RecordingError: the text is damaged, or of a layout this version does not know.
    """
    try:
        value = parse_json(text, place=KEY)
    except InputError as error:
        raise RecordingError(error.message, place=error.place, remedy=error.remedy) from error
    if not isinstance(value, Mapping) or not {"schema", "digest", "provenance"} <= set(value):
        raise RecordingError("lacks schema, digest or provenance.", place=KEY)
    if value["schema"] != SCHEMA:
        raise RecordingError(
            f"layout {value['schema']!r} is unknown; this version knows {SCHEMA}.",
            place=KEY,
            remedy="Read the file with the version that wrote it, or a newer one.",
        )
    if not isinstance(value["provenance"], list):
        raise RecordingError("provenance is not a list of steps.", place=KEY)
    return Stamp(str(value["digest"]), tuple(Step.from_json(step) for step in value["provenance"]))
