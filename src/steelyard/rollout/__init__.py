"""Closed loops in compiled code: robot, controller, delay and hold, with derivatives in the parameters."""

from steelyard.rollout.closed_loop import ClosedLoop
from steelyard.rollout.sensitivity import Sensitivities, sensitivities
from steelyard.rollout.simulation import CODES, Rollout, rollout
from steelyard.rollout.timing import SCHEMES

__all__ = ["CODES", "SCHEMES", "ClosedLoop", "Rollout", "Sensitivities", "rollout", "sensitivities"]
