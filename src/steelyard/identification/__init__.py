"""Identification: the one place where logs become an estimate of parameters.

`data` reads logs, makes them ready and keeps a part apart; `estimate` sharpens their torques, fits by any
method, finds links that can exist and gives their intervals; `closed_loop` turns logs into runs of a
simulated loop for `clie`.
"""

from steelyard.identification.data import (
    CLOSED_LOOP,
    WINDOWS,
    IdentificationData,
    LogOptions,
    identification_data,
    log_made_ready,
)
from steelyard.identification.estimate import (
    FittedQuestion,
    PosedQuestion,
    completed_question,
    fitted_question,
    known_links,
    posed_question,
)

__all__ = [
    "CLOSED_LOOP",
    "WINDOWS",
    "FittedQuestion",
    "IdentificationData",
    "LogOptions",
    "PosedQuestion",
    "completed_question",
    "fitted_question",
    "identification_data",
    "known_links",
    "log_made_ready",
    "posed_question",
]
