"""The response to a scene that changed: go on where that is proven, else stop on a path that is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from steelyard.limits import NotCertifiedError, Scene
from steelyard.motion import RecedingPlan, SplineMotion, quintic
from steelyard.safe_learning.config import SafeLearningConfig
from steelyard.safe_learning.messages import Move
from steelyard.uncertainty import PayloadBox

STOPS = (0.3, 0.45, 0.65, 0.9, 1.2, 1.6, 2.1)
"""Durations of stops that are tried, s."""
LENGTHS = (1.0, 0.8, 1.2, 0.6)
"""Their lengths, over that of the stop with the least jerk, T v / 2 + T² a / 12."""

SceneSource = Callable[[float], Scene | None]
"""Asked every few cycles with the time: a scene where one is new, else None."""


class SceneChange(NamedTuple):
    """A scene that is new while a plan is driven.

    Attributes:
        scene: what stands around the robot now.
        plan: the plan that is driven.
        since: instant of the plan at which the scene was reported, s.
        instant: of the plan, from which on it can be changed, s.
        load: what the law of the plan takes for granted of the load.
    """

    scene: Scene
    plan: RecedingPlan
    since: float
    instant: float
    load: PayloadBox


@dataclass(frozen=True, eq=False)
class SceneResponse:
    """What can be proven in the new scene.

    Attributes:
        goes_on: whether the rest of the plan and its stop are proven there too.
        stop: otherwise a stop that is proven, from the instant on; None where none was found.
        reason: why the plan cannot go on; empty where it can.
    """

    goes_on: bool
    stop: Move | None
    reason: str


def respond(setting: SafeLearningConfig, change: SceneChange) -> SceneResponse:
    """Look for a proven way on in a new scene.

    Args:
        setting: what was decided before the robot moved.
        change: the new scene, and the plan that is driven.

    Returns:
        The way on.
    """
    now = setting.among(change.scene)
    load = change.load
    certifier = now.certifier(load)
    motion = change.plan.motion
    left = _from(change.plan, change.since)
    try:
        certifier.certify(left)
    except NotCertifiedError as error:
        reason = str(error)
    else:
        return SceneResponse(goes_on=True, stop=None, reason="")
    until = RecedingPlan(left, change.instant - change.since, change.plan.parameter)
    try:
        certifier.certify(until.driven)
    except NotCertifiedError:
        return SceneResponse(goes_on=False, stop=None, reason=reason)
    rest = until.brake
    at = rest.sample([0.0])
    q, v, a = at.q[0], at.v[0], at.a[0]
    for duration in STOPS:
        for length in LENGTHS:
            stop = quintic(
                motion.joints,
                duration,
                q,
                q + length * (duration * v / 2.0 + duration**2 * a / 12.0),
                start_velocity=v,
                start_acceleration=a,
                robot=motion.robot,
            )
            try:
                proof = certifier.certify(stop)
            except NotCertifiedError:
                continue
            # Nothing follows a stop, so where it would be left does not matter.
            plan = RecedingPlan(stop, 0.5 * duration, np.zeros(len(v)))
            return SceneResponse(
                goes_on=False, stop=Move(plan, load, now.controller(load), proof), reason=reason
            )
    return SceneResponse(goes_on=False, stop=None, reason=reason)


def _from(plan: RecedingPlan, instant: float) -> SplineMotion:
    """What is left of a plan from an instant on."""
    return plan.motion if instant <= 0.0 else RecedingPlan(plan.motion, instant, plan.parameter).brake
