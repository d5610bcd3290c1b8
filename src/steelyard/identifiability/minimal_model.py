r"""The smallest linear model of a robot's torques, $\tau = Y(q, v, a)\,(S\beta + \phi_0)$.

Each base parameter is led by one of the parameters asked about: with the others that join it set to zero,
the leading ones alone, $S\beta$, predict every torque that the whole vector does. So S is sparse, and code
generated for $S\beta$ is short. $\phi_0$ is what a reduction or the layout states as known.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from steelyard.archive import digest
from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError
from steelyard.identifiability.analysis import structural_identifiability
from steelyard.identifiability.restricted import restricted
from steelyard.layout import Layout
from steelyard.reduction import Reduction, project
from steelyard.robot import Robot


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

    Returns:
        The model.

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
