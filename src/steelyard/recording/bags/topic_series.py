"""What one topic of a bag tells: every value with its joint, whatever the messages' order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Array
from steelyard.errors import RecordingError
from steelyard.recording.bags.bag import Message, Topic
from steelyard.recording.bags.definition import Definition, DefinitionError, short_type
from steelyard.recording.bags.message_layout import Group, MessageError, MessageLayout, Path, grouped
from steelyard.recording.bags.message_types import MESSAGE_TYPES, MessageType, field_path, known_definitions

WRENCH_AXES = ("fx", "fy", "fz", "mx", "my", "mz")
"""Ends of the names of a wrench's columns: force in N, torque in N·m."""
_CLOCK = 1 << 63
"""Nanoseconds that a clock can count; a container has room for more."""
_COMPONENTS = tuple((part, axis) for part in ("force", "torque") for axis in "xyz")


@dataclass(frozen=True)
class TopicSeries:
    """The messages of a topic that can be used; a row is a message.

    Attributes:
        topic: the topic.
        count: how many messages came on it.
        index: place of each row's message on the topic, shape (n,), dimensionless.
        stamps: the messages' own times, shape (n,), ns; None when some carry none.
        received: when they were received, shape (n,), ns.
        joints: names of the joints, in the order of the columns; empty where the type has none.
        channels: each channel that some message fills, shape (n, number of joints), SI.
        empty: channels of the type that no message fills.
        others: further columns by name, each of shape (n,), SI.
        broken: what is wrong with messages that cannot be used, by their places on the topic.
        passed: how many messages are of other joints altogether.
    """

    topic: Topic
    count: int
    index: NDArray[np.int64]
    stamps: NDArray[np.int64] | None
    received: NDArray[np.int64]
    joints: tuple[str, ...]
    channels: Mapping[str, Array]
    empty: tuple[str, ...]
    others: Mapping[str, Array]
    broken: Mapping[int, str]
    passed: int


@dataclass(frozen=True)
class _State:
    """The messages that share a layout, read as their type means them."""

    index: NDArray[np.int64]
    joints: tuple[str, ...]
    stamp: NDArray[np.int64]
    channels: Mapping[str, Array]
    others: Mapping[str, Array]
    wrench: Mapping[str, Array]
    faults: tuple[str, ...]


def topic_series(topic: Topic, messages: Sequence[Message], joints: Sequence[str] | None) -> TopicSeries:
    """Read a topic.

    Args:
        topic: the topic, of a type that is read.
        messages: its messages.
        joints: the joints wanted, where messages of other joints come on the same topic.

    Returns:
        What it tells.

    Raises:
        RecordingError: no message can be used, or they are of several sets of joints.
    """
    kind = MESSAGE_TYPES[short_type(topic.type)]
    contents = [message.data for message in messages]
    definition, whole = _definition(topic, kind, contents)
    groups, broken = grouped(contents, definition, _wanted(kind, definition), whole=whole)
    states = [_state(group, kind, definition) for group in groups]
    for state in states:
        if state.faults:
            broken |= dict.fromkeys(state.index.tolist(), ", ".join(state.faults))
    if "q" in kind.channels:
        used, names, passed = _selected(states, joints, broken)
    else:
        used, names, passed = _sound(states, broken), (), 0
    index = np.sort(np.concatenate([state.index for state in used]))
    index = index[~np.isin(index, list(broken))]
    if not len(index):
        raise RecordingError(f"none of the {len(messages)} messages on '{topic.name}' can be used.")
    channels = {channel: _values(used, index, channel, names) for channel in kind.channels}
    filled = {c: values for c, values in channels.items() if c == "q" or _filled(c, values)}
    others = {
        f"{word}_{joint}": column
        for word in kind.others
        for joint, column in zip(names, _values(used, index, word, names).T, strict=True)
        if np.isfinite(column).all()
    }
    received = np.array([message.received % _CLOCK for message in messages], dtype=np.int64)[index]
    return TopicSeries(
        topic,
        len(messages),
        index,
        _stamps(used, index),
        received,
        names,
        filled,
        tuple(channel for channel in channels if channel not in filled),
        others | _wrench(used, index, topic),
        broken,
        passed,
    )


