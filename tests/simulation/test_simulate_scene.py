"""Scenes: an arm that would strike has no log, and one that does not says how close it came."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.newton_euler import world_poses
from steelyard.drive import Drive
from steelyard.errors import InputError, NoSolutionError
from steelyard.inertia import Body
from steelyard.limits import Scene, clearance_of
from steelyard.limits.scene import Obstacle
from steelyard.motion import random_fourier
from steelyard.pose import Pose
from steelyard.recording import Recording
from steelyard.robot import Geometry, Joint, JointKind, Limits, Link, Robot, Sphere
from steelyard.simulation import simulate_motion

RADIUS, REACH = 0.05, 0.4


def lever() -> Robot:
    """A ball on a weightless rod, turning in the plane."""
    ball = Geometry(Sphere(RADIUS), Pose(np.eye(3), np.array([REACH, 0.0, 0.0])))
    body = Body(1.0, np.array([REACH, 0.0, 0.0]), 0.01 * np.eye(3))
    limits = Limits(-3.0, 3.0, 4.0, 20.0, 50.0)
    joint = Joint(
        "hinge", JointKind.REVOLUTE, -1, Pose.identity(), np.array([0.0, 0.0, 1.0]), limits, Drive()
    )
    return Robot("lever", Link("base"), (joint,), (Link("arm", body, collision=(ball,)),))


ROBOT = lever()
MOTION = random_fourier(ROBOT, np.random.default_rng(0))


def run(scene: Scene, **options: object) -> Recording:
    return simulate_motion(ROBOT, MOTION, duration=2.0, clearance=clearance_of(ROBOT, scene), **options)  # type: ignore[arg-type]


def standing(angle: float, reach: float) -> Scene:
    """A ball of the same size in the plane."""
    place = reach * np.array([np.cos(angle), np.sin(angle), 0.0])
    return Scene((Obstacle("post", Sphere(RADIUS), Pose(np.eye(3), place)),))


def by_hand(scene: Scene, q: np.ndarray) -> np.ndarray:
    """Distances between the two balls, (N,), m."""
    centres = []
    for x in q:
        R, p = world_poses(ROBOT, x)[0]
        centres.append(p + R @ [REACH, 0.0, 0.0])
    return np.linalg.norm(np.array(centres) - scene.obstacles[0].pose.translation, axis=1) - 2 * RADIUS


def test_the_nearest_approach_is_that_of_the_logged_path() -> None:
    scene = standing(0.3, REACH + 2 * RADIUS + 0.07)
    log = run(scene)
    told = log.provenance[0].detail["nearest_approach"]
    gaps = by_hand(scene, log.q)
    assert told["distance"] == pytest.approx(gaps.min(), abs=1e-9)
    assert told["time"] == pytest.approx(log.time[np.argmin(gaps)], abs=1.1e-3)
    assert "post" in told["pair"]


def test_an_arm_that_strikes_has_no_log_and_says_when() -> None:
    free = run(Scene())
    turned = free.q[:, 0]
    scene = standing(float(turned.max()), REACH)
    first = float(free.time[np.flatnonzero(by_hand(scene, free.q) < 0.0)[0]])
    with pytest.raises(
        NoSolutionError, match=r"the arm strikes at .* s: arm – sphere 'post' overlap by"
    ) as caught:
        run(scene)
    assert caught.value.evidence["time"] == pytest.approx(first, abs=1.1e-3)


def test_who_watches_does_not_change_the_run() -> None:
    log, free = run(standing(0.0, 2.0)), simulate_motion(ROBOT, MOTION, duration=2.0)
    np.testing.assert_array_equal(log.q, free.q)
    assert "nearest_approach" not in free.provenance[0].detail


def test_slow_logs_are_watched_at_every_cycle() -> None:
    scene = standing(0.3, REACH + 2 * RADIUS + 0.07)
    fine, coarse = run(scene), run(scene, rate=10.0)
    gaps = [log.provenance[0].detail["nearest_approach"]["distance"] for log in (fine, coarse)]
    assert gaps[1] == pytest.approx(gaps[0], abs=1e-6)
    assert by_hand(scene, coarse.q).min() > gaps[1] + 1e-6


def test_the_clearance_of_another_robot_is_refused() -> None:
    with pytest.raises(InputError, match="clearance: it is for another robot than 'lever'"):
        simulate_motion(ROBOT, MOTION, clearance=clearance_of(ROBOT.mounted(Pose.from_rpy([0.3, 0.0, 0.0]))))
