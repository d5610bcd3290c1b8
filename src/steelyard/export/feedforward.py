"""The robot's inverse dynamics as code without dependencies, in Python and in C.

Newton and Euler's recursion in plain loops over constant arrays, with every drive term, so that a controller
can add the torque its motion needs. URDF has no word for most of a drive; this code carries all of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.drive import ALL_TERMS
from steelyard.errors import DescriptionError
from steelyard.export.feedforward_templates import C_HEADER, C_SOURCE, PYTHON
from steelyard.layout import Layout
from steelyard.robot import Robot


def feedforward_python(robot: Robot, layout: Layout, parameters: ArrayLike) -> str:
    """A Python module with one function, `feedforward(q, v, a)`, that needs nothing but `math`.

    Args:
        robot: the robot; every joint has one coordinate, joints that mimic others included.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI.

    Returns:
        The source of the module.

    Raises:
        DescriptionError: a joint floats or is spherical.
    """
    table = _table(robot, layout, parameters)
    constants = "\n".join(f"{name} = {_python(values)}" for name, values in table.items())
    return PYTHON.substitute(robot=_plain(robot.name), order=_order(robot), constants=constants)


def feedforward_c(robot: Robot, layout: Layout, parameters: ArrayLike) -> tuple[str, str]:
    """C99 source and header of `feedforward(q, v, a, tau)`, which needs nothing but `math.h`.

    It allocates nothing and keeps no state, so it may run in a real-time loop.

    Args:
        robot: the robot; every joint has one coordinate, joints that mimic others included.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI.

    Returns:
        The source and the header, which the source includes as `feedforward.h`.

    Raises:
        DescriptionError: a joint floats or is spherical.
    """
    table = _table(robot, layout, parameters)
    constants = "\n".join(_c(name, values) for name, values in table.items())
    names = {"robot": _plain(robot.name), "order": _order(robot)}
    header = C_HEADER.substitute(**names, coordinates=robot.nv)
    return C_SOURCE.substitute(**names, bodies=len(robot.joints), constants=constants), header


def _table(robot: Robot, layout: Layout, parameters: ArrayLike) -> dict[str, Array]:
    r"""The constants: $R = \cos q\,R_c + \sin q\,R_s + R_1$, $p = p_0 + q\,p_1$ and what the code names."""
    phi = checked("parameters", parameters, (layout.size,))
    for joint in robot.joints:
        if joint.kind.nv != 1:
            raise DescriptionError(
                f"it is {joint.kind.value}; feedforward code is written for joints with one coordinate.",
                place=f"joint '{joint.name}'",
                remedy="Lock it (--lock).",
            )
    leaders = [joint.name for joint in robot.joints if joint.mimic is None]
    rows: dict[str, list[Array]] = {}
    for i, joint in enumerate(robot.joints):
        R, u, turns = joint.placement.rotation, joint.axis, joint.kind.rotates
        along = R @ np.outer(u, u)
        mimic = joint.mimic
        own = dict(zip(layout.drive, phi[layout.of_joint(joint.name)], strict=True))
        shape = layout.stribeck_shapes[i]
        row = {
            "PARENT": np.array(joint.parent),
            "LEADER": np.array(leaders.index(joint.name if mimic is None else mimic.joint)),
            "FACTOR": np.array(1.0 if mimic is None else mimic.multiplier),
            "SHIFT": np.array(0.0 if mimic is None else mimic.offset),
            "ROTATION_COS": (R - along if turns else np.zeros((3, 3))).ravel(),
            "ROTATION_SIN": (R @ np.cross(np.eye(3), u) if turns else np.zeros((3, 3))).ravel(),
            "ROTATION_ONE": (along if turns else R).ravel(),
            "OFFSET": joint.placement.translation,
            "LINEAR": joint.pitch * u if turns else u,
            "ANGULAR": u if turns else np.zeros(3),
            "INERTIA": phi[layout.of_link(robot.links[i].name)],
            "DRIVE": np.array([*(own.get(term.name, 0.0) for term in ALL_TERMS), *shape]),
        }
        for name, values in row.items():
            rows.setdefault(name, []).append(values)
    return {"GRAVITY": np.array(robot.gravity), **{name: np.array(values) for name, values in rows.items()}}


def _order(robot: Robot) -> str:
    return ", ".join(_plain(joint.name) for joint in robot.joints if joint.mimic is None)


def _plain(name: str) -> str:
    """A name that cannot end a comment or a docstring of the code it stands in."""
    return "".join(letter if letter.isalnum() or letter in "_-. " else "_" for letter in name)


def _text(value: float | int) -> str:
    return repr(value + 0 if isinstance(value, int) else float(value) + 0.0)


def _python(values: Array) -> str:
    if values.ndim == 1:
        return f"({', '.join(_text(x) for x in values.tolist())},)"
    return "(\n" + "".join(f"    {_python(row)},\n" for row in values) + ")"


def _c(name: str, values: Array) -> str:
    kind = "int" if values.dtype.kind == "i" else "double"
    sizes = "".join(f"[{size}]" for size in values.shape)
    return f"static const {kind} {name}{sizes} = {_c_values(values)};"


def _c_values(values: Array) -> str:
    if values.ndim == 1:
        return "{" + ", ".join(_text(x) for x in values.tolist()) + "}"
    return "{\n" + ",\n".join(f"    {_c_values(row)}" for row in values) + "}"
