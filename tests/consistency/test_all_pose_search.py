"""Low poses: slopes by finite differences of Pinocchio's mass matrix, minima by a grid."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import link_parameters, random_robot
from steelyard.consistency.pose_search import PoseDomain, arm_of, lowest, lowest_pose, sample_poses
from steelyard.errors import DescriptionError, InputError
from steelyard.layout import layout_of
from steelyard.robot import Robot
from steelyard.zoo import zoo_robot


def arms() -> list[Robot]:
    tree = random_robot(np.random.default_rng(1), bodies=6, shapes=("solid",))
    return [zoo_robot("panda"), zoo_robot("scara"), tree]


@pytest.mark.parametrize("robot", arms(), ids=lambda robot: robot.name)
def test_the_slope_is_that_of_pinocchios_smallest_eigenvalue(robot: Robot) -> None:
    rng, n = np.random.default_rng(0), robot.nv
    bodies, rotors = link_parameters(robot), rng.uniform(0.0, 0.1, n)
    judge, arm = PinocchioRobot.of(robot, bodies), arm_of(robot)

    def smallest(q: np.ndarray) -> float:
        return float(np.linalg.eigvalsh(judge.mass_matrix(q) + np.diag(rotors))[0])

    for q in rng.uniform(-1, 1, (3, n)):
        slope = np.empty(n)
        assert lowest(arm, bodies, rotors, q, slope) == pytest.approx(smallest(q), rel=1e-10)
        steps = 1e-5 * np.eye(n)
        differences = [(smallest(q + step) - smallest(q - step)) / 2e-5 for step in steps]
        np.testing.assert_allclose(slope, differences, atol=1e-8)


def test_the_search_finds_the_lowest_of_a_grid_and_a_little_less() -> None:
    robot = zoo_robot("two_link")
    layout = layout_of(robot, ["rotor"])
    phi = layout.complete_nominal()
    phi[layout.index(f"{robot.links[1].name}.mz")] *= 1.3
    judge = PinocchioRobot.of(robot, phi[:20].reshape(2, 10))
    poses = np.column_stack([np.zeros(721), np.linspace(-np.pi, np.pi, 721)])
    grid = min(np.linalg.eigvalsh(judge.mass_matrix(q) + np.diag(phi[20:]))[0] for q in poses)
    found = lowest_pose(robot, layout, phi, PoseDomain.every(robot), np.random.default_rng(0), starts=4)
    assert grid - 1e-5 * abs(grid) <= found.value <= grid + 1e-9
    M = judge.mass_matrix(found.pose) + np.diag(phi[20:])
    assert found.direction @ M @ found.direction == pytest.approx(found.value, rel=1e-9)


def test_a_search_is_never_above_a_sample_of_the_same_box_and_stays_inside() -> None:
    robot = zoo_robot("crane_x7")
    layout = layout_of(robot, ["rotor"])
    phi = layout.complete_nominal()
    lower, upper = np.full(7, -np.pi / 2), np.full(7, np.pi / 2)
    lower[3], upper[3] = -np.pi, 0.0
    box = PoseDomain(lower, upper)
    sampled = sample_poses(robot, layout, phi, box, 20000, np.random.default_rng(1))
    found = lowest_pose(robot, layout, phi, box, np.random.default_rng(2))
    everywhere = lowest_pose(robot, layout, phi, PoseDomain.every(robot), np.random.default_rng(3))
    assert everywhere.value <= found.value + 1e-12 <= sampled.value + 2e-12
    for low in (sampled, found):
        assert (low.pose >= lower - 1e-12).all()
        assert (low.pose <= upper + 1e-12).all()
    judge = PinocchioRobot.of(robot, link_parameters(robot))
    poses = box.draw(300, np.random.default_rng(4))
    rotors = np.diag(phi[70:])
    drawn = [np.linalg.eigvalsh(judge.mass_matrix(q) + rotors)[0] for q in poses]
    few = sample_poses(robot, layout, phi, box, 300, np.random.default_rng(4))
    assert few.value == pytest.approx(min(drawn), rel=1e-10)
    assert found.value <= min(drawn)


def test_a_joint_that_couples_with_none_does_not_hide_the_others() -> None:
    # Its eigenvalue is the same at every pose, so where it is the smallest there is no slope to follow.
    robot, arm = zoo_robot("crane_x7_hand"), zoo_robot("crane_x7")
    layout, layout_arm = layout_of(robot, ["rotor"]), layout_of(arm, ["rotor"])
    phi, rng = layout_arm.complete_nominal(), np.random.default_rng(0)
    phi[70:] *= 0.2
    alone = lowest_pose(arm, layout_arm, phi, PoseDomain.every(arm), rng)
    drawn = sample_poses(arm, layout_arm, phi, PoseDomain.every(arm), 1000, rng)
    hand = 0.5 * (alone.value + drawn.value)
    assert alone.value < 0.999 * hand
    both = np.concatenate([phi[:70], np.zeros(10), phi[70:], [hand]])
    found = lowest_pose(robot, layout, both, PoseDomain.every(robot), rng)
    assert found.value == pytest.approx(alone.value, rel=1e-6)


def test_a_domain_needs_two_ends_in_order() -> None:
    with pytest.raises(InputError, match="two ends"):
        PoseDomain(np.array([0.0, 1.0]), np.array([1.0, 0.0]))
    with pytest.raises(InputError, match="two ends"):
        PoseDomain(np.array([-np.inf]), np.array([1.0]))


def test_floating_robots_are_refused() -> None:
    with pytest.raises(DescriptionError, match="floating"):
        arm_of(zoo_robot("panda").floating())
