"""Closed loops in compiled code: robot, controller, delay and hold, with derivatives in the parameters.

`closed_loop` describes the loop, `simulation` runs it (`loop` is its kernel), and `sensitivity` adds
derivatives (`variation` is the kernel, on `tiles`). The robot here is our own model; one that is not is in
`simulation`, the room.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.rollout.closed_loop import ClosedLoop
    from steelyard.rollout.sensitivity import sensitivities
    from steelyard.rollout.simulation import Rollout, rollout

__all__ = [
    "ClosedLoop",
    "Rollout",
    "rollout",
    "sensitivities",
]

open_door(__name__)
