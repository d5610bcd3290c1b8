"""Readers of the files for controllers, each written from the vendor's document alone.

Each gives mass in kg, centre of mass in m from the flange, and inertia about it in kg m² in the flange's
axes. What a format does not state is not a number.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping

import numpy as np
import yaml
from scipy.spatial.transform import Rotation

Told = tuple[float, np.ndarray, np.ndarray]
FLOAT = r"-?\d+\.\d+"
COMMENT = {".script": "#", ".hpp": "//", ".mod": "!", "load_data.txt": ";", "schedule.txt": "*", ".yaml": "#"}
"""What begins a comment line, by how the file's name ends."""


def statements(name: str, text: str) -> str:
    """A file without its comments; the marks of KRL and RAPID are the languages' own."""
    mark = next((mark for end, mark in COMMENT.items() if name.endswith(end)), None)
    lines = text.splitlines()
    return "\n".join(line for line in lines if mark is None or not line.lstrip().startswith(mark))


def universal_robots_script(text: str) -> Told:
    """URScript manual: m in kg, cog in m from the tool mount, [Ixx, Iyy, Izz, Ixy, Ixz, Iyz] at the CoG."""
    (call,) = re.findall(r"^set_target_payload\((.*)\)$", text, re.M)
    m, cog, (xx, yy, zz, xy, xz, yz) = ast.literal_eval(f"[{call}]")
    return m, np.array(cog), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def universal_robots_service(text: str) -> Told:
    """ur_msgs/srv/SetPayload: mass, center_of_gravity (geometry_msgs/Vector3), ixx to iyz."""
    told = yaml.safe_load(text)
    assert set(told) == {"mass", "center_of_gravity", "ixx", "iyy", "izz", "ixy", "ixz", "iyz"}
    inertia = [[told["i" + "".join(sorted(a + b))] for b in "xyz"] for a in "xyz"]
    return told["mass"], np.array([told["center_of_gravity"][axis] for axis in "xyz"]), np.array(inertia)


def franka_call(text: str) -> Told:
    """libfranka, Robot::setLoad: kg; m from flange to center of mass; kg m², column-major."""

    def array(name: str) -> list[float]:
        (inside,) = re.findall(rf"{name} = {{{{(.*)}}}};", text)
        return [float(word) for word in inside.split(",")]

    (mass,) = re.findall(rf"load_mass = ({FLOAT});", text)
    assert "robot.setLoad(load_mass, F_x_Cload, load_inertia);" in text
    return float(mass), np.array(array("F_x_Cload")), np.reshape(array("load_inertia"), (3, 3), order="F")


def franka_desk(text: str) -> Told:
    """Franka RIDE, endeffector-config.json: inertia of nine entries and transformation of 16, by columns."""
    told = json.loads(text)
    assert set(told) == {"id", "name", "color", "mass", "centerOfMass", "transformation", "inertia"}
    assert not told["id"].startswith("ee-")
    assert re.fullmatch(r"[a-z-]+", told["id"])
    assert np.array_equal(np.reshape(told["transformation"], (4, 4), order="F"), np.eye(4))
    return told["mass"], np.array(told["centerOfMass"]), np.reshape(told["inertia"], (3, 3), order="F")


def kuka(text: str, *, order: str = "ZYX") -> Told:
    """KUKA: M in kg; X, Y, Z in mm; A about Z, B about the new Y, C about the new X in °; J in kg m²."""
    (line,) = re.findall(r"^LOAD_DATA\[\d+\]=(.*)$", text, re.M)
    form = r"\{M (F),CM \{X (F),Y (F),Z (F),A (F),B (F),C (F)\},J \{X (F),Y (F),Z (F)\}\}".replace("F", FLOAT)
    found = re.fullmatch(form, line)
    assert found is not None, line
    m, x, y, z, a, b, c, *moments = (float(word) for word in found.groups())
    R = Rotation.from_euler(order, [a, b, c], degrees=True).as_matrix()
    return m, 1e-3 * np.array([x, y, z]), R @ np.diag(moments) @ R.T


def abb(text: str, *, scalar_first: bool = True) -> Told:
    """RAPID, loaddata: [mass kg, cog mm, aom q1..q4 with the scalar first, ix, iy, iz kg m²]."""
    assert text.startswith("MODULE ")
    assert text.rstrip().endswith("ENDMODULE")
    (record,) = re.findall(r"PERS loaddata \w+:=(.*);$", text, re.M)
    m, cog, q, *moments = ast.literal_eval(record)
    assert abs(np.linalg.norm(q) - 1.0) < 1e-6
    R = Rotation.from_quat(q, scalar_first=scalar_first).as_matrix()
    return m, 1e-3 * np.array(cog), R @ np.diag(moments) @ R.T


def fanuc(text: str) -> Told:
    """MOTION/PAYLOAD SET: kg, cm, kgf cm s², the last about axes parallel to the faceplate's."""
    rows = dict(re.findall(rf"^\d  ((?:[A-Z]+ ?)+) +\[[^]]*\] +({FLOAT})$", text, re.M))
    told = {name.strip(): float(value) for name, value in rows.items()}
    units = re.findall(r"\[([^]]*)\]", text)
    assert units == ["kg", "cm", "cm", "cm", "kgfcms^2", "kgfcms^2", "kgfcms^2"]
    inertia = np.full((3, 3), np.nan)
    force, metre = 9.80665, 0.01
    np.fill_diagonal(inertia, [force * metre * told[f"PAYLOAD INERTIA {axis}"] for axis in "XYZ"])
    return told["PAYLOAD"], np.array([0.01 * told[f"PAYLOAD CENTER {axis}"] for axis in "XYZ"]), inertia


def ros2_control(text: str, *, frame: str = "flange", gravity: float = 9.81) -> Told:
    """admittance_controller: CoG.pos in m in the frame frame.id, CoG.force = mass times 9.81."""
    told = yaml.safe_load(text)["admittance_controller"]["ros__parameters"]["gravity_compensation"]
    assert told["frame"]["id"] == frame
    assert isinstance(told["CoG"]["force"], float)
    assert all(isinstance(x, float) for x in told["CoG"]["pos"])
    return told["CoG"]["force"] / gravity, np.array(told["CoG"]["pos"]), np.full((3, 3), np.nan)


READERS: Mapping[str, Callable[[str], Told]] = {
    "ur/payload.script": universal_robots_script,
    "ur/set_payload.yaml": universal_robots_service,
    "franka/set_load.hpp": franka_call,
    "franka/endeffector-config.json": franka_desk,
    "kuka/load_data.txt": kuka,
    "abb/HeldLoad.mod": abb,
    "fanuc/payload_schedule.txt": fanuc,
    "ros2/admittance_controller.yaml": ros2_control,
}
"""By the name of the file."""


def agrees(told: Told, truth: Told) -> bool:
    """Whether two loads are one, as far as seven digits and a format tell."""
    (m, c, I_c), (mass, com, inertia) = told, truth
    stated = np.isfinite(I_c)
    return (
        abs(m - mass) <= 1e-6 * mass
        and bool((np.abs(c - com) <= 1e-6 * np.linalg.norm(com)).all())
        and bool((np.abs(I_c - inertia)[stated] <= 3e-6 * np.linalg.norm(inertia)).all())
    )
