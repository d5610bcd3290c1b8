"""The node: brings the arm to the start where it may, plays the goal, and records what the joints do."""

from __future__ import annotations

import sys
from pathlib import Path

import rclpy
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectoryPoint

from steelyard_ros.goal import Goal, GoalError
from steelyard_ros.log import JointLog

WAIT = 10.0
"""How long a server and a first joint state may take, s."""


class Player(Node):
    """Plays one goal and records what the joints did."""

    def __init__(self) -> None:
        super().__init__("steelyard_play")
        for name, default in (("goal", ""), ("out", ""), ("topic", "/joint_states"), ("tolerance", 0.02)):
            self.declare_parameter(name, default)
        self.declare_parameter("action", "/joint_trajectory_controller/follow_joint_trajectory")
        self.declare_parameter("approach", 0.0)
        self.out = Path(self.get_parameter("out").value)
        if self.out.suffix != ".csv":
            raise GoalError(f"out: a log ends in .csv, got '{self.out}'")
        self.goal = Goal.read(Path(self.get_parameter("goal").value))
        self.log = JointLog(self.goal.joints)
        self._latest: dict[str, float] = {}
        self._client = ActionClient(self, FollowJointTrajectory, self.get_parameter("action").value)
        self.create_subscription(
            JointState, self.get_parameter("topic").value, self._heard, qos_profile_sensor_data
        )
        self._recording = False

    def _heard(self, message: JointState) -> None:
        self._latest.update(zip(message.name, message.position, strict=False))
        if self._recording:
            stamp = message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
            self.log.add(stamp, message.name, message.position, message.velocity, message.effort)

    def play(self) -> None:
        """Play the goal from its start.

        Raises:
            GoalError: the arm is not there, or the controller refuses or gives up; the log is written.
        """
        if not self._client.wait_for_server(timeout_sec=WAIT):
            raise GoalError(f"no action server at {self.get_parameter('action').value}")
        approach = float(self.get_parameter("approach").value)
        if approach > 0.0:
            self._run(self.goal.approach(approach))
        self._require_start()
        self._recording = True
        try:
            self._run(self.goal)
        finally:
            self._recording = False
            if len(self.log) > 1:
                self.log.write(self.out)
                self.get_logger().info(
                    f"{len(self.log)} joint states in {self.out}, {self.log.passed} passed over"
                )

    def _require_start(self) -> None:
        deadline = self.get_clock().now().nanoseconds + int(WAIT * 1e9)
        self._latest.clear()
        while not set(self.goal.joints) <= set(self._latest):
            rclpy.spin_once(self, timeout_sec=0.1)
            if self.get_clock().now().nanoseconds > deadline:
                break
        joint, off = self.goal.farthest(self._latest)
        if off > float(self.get_parameter("tolerance").value):
            raise GoalError(
                f"joint '{joint}' stands {off:.3g} from the start of the motion; bring the arm there, or let "
                "the controller do it with approach:=10.0 where the way is free"
            )

    def _run(self, goal: Goal) -> None:
        request = FollowJointTrajectory.Goal()
        request.trajectory.joint_names = list(goal.joints)
        for point in goal.points:
            made = JointTrajectoryPoint(
                positions=list(point.positions),
                velocities=list(point.velocities),
                accelerations=list(point.accelerations),
            )
            made.time_from_start.sec, made.time_from_start.nanosec = point.seconds, point.nanoseconds
            request.trajectory.points.append(made)
        sending = self._client.send_goal_async(request)
        rclpy.spin_until_future_complete(self, sending)
        handle = sending.result()
        if not handle.accepted:
            raise GoalError("the controller refused the goal")
        ending = handle.get_result_async()
        try:
            rclpy.spin_until_future_complete(self, ending)
        except KeyboardInterrupt:
            # Whoever stops the node wants the arm to stop.
            rclpy.spin_until_future_complete(self, handle.cancel_goal_async(), timeout_sec=1.0)
            raise
        done = ending.result()
        if done.status != GoalStatus.STATUS_SUCCEEDED:
            raise GoalError(f"the controller gave up: {done.result.error_string or done.status}")


def main() -> None:
    """Start the node; exit code 1 where the goal was not played to its end."""
    rclpy.init()
    code = 0
    try:
        node = Player()
        node.play()
    except GoalError as error:
        rclpy.logging.get_logger("steelyard_play").error(str(error))
        code = 1
    except KeyboardInterrupt:
        code = 130
    finally:
        rclpy.try_shutdown()
    sys.exit(code)
