"""What can be known when something is known already, and the smallest linear model that is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from steelyard.archive import digest
from steelyard.arrays import Array, IntArray, checked, read_only
from steelyard.errors import InputError
from steelyard.identifiable.base_parameters import (
    TIE_BREAK,
    BaseParameters,
    classify_rows,
    echelon_form,
)
from steelyard.identifiable.structure import Identifiability, structural_identifiability
from steelyard.inertia import PARAMETER_NAMES
from steelyard.layout import Class, Layout
from steelyard.reduction import Reduction, project
from steelyard.robot import Robot

# What can be known when something is known already: fixed parameters, symmetric links, spinning rotors.
#
# With $\phi = B\theta + \phi_0$ a change of θ goes unseen when $N B\,\delta\theta = 0$, so the identifiable
# combinations of θ are spanned by the rows of $N B$. Fixing a parameter can make others identifiable that
# were grouped with it, in bodies far away, so this is asked of the robot as a whole.


@dataclass(frozen=True, eq=False)
class RestrictedIdentifiability:
    """What can be known of the parameters that are left.

    Attributes:
        structure: what could be known if nothing were.
        names: names of theta, in order.
        matrix: B, shape (p, b), SI.
        classes: class of each entry of theta.
        pivots: the base parameters among theta, in the order of preference, shape (r,), dimensionless.
        kept: smallest singular value that counts, relative to the largest, dimensionless.
        dropped: largest that does not, dimensionless.
    """

    structure: Identifiability
    names: tuple[str, ...]
    matrix: Array
    classes: tuple[Class, ...]
    pivots: IntArray
    kept: float
    dropped: float

    @property
    def count(self) -> int:
        """Number of identifiable combinations."""
        return len(self.pivots)

    @cached_property
    def base(self) -> BaseParameters:
        r"""The identifiable combinations of theta, $\beta = K\theta$ in reduced row echelon form."""
        rows = self.structure.descriptor @ self.matrix
        scales = theta_scales(self.structure, self.matrix)
        _, _, Vt = np.linalg.svd(rows / scales)
        return echelon_form(Vt[: self.count] * scales, scales, [int(k) for k in self.pivots], self.names)


def restricted(structure: Identifiability, reduction: Reduction | None = None) -> RestrictedIdentifiability:
    """Ask what can be known of the free parameters.

    Args:
        structure: what could be known of all parameters.
        reduction: what is assumed of the links; without it only what the layout fixes is known.

    Returns:
        The answer.

    Raises:
        InputError: the reduction is of another layout.
        NoSolutionError: the rank is ambiguous.
    """
    layout = structure.layout
    if reduction is None:
        free = np.flatnonzero(layout.free)
        B, names = np.eye(layout.size)[:, free], tuple(layout.names[k] for k in free)
    elif reduction.layout != layout:
        raise InputError("is of another layout.", place="reduction", remedy="Build both from one layout.")
    else:
        B, names = reduction.matrix, reduction.names
    scales = theta_scales(structure, B)
    order = order_of_preference(structure, names)
    classes, base, kept, dropped = classify_rows(structure.descriptor @ B, scales, order)
    pivots = read_only(np.array(base, dtype=np.int64))
    return RestrictedIdentifiability(structure, names, read_only(B), classes, pivots, kept, dropped)


def free_base(structure: Identifiability) -> BaseParameters:
    r"""The combinations of a layout's free parameters that torques determine, $\beta = K\phi$.

    Args:
        structure: what could be known if nothing were.

    Returns:
        The combinations, in the columns of phi; those of what the layout fixes are zero.

    Raises:
        NoSolutionError: the rank is ambiguous.
    """
    layout = structure.layout
    if layout.free.all():
        return structure.base
    found = restricted(structure).base
    free = np.flatnonzero(layout.free)
    K = np.zeros((found.count, layout.size))
    K[:, free] = found.matrix
    return BaseParameters(
        found.names, read_only(K), read_only(free[found.columns]), found.smallest_kept, found.largest_dropped
    )


def theta_scales(structure: Identifiability, B: Array) -> Array:
    """Factors that make theta comparable: those of the parameters of phi it moves, the largest of them.

    Args:
        structure: the robot.
        B: shape (p, b), SI.

    Returns:
        The factors, shape (b,), SI.
    """
    return np.asarray(np.abs(structure.scales[:, None] * B).max(axis=0))


def order_of_preference(structure: Identifiability, names: Sequence[str]) -> list[int]:
    """The order in which parameters that are left are preferred as leaders of a group.

    Args:
        structure: the robot.
        names: of the parameters, each that of a link or a drive term, perhaps with `@` and a frame.

    Returns:
        Indices into the names.
    """
    return sorted(range(len(names)), key=lambda k: _preference(structure, names[k]))


def _preference(structure: Identifiability, name: str) -> tuple[int, int]:
    """Body, then the place in the tie-break; drive terms come after the terms of their joint's link."""
    layout = structure.layout
    owner, _, rest = name.rpartition(".")
    term = rest.partition("@")[0]
    if owner in layout.links and term in PARAMETER_NAMES:
        return layout.links.index(owner), TIE_BREAK.index(PARAMETER_NAMES.index(term))
    return structure.joint_bodies[layout.joints.index(owner)], len(TIE_BREAK) + layout.drive.index(term)


