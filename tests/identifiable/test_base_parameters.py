"""Base parameters found numerically, judged on states not used to find them and by published counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shared_material import ROBOTS, needs_shared
from steelyard.drive import DRIVE_TERMS
from steelyard.dynamics import torque_regressor
from steelyard.errors import NoSolutionError
from steelyard.identifiable import structural_identifiability
from steelyard.identifiable.base_parameters import numerical_base
from steelyard.layout import layout_of
from steelyard.robot import Robot, load_robot
from steelyard.zoo import ZOO, zoo_robot

ALL = [term.name for term in DRIVE_TERMS]


def fresh_regressor(robot: Robot, drive: list[str]) -> np.ndarray:
    q, v, a = np.random.default_rng(99).normal(size=(3, 40, robot.nv))
    layout = layout_of(robot, drive)
    return torque_regressor(robot, layout, q, v, a).reshape(-1, layout.size)


@pytest.mark.parametrize("name", ZOO)
@pytest.mark.parametrize("drive", [[], ALL], ids=["rigid", "with drives"])
def test_base_parameters_predict_what_standard_parameters_predict(name: str, drive: list[str]) -> None:
    robot = zoo_robot(name)
    base = numerical_base(robot, layout_of(robot, drive), np.random.default_rng(0))
    W = fresh_regressor(robot, drive)
    phi = np.random.default_rng(1).normal(size=W.shape[1])
    beta = base.matrix @ phi
    np.testing.assert_allclose(W[:, base.columns] @ beta, W @ phi, atol=1e-10 * np.abs(W @ phi).max())


@pytest.mark.parametrize("name", ZOO)
def test_the_nullspace_moves_no_torque(name: str) -> None:
    robot = zoo_robot(name)
    base = numerical_base(robot, layout_of(robot, ALL), np.random.default_rng(0))
    _, _, Vt = np.linalg.svd(base.matrix)
    N = Vt[base.count :].T
    W = fresh_regressor(robot, ALL)
    assert np.abs(W @ N).max() < 1e-11 * np.abs(W).max()


# A 7-joint arm of this kind has 43 rigid base parameters, and five rotors add to them (joints 3 to 7). One
# rod shows mx, mz, Iyy (Lambert 2023, eq. (5.2)); two parallel ones add mx, mz, Iyy of the second.
@pytest.mark.parametrize(
    ("name", "drive", "count"),
    [
        ("one_link", [], 3),
        ("two_link", [], 6),
        ("panda", [], 43),
        ("panda", ["rotor"], 48),
        ("panda", ALL, 69),
    ],
)
def test_the_count_is_the_published_one(name: str, drive: list[str], count: int) -> None:
    robot = zoo_robot(name)
    base = numerical_base(robot, layout_of(robot, drive), np.random.default_rng(5))
    assert base.count == count
    assert base.smallest_kept > 1e3 * base.largest_dropped
    assert np.array_equal(base.matrix[:, base.columns], np.eye(count))


def test_the_one_link_arm_shows_the_three_lumps_of_paper_001() -> None:
    robot = zoo_robot("one_link")
    base = numerical_base(robot, layout_of(robot), np.random.default_rng(0))
    assert base.names == ("link1.mx", "link1.mz", "link1.Iyy")


@needs_shared
@pytest.mark.parametrize(
    ("file", "count"),
    [("lbr_stack/med7.urdf", 43), ("ur10_erd/ur10_robot.urdf", 36), ("scara/scara.urdf", 8)],
)
def test_public_arms_have_their_known_counts(file: str, count: int) -> None:
    robot = load_robot(ROBOTS / file)
    assert numerical_base(robot, layout_of(robot), np.random.default_rng(0)).count == count


def test_a_doubtful_rank_is_refused_instead_of_guessed() -> None:
    # Axes turned by 3e-9 rad against each other: neither parallel nor clearly not.
    robot = zoo_robot("two_link")
    axis = np.array([3e-9, 1.0, 0.0])
    bent = replace(robot, joints=(robot.joints[0], replace(robot.joints[1], axis=axis)))
    with pytest.raises(NoSolutionError, match="ambiguous"):
        numerical_base(bent, layout_of(bent), np.random.default_rng(0))


@pytest.mark.parametrize("name", ["two_link", "puma560", "panda"])
def test_the_standard_vector_of_base_parameters_predicts_their_torques_and_changes_least(name: str) -> None:
    robot = zoo_robot(name)
    layout = layout_of(robot, ["viscous", "rotor"])
    structure = structural_identifiability(robot, layout)
    rng = np.random.default_rng(3)
    truth, near = rng.standard_normal((2, layout.size))
    beta = structure.base.matrix @ truth
    phi = structure.base.standard(beta, near, structure.scales)
    np.testing.assert_allclose(structure.base.matrix @ phi, beta, rtol=1e-9, atol=1e-9)
    q, v, a = rng.uniform(-2, 2, (3, 20, robot.nv))
    Y = torque_regressor(robot, layout, q, v, a)
    np.testing.assert_allclose(Y @ phi, Y @ truth, rtol=1e-8, atol=1e-8)
    # Nothing moves along what torques do not show: the scaled change is orthogonal to every unseen change.
    unseen = structure.scales[:, None] * structure.nullspace
    change = structure.scales * (phi - near)
    cosines = unseen.T @ change / (np.linalg.norm(unseen, axis=0) * np.linalg.norm(change))
    assert np.abs(cosines).max() < 1e-9
