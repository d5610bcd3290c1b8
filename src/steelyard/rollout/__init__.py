"""Closed loops in compiled code: robot, controller, delay and hold, with derivatives in the parameters."""

from steelyard.rollout.closed_loop import SCHEMES, ClosedLoop
from steelyard.rollout.sensitivity import sensitivities
from steelyard.rollout.simulation import Rollout, rollout

__all__ = ["SCHEMES", "ClosedLoop", "Rollout", "rollout", "sensitivities"]
