"""How sure an estimate is: covariance under coloured noise, intervals, bootstrap, prediction, bias."""

from steelyard.uncertainty.bias import bias_findings, bias_of_recordings, lagged
from steelyard.uncertainty.bootstrap import Bootstrap, block_bootstrap
from steelyard.uncertainty.covariance import spread_of, with_covariance
from steelyard.uncertainty.intervals import Intervals, base_intervals, parameter_intervals
from steelyard.uncertainty.memory import block_length
from steelyard.uncertainty.prediction import torque_deviations

__all__ = [
    "Bootstrap",
    "Intervals",
    "base_intervals",
    "bias_findings",
    "bias_of_recordings",
    "block_bootstrap",
    "block_length",
    "lagged",
    "parameter_intervals",
    "spread_of",
    "torque_deviations",
    "with_covariance",
]
