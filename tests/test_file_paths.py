"""Every public function that takes a file or a folder takes text and any path-like object for it."""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import steelyard
from steelyard.campaigns import Spec, write_table
from steelyard.consistency import link_shapes
from steelyard.document import read_json
from steelyard.errors import InputError
from steelyard.files import write_bytes, write_text
from steelyard.formats import require_free, write_folder
from steelyard.model import ResultFolder, is_result
from steelyard.robot import load_robot, parse_urdf, repair_file
from steelyard.robot.descriptions.mjcf.reader import load_mjcf
from steelyard.robot.descriptions.urdf import load_urdf
from steelyard.robot.descriptions.xacro.expansion import load_xacro
from steelyard.zoo import find_robot, zoo_robot

INERTIA = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
LINK = f'<link name="{{}}"><inertial><mass value="1"/>{INERTIA}</inertial></link>'
JOINT = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
URDF = f'<robot name="r">{LINK.format("a")}{LINK.format("b")}{JOINT}</robot>'
MJCF = (
    '<mujoco><worldbody><body name="b"><joint name="j"/>'
    '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody></mujoco>'
)
SPEC = '[campaign]\nkind = "monte-carlo"\nname = "m"\nseed = 1\n'


class Named:
    """A path-like object that is no `Path`."""

    def __init__(self, path: Path) -> None:
        self._path = str(path)

    def __fspath__(self) -> str:
        return self._path


WAYS: dict[str, Callable[[Path], str | os.PathLike[str]]] = {"text": str, "path": Path, "path-like": Named}


def public_functions() -> list[Callable[..., object]]:
    """What the rooms offer each other, commands aside."""
    found = []
    for module in pkgutil.iter_modules(steelyard.__path__):
        if module.name == "cli":
            continue
        room = importlib.import_module(f"steelyard.{module.name}")
        own = [
            name for name, value in vars(room).items() if getattr(value, "__module__", "") == room.__name__
        ]
        for name in getattr(room, "__all__", [name for name in own if not name.startswith("_")]):
            if inspect.isfunction(getattr(room, name)):
                found.append(getattr(room, name))
    return found


def test_no_public_function_insists_on_a_path_object() -> None:
    stubborn = [
        f"{function.__module__}.{function.__name__}({parameter.name}: {parameter.annotation})"
        for function in public_functions()
        for parameter in inspect.signature(function).parameters.values()
        if re.search(r"\bPath\b", str(parameter.annotation))
    ]
    assert stubborn == []


@pytest.mark.parametrize("way", WAYS)
def test_descriptions_are_read_by_any_kind_of_path(way: str, tmp_path: Path) -> None:
    for name, text in (("r.urdf", URDF), ("r.xacro", URDF), ("r.xml", MJCF), ("s.toml", SPEC)):
        (tmp_path / name).write_text(text)
    urdf, xacro, mjcf, spec = (
        WAYS[way](tmp_path / name) for name in ("r.urdf", "r.xacro", "r.xml", "s.toml")
    )
    robots = [load_urdf(urdf), load_xacro(xacro), load_mjcf(mjcf), load_robot(urdf), find_robot(urdf)]
    folder = WAYS[way](tmp_path)
    robots.append(parse_urdf(URDF, folder=folder))
    assert {robot.joint_names for robot in robots} == {("j",)}
    assert repair_file(urdf, WAYS[way](tmp_path / "out.urdf")).robot.joint_names == ("j",)
    assert Spec.read(spec).path == tmp_path / "s.toml"
    assert link_shapes(robots[0], folder) == {}


@pytest.mark.parametrize("way", WAYS)
def test_files_and_folders_are_written_by_any_kind_of_path(way: str, tmp_path: Path) -> None:
    def at(name: str) -> str | os.PathLike[str]:
        return WAYS[way](tmp_path / name)

    write_bytes(at("a"), b"1")
    write_text(at("b"), "[2]")
    write_table(at("t.parquet"), {"x": [1.0]})
    assert (read_json(at("a")), read_json(at("b"))) == (1, [2])
    require_free(at("new"))
    write_folder(at("new"), {"file": b"3"})
    assert (tmp_path / "new" / "file").read_bytes() == b"3"
    assert not is_result(at("new"))
    with pytest.raises(InputError, match="is no folder"):
        ResultFolder.read(at("a"))


def test_a_robot_of_the_zoo_is_found_by_its_name_alone() -> None:
    assert find_robot("two_link").digest == zoo_robot("two_link").digest
