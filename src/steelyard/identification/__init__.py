"""Identification: the one place where logs become an estimate of parameters.

`data` reads logs, makes them ready and keeps a part apart; `estimate` sharpens their torques, fits by any
method, finds links that can exist and gives their intervals; `closed_loop` turns logs into runs of a
simulated loop for `clie`.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.identification.data import (
        CLOSED_LOOP,
        WINDOWS,
        IdentificationData,
        LogOptions,
        identification_data,
        log_made_ready,
    )
    from steelyard.identification.estimate import (
        IdentificationProblem,
        completed_fit,
        identification_fit,
        identification_problem,
        known_links,
    )

__all__ = [
    "CLOSED_LOOP",
    "WINDOWS",
    "IdentificationData",
    "IdentificationProblem",
    "LogOptions",
    "completed_fit",
    "identification_data",
    "identification_fit",
    "identification_problem",
    "known_links",
    "log_made_ready",
]

open_door(__name__)
