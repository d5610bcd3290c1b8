"""The question a designer is asked: which motion of a family shows the parameters best within the limits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError
from steelyard.excitation.kept_apart import KeptApart, some_pairs
from steelyard.identifiability import BaseParameters, Criterion
from steelyard.layout import Layout
from steelyard.motion import FourierMotion, LinearConditions, LinearMotion, SplineMotion, rest_conditions
from steelyard.robot import Robot

LOOKED_AT = 500
"""Random poses at which pairs are looked for that are never apart."""


@dataclass(frozen=True, eq=False)
class DesignProblem:
    """A motion is asked for; nothing is searched yet. Arrays are read-only.

    Position and velocity limits always count. A joint without position limits may go `UNLIMITED_TURN` or
    `UNLIMITED_SLIDE` to either side of its start.

    Attributes:
        robot: an arm, whose joints state their limits.
        family: any motion of the family to choose from, a Fourier series or a spline; its coefficients are
            not looked at.
        layout: the robot's parameters, rigid and drive.
        base: the columns the motion is judged by.
        start: q(0), shape (nv,), rad or m; None leaves it free. A spline ends anywhere, at rest.
        criterion: what makes a motion good.
        rate: samples per second that count for the criterion, Hz.
        noise: standard deviation of the torque noise of each joint, shape (nv,), N·m or N; None for ones.
        recorded: Gram matrix of data that is already there, its rows over the noise as well, shape (p, p),
            SI; None where there is none.
        clearance: what must stay apart, such as a `Clearance`; None where nothing is checked.
        distance: how far apart, m.
        clearance_rate: samples per second at which clearance is looked at, Hz.
        acceleration: whether the acceleration limits count.
        parameters: phi of the model that predicts torques, shape (p,), SI; None leaves torque limits out.
        torque_share: share of the torque limits that may be used at the samples, dimensionless; the rest is
            for the time between them.
    """

    robot: Robot
    family: LinearMotion
    layout: Layout
    base: BaseParameters
    start: Array | None = None
    criterion: Criterion = Criterion.COND
    rate: float = 20.0
    noise: Array | None = None
    recorded: Array | None = None
    clearance: KeptApart | None = None
    distance: float = 0.01
    clearance_rate: float = 50.0
    acceleration: bool = False
    parameters: Array | None = None
    torque_share: float = 0.95

    def __post_init__(self) -> None:
        self.robot.require_arm()
        nv, p = self.robot.nv, self.layout.size
        if not isinstance(self.family, FourierMotion | SplineMotion):
            raise InputError("must be a Fourier series or a spline.", place="family")
        if self.family.joints != self.robot.joint_names:
            raise InputError(f"moves other joints than those of '{self.robot.name}'.", place="family")
        if self.base.matrix.shape[1] != p:
            raise InputError("is of another layout.", place="base")
        if self.criterion not in list(Criterion):
            raise InputError(
                f"unknown criterion '{self.criterion}'.",
                place="criterion",
                remedy=f"Valid: {', '.join(Criterion)}.",
            )
        object.__setattr__(self, "criterion", Criterion(self.criterion))
        for name in ("rate", "clearance_rate", "torque_share"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0.0):
                raise InputError(f"must be positive and finite, got {value}.", place=name)
        if not np.isfinite(self.distance):
            raise InputError(f"must be finite, got {self.distance}.", place="distance")
        if self.clearance is not None and self.clearance.robot is not self.robot:
            raise InputError("belongs to another robot.", place="clearance")
        shapes = {"start": (nv,), "noise": (nv,), "recorded": (p, p), "parameters": (p,)}
        for name, shape in shapes.items():
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, read_only(checked(name, value, shape)))
        if self.noise is not None and not (self.noise > 0.0).all():
            raise InputError("must be positive.", place="noise")

    @cached_property
    def conditions(self) -> LinearConditions:
        """Rest at both ends, and the start where it is given."""
        return rest_conditions(self.family, start=self.start)

    @cached_property
    def times(self) -> Array:
        """When the criterion looks, shape (N,), s; a periodic motion's end is its start and counts once."""
        return _grid(self.family, self.rate)

    @cached_property
    def clearance_times(self) -> Array:
        """When clearance is looked at while searching, shape (N,), s."""
        return _grid(self.family, self.clearance_rate)

    @cached_property
    def watched(self) -> KeptApart | None:
        """The clearance without the pairs that are `never_apart`; None where nothing is left."""
        if self.clearance is None:
            return None
        kept = [k for k, pair in enumerate(self.clearance.pairs) if pair.name not in self.never_apart]
        return some_pairs(self.clearance, kept) if kept else None

    @cached_property
    def never_apart(self) -> tuple[str, ...]:
        """Pairs of the robot's own shapes that are not as far apart as required at any of many poses.

        So they are built, and no motion can change it: they are not watched.
        """
        if self.clearance is None or not self.clearance.pairs:
            return ()
        reach = np.pi
        lower = np.maximum(self.robot.limit_array("lower"), -reach)
        upper = np.minimum(self.robot.limit_array("upper"), reach)
        poses = np.random.default_rng(0).uniform(lower, np.maximum(lower, upper), (LOOKED_AT, self.robot.nv))
        furthest = self.clearance.distances(poses).max(axis=0)
        own = {self.robot.base.name, *self.robot.link_names}
        return tuple(
            pair.name
            for pair, distance in zip(self.clearance.pairs, furthest, strict=True)
            if distance <= self.distance and pair.owners <= own
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the base parameters."""
        return self.base.names


def _grid(family: LinearMotion, rate: float) -> Array:
    samples = max(2, round(rate * family.duration))
    return np.linspace(0.0, family.duration, samples, endpoint=not family.periodic)