def _definition(topic: Topic, kind: MessageType, contents: Sequence[bytes]) -> tuple[Definition, bool]:
    """The definition of a topic's messages, and whether their ends must agree with it."""
    name = short_type(topic.type)
    known = known_definitions(name)
    if kind.fixed:
        return known[0], False
    if topic.definition:
        try:
            return Definition.read(name, topic.definition), True
        except DefinitionError as error:
            raise RecordingError(f"the definition of {name} that the bag carries {error}.") from error
    for message in contents[:8]:
        for definition in known:
            try:
                if MessageLayout.of(message, definition, frozenset()).whole:
                    return definition, True
            except MessageError:
                continue
    raise RecordingError(
        f"topic '{topic.name[:60]}' is of type {name}, of which the bag carries no definition, and its "
        "messages are of none that is known.",
        remedy="Convert the bag to MCAP where its messages are installed: ros2 bag convert.",
    )


def _wanted(kind: MessageType, definition: Definition) -> frozenset[Path]:
    fields = [*kind.stamp, *kind.named, *kind.others.values()]
    fields += [first for fields in kind.channels.values() for first in fields]
    fields += [kind.joints] if kind.joints else []
    paths = {field_path(field) for field in fields}
    if kind.wrench:
        values = field_path(kind.wrench.values)
        paths |= {
            values,
            field_path(kind.wrench.frame),
            *((*values, *component) for component in _COMPONENTS),
        }
    return frozenset(path for path in paths if definition.has(path))


def _state(group: Group, kind: MessageType, definition: Definition) -> _State:
    def numbers(field: str) -> Array:
        return group.values.get(field_path(field), np.empty((len(group.index), 0)))

    channels = {
        channel: numbers(next((f for f in fields if definition.has(field_path(f))), fields[0]))
        for channel, fields in kind.channels.items()
    }
    named = group.texts.get(field_path(kind.joints), ()) if kind.joints else None
    joints = named if named is not None else _numbered(channels)
    others = {word: numbers(field) for word, field in kind.others.items()}
    seconds, nanoseconds = (numbers(field).astype(np.int64) for field in kind.stamp)
    stamp = np.zeros(len(group.index), dtype=np.int64)
    if seconds.shape[1] == 1 and nanoseconds.shape[1] == 1:
        stamp = seconds[:, 0] * 1_000_000_000 + nanoseconds[:, 0]
    faults = [
        f"has {values.shape[1]} values of {channel} for {len(joints)} joints"
        for channel, values in {**channels, **others}.items()
        if values.shape[1] != len(joints) and (values.shape[1] or channel == "q")
    ]
    if len(set(joints)) != len(joints):
        faults.append("names a joint twice")
    if not joints and "q" in kind.channels:
        faults.append("names no joint")
    for field in kind.named:
        if group.texts.get(field_path(field)) not in (None, (), joints):
            faults.append(f"names other joints in {field}")
    wrench = {}
    if kind.wrench:
        frame = (*group.texts.get(field_path(kind.wrench.frame), ()), "")[0] if kind.wrench.frame else "base"
        values = field_path(kind.wrench.values)
        parts = [group.values.get((*values, *component)) for component in _COMPONENTS]
        whole = numbers(kind.wrench.values)
        found = (
            np.column_stack([part for part in parts if part is not None]) if parts[0] is not None else whole
        )
        wrench[f"{kind.wrench.prefix}_{frame}"] = found
        if found.shape[1] != len(WRENCH_AXES):
            faults.append(f"has {found.shape[1]} values of a force and a torque")
    return _State(group.index, tuple(joints), stamp, channels, others, wrench, tuple(faults))


def _numbered(channels: Mapping[str, Array]) -> tuple[str, ...]:
    return tuple(str(number) for number in range(1, channels["q"].shape[1] + 1)) if "q" in channels else ()


