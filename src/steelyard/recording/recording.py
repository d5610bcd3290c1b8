"""`Recording`: named, united, validated time series of a robot's joints, with their history."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array
from steelyard.errors import RecordingError, UnknownNameError
from steelyard.recording.channels import CHANNELS, column_name, joint_number
from steelyard.recording.content import SCHEMA, checked_extra, checked_joints, checked_series, checked_time
from steelyard.recording.content import digest as content_digest
from steelyard.recording.step import Step, checked_provenance


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

    def with_extra(self, columns: Mapping[str, ArrayLike | None]) -> Recording:
        """Return the recording with extra columns set, or removed where the value is None.

        Args:
            columns: values by name, each shape (N,), SI.

        Returns:
            The new recording.
        """
        detail = {
            "set": [name for name, value in columns.items() if value is not None],
            "removed": [name for name, value in columns.items() if value is None],
        }
        merged = {**self.extra, **columns}
        kept = {name: value for name, value in merged.items() if value is not None}
        return self.revised("with_extra", detail, extra=kept)

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
