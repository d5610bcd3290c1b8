"""Controllers as compiled step functions with one signature: PD, FF+PD, PID, computed torque, admittance."""

from steelyard.control.admittance import Admittance
from steelyard.control.computed_torque import ComputedTorque
from steelyard.control.controller import Controller, ControlStep, command
from steelyard.control.feedforward_pd import FeedforwardPD
from steelyard.control.files import LoopSettings, read_controller, read_loop
from steelyard.control.gravity_pid import GravityPID
from steelyard.control.pd import PD

__all__ = [
    "PD",
    "Admittance",
    "ComputedTorque",
    "ControlStep",
    "Controller",
    "FeedforwardPD",
    "GravityPID",
    "LoopSettings",
    "command",
    "read_controller",
    "read_loop",
]
