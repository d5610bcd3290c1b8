"""The types of messages that are read, and which of their fields is which channel.

The definitions below hold names and types of fields only, and fields that are not read as one array. They
serve bags that do not carry the definitions of their messages, as SQLite bags of Humble and before; where a
bag carries them, its own count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from steelyard.recording.bags.definition import Definition, short_type
from steelyard.recording.bags.message_layout import Path

JOINT_STATE, WRENCH = "sensor_msgs/JointState", "geometry_msgs/WrenchStamped"


class WrenchField(NamedTuple):
    """A force and a torque in a message.

    Attributes:
        prefix: first part of the names of its columns, before the frame.
        values: the field, which holds six numbers, or fields `force` and `torque`.
        frame: the field that names its frame; empty where it is the robot's base.
    """

    prefix: str
    values: str
    frame: str


@dataclass(frozen=True)
class MessageType:
    """What a type of message tells.

    Attributes:
        channels: the fields of each channel, of which the first that the type has counts.
        joints: the field that names the joints; None where they are numbered.
        named: further fields that name them, which must agree where they name any.
        stamp: fields of seconds and nanoseconds of its own time.
        others: numbers per joint that are no channel, by the first part of the column's name.
        wrench: the force and torque that it tells; None where it tells none.
        fixed: whether the definition has been the same ever since, and a bag's own is not needed.
        layouts: definitions that the type has had, the newest first.
    """

    layouts: tuple[str, ...]
    channels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    joints: str | None = None
    named: tuple[str, ...] = ()
    stamp: tuple[str, str] = ("header.stamp.sec", "header.stamp.nanosec")
    others: Mapping[str, str] = field(default_factory=dict)
    wrench: WrenchField | None = None
    fixed: bool = False


_SHARED = {
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec",
    "builtin_interfaces/Duration": "int32 sec\nuint32 nanosec",
    "std_msgs/Header": "builtin_interfaces/Time stamp\nstring frame_id",
    JOINT_STATE: (
        "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort"
    ),
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Quaternion": "float64 x\nfloat64 y\nfloat64 z\nfloat64 w",
    "geometry_msgs/Pose": "Vector3 position\nQuaternion orientation",
    "geometry_msgs/Transform": "Vector3 translation\nQuaternion rotation",
    "geometry_msgs/Twist": "Vector3 linear\nVector3 angular",
    "geometry_msgs/Wrench": "Vector3 force\nVector3 torque",
    "geometry_msgs/Inertia": "float64 m\nVector3 com\nfloat64[6] moments",
    **{
        f"geometry_msgs/{name}Stamped": f"std_msgs/Header header\n{kind} {name.lower()}"
        for name, kind in (
            ("Wrench", "Wrench"),
            ("Pose", "Pose"),
            ("Twist", "Twist"),
            ("Accel", "Twist"),
            ("Inertia", "Inertia"),
        )
    },
    "trajectory_msgs/JointTrajectoryPoint": (
        "float64[] positions\nfloat64[] velocities\nfloat64[] accelerations\nfloat64[] effort\n"
        "builtin_interfaces/Duration time_from_start"
    ),
    "trajectory_msgs/MultiDOFJointTrajectoryPoint": (
        "geometry_msgs/Transform[] transforms\ngeometry_msgs/Twist[] velocities\n"
        "geometry_msgs/Twist[] accelerations\nbuiltin_interfaces/Duration time_from_start"
    ),
    "franka_msgs/Errors": "uint8[36] flags",
    "franka_msgs/CollisionIndicators": "float64[26] flags",
    "franka_msgs/Elbow": "float64[10] states",
}


def _points(*names: str) -> str:
    return "\n".join(f"trajectory_msgs/JointTrajectoryPoint {name}" for name in names)


def _several(*names: str) -> str:
    listed = (f"trajectory_msgs/MultiDOFJointTrajectoryPoint multi_dof_{name}" for name in names)
    return "\n".join(("string[] multi_dof_joint_names", *listed))


_NOW = ("reference", "feedback", "error", "output")
_CONTROLLER = "std_msgs/Header header\nstring[] joint_names"
_LBR_HEAD = "float64 sample_time\nint8[8] states\nuint32 time_stamp_sec\nuint32 time_stamp_nano_sec"
_LBR = MessageType(
    channels={
        "q": ("measured_joint_position",),
        "tau": ("measured_torque",),
        "q_ref": ("commanded_joint_position", "ipo_joint_position"),
    },
    stamp=("time_stamp_sec", "time_stamp_nano_sec"),
    others={"external_torque": "external_torque"},
    layouts=(
        f"{_LBR_HEAD}\nfloat64[7] measured_joint_position\nfloat64[7] measured_torque\n"
        "float64[7] commanded_torque\nfloat64[7] external_torque\nfloat64[7] ipo_joint_position\n"
        "float64 tracking_performance",
        f"{_LBR_HEAD}\nfloat64[7] measured_joint_position\nfloat64[7] commanded_joint_position\n"
        "float64[7] measured_torque\nfloat64[7] commanded_torque\nfloat64[7] external_torque\n"
        "float64[7] ipo_joint_position\nfloat64 tracking_performance",
    ),
)
_ESTIMATED = "estimated_wrench"
"""An arm's own estimate from its joint torques is not called `wrench`, as what a sensor measured is."""

