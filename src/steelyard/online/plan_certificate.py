"""What has been proven of a plan under a robust law, and what the proof rests on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.control import Tube
from steelyard.errors import InputError
from steelyard.limits import Certificate
from steelyard.online.robust_torque import RobustLaw

SCHEMA = 1


@dataclass(frozen=True, eq=False)
class PlanCertificate:
    """The proof that a robot in its tube keeps every limit, for all parameters of a box.

    A certificate whose torques leave their limits cannot be made. Arrays are read-only.

    Attributes:
        motion: the proof for positions, velocities and clearance in the tube, and for the plan's own
            accelerations.
        edges: where the K stretches of the torque's proof meet, from 0 to the duration, shape (K + 1,), s.
        lower: what the nominal torque is nowhere below, shape (K, nv), N·m or N.
        upper: what it is nowhere above, shape (K, nv), N·m or N.
        disturbance: w, what parameters of the box cause at most, shape (K, nv), N·m or N.
        robust: what the robust torque exceeds nowhere, shape (K, nv), N·m or N.
        effort: the torque limits, infinite where none is stated, shape (nv,), N·m or N.
        joints: names of the nv joints.
        parameters: names of the p parameters.
        nominal: what the law computes with, shape (p,), SI.
        half_widths: by how much each may differ, shape (p,), SI.
        tube: the errors that are allowed.
        law: the robust law.
        schema: number of this layout.
    """

    motion: Certificate
    edges: Array
    lower: Array
    upper: Array
    disturbance: Array
    robust: Array
    effort: Array
    joints: tuple[str, ...]
    parameters: tuple[str, ...]
    nominal: Array
    half_widths: Array
    tube: Tube
    law: RobustLaw
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        if self.schema != SCHEMA:
            raise InputError(f"is {self.schema}, known: {SCHEMA}.", place="schema")
        n, p = len(self.joints), len(self.parameters)
        edges = checked("edges", self.edges, ("K",))
        if (
            len(edges) < 2
            or edges[0] != 0.0
            or edges[-1] != self.motion.duration
            or (np.diff(edges) <= 0.0).any()
        ):
            raise InputError(f"must increase from 0 to {self.motion.duration} s.", place="edges")
        shapes: dict[str, tuple[int, ...]] = dict.fromkeys(
            ("lower", "upper", "disturbance", "robust"), (len(edges) - 1, n)
        )
        shapes |= {"edges": edges.shape, "nominal": (p,), "half_widths": (p,)}
        for name, shape in shapes.items():
            object.__setattr__(self, name, read_only(checked(name, getattr(self, name), shape)))
        object.__setattr__(self, "effort", read_only(checked("effort", self.effort, (n,), finite=False)))
        # Written so that NaN is refused too.
        if not (self.torque_margins >= 0.0).all():
            raise InputError("a torque leaves its limit: this proves nothing.", place="lower, upper, robust")

    @property
    def torque_margins(self) -> Array:
        """What is left of each joint's torque limit at least, rounded down, shape (nv,), N·m or N."""
        most = np.maximum(-self.lower, self.upper) + self.robust
        margins: Array = np.nextafter(self.effort - np.nextafter(most, np.inf).max(axis=0), -np.inf)
        return margins
