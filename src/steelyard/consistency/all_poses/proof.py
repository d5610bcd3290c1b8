r"""Finding a certificate: one small semidefinite program per parameter vector.

$$\max_{y,\,t}\ t \quad\text{subject to}\quad
  N_i^T X_i(\phi, y)\,N_i \succeq t\,(e_i e_i^T + \kappa 1) ,$$

with the forms $X_i$ of `energy` and $N_i$ a basis of the twists that occur, in units that make
velocities and rates comparable. The optimum t is the best lower bound of $\lambda_{\min}(M(q))$ over all
poses that this kind of certificate gives. The small $\kappa$ keeps every form inside its cone, so that the
check in exact arithmetic has room. Moves that show in no form are left out.

What does not depend on the parameters is prepared once per model.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, read_only
from steelyard.cones import ConeProgram, Semidefinite, solve
from steelyard.consistency.all_poses.check import CertificateChecker, PoseCertificate
from steelyard.consistency.all_poses.energy import idle_links
from steelyard.errors import SolverError
from steelyard.identifiable import BaseParameters, MinimalModel, structural_identifiability

# The forms of links on the twists that occur, in units that make velocities and rates comparable.

_INDEPENDENT = 1e-9


def scaled_faces(checker: CertificateChecker) -> tuple[Array, ...]:
    """A basis N of the coordinates that occur at each link; velocities are measured in a mean length.

    Args:
        checker: the exact matrices, and what never occurs.

    Returns:
        One basis for each link, each shape (d, r), SI; the rates come last.
    """
    joints = checker.blocks.robot.joints
    lengths = [float(np.linalg.norm(joint.placement.translation)) for joint in joints]
    length = float(np.mean([x for x in lengths if x > 0.0] or [1.0]))
    scale = np.repeat([length, 1.0], 3)[:, None]
    faces = []
    for block, reach in zip(checker.blocks.blocks, checker.reach, strict=True):
        if block.order == 1:
            faces.append(read_only(np.eye(1)))
            continue
        twists = scipy.linalg.orth(reach.basis / scale) if reach.basis.size else reach.basis
        faces.append(read_only(scipy.linalg.block_diag(scale * twists, np.eye(block.order - 6))))
    return tuple(faces)


def forms_on_face(columns: IntArray, matrices: Array, face: Array, wanted: IntArray) -> Array:
    """The forms of wanted coefficients on a face; zero where the link has no such term.

    Args:
        columns: the coefficient of each of the link's forms, shape (K,), dimensionless.
        matrices: the forms, shape (K, d, d), SI.
        face: N, shape (d, r), SI.
        wanted: which coefficients, shape (W,), dimensionless.

    Returns:
        The forms, shape (W, r, r), SI.
    """
    N = face
    place = {int(column): k for k, column in enumerate(columns)}
    forms = np.zeros((wanted.size, N.shape[1], N.shape[1]))
    for j, column in enumerate(wanted):
        if int(column) in place:
            F = N.T @ matrices[place[int(column)]] @ N
            forms[j] = 0.5 * (F + F.T)
    return forms


def independent_moves(checker: CertificateChecker, faces: tuple[Array, ...]) -> IntArray:
    """Moves that span all changes of the forms on their faces.

    Args:
        checker: the exact matrices.
        faces: N, one for each link, each shape (d, r), SI.

    Returns:
        Places of the moves, increasing, shape (k,), dimensionless.
    """
    first, count = checker.blocks.layout.size, checker.blocks.size
    if count == 0:
        return np.zeros(0, dtype=np.int64)
    wanted = first + np.arange(count)
    changes = np.hstack(
        [
            forms_on_face(block.columns, block.matrices, N, wanted).reshape(count, -1)
            for block, N in zip(checker.blocks.blocks, faces, strict=True)
        ]
    )
    R, order = scipy.linalg.qr(changes.T, mode="r", pivoting=True)
    sizes = np.abs(np.diag(R))
    rank = int((sizes > _INDEPENDENT * sizes.max(initial=0.0)).sum())
    return np.asarray(read_only(np.sort(order[:rank]).astype(np.int64)))


ROOM = 1e-3
"""kappa, dimensionless."""
_LOWERED = (1e-6, 1e-4, 1e-2, 0.1, 0.5)
"""By how much, relatively, the bound is lowered until its check succeeds."""


@dataclass(frozen=True, eq=False)
class AllPoseProof:
    """Everything about a model that certificates of its parameter vectors share.

    Attributes:
        model: the model.
        checker: the exact matrices.
        faces: N, scaled, one for each link, shape (d, r), SI.
        chosen: the moves that matter, shape (k,), dimensionless.
    """

    model: MinimalModel
    checker: CertificateChecker
    faces: tuple[Array, ...]
    chosen: IntArray

    @classmethod
    def prepare(cls, model: MinimalModel) -> AllPoseProof:
        """Form all matrices of a model.

        Args:
            model: the model, of a tree of joints with one degree of freedom.

        Returns:
            What certificates of the model share.

        Raises:
            DescriptionError: a joint floats, is spherical or mimics another.
        """
        robot, layout = model.robot, model.layout
        known = model.basis.any(axis=1) | (model.offset != 0.0)
        massless = [not known[layout.of_link(link)].any() for link in layout.links]
        idle = idle_links(robot, massless)
        names = tuple(link for link, out in zip(layout.links, idle, strict=True) if out)
        checker = CertificateChecker.of(robot, layout, names)
        faces = scaled_faces(checker)
        return cls(model, checker, faces, independent_moves(checker, faces))

    @cached_property
    def _parameter_forms(self) -> tuple[Array, ...]:
        """For each link, the forms of phi on its face, shape (p, r, r), SI."""
        return self._forms(np.arange(self.model.layout.size))

    @cached_property
    def move_forms(self) -> tuple[Array, ...]:
        """For each link, the forms of the chosen moves on its face, shape (k, r, r), SI."""
        return self._forms(self.model.layout.size + self.chosen)

    @cached_property
    def base_forms(self) -> tuple[Array, ...]:
        """For each link, the forms of beta on its face, shape (b, r, r), SI."""
        return tuple(np.tensordot(self.model.basis.T, forms, 1) for forms in self._parameter_forms)

    @cached_property
    def floors(self) -> tuple[Array, ...]:
        """For each link, what a bound of one asks of its form on the face, shape (r, r), SI."""
        floors = []
        for N, own in zip(self.faces, self.own_rates, strict=True):
            floor = ROOM * np.eye(N.shape[1])
            floor[own, own] = 1.0
            floors.append(floor)
        return tuple(floors)

    @cached_property
    def own_rates(self) -> tuple[int, ...]:
        """For each link, the place of its own joint's rate among the coordinates of its face."""
        return tuple(
            N.shape[1] - (block.order - block.rate)
            for block, N in zip(self.checker.blocks.blocks, self.faces, strict=True)
        )

    @cached_property
    def whole_base(self) -> BaseParameters:
        """What torques show of phi when nothing is assumed of the links."""
        return structural_identifiability(self.model.robot, self.model.layout).base

    def forms_of(self, parameters: Array) -> list[Array]:
        """For each link, its form on the face before any move, shape (r, r), SI.

        Args:
            parameters: phi, shape (p,), SI.

        Returns:
            The forms, each shape (r, r), SI.
        """
        return [np.tensordot(parameters, forms, 1) for forms in self._parameter_forms]

    def margin(self, beta: ArrayLike) -> tuple[float, Array]:
        """The best bound of this kind, and its moves; not yet checked.

        Args:
            beta: base parameters, shape (b,), SI.

        Returns:
            t, kg·m² or kg, negative where no such certificate exists, and y, shape (m,), SI.

        Raises:
            SolverError: the program was not solved.
        """
        constants = self.forms_of(self.model.standard(beta))
        size = max(float(np.abs(X).max(initial=0.0)) for X in constants) or 1.0
        constraints = [
            Semidefinite(X / size, np.concatenate([forms, -floor[None]]))
            for X, forms, floor in zip(constants, self.move_forms, self.floors, strict=True)
        ]
        objective = np.zeros(self.chosen.size + 1)
        objective[-1] = -1.0
        answer = solve(ConeProgram.minimise_linear(objective, constraints), accept_reduced=True)
        moves = np.zeros(self.checker.blocks.size)
        moves[self.chosen] = size * answer.x[:-1]
        return size * float(answer.x[-1]), moves

    def certify(self, beta: ArrayLike) -> tuple[PoseCertificate | None, float]:
        """A checked certificate for base parameters.

        Args:
            beta: base parameters, shape (b,), SI.

        Returns:
            The certificate, or None where none was found, and the best bound t of the search, kg·m² or kg;
            minus infinity where the search failed.
        """
        try:
            best, moves = self.margin(beta)
        except SolverError:
            return None, -np.inf
        bounds = [best * (1.0 - lowered) for lowered in _LOWERED]
        return (self.certificate(beta, moves, bounds) if best > 0.0 else None), best

    def certificate(self, beta: ArrayLike, moves: Array, bounds: Iterable[float]) -> PoseCertificate | None:
        """A certificate from moves, with the first of some bounds that the exact check allows.

        Args:
            beta: base parameters, shape (b,), SI.
            moves: y, shape (m,), SI.
            bounds: what to try, in this order, kg·m² or kg.

        Returns:
            The certificate; None where no bound passes the check.
        """
        phi, layout, idle = self.model.standard(beta), self.model.layout, self.checker.blocks.idle
        for bound in bounds:
            if self.checker.bound_of(phi, moves, bound) > 0.0:
                return PoseCertificate(
                    robot=self.model.robot.digest,
                    names=layout.names,
                    parameters=phi,
                    idle=tuple(link for link, out in zip(layout.links, idle, strict=True) if out),
                    moves=moves,
                    bound=bound,
                )
        return None

    def _forms(self, columns: IntArray) -> tuple[Array, ...]:
        return tuple(
            forms_on_face(block.columns, block.matrices, N, columns)
            for block, N in zip(self.checker.blocks.blocks, self.faces, strict=True)
        )
