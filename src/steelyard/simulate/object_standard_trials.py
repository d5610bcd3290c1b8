"""One drop, one push and one swing that suit the size and weight of an asset."""

from __future__ import annotations

import numpy as np

from steelyard.files import FilePath
from steelyard.pose import Pose
from steelyard.robot import STANDARD_GRAVITY
from steelyard.simulate.object_scene import object_scene
from steelyard.simulate.object_trials import Drop, Push, Swing, Trial

CLEARANCE = 0.1
"""How far above the floor nothing of a dropped object reaches down, m."""
TILT = (0.4, 0.3, 0.2)
"""Roll, pitch and yaw in which an object is dropped, rad: nothing that is square to its axes lands flat."""
PULSE = 0.1
"""How long an object is pushed with its own weight, s."""
SWING_ANGLE = 0.5
"""How far from hanging straight down a swing begins, rad."""


def standard_trials(asset: FilePath) -> dict[str, Trial]:
    """Trials for an asset, to be done by it and by the true object alike.

    It is dropped tilted; pushed afloat, half its radius off its centre of mass; and swung about the x axis
    through a point one radius above that centre.

    Args:
        asset: an MJCF file with one body.

    Returns:
        The trials `drop`, `push` and `swing`.

    Raises:
        InputError: the file cannot be read or does not hold one body.
    """
    model = object_scene(asset, Pose.identity())
    com, mass = model.body_ipos[1], float(model.body_mass[1])
    reach = np.linalg.norm(model.geom_pos - com, axis=1) + model.geom_rbound
    radius = float(reach.max())
    tilt = Pose.from_rpy(TILT)
    height = np.array([0.0, 0.0, radius + CLEARANCE]) - tilt.rotation @ com
    weight = mass * float(np.linalg.norm(STANDARD_GRAVITY))
    x, y, z = np.eye(3)
    return {
        "drop": Drop(Pose(tilt.rotation, height)),
        "push": Push(com + 0.5 * radius * y, weight * x, PULSE),
        "swing": Swing(com + radius * z, x, Pose.from_rpy((SWING_ANGLE, 0.0, 0.0))),
    }
