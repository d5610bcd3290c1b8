"""From one or several topics to columns on one time base."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Array
from steelyard.errors import RecordingError
from steelyard.finding import Finding, Severity
from steelyard.recording.assembly import increasing
from steelyard.recording.bags.bag import Bag
from steelyard.recording.bags.topic_series import TopicSeries, topic_series
from steelyard.recording.channels import CHANNELS, column_name
from steelyard.recording.table import KEPT, Column, Defect, Table

GAP = 2.5
"""Longest time between two messages that is bridged, in medians of that time."""
CLOCKS = 0.05
"""By how much the stamps of two topics may differ, against the times of reception, and be of one clock, s."""
SLOW = 1.5
"""How many times rarer than the positions a channel may come before that is a warning."""
_UR = (
    "shoulder_pan_joint",
    "shoulder_lift_joint",
    "elbow_joint",
    "wrist_1_joint",
    "wrist_2_joint",
    "wrist_3_joint",
)


def bag_table(bag: Bag, topics: str | None = None, joints: Sequence[str] | None = None) -> Table:
    """Turn topics into columns; a row is a message of the first topic that tells joint positions.

    Time is the messages' own when every message carries one, otherwise when they were received; it counts
    from the first message, because the clock's own count would leave a double no room below 0.2 µs. A channel
    that no message fills is left out and said to be. What another topic tells is interpolated linearly to
    these times, where a message of the same time gives its own bits; nothing is told across a gap or beyond
    an end, and rows there are left out and said to be. Where two topics tell a channel, the one that was
    named first gives it.

    Args:
        bag: the bag.
        topics: names with commas between; None when only one tells joint positions.
        joints: the joints wanted, where messages of other joints come on the same topic.

    Returns:
        The columns with their defects.

    Raises:
        RecordingError: the choice of topics is not clear, their clocks differ, or messages of several sets of
            joints come on one.
    """
    chosen = bag.chosen(topics)
    first = next((topic for topic in chosen if topic.tells_positions), None)
    if first is None:
        raise RecordingError(
            f"no topic of {', '.join(repr(topic.name[:60]) for topic in chosen)} tells joint positions.",
            remedy="Name one that does first, as in --topic /joint_states,/wrench.",
        )
    base = topic_series(first, bag.on(first), joints)
    series = [base if t is first else topic_series(t, bag.on(t), base.joints or joints) for t in chosen]
    clocks, clock = _clocks(series)
    start = int(clocks[chosen.index(first)][0])
    times = [_seconds(c, start) for c in clocks]
    time = times[chosen.index(first)]
    findings, known = [clock], np.ones(len(time), dtype=bool)
    columns: dict[str, Array] = {}
    for each, when in zip(series, times, strict=True):
        told = {name: values for name, values in _columns(each, base).items() if name not in columns}
        if each is not base:
            told, here, how = _interpolated(told, when, time, each)
            known &= here
            findings.append(how)
        columns |= told
        findings += _told(each, told, alone=len(series) == 1)
    if not known.any():
        raise RecordingError(
            "the topics have no time in common.",
            remedy="Record them together, or read one of them alone.",
            evidence={"topics": tuple(topic.name for topic in chosen)},
        )
    if not known.all():
        silent = f"{int((~known).sum())} of {len(known)} messages on '{first.name}'"
        findings.append(_said("bag-rows", f"{silent} lie where another topic is silent, and are left out."))
    findings += _remarks(bag, series, base)
    index = base.index[known]
    made = [Column.of("time", time[known])]
    made += [
        Column.of(name, values[known], row=lambda i: int(index[i]))
        for name, values in _ordered(columns, base).items()
    ]
    defects = [
        Defect(i, "", "message", reason if each is base else f"on '{each.topic.name[:60]}' {reason}")
        for each in series
        for i, reason in sorted(each.broken.items())[:KEPT]
    ]
    count = sum(len(each.broken) for each in series)
    defects += [Defect(base.count, "", "bag", sentence) for sentence in bag.damage]
    return Table(
        tuple(made),
        count + len(bag.damage),
        tuple(defects[:KEPT]),
        findings=tuple(findings),
        rows=index,
        word="message",
    )


def _clocks(series: Sequence[TopicSeries]) -> tuple[list[NDArray[np.int64]], Finding]:
    """The time of each row of each topic, all of one clock."""
    stamped = [(each, each.stamps) for each in series if each.stamps is not None]
    if len(stamped) == len(series):
        what = "the messages' own stamps"
        clocks = [stamps for _, stamps in stamped]
        late = [float(np.median(stamps - each.received)) / 1e9 for each, stamps in stamped]
        worst = max(range(len(late)), key=lambda k: abs(late[k] - late[0]))
        if abs(late[worst] - late[0]) > CLOCKS:
            raise RecordingError(
                f"the stamps on '{series[0].topic.name[:60]}' and '{series[worst].topic.name[:60]}' are of "
                f"clocks that differ by {abs(late[worst] - late[0]):.3g} s.",
                remedy="Synchronise the clocks and record again, or read one topic with --topic.",
                evidence={"seconds": late[worst] - late[0]},
            )
    else:
        what = "the times of reception, as the messages carry no stamps"
        if stamped:
            silent = next(each for each in series if each.stamps is None)
            what = f"the times of reception, as the messages on '{silent.topic.name}' carry no stamps"
        clocks = [each.received for each in series]
    start = next(clock for each, clock in zip(series, clocks, strict=True) if "q" in each.channels)[0]
    return clocks, _said("bag-clock", f"time is that of {what}; it counts from {start} ns.")


def _seconds(clock: NDArray[np.int64], start: int) -> Array:
    # Differences of integers first, so that nothing is lost to rounding.
    return np.asarray((clock - start) / 1e9)


def _columns(each: TopicSeries, base: TopicSeries) -> dict[str, Array]:
    """Columns by name; numbered joints take the names of the positions' joints."""
    joints = each.joints
    numbers = tuple(str(number) for number in range(1, len(base.joints) + 1))
    if joints and numbers in (joints, base.joints) and len(joints) == len(numbers):
        joints = base.joints
    if joints and joints != base.joints:
        raise RecordingError(
            f"topic '{each.topic.name[:60]}' is of joints {', '.join(joints[:10])}, and "
            f"'{base.topic.name[:60]}' of {', '.join(base.joints[:10])}.",
            remedy="Join topics of the same joints.",
        )
    columns = {
        column_name(channel, joint): column
        for channel, values in each.channels.items()
        for joint, column in zip(joints, values.T, strict=True)
    }
    return columns | dict(each.others)


