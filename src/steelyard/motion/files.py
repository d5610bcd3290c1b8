"""Motion files: exact in JSON; sampled for others as CSV or as a ROS JointTrajectory."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from steelyard.archive import from_document, to_document
from steelyard.arrays import Array
from steelyard.document import read_json
from steelyard.errors import InputError, UnknownNameError
from steelyard.files import FilePath, write_text
from steelyard.motion.composition import AnyMotion, SequenceMotion, SumMotion
from steelyard.motion.fourier import FourierMotion, SinusoidMotion
from steelyard.motion.motion import Motion
from steelyard.motion.spline import SplineMotion

# Motion files: JSON with family, joints, coefficients and the robot's digest; every bit survives.

_FAMILIES: dict[str, type[AnyMotion]] = {
    "fourier": FourierMotion,
    "spline": SplineMotion,
    "sinusoid": SinusoidMotion,
    "sum": SumMotion,
    "sequence": SequenceMotion,
}


def write_motion(motion: AnyMotion, path: FilePath) -> None:
    """Write a motion file, whole or not at all.

    Args:
        motion: the motion.
        path: where; an existing file is replaced.

    Raises:
        InputError: the path is a folder, or its folder does not exist or cannot be written to.
    """
    family = next(name for name, cls in _FAMILIES.items() if isinstance(motion, cls))
    document = to_document(motion)
    del document["is"]
    text = json.dumps({"family": family, **document}, indent=1, ensure_ascii=False, allow_nan=False)
    write_text(Path(path), text + "\n")


def read_motion(path: FilePath) -> AnyMotion:
    """Read a motion file.

    Returns:
        The motion, equal in every bit to the one written.

    Raises:
        InputError: there is no such file, or it is not a motion; the message says where.
    """
    path = Path(path)
    document = read_json(path)
    if not isinstance(document, dict) or not isinstance(document.get("family"), str):
        raise InputError("is not a motion: it lacks the text 'family'.", place=str(path))
    family = document.pop("family")
    if family not in _FAMILIES:
        raise UnknownNameError("motion family", family, _FAMILIES, place=str(path))
    try:
        return from_document(_FAMILIES[family], document, place=str(path))
    except InputError as error:
        if error.place.startswith(str(path)):
            raise
        raise InputError(error.message, place=f"{path}: {error.place}", evidence=error.evidence) from error
    except ValueError as error:
        raise InputError("holds an array whose rows differ in length.", place=str(path)) from error


# Motions sampled for others: CSV, and the ROS message JointTrajectory as YAML or JSON, without ROS.

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
    stamps = [seconds_and_nanoseconds(time) for time in t.tolist()]
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
            f"- positions: {yaml_list(q)}",
            f"  velocities: {yaml_list(v)}",
            f"  accelerations: {yaml_list(a)}",
            "  effort: []",
            f"  time_from_start: {{sec: {sec}, nanosec: {nanosec}}}",
        ]
    write_text(path, "\n".join(lines) + "\n")


def seconds_and_nanoseconds(time: float) -> tuple[int, int]:
    """Return a time as messages of ROS count it.

    Args:
        time: s.

    Returns:
        Whole seconds, and nanoseconds beyond them.
    """
    return divmod(round(time * _NANOSECONDS), _NANOSECONDS)


def yaml_list(values: Iterable[float]) -> str:
    """Return numbers as a list that YAML 1.1 reads as numbers: it takes `1e-05` for text, `1.0e-05` not.

    Args:
        values: the numbers.

    Returns:
        The list, every number with all of its bits.
    """
    texts = (repr(value) for value in values)
    return "[" + ", ".join(text if "." in text else text.replace("e", ".0e") for text in texts) + "]"
