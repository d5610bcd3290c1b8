"""Robots that ship with the package, one file each; a name or a path becomes a Robot here (`find_robot`)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from steelyard.errors import UnknownNameError
from steelyard.files import FilePath
from steelyard.robot import PREFIX, Robot, load_robot, named_description
from steelyard.zoo.chain import ZooEntry
from steelyard.zoo.cheetah3 import CHEETAH3, CHEETAH3_LEG
from steelyard.zoo.crane_x7 import CRANE_X7, CRANE_X7_HAND
from steelyard.zoo.kinova_gen3 import KINOVA_GEN3, KINOVA_GEN3_2F85
from steelyard.zoo.lbr_med7 import LBR_MED7
from steelyard.zoo.panda import PANDA
from steelyard.zoo.puma560 import PUMA560
from steelyard.zoo.rods import ONE_LINK, RR_PARALLEL, RR_PERPENDICULAR, TWO_LINK
from steelyard.zoo.scara import SCARA
from steelyard.zoo.so101 import SO101
from steelyard.zoo.ur10e import UR10E

__all__ = [
    "ZOO",
    "find_robot",
    "zoo_robot",
]

ZOO: dict[str, ZooEntry] = {
    entry.name: entry
    for entry in (
        ONE_LINK,
        TWO_LINK,
        RR_PARALLEL,
        RR_PERPENDICULAR,
        PUMA560,
        SCARA,
        CHEETAH3_LEG,
        CHEETAH3,
        PANDA,
        LBR_MED7,
        KINOVA_GEN3,
        KINOVA_GEN3_2F85,
        CRANE_X7,
        CRANE_X7_HAND,
        UR10E,
        SO101,
    )
}
"""Every robot of the zoo by name."""


def zoo_robot(name: str) -> Robot:
    """Build a robot of the zoo.

    Args:
        name: a name of `ZOO`.

    Raises:
        UnknownNameError: no such robot; lists those that exist.
    """
    if name not in ZOO:
        raise UnknownNameError("robot", name, ZOO)
    return ZOO[name].build()


def find_robot(
    name_or_path: FilePath,
    *,
    snap: bool = True,
    arguments: Mapping[str, str] | None = None,
    floating: bool = False,
    package_path: Sequence[FilePath] = (),
) -> Robot:
    """A robot by its zoo name, by the path of its description, or from `robot_descriptions`.

    Args:
        name_or_path: a name of `ZOO`, a file, or `rd:` and a name of that collection.
        snap: whether rounded numbers of a file's joints are read as what they mean (`1.5708` as π/2), as
            every command does, with a finding; otherwise they are kept as stated and reported.
        arguments: values of the `<xacro:arg>`s of a xacro file, by name.
        floating: whether the base is free to move, see `load_robot`.
        package_path: folders in which packages of meshes and xacro files are looked for.

    Raises:
        UnknownNameError: neither a zoo name nor an existing file.
        DescriptionError: the file cannot be understood.
        MissingExtraError: the collection is not installed.
    """
    name = os.fspath(name_or_path)
    if name.startswith(PREFIX):
        known = named_description(name)
        return load_robot(
            known.path,
            snap=snap,
            arguments={**known.arguments, **(arguments or {})},
            floating=floating,
            package_path=(*package_path, *known.package_path),
        )
    if name in ZOO:
        return zoo_robot(name).floating() if floating else zoo_robot(name)
    # `Path.exists` raises for a name that is too long for a file.
    if os.path.exists(name) or Path(name).suffix:  # noqa: PTH110
        return load_robot(name, snap=snap, arguments=arguments, floating=floating, package_path=package_path)
    raise UnknownNameError("robot", name, ZOO)
