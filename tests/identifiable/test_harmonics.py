"""What a block's vectors become as its coordinate moves, against the bodies set to many positions."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.mixed_trees import RATIOS, rotor_tree
from steelyard.arrays import Array
from steelyard.identifiable import structural_identifiability
from steelyard.identifiable.nullspace import (
    all_positions,
    most_positions,
    move_coefficients,
    move_velocity,
)
from steelyard.layout import layout_of
from steelyard.pose import Pose
from steelyard.robot import Joint, JointKind

KINDS = (JointKind.REVOLUTE, JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.HELICAL)


def _random_block(rng: np.random.Generator) -> tuple[list[Joint], Array]:
    """Two or three joints that move together, and by how much each."""
    m = int(rng.integers(2, 4))
    joints = []
    for b in range(m):
        kind = KINDS[rng.integers(len(KINDS))]
        axis = np.eye(3)[rng.integers(3)] if rng.random() < 0.5 else rng.normal(size=3)
        pitch = float(rng.uniform(-0.3, 0.3)) if kind is JointKind.HELICAL else 0.0
        axis /= np.linalg.norm(axis)
        joints.append(Joint(f"joint{b}", kind, -1, Pose(np.eye(3), np.zeros(3)), axis, pitch=pitch))
    return joints, rng.choice(RATIOS, size=m)


def _twists(joints: list[Joint], ratios: Array) -> Array:
    twists = np.zeros((len(joints), 6, 6))
    for b, (joint, ratio) in enumerate(zip(joints, ratios, strict=True)):
        slides = joint.kind is JointKind.PRISMATIC
        twists[b, 0, :3] = ratio * (1.0 if slides else joint.pitch) * joint.axis
        twists[b, 0, 3:] = 0.0 if slides else ratio * joint.axis
    return twists / np.abs(ratios).max()


def _seen_at(x: Array, joints: list[Joint], ratios: Array, q: float) -> Array:
    """What x is in the bodies' frames once the coordinate has moved by q."""
    size = x.size // len(joints)
    poses = [joint.motion(np.array([k * q])) for joint, k in zip(joints, ratios, strict=True)]
    R = np.array([pose.rotation for pose in poses])
    p = np.array([pose.translation for pose in poses])
    out = np.empty(x.size)
    for b in range(len(joints)):
        move = move_velocity if size == 6 else move_coefficients
        move(R, p, b, x[size * b : size * b + size], out, size * b)
    return out


@pytest.mark.parametrize("size", [6, 10])
@pytest.mark.parametrize("seed", range(25))
def test_the_parts_span_what_any_position_shows(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    joints, ratios = _random_block(rng)
    m = len(joints)
    x = rng.normal(size=m * size) * (rng.random(m * size) < 0.4)
    rows = np.empty((most_positions(m, size), m * size))
    count = all_positions(x, size, np.arange(m), _twists(joints, ratios), rows, 0)
    parts = rows[:count]
    seen = np.array([_seen_at(x, joints, ratios, q) for q in rng.uniform(-3.0, 3.0, 200)])
    # All that is seen lies in the span of the parts, and no part is outside of what is seen.
    for inner, outer in ((seen, parts), (parts, seen)):
        _, s, Vt = np.linalg.svd(outer)
        basis = Vt[: np.count_nonzero(s > 1e-9 * s[0])] if s[0] > 0.0 else Vt[:0]
        left = inner - inner @ basis.T @ basis
        assert np.abs(left).max() <= 1e-6 * max(1.0, np.abs(inner).max())


@pytest.mark.parametrize("seed", [5, 178, 315, 399, 470, 472])
def test_no_length_is_near_the_one_that_decides(seed: int) -> None:
    # By steps of the coordinate, these trees left up to 9e-10 where nothing should be left.
    robot = rotor_tree(np.random.default_rng(seed))
    drive = ((), ("rotor",), ("offset",), ("viscous", "coulomb", "offset", "rotor"), ("asymmetric",))
    found = structural_identifiability(robot, layout_of(robot, drive[seed % 5]))
    assert found.dropped < 1e-12
    assert found.kept > 1e-5
    assert not found.doubtful
