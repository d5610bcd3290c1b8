"""An object as URDF: one free link with its inertia, what is seen of it and what touches."""

from __future__ import annotations

from steelyard.errors import DescriptionError
from steelyard.export.object_description import ObjectDescription
from steelyard.export.urdf import inertial
from steelyard.export.xml_words import attributes, rpy, words
from steelyard.robot import Box, Geometry, MeshFile


def object_urdf(description: ObjectDescription) -> bytes:
    """Write an object as URDF: a link that a floating joint leaves free in the world.

    A link that no joint holds is free to some readers and a part of the world to others, MuJoCo among them,
    so it is said.

    Args:
        description: what to write.

    Returns:
        XML in UTF-8.
    """
    name = attributes({"name": description.name})
    lines = [
        '<?xml version="1.0"?>',
        f"<robot{name}>",
        '  <link name="world"/>',
        f'  <joint{attributes({"name": f"{description.name}_free"})} type="floating">',
        '    <parent link="world"/>',
        f"    <child{attributes({'link': description.name})}/>",
        "  </joint>",
        f"  <link{name}>",
        f"    {inertial(description.body)}",
        f"    <visual>{_shape(description.visual)}</visual>",
        f"    <collision>{_shape(description.collision)}</collision>",
        "  </link>",
        "</robot>",
    ]
    return ("\n".join(lines) + "\n").encode()


def _shape(item: Geometry) -> str:
    match item.shape:
        case Box(x, y, z):
            shape = f'<box size="{words((x, y, z))}"/>'
        case MeshFile(file, scale):
            shape = f"<mesh{attributes({'filename': file, 'scale': words(scale)})}/>"
        case _:
            raise DescriptionError("an object is a mesh or a box.", place="geometry")
    place = {"xyz": words(item.pose.translation), "rpy": words(rpy(item.pose.rotation))}
    return f"<origin{attributes(place)}/><geometry>{shape}</geometry>"
