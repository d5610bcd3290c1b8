"""Shares of limits over time: of the tube, and of each joint's torque."""

from __future__ import annotations

from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.report.motion_data import MOST_POINTS
from steelyard.report.online_content import OnlineContent, OnlineHead
from steelyard.report.packing import packed
from steelyard.report.safe_text import visible
from steelyard.report.thinning import thinned


def gauge_names(head: OnlineHead) -> tuple[str, ...]:
    """What is shown as a share of its limit.

    Args:
        head: what can be said beforehand.

    Returns:
        The tracking error, then the torque of each joint.
    """
    return ("tracking error", *(visible(name) for name in head.robot.joint_names))


def used_shares(head: OnlineHead, r_norm: Array, tau: Array) -> Array:
    """How much of the tube and of each torque limit is used.

    Args:
        head: with the limits.
        r_norm: ‖r‖, shape (N,), rad/s or m/s.
        tau: torques, shape (N, nv), N·m or N.

    Returns:
        Shares in the order of `gauge_names`, NaN where there is no limit, shape (N, nv + 1), dimensionless.
    """
    limit = np.where(np.isfinite(head.effort), head.effort, np.nan)
    # A joint without any torque to spend uses all of it as soon as it turns.
    with np.errstate(divide="ignore", invalid="ignore"):
        torque = np.where(tau == 0.0, 0.0 * limit, np.abs(tau) / limit)
    return np.column_stack((r_norm / head.tube_radius, torque))


def gauge_data(content: OnlineContent) -> list[dict[str, Any]]:
    """The shares over a whole run.

    Args:
        content: what the page says.

    Returns:
        Values JSON can hold, one entry for each gauge; no share where there is no limit.
    """
    shares = used_shares(content.head, content.r_norm, content.tau)
    gauges: list[dict[str, Any]] = []
    for name, share in zip(gauge_names(content.head), shares.T, strict=True):
        if not np.isfinite(share).all():
            gauges.append({"name": name, "time": None, "share": None})
            continue
        kept = thinned(share[:, None], MOST_POINTS // 2)
        gauges.append({"name": name, "time": packed(content.time[kept]), "share": packed(share[kept])})
    return gauges
