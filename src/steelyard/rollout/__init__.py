"""Closed loops in compiled code: robot, controller, delay and hold, with derivatives in the parameters."""

from steelyard.rollout.closed_loop import ClosedLoop
from steelyard.rollout.sensitivity import sensitivities
from steelyard.rollout.simulation import Rollout, rollout
from steelyard.rollout.timing import SCHEMES

__all__ = ["SCHEMES", "ClosedLoop", "Rollout", "rollout", "sensitivities"]
