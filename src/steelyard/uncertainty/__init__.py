"""How sure an estimate is: covariance under coloured noise, intervals, bootstrap, prediction, bias."""

from steelyard.uncertainty.arm_norms import ArmNorms, arm_norms
from steelyard.uncertainty.bias import bias_findings, bias_of_recordings, calmer_motion
from steelyard.uncertainty.bootstrap import block_bootstrap
from steelyard.uncertainty.bounded_rows import BoundedRows
from steelyard.uncertainty.contradiction import ContradictionError
from steelyard.uncertainty.covariance import spread_of, with_covariance
from steelyard.uncertainty.error_bounds import ErrorBounds
from steelyard.uncertainty.guaranteed import GuaranteedBounds, guaranteed_bounds
from steelyard.uncertainty.guaranteed_payload import guaranteed_payload
from steelyard.uncertainty.intervals import base_intervals, parameter_intervals
from steelyard.uncertainty.link_posterior import (
    ACCURACY,
    LinkIntervals,
    LinkPosterior,
    link_intervals,
    link_posterior,
    prior_alone,
)
from steelyard.uncertainty.measured_motion import MotionContradictionError, with_velocities
from steelyard.uncertainty.memory import block_length
from steelyard.uncertainty.momentum_windows import bounded_rows
from steelyard.uncertainty.payload_box import PayloadBox
from steelyard.uncertainty.prediction import torque_deviations
from steelyard.uncertainty.recursive_bounds import RecursiveBounds
from steelyard.uncertainty.theorem13 import LinearBounds, linear_bounds
from steelyard.uncertainty.theorem13_both import Theorem13, theorem13_of
from steelyard.uncertainty.theorem13_log_cholesky import Minimiser, log_cholesky_bounds

__all__ = [
    "ACCURACY",
    "ArmNorms",
    "BoundedRows",
    "ContradictionError",
    "ErrorBounds",
    "GuaranteedBounds",
    "LinearBounds",
    "LinkIntervals",
    "LinkPosterior",
    "Minimiser",
    "MotionContradictionError",
    "PayloadBox",
    "RecursiveBounds",
    "Theorem13",
    "arm_norms",
    "base_intervals",
    "bias_findings",
    "bias_of_recordings",
    "block_bootstrap",
    "block_length",
    "bounded_rows",
    "calmer_motion",
    "guaranteed_bounds",
    "guaranteed_payload",
    "linear_bounds",
    "link_intervals",
    "link_posterior",
    "log_cholesky_bounds",
    "parameter_intervals",
    "prior_alone",
    "spread_of",
    "theorem13_of",
    "torque_deviations",
    "with_covariance",
    "with_velocities",
]
