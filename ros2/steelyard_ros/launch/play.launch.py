"""Play a goal of `steelyard excite` and record its log; `--show-args` lists what can be said."""

from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchDescription

# Name, default (None where it must be given), type, and what it is.
ARGUMENTS = (
    ("goal", None, str, "The .goal.yaml file of excite."),
    ("out", None, str, "The log to write, .csv."),
    ("action", "/joint_trajectory_controller/follow_joint_trajectory", str, "The action that runs the goal."),
    ("topic", "/joint_states", str, "The topic of joint states to record."),
    ("tolerance", "0.02", float, "How far from the start the arm may stand, rad or m."),
    ("approach", "0.0", float, "Seconds in which the controller brings it to the start; 0 for not at all."),
)


def generate_launch_description() -> LaunchDescription:
    """The node, with its parameters as arguments."""
    declared = [
        DeclareLaunchArgument(
            name, description=what, **({} if default is None else {"default_value": default})
        )
        for name, default, _, what in ARGUMENTS
    ]
    parameters = {
        name: ParameterValue(LaunchConfiguration(name), value_type=kind) for name, _, kind, _ in ARGUMENTS
    }
    node = Node(package="steelyard_ros", executable="play", output="screen", parameters=[parameters])
    return LaunchDescription([*declared, node])
