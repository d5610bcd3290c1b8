"""The goal that `steelyard excite` writes: read and checked before anything moves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import yaml


class GoalError(Exception):
    """A goal cannot be played."""


@dataclass(frozen=True)
class Point:
    """Where the arm is to be, and when.

    Attributes:
        positions: of the joints, rad or m.
        velocities: rad/s or m/s.
        accelerations: rad/s² or m/s².
        seconds: whole seconds from the start.
        nanoseconds: beyond them.
    """

    positions: tuple[float, ...]
    velocities: tuple[float, ...]
    accelerations: tuple[float, ...]
    seconds: int
    nanoseconds: int


@dataclass(frozen=True)
class Goal:
    """Points for named joints.

    Attributes:
        joints: their names.
        points: in the order of time.
    """

    joints: tuple[str, ...]
    points: tuple[Point, ...]

    @classmethod
    def read(cls, path: Path) -> Goal:
        """Read a `.goal.yaml` file.

        Raises:
            GoalError: it is not one; the message says where.
        """
        try:
            trajectory = yaml.safe_load(path.read_text(encoding="utf-8"))["trajectory"]
            joints = tuple(str(name) for name in trajectory["joint_names"])
            points = tuple(_point(point, len(joints)) for point in trajectory["points"])
        except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError) as error:
            raise GoalError(f"{path}: is no goal of excite: {error!r}") from error
        times = [(point.seconds, point.nanoseconds) for point in points]
        if len(points) < 2 or any(after <= before for before, after in pairwise(times)):
            raise GoalError(f"{path}: needs two points or more whose times increase")
        return cls(joints, points)

    def approach(self, seconds: float) -> Goal:
        """A goal that brings the arm to the first point and lets it rest there.

        Args:
            seconds: how long it takes, s.
        """
        still = (0.0,) * len(self.joints)
        whole = math.floor(seconds)
        point = Point(self.points[0].positions, still, still, whole, round(1e9 * (seconds - whole)))
        return Goal(self.joints, (point,))

    def farthest(self, positions: Mapping[str, float]) -> tuple[str, float]:
        """The joint that stands farthest from the first point, and how far, rad or m.

        Args:
            positions: where the joints are, by name, rad or m.

        Raises:
            GoalError: nobody says where one of them is.
        """
        missing = [name for name in self.joints if not math.isfinite(positions.get(name, math.nan))]
        if missing:
            raise GoalError(f"nobody says where joint '{missing[0]}' is; it has {', '.join(positions)}")
        off = {
            name: abs(positions[name] - start)
            for name, start in zip(self.joints, self.points[0].positions, strict=True)
        }
        return max(off.items(), key=lambda item: item[1])


def _point(given: Mapping[str, object], count: int) -> Point:
    rows = [tuple(float(x) for x in given[name]) for name in ("positions", "velocities", "accelerations")]  # type: ignore[attr-defined]
    if any(len(row) != count or not all(map(math.isfinite, row)) for row in rows):
        raise ValueError(f"a point needs {count} finite positions, velocities and accelerations")
    time = given["time_from_start"]
    return Point(*rows, int(time["sec"]), int(time["nanosec"]))  # type: ignore[index]
