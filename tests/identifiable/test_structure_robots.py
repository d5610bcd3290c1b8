"""Structural identifiability of the zoo and of public descriptions, judged by Pinocchio's regressors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from oracles.numerical_identifiability import assert_numbers_agree
from shared_material import DATA, robot_files
from steelyard.robot import Robot, load_robot
from steelyard.zoo import ZOO, zoo_robot

DRIVES = ["viscous", "coulomb", "offset", "rotor"]
FILES = [*robot_files(".urdf"), *robot_files(".xml"), *DATA.rglob("xmate7p/*.urdf")]
CASES = [(drive, floating, gravity) for drive in ([], DRIVES) for floating in (0, 1) for gravity in (1, 0)]


def ask(robot: Robot, drive: list[str], *, floating: bool, gravity: bool) -> None:
    if not gravity:
        robot = robot.with_gravity(np.zeros(3))
    if floating:
        robot = replace(robot, base=replace(robot.base, name="trunk")).floating()
    assert_numbers_agree(robot, drive, seed=1)


@pytest.mark.parametrize(("drive", "floating", "gravity"), CASES)
@pytest.mark.parametrize("name", sorted(set(ZOO) - {"cheetah3"}))
def test_numbers_agree_on_the_zoo(name: str, drive: list[str], floating: bool, gravity: bool) -> None:
    ask(zoo_robot(name), drive, floating=floating, gravity=gravity)


@pytest.mark.parametrize("floating", [False, True])
def test_numbers_agree_on_a_quadruped(floating: bool) -> None:
    ask(zoo_robot("cheetah3"), [], floating=floating, gravity=True)


@pytest.mark.parametrize("name", ["puma560", "scara", "cheetah3_leg", "panda", "so101"])
@pytest.mark.parametrize("drive", [[], DRIVES], ids=["rigid", "drives"])
def test_numbers_agree_on_what_rest_can_show(name: str, drive: list[str]) -> None:
    assert_numbers_agree(zoo_robot(name), drive, seed=2, static=True)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_numbers_agree_on_public_descriptions(path: Path) -> None:
    robot = load_robot(path, snap=True)
    floats = any(joint.nv == 6 for joint in robot.joints)
    ask(robot, [], floating=False, gravity=True)
    ask(robot, DRIVES, floating=False, gravity=False)
    ask(robot, [], floating=not floats, gravity=True)
