"""A xacro file into the tree it describes, and into a Robot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from steelyard.files import FilePath
from steelyard.robot.model import Robot
from steelyard.robot.urdf import robot_from_urdf_element
from steelyard.robot.xacro.budget import Budget
from steelyard.robot.xacro.expansion import Expansion
from steelyard.robot.xacro.files import SourceFiles
from steelyard.robot.xacro.text import Texts
from steelyard.robot.xml import Element


def load_xacro(
    path: FilePath,
    *,
    arguments: Mapping[str, str] | None = None,
    snap: bool = False,
    floating: bool = False,
) -> Robot:
    """Read a robot from a xacro file.

    The file may include others and read YAML inside its package: the nearest folder around it that has a
    `package.xml`, or else its own folder. It may not read anything else, nor the environment.

    Args:
        path: the file; meshes are looked for inside its package only.
        arguments: values of its `<xacro:arg>`s, by name.
        snap: whether rounded numbers of joints are read as what they mean, see `load_urdf`.
        floating: whether the base is free to move, see `load_urdf`.

    Returns:
        The robot; its `findings` name the lines of the xacro files.

    Raises:
        DescriptionError: the file cannot be expanded, or what it expands to is no robot.
    """
    path = Path(path)
    files = SourceFiles(path)
    root = _expanded(files, arguments)
    _name_meshes_from_root(root, files)
    return robot_from_urdf_element(root, path.name, files.root, snap=snap, floating=floating)


def expand_xacro(path: FilePath, *, arguments: Mapping[str, str] | None = None) -> Element:
    """Expand a xacro file.

    Args:
        path: the file.
        arguments: values of its `<xacro:arg>`s, by name.

    Returns:
        The root element; every element names the file and the line it was stated on.

    Raises:
        DescriptionError: an instruction cannot be followed; names its line.
    """
    return _expanded(SourceFiles(Path(path)), arguments)


def uses_xacro(root: Element) -> bool:
    """Whether a tree holds instructions of xacro.

    Args:
        root: its root element.

    Returns:
        Whether any of its elements is one.
    """
    return any(element.tag.startswith("xacro:") for element in _all(root))


def _expanded(files: SourceFiles, arguments: Mapping[str, str] | None) -> Element:
    budget = Budget()
    texts = Texts(files, arguments or {}, budget)
    return Expansion(files, texts, budget).expand(files.read_main())


def _name_meshes_from_root(root: Element, files: SourceFiles) -> None:
    """Name meshes as seen from the root folder: where the folder lies is no part of the robot."""
    for mesh in _all(root):
        name = mesh.attributes.get("filename", "")
        path = name.removeprefix("file://")
        if mesh.tag != "mesh" or not path or "://" in path:
            continue
        full = files.main.parent / path
        if full.is_relative_to(files.root):
            mesh.attributes["filename"] = full.relative_to(files.root).as_posix()


def _all(root: Element) -> Iterator[Element]:
    waiting = [root]
    while waiting:
        element = waiting.pop()
        yield element
        waiting += reversed(element.children)
