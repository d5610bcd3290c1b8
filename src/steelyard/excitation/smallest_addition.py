"""The order in which additions to a planned motion are tried, from the smallest to the largest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.errors import NoSolutionError
from steelyard.excitation.pause import Pause
from steelyard.excitation.pause_search import PauseSearch
from steelyard.excitation.shown import shown_by_samples
from steelyard.motion import FourierMotion, MotionSample
from steelyard.robot import Robot

WRIST = 3
"""How many joints from the tip inwards are the wrist."""
STATES = 100
"""Random states at which it is seen what the robot can show at all."""


def smallest_addition(search: PauseSearch, durations: Sequence[float]) -> FourierMotion:
    """Of all additions, that of the shortest time and the fewest joints, as large as the limits allow.

    The wrist is tried first, and all joints where it does not do within the longest duration. The shortest
    duration is found by bisection, and in it the fewest joints from the tip inwards that do.

    Args:
        search: for additions to one planned motion.
        durations: to try, increasing, s.

    Returns:
        The addition.

    Raises:
        NoSolutionError: no motion of this robot shows what is wanted, or none that does was found.
    """
    pause = search.pause
    _refuse_unknowable(pause)
    inwards = _from_the_tip(pause.robot)
    fewest, most = 1, min(WRIST, len(inwards))
    found = search.addition(inwards[:most], durations[-1])
    if found is None and most < len(inwards):
        fewest, most = most + 1, len(inwards)
        found = search.addition(inwards, durations[-1])
    if found is None:
        missing = ", ".join(pause.shown().missing(pause.required))
        raise NoSolutionError(
            f"no motion of up to {durations[-1]:g} s was found that shows {missing} as well as wanted.",
            place=f"robot '{pause.robot.name}'",
            remedy="Allow more time or rounds, pause elsewhere, or want less.",
        )
    too_short, enough = -1, len(durations) - 1
    while enough - too_short > 1:
        middle = (too_short + enough) // 2
        shorter = search.addition(inwards[:most], durations[middle])
        if shorter is None:
            too_short = middle
        else:
            enough, found = middle, shorter
    for count in range(fewest, most):
        simpler = search.addition(inwards[:count], durations[enough])
        if simpler is not None:
            return simpler
    return found


def _refuse_unknowable(pause: Pause) -> None:
    """Numbers that stay hidden at random states are hidden from every motion."""
    q, v, a = np.random.default_rng(0).standard_normal((3, STATES, pause.robot.nv))
    at_random = shown_by_samples(pause.robot, MotionSample(q, v, a), pause.meter, scale=pause.scale)
    hidden = at_random.missing(np.where(np.isfinite(pause.required), np.finfo(float).max, np.inf))
    if hidden:
        raise NoSolutionError(
            f"no motion of it shows {', '.join(hidden)}.",
            place=f"robot '{pause.robot.name}'",
            remedy="Let any deviation of these do, or weigh the payload with an arm that turns it otherwise.",
        )


def _from_the_tip(robot: Robot) -> list[int]:
    """The joints that move the tool, from it to the base."""
    joints = [robot.tool_frame.link]
    while robot.joints[joints[-1]].parent >= 0:
        joints.append(robot.joints[joints[-1]].parent)
    return joints
