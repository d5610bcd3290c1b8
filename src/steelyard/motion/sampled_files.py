"""Motions sampled for others: CSV, and the ROS message JointTrajectory as YAML or JSON, without ROS."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.files import FilePath, write_text
from steelyard.motion.motion import Motion

MOST_SAMPLES = 10_000_000
FASTEST = 1e6
"""Highest rate, Hz: the stamps of a trajectory count nanoseconds."""
_NANOSECONDS = 1_000_000_000


def sample_times(duration: float, rate: float) -> Array:
    """Equispaced times from 0, and the end of the motion as the last.

    Args:
        duration: of the motion, s.
        rate: samples per second, Hz.

    Returns:
        The times, increasing, shape (N,), s; the last step is shorter where the end is off the grid.

    Raises:
        InputError: the rate is not positive, or above `FASTEST`, or gives more than `MOST_SAMPLES`.
    """
    if not 0.0 < rate <= FASTEST:
        raise InputError(f"must be positive and at most {FASTEST:g} Hz, got {rate} Hz.", place="rate")
    if not duration * rate <= MOST_SAMPLES:
        raise InputError(f"{rate} Hz gives more than {MOST_SAMPLES} samples.", place="rate")
    # A grid point within a thousandth of a step before the end makes way for it.
    steps = math.ceil(duration * rate - 1e-3)
    return np.append(np.arange(max(steps, 1)) / rate, duration)


def write_samples(motion: Motion, path: FilePath, *, rate: float) -> None:
    """Write a motion as CSV: `time`, then `q_`, `v_` and `a_` of every joint; `Recording` names them so too.

    Args:
        motion: the motion.
        path: where; an existing file is replaced.
        rate: samples per second, Hz.

    Raises:
        InputError: the rate is out of range, or the file cannot be written.
    """
    t = sample_times(motion.duration, rate)
    at = motion.sample(t)
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["time", *(f"{prefix}_{joint}" for prefix in "qva" for joint in motion.joints)])
    rows.writerows(np.column_stack((t, at.q, at.v, at.a)).tolist())
    write_text(Path(path), text.getvalue())


def write_joint_trajectory(motion: Motion, path: FilePath, *, rate: float) -> None:
    """Write a motion as a `trajectory_msgs/JointTrajectory`: YAML, or JSON where the file is called `.json`.

    Args:
        motion: the motion.
        path: where, ending in `.yaml`, `.yml` or `.json`; an existing file is replaced.
        rate: points per second, Hz.

    Raises:
        InputError: another ending, the rate is out of range, or the file cannot be written.
    """
    path = Path(path)
    if path.suffix not in (".yaml", ".yml", ".json"):
        raise InputError(
            f"'{path.suffix}' is not a kind of trajectory file.",
            place=str(path),
            remedy="Use .yaml, .yml or .json.",
        )
    t = sample_times(motion.duration, rate)
    at = motion.sample(t)
    # The message counts whole nanoseconds; the points are those of the exact times.
    stamps = [divmod(round(time * _NANOSECONDS), _NANOSECONDS) for time in t.tolist()]
    points = list(zip(stamps, at.q.tolist(), at.v.tolist(), at.a.tolist(), strict=True))
    if path.suffix == ".json":
        message = {
            "header": {"stamp": {"sec": 0, "nanosec": 0}, "frame_id": ""},
            "joint_names": list(motion.joints),
            "points": [
                {
                    "positions": q,
                    "velocities": v,
                    "accelerations": a,
                    "effort": [],
                    "time_from_start": {"sec": sec, "nanosec": nanosec},
                }
                for (sec, nanosec), q, v, a in points
            ],
        }
        write_text(path, json.dumps(message, ensure_ascii=False, allow_nan=False) + "\n")
        return
    lines = [
        "header: {stamp: {sec: 0, nanosec: 0}, frame_id: ''}",
        f"joint_names: {json.dumps(motion.joints)}",
        "points:",
    ]
    for (sec, nanosec), q, v, a in points:
        lines += [
            f"- positions: {_yaml_list(q)}",
            f"  velocities: {_yaml_list(v)}",
            f"  accelerations: {_yaml_list(a)}",
            "  effort: []",
            f"  time_from_start: {{sec: {sec}, nanosec: {nanosec}}}",
        ]
    write_text(path, "\n".join(lines) + "\n")


def _yaml_list(values: Iterable[float]) -> str:
    """Numbers that YAML 1.1 reads as numbers: it takes `1e-05` for text, `1.0e-05` not."""
    texts = (repr(value) for value in values)
    return "[" + ", ".join(text if "." in text else text.replace("e", ".0e") for text in texts) + "]"
