"""Task motions carry a dumbbell around boxes: at rest at both ends, within limits, with no needless jerk.

The scenes are like experiments (a) and (b) of Zhang et al. (2025): a low and a high box between where 8 lb
are picked up and where they are placed.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pinocchio as pin
import pytest
import scipy.optimize

from oracles.pinocchio_robot import pinocchio_model
from paper_000.sampled_limits import SampledLimits
from paper_000.task_motion import TaskMotion, task_motion
from paper_000.two_pieces import TwoPieces
from steelyard.enclosure import Tracking
from steelyard.errors import InputError, NoSolutionError
from steelyard.inertia import Body
from steelyard.layout import layout_of
from steelyard.limits import MotionLimits, Scene, clearance_of
from steelyard.limits.scene import Obstacle
from steelyard.motion import quintic
from steelyard.pose import Pose
from steelyard.robot import Box, Geometry, Robot
from steelyard.zoo import zoo_robot

EIGHT_POUNDS = 8 * 0.45359237
EDGES, HANGS = np.array([0.17, 0.09, 0.09]), 0.045
HOME = np.array([0.0, 0.45, np.pi, -1.75, 0.0, -0.95, np.pi / 2])
LOW, HIGH = 0.30, 0.40
DISTANCE = 0.01


def turned(angle: float) -> np.ndarray:
    return np.array([angle, *HOME[1:]])


START, END = turned(-0.6), turned(0.6)


@cache
def gen3() -> Robot:
    place = Pose(np.eye(3), np.array([0.0, 0.0, HANGS]))
    load = Body(EIGHT_POUNDS, place.translation, np.diag([0.009, 0.009, 0.003]))
    return zoo_robot("kinova_gen3").with_body("dumbbell", load, collision=(Geometry(Box(*EDGES), place),))


def box(height: float) -> Obstacle:
    return Obstacle("box", Box(0.3, 0.08, height), Pose(np.eye(3), np.array([0.43, 0.0, height / 2])))


def limits(height: float, effort: float = 1.0) -> MotionLimits:
    robot = gen3()
    joints = (replace(j, limits=replace(j.limits, effort=effort * j.limits.effort)) for j in robot.joints)
    robot = replace(robot, joints=tuple(joints))
    layout = layout_of(robot, ("viscous", "coulomb", "rotor", "offset"))
    clearance = clearance_of(robot, Scene((box(height),)), rest=START)
    return MotionLimits(robot, clearance, layout, layout.complete_nominal(), DISTANCE)


@cache
def planned(height: float) -> TaskMotion:
    return task_motion(limits(height), START, END, np.random.default_rng(0), starts=1)


def jerk_of(motion: object, step: float = 1e-4) -> float:
    """The integral by the midpoint rule from accelerations alone."""
    edges = np.arange(0.0, 2.0 + step / 2, step)
    a = motion.sample(edges).a  # type: ignore[attr-defined]
    return float(((np.diff(a, axis=0) / step) ** 2).sum() * step)


@pytest.mark.parametrize("height", [LOW, HIGH])
def test_a_task_motion_is_certified_and_at_rest_at_both_ends(height: float) -> None:
    found = planned(height)
    assert found.certificate.motion == found.motion.digest
    assert found.certificate.robot == gen3().digest
    assert {margin.kind for margin in found.certificate.margins} >= {"velocity", "torque", "clearance"}
    ends = found.motion.sample([0.0, 2.0])
    assert (ends.q == [START, END]).all()
    assert not ends.v.any()
    assert not ends.a.any()
    assert found.motion.breaks == pytest.approx([0.0, 1.0, 2.0])


@pytest.mark.parametrize("height", [LOW, HIGH])
def test_no_point_of_the_load_comes_nearer_to_the_box_than_allowed(height: float) -> None:
    model = pinocchio_model(gen3())
    data = model.createData()
    tool = gen3().tool_frame
    grid = np.stack(np.meshgrid(*([np.linspace(-0.5, 0.5, 7)] * 3)), axis=-1).reshape(-1, 3)
    points = tool.placement.apply(grid * EDGES + [0.0, 0.0, HANGS])
    straight = quintic(gen3().joint_names, 2.0, START, END)
    nearest = {}
    for name, motion in (("straight", straight), ("planned", planned(height).motion)):
        least = np.inf
        for q in motion.sample(np.linspace(0.0, 2.0, 201)).q:
            pin.forwardKinematics(model, data, pin.integrate(model, pin.neutral(model), q))
            at = data.oMi[tool.link + 1]
            p = points @ at.rotation.T + at.translation - box(height).pose.translation
            outside = np.maximum(np.abs(p) - 0.5 * np.array([0.3, 0.08, height]), 0.0)
            least = min(least, float(np.linalg.norm(outside, axis=1).min()))
        nearest[name] = least
    assert nearest["straight"] == 0.0
    assert DISTANCE <= nearest["planned"] < DISTANCE + 0.02


@pytest.mark.parametrize("height", [LOW, HIGH])
def test_the_jerk_is_that_of_the_motion_and_any_step_towards_the_straight_one_breaks_a_limit(
    height: float,
) -> None:
    found, given = planned(height), limits(height)
    straight = quintic(gen3().joint_names, 2.0, START, END)
    assert found.jerk == pytest.approx(jerk_of(found.motion), rel=1e-4)
    assert found.straight_jerk == pytest.approx(jerk_of(straight), rel=1e-4)
    t = np.linspace(0.0, 2.0, 401)
    ours, other = found.motion.sample(t), straight.sample(t)
    smallest = []
    for share in (0.0, 0.03, 0.1, 0.5):
        mixed = [(1.0 - share) * getattr(ours, n) + share * getattr(other, n) for n in ("q", "v", "a")]
        smallest.append(given.margins(*mixed).smallest)
    assert smallest[0] >= 0.0
    assert max(smallest[1:]) < 0.0


def test_another_solver_started_there_finds_hardly_less_jerk() -> None:
    found, given = planned(LOW), limits(LOW)
    family = TwoPieces(gen3().joint_names, START, END, (1.0, 1.0))
    middle = found.motion.sample([1.0])
    x = np.stack([middle.q[0], middle.v[0], middle.a[0]], axis=1)
    assert family.jerk(x) == pytest.approx(found.jerk, rel=1e-9)
    basis = family.basis(np.linspace(0.0, 2.0, 41))

    def margins(y: np.ndarray) -> np.ndarray:
        at = family.at(basis, y.reshape(7, 3))
        m = given.margins(at.q, at.v, at.a)
        return np.concatenate(
            [m.clearance.min(axis=0), m.velocity.min(axis=(0, 2)), m.torque.min(axis=(0, 2))]
        )

    best = scipy.optimize.minimize(
        lambda y: family.jerk(y.reshape(7, 3)) / found.jerk,
        x.ravel(),
        method="SLSQP",
        constraints={"type": "ineq", "fun": margins},
        options={"maxiter": 12},
    )
    # The other one looks at 41 instants only, and may cut corners between them.
    assert best.fun > 0.93


def test_the_straight_motion_is_kept_where_it_is_within_limits() -> None:
    found = task_motion(limits(0.05), START, END, np.random.default_rng(0))
    assert found.jerk == pytest.approx(found.straight_jerk, rel=1e-12)
    straight = quintic(gen3().joint_names, 2.0, START, END)
    t = np.linspace(0.0, 2.0, 21)
    assert found.motion.sample(t).q == pytest.approx(straight.sample(t).q, abs=1e-12)


def test_less_torque_costs_more_jerk_and_is_kept_with_uncertain_parameters() -> None:
    given = limits(LOW, effort=0.76)
    spread = 0.01 * np.abs(given.parameters)
    found = task_motion(given, START, END, np.random.default_rng(0), starts=1, uncertainty=spread)
    assert found.jerk > planned(LOW).jerk
    t = np.linspace(0.0, 2.0, 401)
    s = found.motion.sample(t)
    for sign in (-1.0, 1.0):
        other = MotionLimits(given.robot, None, given.layout, given.parameters + sign * spread)
        assert other.margins(s.q, s.v, s.a).torque.min() >= 0.0


def test_a_robot_that_does_not_track_perfectly_stays_further_away() -> None:
    tracking = Tracking(np.full(7, 2e-3), np.full(7, 0.02), np.full(7, 0.1))
    found = task_motion(limits(LOW), START, END, np.random.default_rng(0), starts=1, tracking=tracking)
    assert found.certificate.assumptions.tracking is tracking
    assert found.jerk > planned(LOW).jerk


def test_slopes_of_all_limits_are_differences() -> None:
    given, rng = limits(LOW), np.random.default_rng(5)
    family = TwoPieces(given.robot.joint_names, START, END, (1.0, 0.7))
    sampled = SampledLimits(given, family, np.linspace(0.0, 1.7, 12))
    x = family.straight + 0.2 * rng.standard_normal((7, 3))
    d = 1e-6 * rng.standard_normal((7, 3))
    m, G = sampled.linearised(x, 1e9)
    above, below = sampled.linearised(x + d, 1e9)[0], sampled.linearised(x - d, 1e9)[0]
    assert len(above) == len(below) == len(m) > 500
    close = np.abs((above - below) - 2.0 * G @ d.ravel()) < 1e-10 + 1e-4 * np.abs(above - below)
    # Distances have kinks, which a difference may straddle.
    assert close.mean() > 0.995


def test_what_cannot_be_is_refused_with_the_limit_that_is_missed() -> None:
    given, rng = limits(LOW), np.random.default_rng(0)
    with pytest.raises(NoSolutionError, match=r"missed the velocity of gen3_joint_1 by .* rad/s") as refused:
        task_motion(given, turned(-1.5), turned(1.5), rng, starts=1)
    # Over 3 rad in 2 s the mean speed alone is 1.5 rad/s.
    assert refused.value.evidence["margin"] <= 1.3963 - 1.5
    with pytest.raises(NoSolutionError, match=r"end: standing there misses the clearance of .* box 'box'"):
        task_motion(given, START, HOME, rng)
    with pytest.raises(NoSolutionError, match="start: standing there misses the torque of gen3_joint_2"):
        task_motion(limits(LOW, effort=0.5), START, END, rng)
    with pytest.raises(InputError, match="starts: must be at least 1"):
        task_motion(given, START, END, rng, starts=0)
