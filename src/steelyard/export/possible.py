r"""The vectors of links and drives that can exist, and the nearest of them.

The distance is that of `steelyard.inertia.nearest_consistent`, each link in units of its own mass,

$$d^2 = \sum_i \frac{\lVert S_i\,(J(\phi_i) - J(\psi_i))\,S_i \rVert_F^2}{m_i^2}
      + \sum_j \frac{(\phi_j - \psi_j)^2}{s_j^2}, \qquad
      S_i = \mathrm{diag}(1/\ell_i, 1/\ell_i, 1/\ell_i, 1),$$

so the nearest possible vector is found link by link.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, BoolArray, IntArray
from steelyard.cones import AtMost, Constraint, Semidefinite
from steelyard.errors import InputError
from steelyard.inertia import ROUND_OFF, characteristic_length, check_body, nearest_consistent
from steelyard.inertia import scaled_pseudo_inertia as scaled
from steelyard.layout import Layout
from steelyard.robot import Robot

INNER = 1e-6
"""Smallest eigenvalue of a drawn link's scaled pseudo-inertia, in units of its mass."""
_MOST_LOAD = 1.0 - 1e-6


@dataclass(frozen=True, eq=False)
class Possible:
    """What can exist, measured around an estimate.

    Attributes:
        links: where the ten numbers of each link with mass start in phi, shape (nb,), dimensionless.
        masses: m of each, shape (nb,), kg.
        lengths: ℓ of each, shape (nb,), m.
        lower: smallest value of each drive number, shape (p,), SI; minus infinity for the links'.
        asymmetric: pairs of places of F_a and F_v, shape (k, 2), dimensionless.
        load: places of F_l, shape (k,), dimensionless.
        weights: the matrix M of the distance, shape (p, p), SI.
        movable: which parameters may differ from the estimate's: those that the layout leaves free and that
            belong to no massless link, shape (p,), dimensionless.
    """

    links: IntArray
    masses: Array
    lengths: Array
    lower: Array
    asymmetric: IntArray
    load: IntArray
    weights: Array
    movable: BoolArray

    @classmethod
    def around(cls, robot: Robot, layout: Layout, parameters: Array) -> Possible:
        """The possible vectors of a robot, measured around one of them.

        Args:
            robot: the robot.
            layout: the order of the parameters.
            parameters: phi, shape (p,), SI.

        Returns:
            The set.

        Raises:
            InputError: a link of phi cannot exist.
        """
        starts = []
        movable = layout.free.copy()
        for link in robot.links:
            ten = parameters[layout.of_link(link.name)]
            if not check_body(ten).consistent:
                why = " ".join(str(reason) for reason in check_body(ten).reasons)
                raise InputError(f"the estimate is physically impossible. {why}", place=f"link '{link.name}'")
            if ten[0] > 0.0:
                starts.append(layout.of_link(link.name).start)
            else:
                movable[layout.of_link(link.name)] = False
        tens = np.array([parameters[s : s + 10] for s in starts]).reshape(-1, 10)
        lengths = np.asarray(characteristic_length(tens))
        first = 10 * len(layout.links)
        lower = np.full(layout.size, -np.inf)
        lower[first:] = [parameter.lower for parameter in layout.parameters[first:]]
        place = {(x.owner, x.term): k for k, x in enumerate(layout.parameters) if k >= first}
        pairs = [
            (k, place[owner, "viscous"])
            for (owner, term), k in place.items()
            if term == "asymmetric" and (owner, "viscous") in place
        ]
        return cls(
            np.array(starts, dtype=np.int64),
            tens[:, 0],
            lengths,
            lower,
            np.array(pairs, dtype=np.int64).reshape(-1, 2),
            np.array([k for (_, term), k in place.items() if term == "load"], dtype=np.int64),
            _weights(parameters, starts, tens[:, 0], lengths),
            movable,
        )

    def _tens(self, parameters: Array) -> Array:
        """The ten numbers of each link in units of its mass, shape (nb, 10)."""
        return np.asarray(parameters[self.links[:, None] + np.arange(10)] / self.masses[:, None])

    def holds(self, parameters: Array) -> bool:
        """Whether every link and drive can exist.

        Args:
            parameters: phi, shape (p,), SI.

        Returns:
            Whether they can, up to round-off of the links.
        """
        eigenvalues = np.linalg.eigvalsh(scaled(self._tens(parameters), self.lengths))
        allowed = ROUND_OFF * np.abs(eigenvalues).max(axis=-1, initial=0.0)
        F_a, F_v = parameters[self.asymmetric].T
        return bool(
            (eigenvalues[..., 0] >= -allowed).all()
            and (parameters >= self.lower).all()
            and (np.abs(F_a) <= F_v).all()
            and (parameters[self.load] < 1.0).all()
        )

    def constraints(self, parameters: Array, basis: Array) -> tuple[Constraint, ...]:
        r"""What x must satisfy for $\phi + D x$ to be possible, its links not on the border.

        Args:
            parameters: phi, shape (p,), SI.
            basis: D, shape (p, n), SI.

        Returns:
            One constraint for each link, and one for the drives.
        """
        n = basis.shape[1]
        constraints: list[Constraint] = []
        for start, mass, length in zip(self.links, self.masses, self.lengths, strict=True):
            ten = slice(start, start + 10)
            constant = scaled(parameters[ten] / mass, length) - INNER * np.eye(4)
            constraints.append(Semidefinite(constant, scaled(basis[ten].T / mass, np.full(n, length))))
        bounded = np.flatnonzero(np.isfinite(self.lower))
        F_a, F_v = self.asymmetric.T
        # Each row of A and b says A phi <= b.
        A = np.vstack(
            (
                -np.eye(parameters.size)[bounded],
                np.eye(parameters.size)[F_a] - np.eye(parameters.size)[F_v],
                -np.eye(parameters.size)[F_a] - np.eye(parameters.size)[F_v],
                np.eye(parameters.size)[self.load],
            )
        )
        b = np.concatenate(
            (-self.lower[bounded], np.zeros(2 * len(F_a)), np.full(len(self.load), _MOST_LOAD))
        )
        if len(b):
            constraints.append(AtMost(A @ basis, b - A @ parameters))
        return tuple(constraints)

    def nearest(self, parameters: Array) -> Array:
        """The nearest possible vector, link by link and drive by drive.

        Args:
            parameters: phi, shape (p,), SI.

        Returns:
            phi, shape (p,), SI.
        """
        psi = np.maximum(parameters, self.lower)
        tens = nearest_consistent(self._tens(parameters), length=self.lengths)
        psi[self.links[:, None] + np.arange(10)] = tens * self.masses[:, None]
        F_a, F_v = self.asymmetric.T
        psi[F_a] = np.clip(psi[F_a], -psi[F_v], psi[F_v])
        psi[self.load] = np.minimum(psi[self.load], _MOST_LOAD)
        return np.asarray(psi)


def _weights(parameters: Array, starts: list[int], masses: Array, lengths: Array) -> Array:
    sizes = np.abs(parameters)
    M = np.diag(1.0 / np.where(sizes > 0.0, sizes, max(float(sizes.max(initial=0.0)), 1.0)) ** 2)
    for start, mass, length in zip(starts, masses, lengths, strict=True):
        A = scaled(np.eye(10) / mass, np.full(10, length)).reshape(10, 16)
        M[start : start + 10, start : start + 10] = A @ A.T
    return np.asarray(M)
