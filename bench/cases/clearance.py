"""Signed distances beside Coal, called from Python pair by pair."""

from __future__ import annotations

import coal
import numpy as np

from steelyard.dynamics import forward_kinematics
from steelyard.limits import clearance_of
from steelyard.robot import Capsule
from steelyard.zoo import zoo_robot
from timing import Row, best

SAMPLES = 200


def rows() -> list[Row]:
    """Self-clearance of an arm made of capsules, with gradients on our side only."""
    robot = zoo_robot("ur10e")
    clearance = clearance_of(robot)
    q = np.random.default_rng(0).uniform(-3.0, 3.0, (SAMPLES, robot.nv))
    shapes = {}
    for index, link in enumerate(robot.links):
        for k, item in enumerate(link.collision):
            title = link.name if len(link.collision) == 1 else f"{link.name}[{k}]"
            assert isinstance(item.shape, Capsule)
            shapes[title] = index, coal.Capsule(item.shape.radius, item.shape.length), item.pose.matrix
    X = forward_kinematics(robot, q)
    request, result = coal.DistanceRequest(), coal.DistanceResult()

    def theirs() -> np.ndarray:
        distances = np.empty((SAMPLES, len(clearance.pairs)))
        for n in range(SAMPLES):
            placed = {}
            for title, (link, shape, local) in shapes.items():
                Y = X[n, link] @ local
                placed[title] = shape, coal.Transform3s(Y[:3, :3], Y[:3, 3])
            for k, pair in enumerate(clearance.pairs):
                first, second = placed[pair.first.title], placed[pair.second.title]
                result.clear()
                distances[n, k] = coal.distance(*first, *second, request, result)
        return distances

    assert np.abs(theirs() - clearance.distances(q)).max() < 1e-6
    peer = "Coal, one call from Python per pair, links placed beforehand"
    name = f"{len(clearance.pairs)} self-distances, UR10e, {SAMPLES} samples"
    ours, coals = best(lambda: clearance.distances(q), theirs, repeats=3)
    both, again = best(lambda: clearance.gradients(q), theirs, repeats=3)
    note = "Coal gives no gradients"
    return [Row(name, ours, peer, coals), Row(f"{name}, with gradients", both, peer, again, note=note)]
