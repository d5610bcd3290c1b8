r"""A robot that is known within spreads and carries a load that is known within a box.

The load's ten numbers are stated in the frame it is held in; T takes them to the link that carries it. The
law computes with the middles, and what it must bear is all of both boxes:

$$\theta_0 = \theta_r + T\,\tfrac12(\overline\pi + \underline\pi), \qquad
  \Delta = \Delta_r + |T|\,\tfrac12(\overline\pi - \underline\pi)$$
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError
from steelyard.layout import Layout
from steelyard.payload import Held
from steelyard.robot import Robot
from steelyard.uncertainty import PayloadBox

_OUTWARD = 1.0 + 1e-12
"""More than sums of ten products lose to rounding."""


class ParameterBox(NamedTuple):
    """What robot and load together can be.

    Attributes:
        nominal: the middle, shape (p,), SI.
        half_widths: shape (p,), SI.
    """

    nominal: Array
    half_widths: Array


@dataclass(frozen=True, eq=False)
class LoadModel:
    """What is known of a robot without its load, and where it holds one; arrays are read-only.

    Attributes:
        robot: the robot, an arm.
        layout: the order of its parameters.
        parameters: without the load, shape (p,), SI.
        spread: by how much each may differ, shape (p,), SI.
        held: where the load is held.
    """

    robot: Robot
    layout: Layout
    parameters: Array
    spread: Array
    held: Held

    def __post_init__(self) -> None:
        self.robot.require_arm()
        for name in ("parameters", "spread"):
            values = checked(name, getattr(self, name), (self.layout.size,))
            object.__setattr__(self, name, read_only(values))
        if (self.spread < 0.0).any():
            raise InputError("must not be negative.", place="spread")

    @classmethod
    def stated(
        cls, robot: Robot, layout: Layout, held: Held, *, model_error: float, whole_link: bool = False
    ) -> LoadModel:
        """What the description states, within a share of each parameter.

        Args:
            robot: the robot; every moving link must state an inertial.
            layout: the order of its parameters.
            held: where the load is held.
            model_error: share of every parameter by which it may differ, dimensionless.
            whole_link: whether the link that carries the load counts as part of it, as paper 000's
                end-effector does; nothing is known of it then but what is known of the load.

        Returns:
            The model.

        Raises:
            DescriptionError: a link states no inertial.
        """
        phi = layout.complete_nominal()
        if whole_link:
            phi[layout.of_link(held.link)] = 0.0
        return cls(robot, layout, phi, model_error * np.abs(phi), held)

    @property
    def carrier(self) -> slice:
        """Which parameters are those of the link that carries the load."""
        return self.layout.of_link(self.held.link)

    def with_load(self, load: PayloadBox) -> ParameterBox:
        """The box of all parameters when the load is in a box of its own.

        Args:
            load: what the load can be, in the frame it is held in.

        Returns:
            Its middle and half widths.
        """
        nominal, half = self.parameters.copy(), self.spread.copy()
        T = self.held.to_link
        nominal[self.carrier] += T @ load.centre
        lost = np.abs(T) @ np.abs(load.centre) * (_OUTWARD - 1.0)
        half[self.carrier] += np.abs(T) @ load.spread * _OUTWARD + lost
        return ParameterBox(read_only(nominal), read_only(half))
