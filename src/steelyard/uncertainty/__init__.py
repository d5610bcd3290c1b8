"""How sure an estimate is: covariance under coloured noise, intervals, bias.

`intervals` has the intervals of base and standard parameters by the data alone; `link_posterior` those of
every number of every link, by data and prior over bodies that can exist. `bias` tests them.
For bounded errors, `guaranteed` encloses a payload: its equations are in `momentum_windows`, its set in
`payload_polytope` and its assumptions in `error_bounds`.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.uncertainty.bias import bias_of_recordings
    from steelyard.uncertainty.error_bounds import ErrorBounds, MotionContradictionError, with_velocities
    from steelyard.uncertainty.guaranteed import (
        ContradictionError,
        GuaranteedBounds,
        RecursiveBounds,
        guaranteed_bounds,
        guaranteed_payload,
    )
    from steelyard.uncertainty.intervals import (
        base_intervals,
        parameter_intervals,
        spread_of,
        with_covariance,
    )
    from steelyard.uncertainty.link_posterior import (
        ACCURACY,
        LinkIntervals,
        LinkPosterior,
        link_intervals,
        link_posterior,
    )
    from steelyard.uncertainty.loaded_arm import ArmNorms
    from steelyard.uncertainty.momentum_windows import bounded_rows
    from steelyard.uncertainty.payload_polytope import PayloadBox

__all__ = [
    "ACCURACY",
    "ArmNorms",
    "ContradictionError",
    "ErrorBounds",
    "GuaranteedBounds",
    "LinkIntervals",
    "LinkPosterior",
    "MotionContradictionError",
    "PayloadBox",
    "RecursiveBounds",
    "base_intervals",
    "bias_of_recordings",
    "bounded_rows",
    "guaranteed_bounds",
    "guaranteed_payload",
    "link_intervals",
    "link_posterior",
    "parameter_intervals",
    "spread_of",
    "with_covariance",
    "with_velocities",
]

open_door(__name__)