MESSAGE_TYPES = {
    JOINT_STATE: MessageType(
        channels={"q": ("position",), "v": ("velocity",), "tau": ("effort",)},
        joints="name",
        layouts=(_SHARED[JOINT_STATE],),
        fixed=True,
    ),
    "control_msgs/JointTrajectoryControllerState": MessageType(
        channels={
            "q": ("feedback.positions", "actual.positions"),
            "v": ("feedback.velocities", "actual.velocities"),
            "a": ("feedback.accelerations", "actual.accelerations"),
            "tau": ("feedback.effort", "actual.effort"),
            "q_ref": ("reference.positions", "desired.positions"),
            "v_ref": ("reference.velocities", "desired.velocities"),
            "a_ref": ("reference.accelerations", "desired.accelerations"),
        },
        joints="joint_names",
        layouts=(
            f"{_CONTROLLER}\n{_points(*_NOW)}\n{_several(*_NOW)}",
            f"{_CONTROLLER}\n{_points(*_NOW, 'desired', 'actual')}\n{_several(*_NOW, 'desired', 'actual')}",
            f"{_CONTROLLER}\n{_points('desired', 'actual', 'error')}",
        ),
    ),
    "franka_msgs/FrankaRobotState": MessageType(
        channels={
            "q": ("measured_joint_state.position",),
            "v": ("measured_joint_state.velocity",),
            "tau": ("measured_joint_state.effort",),
            "q_ref": ("desired_joint_state.position",),
            "v_ref": ("desired_joint_state.velocity",),
            "a_ref": ("ddq_d",),
        },
        joints="measured_joint_state.name",
        named=("desired_joint_state.name", "tau_ext_hat_filtered.name"),
        others={"external_torque": "tau_ext_hat_filtered.effort"},
        wrench=WrenchField(_ESTIMATED, "o_f_ext_hat_k.wrench", "o_f_ext_hat_k.header.frame_id"),
        layouts=(
            "std_msgs/Header header\nCollisionIndicators collision_indicators\n"
            "sensor_msgs/JointState measured_joint_state\nsensor_msgs/JointState desired_joint_state\n"
            "sensor_msgs/JointState measured_joint_motor_state\nfloat64[7] ddq_d\nfloat64[7] dtau_j\n"
            "sensor_msgs/JointState tau_ext_hat_filtered\nElbow elbow\n"
            "geometry_msgs/WrenchStamped k_f_ext_hat_k\ngeometry_msgs/WrenchStamped o_f_ext_hat_k\n"
            "geometry_msgs/InertiaStamped[3] inertias\ngeometry_msgs/PoseStamped[5] poses\n"
            "geometry_msgs/TwistStamped[3] twists\nfloat64 time\nfloat64 control_command_success_rate\n"
            "uint8 robot_mode\nErrors current_errors\nErrors last_motion_errors",
        ),
    ),
    "franka_msgs/FrankaState": MessageType(
        channels={
            "q": ("q",),
            "v": ("dq",),
            "tau": ("tau_j",),
            "q_ref": ("q_d",),
            "v_ref": ("dq_d",),
            "a_ref": ("ddq_d",),
        },
        others={"external_torque": "tau_ext_hat_filtered"},
        wrench=WrenchField(_ESTIMATED, "o_f_ext_hat_k", ""),
        layouts=(
            "std_msgs/Header header\nfloat64[12] cartesian_flags\nfloat64[7] q\nfloat64[7] q_d\n"
            "float64[7] dq\nfloat64[7] dq_d\nfloat64[7] ddq_d\nfloat64[14] motor\nfloat64[7] tau_j\n"
            "float64[7] dtau_j\nfloat64[7] tau_j_d\nfloat64[6] k_f_ext_hat_k\nfloat64[10] elbow\n"
            "float64[14] joint_flags\nfloat64[6] o_f_ext_hat_k\nfloat64[18] twists\n"
            "float64[7] tau_ext_hat_filtered\nfloat64[39] inertias\nfloat64[80] poses\n"
            "float64 time\nfloat64 control_command_success_rate\n"
            "uint8 robot_mode\nErrors current_errors\nErrors last_motion_errors",
        ),
    ),
    "lbr_fri_idl/LBRState": _LBR,
    "lbr_fri_msgs/LBRState": _LBR,
    WRENCH: MessageType(
        wrench=WrenchField("wrench", "wrench", "header.frame_id"), layouts=(_SHARED[WRENCH],), fixed=True
    ),
}
"""The types that are read, by their names."""


def known_type(name: str) -> MessageType | None:
    """Return what a type tells, or None where it is not read.

    Args:
        name: of the type, `package/Type` or `package/msg/Type`.

    Returns:
        What it tells.
    """
    return MESSAGE_TYPES.get(short_type(name))


@cache
def known_definitions(name: str) -> tuple[Definition, ...]:
    """Return the definitions that a type has had, the newest first.

    Args:
        name: of the type, `package/Type`, which is among `MESSAGE_TYPES`.

    Returns:
        The definitions.
    """
    others = "".join(f"\n{'=' * 80}\nMSG: {part}\n{text}" for part, text in _SHARED.items() if part != name)
    return tuple(Definition.read(name, text + others) for text in MESSAGE_TYPES[name].layouts)


def field_path(dotted: str) -> Path:
    """Return the names of the fields that lead to a value.

    Args:
        dotted: the same, with points between.

    Returns:
        The names.
    """
    return tuple(dotted.split("."))
