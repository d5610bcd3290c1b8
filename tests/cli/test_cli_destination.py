"""Every command looks at where it is to write before it looks at anything else."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from cli.running import run
from command_table import every_command
from steelyard.formats.urdf import new_urdf
from steelyard.motion import random_fourier, write_motion
from steelyard.zoo import zoo_robot

MISSING = "nowhere.urdf"
WRITERS = {
    "demo": ("--robot", MISSING, "--out"),
    "excite": (MISSING, "--out"),
    "identify": (MISSING, "nowhere.csv", "--out"),
    "validate": (MISSING, "nowhere.csv", "--out"),
    "payload": (MISSING, "--loaded", "nowhere.csv", "--empty", "nowhere.csv", "--out"),
    "sensitivity": (MISSING, "--out"),
    "joints": (MISSING, "--out"),
    "online": (MISSING, "--payload", "nowhere.json", "--out"),
    "campaign": ("nowhere.toml", "--out"),
    "simulate": (MISSING, "nowhere.json", "--out"),
    "inspect": (MISSING, "--repair"),
    "patch": (MISSING, "nowhere", "--out"),
    "view": (MISSING, "--out"),
    "replay": ("RESULT", "--out"),
}
"""What each command that writes is given: inputs that it would complain about if it looked at them."""
ENDINGS = {"excite": ".json", "simulate": ".csv", "inspect": ".urdf", "patch": ".urdf", "view": ".html"}


def test_the_list_knows_every_command_that_writes() -> None:
    writing = {
        name
        for name, command in every_command().items()
        if any({"--out", "--repair"} & set(option.opts) for option in command.params)
    }
    assert writing == set(WRITERS)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc, where nobody may write, is Linux's")
@pytest.mark.parametrize("command", WRITERS)
def test_a_place_that_cannot_be_written_to_is_refused_before_anything_runs(
    command: str, tmp_path: Path
) -> None:
    request = {"command": "identify", "robot": MISSING, "logs": ["nowhere.csv"], "inputs": {}}
    record = {"kind": "steelyard-result", "schema": 1, "files": {}, "request": request}
    (tmp_path / "record.json").write_text(json.dumps(record))
    words = [tmp_path if word == "RESULT" else word for word in WRITERS[command]]
    done = run(command, *words, f"/proc/steelyard/it{ENDINGS.get(command, '')}")
    assert done.code == 2, done.err
    assert "/proc: cannot be written to" in done.complaint
    assert [path.name for path in tmp_path.iterdir()] == ["record.json"]


def test_a_missing_folder_of_a_file_is_made(tmp_path: Path) -> None:
    robot, motion = zoo_robot("two_link"), tmp_path / "motion.json"
    write_motion(random_fourier(robot, np.random.default_rng(0), period=2.0), motion)
    log = tmp_path / "new" / "folder" / "log.csv"
    words = ("simulate", "two_link", motion, "--out", log)
    assert run(*words).code == 0
    before = log.read_bytes()
    again = run(*words, "--seed", "1", "--sensor", "low-cost")
    assert again.code == 2
    assert "--force" in again.complaint
    assert log.read_bytes() == before
    assert run(*words, "--seed", "1", "--sensor", "low-cost", "--force").code == 0
    assert log.read_bytes() != before
    (tmp_path / "it.urdf").write_bytes(new_urdf(robot))
    mended = tmp_path / "other" / "it.urdf"
    assert run("inspect", tmp_path / "it.urdf", "--repair", mended).code == 0
    assert mended.is_file()
