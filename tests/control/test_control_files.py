"""Controller files: what they say is what commands; anything else is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from steelyard.control import PD, ComputedTorque, read_controller
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
    ],
)
def test_a_broken_file_is_refused_with_its_place(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        read_controller(written(tmp_path, text), ROBOT)


def test_unknown_keys_and_laws_are_errors_that_list_the_valid_ones(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown key 'ki'.*Valid: law, kp, kd"):
        read_controller(written(tmp_path, 'law = "pd"\nkp = 1\nkd = 1\nki = 1\n'), ROBOT)
    with pytest.raises(
        UnknownNameError, match=r"unknown law 'computed_torque'. Did you mean 'computed-torque'"
    ):
        read_controller(written(tmp_path, 'law = "computed_torque"\nkp = 1\nkd = 1\n'), ROBOT)
    with pytest.raises(InputError, match="cannot be read"):
        read_controller(tmp_path / "absent.toml", ROBOT)
