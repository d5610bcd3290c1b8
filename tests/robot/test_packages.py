"""Packages that descriptions name are found where the user says, and nothing is opened elsewhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import steelyard as sy
from cli.running import run
from steelyard.archive import from_document, to_document
from steelyard.errors import DescriptionError, InputError, MissingExtraError, UnknownNameError
from steelyard.limits import clearance_of
from steelyard.robot import Robot, load_robot
from steelyard.robot.link import MeshSource

CUBE = "".join(f"v {x} {y} {z}\n" for z in (0, 0.1) for y in (0, 0.1) for x in (0, 0.1)) + (
    "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n"
)
URDF = (
    '<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/>'
    '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>'
    '<collision><geometry><mesh filename="{}"/></geometry></collision></link>'
    '<joint name="j" type="revolute"><parent link="base"/><child link="arm"/>'
    '<limit lower="-1" upper="1" velocity="1" effort="9"/></joint></robot>'
)


def _package(folder: Path, name: str | None = None) -> Path:
    """A package with a cube; without a name it has no manifest."""
    (folder / "meshes").mkdir(parents=True)
    (folder / "meshes" / "a.obj").write_text(CUBE)
    if name is not None:
        (folder / "package.xml").write_text(f"<package><name>{name}</name></package>")
    return folder


def _described(folder: Path, mesh: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "r.urdf").write_text(URDF.format(mesh))
    return folder / "r.urdf"


def _unread(robot: Robot) -> list[str]:
    return [x.message for x in clearance_of(robot).findings if x.code == "unchecked-shape"]


@pytest.mark.parametrize(
    ("where", "name", "given"),
    [
        ("ws/arm", None, "ws"),
        ("ws/arm", None, "ws/arm"),
        ("ws/arm", None, "arm=ws/arm"),
        ("ws/other", "arm", "ws"),
        ("ws/src/stack/other", "arm", "ws"),
        ("ws/called_otherwise", None, "arm=ws/called_otherwise"),
    ],
)
def test_a_package_below_a_named_folder_is_found_by_folder_manifest_or_word(
    tmp_path: Path, where: str, name: str | None, given: str
) -> None:
    _package(tmp_path / where, name)
    file = _described(tmp_path / "here", "package://arm/meshes/a.obj")
    assert "--package-path" in _unread(sy.load(file))[0]
    word, equals, folder = given.rpartition("=")
    robot = sy.load(file, package_path=f"{word}{equals}{tmp_path / folder}")
    assert _unread(robot) == []
    assert robot.digest == sy.load(file).digest


def test_a_robot_keeps_where_its_meshes_lie_but_its_document_does_not(tmp_path: Path) -> None:
    robot = sy.load(_described(_package(tmp_path / "arm"), "meshes/a.obj"))
    turned = robot.with_gravity([0, 0, 9.81]).floating()
    assert robot.meshes == turned.meshes == MeshSource(str(tmp_path / "arm"))
    assert str(tmp_path) not in str(to_document(robot))
    assert from_document(Robot, to_document(robot)).meshes is None


def test_installed_packages_and_the_cache_of_robot_descriptions_are_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = _described(tmp_path / "here", "package://arm/meshes/a.obj")
    sites = {
        "manifest": ("site-packages/arm", "arm"),
        "share": ("site-packages/arm/share/arm", "arm"),
        "cmeel": ("site-packages/cmeel.prefix/share/arm", None),
    }
    for kind, (place, name) in sites.items():
        _package(tmp_path / kind / place, name)
        with monkeypatch.context() as context:
            context.setattr(sys, "path", [str(tmp_path / kind / "site-packages")])
            assert _unread(load_robot(file)) == [], kind
    _package(tmp_path / "cache" / "repository" / "arm")
    monkeypatch.setenv("ROBOT_DESCRIPTIONS_CACHE", str(tmp_path / "cache"))
    assert _unread(load_robot(file)) == []


def test_a_relative_path_reaches_as_far_as_the_package_or_a_named_folder(tmp_path: Path) -> None:
    package = _package(tmp_path / "arm")
    file = _described(package / "urdf", "../meshes/a.obj")
    assert "outside the description's folder" in _unread(sy.load(file))[0]
    assert _unread(sy.load(file, package_path=package)) == []
    (package / "package.xml").write_text("<package><name>arm</name></package>")
    assert _unread(sy.load(file)) == []


@pytest.mark.parametrize(
    "mesh", ["package://arm/pipe.stl", "package://arm/zero.stl", "package://arm/loop.stl"]
)
def test_a_pipe_or_a_device_is_no_mesh_wherever_it_lies(tmp_path: Path, mesh: str) -> None:
    package = _package(tmp_path / "ws" / "arm")
    os.mkfifo(package / "pipe.stl")
    (package / "zero.stl").symlink_to("/dev/zero")
    (package / "loop.stl").symlink_to("loop.stl")
    robot = sy.load(_described(tmp_path / "here", mesh), package_path=tmp_path / "ws")
    assert "there is no such file" in _unread(robot)[0]


def test_links_are_followed_in_the_users_packages_alone(tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "a.obj").write_text(CUBE)
    for package in (tmp_path / "ws" / "arm", tmp_path / "near" / "arm"):
        package.mkdir(parents=True)
        (package / "linked.obj").symlink_to(tmp_path / "build" / "a.obj")
    far = _described(tmp_path / "here", "package://arm/linked.obj")
    assert _unread(sy.load(far, package_path=tmp_path / "ws")) == []
    came_with_it = _described(tmp_path / "near" / "arm", "package://arm/linked.obj")
    assert "outside" in _unread(sy.load(came_with_it))[0]
    climbing = _described(tmp_path / "there", "package://arm/../../build/a.obj")
    assert "outside" in _unread(sy.load(climbing, package_path=tmp_path / "ws"))[0]


def test_a_folder_that_is_none_is_refused_by_name(tmp_path: Path) -> None:
    file = _described(tmp_path / "here", "package://arm/a.obj")
    done = run("inspect", file, "--package-path", tmp_path / "nowhere")
    assert done.code == 2
    assert "--package-path" in done.complaint
    assert "is no folder" in done.complaint
    with pytest.raises(InputError, match="was read from a file"):
        sy.inspect(sy.robots()["two_link"], package_path=tmp_path)


def test_xacro_finds_the_packages_that_meshes_do(tmp_path: Path) -> None:
    parts = _package(tmp_path / "ws" / "arm_parts", "arm_parts")
    (parts / "link.xacro").write_text(
        '<robot xmlns:xacro="http://ros.org/wiki/xacro"><xacro:macro name="body"><link name="arm">'
        '<inertial><mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>'
        '</inertial><collision><geometry><mesh filename="file://$(find arm_parts)/meshes/a.obj"/></geometry>'
        "</collision></link>"
        "</xacro:macro></robot>"
    )
    (tmp_path / "mine").mkdir()
    file = tmp_path / "mine" / "r.xacro"
    file.write_text(
        '<robot name="r" xmlns:xacro="http://ros.org/wiki/xacro"><link name="base"/>'
        '<xacro:include filename="$(find arm_parts)/link.xacro"/><xacro:body/>'
        '<joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>'
    )
    with pytest.raises(DescriptionError, match="--package-path"):
        load_robot(file)
    robot = load_robot(file, package_path=[tmp_path / "ws"])
    assert robot.links[0].collision[0].shape.file == "package://arm_parts/meshes/a.obj"  # type: ignore[union-attr]
    assert _unread(robot) == []
    (parts / "link.xacro").write_text('<robot><xacro:include filename="../../secret.xacro"/></robot>')
    (tmp_path / "secret.xacro").write_text("<robot/>")
    with pytest.raises(DescriptionError, match="lies outside"):
        load_robot(file, package_path=[tmp_path / "ws" / "arm_parts"])


@pytest.fixture
def collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A collection of two robots, of which one cannot be fetched; its names are as in the real one."""
    repository = tmp_path / "cache" / "robot-data"
    _described(
        _package(repository / "robots" / "arm_data"), "package://robot-data/robots/arm_data/meshes/a.obj"
    )
    modules = tmp_path / "modules" / "robot_descriptions"
    modules.mkdir(parents=True)
    (modules / "__init__.py").write_text("")
    (modules / "arm_description.py").write_text(
        f"print('Cloning')\nREPOSITORY_PATH = {str(repository)!r}\n"
        "PACKAGE_PATH = REPOSITORY_PATH + '/robots/arm_data'\n"
        "URDF_PATH = PACKAGE_PATH + '/r.urdf'\n"
    )
    (modules / "far_description.py").write_text("raise OSError('git: could not resolve host')")
    for name in [name for name in sys.modules if name.startswith("robot_descriptions")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(modules.parent))
    yield repository
    for name in [name for name in sys.modules if name.startswith("robot_descriptions")]:
        del sys.modules[name]


def test_a_robot_of_robot_descriptions_is_taken_by_name_with_its_meshes(
    collection: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("rd:arm", "rd:arm_description"):
        robot = sy.load(name)
        assert robot.digest == load_robot(collection / "robots" / "arm_data" / "r.urdf", snap=True).digest
        assert _unread(robot) == []
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("collection")
def test_what_the_collection_lacks_or_cannot_fetch_is_said() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown robot of robot_descriptions 'armm'.*mean 'arm'"):
        sy.load("rd:armm")
    with pytest.raises(UnknownNameError):
        sy.load("rd:../os")
    with pytest.raises(InputError, match=r"could not be fetched: git: could not resolve host.*CACHE"):
        sy.load("rd:far")


def test_without_the_collection_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "robot_descriptions", None)  # type: ignore[arg-type]
    with pytest.raises(MissingExtraError, match=r"steelyard\[descriptions\]"):
        sy.load("rd:panda")
