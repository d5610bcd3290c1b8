"""A robot's limits at sampled instants of a motion in two pieces, and how they change with its unknowns.

Every margin is divided by a size of its kind, so that one number can say how far a motion is from keeping all
of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from paper_000.two_pieces import TwoPieces
from steelyard.arrays import Array
from steelyard.dynamics import regressor_adjoint
from steelyard.limits import MotionLimits
from steelyard.limits.margins import Margins
from steelyard.motion import MotionSample

NEAR = 0.1
"""The size by which distances are divided, m."""
TURN = 1.0
"""The size by which margins of position are divided, rad or m."""
LEAST_ROOM = 1e-4
"""Share of its size by which the room of a limit grows at least each time a proof fails."""
AROUND = 1.0 / 16.0
"""Share of the duration, before and after the instant at which a proof failed, where more room is left."""


class Worst(NamedTuple):
    """The limit that is missed by most.

    Attributes:
        kind: `position`, `velocity`, `acceleration`, `torque` or `clearance`.
        name: of the joint, or of the pair that must stay apart.
        instant: when, s.
        margin: what is left of it, negative where it is broken, SI.
    """

    kind: str
    name: str
    instant: float
    margin: float


@dataclass(eq=False)
class SampledLimits:
    """The limits at instants, to which others can be added, less the room that proofs turned out to need.

    Attributes:
        limits: what must be kept.
        family: of the motions.
        time: the instants, shape (N,), s.
        sizes: by which the margins of each kind are divided, one for each joint or pair, SI.
        room: what is kept free of each at each instant, over its size, dimensionless.
    """

    limits: MotionLimits
    family: TwoPieces
    time: Array

    def __post_init__(self) -> None:
        b = self.limits.bounds
        sizes = {
            "position": np.full(len(b.joints), TURN),
            "velocity": b.velocity,
            "acceleration": b.acceleration,
            "torque": b.effort if self.limits.layout is not None else np.empty(0),
            "clearance": np.full(len(self._pairs), NEAR),
        }
        # Where nothing is limited, or nothing may move, there is no size to compare with.
        self.sizes: dict[str, Array] = {
            kind: np.where(np.isfinite(size) & (size > 0.0), size, 1.0) for kind, size in sizes.items()
        }
        self.room: dict[str, Array] = {
            kind: np.zeros((len(self.time), len(size))) for kind, size in sizes.items()
        }

    @property
    def _pairs(self) -> tuple[str, ...]:
        return () if self.limits.clearance is None else self.limits.clearance.names

    def names(self, kind: str) -> tuple[str, ...]:
        """The names of a kind's joints or pairs.

        Args:
            kind: of the limit.

        Returns:
            The names, in the order of its margins.
        """
        if kind == "clearance":
            return self._pairs
        return self.limits.robot.joint_names if kind == "torque" else self.limits.bounds.joints

    def learn(self, missed: Worst, x: Array) -> None:
        """Look at the instant where a proof failed, too, and leave the room around it that the proof lacked.

        That is the difference between the margin of the motion itself and what could be proven with all that
        is uncertain. Elsewhere the limit stays as it is: an end pose cannot be moved out of any room.

        Args:
            missed: what could not be proven.
            x: unknowns of the motion, shape (nv, 3), rad or m.
        """
        at = int(np.searchsorted(self.time, missed.instant))
        if missed.instant not in self.time:
            self.time = np.insert(self.time, at, missed.instant)
            for kind, room in self.room.items():
                self.room[kind] = np.insert(room, at, np.maximum(room[at - 1], room[at]), axis=0)
        k, room = self.names(missed.kind).index(missed.name), self.room[missed.kind]
        own = float(getattr(self._margins(x), missed.kind)[at, k].min())
        # Between samples half as far apart a dip is a quarter as deep.
        dip = max(-own, 0.0) / 3.0
        lacking = (own - missed.margin + dip) / float(self.sizes[missed.kind][k])
        around = np.abs(self.time - missed.instant) <= AROUND * sum(self.family.durations)
        room[around, k] = np.maximum(room[around, k], lacking) + LEAST_ROOM

    def violation(self, x: Array) -> float:
        """By how much the worst limit is missed, over its size; zero where none is.

        Args:
            x: unknowns, shape (nv, 3), rad or m.

        Returns:
            The violation, dimensionless.
        """
        return max(0.0, -min(float(m.min(initial=np.inf)) for m in self._scaled(self._margins(x)).values()))

    def worst(self, x: Array) -> Worst:
        """The limit that is missed by most, over its size.

        Args:
            x: unknowns, shape (nv, 3), rad or m.

        Returns:
            Which, when, and its margin in SI units.
        """
        margins = self._scaled(self._margins(x))
        kind = min(margins, key=lambda kind: float(margins[kind].min(initial=np.inf)))
        k, j = np.unravel_index(int(margins[kind].argmin()), margins[kind].shape)[:2]
        least = float(margins[kind].min() + self.room[kind][k, j])
        return Worst(kind, self.names(kind)[j], float(self.time[k]), least * float(self.sizes[kind][j]))

    def linearised(self, x: Array, step: float) -> tuple[Array, Array]:
        """Margins and their derivatives, of those that a small enough step may use up.

        Args:
            x: unknowns, shape (nv, 3), rad or m.
            step: how far every unknown may move, rad or m.

        Returns:
            Margins over their sizes, shape (m,), dimensionless; derivatives, shape (m, 3 nv), 1/rad or 1/m.
        """
        basis = self.family.basis(self.time)
        at = self.family.at(basis, x)
        values = self._scaled(self._margins(x))
        Q, V, A = (B[:, 1:4] for B in (basis.q, basis.v, basis.a))
        eye = np.eye(len(self.family.joints))
        rows = {
            kind: np.einsum("jk,ni->njki", eye, B)
            for kind, B in (("position", Q), ("velocity", V), ("acceleration", A))
        }
        slopes = {kind: np.stack([row, -row], axis=2) for kind, row in rows.items()}
        if self.limits.layout is not None:
            by_state = self._torque_slopes(at)
            row = sum(np.einsum("njk,ni->njki", S, B) for S, B in zip(by_state, (Q, V, A), strict=True))
            slopes["torque"] = np.stack([row, -row], axis=2)
        if self.limits.clearance is not None:
            _, gradients = self.limits.clearance.gradients(at.q)
            slopes["clearance"] = np.einsum("npk,ni->npki", gradients, Q)
        margins, matrix = [], []
        for kind, slope in slopes.items():
            m = values[kind].ravel()
            G = (slope / self.sizes[kind].reshape(1, -1, *(1,) * (slope.ndim - 2))).reshape(len(m), -1)
            near = m < step * np.abs(G).sum(axis=1)
            margins.append(m[near])
            matrix.append(G[near])
        return np.concatenate(margins), np.vstack(matrix)

    def _margins(self, x: Array) -> Margins:
        at = self.family.at(self.family.basis(self.time), x)
        return self.limits.margins(at.q, at.v, at.a)

    def _scaled(self, margins: Margins) -> dict[str, Array]:
        """Margins over their sizes less the room, by kind, (N, J, 2) or (N, P)."""
        scaled = {}
        for kind, size in self.sizes.items():
            m = getattr(margins, kind)
            room = self.room[kind]
            if m.ndim == 3:
                size, room = size[:, None], room[..., None]
            scaled[kind] = m / size - room
        return scaled

    def _torque_slopes(self, at: MotionSample) -> tuple[Array, Array, Array]:
        """Derivatives of every torque in q, v and a, each (N, nv, nv)."""
        layout, phi = self.limits.layout, self.limits.parameters
        assert layout is not None
        assert phi is not None
        N, nv = at.q.shape
        # One sample for each torque of each instant, on which that torque alone has weight.
        G = np.broadcast_to(np.einsum("jk,p->jkp", np.eye(nv), phi), (N, nv, nv, len(phi)))
        q, v, a = (np.repeat(each, nv, axis=0) for each in (at.q, at.v, at.a))
        g = regressor_adjoint(self.limits.robot, layout, G.reshape(N * nv, nv, -1), q, v, a)
        return g.q.reshape(N, nv, nv), g.v.reshape(N, nv, nv), g.a.reshape(N, nv, nv)
