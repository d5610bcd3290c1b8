"""Bounds of the mass matrix over poses and a box of parameters, judged by Pinocchio's at random ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import link_parameters
from steelyard.consistency.mass_matrix import inertia_bounds
from steelyard.drive import Drive
from steelyard.errors import InputError, NoSolutionError
from steelyard.layout import layout_of
from steelyard.robot import Robot
from steelyard.zoo import zoo_robot


def poses(robot: Robot, rng: np.random.Generator, count: int) -> np.ndarray:
    lower = np.maximum(robot.limit_array("lower"), -np.pi)
    return rng.uniform(lower, np.minimum(robot.limit_array("upper"), np.pi), (count, robot.nv))


def eigenvalues(robot: Robot, links: np.ndarray, rotor: np.ndarray, q: np.ndarray) -> np.ndarray:
    judge = PinocchioRobot.of(robot, links)
    return np.array([np.linalg.eigvalsh(judge.mass_matrix(at) + np.diag(rotor)) for at in q])


@pytest.mark.parametrize("name", ["kinova_gen3", "panda", "scara", "two_link"])
def test_no_possible_arm_of_the_box_is_lighter_or_heavier_than_said(name: str) -> None:
    robot, rng = zoo_robot(name), np.random.default_rng(1)
    rotors = rng.uniform(0.05, 3.0, robot.nv)
    joints = [replace(j, drive=Drive(rotor=x)) for j, x in zip(robot.joints, rotors, strict=True)]
    robot = replace(robot, joints=tuple(joints))
    layout = layout_of(robot, ["rotor"])
    phi = layout.complete_nominal()
    bounds = inertia_bounds(robot, layout, phi, 0.1 * np.abs(phi))
    seen = np.concatenate(
        [
            eigenvalues(robot, s * link_parameters(robot), s * rotors, poses(robot, rng, 60))
            for s in (0.9, 1.1)
        ]
    )
    assert bounds.smallest <= seen.min()
    assert bounds.smallest == pytest.approx(0.9 * rotors.min())
    assert seen.max() <= bounds.largest <= 12 * seen.max()


def test_a_bound_at_the_centre_survives_what_the_box_takes() -> None:
    # Any vector of the box, possible or not.
    robot, rng = zoo_robot("two_link"), np.random.default_rng(2)
    layout = layout_of(robot)
    phi = layout.complete_nominal()
    half = 1e-3 * np.abs(phi)
    centre = eigenvalues(robot, phi.reshape(-1, 10), np.zeros(2), poses(robot, rng, 500)).min()
    bounds = inertia_bounds(robot, layout, phi, half, possible_links=False, proven=0.99 * centre)
    for _ in range(20):
        theta = phi + half * rng.choice([-1, 1], phi.size)
        seen = eigenvalues(robot, theta.reshape(-1, 10), np.zeros(2), poses(robot, rng, 20))
        assert bounds.smallest <= seen.min()
        assert seen.max() <= bounds.largest
    assert 0.5 * centre < bounds.smallest < centre
    assert "the box takes" in bounds.sentence


def test_the_better_of_two_lower_bounds_counts() -> None:
    robot = zoo_robot("kinova_gen3")
    layout = layout_of(robot, ["rotor"])
    phi = layout.complete_nominal()
    zero = np.zeros(layout.size)
    assert inertia_bounds(robot, layout, phi, zero).smallest == pytest.approx(0.04)
    assert inertia_bounds(robot, layout, phi, zero, proven=0.041).smallest == pytest.approx(0.041)
    assert inertia_bounds(robot, layout, phi, zero, proven=0.001).smallest == pytest.approx(0.04)


def test_an_arm_without_rotors_is_refused_by_the_joint_that_lacks_one() -> None:
    robot = zoo_robot("kinova_gen3")
    layout = layout_of(robot)
    phi = layout.complete_nominal()
    with pytest.raises(NoSolutionError, match="State a rotor inertia for 'gen3_joint_1'"):
        inertia_bounds(robot, layout, phi, 0.05 * np.abs(phi))
    with pytest.raises(InputError, match="half_widths: must not be negative"):
        inertia_bounds(robot, layout, phi, -np.abs(phi))
