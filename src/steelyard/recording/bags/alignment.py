"""From the joint states of a topic to columns: every value with its joint, whatever the messages' order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Array
from steelyard.errors import RecordingError
from steelyard.finding import Finding, Severity
from steelyard.recording.bags.bag import Bag
from steelyard.recording.bags.joint_state import CHANNELS, Group, grouped
from steelyard.recording.channels import column_name
from steelyard.recording.table import KEPT, Column, Defect, Table


def joint_state_table(bag: Bag, topic: str | None = None, joints: Sequence[str] | None = None) -> Table:
    """Turn a topic of joint states into columns; a row is a message.

    Time is the messages' own when every message carries one, otherwise when they were received; it counts
    from the first message, because the clock's own count would leave a double no room below 0.2 µs. A channel
    that no message fills is left out and said to be.

    Args:
        bag: the bag.
        topic: the topic's name; None when there is only one of joint states.
        joints: the joints wanted, where messages of other joints come on the same topic.

    Returns:
        The columns with their defects.

    Raises:
        RecordingError: the topic is not clear, or messages of several sets of joints come on it.
    """
    name, messages = bag.on(topic)
    groups, broken = grouped([message.data for message in messages])
    broken |= _uneven(groups)
    used, names, passed = _selected(groups, joints, broken)
    index = np.sort(np.concatenate([g.index for g in used]))
    index = index[~np.isin(index, list(broken))]
    if not len(index):
        raise RecordingError(f"none of the {len(messages)} messages on '{name}' can be used.")
    received = np.array([message.received for message in messages], dtype=object)
    time, clock = _time(used, index, received)
    findings = [_said("bag-topic", f"read from topic '{name}', {len(messages)} messages."), clock]
    if passed:
        findings.append(_said("other-joints", f"{passed} messages are of other joints and were passed over."))
    columns = [Column.of("time", time)]
    for channel in CHANNELS:
        values = _values(used, index, channel, names)
        if channel != "q" and not np.isfinite(values).any():
            findings.append(_said("empty-channel", f"no message carries {channel}."))
            continue
        columns += [
            Column.of(column_name(channel, joint), column, row=lambda i: int(index[i]))
            for joint, column in zip(names, values.T, strict=True)
        ]
    defects = [Defect(i, "", "message", reason) for i, reason in sorted(broken.items())[:KEPT]]
    defects += [Defect(len(messages), "", "bag", sentence) for sentence in bag.damage]
    return Table(
        tuple(columns),
        len(broken) + len(bag.damage),
        tuple(defects),
        findings=tuple(findings),
        rows=index,
        word="message",
    )


def _uneven(groups: Sequence[Group]) -> dict[int, str]:
    """Messages whose arrays do not have one value for each joint, or which name a joint twice."""
    broken: dict[int, str] = {}
    for group in groups:
        n = len(group.joints)
        reasons = [
            f"has {values.shape[1]} values of {channel} for {n} joints"
            for channel, values in group.values.items()
            if values.shape[1] != n and (values.shape[1] or channel == "q")
        ]
        if len(set(group.joints)) != n:
            reasons.append("names a joint twice")
        if not n:
            reasons.append("names no joint")
        if reasons:
            broken |= dict.fromkeys(group.index.tolist(), ", ".join(reasons))
    return broken


def _selected(
    groups: Sequence[Group], joints: Sequence[str] | None, broken: dict[int, str]
) -> tuple[list[Group], tuple[str, ...], int]:
    """The messages to use, their joints, and how many messages are of other joints altogether."""
    sound = [group for group in groups if int(group.index[0]) not in broken]
    if not sound:
        reason = next(iter(broken.values()), "there is none")
        raise RecordingError(f"no message is a joint state that can be used: the first {reason}.")
    if joints is not None:
        wanted = set(joints)
        used = [group for group in sound if wanted <= set(group.joints)]
        other = [group for group in sound if not wanted & set(group.joints)]
        for group in sound:
            missing = sorted(wanted - set(group.joints))
            if wanted & set(group.joints) and missing:
                broken |= dict.fromkeys(group.index.tolist(), f"lacks joint '{missing[0]}'")
        if used:
            return used, tuple(joints), sum(len(group.index) for group in other)
        if partly := [group for group in sound if wanted & set(group.joints)]:
            found = list(dict.fromkeys(name for group in partly for name in group.joints))
            missing = [name for name in joints if name not in found]
            if missing:
                listed = ", ".join(f"'{name[:60]}'" for name in missing[:12])
                raise RecordingError(
                    f"no message has joint {listed}.",
                    remedy="Hold joints that the log does not have still with --lock.",
                    evidence={"channel": "q", "missing": tuple(missing), "found": tuple(found)},
                )
        # None of the names occurs: they number the joints instead, which only one set of joints allows.
    sets = {frozenset(group.joints): group.joints for group in sound}
    if len(sets) > 1:
        listed = "; ".join(", ".join(name[:40] for name in names[:10]) for names in list(sets.values())[:4])
        raise RecordingError(
            f"the messages are of {len(sets)} sets of joints: {listed}.",
            remedy="Record the joints of one robot, called as in its description.",
            evidence={"joints": tuple(sets.values())},
        )
    return sound, sound[0].joints, 0


def _values(groups: Sequence[Group], index: NDArray[np.int64], channel: str, names: Sequence[str]) -> Array:
    values = np.full((len(index), len(names)), np.nan)
    for group in groups:
        if group.values[channel].shape[1]:
            rows = np.searchsorted(index, group.index)
            order = [group.joints.index(name) for name in names]
            values[rows] = group.values[channel][:, order]
    return values


def _time(
    groups: Sequence[Group], index: NDArray[np.int64], received: NDArray[np.object_]
) -> tuple[Array, Finding]:
    stamps = np.empty(len(index), dtype=object)
    for group in groups:
        stamps[np.searchsorted(index, group.index)] = group.stamp.tolist()
    own = any(stamps != stamps[0]) and all(stamps != 0)
    clock = stamps if own else received[index]
    start = int(clock[0])
    what = "the messages' own stamps" if own else "the times of reception, as the messages carry no stamps"
    # Differences of integers first, so that nothing is lost to rounding.
    time = np.array([(int(c) - start) / 1e9 for c in clock])
    return time, _said("bag-clock", f"time is that of {what}; it counts from {start} ns.")


def _said(code: str, message: str) -> Finding:
    return Finding(Severity.INFO, code, message)
