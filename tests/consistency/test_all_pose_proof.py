"""Certificates for every pose: never above what Pinocchio sees, refused when tampered with, rarely missed."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from oracles.all_pose_models import eigenvalues, full_model, paper_004
from oracles.random_robots import random_robot
from steelyard.archive import from_document, to_document
from steelyard.consistency import FullSet, feasible_set, full_set
from steelyard.consistency.all_poses.check import CertificateChecker, PoseCertificate, check_certificate
from steelyard.consistency.all_poses.proof import AllPoseProof
from steelyard.consistency.all_poses.verdict import Definiteness, judge_all_poses
from steelyard.consistency.pose_search import PoseDomain, lowest_pose
from steelyard.errors import DescriptionError, InputError
from steelyard.identifiable import minimal_model
from steelyard.layout import layout_of
from steelyard.robot import Robot
from steelyard.zoo import zoo_robot


def robots() -> list[Robot]:
    trees = [random_robot(np.random.default_rng(seed), bodies=5, shapes=("solid",)) for seed in (0, 3)]
    return [*(zoo_robot(name) for name in ("panda", "scara", "two_link", "ur10e")), *trees]


@pytest.mark.parametrize("robot", robots(), ids=lambda robot: robot.name)
def test_possible_links_are_proven_with_a_bound_near_the_lowest_eigenvalue(robot: Robot) -> None:
    proof, beta = full_model(robot)
    certificate, _ = proof.certify(beta)
    assert certificate is not None
    domain = PoseDomain.every(robot)
    low = lowest_pose(robot, proof.model.layout, certificate.parameters, domain, np.random.default_rng(0))
    assert 0.9 * low.value < certificate.bound < low.value
    poses = domain.draw(40, np.random.default_rng(1))
    assert eigenvalues(proof.model, certificate.parameters, poses).min() > certificate.bound


def test_of_two_links_the_bound_is_the_minimum_over_the_only_angle_that_matters() -> None:
    proof, beta = full_model(zoo_robot("two_link"))
    beta = beta + 0.02 * np.random.default_rng(0).normal(size=beta.size)
    poses = np.column_stack([np.zeros(361), np.linspace(-np.pi, np.pi, 361)])
    least = eigenvalues(proof.model, proof.model.standard(beta), poses).min()
    certificate, best = proof.certify(beta)
    assert certificate is not None
    assert least * (1 - 5e-3) < certificate.bound <= best <= least * (1 + 1e-6)


def test_no_proof_is_false_and_almost_every_definite_model_is_proven() -> None:
    proof, truth = paper_004()
    model, domain = proof.model, PoseDomain.every(proof.model.robot)
    definite = proven = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        beta = truth + 2e-3 * rng.normal(size=truth.size)
        certificate, _ = proof.certify(beta)
        low = lowest_pose(model.robot, model.layout, model.standard(beta), domain, rng)
        assert certificate is None or certificate.bound < low.value
        definite += low.value > 0.0
        proven += certificate is not None
    assert definite >= 10
    assert proven >= 0.95 * definite


def test_a_certificate_survives_a_file_and_is_refused_after_any_tampering() -> None:
    proof, beta = paper_004()
    robot, layout = proof.model.robot, proof.model.layout
    kept, _ = proof.certify(beta)
    assert kept is not None
    read = from_document(PoseCertificate, json.loads(json.dumps(to_document(kept))))
    np.testing.assert_array_equal(read.moves, kept.moves)
    check = check_certificate(robot, layout, read)
    assert check
    assert 0.0 < check.bound <= read.bound
    lower = np.array(read.parameters)
    lower[layout.index(f"{layout.joints[6]}.rotor")] -= 2 * read.bound
    pushed = np.array(read.moves)
    pushed[np.argmax(np.abs(pushed))] *= 1.5
    heavy = np.array(read.parameters)
    heavy[layout.index(f"{layout.links[-1]}.m")] = 0.1
    for broken in (
        replace(read, bound=1.01 * read.bound),
        replace(read, parameters=lower),
        replace(read, moves=pushed),
        replace(read, moves=np.zeros_like(pushed)),
        replace(read, moves=pushed[1:]),
        replace(read, parameters=heavy),
        replace(read, idle=(layout.links[2],)),
    ):
        assert not check_certificate(robot, layout, broken)
    assert "another robot" in check_certificate(zoo_robot("crane_x7"), layout, read).reason
    other = layout_of(robot, ["rotor"])
    assert "other parameters" in check_certificate(robot, other, read).reason


def test_a_bound_below_zero_proves_nothing() -> None:
    proof, beta = paper_004()
    certificate, _ = proof.certify(beta)
    assert certificate is not None
    check = check_certificate(proof.model.robot, proof.model.layout, replace(certificate, bound=-1e-3))
    assert not check
    assert check.bound == pytest.approx(-1e-3)


def test_rounded_rotations_cost_a_little_of_the_bound_and_no_more() -> None:
    proof, beta = full_model(random_robot(np.random.default_rng(3), bodies=5, shapes=("solid",)))
    assert max(block.slip.max() for block in proof.checker.blocks.blocks) > 0.0
    certificate, best = proof.certify(beta)
    assert certificate is not None
    proven = proof.checker.bound_of(certificate.parameters, certificate.moves, certificate.bound)
    assert 0.999 * best < proven <= certificate.bound


def test_a_refuted_model_shows_a_pose_and_a_direction() -> None:
    proof, beta = paper_004()
    beta = np.array(beta)
    beta[proof.model.names.index(f"{proof.model.layout.joints[5]}.rotor")] -= 0.02
    verdict = judge_all_poses(proof, beta, np.random.default_rng(0))
    assert verdict.definiteness is Definiteness.REFUTED
    assert verdict.certificate is None
    assert verdict.margin < 0.0
    assert verdict.low is not None
    phi = proof.model.standard(beta)
    assert eigenvalues(proof.model, phi, verdict.low.pose[None])[0] == pytest.approx(verdict.low.value)
    assert verdict.low.value < 0.0


def links_with_the_torques_of(proof: AllPoseProof, beta: np.ndarray) -> FullSet:
    base = proof.whole_base
    return full_set(base, base.matrix @ proof.model.standard(beta), feasible_set(proof.model.layout))


def test_definite_and_possible_are_different_claims() -> None:
    proof, truth = paper_004()
    assert judge_all_poses(proof, truth, np.random.default_rng(0)).proven
    assert links_with_the_torques_of(proof, truth).same
    beta = truth + 2e-3 * np.random.default_rng(0).normal(size=truth.size)
    assert judge_all_poses(proof, beta, np.random.default_rng(0)).proven
    assert not links_with_the_torques_of(proof, beta).same


def test_links_with_products_of_inertia_make_a_symmetric_model_possible_too() -> None:
    # The torques of the reduced model are those of links that the reduction itself may not allow.
    proof, truth = paper_004()
    assert links_with_the_torques_of(proof, truth).values.size > proof.model.size


def test_ties_and_floating_joints_are_refused() -> None:
    robot = zoo_robot("panda").floating()
    with pytest.raises(DescriptionError, match="floating"):
        AllPoseProof.prepare(minimal_model(robot, layout_of(robot)))


def test_only_ends_of_the_tree_may_take_no_part() -> None:
    robot = zoo_robot("panda")
    layout = layout_of(robot)
    with pytest.raises(InputError, match="ends of the tree"):
        CertificateChecker.of(robot, layout, (layout.links[0],))
