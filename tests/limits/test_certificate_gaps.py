"""Proven gaps: no position within the forms brings a pair closer, and little is lost over short ways."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oracles.random_robots import random_robot
from steelyard.enclosure import Forms
from steelyard.limits import Clearance, Scene, clearance_of
from steelyard.limits.scene import Obstacle
from steelyard.limits.stretch_margins import proven_gaps
from steelyard.pose import Pose
from steelyard.robot import Box, JointKind, Limits, Robot, Sphere
from steelyard.zoo import zoo_robot

SCENE = Scene(
    (
        Obstacle("table", Box(1.0, 0.8, 0.1), Pose.from_rpy([0.1, 0.2, 0.3], [0.3, 0.1, -0.4])),
        Obstacle("ball", Sphere(0.1), Pose.from_rpy([0, 0, 0], [0.4, -0.5, 0.5])),
    )
)


def tree(seed: int) -> Robot:
    """A random tree with turning, sliding and screwing joints."""
    robot = random_robot(np.random.default_rng(seed), bodies=5)
    screw = replace(robot.joints[1], kind=JointKind.HELICAL, pitch=0.3, limits=Limits())
    return replace(robot, joints=(robot.joints[0], screw, *robot.joints[2:]))


def clearance(seed: int) -> Clearance:
    names = ("panda", "ur10e", "scara")
    robot = zoo_robot(names[seed % 3]) if seed % 2 else tree(seed)
    return clearance_of(robot, SCENE)


@pytest.mark.parametrize("seed", range(10))
def test_no_position_within_the_forms_is_closer_than_proven(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = clearance(seed)
    nv = pairs.robot.nv
    K = 12
    q = rng.uniform(-1.5, 1.5, (K, nv))
    width = 10.0 ** rng.uniform(-4, -0.3, (K, 1))
    slope, rest = width * rng.uniform(-1, 1, (K, nv)), 0.3 * width * rng.uniform(0, 1, (K, nv))
    least, _ = proven_gaps(pairs, Forms(q, slope[..., None], rest), np.ones((K, len(pairs.pairs)), np.bool_))
    for _ in range(150):
        time = rng.choice([-1.0, 1.0, rng.uniform(-1, 1)], (K, 1))
        x = q + time * slope + rest * rng.choice([-1.0, 1.0, 0.0], (K, nv))
        assert (least <= pairs.distances(x)).all()


def test_what_is_lost_is_of_second_order_in_the_way() -> None:
    rng = np.random.default_rng(7)
    pairs = clearance_of(zoo_robot("panda"), SCENE)
    q = np.array([0, 0, 0, -1.5, 0, 1.5, 0]) + rng.uniform(-1.0, 1.0, (40, 7))
    way = rng.uniform(-1.0, 1.0, (40, 7))
    every = np.ones((40, len(pairs.pairs)), np.bool_)
    lost = []
    for h in (0.02, 0.01):
        least, _ = proven_gaps(pairs, Forms(q, h * way[..., None], np.zeros((40, 7))), every)
        closest = np.min([pairs.distances(q + s * h * way) for s in np.linspace(-1, 1, 21)], axis=0)
        lost.append(float(np.median(closest - least)))
    assert lost[0] / lost[1] > 3.0
    # At 20 mrad per joint a bound by speed alone would lose centimetres.
    assert lost[0] < 1e-3


def test_a_pair_that_was_not_asked_for_is_left_alone() -> None:
    pairs = clearance_of(zoo_robot("panda"), SCENE)
    wanted = np.zeros((2, len(pairs.pairs)), np.bool_)
    wanted[1, 3] = True
    q = Forms.between(np.zeros((2, 7)), np.full((2, 7), 1e-3))
    least, seen = proven_gaps(pairs, q, wanted)
    assert np.isfinite(least).tolist() == wanted.tolist()
    assert (least[1, 3] <= seen[1, 3]).all()
