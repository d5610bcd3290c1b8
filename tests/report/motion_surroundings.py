"""What the arm of the motion page holds, what stands around it, and where it starts."""

from __future__ import annotations

import numpy as np

from steelyard.limits import Hull, Scene
from steelyard.limits.scene import Obstacle
from steelyard.pose import Pose
from steelyard.robot import Box, Capsule, Geometry, Sphere

TOOL = Geometry(Capsule(0.03, 0.1), Pose.from_rpy([0.3, 0.2, 0.1], [0.02, 0.0, 0.14]))
AROUND = Scene(
    (
        Obstacle("table", Box(1.4, 1.0, 0.05), Pose.from_rpy([0, 0, 0.2], [0.3, 0.1, -0.2])),
        Obstacle("ball", Sphere(0.1), Pose.from_rpy([0, 0, 0], [0.7, -0.5, 0.3])),
        Obstacle("rock", Hull(np.random.default_rng(1).normal(0, 0.1, (12, 3))), Pose.identity()),
    )
)
START = np.array([0.0, 0.4, 0.0, -1.2, 0.0, 0.8, 0.0])
