"""Arms of the zoo run every command; all of them do so in `make acceptance`."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.running import run
from steelyard.zoo import ZOO
from zoo.every_command import ARMS, last_joint_by_itself, learns_its_load, line_of_commands, write_load

TELLING = ["rr_perpendicular", "scara", "kinova_gen3_2f85"]
"""Two joints, one that slides, and seven of which some turn without end, with a gripper."""


def test_all_but_the_quadruped_are_arms() -> None:
    assert set(ZOO) - set(ARMS) == {"cheetah3"}


@pytest.mark.parametrize("name", TELLING)
def test_an_arm_runs_every_command(name: str, tmp_path: Path) -> None:
    line_of_commands(name, tmp_path)


def test_the_last_joint_of_an_arm_is_modelled_by_itself(tmp_path: Path) -> None:
    last_joint_by_itself(TELLING[-1], tmp_path)


# Of seven joints, `tests/cli/test_cli_online.py` shows more than this.
@pytest.mark.parametrize("name", TELLING[:2])
def test_an_arm_learns_what_it_holds_along_a_proven_plan(name: str, tmp_path: Path) -> None:
    learns_its_load(name, tmp_path)


def test_a_joint_that_slides_is_refused_with_the_option_that_holds_it(tmp_path: Path) -> None:
    ended = run("online", "scara", "--payload", write_load(tmp_path))
    assert ended.code == 2
    assert "joint 'joint3' does not just turn" in ended.complaint
    assert "--lock joint3=" in ended.complaint
