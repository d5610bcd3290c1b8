"""Friction beyond the linear drive in the torque equations: its columns, their gradient, and its load."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, checked
from steelyard.drive import asymmetric_column, load_column, stribeck_column, stribeck_velocity_slope
from steelyard.errors import InputError
from steelyard.layout import Layout
from steelyard.robot import Robot

_STRIBECK, _ASYMMETRIC, _LOAD = range(3)


def write_friction(
    layout: Layout, v: Array, Y: Array, *, load: Array | None = None, factor: float = 1.0
) -> None:
    """Write the columns of the friction terms into torque rows.

    Args:
        layout: the order of the columns.
        v: velocities of the untied robot, shape (N, nv), rad/s or m/s.
        Y: out, shape (N, nv, p), SI.
        load: rigid-body torques of the untied robot, shape (N, nv), N·m or N; needed with a load term.
        factor: what the columns are multiplied by, dimensionless.
    """
    if not layout.friction:
        return
    dofs, columns = _places(layout, _STRIBECK)
    Y[:, dofs, columns] = factor * stribeck_column(v[:, dofs], *layout.stribeck_shapes[dofs].T)
    dofs, columns = _places(layout, _ASYMMETRIC)
    Y[:, dofs, columns] = factor * asymmetric_column(v[:, dofs])
    if load is not None:
        dofs, columns = _places(layout, _LOAD)
        Y[:, dofs, columns] = factor * load_column(load[:, dofs], v[:, dofs])


def write_reference_friction(layout: Layout, v: Array, v_r: Array, Y: Array) -> None:
    """Write the columns of the friction terms for a reference motion, see `passivity_regressor`.

    Args:
        layout: the order of the columns.
        v: velocities of the untied robot, shape (N, nv), rad/s or m/s.
        v_r: its reference velocities, shape (N, nv), rad/s or m/s.
        Y: out, shape (N, nv, p), SI.
    """
    write_friction(layout, v, Y)
    dofs, columns = _places(layout, _ASYMMETRIC)
    Y[:, dofs, columns] = np.sign(v[:, dofs]) * v_r[:, dofs]


def add_friction_gradient(layout: Layout, G: Array, v: Array, v_bar: Array) -> None:
    """Add what weighted friction columns contribute to a gradient in the velocities.

    Args:
        layout: the order of the columns.
        G: weights, shape (N, nv, p), SI.
        v: velocities of the untied robot, shape (N, nv), rad/s or m/s.
        v_bar: in and out, shape (N, nv), SI.
    """
    if not layout.friction:
        return
    dofs, columns = _places(layout, _STRIBECK)
    slope = stribeck_velocity_slope(v[:, dofs], *layout.stribeck_shapes[dofs].T)
    v_bar[:, dofs] += G[:, dofs, columns] * slope
    dofs, columns = _places(layout, _ASYMMETRIC)
    v_bar[:, dofs] += G[:, dofs, columns] * np.sign(v[:, dofs])


def given_load(robot: Robot, layout: Layout, load: ArrayLike | None, samples: int) -> Array | None:
    """Check the load at which its column is taken.

    Args:
        robot: the robot.
        layout: the order of the columns.
        load: rigid-body torques, shape (N, nv), N·m or N, or None.
        samples: N.

    Returns:
        The load, shape (N, nv), N·m or N; None where the layout has no load term.

    Raises:
        InputError: the layout has a load term but no load is given, or the other way around.
    """
    if load is None:
        refuse_load(layout, "the torque is not linear in the parameters")
        return None
    if "load" not in layout.drive:
        raise InputError("is given, but the layout has no load term.", place="load")
    return checked("load", np.atleast_2d(np.asarray(load)), (samples, robot.untied.nv))


def refuse_load(layout: Layout, why: str) -> None:
    """Refuse a layout with friction that depends on the load.

    Args:
        layout: the layout.
        why: what is impossible with it.

    Raises:
        InputError: it has a load term.
    """
    if "load" in layout.drive:
        raise InputError(
            f"it has the term 'load', friction F_l |τ_rigid| sign(v) that depends on parameters: {why}.",
            place="layout",
            remedy="Take its column at a known load, or leave 'load' out of the drive terms.",
        )


def _places(layout: Layout, term: int) -> tuple[IntArray, IntArray]:
    """Degrees of freedom that have a friction term, and its column for each."""
    columns = layout.friction_columns[:, term]
    dofs = np.flatnonzero(columns >= 0)
    return dofs, columns[dofs]
