"""Controller files: what they say is what commands; anything else is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from steelyard.control import (
    PD,
    Admittance,
    ComputedTorque,
    FeedforwardPD,
    GravityPID,
    LoopSettings,
    read_controller,
)
from steelyard.errors import InputError, UnknownNameError
from steelyard.zoo import zoo_robot

ROBOT = zoo_robot("two_link")


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "controller.toml"
    path.write_text(text)
    return path


def test_a_file_becomes_its_law_with_its_gains(tmp_path: Path) -> None:
    pd = read_controller(written(tmp_path, 'law = "pd"\nkp = 100\nkd = [2.5, 1]\n'), ROBOT)
    assert isinstance(pd, PD)
    np.testing.assert_array_equal(pd.gains, [[100, 100], [2.5, 1]])
    text = 'law = "computed-torque"\nkp = [400.0, 300.0]\nkd = 40.0\n'
    inverse = read_controller(written(tmp_path, text), ROBOT)
    assert isinstance(inverse, ComputedTorque)
    assert inverse.settings == ComputedTorque.nominal(ROBOT, [400.0, 300.0], 40.0).settings


SIX = "[3, 3, 3, 0.1, 0.1, 0.1]"
GUIDED = f'law = "admittance"\nkp = 400\nkd = 40\nobserver = 50\nmass = {SIX}\ndamping = {SIX}\n'


def test_every_law_is_read_with_its_own_keys(tmp_path: Path) -> None:
    text = 'law = "ff-pd"\ninertia = [2, 1]\nviscous = 0.1\nkp = 900\nkv = 60\ncycle = 0.001\n'
    paper = read_controller(written(tmp_path, text), ROBOT)
    same = FeedforwardPD(ROBOT, [2.0, 1.0], 0.1, 900.0, 60.0, cycle=0.001, filter=0.002)
    assert paper.settings == same.settings
    filtered = read_controller(written(tmp_path, f"{text}filter = 0.005\n"), ROBOT)
    assert filtered.settings == {**same.settings, "filter": 0.005}

    text = 'law = "gravity-pid"\nkp = 100\nki = 50\nkd = 9\nintegral_limit = [4, 2]\ncycle = 0.002\n'
    pid = read_controller(written(tmp_path, text), ROBOT)
    assert pid.settings == GravityPID.nominal(ROBOT, 100.0, 50.0, 9.0, [4.0, 2.0], cycle=0.002).settings

    more = (
        f'cycle = 0.001\ntool = "link2"\ncomponents = ["x", "z"]\nthreshold = {SIX}\ninverse_damping = 0.1\n'
    )
    guided = read_controller(written(tmp_path, GUIDED + more), ROBOT)
    six = [3.0, 3.0, 3.0, 0.1, 0.1, 0.1]
    assert (
        guided.settings
        == Admittance.nominal(
            ROBOT, 400.0, 40.0, 50.0, six, six, cycle=0.001, tool="link2",
            components=("x", "z"), threshold=six, inverse_damping=0.1,
        ).settings
    )  # fmt: skip


def test_cycle_and_delay_belong_to_the_loop_of_any_law(tmp_path: Path) -> None:
    text = 'law = "pd"\nkp = 1\nkd = 1\n'
    assert LoopSettings.read(written(tmp_path, text), ROBOT).cycle is None
    assert LoopSettings.read(written(tmp_path, text), ROBOT).delay == 0.0
    loop = LoopSettings.read(written(tmp_path, f"{text}cycle = 0.001\ndelay = 0.0015\n"), ROBOT)
    assert (loop.controller.law, loop.cycle, loop.delay) == ("pd", 0.001, 0.0015)
    with pytest.raises(InputError, match=r"controller\.toml: delay: states a delay of 0.0015 s"):
        read_controller(written(tmp_path, f"{text}delay = 0.0015\n"), ROBOT)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('law = "pd"\nkp = 1\n', "lacks the keys kd"),
        ('law = "pd"\nkp = "1"\nkd = 1\n', r"controller\.toml: kp: expected a number"),
        ('law = "pd"\nkp = true\nkd = 1\n', r"controller\.toml: kp: expected a number"),
        ('law = "pd"\nkp = [[1, 2]]\nkd = 1\n', r"controller\.toml: kp: expected a number"),
        ('law = "pd"\nkp = [1, 2, 3]\nkd = 1\n', r"controller\.toml: kp: expected shape"),
        ('law = "pd"\nkp = -1\nkd = 1\n', r"controller\.toml: kp: must not be negative"),
        ('law = "pd"\nkp = nan\nkd = 1\n', r"controller\.toml: kp: must be finite"),
        ("law = \n", r"controller\.toml: is not TOML"),
        ("law = ['pd']\nkp = 1\nkd = 1\n", r"unknown law .*Valid: pd, ff-pd, "),
        ("kp = 1\n", "lacks the key law, one of pd, ff-pd, gravity-pid, computed-torque, admittance"),
        ('law = "pd"\nkp = 1\nkd = 1\ncycle = 0\n', r"controller\.toml: cycle: must be positive, got 0 s"),
        ('law = "pd"\nkp = 1\nkd = 1\ncycle = [1, 1]\n', r"controller\.toml: cycle: expected shape"),
        ('law = "pd"\nkp = 1\nkd = 1\ndelay = -1\n', r"controller\.toml: delay: must not be negative"),
        ('law = "gravity-pid"\nkp = 1\n', "lacks the keys ki, kd, integral_limit, cycle"),
        (f"{GUIDED}cycle = 0.001\ntool = 3\n", r"controller\.toml: tool: expected a text, got a number"),
        (f"{GUIDED}cycle = 0.001\ntool = 'base'\n", r"controller\.toml: tool: 'base' is not on a moving"),
        (f"{GUIDED}cycle = 0.001\ntool = 'hand'\n", r"unknown link 'hand'"),
        (f"{GUIDED}cycle = 0.001\ncomponents = 'x'\n", "components: expected a list of texts"),
        (f"{GUIDED}cycle = 0.001\ncomponents = ['w']\n", "components: unknown component 'w'"),
    ],
)
def test_a_broken_file_is_refused_with_its_place(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        read_controller(written(tmp_path, text), ROBOT)


def test_unknown_keys_and_laws_are_errors_that_list_the_valid_ones(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown key 'ki'.*Valid: law, kp, kd, cycle, delay\."):
        read_controller(written(tmp_path, 'law = "pd"\nkp = 1\nkd = 1\nki = 1\n'), ROBOT)
    with pytest.raises(
        UnknownNameError, match=r"unknown law 'computed_torque'. Did you mean 'computed-torque'"
    ):
        read_controller(written(tmp_path, 'law = "computed_torque"\nkp = 1\nkd = 1\n'), ROBOT)
    with pytest.raises(InputError, match="cannot be read"):
        read_controller(tmp_path / "absent.toml", ROBOT)
