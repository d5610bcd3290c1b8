r"""The base parameters a design is judged by: independent columns, proximal links first.

The condition number of a regressor depends on which of the dependent columns are kept. Here they are taken in
the order of the layout, from the base outwards, each one that the columns before it do not span. Keeping the
masses of distal links first instead was measured to make the same motion look five orders of magnitude worse.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.arrays import Array, read_only
from steelyard.drive import ALL_TERMS, DRIVE_TERMS
from steelyard.dynamics import torque_regressor
from steelyard.errors import InputError, NoSolutionError
from steelyard.identifiable import BaseParameters
from steelyard.inertia import PARAMETER_NAMES
from steelyard.layout import Layout, layout_of
from steelyard.robot import Robot

KEPT = 1e-7
"""A column counts when this much of its length lies outside the span of those before it."""
DROPPED = 1e-10
"""A column is spanned by those before it when less than this lies outside; between the two is a guess."""


def proximal_base(
    robot: Robot, layout: Layout, rng: np.random.Generator, only: Sequence[str] | None = None
) -> BaseParameters:
    """Find base parameters by going through the layout's columns in order.

    Args:
        robot: the robot.
        layout: which parameters exist; fixed ones take no part.
        rng: source of the random states at which columns are compared.
        only: names of the parameters that are asked about, the others being known; None for all.

    Raises:
        InputError: none of the parameters shows in the torques.
        NoSolutionError: whether a column is spanned by others would be a guess.
        UnknownNameError: `only` names no parameter.
    """
    asked = range(layout.size) if only is None else sorted({layout.index(name) for name in only})
    columns = [k for k in asked if layout.free[k]]
    W = _random_regressor(robot, layout, rng)[:, columns]
    norms = np.linalg.norm(W, axis=0)
    largest = norms.max(initial=0.0)
    if largest == 0.0:
        raise InputError("none of the parameters shows in the torques.", place="only")
    kept: list[int] = []
    Q = np.empty((len(W), 0))
    outside = []
    for j, norm in enumerate(norms):
        if _counts(norm / largest, layout.names[columns[j]]):
            w = W[:, j] / norm
            # Twice is enough (Kahan): the second pass removes what round-off left of the first.
            rest = w - Q @ (Q.T @ w)
            rest -= Q @ (Q.T @ rest)
            size = float(np.linalg.norm(rest))
            outside.append(size)
            if _counts(size, layout.names[columns[j]]):
                kept.append(j)
                Q = np.column_stack((Q, rest / size))
    X = np.linalg.lstsq(W[:, kept] / norms[kept], W / largest, rcond=None)[0]
    X[np.abs(X) < DROPPED * np.abs(X).max(axis=0)] = 0.0
    X *= largest / norms[kept][:, None]
    X[:, kept] = np.eye(len(kept))
    K = np.zeros((len(kept), layout.size))
    K[:, columns] = X
    chosen = np.array(columns, dtype=np.int64)[kept]
    names = tuple(layout.names[c] + ("+" if np.count_nonzero(K[k]) > 1 else "") for k, c in enumerate(chosen))
    return BaseParameters(
        names,
        read_only(K),
        read_only(chosen),
        smallest_kept=min(size for size in outside if size > KEPT),
        largest_dropped=max((size for size in outside if size <= KEPT), default=0.0),
    )


def robot_columns(
    robot: Robot, drive: tuple[str, ...] = ("viscous", "coulomb"), *, seed: int = 0
) -> tuple[Layout, BaseParameters]:
    """The layout and base parameters of the whole robot.

    The layout holds all that the description states of the drives, whether asked about or not: torques, and
    with them their limits, are those of the whole robot.

    Args:
        robot: the robot.
        drive: drive terms of every joint that are asked about.
        seed: of the random states at which columns are compared.

    Returns:
        The layout, and the base parameters of `proximal_base`.
    """
    layout = whole_layout(robot, drive)
    asked = [x.name for x in layout.parameters if x.term in drive or x.term in PARAMETER_NAMES]
    return layout, proximal_base(robot, layout, np.random.default_rng(seed), asked)


def whole_layout(robot: Robot, drive: Sequence[str] = ()) -> Layout:
    """The parameters of a robot with every linear drive term that its description states.

    Args:
        robot: the robot.
        drive: drive terms that the layout has in any case.

    Returns:
        The layout. Friction beyond the linear drive is not in it: `unmodelled_friction` names it.
    """
    stated = {term.name for term in DRIVE_TERMS for joint in robot.joints if joint.drive.value(term.name)}
    return layout_of(robot, [term.name for term in ALL_TERMS if term.name in stated or term.name in drive])


def unmodelled_friction(robot: Robot) -> tuple[str, ...]:
    """Joints whose description states friction that `whole_layout` does not hold.

    Returns:
        Their names.
    """
    beyond = [term.name for term in ALL_TERMS if term not in DRIVE_TERMS]
    return tuple(joint.name for joint in robot.joints if any(joint.drive.value(name) for name in beyond))


def payload_columns(robot: Robot, *, seed: int = 0) -> tuple[Layout, BaseParameters]:
    """The ten parameters of what the tool's link carries, all else being known.

    Args:
        robot: the robot.
        seed: of the random states at which columns are compared.

    Returns:
        The layout, and those of the ten that torques show.
    """
    layout = whole_layout(robot)
    ten = layout.names[layout.of_link(robot.link_names[robot.tool_frame.link])]
    return layout, proximal_base(robot, layout, np.random.default_rng(seed), ten)


def _counts(size: float, name: str) -> bool:
    if DROPPED < size <= KEPT:
        raise NoSolutionError(
            f"whether the column of '{name}' is spanned by those before it is a guess: {size:.1e} of it is "
            f"outside, between {DROPPED:g} and {KEPT:g}.",
            place="base parameters",
            remedy="Angles rounded to few digits in the description do this.",
        )
    return size > KEPT


def _random_regressor(robot: Robot, layout: Layout, rng: np.random.Generator) -> Array:
    """W over enough random states for every column to show, shape (N nv, p)."""
    samples = 4 * layout.size // robot.nv + 20
    reach = np.array([np.pi if joint.kind.rotates else 0.5 for joint in robot.joints])
    q = reach * rng.uniform(-1.0, 1.0, (samples, robot.nv))
    v, a = rng.standard_normal((2, samples, robot.nv))
    return torque_regressor(robot, layout, q, v, a).reshape(-1, layout.size)
