"""A LeRobot dataset is identified, judged and made again by its name; its episodes are logs of their own."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from recording.written_datasets import write_dataset
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import InputError
from steelyard.layout import layout_of
from steelyard.motion import random_fourier
from steelyard.workflows.identify_request import IdentifyRequest
from steelyard.zoo import zoo_robot

pytest.importorskip("pyarrow", reason="datasets are Parquet; the extra `parquet` is not installed")

UNITS = "counts:xm430-w350"
AMPERE = 2.69e-3
"""A count of current of an XM430: ROBOTIS e-Manual."""
CONSTANT = 2.0


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three episodes of the two-link arm at 100 Hz, in counts of its servos, with raw currents."""
    robot = zoo_robot("two_link")
    layout = layout_of(robot, ["viscous"])
    time = np.arange(600) / 100
    episodes = []
    for seed in range(3):
        at = random_fourier(robot, np.random.default_rng(seed)).sample(time)
        tau = inverse_dynamics(robot, layout, layout.complete_nominal(), at.q, at.v, at.a)
        state = np.column_stack([2048 + at.q * 4096 / (2 * np.pi), tau / CONSTANT / AMPERE])
        episodes.append((state, state))
    names = ["joint1.pos", "joint2.pos", "joint1.current", "joint2.current"]
    return write_dataset(tmp_path_factory.mktemp("hub") / "arm", "v3.0", episodes, names, fps=100)


@pytest.fixture(scope="module")
def folder(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("fit") / "out"
    fit = sy.identify(
        "two_link", f"{dataset}#0-1", torque_constant=[CONSTANT] * 2, units=UNITS, method="ols", out=out
    )
    assert fit.score(f"{dataset}#2") < 1.0
    return out


def test_a_dataset_is_identified_by_its_name_and_the_record_knows_its_content(
    dataset: Path, folder: Path
) -> None:
    record = json.loads((folder / "record.json").read_text())["request"]
    assert record["logs"] == [f"{dataset}#0-1"]
    assert record["units"] == UNITS
    assert set(record["inputs"]) == {f"{dataset}#0-1"}
    request = IdentifyRequest.of(record, "record")
    request.require_unchanged(record["inputs"], folder / "record.json", "inputs")


def test_episodes_that_were_learnt_from_are_no_test_and_others_are(dataset: Path, folder: Path) -> None:
    again = sy.validate(folder, f"{dataset}#1", torque_constant=[CONSTANT] * 2, units=UNITS)
    assert "it was identified from arm#1" in again.repeat
    fresh = sy.validate(folder, f"{dataset}/#2", torque_constant=[CONSTANT] * 2, units=UNITS)
    assert fresh.repeat == ""
    assert fresh.overall < 1.0


def test_one_log_is_asked_for_where_one_is_held_out(dataset: Path) -> None:
    with pytest.raises(InputError, match=r"--holdout: is 3 episodes of a dataset.*arm#2"):
        sy.identify("two_link", dataset, holdout=dataset, torque_constant=[CONSTANT] * 2, units=UNITS)


def test_a_dataset_without_torques_is_asked_how_its_commands_were_followed(dataset: Path) -> None:
    with pytest.raises(InputError, match=r"arm#0: has no torques, and its positions are its commands"):
        sy.identify("two_link", dataset, units="rad")
    with pytest.raises(InputError, match=r"arm#0: log: has "):
        sy.identify("two_link", dataset, units="rad", signals="torque")


def test_limits_of_the_robot_are_the_range_where_that_is_said(tmp_path: Path) -> None:
    t = np.arange(90)[:, None] / 30
    state = 90 * np.sin(t + np.arange(6)) * ([1] * 5 + [0.5]) + ([0] * 5 + [50])
    folder = write_dataset(tmp_path / "so101", "v2.1", [(state, state)])
    with pytest.raises(InputError, match=r"does not say in which unit"):
        sy.identify("so101", folder)
    with pytest.raises(InputError, match=r"so101#0: has no torques, and its positions are its commands"):
        sy.identify("so101", folder, units="normalised", calibration="limits")
