"""Every limit of a robot as a margin that is proven over whole stretches of time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from steelyard.arrays import Array, BoolArray, IntArray
from steelyard.enclosure import Forms, MotionForms, enclosed_torque, untied_motion
from steelyard.limits.margins import MotionLimits
from steelyard.limits.proven_gaps import proven_gaps

_PER = {"position": "", "velocity": "/s", "acceleration": "/s²"}


@dataclass(frozen=True)
class Limit:
    """One limit.

    Attributes:
        kind: position, velocity, acceleration, torque or clearance.
        name: of the joint or the pair.
        unit: of its margin.
        column: where it stands among those of its kind.
    """

    kind: str
    name: str
    unit: str
    column: int


@dataclass(frozen=True, eq=False)
class StretchMargins:
    """The limits of a robot, ready to be proven.

    Attributes:
        limits: what a motion must respect.
        lower: smallest parameters, shape (p,), SI; empty where torques are not looked at.
        upper: largest parameters, shape (p,), SI.
    """

    limits: MotionLimits
    lower: Array
    upper: Array

    @cached_property
    def every(self) -> tuple[Limit, ...]:
        """Every limit that is stated, in the order of the results' columns."""
        b, robot = self.limits.bounds, self.limits.robot
        found = []
        units = [joint.position_unit for joint in robot.untied.joints for _ in range(joint.nv)]
        for kind, limited in (
            ("position", np.isfinite(b.lower) | np.isfinite(b.upper)),
            ("velocity", np.isfinite(b.velocity)),
            ("acceleration", np.isfinite(b.acceleration)),
        ):
            found += [
                Limit(kind, b.joints[k], units[k] + _PER[kind], k) for k in np.flatnonzero(limited).tolist()
            ]
        if self.limits.layout is not None:
            driven = [joint for joint in robot.joints if joint.mimic is None for _ in range(joint.nv)]
            for k in np.flatnonzero(np.isfinite(b.effort)).tolist():
                found.append(Limit("torque", driven[k].name, driven[k].effort_unit, k))
        if self.limits.clearance is not None:
            found += [Limit("clearance", name, "m", k) for k, name in enumerate(self.limits.clearance.names)]
        return tuple(found)

    def proven(self, motion: MotionForms, wanted: BoolArray) -> tuple[Array, Array]:
        """Bound the margins from below over stretches.

        Args:
            motion: positions, velocities and accelerations, each shape (K, nv), SI.
            wanted: which limits to look at, shape (K, M), dimensionless.

        Returns:
            What is left of every limit at least, shape (K, M), SI, rounded down, and what is left about the
            middle of each stretch, shape (K, M), SI; infinite where not wanted.
        """
        b = self.limits.bounds
        untied = untied_motion(self.limits.robot, motion)
        least, seen = np.full(wanted.shape, np.inf), np.full(wanted.shape, np.inf)
        for kind, forms, low, high in (
            ("position", untied.q, b.lower, b.upper),
            ("velocity", untied.v, -b.velocity, b.velocity),
            ("acceleration", untied.a, -b.acceleration, b.acceleration),
        ):
            at, columns = self._columns(kind)
            least[:, at], seen[:, at] = (x[:, columns] for x in _within(forms, low, high))
        at, columns = self._columns("torque")
        rows = np.flatnonzero(wanted[:, at].any(axis=1))
        if rows.size:
            for out, x in zip((least, seen), self._torques(_rows(motion, rows)), strict=True):
                out[rows, at] = x[:, columns]
        at, _ = self._columns("clearance")
        rows = np.flatnonzero(wanted[:, at].any(axis=1))
        if rows.size:
            for out, x in zip((least, seen), self._gaps(_rows(motion, rows), wanted[rows, at]), strict=True):
                out[rows, at] = x
        return np.where(wanted, least, np.inf), np.where(wanted, seen, np.inf)

    def _columns(self, kind: str) -> tuple[slice, list[int]]:
        """Where the limits of a kind stand among all, and which of their kind they are."""
        at = [k for k, limit in enumerate(self.every) if limit.kind == kind]
        return slice(at[0], at[-1] + 1) if at else slice(0, 0), [self.every[k].column for k in at]

    def _torques(self, motion: MotionForms) -> tuple[Array, Array]:
        layout, effort = self.limits.layout, self.limits.bounds.effort
        assert layout is not None  # without it no torque is limited
        tau = enclosed_torque(self.limits.robot, layout, self.lower, self.upper, motion)
        return _within(tau, -effort, effort)

    def _gaps(self, motion: MotionForms, wanted: BoolArray) -> tuple[Array, Array]:
        assert self.limits.clearance is not None  # without it no pair is kept apart
        least, seen = proven_gaps(self.limits.clearance, motion.q, wanted)
        return np.nextafter(least - self.limits.distance, -np.inf), seen - self.limits.distance


def _within(x: Forms, low: Array, high: Array) -> tuple[Array, Array]:
    """What is left to both sides at least, and at the centre, each (K, n)."""
    least = np.nextafter(np.minimum(x.lower - low, high - x.upper), -np.inf)
    return least, np.minimum(x.centre - low, high - x.centre)


def _rows(motion: MotionForms, rows: IntArray) -> MotionForms:
    return MotionForms(
        *(Forms(x.centre[rows], x.generators[rows], x.radius[rows]) for x in (motion.q, motion.v, motion.a))
    )
