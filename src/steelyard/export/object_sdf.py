"""An object as SDF: one model of one link with its inertia, what is seen of it and what touches."""

from __future__ import annotations

from steelyard.arrays import Array
from steelyard.errors import DescriptionError
from steelyard.export.object_description import ObjectDescription
from steelyard.export.urdf import TENSOR_ENTRIES
from steelyard.export.xml_words import attributes, rpy, words
from steelyard.robot import Box, Geometry, MeshFile

VERSION = "1.7"
"""Of the format: the oldest in which every number here means what it means today."""


def object_sdf(description: ObjectDescription) -> bytes:
    """Write an object as SDF. File names are relative to the file, as Gazebo and Drake read them.

    Args:
        description: what to write.

    Returns:
        XML in UTF-8.
    """
    body, name = description.body, attributes({"name": description.name})
    tensor = "".join(f"<{key}>{words(body.inertia[at])}</{key}>" for key, at in TENSOR_ENTRIES.items())
    lines = [
        '<?xml version="1.0"?>',
        f'<sdf version="{VERSION}">',
        f"  <model{name}>",
        f"    <link{name}>",
        "      <inertial>",
        f"        {_pose(body.com)}",
        f"        <mass>{words(body.mass)}</mass>",
        f"        <inertia>{tensor}</inertia>",
        "      </inertial>",
        f'      <visual name="visual">{_shape(description.visual)}</visual>',
        f'      <collision name="collision">{_shape(description.collision)}</collision>',
        "    </link>",
        "  </model>",
        "</sdf>",
    ]
    return ("\n".join(lines) + "\n").encode()


def _shape(item: Geometry) -> str:
    match item.shape:
        case Box(x, y, z):
            shape = f"<box><size>{words((x, y, z))}</size></box>"
        case MeshFile(file, scale):
            shape = f"<mesh><uri>{file}</uri><scale>{words(scale)}</scale></mesh>"
        case _:
            raise DescriptionError("an object is a mesh or a box.", place="geometry")
    place = _pose(item.pose.translation, rpy(item.pose.rotation))
    return f"{place}<geometry>{shape}</geometry>"


def _pose(translation: Array, angles: Array | None = None) -> str:
    """Position in m, then roll, pitch and yaw in rad, in URDF's convention."""
    return f"<pose>{words(translation)} {'0 0 0' if angles is None else words(angles)}</pose>"
