"""Inertials that can exist: the nearest tensor for one that cannot, and never a mass that nobody stated."""

from __future__ import annotations

from math import pi

import numpy as np

from steelyard.arrays import Array
from steelyard.inertia import Body, check_body, nearest_consistent, sphere
from steelyard.robot.model import Robot
from steelyard.robot.plausibility import DENSITY, INNER_MARGIN
from steelyard.robot.repair.edits import Edits
from steelyard.robot.repair.source import Node

_ENTRIES = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
_LEAST_MOMENT = 1e-14
"""Principal moments below this, kg m², are refused by MuJoCo, whose own bound is 1e-15."""
_LEAST_MASS = 1e-14
"""The same for the mass of a link that moves, kg."""
_ROUND_OFF = 1e-14


def repair_inertials(root: Node, edits: Edits) -> None:
    """Replace tensors that cannot be, or that simulators cannot tell from such, by the nearest that can.

    Mass and centre of mass stay as stated. Links without a positive mass stay as they are.

    Args:
        root: the description.
        edits: where the changes go.

    Raises:
        DescriptionError: a number is missing or cannot be read.
    """
    for link in root.nodes("link"):
        inertial = link.node("inertial")
        if inertial is None:
            continue
        mass, I_C = _stated(inertial)
        if mass > 0 and I_C.any() and not _loadable(I_C):
            check = check_body(Body(mass, np.zeros(3), I_C).parameters)
            why = " ".join(str(reason).rstrip(".") for reason in check.reasons)
            reason = why or "a principal moment, or what it lacks to the sum of the others, is next to zero"
            _set_tensor(inertial, link.text("name"), mass, I_C, reason, edits)


def repair_moving(root: Node, robot: Robot, edits: Edits, fill_mass: float | None) -> None:
    """See to it that every link that moves has inertia.

    A moving point mass is given the smallest tensor that counts. A mass is filled in only where the caller
    chose one, as a ball of water.

    Args:
        root: the description.
        robot: the robot it describes.
        edits: where the changes go.
        fill_mass: mass for links that state none, kg; `None` to leave them as they are.
    """
    nodes = {link.text("name"): link for link in root.nodes("link")}
    weightless: list[str] = []
    for link in robot.links:
        if link.virtual:
            continue
        body, inertial = link.body, nodes[link.name].node("inertial")
        if body is None or body.mass < _LEAST_MASS:
            weightless.append(link.name)
        elif np.linalg.eigvalsh(body.inertia)[0] < _LEAST_MOMENT and inertial is not None:
            mass, I_C = _stated(inertial)
            if mass > 0:
                reason = "a moving link needs moments that are not zero"
                _set_tensor(inertial, link.name, mass, I_C, reason, edits)
    if fill_mass is None:
        return
    for name, node in nodes.items():
        inertial = node.node("inertial")
        negative = inertial is not None and _stated(inertial)[0] < 0
        if name in weightless or negative:
            _fill(node, inertial, fill_mass, edits)


def _stated(inertial: Node) -> tuple[float, Array]:
    """Mass, and the tensor about the centre of mass in the axes of the inertial's own frame."""
    tensor = inertial.need("inertia")
    I_C = np.zeros((3, 3))
    for key, (i, j) in _ENTRIES.items():
        I_C[i, j] = I_C[j, i] = tensor.number(key)
    return inertial.need("mass").number("value"), I_C


def _loadable(I_C: Array) -> bool:
    """Whether its moments are positive and obey the triangle inequality in spite of another's round-off."""
    low, middle, high = np.linalg.eigvalsh(I_C)
    diagonal = not (I_C - np.diag(I_C.diagonal())).any()
    return bool(low >= _LEAST_MOMENT and low + middle - high >= (0.0 if diagonal else _ROUND_OFF * high))


def _nearest(mass: float, I_C: Array) -> Array:
    """The nearest tensor inside the possible ones, by as small a margin as simulators notice."""
    phi = Body(mass, np.zeros(3), I_C).parameters
    margin = INNER_MARGIN
    while True:
        near = Body.from_parameters(nearest_consistent(phi, margin=margin * mass)).inertia
        if _loadable(near):
            return near
        margin *= 10.0


def _set_tensor(inertial: Node, link: str, mass: float, I_C: Array, reason: str, edits: Edits) -> None:
    near = _nearest(mass, I_C)
    moved = np.abs(near - I_C) > 1e-12 * np.abs(near).max()
    values = {key: repr(float(near[at])) for key, at in _ENTRIES.items() if moved[at]}
    tensor = inertial.node("inertia")
    if tensor is not None:
        edits.set(tensor, values, f"the inertia of link '{link}'", f"{reason}; this is the nearest possible")


def _fill(link: Node, inertial: Node | None, mass: float, edits: Edits) -> None:
    I_C = sphere((3 * mass / (4 * pi * DENSITY)) ** (1 / 3), mass=mass).inertia
    values = {key: repr(float(I_C[at])) for key, at in _ENTRIES.items()}
    name = link.text("name")
    reason = f"no mass was stated; {mass:g} kg of water in a ball was asked for"
    if inertial is None:
        tensor = " ".join(f'{key}="{value}"' for key, value in values.items())
        stated = f'<inertial><mass value="{mass!r}"/><inertia {tensor}/></inertial>'
        edits.add(link, stated, f"the inertial of link '{name}'", reason)
        return
    tensor_node, mass_node = inertial.node("inertia"), inertial.node("mass")
    if mass_node is not None:
        edits.set(mass_node, {"value": repr(mass)}, f"the mass of link '{name}'", reason)
    if tensor_node is not None and not _loadable(_stated(inertial)[1]):
        edits.set(tensor_node, values, f"the inertia of link '{name}'", reason)
