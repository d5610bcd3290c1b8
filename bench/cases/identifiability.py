"""What can be known, beside the numerical rank of random data; long chains."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from steelyard.compiled import never_interpreted
from steelyard.identifiable import exact_identifiability, structural_identifiability
from steelyard.identifiable.base_parameters import numerical_base
from steelyard.layout import Layout, layout_of
from steelyard.pose import Pose
from steelyard.robot import Joint, JointKind, Link, Robot
from steelyard.zoo import zoo_robot
from timing import Row, best

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import random_states

CHAINS = (100, 1000, 10000)


def rows() -> list[Row]:
    """Every comparison of this room, by machine code: what a program that asks often gets."""
    with never_interpreted():
        return _rows()


def _rows() -> list[Row]:
    humanoid = humanoid_tree()
    return [
        *_beside_numbers("7-joint arm", zoo_robot("panda"), 1e-3),
        *_beside_numbers("30-joint humanoid, held", humanoid, 3e-3),
        *_beside_numbers("30-joint humanoid, floating", humanoid.floating(), 3e-3),
        *_exact("7-joint arm", zoo_robot("panda"), 30e-3),
        *_exact("30-joint humanoid, held", humanoid, 200e-3),
        *_chains("planar", 0.0),
        *_chains("spatial", 0.7),
    ]


def humanoid_tree() -> Robot:
    """Thirty revolute joints: two in the waist, two legs of six, two arms of seven, two in the neck."""
    x, y, z = np.eye(3)
    leg = ((z, 0.1), (x, 0.0), (y, 0.0), (y, -0.4), (y, -0.4), (x, 0.0))
    arm = ((y, 0.2), (x, 0.0), (z, -0.1), (y, -0.2), (z, -0.2), (x, 0.0), (y, 0.0))
    waist = ((z, 0.1), (y, 0.1))
    joints: list[Joint] = []

    def limb(name: str, parent: int, side: float, steps: tuple[tuple[np.ndarray, float], ...]) -> int:
        for k, (axis, down) in enumerate(steps):
            X = Pose(np.eye(3), np.array([0.02 * k, side if k == 0 else 0.0, down]))
            joints.append(Joint(f"{name}{k}", JointKind.REVOLUTE, parent, X, axis))
            parent = len(joints) - 1
        return parent

    limb("left_leg", -1, 0.1, leg)
    limb("right_leg", -1, -0.1, leg)
    chest = limb("waist", -1, 0.0, waist)
    limb("left_arm", chest, 0.2, arm)
    limb("right_arm", chest, -0.2, arm)
    limb("neck", chest, 0.0, ((z, 0.3), (y, 0.05)))
    return Robot("humanoid", Link("pelvis"), tuple(joints), tuple(Link(joint.name) for joint in joints))


def _beside_numbers(name: str, robot: Robot, most: float) -> Iterator[Row]:
    """Count and class of every parameter; the peers find the rank alone, from four rows per column."""
    layout = layout_of(robot)
    counts = {
        structural_identifiability(robot, layout).count,
        _pinocchio_rank(robot, layout),
        numerical_base(robot, layout, np.random.default_rng(0)).count,
    }
    assert len(counts) == 1, f"the counts of {name} differ: {counts}"
    ours, pinocchio, own = best(
        lambda: structural_identifiability(robot, layout).classes,
        lambda: _pinocchio_rank(robot, layout),
        lambda: numerical_base(robot, layout, np.random.default_rng(0)),
        repeats=5,
    )
    what = f"identifiability with classes, {name}"
    note = f"{counts.pop()} of {layout.size}"
    peer = "rank of Pinocchio's regressors at random states"
    yield Row(what, ours, peer, pinocchio, least_ratio=1.0, most_seconds=most, note=note)
    yield Row(what, ours, "our own `numerical_base`", own, least_ratio=1.0, note=note)


def _exact(name: str, robot: Robot, most: float) -> Iterator[Row]:
    """Rational arithmetic: the count is a proof."""
    layout = layout_of(robot)
    count = exact_identifiability(robot, layout).count
    assert count == structural_identifiability(robot, layout).count
    (seconds,) = best(lambda: exact_identifiability(robot, layout).classes, repeats=5)
    what = f"exact identifiability with classes, {name}"
    yield Row(what, seconds, most_seconds=most, note=f"{count} of {layout.size}")


def _pinocchio_rank(robot: Robot, layout: Layout) -> int:
    samples = 4 * layout.size // robot.nv + 20
    judge = PinocchioRobot.of(robot)
    states = zip(*random_states(np.random.default_rng(0), robot, samples), strict=True)
    W = np.vstack([judge.regressor(q, v, a) for q, v, a in states])
    norms = np.linalg.norm(W, axis=0)
    alive = norms > 1e-11 * norms.max()
    R = np.linalg.qr(W[:, alive] / norms[alive], mode="r")
    singular = np.linalg.svd(R, compute_uv=False)
    return int((singular > 1e-7 * singular[0]).sum())


def long_chain(bodies: int, tilt: float) -> Robot:
    """Equal revolute joints; without tilt their axes are parallel, and no body moves in all directions."""
    X = Pose.from_rpy((tilt, 0.0, 0.3), (0.1, 0.0, 0.02))
    axis = np.array([0.0, 0.0, 1.0])
    joints = tuple(Joint(f"joint{i}", JointKind.REVOLUTE, i - 1, X, axis) for i in range(bodies))
    return Robot("chain", Link("base"), joints, tuple(Link(f"link{i}") for i in range(bodies)))


def _chains(kind: str, tilt: float) -> Iterator[Row]:
    """Time per body must not grow with the chain."""
    questions = [(robot, layout_of(robot)) for robot in (long_chain(bodies, tilt) for bodies in CHAINS)]
    tasks = [lambda r=robot, p=layout: structural_identifiability(r, p).count for robot, layout in questions]
    times = best(*tasks, repeats=4)
    for bodies, seconds, shorter in zip(CHAINS, times, (None, *times), strict=False):
        yield Row(
            f"identifiability, {kind} chain of {bodies}",
            seconds,
            "" if shorter is None else "ten chains a tenth as long",
            None if shorter is None else 10 * shorter,
            least_ratio=None if shorter is None else 0.5,
            note=f"{1e6 * seconds / bodies:.3g} µs per body",
        )