def _interpolated(
    told: dict[str, Array], when: Array, time: Array, each: TopicSeries
) -> tuple[dict[str, Array], NDArray[np.bool_], Finding]:
    """Columns at other times, at which rows they are known, and how."""
    order = increasing(when)
    when = when[order]
    after = np.clip(np.searchsorted(when, time), 1, max(len(when) - 1, 1))
    if len(when) < 2:
        raise RecordingError(
            f"topic '{each.topic.name[:60]}' has one message, and nothing can be joined to that."
        )
    step = np.diff(when)
    same = np.isin(time, when)
    here = (time >= when[0]) & (time <= when[-1]) & ((step[after - 1] <= GAP * np.median(step)) | same)
    rare = float(np.median(step) / np.median(np.diff(time))) if len(time) > 1 else 1.0
    how = (
        f"'{each.topic.name}' is joined: {int((same & here).sum())} of {len(time)} rows have a message of "
        f"the same time, {int((here & ~same).sum())} are interpolated, {int((~here).sum())} lie beyond its "
        "ends or in its gaps."
    )
    if rare > SLOW:
        how += f" Its messages come {rare:.2g} times more rarely: what is faster is not in it."
    severity = Severity.WARNING if rare > SLOW else Severity.INFO
    values = {name: np.interp(time, when, column[order]) for name, column in told.items()}
    return values, here, Finding(severity, "bag-joined", how)


def _told(each: TopicSeries, told: dict[str, Array], *, alone: bool) -> list[Finding]:
    """Which topic gave which channel."""
    findings = [_said("bag-topic", f"read from topic '{each.topic.name}', {each.count} messages.")]
    if not alone:
        given = [c for c in each.channels if any(column_name(c, j) in told for j in each.joints)]
        given += sorted({name.rpartition("_")[0] for name in each.others if name in told})
        findings.append(
            _said(
                "bag-channels",
                f"'{each.topic.name}' gives {', '.join(given) or 'nothing that is not there yet'}.",
            )
        )
    if each.passed:
        findings.append(
            _said("other-joints", f"{each.passed} messages are of other joints and were passed over.")
        )
    if alone:
        findings += [_said("empty-channel", f"no message carries {channel}.") for channel in each.empty]
    return findings


def _remarks(bag: Bag, series: Sequence[TopicSeries], base: TopicSeries) -> list[Finding]:
    findings = []
    others = bag.others([each.topic for each in series])
    if others:
        listed = ", ".join(f"'{topic.name[:60]}' ({topic.type[:60]})" for topic in others[:6])
        names = ",".join([each.topic.name for each in series] + [others[0].name])
        findings.append(_said("bag-others", f"not read: {listed}. Join it with --topic {names[:200]}."))
    efforts = next((each for each in series if "tau" in each.channels), None)
    if efforts and all(any(joint.endswith(name) for joint in base.joints) for name in _UR):
        findings.append(
            _said(
                "ur-effort",
                "the joints are called as a UR's, whose driver publishes motor currents in A as effort "
                "unless it was told otherwise (use_currents_as_efforts). If these are currents, say so: "
                f"--columns 'tau_{base.joints[0]}=current_{base.joints[0]}, …' with --torque-constant.",
            )
        )
    return findings


def _ordered(columns: dict[str, Array], base: TopicSeries) -> dict[str, Array]:
    """Channels in the order of `CHANNELS`, then everything else."""
    names = [column_name(channel, joint) for channel in CHANNELS for joint in base.joints]
    first = {name: columns[name] for name in names if name in columns}
    return first | columns


def _said(code: str, message: str) -> Finding:
    return Finding(Severity.INFO, code, message)
