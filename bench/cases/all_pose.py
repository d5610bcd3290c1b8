"""Positive definiteness at every pose: the proof beside sampling with Pinocchio, and the rescue."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pinocchio as pin

from paper_004.pose_projection import project_at_poses
from steelyard.consistency.all_poses.projection import project_to_all_poses
from steelyard.consistency.all_poses.proof import AllPoseProof
from steelyard.consistency.pose_search import PoseDomain, lowest_pose, sample_poses
from steelyard.zoo import zoo_robot
from timing import Row, best

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from oracles.all_pose_models import full_model, paper_004
from oracles.pinocchio_robot import pinocchio_model

SAMPLED = 100_000
"""Poses of one sampled audit."""


def rows() -> list[Row]:
    """Every comparison of this room."""
    return [*_proofs(), *_searches(), *_rescue()]


def _one_sample(poses: int = 2000) -> float:
    """Seconds for one pose: Pinocchio's mass matrix from Python, its smallest eigenvalue by NumPy."""
    robot = zoo_robot("crane_x7")
    bodies = np.array([link.body.parameters for link in robot.links if link.body is not None])
    model = pinocchio_model(robot, bodies)
    data = model.createData()
    q = PoseDomain.every(robot).draw(poses, np.random.default_rng(0))

    def sampled() -> None:
        M = np.array([pin.crba(model, data, pose) for pose in q])
        np.linalg.eigvalsh(M, UPLO="U")[:, 0].min()

    return best(sampled, repeats=3)[0] / poses


def _proofs() -> Iterator[Row]:
    peer, theirs = f"{SAMPLED} poses by Pinocchio and NumPy, which prove nothing", SAMPLED * _one_sample()
    proof, beta = paper_004()
    for name, (made, values) in (
        ("CRANE-X7, 39 parameters", (proof, beta)),
        ("Panda, no assumption on its links", full_model(zoo_robot("panda"))),
    ):
        certificate, _ = made.certify(values)
        assert certificate is not None
        (seconds,) = best(lambda p=made, b=values: p.certify(b))
        count = made.model.size
        yield Row(
            f"proof for every pose, checked in exact arithmetic, {name}",
            seconds,
            peer,
            theirs,
            least_ratio=1.0,
            most_seconds=0.1,
            note=f"{count} parameters, no eigenvalue below {certificate.bound:.4g}",
        )
    (seconds,) = best(lambda: AllPoseProof.prepare(proof.model), repeats=3)
    yield Row("preparing the proofs of one model, CRANE-X7", seconds)


def _searches() -> Iterator[Row]:
    proof, beta = paper_004()
    robot, layout, phi = proof.model.robot, proof.model.layout, proof.model.standard(beta)
    domain, rng = PoseDomain.every(robot), np.random.default_rng(0)
    (seconds,) = best(lambda: lowest_pose(robot, layout, phi, domain, rng))
    yield Row("local minimisation of the smallest eigenvalue, 16 starts", seconds, most_seconds=0.05)
    (seconds,) = best(lambda: sample_poses(robot, layout, phi, domain, SAMPLED, rng), repeats=3)
    yield Row(
        f"sampled audit, {SAMPLED} poses",
        seconds,
        "Pinocchio's mass matrix from Python and NumPy's eigenvalues",
        SAMPLED * _one_sample(),
    )


def _rescue() -> Iterator[Row]:
    proof, truth = paper_004()
    beta = truth + 2e-3 * np.random.default_rng(3).normal(size=truth.size)
    domain = PoseDomain.every(proof.model.robot)
    ours, theirs = best(
        lambda: project_to_all_poses(proof, beta, margin=1e-3),
        lambda: project_at_poses(proof.model, beta, domain, np.random.default_rng(0), margin=1e-3),
        repeats=3,
    )
    yield Row(
        "least change with proof, margin 0.001 kg·m²",
        ours,
        "our own projection at chosen poses, without proof",
        theirs,
        most_seconds=0.1,
    )
