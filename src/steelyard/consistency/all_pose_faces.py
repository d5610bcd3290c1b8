"""The forms of links on the twists that occur, in units that make velocities and rates comparable."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from steelyard.arrays import Array, IntArray, read_only
from steelyard.consistency.all_pose_check import CertificateChecker

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
