"""A motion as it is played: where the joints are, which torques that takes, and what share of each limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from steelyard.arrays import Array, keep_checked
from steelyard.errors import InputError
from steelyard.limits import Clearance
from steelyard.model import Model
from steelyard.motion import Motion
from steelyard.robot import Robot

RATE = 50.0
"""Poses per second of a playback, Hz: more than an eye tells apart, few enough to send."""
MOST_POSES = 3000
"""Poses of a playback; a longer motion is shown with fewer a second."""


@dataclass(frozen=True, eq=False)
class Playback:
    """A motion sampled for the eye.

    Attributes:
        joints: their names.
        time: shape (N,), s.
        q: joint positions, shape (N, nq), rad or m.
        v: joint velocities, shape (N, nv), rad/s or m/s.
        torque: by the model, shape (N, nv), N·m or N; None where the model lacks a link's inertia.
        effort: largest torque of each joint, infinite where none is stated, shape (nv,), N·m or N.
        shares: by `position`, `velocity` and `torque` the share of the limit that is used, 1 at the limit,
            zero where none is stated, shape (N, nv), dimensionless.
        clearance: least distance between watched shapes, shape (N,), m; None where none were watched.
        nearest: which pair is that near, a name for each pose; empty where none were watched.
    """

    joints: tuple[str, ...]
    time: Array
    q: Array
    v: Array
    torque: Array | None
    effort: Array
    shares: Mapping[str, Array] = field(default_factory=dict)
    clearance: Array | None = None
    nearest: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        keep_checked(self, ("N",), "time")
        N, nv = len(self.time), len(self.joints)
        keep_checked(self, (N, nv), "q", "v")
        keep_checked(self, (N, nv), "torque", optional=True)
        keep_checked(self, (nv,), "effort", finite=False)
        keep_checked(self, (N,), "clearance", optional=True)

    def sample(self, time: float) -> int:
        """The pose that is shown at a time.

        Args:
            time: s.

        Returns:
            The index of the nearest sample.
        """
        k = int(np.clip(np.searchsorted(self.time, time), 1, len(self.time) - 1))
        return k - 1 if time - self.time[k - 1] < self.time[k] - time else k

    @property
    def document(self) -> dict[str, Any]:
        """What the motion reaches, joint by joint."""
        peaks = [
            {
                "name": name,
                "torque": None if self.torque is None else float(np.abs(self.torque[:, i]).max()),
                "limit": float(self.effort[i]),
                **{f"{kind}_share": float(share[:, i].max()) for kind, share in self.shares.items()},
            }
            for i, name in enumerate(self.joints)
        ]
        return {
            "duration": float(self.time[-1]),
            "poses": len(self.time),
            "joints": peaks,
            "clearance": None if self.clearance is None else float(self.clearance.min()),
        }


def playback_of(
    robot: Robot, model: Model | None, motion: Motion, clearance: Clearance | None = None
) -> Playback:
    """Sample a motion and say what it asks of the joints.

    Args:
        robot: the robot, with its limits.
        model: whose torques are shown; None where the description does not state every link.
        motion: for the joints of the robot, in their order.
        clearance: the shapes to watch; None for none.

    Returns:
        The playback.

    Raises:
        InputError: the motion is for other joints.
        DescriptionError: a joint has not one coordinate of its own.
    """
    robot.require_arm()
    if motion.joints != robot.joint_names:
        raise InputError(
            f"it is for the joints {list(motion.joints)}, but '{robot.name}' has {list(robot.joint_names)}.",
            place="motion",
            remedy="Give the robot that it was made for (--robot).",
        )
    poses = int(np.clip(np.ceil(RATE * motion.duration), 1, MOST_POSES - 1)) + 1
    time = np.linspace(0.0, motion.duration, poses)
    # A periodic motion has its first pose again at its end.
    at = motion.sample(time)
    torque = None if model is None else model.torque(at.q, at.v, at.a)
    limits = [joint.limits for joint in robot.joints]
    effort = np.array([limit.effort for limit in limits])
    shares = {
        "position": _position_share(at.q, np.array([[limit.lower, limit.upper] for limit in limits])),
        "velocity": _share(at.v, np.array([limit.velocity for limit in limits])),
    }
    if torque is not None:
        shares["torque"] = _share(torque, effort)
    distances = None if clearance is None or not clearance.names else clearance.distances(at.q)
    return Playback(
        motion.joints,
        time,
        at.q,
        at.v,
        torque,
        effort,
        shares,
        None if distances is None else distances.min(axis=1),
        ()
        if distances is None or clearance is None
        else tuple(clearance.names[k] for k in distances.argmin(axis=1)),
    )


def _share(value: Array, largest: Array) -> Array:
    """|x| / x_max; zero without a limit, infinite where a limit of zero is left."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.abs(value) / largest
    return np.asarray(np.where(value == 0.0, 0.0, share))


def _position_share(q: Array, ends: Array) -> Array:
    """Distance from the middle of the range over half of it; zero where an end is open."""
    bounded = np.asarray(np.isfinite(ends).all(axis=1))
    lower, upper = np.where(bounded[:, None], ends, 0.0).T
    half = np.where(bounded, 0.5 * (upper - lower), np.inf)
    return _share(q - 0.5 * (lower + upper), half)
