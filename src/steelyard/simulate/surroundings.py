"""What a simulated arm would have run into."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError, NoSolutionError
from steelyard.limits import Clearance
from steelyard.robot import Robot


def check_clearance_belongs(robot: Robot, clearance: Clearance) -> None:
    """Refuse a clearance that was made for another robot.

    Args:
        robot: the robot that runs.
        clearance: what it must keep apart.

    Raises:
        InputError: the robots differ.
    """
    if clearance.robot.digest != robot.digest:
        raise InputError(
            f"it is for another robot than '{robot.name}' as it runs here.",
            place="clearance",
            remedy="Make it with clearance_of(robot, scene).",
        )


def nearest_approach(clearance: Clearance, path: Array, cycle: float) -> dict[str, object]:
    """How close the arm came to anything, or where it would have struck.

    The plant knows no contact, so an arm that strikes has no log: what would follow is unknown.

    Args:
        clearance: the pairs that must stay apart.
        path: true positions at every cycle, shape (n, nv), rad or m.
        cycle: length of a cycle, s.

    Returns:
        The smallest distance in m under `distance`, its `pair` and its `time` in s; empty without pairs.

    Raises:
        NoSolutionError: a pair overlaps; names the first one, and when.
    """
    if not clearance.pairs:
        return {}
    distances = clearance.distances(path)
    struck = np.flatnonzero((distances < 0.0).any(axis=1))
    sample = int(struck[0]) if struck.size else int(np.argmin(distances.min(axis=1)))
    pair = int(np.argmin(distances[sample]))
    name, distance, time = clearance.names[pair], float(distances[sample, pair]), sample * cycle
    if struck.size:
        raise NoSolutionError(
            f"the arm strikes at {time:.4g} s: {name} overlap by {-1e3 * distance:.3g} mm.",
            place="simulation",
            remedy="Choose another motion, or move what stands in its way.",
            evidence={"time": time, "pair": name, "distance": distance},
        )
    return {"distance": distance, "pair": name, "time": time}
