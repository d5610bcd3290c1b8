"""`Evidence`: motions and the torques measured along them, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError, RecordingError
from steelyard.problem.on_demand import OnDemand
from steelyard.recording import Recording
from steelyard.robot import Robot


def _no_accelerations(evidence: Evidence) -> Array:
    raise RecordingError(
        "has no a, without which there are no torque equations.",
        place="evidence",
        remedy="Differentiate the recordings and pose the problem with them, or use --method momentum.",
    )


class _Motion:
    """What a motion may be known without; inherited, so that `a` stays a required field before others."""

    a: Any = OnDemand(_no_accelerations)


@dataclass(frozen=True, eq=False)
class Evidence(_Motion):
    """Samples of one or several motions; time starts anew with each.

    Attributes:
        time: when, shape (N,), s.
        q: joint positions, shape (N, nq), rad or m.
        v: joint velocities, shape (N, nv), rad/s or m/s.
        a: joint accelerations, shape (N, nv), rad/s² or m/s²; built as None where they are not known, and
            then whoever reads them gets a RecordingError.
        tau: joint torques, shape (N, nv), N·m or N.
        starts: first sample of each motion, the first being 0.
        digests: digest of the recording of each motion.
    """

    time: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    starts: tuple[int, ...]
    digests: tuple[str, ...]

    def __post_init__(self) -> None:
        n = len(checked("time", self.time, ("N",)))
        for name in ("time", "q", "v", "a", "tau"):
            if name == "a" and not self.accelerated:
                continue
            shape = ("N",) if name == "time" else ("N", "n")
            array = checked(name, getattr(self, name), shape)
            if len(array) != n:
                raise InputError(f"has {len(array)} samples, time has {n}.", place=name)
            object.__setattr__(self, name, read_only(array))
        ends = (*self.starts[1:], n)
        if self.starts[:1] != (0,) or any(a >= b for a, b in zip(self.starts, ends, strict=True)):
            raise InputError(f"{self.starts} are no starts of motions of {n} samples.", place="starts")

    @property
    def accelerated(self) -> bool:
        """Whether accelerations are known."""
        return self.__dict__["a"] is not None

    @property
    def n(self) -> int:
        """Number of samples N."""
        return len(self.time)

    @property
    def motions(self) -> Iterator[slice]:
        """The samples of each motion."""
        return (slice(a, b) for a, b in zip(self.starts, (*self.starts[1:], self.n), strict=True))

    @property
    def blocks(self) -> Iterator[tuple[Array, Array, Array, Array]]:
        """q, v, a and tau of each motion, as `compress` takes them."""
        a = self.a
        return ((self.q[part], self.v[part], a[part], self.tau[part]) for part in self.motions)


def evidence_of(robot: Robot, recordings: Sequence[Recording], *, accelerations: bool = True) -> Evidence:
    """The channels torque identification needs, of one or several recordings.

    Args:
        robot: the robot that moved.
        recordings: its logs; each needs q, v, a and tau of the robot's joints.
        accelerations: whether a is needed; where it is not, it is left out even if it was recorded.

    Returns:
        The evidence.

    Raises:
        InputError: there is no recording, or one is of other joints.
        RecordingError: a channel was not recorded.
    """
    if not recordings:
        raise InputError("at least one is needed.", place="recordings")
    joints = tuple(joint.name for joint in robot.joints if joint.nv)
    needed = ("q", "v", "a", "tau") if accelerations else ("q", "v", "tau")
    for recording in recordings:
        if recording.joints != joints:
            raise InputError(
                f"the recording has joints {list(recording.joints)}, the robot {list(joints)}.",
                place="recording",
                remedy="Rename or reorder the recording's joints.",
            )
        if missing := [name for name in needed if name not in recording.channels]:
            raise RecordingError(
                f"has no {', '.join(missing)}.",
                place="recording",
                remedy="These channels are needed to identify."
                + (" Only --method momentum does without a." if missing == ["a"] else ""),
            )
    starts = np.cumsum([0, *(recording.n for recording in recordings)])[:-1]
    joined: dict[str, Any] = {"a": None}
    joined |= {name: np.concatenate([log.channels[name] for log in recordings]) for name in needed}
    return Evidence(
        np.concatenate([recording.time for recording in recordings]),
        joined["q"],
        joined["v"],
        joined["a"],
        joined["tau"],
        tuple(int(s) for s in starts),
        tuple(recording.digest for recording in recordings),
    )
