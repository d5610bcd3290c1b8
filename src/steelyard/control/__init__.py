"""Controllers as compiled step functions with one signature: PD, FF+PD, PID, computed torque, admittance.

`controller` says what a controller is. The laws are in `pd`, `computed_torque`, `robust_tracking` (with the
tube that it keeps), `adaptive_payload` and `admittance`; `files` reads a law and its gains from TOML, and
`loop_shaping` computes gains from a `joint_model`.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.control.admittance import Admittance
    from steelyard.control.computed_torque import ComputedTorque
    from steelyard.control.controller import Controller, control_command
    from steelyard.control.files import LoopSettings, controller_text, read_controller
    from steelyard.control.joint_model import (
        COMMAND_COLUMN,
        HeldResponse,
        JointModel,
        inertia_range,
    )
    from steelyard.control.loop_shaping import LoopDesign, shaped_controller
    from steelyard.control.pd import PD, FeedforwardPD, GravityPID
    from steelyard.control.robust_tracking import FORMS, RobustTracking, Tube, robust_radius

__all__ = [
    "COMMAND_COLUMN",
    "FORMS",
    "PD",
    "Admittance",
    "ComputedTorque",
    "Controller",
    "FeedforwardPD",
    "GravityPID",
    "HeldResponse",
    "JointModel",
    "LoopDesign",
    "LoopSettings",
    "RobustTracking",
    "Tube",
    "control_command",
    "controller_text",
    "inertia_range",
    "read_controller",
    "robust_radius",
    "shaped_controller",
]

open_door(__name__)
