"""The robot: tree, joints, limits, geometry, nominal inertias and drives; loaded from its description.

`model` is `Robot`; `joint` and `link` are its parts; `descriptions` reads URDF, xacro and MJCF, and
`assembly` makes one tree of what a file states. `stated_limits` and `payload` are files beside a description,
`plausibility` compares a link's inertia with its shapes.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.robot.descriptions.by_name import PREFIX, named_description
    from steelyard.robot.descriptions.load import load_robot
    from steelyard.robot.descriptions.meshes import MeshFolder, mesh_source
    from steelyard.robot.descriptions.patch import (
        DescriptionSource,
        PatchedNumber,
    )
    from steelyard.robot.descriptions.repair import REMEDIES, Repair, repair_file
    from steelyard.robot.descriptions.source_edits import Change, declared_encoding
    from steelyard.robot.descriptions.urdf import (
        TENSOR_ENTRIES,
        URDF_KINDS,
        inertial_element,
        origin_element,
        parse_urdf,
        urdf_text,
    )
    from steelyard.robot.joint import Joint, JointKind, Limits
    from steelyard.robot.link import (
        Box,
        Capsule,
        Cylinder,
        FixedLink,
        Geometry,
        Link,
        MeshFile,
        MeshSource,
        Sphere,
    )
    from steelyard.robot.model import (
        STANDARD_GRAVITY,
        Frame,
        Robot,
        Rotor,
    )
    from steelyard.robot.payload import read_payload
    from steelyard.robot.stated_limits import StatedLimits, with_limits

__all__ = [
    "PREFIX",
    "REMEDIES",
    "STANDARD_GRAVITY",
    "TENSOR_ENTRIES",
    "URDF_KINDS",
    "Box",
    "Capsule",
    "Change",
    "Cylinder",
    "DescriptionSource",
    "FixedLink",
    "Frame",
    "Geometry",
    "Joint",
    "JointKind",
    "Limits",
    "Link",
    "MeshFile",
    "MeshFolder",
    "MeshSource",
    "PatchedNumber",
    "Repair",
    "Robot",
    "Rotor",
    "Sphere",
    "StatedLimits",
    "declared_encoding",
    "inertial_element",
    "load_robot",
    "mesh_source",
    "named_description",
    "origin_element",
    "parse_urdf",
    "read_payload",
    "repair_file",
    "urdf_text",
    "with_limits",
]

open_door(__name__)