# The smallest linear model of a robot's torques, $\tau = Y(q, v, a)\,(S\beta + \phi_0)$.
#
# Each base parameter is led by one of the parameters asked about: with the others that join it set to zero,
# the leading ones alone, $S\beta$, predict every torque that the whole vector does. So S is sparse, and code
# generated for $S\beta$ is short. $\phi_0$ is what a reduction or the layout states as known.


@dataclass(frozen=True, eq=False)
class MinimalModel:
    """A robot with the fewest parameters that say all its torques can, under what is assumed of its links.

    Attributes:
        robot: the robot.
        layout: its standard parameters phi.
        reduction: what is assumed of its links; None for nothing.
        names: names of beta; a "+" where other parameters join the leading one.
        units: SI units of beta.
        basis: S, shape (p, b), SI.
        offset: phi_0, shape (p,), SI.
        to_base: K of beta = K theta, shape (b, t), SI; theta are the reduction's parameters, or the layout's.
    """

    robot: Robot
    layout: Layout
    reduction: Reduction | None
    names: tuple[str, ...]
    units: tuple[str, ...]
    basis: Array
    offset: Array
    to_base: Array

    @property
    def size(self) -> int:
        """Number of base parameters b."""
        return len(self.names)

    @cached_property
    def key(self) -> str:
        """Digest of all that the torques depend on."""
        return digest([self.robot.digest, self.layout.names, self.basis.tolist(), self.offset.tolist()])

    def standard(self, beta: ArrayLike) -> Array:
        r"""A full vector that predicts the torques of beta, $\phi = S\beta + \phi_0$.

        Its links need not be possible: what torques do not show is zero in it.

        Args:
            beta: base parameters, shape (b,), SI.

        Returns:
            phi, shape (p,), SI.
        """
        return np.asarray(self.basis @ checked("beta", beta, (self.size,)) + self.offset)

    def of_standard(self, phi: ArrayLike) -> Array:
        """The base parameters of a full vector; what breaks the reduction's assumptions is projected off.

        Args:
            phi: standard parameters, shape (p,), SI.

        Returns:
            beta, shape (b,), SI.
        """
        known = checked("phi", phi, (self.layout.size,))
        theta = known if self.reduction is None else project(self.reduction, known).theta
        return np.asarray(self.to_base @ theta)


def minimal_model(robot: Robot, layout: Layout, reduction: Reduction | None = None) -> MinimalModel:
    """Find the smallest model.

    Args:
        robot: the robot.
        layout: the parameters asked about.
        reduction: what is assumed of the links; nothing when not given.

    Raises:
        InputError: the reduction is of another layout, or the layout fixes parameters beside it.
        NoSolutionError: the rank is ambiguous.
    """
    if reduction is None and not layout.free.all():
        raise InputError(
            "fixes parameters.", place="layout", remedy="State what is known as a Reduction of the layout."
        )
    found = restricted(structural_identifiability(robot, layout), reduction)
    base = found.base
    units = reduction.units if reduction is not None else tuple(x.unit for x in layout.parameters)
    return MinimalModel(
        robot,
        layout,
        reduction,
        base.names,
        tuple(units[k] for k in base.columns),
        read_only(np.array(found.matrix[:, base.columns])),
        read_only(np.zeros(layout.size) if reduction is None else np.array(reduction.offset)),
        base.matrix,
    )
