"""Random Fourier motions that start and end at rest and keep a robot's limits at all times."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.errors import InputError
from steelyard.motion.bounds import extent
from steelyard.motion.conditions import rest_to_rest
from steelyard.motion.fourier import FourierMotion
from steelyard.robot import Robot

UNLIMITED_TURN = math.pi
"""How far from its start a turning joint without a position limit may go, rad."""
UNLIMITED_SLIDE = 0.5
"""How far from its start a sliding joint without a position limit may go, m."""


def random_fourier(
    robot: Robot,
    rng: np.random.Generator,
    *,
    harmonics: int = 5,
    period: float = 10.0,
    start: ArrayLike | None = None,
    fraction: float = 0.6,
) -> FourierMotion:
    r"""A random motion at rest at t = 0 and t = T, as large as the limits allow.

    The amplitudes of the velocity's harmonics are drawn from one normal distribution, projected to rest, and
    scaled per joint by the largest factor for which, at every time and not only at samples,

    - the position stays within `fraction` of the way from the start to each position limit,
    - the velocity and, where the description states one, the acceleration stay within their limits.

    A joint without a position limit on one side may go `UNLIMITED_TURN` or `UNLIMITED_SLIDE` that way, times
    `fraction`. Torque limits and collisions are not looked at.

    Args:
        robot: the robot.
        rng: source of the coefficients.
        harmonics: L, at least 2; with one, rest leaves no motion.
        period: T, s.
        start: q(0), shape (nv,), rad or m; None starts in the middle of each joint's range, and at zero
            where it has none.
        fraction: share of the way to the position limits that may be used, in (0, 1].

    Returns:
        The motion. A joint whose range is empty, or whose velocity limit is zero, stands still.

    Raises:
        InputError: an option is out of range, or the start is not strictly inside the limits.
    """
    robot.require_arm()
    if harmonics < 2:
        raise InputError(
            f"a motion that starts at rest needs at least 2, got {harmonics}.", place="harmonics"
        )
    if not 0.0 < fraction <= 1.0:
        raise InputError(f"must be in (0, 1], got {fraction}.", place="fraction")
    q_start, down, up = _room_to_move(robot, start)
    draw = rng.standard_normal((2, robot.nv, harmonics))
    unit = FourierMotion(robot.joint_names, period, np.zeros(robot.nv), draw[0], draw[1], robot=robot.digest)
    unit = rest_to_rest(unit, np.zeros(robot.nv))
    goes = extent(unit)
    # At t = 0 the unit motion is at zero, so `lower` ≤ 0 ≤ `upper` and every quotient is a valid scale.
    scale = np.minimum.reduce(
        [
            fraction * up / goes.upper,
            fraction * down / -goes.lower,
            robot.limit_array("velocity") / goes.velocity,
            robot.limit_array("acceleration") / goes.acceleration,
        ]
    )
    return replace(
        unit,
        offset=q_start + scale * unit.offset,
        sine=scale[:, None] * unit.sine,
        cosine=scale[:, None] * unit.cosine,
    )


def _room_to_move(robot: Robot, start: ArrayLike | None) -> tuple[Array, Array, Array]:
    """The start, and how far each joint may go down and up from it, each shape (nv,), rad or m."""
    lower, upper = robot.limit_array("lower"), robot.limit_array("upper")
    reach = np.array([UNLIMITED_TURN if joint.kind.rotates else UNLIMITED_SLIDE for joint in robot.joints])
    if start is None:
        q = np.array([_middle(lo, hi, far) for lo, hi, far in zip(lower, upper, reach, strict=True)])
    else:
        q = checked("start", start, (robot.nv,))
    for joint, q_j in zip(robot.joints, q, strict=True):
        lo, hi = joint.limits.lower, joint.limits.upper
        if not (lo < q_j < hi or lo == q_j == hi):
            raise InputError(
                f"joint '{joint.name}' starts at {q_j:.6g} {joint.position_unit}, which is not strictly "
                f"inside its limits [{lo:.6g}, {hi:.6g}].",
                place="start",
                evidence={"joint": joint.name, "start": float(q_j), "lower": lo, "upper": hi},
            )
    down = np.where(np.isfinite(lower), q - lower, reach)
    up = np.where(np.isfinite(upper), upper - q, reach)
    return q, down, up


def _middle(lower: float, upper: float, reach: float) -> float:
    if math.isinf(lower) and math.isinf(upper):
        return 0.0
    lower = upper - 2.0 * reach if math.isinf(lower) else lower
    upper = lower + 2.0 * reach if math.isinf(upper) else upper
    return 0.5 * (lower + upper)
