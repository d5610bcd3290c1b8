"""The search for a proof of the torques: stretches of time are halved until every limit is kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, BoolArray
from steelyard.enclosure import Curve
from steelyard.limits import NotCertifiedError
from steelyard.online.robust_torque import RobustLaw
from steelyard.online.tube_forms import tube_forms
from steelyard.online.tube_torque import TubeDynamics, TubeTorques

FIRST_STRETCHES = 8
"""Into how many stretches a piece of a plan is cut before any is halved."""


@dataclass(frozen=True, eq=False)
class TorqueSearch:
    """What is asked of the torques.

    Attributes:
        dynamics: the torques in the tube.
        law: the robust law.
        effort: the torque limits, infinite where none is stated, shape (nv,), N·m or N.
        plan: the plan.
        most: how many stretches to look at before giving up.
    """

    dynamics: TubeDynamics
    law: RobustLaw
    effort: Array
    plan: Curve
    most: int

    def run(self) -> tuple[Array, TubeTorques]:
        """Halve stretches until every torque limit is kept on each.

        Returns:
            Where the stretches meet, shape (K + 1,), s; and the torques on them.

        Raises:
            NotCertifiedError: a limit may be broken, or could not be proven; says which and when.
        """
        cuts = [
            np.linspace(a, b, FIRST_STRETCHES + 1)
            for a, b in zip(self.plan.breaks[:-1], self.plan.breaks[1:], strict=True)
        ]
        start, end = np.concatenate([x[:-1] for x in cuts]), np.concatenate([x[1:] for x in cuts])
        found: list[tuple[Array, TubeTorques, BoolArray]] = []
        looked_at = 0
        while len(start):
            looked_at += len(start)
            torques, margins = self._margins(start, end)
            kept: BoolArray = np.asarray((margins >= 0.0).all(axis=1))
            found.append((np.stack((start, end), axis=1), torques, kept))
            start, end, left = start[~kept], end[~kept], margins[~kept]
            if len(start):
                self._refuse(start, end, left, out_of_stretches=looked_at > self.most)
            middle = 0.5 * (start + end)
            start, end = np.concatenate((start, middle)), np.concatenate((middle, end))
        return _joined(found)

    def _margins(self, start: Array, end: Array) -> tuple[TubeTorques, Array]:
        """The torques over stretches, and what is left of their limits, (K, nv)."""
        torques = self.dynamics.torques(tube_forms(self.plan, start, end, self.dynamics.tube))
        most = np.maximum(-torques.lower, torques.upper) + self.law.torque_bound(torques.disturbance)
        return torques, np.nextafter(self.effort - np.nextafter(most, np.inf), -np.inf)

    def _refuse(self, start: Array, end: Array, left: Array, *, out_of_stretches: bool) -> None:
        """Refuse the plan where its torque is not kept at an instant, which no halving can mend."""
        t = 0.5 * (start + end)
        torques, margins = self._margins(t, t)
        broken = not (margins >= 0.0).all()
        if not broken and not out_of_stretches:
            return
        found = margins if broken else left
        row, joint = (int(k) for k in np.unravel_index(int(found.argmin()), found.shape))
        least = float(found[row, joint])
        name, unit = self.dynamics.robot.joint_names[joint], self.dynamics.robot.joints[joint].effort_unit
        robust = float(self.law.torque_bound(torques.disturbance)[row, joint])
        how = f"may exceed its limit of {self.effort[joint]:g} {unit} by {-least:.3g} {unit}"
        message = (
            f"its torque {how} between t = {start[row]:.6g} s and {end[row]:.6g} s; the robust part "
            f"takes {robust:.3g} {unit}."
        )
        raise NotCertifiedError(
            message,
            kind="torque",
            name=name,
            instant=float(t[row]),
            margin=least,
            broken=False,
            remedy="Move more slowly, or narrow the parameters or the tube.",
        )


def _joined(found: list[tuple[Array, TubeTorques, BoolArray]]) -> tuple[Array, TubeTorques]:
    """Proven stretches of all rounds in the order of time."""
    spans = np.concatenate([span[kept] for span, _, kept in found])
    order = spans[:, 0].argsort()
    lower, upper, w = (
        np.concatenate([getattr(torques, name)[kept] for _, torques, kept in found])[order]
        for name in ("lower", "upper", "disturbance")
    )
    return np.append(spans[order, 0], spans[order[-1], 1]), TubeTorques(lower, upper, w)
