"""One episode of a LeRobot dataset as columns: each number of a vector is one, by the names of its feature.

`observation.state` holds where the joints are, `action` where they were sent: `q` and `q_ref`, called by the
names that the features give them, without `.pos`, and without the `main_` of earlier versions where the robot
has the rest for a joint. `.vel` is a velocity. A current (`.current`) is raw, so it is one only where the
servo is said. Everything else stays an extra column. Torques are never taken by themselves: what is written
as effort has no unit that is agreed on.

LeRobot writes frame numbers over the frame rate as `timestamp`, rounded to 32 bits; it is not when the joints
were read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from steelyard.arrays import Array
from steelyard.budget import memory_budget
from steelyard.errors import InputError, RecordingError
from steelyard.files import read_bytes
from steelyard.finding import Finding, Severity
from steelyard.recording.lerobot.dataset import Dataset, Feature
from steelyard.recording.lerobot.parquet import rows_of_episode
from steelyard.recording.servo_units import Units
from steelyard.recording.table import MOST_COLUMNS, Column, Table

STATE, ACTION = "observation.state", "action"
_WHOLE = {"observation.velocity": "v", "observation.velocities": "v", "observation.current": "current"}
"""Features all of whose numbers are of one quantity; positions are those of `STATE` and `ACTION`."""
_SUFFIXES = {".pos": "q", ".vel": "v", ".current": "current"}
_RAW = (".torque", ".effort", ".load", ".temp", ".temperature", ".voltage", ".acc")
"""What is kept as it is."""
_OLD = "main_"
_PREFIXES = {"q": "q", "v": "v", "current": "current", "q_ref": "qref", "v_ref": "vref"}
_TIME, _FRAME, _EPISODE = "timestamp", "frame_index", "episode_index"
TOLERANCE = 1e-4
"""How far a time may be from its frame's, s; LeRobot allows the same."""
OFF_RATE = 0.1
"""How far the interval of the times may be from that of the frame rate, as a share."""


class Episode(NamedTuple):
    """An episode as it was read.

    Attributes:
        table: its columns.
        contents: the bytes it was read from.
        detail: what the history says of it.
    """

    table: Table
    contents: tuple[bytes, ...]
    detail: Mapping[str, object]


def read_episode(
    dataset: Dataset, episode: int, joints: Sequence[str] | None, units: Units | None, *, share: float
) -> Episode:
    """Read an episode.

    Args:
        dataset: the dataset.
        episode: its number.
        joints: names of the robot's joints; None where nothing is known of it.
        units: what is said of the units.
        share: largest file, as a share of the budget of memory, dimensionless.

    Returns:
        Its columns, with what they mean.

    Raises:
        RecordingError: the dataset has none of that number, or its file is damaged.
        MissingExtraError: Arrow is not installed.
    """
    if STATE not in dataset.features:
        raise RecordingError(
            f"has no feature '{STATE}': {', '.join(map(repr, list(dataset.features)[:12])) or 'none'}.",
            place=str(dataset.folder),
            remedy="Positions of the joints are read from it.",
        )
    place = dataset.place(episode)
    content = read_bytes(place.file, most=int(share * memory_budget()))
    wanted = {
        name: feature.width
        for name, feature in dataset.features.items()
        if name.startswith((ACTION, "observation."))
    }
    if (width := sum(wanted.values())) > MOST_COLUMNS:
        raise RecordingError(
            f"has {width} numbers in a row; at most {MOST_COLUMNS} are read.",
            place=str(dataset.folder),
            remedy="Leave out features that are no joints'.",
        )
    try:
        found = rows_of_episode(content, wanted, (_TIME, _FRAME, _EPISODE), episode)
    except InputError as error:
        where = f"{place.file}: {error.place}" if error.place else str(place.file)
        raise RecordingError(
            error.message, place=where, remedy=error.remedy, evidence=error.evidence
        ) from error
    rows = len(found[_EPISODE])
    if place.length is not None and place.length != rows:
        raise RecordingError(
            f"holds {rows} rows of episode {episode}, which is listed with {place.length}.",
            place=str(place.file),
            remedy="Export or copy the dataset again.",
        )
    time, noticed = _time(found[_TIME][:, 0], found.get(_FRAME), dataset.rate, str(place.file))
    columns = [Column.of(_TIME, time)]
    meanings: dict[str, str] = {}
    findings = [noticed]
    named = dataset.features[STATE].names
    for name, feature in ((name, dataset.features[name]) for name in wanted if name in found):
        names = feature.names
        if names is None and name == ACTION and feature.width == dataset.features[STATE].width:
            names = named
        labels = names or tuple(str(number) for number in range(1, feature.width + 1))
        shown = [f"{name}.{label}" for label in labels]
        columns += [Column.of(label, values) for label, values in zip(shown, found[name].T, strict=True)]
        meant = dict(_meanings(name, feature, names, shown, joints, units))
        meanings |= meant
        if meant and feature.names is None:
            findings.append(_order_assumed(name, names is not None))
    table = Table(tuple(columns), findings=tuple(findings), meanings=meanings, unit_unknown=True)
    detail = {"episode": episode, "fps": dataset.rate, "robot_type": dataset.robot}
    return Episode(table, (dataset.content, content), detail)


