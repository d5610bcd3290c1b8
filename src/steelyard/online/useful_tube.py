"""The tube of a setting, made wide enough to be kept in cycles, or the reason why none is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from steelyard.control import Tube
from steelyard.errors import NoSolutionError
from steelyard.online.needed import TubeNeeds, tube_needs
from steelyard.online.plan_cost import GoalCost
from steelyard.online.planner import Planner
from steelyard.online.setting import Setting

TRIED = 4
"""Plans along which the disturbance is looked at."""
SHARE = 0.5
"""Of the reach, how far they go."""
_ABOVE = 1.001


def with_useful_tube(setting: Setting, start: ArrayLike, rng: np.random.Generator) -> Setting:
    """Widen the tube where cycles are too long for it.

    Args:
        setting: with the tube that is wished for.
        start: where the robot stands, shape (nv,), rad or m.
        rng: source of the plans that are looked at.

    Returns:
        The setting, with the smallest useful tube that is not below its own.

    Raises:
        NoSolutionError: no tube is of use; says which rotor inertia or cycle would be needed.
    """
    needs = _needs(setting, start, rng)
    if needs.met:
        return setting
    wider = needs.smallest_radius * _ABOVE
    if not np.isfinite(wider):
        raise NoSolutionError(
            needs.sentence,
            place=f"robot '{setting.arm.robot.name}'",
            remedy="State the gears' inertia (--rotor), or control in shorter cycles (--cycle).",
            evidence={"joints": needs.lightest, "rotor_inertia": needs.rotor_inertia},
        )
    tube = Tube.of_radius(wider, setting.tube.smallest_inertia, setting.tube.kr)
    return replace(setting, tube=tube)


def _needs(setting: Setting, start: ArrayLike, rng: np.random.Generator) -> TubeNeeds:
    certifier = setting.certifier(setting.prior)
    q = np.asarray(start, dtype=float)
    family = Planner(certifier, GoalCost(q)).kept(setting.plans(q))
    choices = SHARE * rng.uniform(-1.0, 1.0, (TRIED, len(q)))
    return tube_needs(certifier, [family.plan(k).motion for k in choices], setting.cycle)
