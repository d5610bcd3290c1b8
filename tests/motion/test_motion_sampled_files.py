"""Sampled motions for others: CSV that our readers take, and trajectories that YAML and JSON readers take."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from motion.motion_families import JOINTS, families, fourier
from steelyard.errors import InputError
from steelyard.motion import Motion, write_joint_trajectory, write_samples
from steelyard.motion.conditions import rest_to_rest
from steelyard.motion.spline import bezier
from steelyard.recording import read


def test_the_csv_is_the_motion_bit_for_bit(tmp_path: Path) -> None:
    motion, path = families()["sequence"], tmp_path / "motion.csv"
    write_samples(motion, path, rate=250.0)
    with path.open(newline="") as stream:
        header, *rows = csv.reader(stream)
    assert header == ["time", *(f"{letter}_{joint}" for letter in "qva" for joint in JOINTS)]
    table = np.array(rows, dtype=float)
    assert table[0, 0] == 0.0
    assert table[-1, 0] == motion.duration
    at = motion.sample(table[:, 0])
    np.testing.assert_array_equal(table[:, 1:], np.hstack((at.q, at.v, at.a)))


def test_the_csv_can_be_read_as_a_recording(tmp_path: Path) -> None:
    motion, path = fourier(1), tmp_path / "motion.csv"
    write_samples(motion, path, rate=100.0)
    recording = read(path)
    assert recording.joints == JOINTS
    at = motion.sample(recording.time)
    np.testing.assert_array_equal(recording.q, at.q)
    np.testing.assert_array_equal(recording.a, at.a)


def trajectory(motion: Motion, path: Path, rate: float) -> Any:
    write_joint_trajectory(motion, path, rate=rate)
    text = path.read_text()
    return json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)


@pytest.mark.parametrize("suffix", [".yaml", ".yml", ".json"])
def test_a_trajectory_is_the_ros_message_with_every_bit(suffix: str, tmp_path: Path) -> None:
    # Resting ends give numbers like 1e-17, which YAML 1.1 would read as text without a point.
    motion = replace(rest_to_rest(fourier(3), [1e-9, 1e22, -0.0]), joints=("a: b", "yes", "β'\\"))
    message = trajectory(motion, tmp_path / f"motion{suffix}", 33.0)
    assert list(message) == ["header", "joint_names", "points"]
    assert message["header"] == {"stamp": {"sec": 0, "nanosec": 0}, "frame_id": ""}
    assert message["joint_names"] == list(motion.joints)
    t = np.append(np.arange(132) / 33.0, 4.0)
    at = motion.sample(t)
    points = message["points"]
    assert len(points) == len(t)
    for letter, word in (("q", "positions"), ("v", "velocities"), ("a", "accelerations")):
        np.testing.assert_array_equal([point[word] for point in points], getattr(at, letter))
    assert all(point["effort"] == [] for point in points)
    stamps = [point["time_from_start"] for point in points]
    assert all(set(s) == {"sec", "nanosec"} and 0 <= s["nanosec"] < 10**9 for s in stamps)
    nanoseconds = np.array([s["sec"] * 10**9 + s["nanosec"] for s in stamps])
    assert (np.diff(nanoseconds) > 0).all()
    np.testing.assert_allclose(nanoseconds * 1e-9, t, atol=0.5e-9)


@pytest.mark.parametrize("duration", [1.0, 0.3, 1.0 + 1e-9, 1.0 - 1e-9, 1.0004, 1e-4])
@pytest.mark.parametrize("rate", [10.0, 1000.0, 4_410.0])
def test_times_increase_and_end_with_the_motion(duration: float, rate: float, tmp_path: Path) -> None:
    motion = bezier(("j",), duration, np.zeros((1, 6)))
    points = trajectory(motion, tmp_path / "motion.json", rate)["points"]
    stamps = [p["time_from_start"]["sec"] * 10**9 + p["time_from_start"]["nanosec"] for p in points]
    steps = np.diff(stamps)
    assert stamps[0] == 0
    assert stamps[-1] == round(duration * 1e9)
    assert steps.min() > 0
    assert steps.max() <= 1.002e9 / rate + 1.0


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan"), float("inf"), 2e6])
def test_rates_out_of_range_are_refused(rate: float, tmp_path: Path) -> None:
    for write in (write_samples, write_joint_trajectory):
        with pytest.raises(InputError, match="rate: must be positive and at most 1e\\+06 Hz"):
            write(fourier(0), tmp_path / "motion.yaml", rate=rate)
    assert not list(tmp_path.iterdir())


def test_other_endings_and_endless_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'.txt' is not a kind of trajectory file. Use .yaml"):
        write_joint_trajectory(fourier(0), tmp_path / "motion.txt", rate=10.0)
    with pytest.raises(InputError, match="gives more than 10000000 samples"):
        write_samples(bezier(("j",), 1e6, np.zeros((1, 6))), tmp_path / "motion.csv", rate=1000.0)
