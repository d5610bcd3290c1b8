"""Safe while learning: plans certified under a robust law, and the check of such a proof."""

from steelyard.online.certify_plan import Plan, PlanCertifier, certify_plan
from steelyard.online.check_plan import PlanCheck, check_plan
from steelyard.online.plan_certificate import (
    PlanCertificate,
    read_plan_certificate,
    write_plan_certificate,
)
from steelyard.online.robust_torque import RobustLaw
from steelyard.online.tube_forms import TubeForms, tube_forms
from steelyard.online.tube_torque import TubeDynamics, TubeTorques

__all__ = [
    "Plan",
    "PlanCertificate",
    "PlanCertifier",
    "PlanCheck",
    "RobustLaw",
    "TubeDynamics",
    "TubeForms",
    "TubeTorques",
    "certify_plan",
    "check_plan",
    "read_plan_certificate",
    "tube_forms",
    "write_plan_certificate",
]
