"""Controllers as compiled step functions with one signature: PD, computed torque."""

from steelyard.control.computed_torque import ComputedTorque
from steelyard.control.controller import Controller, ControlStep, command
from steelyard.control.files import read_controller
from steelyard.control.pd import PD

__all__ = ["PD", "ComputedTorque", "ControlStep", "Controller", "command", "read_controller"]
