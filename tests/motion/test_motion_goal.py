"""The goal of ROS 2's FollowJointTrajectory, read by PyYAML and run by SciPy's polynomials, is the motion."""

import shlex

import numpy as np
import yaml
from scipy.interpolate import BPoly

from steelyard.motion import (
    FourierMotion,
    MotionDeviation,
    SinusoidMotion,
    SplineMotion,
    TrajectoryGoal,
    bezier,
    slowed,
    trajectory_goal,
)

ACTION = "/arm/follow_joint_trajectory"


def everywhere(value: float) -> MotionDeviation:
    return MotionDeviation(*(np.full(2, value) for _ in range(3)))


def rest_to_rest() -> SplineMotion:
    """From rest to rest by a polynomial of degree nine, so that a quintic is off between any two points."""
    control = np.repeat([[0.1, -0.4], [1.2, 0.9], [0.4, 2.0], [-0.3, 0.1]], [3, 2, 2, 3], axis=0)
    return bezier(("a", "b 'x'"), 0.7, control.T)


def controller(goal: TrajectoryGoal) -> tuple[dict, BPoly]:
    """The message as ROS reads it, and the polynomials that ros2_controllers put through its points."""
    message = yaml.safe_load(goal.yaml(ACTION))
    assert list(message) == ["trajectory"]
    points = message["trajectory"]["points"]
    time = [p["time_from_start"]["sec"] + 1e-9 * p["time_from_start"]["nanosec"] for p in points]
    stated = [[p[name] for name in ("positions", "velocities", "accelerations")] for p in points]
    return message, BPoly.from_derivatives(time, np.array(stated), orders=5)


def test_a_controller_that_reads_the_goal_is_off_by_what_is_said() -> None:
    motion = rest_to_rest()
    goal = trajectory_goal(motion, everywhere(np.inf))
    message, path = controller(goal)
    assert message["trajectory"]["joint_names"] == list(motion.joints)
    t = np.linspace(0.0, motion.duration, 4001)
    at = motion.sample(t)
    for order, (meant, said) in enumerate(
        zip(
            (at.q, at.v, at.a),
            (goal.deviation.position, goal.deviation.velocity, goal.deviation.acceleration),
            strict=True,
        )
    ):
        run = path.derivative(order)(goal.lead + t) if order else path(goal.lead + t)
        off = np.abs(run - meant).max(axis=0)
        # Fifteen instants between two points see nearly all of it; the message counts nanoseconds.
        assert (off <= 1.05 * said + 2e-9 * 100**order).all()
        assert (off >= 0.9 * said - 2e-9 * 100**order).all()
    assert goal.deviation.largest[0] < 1e-6


def test_points_are_as_rare_as_the_motion_lets_them() -> None:
    slow = trajectory_goal(slowed(rest_to_rest(), 10.0), everywhere(np.inf))
    fast = trajectory_goal(rest_to_rest(), everywhere(np.inf))
    assert slow.rate < fast.rate
    assert slow.covered


def test_a_margin_that_is_used_up_is_not_covered_and_said() -> None:
    goal = trajectory_goal(rest_to_rest(), everywhere(0.0))
    assert not goal.covered
    assert "which no proven margins cover" in str(goal)
    assert goal.rate == 500.0
    unproven = trajectory_goal(rest_to_rest(), None)
    assert not unproven.covered
    assert unproven.rate < 500.0


def test_the_arm_rests_at_the_start_only_where_the_motion_does() -> None:
    goal = trajectory_goal(rest_to_rest(), everywhere(np.inf))
    assert goal.lead == 3.0
    _, path = controller(goal)
    assert path.x[0] == 3.0
    swinging = SinusoidMotion(("a", "b"), 4.0, *np.array([[0.0, 0.0], [0.3, 0.2], [1.0, 1.5], [0.0, 0.0]]))
    assert trajectory_goal(swinging, everywhere(np.inf)).lead == 0.0


def test_lines_for_the_shell_hold_one_goal_each() -> None:
    goal = trajectory_goal(rest_to_rest(), everywhere(np.inf))
    words = shlex.split(goal.approach(ACTION))
    assert words[:5] == ["ros2", "action", "send_goal", ACTION, "control_msgs/action/FollowJointTrajectory"]
    (point,) = yaml.safe_load(words[5])["trajectory"]["points"]
    np.testing.assert_allclose(point["positions"], goal.points.q[0], atol=1e-6)
    assert yaml.safe_load(words[5])["trajectory"]["joint_names"] == list(goal.joints)
    assert goal.send(ACTION, "my motion.goal.yaml").endswith("\"$(cat 'my motion.goal.yaml')\"")
    # Linux takes no argument beyond 128 KiB.
    long = trajectory_goal(slowed(rest_to_rest(), 2000.0), everywhere(np.inf))
    assert len(long.yaml(ACTION)) > 131_072
    assert long.send(ACTION, "goal.yaml").endswith("--stdin < goal.yaml")


def test_a_designed_motion_needs_few_points() -> None:
    sine, cosine = np.random.default_rng(4).normal(size=(2, 2, 5)) / 5
    goal = trajectory_goal(FourierMotion(("a", "b"), 10.0, np.zeros(2), sine, cosine), everywhere(1e-2))
    assert goal.covered
    assert goal.rate <= 20.0
    assert goal.deviation.largest[0] < 1e-6