def _sound(states: Sequence[_State], broken: Mapping[int, str]) -> list[_State]:
    sound = [state for state in states if not state.faults]
    if not sound:
        reason = next(iter(broken.values()), "there is none")
        raise RecordingError(f"no message is a joint state that can be used: the first {reason}.")
    return sound


def _selected(
    states: Sequence[_State], joints: Sequence[str] | None, broken: dict[int, str]
) -> tuple[list[_State], tuple[str, ...], int]:
    """The messages to use, their joints, and how many messages are of other joints altogether."""
    sound = _sound(states, broken)
    if joints is not None:
        wanted = set(joints)
        used = [state for state in sound if wanted <= set(state.joints)]
        other = [state for state in sound if not wanted & set(state.joints)]
        for state in sound:
            missing = sorted(wanted - set(state.joints))
            if wanted & set(state.joints) and missing:
                broken |= dict.fromkeys(state.index.tolist(), f"lacks joint '{missing[0]}'")
        if used:
            return used, tuple(joints), sum(len(state.index) for state in other)
        if partly := [state for state in sound if wanted & set(state.joints)]:
            found = list(dict.fromkeys(name for state in partly for name in state.joints))
            missing = [name for name in joints if name not in found]
            if missing:
                listed = ", ".join(f"'{name[:60]}'" for name in missing[:12])
                raise RecordingError(
                    f"no message has joint {listed}.",
                    remedy="Hold joints that the log does not have still with --lock.",
                    evidence={"channel": "q", "missing": tuple(missing), "found": tuple(found)},
                )
        # None of the names occurs: they number the joints instead, which only one set of joints allows.
    sets = {frozenset(state.joints): state.joints for state in sound}
    if len(sets) > 1:
        listed = "; ".join(", ".join(name[:40] for name in names[:10]) for names in list(sets.values())[:4])
        raise RecordingError(
            f"the messages are of {len(sets)} sets of joints: {listed}.",
            remedy="Record the joints of one robot, called as in its description.",
            evidence={"joints": tuple(sets.values())},
        )
    return sound, sound[0].joints, 0


def _values(states: Sequence[_State], index: NDArray[np.int64], name: str, joints: Sequence[str]) -> Array:
    values = np.full((len(index), len(joints)), np.nan)
    for state in states:
        given = {**state.channels, **state.others}[name]
        if given.shape[1]:
            rows = np.searchsorted(index, state.index)
            values[rows] = given[:, [state.joints.index(joint) for joint in joints]]
    return values


def _filled(channel: str, values: Array) -> bool:
    """Whether a channel is there; a reference that some messages lack is not, for no fit needs it."""
    finite = np.isfinite(values)
    return bool(finite.all() if channel.endswith("_ref") else finite.any())


def _wrench(states: Sequence[_State], index: NDArray[np.int64], topic: Topic) -> dict[str, Array]:
    names = list(dict.fromkeys(name for state in states for name in state.wrench))
    if not names:
        return {}
    if len(names) > 1:
        raise RecordingError(
            f"the wrenches on topic '{topic.name[:60]}' are in {len(names)} frames: "
            f"{', '.join(name.rpartition('wrench_')[2][:40] for name in names[:6])}.",
            remedy="Record the wrench in one frame.",
        )
    (name,) = names
    # A sensor that does not name its frame is known by its topic.
    name = name + topic.name.strip("/").replace("/", "_") if name.endswith("_") else name.replace("/", "_")
    values = np.full((len(index), len(WRENCH_AXES)), np.nan)
    for state in states:
        values[np.searchsorted(index, state.index)] = next(iter(state.wrench.values()))
    return {f"{name}_{axis}": column for axis, column in zip(WRENCH_AXES, values.T, strict=True)}


def _stamps(states: Sequence[_State], index: NDArray[np.int64]) -> NDArray[np.int64] | None:
    stamps = np.zeros(len(index), dtype=np.int64)
    for state in states:
        stamps[np.searchsorted(index, state.index)] = state.stamp
    return stamps if (stamps != stamps[0]).any() and (stamps != 0).all() else None