def _meanings(
    name: str,
    feature: Feature,
    names: Sequence[str] | None,
    shown: Sequence[str],
    joints: Sequence[str] | None,
    units: Units | None,
) -> Iterator[tuple[str, str]]:
    """Our name of each column of a feature that is a joint's."""
    if name not in (STATE, ACTION, *_WHOLE):
        return
    for number, column in enumerate(shown, start=1):
        label = str(number) if names is None else names[number - 1]
        channel, joint = _WHOLE.get(name, "q"), label
        if label.endswith(_RAW):
            continue
        for suffix, quantity in _SUFFIXES.items():
            if label.endswith(suffix) and len(label) > len(suffix):
                channel, joint = quantity, label.removesuffix(suffix)
        known = joints is not None and joint not in joints
        if known and joints is not None and joint.removeprefix(_OLD) in joints:
            joint = joint.removeprefix(_OLD)
        if channel == "current" and not (units is not None and units.counts_current(joint)):
            continue
        if name == ACTION:
            if channel == "current":
                continue
            channel = f"{channel}_ref"
        yield column, f"{_PREFIXES[channel]}_{joint}"


def _time(stamps: Array, frames: Array | None, rate: float, place: str) -> tuple[Array, Finding]:
    """The times of the rows, shape (N,), s: those of the frames where the stamps are these, rounded."""
    if len(stamps) > 1:
        interval = float(np.median(np.diff(stamps)))
        if not abs(interval * rate - 1.0) <= OFF_RATE:
            raise RecordingError(
                f"its times are {interval:.4g} s apart, and meta/info.json says {rate:g} frames per second.",
                place=place,
                remedy="Set the one that is wrong right.",
                evidence={"interval": interval, "fps": rate},
            )
    if frames is not None:
        exact = frames[:, 0] / rate
        if np.isfinite(exact).all() and bool((np.abs(stamps - exact) <= TOLERANCE).all()):
            return exact, Finding(
                Severity.INFO,
                "nominal-times",
                "times are frame numbers over the frame rate, as LeRobot writes them: when the joints were "
                "read is not known, and delays and jitter do not show.",
                _TIME,
            )
    return stamps, Finding(
        Severity.INFO, "measured-times", "times are not those of the frames; taken as they are.", _TIME
    )


def _order_assumed(name: str, of_state: bool) -> Finding:
    order = f"that of '{STATE}'" if of_state else "that of the robot's joints"
    return Finding(
        Severity.WARNING,
        "joint-order-assumed",
        f"has no names; its order is taken to be {order}. Say otherwise with --columns.",
        name,
    )
