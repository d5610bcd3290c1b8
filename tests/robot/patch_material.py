"""Descriptions to patch: a URDF as people write them, and public MJCF with stand-ins for their meshes."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import numpy as np

_CORNERS = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))
_FACES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
_OBJ = "".join(f"v {x} {y} {z}\n" for x, y, z in _CORNERS) + "".join(
    f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in _FACES
)
_STL = b" " * 80 + struct.pack("<I", 4)
_STL += b"".join(struct.pack("<12fH", 0, 0, 0, *(x for k in face for x in _CORNERS[k]), 0) for face in _FACES)

UNWEIGHED = {"puma560_robot.urdf", "scara.urdf"}
"""Files whose links state no inertia, so that they have no numbers of their own."""
IDENTIFIED = {
    *("body_mass", "body_ipos", "body_iquat", "body_inertia"),
    *("dof_damping", "dof_frictionloss", "dof_armature"),
}
FOLLOWING = {
    *("body_subtreemass", "body_invweight0", "body_sameframe", "body_simple", "bvh_aabb", "bvh_nodeid"),
    *("dof_invweight0", "dof_M0", "dof_length", "dof_simplenum", "actuator_acc0", "tendon_invweight0"),
    *("geom_sameframe", "site_sameframe", "light_poscom0", "cam_poscom0"),
}
"""Arrays that MuJoCo computes from masses and inertial frames when it compiles a model."""

ODD_URDF = (
    b"<?xml version='1.0' encoding='utf-8'?>\r\n"
    b"<!-- two links; <inertial> in a comment is no inertial, nor is \xc3\xa4 -->\r\n"
    b'<robot   name="two_link">\r\n'
    b"\r\n"
    b'  <link name="base"/>\r\n'
    b"  <link name='link1'>\r\n"
    b'    <visual><geometry><mesh filename="package://two/a.dae"/></geometry></visual>\r\n'
    b"    <inertial>   <!-- from the CAD model -->\r\n"
    b"      <origin\r\n          rpy='0.3 -0.2 0.1'\r\n          xyz='0.2 0.01 0'/>\r\n"
    b'      <mass value = "2.0"/>\r\n'
    b'      <inertia izz="0.05" iyy=\'0.04\' ixx="0.02" ixy="0" ixz="0" iyz="1e-3"/>\r\n'
    b"    </inertial>\r\n"
    b"  </link>\r\n"
    b'  <joint type="revolute" name="joint1"><!-- shoulder -->\r\n'
    b'    <parent link="base"/><child link="link1"/><axis xyz="0 1 0"/>\r\n'
    b'    <limit lower="-3" upper="3" velocity="4" effort="60"/>\r\n'
    b"    <dynamics  friction='0.1'   damping='0.2' />\r\n"
    b"  </joint>\r\n"
    b'\t<link name="link2">\r\n'
    b'\t\t<inertial><mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/>'
    b"</inertial>\r\n"
    b"\t</link>\r\n"
    b'  <joint name="joint2" type="revolute">\r\n'
    b'    <origin xyz="0.4 0 0"/><parent link="link1"/><child link="link2"/><axis xyz="0 1 0"/>\r\n'
    b'    <limit lower="-2.5" upper="2.5" velocity="4" effort="30"/>\r\n'
    b"  </joint>\r\n"
    b'  <link name="tool"><inertial><origin xyz="0.02 0 0.01"/><mass value="0.3"/>\r\n'
    b'    <inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial></link>\r\n'
    b'  <joint name="mount" type="fixed"><origin xyz="0.3 0 0" rpy="0 1.5708 0"/>\r\n'
    b'    <parent link="link2"/><child link="tool"/></joint>\r\n'
    b"</robot>\r\n<!-- the end -->"
)
"""Two links and a tool, with carriage returns, tabs, both quotes, comments and a turned inertial."""


def with_meshes(file: Path, folder: Path) -> Path:
    """A copy of an MJCF file in a folder, with a small body for every mesh that it names."""
    text = file.read_bytes()
    found = re.search(rb'meshdir="([^"]*)"', text)
    meshes = folder / (found.group(1).decode() if found else ".")
    for name in re.findall(rb'<mesh[^>]*\bfile="([^"]*)"', text):
        mesh = meshes / name.decode()
        mesh.parent.mkdir(parents=True, exist_ok=True)
        mesh.write_bytes(_OBJ.encode() if mesh.suffix == ".obj" else _STL)
    copy = folder / file.name
    copy.write_bytes(text)
    return copy


def differing_arrays(one: object, other: object) -> set[str]:
    """Names of the arrays and numbers of two models of MuJoCo's that differ."""
    names = (name for name in dir(one) if not name.startswith("_"))
    values = ((name, getattr(one, name), getattr(other, name)) for name in names)
    return {
        name
        for name, a, b in values
        if isinstance(a, np.ndarray | int | float | bytes) and not np.array_equal(a, b)
    }
