"""Controllers as compiled step functions with one signature: PD, FF+PD, PID, computed torque, admittance."""

from steelyard.control.adaptive_payload import AdaptivePayload
from steelyard.control.adaptive_robust import AdaptiveRobust
from steelyard.control.admittance import Admittance
from steelyard.control.computed_torque import ComputedTorque
from steelyard.control.controller import Controller, command
from steelyard.control.feedback_loop import FeedbackLoop
from steelyard.control.feedforward_pd import FeedforwardPD
from steelyard.control.files import LoopSettings, loop_of, read_controller, read_loop
from steelyard.control.gravity_pid import GravityPID
from steelyard.control.inertia_range import inertia_range
from steelyard.control.joint_model import (
    COMMAND_COLUMN,
    ComplexArray,
    HeldResponse,
    JointModel,
    held_response,
)
from steelyard.control.loop_shaping import LoopDesign, shaped_controller
from steelyard.control.pd import PD
from steelyard.control.robust_torque import FORMS, robust_radius
from steelyard.control.robust_tracking import RobustTracking
from steelyard.control.robust_tube import Tube
from steelyard.control.writing import controller_text

__all__ = [
    "COMMAND_COLUMN",
    "FORMS",
    "PD",
    "AdaptivePayload",
    "AdaptiveRobust",
    "Admittance",
    "ComplexArray",
    "ComputedTorque",
    "Controller",
    "FeedbackLoop",
    "FeedforwardPD",
    "GravityPID",
    "HeldResponse",
    "JointModel",
    "LoopDesign",
    "LoopSettings",
    "RobustTracking",
    "Tube",
    "command",
    "controller_text",
    "held_response",
    "inertia_range",
    "loop_of",
    "read_controller",
    "read_loop",
    "robust_radius",
    "shaped_controller",
]
