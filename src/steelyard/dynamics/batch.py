"""The door of the kernels: arguments checked once, in the form compiled code reads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only_view
from steelyard.drive import ALL_TERMS
from steelyard.errors import InputError, ShapeError
from steelyard.layout import Layout
from steelyard.robot import JointKind, Robot

DRIVE_NUMBERS = len(ALL_TERMS) + 2
"""Numbers per degree of freedom that describe a drive."""


class Numbers(NamedTuple):
    """A parameter vector in the form kernels read.

    Attributes:
        links: ten parameters per body, shape (nb, 10), SI.
        drive: per degree of freedom the coefficients of `ALL_TERMS`, zero where absent, then v_s and δ of
            Stribeck friction, shape (nv, `DRIVE_NUMBERS`), SI.
    """

    links: Array
    drive: Array


def states(robot: Robot, **named: ArrayLike) -> list[Array]:
    """Check joint-space arrays and bring them to shape (N, nv), joints that mimic others written out.

    Args:
        robot: the robot.
        named: arrays by name, each shape (N, nv) or (nv,), rad or m and their derivatives; one N for all.
            An array whose name starts with `q` has nq columns.

    Returns:
        The arrays, each two-dimensional, read-only and contiguous, in the coordinates of `robot.untied`.

    Raises:
        ShapeError: a shape or a value does not fit; names the argument.
        InputError: the numbers of samples differ.
    """
    arrays = []
    for name, value in named.items():
        width = robot.nq if name.startswith("q") else robot.nv
        shape = (width,) if _is_vector(value) else ("N", width)
        array = np.atleast_2d(checked(name, value, shape))
        if name.startswith("q"):
            _refuse_zero_quaternions(robot, name, array)
        if robot.ties is not None:
            array = robot.ties.spread_positions(array) if name.startswith("q") else robot.ties.spread(array)
        arrays.append(read_only_view(array))
    counts = {name: len(array) for name, array in zip(named, arrays, strict=True)}
    if len(set(counts.values())) > 1:
        raise InputError(f"the numbers of samples differ: {counts}.", place=", ".join(named))
    return arrays


def efforts(robot: Robot, **named: ArrayLike) -> Array:
    """Check an array of torques, which cannot be spread over joints that mimic others.

    Args:
        robot: the robot.
        named: one array by its name, shape (N, nv) or (nv,), N·m or N.

    Returns:
        The array, shape (N, nv), N·m or N.
    """
    ((name, value),) = named.items()
    return np.atleast_2d(checked(name, value, (robot.nv,) if _is_vector(value) else ("N", robot.nv)))


def gathered(robot: Robot, untied: Array, *, axes: int = 1) -> Array:
    r"""What the robot's own joints feel of something computed for `robot.untied`: $G^T x$, or $G^T x\,G$.

    Args:
        robot: the robot.
        untied: an array whose axis 1 (and 2) counts degrees of freedom of the untied robot, shape (N, nv, …),
            SI.
        axes: how many axes count degrees of freedom.

    Returns:
        The array in the robot's degrees of freedom, shape (N, nv, …), SI; the same where no joint mimics
        another.
    """
    if robot.ties is None:
        return untied
    gathered = robot.ties.gather(untied)
    if axes == 2:
        gathered = np.swapaxes(robot.ties.gather(np.swapaxes(gathered, 1, 2)), 1, 2)
    return np.ascontiguousarray(gathered)


def _is_vector(value: ArrayLike) -> bool:
    try:
        return np.ndim(value) == 1
    except ValueError:  # rows of different lengths, which `checked` refuses by name
        return False


def _refuse_zero_quaternions(robot: Robot, name: str, q: Array) -> None:
    at = 0
    for joint in robot.joints:
        if joint.kind in (JointKind.SPHERICAL, JointKind.FLOATING):
            zero = np.flatnonzero(~q[:, at + joint.nq - 4 : at + joint.nq].any(axis=1))
            if zero.size:
                raise ShapeError(
                    f"the quaternion of joint '{joint.name}' is zero in sample {zero[0]}.",
                    place=name,
                    remedy="Coordinates of a floating joint are x, y, z and a quaternion x, y, z, w; a "
                    "spherical one has the quaternion alone.",
                )
        at += joint.nq


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
    drive = np.zeros((robot.untied.nv, DRIVE_NUMBERS))
    columns = np.hstack([layout.drive_columns, layout.friction_columns])
    drive[:, : len(ALL_TERMS)][columns >= 0] = phi[columns[columns >= 0]]
    drive[:, len(ALL_TERMS) :] = layout.stribeck_shapes
    return Numbers(read_only_view(phi[: 10 * nb].reshape(nb, 10)), read_only_view(drive))


def belongs(robot: Robot, layout: Layout) -> None:
    """Refuse a layout that was made for another robot.

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
