"""The door of the kernels: arguments checked once, in the form compiled code reads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only_view
from steelyard.drive import DRIVE_TERMS
from steelyard.errors import InputError, ShapeError
from steelyard.layout import Layout
from steelyard.robot import JointKind, Robot


class Numbers(NamedTuple):
    """A parameter vector in the form kernels read.

    Attributes:
        links: ten parameters per body, shape (nb, 10), SI.
        drive: viscous, Coulomb, offset, rotor per degree of freedom, zero where absent, shape (nv, 4), SI.
    """

    links: Array
    drive: Array


def states(robot: Robot, **named: ArrayLike) -> list[Array]:
    """Check joint-space arrays and bring them to shape (N, nv).

    Args:
        robot: the robot.
        named: arrays by name, each shape (N, nv) or (nv,), rad or m and their derivatives; one N for all.
            An array whose name starts with `q` has nq columns.

    Returns:
        The arrays, each two-dimensional, read-only and contiguous.

    Raises:
        ShapeError: a shape or a value does not fit; names the argument.
        InputError: the numbers of samples differ.
    """
    arrays = []
    for name, value in named.items():
        width = robot.nq if name.startswith("q") else robot.nv
        shape = (width,) if _is_vector(value) else ("N", width)
        arrays.append(read_only_view(np.atleast_2d(checked(name, value, shape))))
        if name.startswith("q"):
            _refuse_zero_quaternions(robot, name, arrays[-1])
    counts = {name: len(array) for name, array in zip(named, arrays, strict=True)}
    if len(set(counts.values())) > 1:
        raise InputError(f"the numbers of samples differ: {counts}.", place=", ".join(named))
    return arrays


def _is_vector(value: ArrayLike) -> bool:
    try:
        return np.ndim(value) == 1
    except ValueError:  # rows of different lengths, which `checked` refuses by name
        return False


def _refuse_zero_quaternions(robot: Robot, name: str, q: Array) -> None:
    at = 0
    for joint in robot.joints:
        if joint.kind is JointKind.FLOATING:
            zero = np.flatnonzero(~q[:, at + 3 : at + 7].any(axis=1))
            if zero.size:
                raise ShapeError(
                    f"the quaternion of joint '{joint.name}' is zero in sample {zero[0]}.",
                    place=name,
                    remedy="Coordinates of a floating joint are x, y, z and a quaternion x, y, z, w.",
                )
        at += joint.kind.nq


def numbers(robot: Robot, layout: Layout, parameters: ArrayLike) -> Numbers:
    """Split a parameter vector into the arrays kernels read.

    Args:
        robot: the robot.
        layout: the order of the vector.
        parameters: phi, shape (p,), SI.

    Returns:
        Link and drive numbers.

    Raises:
        InputError: the layout belongs to another robot, or a value is not finite.
    """
    belongs(robot, layout)
    phi = checked("parameters", parameters, (layout.size,))
    nb = len(robot.links)
    drive = np.zeros((robot.nv, len(DRIVE_TERMS)))
    columns = layout.drive_columns
    drive[columns >= 0] = phi[columns[columns >= 0]]
    return Numbers(read_only_view(phi[: 10 * nb].reshape(nb, 10)), read_only_view(drive))


def belongs(robot: Robot, layout: Layout) -> None:
    """Refuse a layout that was made for another robot.

    Args:
        robot: the robot.
        layout: the layout.

    Raises:
        InputError: link or joint names differ.
    """
    driven = tuple(joint.name for joint in robot.joints if joint.kind.nv == 1)
    if layout.links != robot.link_names or layout.joints != driven:
        raise InputError(
            f"it names links {list(layout.links)}, but '{robot.name}' has {list(robot.link_names)}.",
            place="layout",
            remedy="Make it with layout_of(robot).",
        )
