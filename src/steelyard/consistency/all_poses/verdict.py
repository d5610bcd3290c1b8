r"""A claim about base parameters: the mass matrix M(q) is positive definite at every pose.

It is proven by a certificate, refuted by a pose and a direction, or searched without either. *Physically
possible* is the stronger claim, see `full_set`: it implies that M(q) is nowhere negative, and many definite
models have no possible links.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from steelyard.consistency.all_poses.check import PoseCertificate
from steelyard.consistency.all_poses.proof import AllPoseProof
from steelyard.consistency.pose_search import LowPose, PoseDomain, lowest_pose


class Definiteness(StrEnum):
    """What is known of the mass matrix."""

    PROVEN = "proven"
    """Positive definite at every pose."""
    SEARCHED = "searched"
    """Positive definite at every pose that was looked at."""
    REFUTED = "refuted"
    """Not positive definite at the pose found."""


@dataclass(frozen=True, eq=False)
class AllPoseVerdict:
    """Whether the mass matrix is positive definite at every pose, and how that is known.

    Attributes:
        definiteness: proven, refuted, or searched, that is, undecided.
        bound: proven lower bound of the smallest eigenvalue at every pose, kg·m² or kg; minus infinity where
            there is none.
        margin: the best bound that the search for a certificate met, checked or not, kg·m² or kg.
        certificate: the proof; None where there is none.
        low: the lowest pose of a local search; None where it was proven and not searched.
        sentence: the verdict in words.
    """

    definiteness: Definiteness
    bound: float
    margin: float
    certificate: PoseCertificate | None
    low: LowPose | None
    sentence: str

    @property
    def proven(self) -> bool:
        """Whether it is proven."""
        return self.definiteness is Definiteness.PROVEN


def judge_all_poses(proof: AllPoseProof, beta: ArrayLike, rng: np.random.Generator) -> AllPoseVerdict:
    """Prove that the mass matrix is positive definite at every pose, or look for one where it is not.

    Args:
        proof: what was prepared for the model.
        beta: base parameters, shape (b,), SI.
        rng: source of the poses from which a search starts.
    """
    model = proof.model
    certificate, margin = proof.certify(beta)
    if certificate is not None:
        bound = proof.checker.bound_of(certificate.parameters, certificate.moves, certificate.bound)
        sentence = f"Positive definite at every pose: no eigenvalue is below {bound:.6g}, proven."
        return AllPoseVerdict(Definiteness.PROVEN, bound, margin, certificate, None, sentence)
    phi = model.standard(beta)
    low = lowest_pose(model.robot, model.layout, phi, PoseDomain.every(model.robot), rng)
    if low.refutes:
        kind, sentence = Definiteness.REFUTED, f"Not positive definite: an eigenvalue is {low.value:.6g}."
    else:
        kind = Definiteness.SEARCHED
        sentence = (
            f"Undecided: the lowest eigenvalue met is {low.value:.6g}, the best certificate would prove "
            f"{margin:.3g}."
        )
    return AllPoseVerdict(kind, -math.inf, margin, None, low, sentence)
