"""A description file into a Robot, by its kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from steelyard.errors import DescriptionError
from steelyard.files import FilePath
from steelyard.robot.descriptions import mjcf, xacro
from steelyard.robot.descriptions.urdf import load_urdf
from steelyard.robot.descriptions.xml import read_xml
from steelyard.robot.model import Robot

_SUFFIXES = (".urdf", ".xacro", ".xml", ".mjcf")


def load_robot(
    path: FilePath,
    *,
    snap: bool = False,
    arguments: Mapping[str, str] | None = None,
    floating: bool = False,
    package_path: Sequence[FilePath] = (),
) -> Robot:
    """Read a robot description; what the file holds decides its kind, not what it is called.

    Args:
        path: a `.urdf`, `.xacro`, `.xml` or `.mjcf` file that holds a URDF, a xacro or a MJCF description.
        snap: whether rounded angles, offsets and axes of joints are read as what they mean, see `load_urdf`.
        arguments: values of the `<xacro:arg>`s of a xacro file, by name; other kinds take none.
        floating: whether the base is free to move, see `Robot.floating`; without it a lone body cannot move.
        package_path: folders in which packages of meshes and xacro files are looked for, see `packages`.

    Raises:
        DescriptionError: the file does not exist, is of an unknown kind, or cannot be understood.
    """
    path = Path(path)
    if not path.exists():
        raise DescriptionError("there is no such file.", place=str(path))
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise DescriptionError(
            f"'{path.suffix}' is not a kind of description this version reads.",
            place=str(path),
            remedy=f"Supported: {', '.join(_SUFFIXES)}.",
        )
    root = read_xml(path)
    if suffix == ".xacro" or root.uses_xacro:
        return xacro.load_xacro(
            path, arguments=arguments, snap=snap, floating=floating, package_path=package_path
        )
    if arguments:
        raise DescriptionError(
            f"takes no arguments, got '{next(iter(arguments))}'.",
            place=str(path),
            remedy="Only xacro files take arguments.",
        )
    if root.tag not in ("robot", "mujoco"):
        raise DescriptionError(
            f"the root element is <{root.tag}>, which starts no robot description.",
            place=root.place,
            remedy="A URDF or a xacro file starts with <robot>, a MJCF file with <mujoco>.",
        )
    reader = load_urdf if root.tag == "robot" else mjcf.load_mjcf
    return reader(path, snap=snap, floating=floating, package_path=package_path)
