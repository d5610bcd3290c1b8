r"""Where the fit of servos begins: a linear equation whose scale the described links fix.

With $y = Y(q, v, a)\,\phi$ known from the links, every joint obeys

$$u(t - d) - q = \frac{1}{k_p} y + \frac{I_a}{k_p} a + \frac{k_d + F_v}{k_p} v
  + \frac{F_c}{k_p} \operatorname{sign} v - q_o.$$

The left side is what the log measures best, so it is the one that is explained; its coefficients cannot be
negative. A grid of delays is tried, and the one that leaves least is kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from steelyard.arrays import Array
from steelyard.drive import Servo
from steelyard.dynamics import inverse_dynamics
from steelyard.estimation.servo.log import ServoLog, smoothed_log
from steelyard.layout import layout_of
from steelyard.rollout import ServoArm

DELAYS = tuple(0.01 * k for k in range(21))
"""Delays that are tried, s."""
MOST_SAMPLES = 6000
"""A log is thinned to about so many samples for the start."""
SHORT_LEADS = 0.6
"""Share of the samples that is used where a limit is sought, those with the shortest leads."""
_MOVING = 0.02


@dataclass(frozen=True, eq=False)
class ServoStart:
    """Where a fit begins.

    Attributes:
        servos: one for each joint; `damping` is zero, as viscous friction is its sum with damping here.
        unscaled: joints whose torque scale the links did not show; theirs is the median of the others.
        left: share of the command's lead that stays unexplained, by joint, shape (n,), dimensionless.
    """

    servos: tuple[Servo, ...]
    unscaled: tuple[str, ...]
    left: Array


def servo_start(
    arm: ServoArm, logs: Sequence[ServoLog], parameters: Array, *, offset: bool = False, limit: bool = False
) -> ServoStart:
    """Solve the linear equation of every joint.

    Args:
        arm: the robot.
        logs: one or more.
        parameters: ten numbers of every link, shape (10 nb,), SI.
        offset: whether an offset between the zeros of servo and measurement is sought.
        limit: whether a limit of torque is sought: then long leads, where it may hold, are left out.

    Returns:
        The start, with a delay common to all joints.
    """
    layout, n = layout_of(arm.robot), arm.robot.nv
    rows: list[Array] = []
    leads: list[list[Array]] = [[] for _ in DELAYS]
    for log in logs:
        motion = smoothed_log(log)
        keep = slice(motion.half, len(motion.time) - motion.half, max(1, len(motion.time) // MOST_SAMPLES))
        y = inverse_dynamics(arm.robot, layout, parameters, motion.q, motion.v, motion.a)
        slow = _MOVING * np.abs(motion.v).max(axis=0)
        sign = np.clip(motion.v / np.maximum(slow, 1e-9), -1.0, 1.0)
        columns = [y, motion.a, motion.v, sign, -np.ones_like(y)]
        rows.append(np.stack([motion.like(c) for c in columns], axis=2)[keep])
        q = motion.like(motion.q)
        for place, delay in enumerate(DELAYS):
            u = log.command.at(np.repeat(motion.time[:, None] - delay, n, axis=1))
            leads[place].append((motion.like(u) - q)[keep])
    X = np.concatenate(rows)
    found = [_coefficients(X, np.concatenate(lead), offset=offset, limit=limit) for lead in leads]
    best = int(np.argmin([float(np.sum(one.left)) for one in found]))
    c, left = found[best].c, found[best].left
    size = np.sqrt(np.mean(X**2, axis=0))
    lead_size = np.sqrt(np.mean(np.concatenate(leads[best]) ** 2, axis=0))
    # A torque of the links that explains next to nothing of the lead does not tell the scale.
    seen = c[:, 0] * size[:, 0] > 0.05 * lead_size
    softness = c[:, 0].copy()
    softness[~seen] = np.median(softness[seen]) if seen.any() else 0.1
    servos = []
    for k in range(n):
        kp = 1.0 / softness[k]
        ratio = c[k] * kp
        torque = np.abs(X[:, k, :4] @ np.r_[1.0, ratio[1:4]])
        servos.append(
            Servo(
                stiffness=float(kp),
                armature=float(max(ratio[1], 1e-4 * kp)),
                viscous=float(max(ratio[2], 5e-3 * kp)),
                coulomb=float(max(ratio[3], 1e-3 * kp)),
                limit=float(max(np.quantile(torque, 0.95), 1e-3 * kp)) if limit else math.inf,
                delay=DELAYS[best],
                offset=float(c[k, 4]),
            )
        )
    names = arm.robot.joint_names
    return ServoStart(tuple(servos), tuple(names[k] for k in range(n) if not seen[k]), left)


class _Solved(NamedTuple):
    """Coefficients of every joint, shape (n, 5), and the share of the lead they leave, shape (n,)."""

    c: Array
    left: Array


def _coefficients(X: Array, lead: Array, *, offset: bool, limit: bool) -> _Solved:
    """Solve all joints at one delay."""
    n = lead.shape[1]
    c, left = np.zeros((n, 5)), np.zeros(n)
    for k in range(n):
        size = np.abs(lead[:, k])
        kept = np.flatnonzero(size <= np.quantile(size, SHORT_LEADS if limit else 1.0))
        A, e = X[kept, k], lead[kept, k]
        # An offset has either sign: it is sought as the difference of two numbers that have none.
        A = np.column_stack([A, -A[:, 4]]) if offset else A[:, :4]
        scale = np.maximum(np.sqrt(np.mean(A**2, axis=0)), 1e-12)
        R = np.asarray(np.linalg.qr(np.column_stack([A / scale, e]), mode="r"))
        x, rest = nnls(R[:, :-1], R[:, -1])
        x = x / scale
        c[k, :4] = x[:4]
        c[k, 4] = x[4] - x[5] if offset else 0.0
        left[k] = rest**2 / max(float(e @ e), 1e-30)
    return _Solved(c, left)


def scaled_servos(servos: Sequence[Servo], scale: float) -> tuple[Servo, ...]:
    """The servos with all torques scaled alike.

    Args:
        servos: one for each joint.
        scale: factor of every torque, dimensionless.
    """
    return tuple(
        replace(
            servo,
            stiffness=scale * servo.stiffness,
            damping=scale * servo.damping,
            armature=scale * servo.armature,
            viscous=scale * servo.viscous,
            coulomb=scale * servo.coulomb,
            stribeck=scale * servo.stribeck,
            limit=scale * servo.limit,
        )
        for servo in servos
    )
